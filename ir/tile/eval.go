package tile

import (
	"context"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/module"
)

// MaxElements bounds the elements that one evaluation holds.
const MaxElements = 1 << 27

// Eval runs a module: kernels in order, loops trip by trip, every statement for all points of its axes. Floats are float64 and
// rounded only by casts, so the results are those of the tensor program that the module was made of. It ignores spaces. The error
// is a *diag.Diag where the call is at fault or a Check fails.
func Eval(ctx context.Context, m *Module, call *data.Call) (out map[string]*data.Array, err error) {
	if err := Verify(m); err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			d, ok := r.(*diag.Diag)
			if !ok {
				panic(r)
			}
			out, err = nil, d
		}
	}()
	ev := &evaluator{ctx: ctx, module: m, arrays: map[*Array]*memory{}, tiles: map[ir.Ref]*tileOf{}, at: map[*ir.Axis]int64{}, shared: map[*ir.Expr]map[*ir.Expr]bool{}}
	ev.launch(call)
	for _, k := range m.Kernels {
		ev.kernel(k)
	}
	return ev.results(), nil
}

type evaluator struct {
	ctx    context.Context
	module *Module
	here   *Kernel
	arrays map[*Array]*memory
	held   int
	tiles  map[ir.Ref]*tileOf // scalars, loop axes and values
	at     map[*ir.Axis]int64 // where on the axes of tiles the point at hand stands
	sizes  map[*ir.Axis]int64 // extents of the axes of tiles
	mask   []*tileOf          // conditions around: bools
	shared map[*ir.Expr]map[*ir.Expr]bool
	memo   map[*ir.Expr]ir.Const
}

// memory is an array's elements.
type memory struct {
	shape []int
	data  []ir.Const
}

// tileOf is a tile's elements, the last axis innermost.
type tileOf struct {
	axes []*ir.Axis
	data []ir.Const
}

func (ev *evaluator) fail(pos diag.Pos, code, format string, args ...any) {
	panic(diag.Errorf(pos, code, format, args...))
}

func (ev *evaluator) launch(call *data.Call) {
	for _, s := range ev.module.Scalars {
		v, ok := call.Scalars[s.Name]
		if !ok {
			ev.fail(s.Pos, "call", "%s has no value", s.Name)
		}
		ev.tiles[s] = &tileOf{data: []ir.Const{v}}
	}
	for _, w := range ev.module.Where {
		if !ev.value(w.Expr).Bool() {
			ev.fail(diag.Pos{}, "call", "the condition %s of %s does not hold", w.Text, ev.module.Name)
		}
	}
	for _, a := range ev.module.Arrays {
		mem := ev.allocate(a)
		ev.arrays[a] = mem
		if a.Role != Param {
			continue
		}
		in := call.Inputs[a.CallerName()]
		if in == nil || in.Type != a.Type || in.Len() != len(mem.data) {
			ev.fail(diag.Pos{}, "call", "%s is missing, or of another type or size than %s%v", a.CallerName(), a.Type, mem.shape)
		}
		for i := range mem.data {
			mem.data[i] = in.At(i)
		}
	}
}

func (ev *evaluator) allocate(a *Array) *memory {
	n := int64(1)
	mem := &memory{}
	for _, x := range a.Extents {
		size := ev.value(x).Int()
		if size < 0 {
			ev.fail(diag.Pos{}, "call", "an extent of %s is %d, which is negative", a.Name, size)
		}
		mem.shape = append(mem.shape, int(size))
		n = min(n*min(size, MaxElements+1), MaxElements+1)
	}
	if ev.held += int(n); ev.held > MaxElements {
		ev.fail(diag.Pos{}, "limit", "more than %d elements", MaxElements)
	}
	mem.data = make([]ir.Const, n)
	return mem
}

func (ev *evaluator) results() map[string]*data.Array {
	out := map[string]*data.Array{}
	for _, a := range ev.module.Arrays {
		if a.Role != Result {
			continue
		}
		mem := ev.arrays[a]
		arr := data.New(a.Type, mem.shape...)
		for i, v := range mem.data {
			if a.Type.IsFloat() {
				v = ir.FloatConst(ir.RoundTo(a.Type.Elem, v.Float()))
			}
			arr.Set(i, v)
		}
		out[a.CallerName()] = arr
	}
	return out
}

func (ev *evaluator) kernel(k *Kernel) {
	ev.here, ev.sizes, ev.mask = k, map[*ir.Axis]int64{}, nil
	for _, a := range k.Axes {
		ev.sizes[a] = max(ev.value(a.Extent).Int(), 0)
	}
	ev.grid(k.Body[0].(*Loop), 0)
}

// grid runs the points of a box one after the other.
func (ev *evaluator) grid(s *Loop, axis int) {
	if axis == len(s.Over) {
		if err := ev.ctx.Err(); err != nil {
			ev.fail(s.Pos, "limit", "the evaluation of %s was interrupted", ev.module.Name)
		}
		ev.stmts(s.Body)
		return
	}
	o := s.Over[axis]
	lo, hi := ev.value(o.Lo).Int(), ev.value(o.Hi).Int()
	for i := lo; i < hi; i++ {
		ev.tiles[o.Axis] = &tileOf{data: []ir.Const{ir.IntConst(i)}}
		ev.grid(s, axis+1)
	}
}

