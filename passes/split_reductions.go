package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// splitReductions gives a reduction a definition of its own where it would be computed again and again: inside a loop, or for
// elements of the definition, that it does not depend on. Scans always get one, so that their axis is walked once.
//
//	def y[r, c]: f32 = x[r, c] / sum[j: f32](x[r, j])
//
// becomes
//
//	def sum.1[r]: f32 = sum[j: f32](x[r, j])
//	def y[r, c]: f32 = x[r, c] / sum.1[r]
//
// A reduction that is computed elsewhere anyway is read from there, so that what is compared with it is the same number.
//
// The new definition is computed everywhere, also where a guard around the reduction fails. So its reads are guarded to stay
// inside; what they make of it is never used.
func splitReductions(u *Unit) error {
	p := copyProgram(u.Tensor)
	s := &splitter{names: namesOf(p), program: p, likeness: newLikeness(), made: map[uint64][]*madeReduction{}}
	for _, d := range p.Defs {
		s.definition(d)
	}
	p.Defs = s.out
	u.Tensor = p
	return nil
}

type splitter struct {
	*likeness
	program *tensor.Program
	names   namer
	out     []tensor.Def
	made    map[uint64][]*madeReduction // by likeness
}

// madeReduction is a reduction that has a definition of its own.
type madeReduction struct {
	expr  *ir.Expr
	axes  []*ir.Axis // its free ones, in the order of the definition's
	spans []ir.Span
	out   *tensor.Tensor
}

// splitting is the work on one definition.
type splitting struct {
	*splitter
	def    tensor.Def
	own    map[*tensor.Tensor]bool // what the definition defines
	ranges ranges
	free   map[*ir.Expr]axisSet // axes that an expression depends on
	order  map[*ir.Axis]int     // of axes, outermost first
	move   map[*ir.Expr]bool    // reductions that get a definition
	stay   []*ir.Expr           // those that could
	seen   map[visit]bool
	memo   map[*ir.Expr]*ir.Expr
}

// visit is an expression in the place inside a reduction.
type visit struct {
	expr  *ir.Expr
	scope *ir.Expr
}

type axisSet map[*ir.Axis]bool

func (s *splitter) definition(d tensor.Def) {
	w := &splitting{splitter: s, def: d, own: map[*tensor.Tensor]bool{}, ranges: noRanges(), free: map[*ir.Expr]axisSet{},
		order: map[*ir.Axis]int{}, move: map[*ir.Expr]bool{}, seen: map[visit]bool{}, memo: map[*ir.Expr]*ir.Expr{}}
	for _, t := range d.Outs() {
		w.own[t] = true
	}
	boxes := boxesOf(d)
	var roots [][]*ir.Expr
	switch d := d.(type) {
	case *tensor.Map:
		roots = [][]*ir.Expr{{d.Body}}
	case *tensor.Scatter:
		list := append([]*ir.Expr{d.Body}, d.At...)
		if d.Guard != nil {
			list = append(list, d.Guard)
		}
		for _, x := range d.Free {
			list = append(list, x.Lo, x.Hi)
		}
		roots = [][]*ir.Expr{list}
	case *tensor.Recur:
		for _, b := range d.Bodies {
			roots = append(roots, []*ir.Expr{b})
		}
	case *tensor.Check:
		roots = [][]*ir.Expr{{d.Fault}}
	}
	for i, list := range roots {
		around := axisSet{}
		for _, span := range boxes[i] {
			w.bind(span)
			around[span.Axis] = true
		}
		for _, x := range list {
			w.choose(x, nil, around, true)
		}
	}
	w.join()
	if len(w.move) > 0 {
		d = rewriteDef(d, w.rewrite)
	}
	s.out = append(s.out, d)
}

// join lets reductions that could stay move as well, where the same is computed elsewhere.
func (w *splitting) join() {
	moving := map[uint64][]*ir.Expr{}
	for x := range w.move {
		moving[w.hash(x)] = append(moving[w.hash(x)], x)
	}
	for _, x := range w.stay {
		if w.known(x) != nil || slices.ContainsFunc(moving[w.hash(x)], func(y *ir.Expr) bool { return w.sameAs(x, w.axesOf(x), y, w.axesOf(y), nil) }) {
			w.move[x] = true
		}
	}
}

// known is the definition that a reduction has; nil: none.
func (w *splitting) known(x *ir.Expr) *madeReduction {
	for _, m := range w.made[w.hash(x)] {
		if w.sameAs(x, w.axesOf(x), m.expr, m.axes, m.spans) {
			return m
		}
	}
	return nil
}

