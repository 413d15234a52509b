package lang

import (
	"runtime"
	"sync/atomic"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// checkKernels checks the kernels of the file and returns the programs of those that are right. What is told about mistakes depends
// on the kernels before, so if there are any all are checked again, one behind the other.
func (c *checker) checkKernels() []*tensor.Program {
	var list []*Kernel
	for _, item := range c.file.Items {
		if k, ok := item.(*Kernel); ok {
			list = append(list, k)
		}
	}
	if programs, ok := c.sideBySide(list); ok {
		return programs
	}
	var programs []*tensor.Program
	for _, ast := range list {
		k := c.kernel(ast)
		if c.kernels[ast.Name] == nil {
			c.kernels[ast.Name] = k
		} else {
			c.fail(ast.Pos, "twice", "kernel %s is declared twice", ast.Name)
		}
		if p := k.check(); p != nil {
			programs = append(programs, p)
		}
	}
	return programs
}

func (c *checker) kernel(ast *Kernel) *kernel {
	c.reset()
	return &kernel{checker: c, ast: ast, names: map[string]*symbol{}, results: map[string]*variable{}, sizes: map[string]bool{}, extents: map[*ir.Expr]bool{}}
}

// sideBySide checks the kernels on all processors. It gives up where there is a mistake, or where the macros' budget is spent.
func (c *checker) sideBySide(list []*Kernel) ([]*tensor.Program, bool) {
	if len(list) < 2 || runtime.GOMAXPROCS(0) < 2 {
		return nil, false
	}
	kernels, programs := make([]*kernel, len(list)), make([]*tensor.Program, len(list))
	var spent atomic.Int64
	ok := together(len(list), func() func(int) bool {
		own := *c
		own.scratch = &scratch{}
		return func(i int) bool {
			own.budget = c.budget - int(spent.Load())
			before := own.budget
			kernels[i] = own.kernel(list[i])
			programs[i] = kernels[i].check()
			return spent.Add(int64(before-own.budget)) < int64(c.budget) && programs[i] != nil
		}
	})
	if !ok {
		return nil, false
	}
	for _, k := range kernels {
		if c.kernels[k.ast.Name] != nil { // declared twice
			clear(c.kernels)
			return nil, false
		}
		k.checker = c
		c.kernels[k.ast.Name] = k
	}
	c.budget -= int(spent.Load())
	return programs, true
}
