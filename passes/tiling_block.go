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
	facts  *ir.Facts
	grid   []ir.Span
}

// tileAxis is a fused axis that is cut: point number block * size + at.
type tileAxis struct {
	at    *ir.Axis // inside the tile
	block *ir.Axis // which tile
	count *ir.Expr // of tiles
}

// block begins a kernel for a definition; roots are the expressions that will be emitted.
func (m *moduleMaker) block(d *tensor.Map, sched schedule.Choice, threads int, roots []*ir.Expr) *blockMaker {
	k := m.kernel(d.Out.Name, d.Pos)
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

// cut makes the axes of a fused axis in tiles of a size, and says where its axes stand.
func (b *blockMaker) cut(name string, size int, spans fused) *tileAxis {
	k, n, total := b.kernel, ir.Int64(int64(size)), spans.total()
	a := &tileAxis{at: &ir.Axis{Name: k.fresh(name + "i"), Extent: n}, block: &ir.Axis{Name: k.fresh(name + "m")}, count: ir.CeilDiv(total, n)}
	k.out.Axes = append(k.out.Axes, a.at)
	number := ir.Add(ir.Mul(ir.Name(a.block), n), ir.Name(a.at))
	b.facts.Bind(ir.Span{Axis: a.block, Lo: ir.Int64(0), Hi: a.count})
	b.facts.Bind(ir.Span{Axis: a.at, Lo: ir.Int64(0), Hi: n})
	if inside := ir.Lt(number, total); !b.facts.Holds(inside) {
		b.inside[a.at] = inside
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
	value := b.emit(b.def.Body, nil)
	if v, ok := value.Ref.(*tile.Value); !ok || len(v.Axes) == 0 && len(axes) > 0 {
		value = b.mapped(b.def.Out.Name, value, axes)
	}
	s := &tile.Store{Head: tile.Head{Pos: b.def.Pos}, Axes: axes, To: b.kernel.module.array(b.def.Out), Value: value}
	for _, f := range b.def.Free {
		s.At = append(s.At, b.places[f.Axis])
	}
	if where := b.mask(axes); !isTrue(where) {
		s.Where = where
	}
	b.add(s)
	b.kernel.out.Body = []tile.Stmt{&tile.Loop{Kind: tile.Grid, Over: b.grid, Body: b.scope.body}}
	b.facts.Forget()
}