// sameAs reports whether x over its axes is y over its own, which have these spans (nil: those of this definition).
func (w *splitting) sameAs(x *ir.Expr, on []*ir.Axis, y *ir.Expr, of []*ir.Axis, spans []ir.Span) bool {
	if len(on) != len(of) {
		return false
	}
	axes := map[*ir.Axis]*ir.Axis{}
	for i, a := range on {
		s, t := w.ranges.spans[a], w.ranges.spans[of[i]]
		if spans != nil {
			t = spans[i]
		}
		if !ir.Equal(s.Lo, t.Lo) || !ir.Equal(s.Hi, t.Hi) {
			return false
		}
		axes[a] = of[i]
	}
	return w.alike(x, y, axes)
}

// axesOf are the free axes of an expression, outermost first.
func (w *splitting) axesOf(x *ir.Expr) []*ir.Axis {
	var out []*ir.Axis
	for a := range w.depends(x) {
		out = append(out, a)
	}
	sortBy(out, w.order)
	return out
}

// boxesOf lists the axes that are bound around each expression of a definition.
func boxesOf(d tensor.Def) [][]ir.Span {
	switch d := d.(type) {
	case *tensor.Map:
		return [][]ir.Span{d.Free}
	case *tensor.Scatter:
		return [][]ir.Span{d.Free}
	case *tensor.Recur:
		return d.Free
	case *tensor.Check:
		return [][]ir.Span{d.Free}
	}
	return nil
}

func (w *splitting) bind(s ir.Span) {
	if _, known := w.ranges.spans[s.Axis]; !known {
		w.order[s.Axis] = len(w.order)
	}
	w.ranges.spans[s.Axis] = s
}

// choose marks the reductions below x that should move. around are the axes for each point of which x is computed; top says
// that x is the definition's whole body but for conversions.
func (w *splitting) choose(x, scope *ir.Expr, around axisSet, top bool) {
	if x == nil || w.seen[visit{x, scope}] || w.move[x] {
		return
	}
	w.seen[visit{x, scope}] = true
	switch r := x.Ref.(type) {
	case *tensor.Reduction:
		inside := axisSet{}
		for a := range around {
			inside[a] = true
		}
		for _, s := range r.Over {
			w.choose(s.Lo, x, inside, false)
			w.choose(s.Hi, x, inside, false)
			w.bind(s)
			inside[s.Axis] = true
		}
		w.choose(r.Guard, x, inside, false)
		w.choose(x.Args[0], x, inside, false)
		if !w.movable(x) {
			return
		}
		if repeats(w.depends(x), around) {
			w.move[x] = true
		} else {
			w.stay = append(w.stay, x)
		}
		return
	case *tensor.Scan:
		w.choose(r.Over.Lo, x, around, false)
		w.choose(r.Over.Hi, x, around, false)
		w.choose(r.Guard, x, around, false)
		w.choose(x.Args[0], x, around, false)
		_, isMap := w.def.(*tensor.Map)
		if !(top && isMap) && w.movable(x) {
			w.move[x] = true
		}
		return
	}
	for _, a := range x.Args {
		w.choose(a, scope, around, top && (x.Op == ir.OpCast || x.Op == ir.OpWiden))
	}
}

// repeats reports whether something that depends on some axes is computed again for other axes around it.
func repeats(on, around axisSet) bool {
	for a := range around {
		if !on[a] {
			return true
		}
	}
	return false
}

// depends is the set of axes that a value depends on: those that it names, reads with, and does not bind itself.
func (w *splitting) depends(x *ir.Expr) axisSet {
	if x == nil {
		return nil
	}
	if s, ok := w.free[x]; ok {
		return s
	}
	out := axisSet{}
	merge := func(s axisSet) {
		for a := range s {
			out[a] = true
		}
	}
	if a, ok := x.Ref.(*ir.Axis); ok {
		out[a] = true
	}
	for _, a := range x.Args {
		merge(w.depends(a))
	}
	if s, ok := x.Ref.(ir.Scope); ok {
		for _, a := range s.Exprs() {
			merge(w.depends(a))
		}
	}
	if r, ok := x.Ref.(*tensor.Reduction); ok {
		for _, s := range r.Over {
			delete(out, s.Axis)
		}
	}
	if s, ok := x.Ref.(*tensor.Scan); ok {
		out[s.Over.Axis] = true
	}
	w.free[x] = out
	return out
}

// movable reports whether a reduction can be defined elsewhere: nothing that this definition is about to define is read, and
// its axes have ends that do not depend on other axes or on data.
func (w *splitting) movable(x *ir.Expr) bool {
	for a := range w.depends(x) {
		s, ok := w.ranges.spans[a]
		if !ok || !scalarOnly(s.Lo) || !scalarOnly(s.Hi) {
			return false
		}
	}
	ok := true
	ir.Walk(x, func(y *ir.Expr) {
		if r, is := y.Ref.(tensor.Read); is && w.own[r.Of] {
			ok = false
		}
	})
	return ok
}