func (ev *evaluator) stmts(list []Stmt) {
	for _, s := range list {
		ev.stmt(s)
	}
}

func (ev *evaluator) stmt(s Stmt) {
	switch s := s.(type) {
	case *Loop:
		ev.loop(s)
	case *If:
		ev.branch(s)
	case *Load:
		ev.define(s.Out, func() ir.Const {
			if s.Where != nil && !ev.value(s.Where).Bool() {
				return ev.value(s.Other)
			}
			mem, i := ev.element(s.From, s.At, s.Pos)
			return mem.data[i]
		})
	case *Store:
		ev.points(s.Axes, func(int) { ev.store(s) })
	case *Map:
		ev.define(s.Out, func() ir.Const { return ev.value(s.Body) })
	case *Dot:
		ev.dot(s)
	case *Reduce:
		ev.reduce(s)
	case *Scan:
		ev.scan(s)
	case *Move:
		ev.define(s.Out, func() ir.Const { return ev.read(s.In) })
	case *Check:
		ev.points(s.Axes, func(int) { ev.check(s) })
	}
}

// points calls f for every point of axes that takes part, with its number.
func (ev *evaluator) points(axes []*ir.Axis, f func(i int)) {
	n := 1
	for _, a := range axes {
		n *= int(ev.sizes[a])
	}
	for i := range n {
		rest := int64(i)
		for d := len(axes) - 1; d >= 0; d-- {
			ev.at[axes[d]] = rest % ev.sizes[axes[d]]
			rest /= ev.sizes[axes[d]]
		}
		if ev.active(axes) {
			f(i)
		}
	}
}

// active reports whether the point at hand takes part, as far as conditions on its axes say.
func (ev *evaluator) active(axes []*ir.Axis) bool {
	for _, m := range ev.mask {
		if contains(axes, m.axes) && !m.data[ev.number(m.axes)].Bool() {
			return false
		}
	}
	return true
}

// number is the place of the point at hand in a tile.
func (ev *evaluator) number(axes []*ir.Axis) int {
	i := int64(0)
	for _, a := range axes {
		i = i*ev.sizes[a] + ev.at[a]
	}
	return int(i)
}

func (ev *evaluator) tile(axes []*ir.Axis) *tileOf {
	n := 1
	for _, a := range axes {
		n *= int(ev.sizes[a])
		if n > MaxElements {
			ev.fail(diag.Pos{}, "limit", "a tile of more than %d elements", MaxElements)
		}
	}
	return &tileOf{axes, make([]ir.Const, n)}
}

// define computes a value at every point that takes part.
func (ev *evaluator) define(v *Value, f func() ir.Const) {
	t := ev.tile(v.Axes)
	ev.points(v.Axes, func(i int) { t.data[i] = f() })
	ev.tiles[v] = t
}

func (ev *evaluator) element(a *Array, at []*ir.Expr, pos diag.Pos) (*memory, int64) {
	mem := ev.arrays[a]
	i := int64(0)
	for d, x := range at {
		v := ev.value(x).Int()
		if v < 0 || v >= int64(mem.shape[d]) {
			ev.fail(pos, "runtime", "index %d of %s is outside 0..%d (dimension %d) in kernel %s", v, a.Name, mem.shape[d], d+1, ev.here.Name)
		}
		i = i*int64(mem.shape[d]) + v
	}
	return mem, i
}

func (ev *evaluator) store(s *Store) {
	if s.Where != nil && !ev.value(s.Where).Bool() {
		return
	}
	mem, i := ev.element(s.To, s.At, s.Pos)
	v := ev.value(s.Value)
	if s.Op != nil {
		v = combine(s.Op, s.To.Type, mem.data[i], v)
	}
	mem.data[i] = v
}

func combine(op *ir.Monoid, t ir.Type, a, b ir.Const) ir.Const {
	v, ok := ir.EvalOp(op.Op, exact(t), []ir.Type{exact(t), exact(t)}, []ir.Const{a, b})
	if !ok {
		panic("tile: " + op.Name + " has no meaning for " + t.String())
	}
	return v
}

// exact is the type in which a float is carried: nothing rounds.
func exact(t ir.Type) ir.Type {
	if t.IsFloat() {
		return ir.F64
	}
	return t
}

func (ev *evaluator) check(s *Check) {
	if ev.value(s.Cond).Bool() {
		return
	}
	f := module.Fault{Kernel: ev.here.Name, Code: s.Code, Of: s.Of}
	for _, x := range s.Args {
		f.Args = append(f.Args, ev.value(x).Int())
	}
	panic(ev.module.Explain(f, func(a *Array) []int { return ev.arrays[a].shape }))
}
