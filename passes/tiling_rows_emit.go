package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
)

// rowMaker builds the kernel of definitions that go along the same rows.
type rowMaker struct {
	*blockMaker
	of      *rowKernel
	choice  rowChoice
	row     *tileAxis
	col     *ir.Axis               // of all tiles with columns
	part    *ir.Expr               // number of the part of the columns; nil: all
	columns map[*ir.Axis]*tileAxis // by their first axis: those of which a block has all at once
	made    map[*tensor.Tensor]bool
	done    map[*rowFold]bool
	inward  *accesses
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
//
// Where a single step takes all columns there is no loop, and what is loaded for one definition serves the next.
func (k *rowKernel) kernel(m *moduleMaker, d *tensor.Map, sched schedule.Choice) {
	if rowChoiceOf(sched).split > 1 {
		k.split(m, d, sched)
		return
	}
	b := k.maker(m, d, d.Out.Name, sched)
	for i, r := range k.members {
		for _, f := range r.folds {
			if !b.done[f] {
				b.reduce(b.together(f, k.members[i:]))
			}
		}
		b.member(r)
	}
	b.lines()
	b.end()
}

// maker begins a kernel.
func (k *rowKernel) maker(m *moduleMaker, d *tensor.Map, name string, sched schedule.Choice) *rowMaker {
	choice := rowChoiceOf(sched)
	b := &rowMaker{blockMaker: m.block(name, d, sched, choice.threads(), k.roots()), of: k, choice: choice,
		columns: map[*ir.Axis]*tileAxis{}, made: map[*tensor.Tensor]bool{}, done: map[*rowFold]bool{}, inward: newAccesses(m.conditions(), k.rows)}
	b.inOrder = true
	b.row = b.cut("r", choice.rows, k.rows)
	b.across(b.row)
	return b
}

func (b *rowMaker) end() {
	b.blockMaker.end()
	b.inward.facts.Forget()
}

// lines notes the statements that the kernel computes.
func (b *rowMaker) lines() {
	var lines []int
	for _, r := range b.of.members {
		if p := r.def.Pos; p.IsValid() && !slices.Contains(lines, int(p.Line)) {
			lines = append(lines, int(p.Line))
		}
	}
	slices.Sort(lines)
	b.kernel.out.Lines = lines
}

// together lists the reductions that go into a loop with f: those along the same columns that need nothing that is not there.
func (b *rowMaker) together(f *rowFold, members []*rowMember) (out []*rowFold) {
	for _, r := range members {
		for _, g := range r.folds {
			missing := false
			for t := range g.needs {
				missing = missing || !b.made[t]
			}
			if !b.done[g] && g.along(f) && !missing {
				b.done[g] = true
				out = append(out, g)
			}
		}
	}
	return out
}

// member computes what is left of a definition when its reductions are there.
func (b *rowMaker) member(r *rowMember) {
	b.made[r.def.Out] = true
	if len(r.cols) > 0 {
		b.elements(r)
		return
	}
	value := b.value(r, b.row.at)
	b.own[r.def.Out] = value
	if r.keep {
		b.store(r.def, r.free, value, b.row.at)
	}
}

func (b *rowMaker) value(r *rowMember, axes ...*ir.Axis) *ir.Expr {
	return b.whole(r.def, b.emit(r.body, nil), axes)
}

// elements computes a definition for every row and column.
func (b *rowMaker) elements(r *rowMember) {
	early := b.early(r.cols, func(e *earlier) { e.visit(r.body, true) })
	b.along(r.cols, r.def.Pos, func(col *tileAxis) {
		b.recall(early)
		b.store(r.def, r.free, b.value(r, b.row.at, col.at), b.row.at, col.at)
	}, nil)
}

// along calls f once in a loop over columns, or without one where a step has all of them. carry, if set, sees the loop first.
func (b *rowMaker) along(cols fused, pos diag.Pos, f func(col *tileAxis), carry func(*tile.Loop, *tileAxis)) {
	if col := b.columns[firstAxis(cols)]; col != nil {
		f(col)
		return
	}
	if b.col == nil {
		b.col = b.axis("c", b.choice.cols)
	}
	col := b.cutAlong(b.col, "c", cols)
	if b.part == nil && col.count.IsInt(1) {
		b.columns[firstAxis(cols)] = col
		f(col)
		return
	}
	span := ir.Span{Axis: col.block, Lo: ir.Int64(0), Hi: col.count}
	if b.part != nil {
		border := func(z *ir.Expr) *ir.Expr { return ir.Div(ir.Mul(z, col.count), ir.Int64(int64(b.choice.split))) }
		span.Lo, span.Hi = border(b.part), border(ir.Add(b.part, ir.Int64(1)))
	}
	loop := &tile.Loop{Head: tile.Head{Pos: pos}, Kind: tile.Serial, Over: []ir.Span{span}}
	if carry != nil {
		carry(loop, col)
	}
	loop.Body = b.within(func() { f(col) })
	b.add(loop)
}
func firstAxis(cols fused) *ir.Axis { return cols[0].Axis }

// reduce computes reductions along the same columns.
func (b *rowMaker) reduce(folds []*rowFold) {
	early := b.early(folds[0].over, func(e *earlier) {
		for _, f := range folds {
			if f.guard != nil {
				e.visit(f.guard, true)
			}
			e.visit(f.element, f.guard == nil)
		}
	})
	var loop *tile.Loop
	parts := make([]*tile.Value, len(folds))
	b.along(folds[0].over, folds[0].expr.Pos, func(col *tileAxis) {
		b.recall(early)
		for i, f := range folds {
			if loop == nil {
				parts[i] = b.step(f, col, ir.NewConst(f.expr.Type, f.op.Identity(f.expr.Type)))
			} else {
				loop.Carry[i].Next = ir.Name(b.step(f, col, ir.Name(loop.Carry[i].In)))
			}
		}
	}, func(l *tile.Loop, col *tileAxis) {
		loop = l
		for i, f := range folds {
			in := b.partial(f, col)
			parts[i] = b.partial(f, col)
			l.Carry = append(l.Carry, tile.Carry{In: in, Out: parts[i], First: ir.NewConst(in.Type, f.op.Identity(in.Type))})
		}
	})
	for i, f := range folds {
		all := &tile.Value{Name: b.kernel.fresh(f.op.Name), Type: f.expr.Type, Axes: []*ir.Axis{b.row.at}}
		b.add(&tile.Reduce{Head: tile.Head{Pos: f.expr.Pos}, Out: all, In: parts[i], Over: parts[i].Axes[1:], Op: f.op})
		b.remember(f.expr, nil, ir.Name(all))
	}
}

func (b *rowMaker) partial(f *rowFold, col *tileAxis) *tile.Value {
	return &tile.Value{Name: b.kernel.fresh(f.op.Name), Type: f.expr.Type, Axes: []*ir.Axis{b.row.at, col.at}}
}

// step takes the columns of one trip into what there is so far; those that do not take part leave it as it is.
func (b *rowMaker) step(f *rowFold, col *tileAxis, soFar *ir.Expr) *tile.Value {
	valid := ir.True
	if inside := b.inside[col.at]; inside != nil {
		valid = inside
	}
	var g *guard
	if x := f.guard; x != nil {
		g = b.under(nil, x, b.named("c", b.emit(x, nil)), true)
		valid = ir.And(valid, g.cond)
	}
	next := b.emit(f.element, g)
	if !soFar.IsConst() {
		next = ir.Apply(f.op.Op, soFar, next)
	}
	if !isTrue(valid) {
		next = ir.Select(valid, next, soFar)
	}
	if v, ok := next.Ref.(*tile.Value); ok && len(v.Axes) == 2 {
		return v
	}
	return b.mapped("t", next.At(f.expr.Pos), []*ir.Axis{b.row.at, col.at}).Ref.(*tile.Value)
}

// recall makes known what was computed in front of the columns.
func (b *rowMaker) recall(early map[*ir.Expr]*ir.Expr) {
	for x, value := range early {
		b.remember(x, nil, value)
	}
}

// early computes what columns have in common in front of them; find says where to look. Where there may be no column it is nobody's
// to read, so it waits for the condition that there is one, unless every read is inside for any row.
func (b *rowMaker) early(cols fused, find func(*earlier)) map[*ir.Expr]*ir.Expr {
	some := ir.True
	columns := axisSet{}
	for _, s := range cols {
		columns[s.Axis] = true
		if cond := ir.Lt(s.Lo, s.Hi); !b.inward.facts.Holds(cond) {
			some = ir.And(some, cond)
		}
	}
	e := &earlier{rowMaker: b, columns: columns, depends: map[*ir.Expr]bool{}, safe: map[*ir.Expr]bool{}, seen: map[visitAt]bool{}, out: map[*ir.Expr]*ir.Expr{}}
	if !isTrue(some) {
		e.some = &guard{cond: some}
	}
	find(e)
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
