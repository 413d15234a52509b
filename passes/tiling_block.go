package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
)

// blockMaker builds a kernel whose blocks compute tiles of a definition.
type blockMaker struct {
	*tileEmitter
	def    *tensor.Map
	sched  schedule.Choice
	places map[*ir.Axis]*ir.Expr // of the definition's axes, counted from 0
	facts  *ir.Facts             // of the launch
	grid   []ir.Span
}

// tileAxis is a fused axis that is cut: point number block * size + at.
type tileAxis struct {
	at    *ir.Axis // inside the tile
	block *ir.Axis // which tile
	count *ir.Expr // of tiles
}

// block begins a kernel for a definition; roots are the expressions that will be emitted.
func (m *moduleMaker) block(name string, d *tensor.Map, sched schedule.Choice, threads int, roots []*ir.Expr) *blockMaker {
	k := m.kernel(name, d.Pos)
	k.out.Sched, k.out.Threads = sched, threads
	return &blockMaker{tileEmitter: k.tileEmitter(roots...), def: d, sched: sched, places: map[*ir.Axis]*ir.Expr{}, facts: ir.NewFacts(m.conditions()...)}
}

// conditions are what a launch satisfies.
func (m *moduleMaker) conditions() []*ir.Expr {
	out := make([]*ir.Expr, len(m.out.Where))
	for i, w := range m.out.Where {
		out[i] = w.Expr
	}
	return out
}

// axis adds an axis of tiles.
func (b *blockMaker) axis(name string, size int) *ir.Axis {
	a := &ir.Axis{Name: b.kernel.fresh(name + "i"), Extent: ir.Int64(int64(size))}
	b.kernel.out.Axes = append(b.kernel.out.Axes, a)
	return a
}

// cut makes the axes of a fused axis in tiles of a size, and says where its axes stand.
func (b *blockMaker) cut(name string, size int, spans fused) *tileAxis {
	return b.cutAlong(b.axis(name, size), name, spans)
}

// cutAlong cuts a fused axis in tiles along an axis that is there.
func (b *blockMaker) cutAlong(at *ir.Axis, name string, spans fused) *tileAxis {
	n, total := at.Extent, spans.total()
	a := &tileAxis{at: at, block: &ir.Axis{Name: b.kernel.fresh(name + "m")}, count: ir.CeilDiv(total, n)}
	number := ir.Add(ir.Mul(ir.Name(a.block), n), ir.Name(a.at))
	if a.count.IsInt(1) {
		number = ir.Name(a.at)
	}
	delete(b.inside, a.at)
	if size, _ := n.IntValue(); b.facts.Multiple(total)%size != 0 {
		b.inside[a.at] = ir.Lt(number, total)
	}
	for i, p := range spans.places(number) {
		b.place(spans[i], p)
	}
	return a
}

func (b *blockMaker) place(s ir.Span, p *ir.Expr) {
	b.places[s.Axis] = p
	b.rename[s.Axis] = ir.Add(p, s.Lo)
}

// across adds a dimension to the grid, of the tiles of an axis.
func (b *blockMaker) across(a *tileAxis) {
	b.grid = append(b.grid, ir.Span{Axis: a.block, Lo: ir.Int64(0), Hi: a.count})
}

// finish computes what is left of the body, stores it for the points of the axes, and ends the kernel.
func (b *blockMaker) finish(axes ...*ir.Axis) {
	b.store(b.def, b.def.Free, b.whole(b.def, b.emit(b.def.Body, nil), axes), axes...)
	b.end()
}

// whole is a value as a tile over all of some axes.
func (b *blockMaker) whole(d *tensor.Map, value *ir.Expr, axes []*ir.Axis) *ir.Expr {
	if v, ok := value.Ref.(*tile.Value); ok && len(v.Axes) == len(axes) {
		return value
	}
	return b.mapped(d.Out.Name, value, axes)
}

// store puts a value where a definition's element is, whose axes stand at their places.
func (b *blockMaker) store(d *tensor.Map, free []ir.Span, value *ir.Expr, axes ...*ir.Axis) {
	s := &tile.Store{Head: tile.Head{Pos: d.Pos}, Axes: axes, To: b.kernel.module.array(d.Out), Value: value}
	for _, f := range free {
		s.At = append(s.At, b.places[f.Axis])
	}
	if where := b.mask(axes); !isTrue(where) {
		s.Where = where
	}
	b.add(s)
}

func (b *blockMaker) end() {
	grid := &tile.Loop{Kind: tile.Grid, Over: b.grid, Body: b.scope.body}
	if n := b.sched.Of("raster", 1); n > 1 && len(b.grid) > 1 {
		grid.Raster = n
	}
	b.kernel.out.Body = []tile.Stmt{grid}
	b.facts.Forget()
}
