package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
)

// splits reports whether the columns can be cut in parts, each for blocks of its own: all reductions are made in one loop.
func (k *rowKernel) splits() bool {
	return len(k.members) == 1 && len(k.members[0].cols) == 0 && len(k.walks()) == 1
}

// split makes two kernels: the blocks of the first reduce a part of the columns each, the second one combines the parts and computes
// the rest:
//
//	def s: f32 = sqrt(sum[i: f32](x[i] * x[i]))
//
// becomes, in 64 parts,
//
//	kernel s.parts {
//	  grid rm in 0..1, zm in 0..64 {
//	    loop cm in zm * ((N + 4095) / 4096) / 64..(zm + 1) * ((N + 4095) / 4096) / 64 carry … { … }
//	    sum.2[ri]: f32 = reduce sum sum.1 over ci
//	    store[ri] s.part[zm] <- sum.2
//	  }
//	}
//	kernel s { … sum[z in 0..64](s.part[z]) … }
func (k *rowKernel) split(m *moduleMaker, d *tensor.Map, sched schedule.Choice) {
	r := k.members[0]
	b := k.maker(m, d, d.Out.Name+".parts", sched)
	z := &ir.Axis{Name: b.kernel.fresh("zm")}
	n := ir.Int64(int64(b.choice.split))
	b.grid = append(b.grid, ir.Span{Axis: z, Lo: ir.Int64(0), Hi: n})
	b.part = ir.Name(z)
	b.reduce(r.folds)
	whole := map[*ir.Expr]*ir.Expr{} // of the parts
	for _, f := range r.folds {
		part := &tensor.Tensor{Name: d.Out.Name + ".part", Type: f.expr.Type, Extents: append([]*ir.Expr{n}, d.Out.Extents...), Role: tensor.Temp, Pos: d.Pos}
		m.declare([]*tensor.Tensor{part}, tile.Work)
		of := ir.Span{Axis: &ir.Axis{Name: "z"}, Lo: ir.Int64(0), Hi: n}
		free := append([]ir.Span{of}, r.free...)
		at := make([]*ir.Expr, len(free))
		for i, s := range free {
			at[i] = ir.Sub(ir.Name(s.Axis), s.Lo)
		}
		read := tensor.ReadOf(part, tensor.Edge{Kind: tensor.Inside}, at...)
		whole[f.expr] = tensor.Reduce(&tensor.Reduction{Op: f.op, Acc: f.expr.Type, Over: []ir.Span{of}}, read).At(f.expr.Pos)
		b.places[of.Axis] = b.part
		b.store(&tensor.Map{Out: part, Pos: d.Pos}, free, b.emit(f.expr, nil), b.row.at)
	}
	b.lines()
	b.end()
	rest := &tensor.Map{Out: d.Out, Free: r.free, Pos: d.Pos}
	body := ir.Rewriter{Pre: func(x *ir.Expr) *ir.Expr { return whole[x] }}
	rest.Body = body.Rewrite(r.body)
	last := rowsOf(rest, m.conditions())
	choice := last.shape.choose(m.tiles.unit.Device)
	last.kernel(m, rest, rowSpace(last.shape.bytes, m.tiles.unit.Device, choice).Default())
}
