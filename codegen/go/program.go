package gogen

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gkc-lang/gkc/ir/simt"
	library_ "github.com/gkc-lang/gkc/runtime/simt"
)

// program is the source of a program that serves modules: paths and texts.
type program map[string][]byte

// newProgram prints modules into one program. A module that cannot be printed serves its error instead.
func newProgram(modules []*simt.Module) (program, []error) {
	p := program{"go.mod": []byte("module " + strings.TrimSuffix(library, "/runtime/simt") + "\n\ngo 1.26\n")}
	errs := make([]error, len(modules))
	var serve []jen.Code
	for i, m := range modules {
		name := fmt.Sprintf("M%d", i)
		text, err := Emit(m, Options{Package: "main", Name: name})
		if err != nil {
			errs[i] = err
			serve = append(serve, jen.Nil())
			continue
		}
		p[fmt.Sprintf("m%d.go", i)] = text
		serve = append(serve, jen.Func().Params(jen.Id("r").Op("*").Qual(library, "Request")).Error().Block(newModule(m, name).serve()...))
	}
	p["main.go"] = mainFile(serve)
	addLibrary(p)
	return p, errs
}

// addLibrary adds what the printed code imports, so that the program builds with nothing but the toolchain.
func addLibrary(p program) {
	names, _ := fs.Glob(library_.Source, "*.go")
	for _, n := range names {
		if strings.HasSuffix(n, "_test.go") || n == "source.go" {
			continue
		}
		text, err := library_.Source.ReadFile(n)
		if err != nil {
			panic(err)
		}
		p["runtime/simt/"+n] = text
	}
}

func mainFile(serve []jen.Code) []byte {
	f := jen.NewFile("main")
	f.HeaderComment(Header)
	f.ImportName(library, "simt")
	f.Func().Id("main").Params().Block(
		jen.Id("kernels").Op(":=").Index().Func().Params(jen.Op("*").Qual(library, "Request")).Error().Custom(lines("{", "}"), serve...),
		jen.If(jen.Err().Op(":=").Qual(library, "Serve").Call(jen.Qual("os", "Stdin"), jen.Qual("os", "Stdout"), jen.Id("kernels")), jen.Err().Op("!=").Nil()).Block(
			jen.Qual("fmt", "Fprintln").Call(jen.Qual("os", "Stderr"), jen.Err()),
			jen.Qual("os", "Exit").Call(jen.Lit(1)),
		),
	)
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// serve reads the arguments of a call, in the order of Scalars and Arrays, and makes it.
func (p *module) serve() []jen.Code {
	out := []jen.Code{jen.Var().Id("a").Id(p.name + "Args")}
	for _, s := range p.Scalars {
		word := "r.Word()"
		if s.Type.Bits() < 64 {
			word = fmt.Sprintf("uint%d(%s)", s.Type.Bits(), word)
		}
		out = append(out, assign("a."+p.fields.Of(s, s.Name), "=", fromBits(s.Type, word)))
	}
	for _, a := range p.Arrays {
		if way := map[simt.Role]string{simt.Param: "Input", simt.Result: "Output"}[a.Role]; way != "" {
			out = append(out, assign("a."+p.fields.Of(a, a.Name), "=", fmt.Sprintf("simt.%s[%s](r)", way, typeOf(a.Type))))
		}
	}
	return append(out, jen.Return(jen.Id(p.name).Call(jen.Op("&").Id("a"))))
}

// hash is the same for equal programs.
func (p program) hash() string {
	h := sha256.New()
	names := make([]string, 0, len(p))
	for n := range p {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(h, "%s %d\n", n, len(p[n]))
		h.Write(p[n])
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// build compiles the program, unless the cache has it, and returns the path of the executable.
func (p program) build(ctx context.Context, cache string) (string, error) {
	dir := filepath.Join(cache, p.hash())
	exe := filepath.Join(dir, "kernels")
	if _, err := os.Stat(exe); err == nil {
		return exe, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	for name, text := range p {
		path := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return "", err
		}
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", "kernels", ".")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GO111MODULE=on", "GOPROXY=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0", "GOOS=", "GOARCH=", "GOEXPERIMENT=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build of the emitted code: %w\n%s", err, firstLines(string(text), 20))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return exe, os.Rename(filepath.Join(work, "kernels"), exe)
}

func firstLines(s string, n int) string {
	all := strings.SplitAfter(s, "\n")
	return strings.Join(all[:min(n, len(all))], "")
}
