package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
)

// makeLoops turns every definition into a kernel of its own: a grid over its elements, loops for its reductions.
//
//	def y[r]: f32 = sum[c: f32](x[r, c])
//
// becomes
//
//	kernel rows.y {
//	  grid r in 0..R {
//	    loop c in 0..C carry (sum: f32 = 0.0 -> sum.1) {
//	      x: f32 = load x[r, c]
//	      next sum = sum + x
//	    }
//	    store y[r] <- sum.1
func makeLoops(u *Unit) error {
	m := newModuleMaker(u.Tensor)
	m.program(u.Tensor)
	u.Tile = m.out
	return nil
}

func newModuleMaker(p *tensor.Program) *moduleMaker {
	head := tile.Header{Name: p.Name, Scalars: p.Scalars, Order: p.Order, Where: p.Where, Sites: p.Sites}
	m := &moduleMaker{out: &tile.Module{Header: head}, arrays: map[*tensor.Tensor]*tile.Array{}, taken: map[string]bool{},
		kernels: map[string]bool{}, scalars: map[string]bool{}}
	for _, s := range p.Scalars {
		m.scalars[s.Name] = true
	}
	return m
}

// program makes the kernels of all definitions.
func (m *moduleMaker) program(p *tensor.Program) {
	m.declare(p.Params, tile.Param)
	m.declare(p.Results, tile.Result)
	m.declare(p.Temps, tile.Work)
	for _, d := range p.Defs {
		m.definition(d)
	}
}

type moduleMaker struct {
	out     *tile.Module
	arrays  map[*tensor.Tensor]*tile.Array
	taken   map[string]bool // names of arrays
	kernels map[string]bool // names of kernels
	scalars map[string]bool
	tiles   *tiling // nil: no block kernels
}

func (m *moduleMaker) unique(name string) string {
	for m.taken[name] {
		name += ".out"
	}
	m.taken[name] = true
	return name
}

func (m *moduleMaker) declare(list []*tensor.Tensor, role tile.Role) {
	for _, t := range list {
		a := &tile.Array{Name: m.unique(t.Name), As: t.Name, Type: t.Type, Extents: t.Extents, Role: role}
		m.arrays[t] = a
		m.out.Arrays = append(m.out.Arrays, a)
	}
}

func (m *moduleMaker) array(t *tensor.Tensor) *tile.Array {
	a := m.arrays[t]
	if a == nil {
		panic("passes: the tensor " + t.Name + " is not the program's")
	}
	return a
}

// work adds workspace.
func (m *moduleMaker) work(name string, t ir.Type, extents []*ir.Expr) *tile.Array {
	name = m.unique(name)
	a := &tile.Array{Name: name, As: name, Type: t, Extents: extents, Role: tile.Work}
	m.out.Arrays = append(m.out.Arrays, a)
	return a
}

func (m *moduleMaker) definition(d tensor.Def) {
	switch d := d.(type) {
	case *tensor.Map:
		if cast, scan := scanOf(d.Body); scan != nil && hasAxis(d.Free, scan.Ref.(*tensor.Scan).Over.Axis) {
			m.scan(d, cast, scan)
			return
		}
		if !m.tiled(d) {
			m.pointwise(d)
		}
	case *tensor.Scatter:
		m.scatter(d)
	case *tensor.Recur:
		m.recur(d)
	case *tensor.Check:
		m.check(d)
	}
}

// kernelMaker builds one kernel.
type kernelMaker struct {
	module     *moduleMaker
	name       string
	out        *tile.Kernel
	taken      map[string]bool
	counts     map[string]int
	heights    map[*ir.Expr]int // of expressions that were made
	statements int
}

func (m *moduleMaker) kernel(name string, pos diag.Pos) *kernelMaker {
	name = m.out.Name + "." + name
	for m.kernels[name] {
		name += ".next"
	}
	m.kernels[name] = true
	k := &kernelMaker{module: m, name: name, out: &tile.Kernel{Name: name}, taken: map[string]bool{}, counts: map[string]int{}, heights: map[*ir.Expr]int{}}
	if pos.IsValid() {
		k.out.Lines = []int{int(pos.Line)}
	}
	m.out.Kernels = append(m.out.Kernels, k.out)
	return k
}

// emitter makes an emitter for expressions of a definition.
func (k *kernelMaker) emitter(list ...*ir.Expr) *emitter {
	e := &emitter{kernel: k, rename: map[ir.Ref]*ir.Expr{}, scope: &emitScope{}}
	e.study(list...)
	return e
}

// grid finishes the kernel: what the emitter holds happens for every point of the spans, whose ends use scalars only.
func (k *kernelMaker) grid(spans []ir.Span, e *emitter) {
	k.out.Body = []tile.Stmt{&tile.Loop{Kind: tile.Grid, Over: spans, Body: e.scope.body}}
}

// bindGrid makes the spans of a grid from those of a definition.
func (e *emitter) bindGrid(free []ir.Span) []ir.Span {
	out := make([]ir.Span, len(free))
	for i, s := range free {
		out[i] = ir.Span{Axis: e.bind(s.Axis), Lo: s.Lo, Hi: s.Hi}
	}
	return out
}

// subscripts of the element that the axes of free stand at.
func (e *emitter) subscripts(free []ir.Span) []*ir.Expr {
	out := make([]*ir.Expr, len(free))
	for i, s := range free {
		out[i] = ir.Sub(e.emit(ir.Name(s.Axis)), s.Lo)
	}
	return out
}

