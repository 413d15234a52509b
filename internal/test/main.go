// Command test prepares what the tests need and runs them all: go run ./internal/test.
//
// Go alone is enough. With python3 and pip it also brings numpy into .tools, so that tests can check our files against it.
// What cannot be had is named and its tests are skipped; with -strict, as CI runs it, a skip is a failure.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	strict := flag.Bool("strict", false, "fail where a test is skipped")
	flag.Parse()
	if err := run(*strict, flag.Args()); err != nil {
		fmt.Println("test:", err)
		os.Exit(1)
	}
}

func run(strict bool, packages []string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	var missing []string
	if err := numpy(root); err != nil {
		missing = append(missing, "numpy: "+err.Error())
	}
	if err := gofmt(); err != nil {
		return err
	}
	if err := command("go", "vet", "./...").Run(); err != nil {
		return fmt.Errorf("go vet: %w", err)
	}
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	r := &report{}
	failed := r.goTest(packages)
	for _, s := range append(missing, r.skipped...) {
		fmt.Println("skipped:", s)
	}
	for _, line := range r.closing {
		fmt.Print(line)
	}
	switch {
	case failed != nil:
		return failed
	case strict && len(missing)+len(r.skipped) > 0:
		return fmt.Errorf("%d skipped, which -strict does not allow", len(missing)+len(r.skipped))
	}
	return nil
}

func command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// numpy makes GKC_PYTHON name a python3 that has numpy, installing it locally if need be.
func numpy(root string) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		return fmt.Errorf("there is no python3")
	}
	dir := filepath.Join(root, ".tools", "python")
	if err := os.Setenv("PYTHONPATH", dir+string(os.PathListSeparator)+os.Getenv("PYTHONPATH")); err != nil {
		return err
	}
	has := func() bool { return exec.Command(python, "-c", "import numpy").Run() == nil }
	if !has() {
		out, err := exec.Command(python, "-m", "pip", "install", "--quiet", "--target", dir, "numpy").CombinedOutput()
		if err != nil || !has() {
			return fmt.Errorf("pip cannot install it: %v: %s", err, lastLine(out))
		}
	}
	return os.Setenv("GKC_PYTHON", python)
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

func gofmt() error {
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.go").Output()
	if err != nil {
		return nil // not a checkout: the sources of a release were formatted when they were committed
	}
	files := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	if len(files) == 0 {
		return nil
	}
	bad, err := exec.Command("gofmt", append([]string{"-l"}, files...)...).Output()
	if err != nil {
		return fmt.Errorf("gofmt: %w", err)
	}
	if len(bad) > 0 {
		return fmt.Errorf("not formatted, run gofmt -w:\n%s", bad)
	}
	return nil
}

// report collects what go test says: failures are printed as they come, the runner's closing lines at the end.
type report struct {
	closing []string
	skipped []string
	outputs map[string]*bytes.Buffer
}

type event struct{ Action, Package, Test, Output string }

func (r *report) goTest(packages []string) error {
	c := exec.Command("go", append([]string{"test", "-json", "-timeout", "60m"}, packages...)...)
	c.Stderr = os.Stderr
	pipe, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	r.outputs = map[string]*bytes.Buffer{}
	r.read(pipe)
	if err := c.Wait(); err != nil {
		return fmt.Errorf("go test: %w", err)
	}
	return nil
}

func (r *report) read(pipe io.Reader) {
	lines := bufio.NewReader(pipe)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				os.Stdout.Write(line) // a build error
			} else {
				r.event(e)
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *report) event(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		if e.Test == "" {
			r.packageOutput(e.Output)
			return
		}
		if r.outputs[key] == nil {
			r.outputs[key] = &bytes.Buffer{}
		}
		r.outputs[key].WriteString(e.Output)
	case "fail":
		if b := r.outputs[key]; b != nil {
			os.Stdout.Write(b.Bytes())
		}
	case "skip":
		if e.Test != "" {
			reason := ""
			if b := r.outputs[key]; b != nil {
				reason = strings.Join(strings.Fields(b.String()), " ")
			}
			r.skipped = append(r.skipped, key+": "+reason)
		}
	}
	if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
		delete(r.outputs, key)
	}
}

func (r *report) packageOutput(line string) {
	switch {
	case strings.HasPrefix(line, "ok "), strings.HasPrefix(line, "FAIL\t"), strings.HasPrefix(line, "? "), strings.HasPrefix(line, "---"):
		r.closing = append(r.closing, line)
	case line == "PASS\n":
	default:
		fmt.Print(line)
	}
}
