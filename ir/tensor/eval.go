package tensor

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/diag"
)

// EvalOptions are what a run may be asked for beyond its results. The zero value asks for nothing.
type EvalOptions struct {
	Context  context.Context // nil: the run cannot be interrupted
	MaxBytes int64           // of all tensors together, as the evaluator holds them (8 bytes an element); 0: DefaultMaxBytes
	// Bound, if not nil, receives for every result an f64 array of its shape: how far arithmetic in the program's own types, in
	// any order of its reductions, may be off. +Inf: anything may come out.
	Bound map[string]*data.Array
	// Strict bounds do not allow for intermediates that are rounded for the matrix units.
	Strict bool
}

// The limits of a run.
const (
	DefaultMaxBytes = 8 << 30
	MaxElements     = 1 << 31 // of one tensor
	maxRange        = 1 << 40 // of one axis of a reduction
)

// Eval computes the results of a program: this is what programs mean. Floats are float64 and rounded only by casts, integers
// int64 and wrapped to their types. An element that cannot be computed is poisoned, as is one that reads it; only a poisoned
// element of a result is an error. The outcome does not depend on the number of processors.
func Eval(p *Program, call *data.Call, opt EvalOptions) (map[string]*data.Array, error) {
	if err := Verify(p); err != nil {
		return nil, err
	}
	ev := &evaluator{
		prog: p, opt: opt, scalars: map[ir.Ref]ir.Const{}, store: map[*Tensor]*values{},
		workers: runtime.GOMAXPROCS(0),
	}
	ev.left.Store(ev.budget())
	if opt.Context != nil {
		defer context.AfterFunc(opt.Context, func() { ev.stop(diag.Errorf(p.Pos, "limit", "the evaluation of %s was interrupted", p.Name)) })()
	}
	if err := ev.launch(call); err != nil {
		return nil, err
	}
	for _, d := range p.Defs {
		if err := ev.def(d); err != nil {
			return nil, err
		}
	}
	return ev.results(), nil
}

type evaluator struct {
	prog    *Program
	opt     EvalOptions
	scalars map[ir.Ref]ir.Const
	store   map[*Tensor]*values
	left    atomic.Int64 // bytes that may still be taken
	lent    atomic.Int64 // bytes that the definition at hand gives back
	workers int
	stopped atomic.Pointer[diag.Diag]
}

// stop ends the run with an error; the first one counts.
func (ev *evaluator) stop(d *diag.Diag) { ev.stopped.CompareAndSwap(nil, d) }

func (ev *evaluator) bound() bool { return ev.opt.Bound != nil }

// launch takes the scalars and the parameters from the call, and checks the launch conditions.
func (ev *evaluator) launch(call *data.Call) error {
	for _, s := range ev.prog.Scalars {
		v, ok := call.Scalars[s.Name]
		if !ok {
			return diag.Errorf(s.Pos, "call", "%s has no value", s.Name)
		}
		if !holds(s.Type, v) {
			return diag.Errorf(s.Pos, "call", "the value of %s does not fit %s", s.Name, s.Type)
		}
		ev.scalars[s] = v
	}
	for _, c := range ev.prog.Where {
		v, err := ev.constant(c.Expr)
		if err != nil {
			return err
		}
		if !v.Bool() {
			return diag.Errorf(c.Pos, "call", "the condition %s of %s does not hold", c.Text, ev.prog.Name)
		}
	}
	for _, t := range ev.prog.Params {
		v, err := ev.allocate(t)
		if err != nil {
			return err
		}
		if err := v.load(call.Inputs[t.Name]); err != nil {
			return err
		}
	}
	return nil
}

// constant is the value of an expression over scalars.
func (ev *evaluator) constant(e *ir.Expr) (ir.Const, error) {
	return ir.EvalExpr(e, func(r ir.Ref) (ir.Const, bool) {
		v, ok := ev.scalars[r]
		return v, ok
	})
}

func (ev *evaluator) size(e *ir.Expr) (int64, error) {
	v, err := ev.constant(e)
	return v.Int(), err
}

