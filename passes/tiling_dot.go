package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
)

// contractionMaker builds the kernel of a contraction.
type contractionMaker struct {
	*blockMaker
	of   *contraction
	m, n *tileAxis
}

// kernel makes a kernel whose blocks compute tiles of the result, going along k in steps:
//
//	def y[i, j]: f32 = sum[l: f32](x[i, l] * w[l, j]) + b[j]
//
// becomes
//
//	axis mi: 128
//	axis ni: 128
//	axis ki: 32
//	grid mm in 0..(M + 127) / 128, nm in 0..(N + 127) / 128 {
//	  loop km in 0..(K + 31) / 32 carry (acc[mi, ni]: f32 = 0.0 -> acc.1) {
//	    x[mi, ki]: f32 = load x[mm * 128 + mi, km * 32 + ki] where … else 0.0
//	    w[ki, ni]: f32 = load w[km * 32 + ki, nm * 128 + ni] where … else 0.0
//	    d[mi, ni]: f32 = dot x, w over ki into acc
//	    next acc = d
//	  }
//	  b[ni]: f32 = load b[nm * 128 + ni] where … else 0.0
//	  y[mi, ni]: f32 = map acc.1 + b
//	  store[mi, ni] y[mm * 128 + mi, nm * 128 + ni] <- y where …
//	}
func (of *contraction) kernel(m *moduleMaker, d *tensor.Map, sched schedule.Choice) {
	c := &contractionMaker{blockMaker: m.block(d.Out.Name, d, sched, 32*sched.Of("warps.m", 1)*sched.Of("warps.n", 1), of.roots(d)), of: of}
	for _, s := range of.batch {
		a := &ir.Axis{Name: c.kernel.fresh(s.Axis.Name)}
		c.grid = append(c.grid, ir.Span{Axis: a, Lo: ir.Int64(0), Hi: extent(s)})
		c.place(s, ir.Name(a))
	}
	c.m, c.n = c.cut("m", sched.Of("m", 1), of.m), c.cut("n", sched.Of("n", 1), of.n)
	c.across(c.m)
	c.across(c.n)
	for i, s := range of.sums {
		if slices.ContainsFunc(of.sums[:i], s.along) {
			continue // in a loop that is there
		}
		c.loop(slices.DeleteFunc(slices.Clone(of.sums), func(t *sumOf) bool { return !t.along(s) }))
	}
	c.finish(c.m.at, c.n.at)
}

// roots lists the expressions that will be emitted.
func (c *contraction) roots(d *tensor.Map) []*ir.Expr {
	out := []*ir.Expr{d.Body}
	for _, s := range c.sums {
		out = append(out, s.a, s.b, s.guard)
	}
	return out
}

// along reports whether two sums run over the same axes.
func (s *sumOf) along(t *sumOf) bool { return s.over[0].Axis == t.over[0].Axis }

func sameSpans(a, b fused) bool {
	return slices.EqualFunc(a, b, func(x, y ir.Span) bool { return ir.Equal(x.Lo, y.Lo) && ir.Equal(x.Hi, y.Hi) })
}

// loop computes sums over the same axes.
func (c *contractionMaker) loop(sums []*sumOf) {
	k := c.cut("k", c.sched.Of("k", 1), sums[0].over)
	loop := &tile.Loop{Head: tile.Head{Pos: sums[0].expr.Pos}, Kind: tile.Serial, Over: []ir.Span{{Axis: k.block, Lo: ir.Int64(0), Hi: k.count}}}
	for _, s := range sums {
		in, out := c.tile("acc", s.expr.Type), c.tile("acc", s.expr.Type)
		loop.Carry = append(loop.Carry, tile.Carry{In: in, Out: out, First: ir.ZeroOf(in.Type)})
	}
	loop.Body = c.within(func() {
		for i, s := range sums {
			loop.Carry[i].Next = c.step(s, k, loop.Carry[i].In)
		}
	})
	c.add(loop)
	for i, s := range sums {
		c.remember(s.expr, nil, ir.Name(loop.Carry[i].Out))
	}
}

// tile is a value over the result's tile.
func (c *contractionMaker) tile(hint string, t ir.Type) *tile.Value {
	return &tile.Value{Name: c.kernel.fresh(hint), Type: t, Axes: []*ir.Axis{c.m.at, c.n.at}}
}

// step adds what one step along k contributes.
func (c *contractionMaker) step(s *sumOf, k *tileAxis, acc *tile.Value) *ir.Expr {
	valid := ir.True // along k
	if inside := c.inside[k.at]; inside != nil {
		valid = inside
	}
	var g *guard
	if x := s.guard; x != nil {
		g = c.under(nil, x, c.named("c", c.emit(x, nil)), true)
		valid = ir.And(valid, g.cond)
	}
	a := c.operand("a", c.emit(s.a, g), valid, []*ir.Axis{c.m.at, k.at})
	b := c.operand("b", c.emit(s.b, g), valid, []*ir.Axis{k.at, c.n.at})
	d := c.tile("d", acc.Type)
	c.add(&tile.Dot{Head: tile.Head{Pos: s.expr.Pos}, Out: d, A: a, B: b, Into: acc, Over: []*ir.Axis{k.at}})
	return ir.Name(d)
}

// operand is a value with these axes that is 0 where valid fails: what it has there may be no number, and 0 times that is none.
func (c *contractionMaker) operand(hint string, x, valid *ir.Expr, axes []*ir.Axis) *tile.Value {
	if v, ok := x.Ref.(*tile.Value); ok && sameAxes(v.Axes, axes) && (isTrue(valid) || c.zeroed(v, valid)) {
		return v
	}
	if !isTrue(valid) {
		x = ir.Select(valid, x, ir.ZeroOf(x.Type))
	}
	return c.mapped(hint, x, axes).Ref.(*tile.Value)
}

// zeroed reports whether a value is loaded, with 0 where valid fails. A load that serves others too may have fewer conditions.
func (c *contractionMaker) zeroed(v *tile.Value, valid *ir.Expr) bool {
	s := c.loads[v]
	if s == nil || s.Other == nil || !s.Other.IsConst() || s.Other.Val != (ir.Const{}) {
		return false
	}
	has := conditionsIn(s.Where)
	return !slices.ContainsFunc(conditionsIn(valid), func(x *ir.Expr) bool {
		return !slices.ContainsFunc(has, func(y *ir.Expr) bool { return ir.Equal(x, y) })
	})
}

// conditionsIn lists what a conjunction demands.
func conditionsIn(x *ir.Expr) []*ir.Expr {
	if x.Op != ir.OpAnd {
		return []*ir.Expr{x}
	}
	return slices.Concat(conditionsIn(x.Args[0]), conditionsIn(x.Args[1]))
}

func sameAxes(a, b []*ir.Axis) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x *ir.Axis) bool { return !slices.Contains(b, x) })
}
