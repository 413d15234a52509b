package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
)

// scatter becomes a kernel that fills the accumulators, one that combines the contributions, and one that converts, where the
// accumulators are of another type than the tensor.
func (m *moduleMaker) scatter(d *tensor.Scatter) {
	acc := m.array(d.Out)
	if d.Acc != d.Out.Type {
		acc = m.work(d.Out.Name+".acc", d.Acc, d.Out.Extents)
	}
	m.fill(d, acc)
	m.contribute(d, acc)
	if d.Acc != d.Out.Type {
		m.convert(d, acc)
	}
}

// elements is a box over all elements of a tensor.
func elements(t *tensor.Tensor) []ir.Span {
	out := make([]ir.Span, len(t.Extents))
	for i, x := range t.Extents {
		out[i] = ir.Span{Axis: &ir.Axis{Name: "i"}, Lo: ir.Int64(0), Hi: x}
	}
	return out
}

func (m *moduleMaker) fill(d *tensor.Scatter, acc *tile.Array) {
	k := m.kernel(d.Out.Name+".fill", d.Pos)
	e := k.emitter()
	free := elements(d.Out)
	spans := e.bindGrid(free)
	at := e.subscripts(free)
	first := ir.NewConst(d.Acc, d.Op.Identity(d.Acc))
	if d.Init != nil {
		first = e.load(d.Init, d.Pos, at)
		if first.Type != d.Acc {
			first = ir.Cast(d.Acc, first)
		}
	}
	e.store(d.Pos, acc, at, first)
	k.grid(spans, e)
}

func (m *moduleMaker) convert(d *tensor.Scatter, acc *tile.Array) {
	k := m.kernel(d.Out.Name, d.Pos)
	e := k.emitter()
	free := elements(d.Out)
	spans := e.bindGrid(free)
	at := e.subscripts(free)
	v := e.value(d.Out.Name, d.Acc)
	e.add(&tile.Load{Head: tile.Head{Pos: d.Pos}, Out: v, From: acc, At: at})
	e.store(d.Pos, m.array(d.Out), at, ir.Cast(d.Out.Type, ir.Name(v)))
	k.grid(spans, e)
}

// contribute runs over the ranges: those that depend on scalars alone make the grid, the others are loops inside it.
func (m *moduleMaker) contribute(d *tensor.Scatter, acc *tile.Array) {
	k := m.kernel(d.Out.Name+".scatter", d.Pos)
	list := append([]*ir.Expr{d.Guard, d.Body}, d.At...)
	for _, s := range d.Free {
		list = append(list, s.Lo, s.Hi)
	}
	e := k.emitter(list...)
	var outer, inner []ir.Span
	for _, s := range d.Free {
		if scalarOnly(s.Lo) && scalarOnly(s.Hi) {
			outer = append(outer, s)
		} else {
			inner = append(inner, s)
		}
	}
	spans := e.bindGrid(outer)
	e.scope.body = e.inner(func() { e.contribution(d, acc, inner) })
	k.grid(spans, e)
}

func (e *emitter) contribution(d *tensor.Scatter, acc *tile.Array, inner []ir.Span) {
	head := tile.Head{Pos: d.Pos}
	if len(inner) > 0 {
		s := inner[0]
		loop := &tile.Loop{Head: head, Kind: tile.Serial}
		loop.Over = []ir.Span{{Axis: e.bind(s.Axis), Lo: e.emit(s.Lo), Hi: e.emit(s.Hi)}}
		loop.Body = e.inner(func() { e.contribution(d, acc, inner[1:]) })
		e.add(loop)
		return
	}
	if d.Guard != nil {
		branch := &tile.If{Head: head, Cond: e.emit(d.Guard)}
		branch.Then = e.inner(func() { e.combine(d, acc) })
		e.add(branch)
		return
	}
	e.combine(d, acc)
}

func (e *emitter) combine(d *tensor.Scatter, acc *tile.Array) {
	e.add(&tile.Store{Head: tile.Head{Pos: d.Pos}, Axes: e.axes, To: acc, At: e.all(d.At), Value: e.emit(d.Body), Op: d.Op})
}

// scalarOnly reports whether an expression is known before the launch.
func scalarOnly(x *ir.Expr) bool {
	ok := true
	ir.Walk(x, func(y *ir.Expr) {
		switch y.Ref.(type) {
		case nil, *ir.Scalar:
		default:
			ok = false
		}
	})
	return ok
}