func (e *emitter) store(pos diag.Pos, to *tile.Array, at []*ir.Expr, value *ir.Expr) {
	e.add(&tile.Store{Head: tile.Head{Pos: pos}, Axes: e.axes, To: to, At: at, Value: value})
}

func (m *moduleMaker) pointwise(d *tensor.Map) {
	k := m.kernel(d.Out.Name, d.Pos)
	e := k.emitter(d.Body)
	spans := e.bindGrid(d.Free)
	e.store(d.Pos, m.array(d.Out), e.subscripts(d.Free), e.emit(d.Body))
	k.grid(spans, e)
}

// scanOf takes conversions off a scan: it returns what makes the element of the prefix, or nil where body is something else.
func scanOf(body *ir.Expr) (convert func(*ir.Expr) *ir.Expr, scan *ir.Expr) {
	switch body.Op {
	case tensor.OpScan:
		return func(x *ir.Expr) *ir.Expr { return x }, body
	case ir.OpCast, ir.OpWiden:
		inner, scan := scanOf(body.Args[0])
		if scan == nil {
			return nil, nil
		}
		return func(x *ir.Expr) *ir.Expr { return ir.NewExpr(body.Op, body.Type, nil, body.Pos, inner(x)) }, scan
	}
	return nil, nil
}

func hasAxis(spans []ir.Span, a *ir.Axis) bool {
	for _, s := range spans {
		if s.Axis == a {
			return true
		}
	}
	return false
}

// scan goes along the axis once and carries the prefix.
func (m *moduleMaker) scan(d *tensor.Map, convert func(*ir.Expr) *ir.Expr, x *ir.Expr) {
	s := x.Ref.(*tensor.Scan)
	k := m.kernel(d.Out.Name, d.Pos)
	e := k.emitter(x)
	var rows []ir.Span
	var along ir.Span
	for _, f := range d.Free {
		if f.Axis == s.Over.Axis {
			along = f
		} else {
			rows = append(rows, f)
		}
	}
	grid := e.bindGrid(rows)
	lo, hi := e.emit(s.Over.Lo), e.emit(s.Over.Hi)
	stores, adds := inRange(along, s.Over)
	loop := &tile.Loop{Head: tile.Head{Pos: d.Pos}, Kind: tile.Serial, Down: s.Reverse}
	if stores == nil && adds == nil {
		loop.Over = []ir.Span{{Axis: e.bind(s.Over.Axis), Lo: lo, Hi: hi}}
	} else {
		loop.Over = []ir.Span{{Axis: e.bind(s.Over.Axis), Lo: ir.Min(lo, along.Lo), Hi: ir.Max(hi, along.Hi)}}
	}
	c := tile.Carry{In: e.value(s.Op.Name, s.Acc), Out: e.value(s.Op.Name, s.Acc), First: ir.NewConst(s.Acc, s.Op.Identity(s.Acc))}
	loop.Body = e.inner(func() {
		acc := ir.Name(c.In)
		c.Next = e.guarded(x, adds, acc, func() *ir.Expr {
			return e.guarded(x, s.Guard, acc, func() *ir.Expr { return ir.Apply(s.Op.Op, acc, e.emit(x.Args[0])) })
		})
		if !c.Next.IsConst() && c.Next.Op != ir.OpName {
			c.Next = e.named(s.Op.Name, c.Next)
		}
		value := c.Next
		if s.Exclusive {
			value = acc
		}
		e.storeWhere(d, stores, convert(value))
	})
	loop.Carry = []tile.Carry{c}
	e.add(loop)
	k.grid(grid, e)
}

func (e *emitter) storeWhere(d *tensor.Map, cond, value *ir.Expr) {
	s := &tile.Store{Head: tile.Head{Pos: d.Pos}, Axes: e.axes, To: e.kernel.module.array(d.Out), At: e.subscripts(d.Free), Value: value}
	if cond != nil {
		s.Where = e.emit(cond)
	}
	e.add(s)
}

// inRange gives the conditions under which the axis is inside each of two spans, where they differ.
func inRange(a, b ir.Span) (inA, inB *ir.Expr) {
	if ir.Equal(a.Lo, b.Lo) && ir.Equal(a.Hi, b.Hi) {
		return nil, nil
	}
	at := ir.Name(a.Axis)
	return ir.And(ir.Le(a.Lo, at), ir.Lt(at, a.Hi)), ir.And(ir.Le(b.Lo, at), ir.Lt(at, b.Hi))
}

// check lets the launch fail where a fault reaches a result. The value of a fault is (site+1)<<48 | index.
func (m *moduleMaker) check(d *tensor.Check) {
	k := m.kernel(d.Of.Name+".check", d.Pos)
	e := k.emitter(d.Fault)
	spans := e.bindGrid(d.Free)
	at := e.subscripts(d.Free)
	fault := e.named("fault", e.emit(d.Fault))
	linear := ir.Int64(0)
	for i, x := range at {
		linear = ir.Add(ir.Mul(linear, d.Of.Extents[i]), x)
	}
	linear = e.named("element", linear)
	site := e.named("site", ir.Sub(ir.Apply(ir.OpShr, fault, ir.Int64(faultShift)), ir.Int64(1)))
	low := ir.Int64(64 - faultShift)
	index := e.named("index", ir.Apply(ir.OpShr, ir.Apply(ir.OpShl, fault, low), low))
	for code := range m.out.Sites {
		e.add(&tile.Check{Head: tile.Head{Pos: d.Pos}, Axes: e.axes, Cond: ir.Ne(site, ir.Int64(int64(code))), Code: code, Args: []*ir.Expr{index, linear}, Of: m.array(d.Of)})
	}
	k.grid(spans, e)
}
