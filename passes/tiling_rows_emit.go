package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
)

// rowMaker builds the kernel of a reduction.
type rowMaker struct {
	*blockMaker
	of     *rowReduction
	choice rowChoice
	row    *tileAxis
	inward *accesses
}

// kernel makes a kernel whose blocks compute several rows, going along the columns in steps with partial results:
//
//	def y[i]: f32 = sqrt(sum[j: f32](x[i, j] * x[i, j]))
//
// becomes
//
//	axis ri: 8
//	axis ci: 128
//	grid rm in 0..(R + 7) / 8 {
//	  loop cm in 0..(C + 127) / 128 carry (sum[ri, ci]: f32 = 0.0 -> sum.1) {
//	    x[ri, ci]: f32 = load x[rm * 8 + ri, cm * 128 + ci] where … else 0.0
//	    t[ri, ci]: f32 = map select(cm * 128 + ci < C, sum + x * x, sum)
//	    next sum = t
//	  }
//	  s[ri]: f32 = reduce sum sum.1 over ci
//	  y[ri]: f32 = map sqrt(s)
//	  store[ri] y[rm * 8 + ri] <- y where …
//	}
func (r *rowReduction) kernel(m *moduleMaker, d *tensor.Map, sched schedule.Choice) {
	choice := rowChoiceOf(sched)
	b := &rowMaker{blockMaker: m.block(d, sched, choice.threads(), r.roots(d)), of: r, choice: choice, inward: newAccesses(m.conditions(), d.Free)}
	b.inOrder = true
	b.row = b.cut("r", choice.rows, r.rows)
	b.across(b.row)
	for _, g := range r.loops() {
		b.loop(g)
	}
	b.finish(b.row.at)
	b.inward.facts.Forget()
}

// loop computes reductions over the same columns.
func (b *rowMaker) loop(folds []*rowFold) {
	over := folds[0].over
	early := b.early(folds)
	mark := b.facts.Mark()
	col := b.cut("c", b.choice.cols, over)
	b.facts.Release(mark)
	loop := &tile.Loop{Head: tile.Head{Pos: folds[0].expr.Pos}, Kind: tile.Serial, Over: []ir.Span{{Axis: col.block, Lo: ir.Int64(0), Hi: col.count}}}
	for _, f := range folds {
		in, out := b.partial(f, col), b.partial(f, col)
		loop.Carry = append(loop.Carry, tile.Carry{In: in, Out: out, First: ir.NewConst(in.Type, f.op.Identity(in.Type))})
	}
	loop.Body = b.within(func() {
		for x, value := range early {
			b.remember(x, nil, value)
		}
		for i, f := range folds {
			loop.Carry[i].Next = b.step(f, col, loop.Carry[i].In)
		}
	})
	b.add(loop)
	for i, f := range folds {
		all := &tile.Value{Name: b.kernel.fresh(f.op.Name), Type: f.expr.Type, Axes: []*ir.Axis{b.row.at}}
		b.add(&tile.Reduce{Head: tile.Head{Pos: f.expr.Pos}, Out: all, In: loop.Carry[i].Out, Over: []*ir.Axis{col.at}, Op: f.op})
		b.remember(f.expr, nil, ir.Name(all))
	}
}

func (b *rowMaker) partial(f *rowFold, col *tileAxis) *tile.Value {
	return &tile.Value{Name: b.kernel.fresh(f.op.Name), Type: f.expr.Type, Axes: []*ir.Axis{b.row.at, col.at}}
}

// step takes the columns of one trip into the partial results; those that do not take part keep what they are.
func (b *rowMaker) step(f *rowFold, col *tileAxis, acc *tile.Value) *ir.Expr {
	valid := ir.True
	if inside := b.inside[col.at]; inside != nil {
		valid = inside
	}
	var g *guard
	if x := f.guard; x != nil {
		g = b.under(nil, x, b.named("c", b.emit(x, nil)), true)
		valid = ir.And(valid, g.cond)
	}
	next := ir.Apply(f.op.Op, ir.Name(acc), b.emit(f.element, g))
	if !isTrue(valid) {
		next = ir.Select(valid, next, ir.Name(acc))
	}
	return b.mapped("t", next.At(f.expr.Pos), acc.Axes)
}

// early computes what the columns have in common in front of the loop. Where there may be no column it is nobody's to read, so it
// waits for the condition that there is one, unless every read is inside for any row.
func (b *rowMaker) early(folds []*rowFold) map[*ir.Expr]*ir.Expr {
	some := ir.True
	columns := axisSet{}
	for _, s := range folds[0].over {
		columns[s.Axis] = true
		if cond := ir.Lt(s.Lo, s.Hi); !b.inward.facts.Holds(cond) {
			some = ir.And(some, cond)
		}
	}
	e := &earlier{rowMaker: b, columns: columns, depends: map[*ir.Expr]bool{}, safe: map[*ir.Expr]bool{}, seen: map[visitAt]bool{}, out: map[*ir.Expr]*ir.Expr{}}
	if !isTrue(some) {
		e.some = &guard{cond: some}
	}
	for _, f := range folds {
		if f.guard != nil {
			e.visit(f.guard, true)
		}
		e.visit(f.element, f.guard == nil)
	}
	return e.out
}

// earlier finds what can be computed in front of a loop over columns.
type earlier struct {
	*rowMaker
	columns axisSet
	some    *guard            // there are columns; nil: known
	depends map[*ir.Expr]bool // on the columns
	safe    map[*ir.Expr]bool // every read is inside
	seen    map[visitAt]bool
	out     map[*ir.Expr]*ir.Expr
}

type visitAt struct {
	x      *ir.Expr
	strict bool
}

// visit looks at an expression of the element; strict says that it is evaluated for all of them.
func (e *earlier) visit(x *ir.Expr, strict bool) {
	at := visitAt{x, strict}
	if !e.reads[x] || e.seen[at] || e.out[x] != nil {
		return
	}
	e.seen[at] = true
	if !e.moves(x) {
		switch {
		case e.harmless(x):
			e.out[x] = e.named("t", e.emit(x, nil))
			return
		case strict:
			e.out[x] = e.named("t", e.emit(x, e.some))
			return
		}
	}
	for i, a := range x.Args {
		e.visit(a, strict && (i == 0 || !x.Op.Is(ir.Lazy)))
	}
}

// moves reports whether an expression depends on the columns.
func (e *earlier) moves(x *ir.Expr) bool {
	out, ok := e.depends[x]
	if ok {
		return out
	}
	a, is := x.Ref.(*ir.Axis)
	out = is && e.columns[a]
	for _, y := range x.Args {
		out = e.moves(y) || out
	}
	e.depends[x] = out
	return out
}

// harmless reports whether all reads of an expression are inside for every row.
func (e *earlier) harmless(x *ir.Expr) bool {
	out, ok := e.safe[x]
	if ok {
		return out
	}
	out = true
	for _, y := range x.Args {
		out = e.harmless(y) && out
	}
	if x.Op == ir.OpRead && out {
		of := x.Ref.(tensor.Read).Of
		for i, y := range x.Args {
			below, above := e.inward.facts.Inside(y, of.Extents[i])
			out = out && !below && !above
		}
	}
	e.safe[x] = out
	return out
}
