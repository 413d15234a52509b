// Command test prepares what the tests need and runs them all: go run ./internal/test.
//
// Go alone is enough. With python3 and pip it also brings numpy and NVIDIA's run-time compiler into .tools, so that tests can read
// our files with one and compile emitted CUDA with the other; neither needs a GPU. What cannot be had is named and its tests are
// skipped; with -strict, as CI runs it, a skip is a failure.
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
	missing := prepare(root)
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

// nvrtcWheel is pinned: its cubins are those that drivers of CUDA 13.0 take.
const nvrtcWheel = "nvidia-cuda-nvrtc==13.0.88"

// prepare brings what tests use beside Go, and tells them by environment variables. It returns what could not be had.
func prepare(root string) (missing []string) {
	python, err := exec.LookPath("python3")
	if err != nil {
		return []string{"numpy, NVRTC: there is no python3"}
	}
	dir := filepath.Join(root, ".tools", "python")
	set("PYTHONPATH", dir+string(os.PathListSeparator)+os.Getenv("PYTHONPATH"))
	has := func() bool { return exec.Command(python, "-c", "import numpy").Run() == nil }
	if err := wheel(python, dir, "numpy", has); err != nil {
		missing = append(missing, "numpy: "+err.Error())
	} else {
		set("GKC_PYTHON", python)
	}
	dir = filepath.Join(root, ".tools", "nvrtc")
	library := func() string {
		found, _ := filepath.Glob(filepath.Join(dir, "nvidia", "*", "lib", "libnvrtc.so.*")) // the pattern is right
		if len(found) == 0 {
			return ""
		}
		return found[0]
	}
	if err := wheel(python, dir, nvrtcWheel, func() bool { return library() != "" }); err != nil {
		return append(missing, "NVRTC: "+err.Error())
	}
	set("GKC_NVRTC", library())
	return missing
}

// wheel installs a Python package into a folder unless it is there.
func wheel(python, dir, name string, has func() bool) error {
	if has() {
		return nil
	}
	out, err := exec.Command(python, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", dir, name).CombinedOutput()
	if err != nil || !has() {
		return fmt.Errorf("pip cannot install %s: %v: %s", name, err, lastLine(out))
	}
	return nil
}

func set(name, value string) {
	if err := os.Setenv(name, value); err != nil {
		panic(err) // only a malformed name fails
	}
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
