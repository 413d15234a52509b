package lang

import (
	"runtime"
	"sync"
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
	return &kernel{checker: c, ast: ast, names: map[string]*symbol{}, results: map[string]*variable{}, sizes: map[string]bool{}, extents: map[*ir.Expr]bool{}}
}

// sideBySide checks the kernels on all processors. It gives up where something is wrong with one of them: a mistake, too much work
// for the macros of the file, a bug of the compiler.
func (c *checker) sideBySide(list []*Kernel) ([]*tensor.Program, bool) {
	kernels, programs := make([]*kernel, len(list)), make([]*tensor.Program, len(list))
	var next, spent atomic.Int64
	var wrong atomic.Bool
	work := func() {
		defer func() {
			if recover() != nil {
				wrong.Store(true)
			}
		}()
		own := *c
		for i := next.Add(1) - 1; i < int64(len(list)) && !wrong.Load(); i = next.Add(1) - 1 {
			own.budget = c.budget - int(spent.Load())
			before := own.budget
			kernels[i] = own.kernel(list[i])
			if programs[i] = kernels[i].check(); programs[i] == nil || spent.Add(int64(before-own.budget)) >= int64(c.budget) {
				wrong.Store(true)
			}
		}
	}
	workers := min(runtime.GOMAXPROCS(0), len(list))
	if workers < 2 {
		return nil, false
	}
	var all sync.WaitGroup
	for range workers {
		all.Go(work)
	}
	all.Wait()
	if wrong.Load() {
		return nil, false
	}
	for _, k := range kernels {
		if c.kernels[k.ast.Name] != nil {
			clear(c.kernels)
			return nil, false // declared twice
		}
		k.checker = c
		c.kernels[k.ast.Name] = k
	}
	c.budget -= int(spent.Load())
	return programs, true
}