// allocate makes room for the elements of a tensor.
func (ev *evaluator) allocate(t *Tensor) (*values, error) {
	v := &values{of: t, shape: make([]int64, len(t.Extents)), stride: make([]int64, len(t.Extents)), n: 1}
	for d := len(t.Extents) - 1; d >= 0; d-- {
		n, err := ev.size(t.Extents[d])
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, diag.Errorf(t.Pos, "call", "extent %d of %s is %d, which is negative", d+1, t.Name, n)
		}
		v.shape[d], v.stride[d] = n, v.n
		hi, lo := bits.Mul64(uint64(v.n), uint64(n))
		if hi != 0 || lo > MaxElements {
			return nil, diag.Errorf(t.Pos, "limit", "%s has more than %d elements, the most that the evaluator computes", t.Name, MaxElements)
		}
		v.n = int64(lo)
	}
	if err := ev.take(v.n, t.Name, t.Pos); err != nil {
		return nil, err
	}
	if t.Type.IsFloat() {
		v.f = make([]float64, v.n)
	} else {
		v.i = make([]int64, v.n)
	}
	if ev.bound() && t.Role != Param {
		if err := ev.take(v.n, t.Name, t.Pos); err != nil {
			return nil, err
		}
		v.err = make([]float64, v.n)
	}
	ev.store[t] = v
	return v, nil
}

// take accounts for n words of memory.
func (ev *evaluator) take(n int64, what string, pos diag.Pos) error {
	if ev.left.Add(-8*n) < 0 {
		ev.left.Add(8 * n)
		return diag.Errorf(pos, "limit", "the evaluator needs more memory than it may take (%d MiB) for %s", ev.budget()>>20, what)
	}
	return nil
}

// lend is take until the end of the definition at hand.
func (ev *evaluator) lend(n int64, what string, pos diag.Pos) error {
	err := ev.take(n, what, pos)
	if err == nil {
		ev.lent.Add(8 * n)
	}
	return err
}

func (ev *evaluator) budget() int64 {
	if ev.opt.MaxBytes != 0 {
		return ev.opt.MaxBytes
	}
	return DefaultMaxBytes
}

func (ev *evaluator) def(d Def) error {
	defer func() { ev.left.Add(ev.lent.Swap(0)) }()
	var err error
	switch d := d.(type) {
	case *Map:
		err = ev.evalMap(d)
	case *Scatter:
		err = ev.evalScatter(d)
	case *Recur:
		err = ev.evalRecur(d)
	case *Check:
		err = ev.evalCheck(d)
	}
	if err != nil {
		return err
	}
	if d := ev.stopped.Load(); d != nil {
		return d
	}
	for _, t := range d.Outs() {
		if t.Role == Result {
			if err := ev.failed(d, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// failed is the error of the first element of a result that could not be computed.
func (ev *evaluator) failed(d Def, t *Tensor) error {
	v := ev.store[t]
	poison := v.poison.Load()
	if poison == nil {
		return nil
	}
	for i, f := range *poison {
		if f.at != nil {
			return f.diag(d, fmt.Sprintf("%s%s", t.Name, element(axesOf(d, t), v.shape, int64(i))))
		}
	}
	return nil
}

// axesOf lists the axes that a definition of t runs over; nil where its subscripts are none.
func axesOf(d Def, t *Tensor) []ir.Span {
	switch d := d.(type) {
	case *Map:
		return d.Free
	case *Recur:
		for k, out := range d.Tensors {
			if out == t {
				return d.Free[k]
			}
		}
	}
	return nil
}

// element writes the subscripts of element n: [i=2, j=0].
func element(axes []ir.Span, shape []int64, n int64) string {
	if len(shape) == 0 {
		return ""
	}
	s := "]"
	for d := len(shape) - 1; d >= 0; d-- {
		name := ""
		if d < len(axes) {
			name = axes[d].Axis.Name + "="
		}
		s = fmt.Sprintf("%s%d%s", name, n%shape[d], s)
		n /= shape[d]
		if d > 0 {
			s = ", " + s
		}
	}
	return "[" + s
}

func (ev *evaluator) results() map[string]*data.Array {
	out := map[string]*data.Array{}
	for _, t := range ev.prog.Results {
		v := ev.store[t]
		out[t.Name] = v.array()
		if ev.bound() {
			ev.opt.Bound[t.Name] = v.errors()
		}
	}
	return out
}
