package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// boxed returns a definition whose reductions run over boxes, where they did over ranges that move with the axes of the definition:
// such a range is counted from where it begins,
//
//	sum[c in g * W..(g + 1) * W](x[c])    is    sum[c in 0..W](x[g * W + c])
//
// and one that ends, or begins, where an axis stands is the longest one, of which a part counts:
//
//	sum[j in 0..i + 1](x[j])    is    sum[j in 0..N where j < i + 1](x[j])
//
// Other ranges stay. Reductions behind conditions become such as may be computed for all elements. It is the same definition where
// nothing changes.
func boxed(d *tensor.Map, conditions []*ir.Expr) *tensor.Map {
	b := &boxer{free: map[*ir.Axis]ir.Span{}, lowest: map[ir.Ref]*ir.Expr{}, facts: ir.NewFacts(conditions...)}
	defer b.facts.Forget()
	for _, s := range d.Free {
		b.free[s.Axis], b.lowest[s.Axis] = s, s.Lo
		b.facts.Bind(s)
	}
	r := ir.Rewriter{Post: func(x *ir.Expr) *ir.Expr {
		if x.Op == tensor.OpReduce {
			return b.reduction(x)
		}
		return x
	}}
	out := *d
	out.Body = r.Rewrite(d.Body)
	if out.Body = harmless(&out); out.Body == d.Body {
		return d
	}
	return &out
}

// harmless is the body of a definition with reductions behind conditions that may be computed for all elements: their reads stay
// inside where the condition fails.
func harmless(d *tensor.Map) *ir.Expr {
	always := &finder{strict: map[*ir.Expr]bool{}, always: true}
	all := &finder{strict: map[*ir.Expr]bool{}}
	always.reductions(d.Body)
	all.reductions(d.Body)
	if len(all.found) == len(always.found) {
		return d.Body
	}
	in := rangesOf(d)
	guarded := map[*ir.Expr]*ir.Expr{}
	for _, x := range all.found {
		if !always.strict[x] {
			guarded[x] = in.guardReads(x)
		}
	}
	r := ir.Rewriter{Pre: func(x *ir.Expr) *ir.Expr { return guarded[x] }}
	return r.Rewrite(d.Body)
}

type boxer struct {
	free   map[*ir.Axis]ir.Span
	lowest map[ir.Ref]*ir.Expr
	facts  *ir.Facts
}

func (b *boxer) reduction(x *ir.Expr) *ir.Expr {
	r := *x.Ref.(*tensor.Reduction)
	moved := map[ir.Ref]*ir.Expr{}
	var inside *ir.Expr
	r.Over = append([]ir.Span(nil), r.Over...)
	for i, s := range r.Over {
		if scalarOnly(s.Lo) && scalarOnly(s.Hi) {
			continue
		}
		if !b.moves(s.Lo) || !b.moves(s.Hi) {
			return x
		}
		if n := ir.Sub(b.first(s.Hi), b.first(s.Lo)); b.facts.Same(ir.Sub(s.Hi, s.Lo), n) {
			c := &ir.Axis{Name: s.Axis.Name}
			moved[s.Axis] = ir.Add(s.Lo, ir.Name(c))
			r.Over[i] = ir.Span{Axis: c, Lo: ir.Int64(0), Hi: n}
			continue
		}
		longest, part := b.triangle(s)
		if part == nil {
			return x
		}
		r.Over[i], inside = longest, ir.AllOf(inside, part)
	}
	if inside == nil && len(moved) == 0 {
		return x
	}
	if inside != nil {
		r.Guard = ir.AllOf(inside, r.Guard)
	}
	if r.Guard != nil {
		r.Guard = ir.Substitute(r.Guard, moved)
	}
	return tensor.Reduce(&r, ir.Substitute(x.Args[0], moved)).At(x.Pos)
}

// first is an end of a range where all axes are at their beginning.
func (b *boxer) first(x *ir.Expr) *ir.Expr { return replaced(x, b.lowest) }

// replaced is an index with other values for names, as simple as is plain to see.
func replaced(x *ir.Expr, with map[ir.Ref]*ir.Expr) *ir.Expr {
	r := ir.Rewriter{Post: func(x *ir.Expr) *ir.Expr {
		switch {
		case x.Op == ir.OpName && with[x.Ref] != nil:
			return with[x.Ref]
		case x.Op == ir.OpMul && (x.Args[0].IsInt(0) || x.Args[1].IsInt(0)):
			return ir.ZeroOf(x.Type)
		}
		return ir.Fold(x)
	}}
	return r.Rewrite(x)
}

// moves reports whether an end of a range is known where the axes of the definition stand.
func (b *boxer) moves(x *ir.Expr) bool {
	ok := true
	ir.Walk(x, func(y *ir.Expr) {
		switch ref := y.Ref.(type) {
		case nil, *ir.Scalar:
		case *ir.Axis:
			_, free := b.free[ref]
			ok = ok && free
		default:
			ok = false
		}
	})
	return ok
}

// triangle is the longest of ranges that go up to an axis, or from one on, and the condition that a point is in the range at hand.
func (b *boxer) triangle(s ir.Span) (longest ir.Span, part *ir.Expr) {
	at := ir.Name(s.Axis)
	switch up, down := b.single(s.Hi), b.single(s.Lo); {
	case up != nil && scalarOnly(s.Lo):
		beyond := ir.Sub(replaced(s.Hi, map[ir.Ref]*ir.Expr{up: ir.Int64(0)}), ir.Int64(1))
		return ir.Span{Axis: s.Axis, Lo: s.Lo, Hi: ir.Add(b.free[up].Hi, beyond)}, ir.Lt(at, s.Hi)
	case down != nil && scalarOnly(s.Hi):
		return ir.Span{Axis: s.Axis, Lo: b.first(s.Lo), Hi: s.Hi}, ir.Ge(at, s.Lo)
	}
	return ir.Span{}, nil
}

// single is the axis with which an index goes up in steps of 1, if it does with one alone.
func (b *boxer) single(x *ir.Expr) *ir.Axis {
	axes := axesIn(x)
	if len(axes) != 1 {
		return nil
	}
	for a := range axes {
		if step, linear := stepOf(x, a, 16); linear && step == 1 {
			return a
		}
	}
	return nil
}
