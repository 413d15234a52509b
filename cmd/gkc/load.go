package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/passes"
)

// target is what a command works on: one kernel, at the level of its file.
type target struct {
	unit    *passes.Unit
	kernel  *gkc.Kernel // of a gk file
	example map[string]ir.Const
	source  string // the file's text, for diagnoses
	path    string
	variant string // what was compiled: the kernel for the sizes of a call; empty: for all
	checked bool   // gk text that was checked: IR text claims what the checker proves
}

func (t *target) signature() *data.Signature {
	switch t.unit.Level {
	case passes.Tensor:
		return t.unit.Tensor.Signature()
	case passes.Tile:
		return t.unit.Tile.Signature()
	}
	return t.unit.Simt.Signature()
}

// maxFile bounds a file that is read, in bytes.
const maxFile = 64 << 20

func readSource(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", usage("%v", err)
	}
	if info.IsDir() || info.Size() > maxFile {
		return "", usage("%s is no file of at most %d MiB", path, maxFile>>20)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", usage("%v", err)
	}
	return string(text), nil
}

// load reads a file of any level. kernel picks one of a gk file's; empty: the only one.
func (a *app) load(path, kernel string, set map[string]int64) (*target, error) {
	src, err := readSource(path)
	if err != nil {
		return nil, err
	}
	ext := filepath.Ext(path)
	if level, ok := passes.LevelByName(strings.TrimPrefix(ext, ".")); ok {
		return a.loadIR(path, src, kernel, level)
	}
	if ext != ".gk" {
		return nil, usage("%s: expected a file that ends in .gk, .tensor, .tile or .simt", path)
	}
	kernels, errs := gkc.Compile(path, src, set)
	if err := a.report(errs, src); err != nil {
		return nil, err
	}
	k, err := pick(kernels, path, kernel)
	if err != nil {
		return nil, err
	}
	return &target{unit: &passes.Unit{Level: passes.Tensor, Tensor: k.Program}, example: k.Example(), kernel: k, source: src, path: path, checked: true}, nil
}

func (a *app) loadIR(path, src, kernel string, level passes.Level) (*target, error) {
	unit, errs := readIR(path, src, level)
	if err := a.report(errs, src); err != nil {
		return nil, err
	}
	if kernel != "" && kernel != unit.Name() {
		return nil, callError("%s holds %s, not the kernel %s", path, unit.Name(), kernel)
	}
	return &target{unit: unit, source: src, path: path}, nil
}

// readIR reads and verifies IR text; the list says what is wrong with it.
func readIR(path, src string, level passes.Level) (*passes.Unit, diag.List) {
	unit, err := passes.ParseUnit(level, src)
	if err == nil {
		err = unit.Verify()
	}
	var list diag.List
	var one *diag.Diag
	switch {
	case err == nil:
	case errors.As(err, &list):
	case errors.As(err, &one):
		list = diag.List{one}
	default:
		list = diag.List{diag.Errorf(diag.Pos{}, "ir", "%v", err)}
	}
	for _, d := range list {
		d.File = path
	}
	return unit, list
}

// report prints diagnoses for a person; if one is an error, the command ends with exit code 1.
func (a *app) report(list diag.List, src string) error {
	for _, d := range list {
		fmt.Fprint(a.err, diag.Render(d, src))
	}
	if list.HasErrors() {
		return reported{exitWrong}
	}
	return nil
}

func pick(kernels []*gkc.Kernel, path, name string) (*gkc.Kernel, error) {
	names := make([]string, len(kernels))
	for i, k := range kernels {
		names[i] = k.Program.Name
		if k.Program.Name == name {
			return k, nil
		}
	}
	switch {
	case len(kernels) == 0:
		return nil, callError("%s holds no kernel", path)
	case name != "":
		return nil, callError("%s holds no kernel %s; it holds %s", path, name, enumerate(names))
	case len(kernels) > 1:
		return nil, usage("%s holds several kernels; give --kernel with one of %s", path, enumerate(names))
	}
	return kernels[0], nil
}

// enumerate lists names, as many as a person reads.
func enumerate(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// lower takes a target down to a level. A bug of a pass leaves a reproducer beside the working directory.
func (a *app) lower(t *target, opt passes.Options) error {
	return saveReproducer(passes.Run(t.unit, opt))
}

func saveReproducer(err error) error {
	var f *passes.Failure
	if !errors.As(err, &f) {
		return err
	}
	return reproducible(err, f.Level.String(), f.Reproducer)
}

// reproducible is a bug of ours with a file that shows it.
func reproducible(bug error, ext, text string) error {
	file, err := os.CreateTemp(".", "gkc-bug-*."+ext)
	if err != nil {
		return &bugError{err: bug}
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return &bugError{err: bug}
	}
	return &bugError{err: bug, reproducer: file.Name()}
}