// rewrite replaces the reductions that move by reads of their definitions.
func (w *splitting) rewrite(x *ir.Expr) *ir.Expr {
	r := ir.Rewriter{Post: func(y *ir.Expr) *ir.Expr { return y }}
	r.Pre = func(y *ir.Expr) *ir.Expr {
		if !w.move[y] {
			return nil
		}
		if out := w.memo[y]; out != nil {
			return out
		}
		out := w.define(y, &r)
		w.memo[y] = out
		return out
	}
	return r.Rewrite(x)
}

// define makes a definition of a reduction and returns the read of its element.
func (w *splitting) define(x *ir.Expr, r *ir.Rewriter) *ir.Expr {
	axes := w.axesOf(x)
	at := make([]*ir.Expr, len(axes))
	for i, a := range axes {
		at[i] = ir.Sub(ir.Name(a), w.ranges.spans[a].Lo)
	}
	if m := w.known(x); m != nil {
		return tensor.ReadOf(m.out, tensor.Edge{Kind: tensor.Inside}, at...).At(x.Pos)
	}
	t := &tensor.Tensor{Name: w.names.numbered(x.Ref.RefName()), Type: x.Type, Role: tensor.Temp, Pos: w.def.Place()}
	def := &tensor.Map{Out: t, Pos: w.def.Place()}
	made := &madeReduction{expr: x, axes: axes, out: t}
	own := map[ir.Ref]*ir.Expr{}
	for _, a := range axes {
		s := w.ranges.spans[a]
		made.spans = append(made.spans, s)
		fresh := &ir.Axis{Name: a.Name, Extent: a.Extent}
		own[a] = ir.Name(fresh)
		def.Free = append(def.Free, ir.Span{Axis: fresh, Lo: s.Lo, Hi: s.Hi})
		t.Extents = append(t.Extents, extent(s))
	}
	// The operands may hold reductions that move as well; x itself must not be replaced again.
	def.Body = rebind(w.ranges.guardReads(rewriteInside(x, r)), own)
	w.program.Temps = append(w.program.Temps, t)
	w.out = append(w.out, def)
	if _, ok := x.Ref.(*tensor.Reduction); ok {
		w.made[w.hash(x)] = append(w.made[w.hash(x)], made)
	}
	return tensor.ReadOf(t, tensor.Edge{Kind: tensor.Inside}, at...).At(x.Pos)
}

// rewriteInside rewrites the operands of x and what its Ref holds.
func rewriteInside(x *ir.Expr, r *ir.Rewriter) *ir.Expr {
	ref := x.Ref
	if s, ok := ref.(ir.Scope); ok {
		ref = s.WithExprs(mapAll(s.Exprs(), r.Rewrite))
	}
	return ir.NewExpr(x.Op, x.Type, ref, x.Pos, mapAll(x.Args, r.Rewrite)...)
}

// rebind replaces axes, also that of a scan.
func rebind(x *ir.Expr, with map[ir.Ref]*ir.Expr) *ir.Expr {
	r := ir.Rewriter{Post: func(y *ir.Expr) *ir.Expr {
		if y.Op == ir.OpName {
			if to := with[y.Ref]; to != nil {
				return to
			}
		}
		if s, ok := y.Ref.(*tensor.Scan); ok {
			if to := with[s.Over.Axis]; to != nil {
				c := *s
				c.Over.Axis = to.Ref.(*ir.Axis)
				return ir.NewExpr(y.Op, y.Type, &c, y.Pos, y.Args...)
			}
		}
		return y
	}}
	return r.Rewrite(x)
}

// guardReads makes reads that were proven under a guard that is gone harmless where they leave their tensor.
func (r ranges) guardReads(x *ir.Expr) *ir.Expr {
	w := ir.Rewriter{Post: func(y *ir.Expr) *ir.Expr {
		if y.Op == ir.OpIf && y.Args[1].Op == ir.OpIf && ir.Equal(y.Args[0], y.Args[1].Args[0]) {
			return ir.If(y.Args[0], y.Args[1].Args[1], y.Args[2]) // it had that guard already
		}
		if y.Op != ir.OpRead {
			return y
		}
		read := y.Ref.(tensor.Read)
		inside := r.inside(read.Of, y.Args)
		if inside == ir.True {
			return y
		}
		plain := ir.NewExpr(ir.OpRead, y.Type, tensor.Read{Of: read.Of, Edge: tensor.Edge{Kind: tensor.Trusted}}, y.Pos, y.Args...)
		return ir.If(inside, plain, ir.ZeroOf(y.Type)).At(y.Pos)
	}}
	return w.Rewrite(x)
}
