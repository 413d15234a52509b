package main

import (
	"errors"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gkc-lang/gkc/codegen/cuda"
	"github.com/gkc-lang/gkc/codegen/go"
	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/codegen/source"
	"github.com/gkc-lang/gkc/codegen/torch"
	"github.com/gkc-lang/gkc/passes"
	driver "github.com/gkc-lang/gkc/runtime/cuda"
)

// artifact is one thing that build can write: a file for every kernel and variant, NAME and a suffix, or one for the whole source.
type artifact struct {
	name      string
	level     passes.Level
	suffix    string
	text      func(b *building, m *member) ([]byte, error)
	whole     func(b *building, families []*family) (file string, text []byte, err error)
	processor bool // of the kernel for the processor, not for the device
}

// artifacts are in the order of levels.
var artifacts = []artifact{
	{name: "tensor", level: passes.Tensor, suffix: ".tensor", text: irText},
	{name: "tile", level: passes.Tile, suffix: ".tile", text: irText},
	{name: "simt", level: passes.Simt, suffix: ".simt", text: irText},
	{name: "cuda", level: passes.Simt, suffix: ".cu", text: cudaText},
	{name: "cubin", level: passes.Simt, suffix: ".cubin", text: cubin},
	{name: "plan", level: passes.Simt, suffix: ".plan.json", text: planText},
	{name: "go", level: passes.Simt, whole: golang, processor: true},
	{name: "torch", level: passes.Simt, whole: python},
}

func artifactNames() (names []string) {
	for _, a := range artifacts {
		names = append(names, a.name)
	}
	return names
}

func artifactNamed(name string) *artifact {
	for i := range artifacts {
		if artifacts[i].name == name {
			return &artifacts[i]
		}
	}
	return nil
}

func irText(_ *building, m *member) ([]byte, error) { return []byte(m.device.Text()), nil }

func cudaText(_ *building, m *member) ([]byte, error) {
	text, err := m.cuda()
	return []byte(text), err
}

// cuda is the CUDA text, made once.
func (m *member) cuda() (text string, err error) {
	if m.text == "" {
		m.text, err = cuda.Emit(m.device.Simt)
	}
	return m.text, err
}

func planText(_ *building, m *member) ([]byte, error) { return m.plan().JSON(), nil }

// plan is the plan of a member, made once; that of the kernel for all calls lists the others.
func (m *member) plan() *plan.Plan {
	if m.launches == nil {
		m.launches = plan.Of(m.device.Simt)
		for _, v := range m.variants {
			m.launches.AddVariant(v.device.Simt)
		}
	}
	return m.launches
}

// cubin is the binary for the device, made once.
func cubin(b *building, m *member) ([]byte, error) {
	if m.image != nil {
		return m.image, nil
	}
	text, err := m.cuda()
	if err != nil {
		return nil, err
	}
	m.image, err = driver.Compile(m.name+".cu", text, b.device.FullTarget())
	var none *driver.Absent
	var wrong *driver.CompileError
	switch {
	case errors.As(err, &none):
		return nil, usage("--emit cubin: %v", err)
	case errors.As(err, &wrong):
		return nil, reproducible(err, "cu", wrong.Text)
	}
	return m.image, err
}

// golang is the Go file of a source file.
func golang(b *building, families []*family) (file string, text []byte, err error) {
	file = stem(b.path) + "_gk.go"
	pkg := b.Package
	if pkg == "" {
		if pkg, err = packageOf(b.dir, file); err != nil {
			return "", nil, err
		}
	} else if !token.IsIdentifier(pkg) {
		return "", nil, usage("--package %s: not a name that a Go package can have", pkg)
	}
	kernels := make([]gogen.Kernel, len(families))
	for i, f := range families {
		kernels[i] = gogen.Kernel{Module: f.general.processor.Simt}
		for _, v := range f.variants() {
			kernels[i].Variants = append(kernels[i].Variants, v.processor.Simt)
		}
	}
	text, err = gogen.EmitFile(b.path, pkg, kernels)
	return file, text, err
}

// python is the file of a source file for PyTorch. It holds binaries only where they are asked for, too.
func python(b *building, families []*family) (file string, text []byte, err error) {
	kernels := make([]torch.Kernel, len(families))
	for i, f := range families {
		code := map[*member]torch.Code{}
		var mu sync.Mutex
		err := together(f.all(), func(m *member) error {
			c, err := b.code(m)
			mu.Lock()
			defer mu.Unlock()
			code[m] = c
			return err
		})
		if err != nil {
			return "", nil, err
		}
		kernels[i].Code = code[f.general]
		for _, v := range f.variants() {
			kernels[i].Variants = append(kernels[i].Variants, code[v])
		}
	}
	text, err = torch.Emit(b.path, kernels)
	return source.Identifier(stem(b.path)) + "_gk.py", text, err
}

// code is a member as a Python file holds it.
func (b *building) code(m *member) (out torch.Code, err error) {
	out.Module, out.Plan = m.device.Simt, m.plan()
	if out.Text, err = m.cuda(); err == nil && b.wants("cubin") {
		out.Arch = b.device.FullTarget()
		out.Image, err = cubin(b, m)
	}
	return out, err
}

// stem is the name of a file without its folder and what it ends in.
func stem(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }

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
