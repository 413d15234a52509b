// Package gkc compiles kernels: a few lines of tensor algebra become device kernels, in CUDA C, in Go, or on a simulated
// device. The package wires source to artifact for programs that embed the compiler; cmd/gkc is the command line over it.
package gkc

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/passes"
)

// Kernel is a kernel of a source file that was checked.
type Kernel struct {
	Program  *tensor.Program
	Examples []map[string]ir.Const // sizes and scalars that the file names for trying it

	file *lang.File
}

// Example is the first example; nil if the file names none.
func (k *Kernel) Example() map[string]ir.Const {
	if len(k.Examples) == 0 {
		return nil
	}
	return k.Examples[0]
}

// Fixed checks the kernel again for fixed values of some of its sizes. The program is right for these alone, and is called name.
func (k *Kernel) Fixed(name string, sizes map[string]int64) (*tensor.Program, diag.List) {
	programs, _, errs := lang.Check(k.file.Only(k.Program.Name), sizes)
	if errs.HasErrors() {
		return nil, errs
	}
	programs[0].Name = name
	return programs[0], errs
}

// Compile parses and checks a source text. name is what diagnoses call the file; set fixes sizes. The list holds every
// mistake, and the kernels are those that have none.
func Compile(name, src string, set map[string]int64) ([]*Kernel, diag.List) {
	unit, errs := lang.Compile(name, src, set)
	kernels := make([]*Kernel, len(unit.Programs))
	for i, p := range unit.Programs {
		kernels[i] = &Kernel{Program: p, file: unit.File}
		for _, e := range unit.Examples {
			if e.Kernel == p.Name {
				kernels[i].Examples = append(kernels[i].Examples, e.Values)
			}
		}
	}
	return kernels, errs
}

// Lower takes a program all the way down to device kernels. With trust, accesses through data are not checked as they run.
func Lower(p *tensor.Program, trust bool) (*simt.Module, error) {
	u := &passes.Unit{Level: passes.Tensor, Tensor: p, Trust: trust}
	if err := passes.Run(u, passes.Options{To: passes.Simt}); err != nil {
		return nil, err
	}
	return u.Simt, nil
}
