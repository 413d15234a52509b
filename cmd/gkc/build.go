package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/codegen/cuda"
	"github.com/gkc-lang/gkc/codegen/go"
	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/codegen/source"
	"github.com/gkc-lang/gkc/internal/atomicfile"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/passes"
)

type buildCmd struct {
	Files    []string `arg:"" help:"gk files."`
	Out      string   `short:"o" placeholder:"DIR" help:"Where artifacts go; by default beside each file."`
	Emit     []string `default:"cuda,go,plan" help:"What to write: tensor, tile, simt (IR text), cuda, go, plan."`
	Set      []string `sep:"none" placeholder:"N=V" help:"Fix a size."`
	Device   string   `default:"h200" help:"The device to build for."`
	Package  string   `placeholder:"NAME" help:"Package of emitted Go; by default that of the Go files in the folder, or the folder's name."`
	Schedule string   `sep:"none" placeholder:"K=V,…|random:SEED" help:"Force choices for device kernels whose blocks compute tiles; gkc explain lists them."`
	Bounds   string   `default:"check" enum:"check,trust" help:"trust: accesses through data are not checked."`
	NoFuse   bool     `help:"One device kernel a definition."`
	Check    bool     `help:"Write nothing; exit with 1 where an artifact is stale."`
}

// artifact is one thing that build can write of a kernel.
type artifact struct {
	name  string
	file  func(kernel string) string
	level passes.Level
	text  func(u *passes.Unit) ([]byte, error)
}

func irText(u *passes.Unit) ([]byte, error) { return []byte(u.Text()), nil }

func suffix(s string) func(string) string { return func(kernel string) string { return kernel + s } }

var artifacts = []artifact{
	{"tensor", suffix(".tensor"), passes.Tensor, irText},
	{"tile", suffix(".tile"), passes.Tile, irText},
	{"simt", suffix(".simt"), passes.Simt, irText},
	{"cuda", suffix(".cu"), passes.Simt, func(u *passes.Unit) ([]byte, error) { s, err := cuda.Emit(u.Simt); return []byte(s), err }},
	{"go", nil, passes.Simt, nil}, // one file for all kernels of a source file: see golang
	{"plan", suffix(".plan.json"), passes.Simt, func(u *passes.Unit) ([]byte, error) { return plan.Of(u.Simt).JSON(), nil }},
}

func artifactNamed(name string) *artifact {
	for i := range artifacts {
		if artifacts[i].name == name {
			return &artifacts[i]
		}
	}
	return nil
}

// Run compiles files.
func (c *buildCmd) Run(a *app) error {
	set, err := settings(c.Set)
	if err != nil {
		return err
	}
	if _, err := device.Find(c.Device); err != nil {
		return usage("--device %s: %v", c.Device, err)
	}
	for _, name := range c.Emit {
		if artifactNamed(name) == nil {
			return usage("--emit %s: expected tensor, tile, simt, cuda, go or plan", name)
		}
	}
	stale := false
	for _, path := range c.Files {
		s, err := c.file(a, path, set)
		if err != nil {
			return err
		}
		stale = stale || s
	}
	if stale {
		return reported{exitWrong}
	}
	return nil
}

// file writes, or with --check compares, the artifacts of a file; stale says that one differs.
func (c *buildCmd) file(a *app, path string, set map[string]int64) (stale bool, err error) {
	src, err := readSource(path)
	if err != nil {
		return false, err
	}
	kernels, errs := gkc.Compile(path, src, set)
	if err := a.report(errs, src); err != nil {
		return false, err
	}
	dir := c.Out
	if dir == "" {
		dir = filepath.Dir(path)
	}
	if !c.Check {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return false, err
		}
	}
	dev, err := device.Find(c.Device)
	if err != nil {
		return false, usage("--device %s: %v", c.Device, err)
	}
	var modules []*simt.Module
	var units []*passes.Unit
	for _, k := range kernels {
		u := &passes.Unit{Level: passes.Tensor, Tensor: k.Program, Trust: c.Bounds == "trust", NoFuse: c.NoFuse, Device: dev}
		if err := force(u, c.Schedule, nil); err != nil {
			return false, err
		}
		units = append(units, u)
		for _, art := range artifacts { // in the order of levels, so that one walk down serves all
			if !c.wants(art.name) {
				continue
			}
			if err := saveReproducer(passes.Run(u, passes.Options{To: art.level})); err != nil {
				return false, err
			}
			if art.text == nil {
				modules = append(modules, u.Simt)
				continue
			}
			text, err := art.text(u)
			if err != nil {
				return false, err
			}
			s, err := c.write(a, filepath.Join(dir, art.file(k.Program.Name)), path, text)
			if err != nil {
				return false, err
			}
			stale = stale || s
		}
	}
	if err := unforced(units...); err != nil {
		return false, err
	}
	if len(modules) > 0 {
		s, err := c.golang(a, dir, path, modules)
		return stale || s, err
	}
	return stale, nil
}

// golang writes the Go file of a source file.
func (c *buildCmd) golang(a *app, dir, path string, modules []*simt.Module) (stale bool, err error) {
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) + "_gk.go"
	file := filepath.Join(dir, base)
	pkg := c.Package
	if pkg == "" {
		if pkg, err = packageOf(dir, base); err != nil {
			return false, err
		}
	} else if !token.IsIdentifier(pkg) {
		return false, usage("--package %s: not a name that a Go package can have", pkg)
	}
	text, err := gogen.EmitFile(path, pkg, modules)
	if err != nil {
		return false, err
	}
	return c.write(a, file, path, text)
}

// packageOf is the package of the Go files in a folder but one, or what the folder's name makes.
func packageOf(dir, but string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if base := filepath.Base(f); base == but || strings.HasSuffix(base, "_test.go") || strings.HasSuffix(base, "_gk.go") {
			continue
		}
		if ast, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.PackageClauseOnly); err == nil {
			return ast.Name.Name, nil
		}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	name := strings.ToLower(source.Identifier(filepath.Base(abs)))
	if !token.IsIdentifier(name) {
		name += "_"
	}
	return name, nil
}

func (c *buildCmd) wants(name string) bool {
	for _, e := range c.Emit {
		if e == name {
			return true
		}
	}
	return false
}

func (c *buildCmd) write(a *app, file, source string, text []byte) (stale bool, err error) {
	if !c.Check {
		return false, atomicfile.Write(file, text)
	}
	old, err := os.ReadFile(file)
	if err == nil && bytes.Equal(old, text) {
		return false, nil
	}
	command := "gkc build " + source + " --emit " + strings.Join(c.Emit, ",")
	if c.Out != "" {
		command += " -o " + c.Out
	}
	if c.Package != "" {
		command += " --package " + c.Package
	}
	if c.Bounds != "check" {
		command += " --bounds " + c.Bounds
	}
	if c.Schedule != "" {
		command += " --schedule " + c.Schedule
	}
	if c.NoFuse {
		command += " --no-fuse"
	}
	if c.Device != "h200" {
		command += " --device " + c.Device
	}
	for _, set := range c.Set {
		command += " --set " + set
	}
	fmt.Fprintf(a.out, "%s: stale; run %s\n", file, command)
	return true, nil
}
