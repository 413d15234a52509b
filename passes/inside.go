package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// ranges are the spans that bind the axes of a definition. An expression that names an axis is evaluated inside its span only,
// so what a span says of its axis holds wherever the axis is named.
type ranges struct {
	spans map[*ir.Axis]ir.Span
	steps map[*tensor.Tensor]int // of names that recur in the definition: the dimension that steps
}

func noRanges() ranges { return ranges{map[*ir.Axis]ir.Span{}, map[*tensor.Tensor]int{}} }

// stepping reports whether a dimension is the one in which t recurs. No read of t leaves it: in front of the first element lies
// the value before the first step.
func (r ranges) stepping(t *tensor.Tensor, dim int) bool {
	step, ok := r.steps[t]
	return ok && step == dim
}

// rangesOf collects the spans of a definition and of the reductions in it.
func rangesOf(d tensor.Def) ranges {
	out := noRanges()
	if recur, ok := d.(*tensor.Recur); ok {
		for k, t := range recur.Tensors {
			out.steps[t] = recur.Step[k]
		}
	}
	for _, box := range boxesOf(d) {
		for _, s := range box {
			out.spans[s.Axis] = s
		}
	}
	seen := map[*ir.Expr]bool{}
	rewriteDef(d, func(x *ir.Expr) *ir.Expr {
		out.collect(x, seen)
		return x
	})
	return out
}

func (r ranges) collect(x *ir.Expr, seen map[*ir.Expr]bool) {
	if x == nil || seen[x] {
		return
	}
	seen[x] = true
	for _, a := range x.Args {
		r.collect(a, seen)
	}
	if s, ok := x.Ref.(ir.Scope); ok {
		for _, a := range s.Exprs() {
			r.collect(a, seen)
		}
	}
	if red, ok := x.Ref.(*tensor.Reduction); ok {
		for _, s := range red.Over {
			r.spans[s.Axis] = s
		}
	}
}

// inside is the condition that subscripts are those of an element. What an axis's own span guarantees is left out.
func (r ranges) inside(t *tensor.Tensor, at []*ir.Expr) *ir.Expr {
	out := ir.True
	for i, x := range at {
		out = both(out, r.insideDim(t, i, x))
	}
	return out
}

func (r ranges) insideDim(t *tensor.Tensor, dim int, x *ir.Expr) *ir.Expr {
	n := t.Extents[dim]
	switch {
	case r.stepping(t, dim), r.whole(x, n):
		return ir.True
	case r.nonNegative(x, 8):
		return ir.Lt(x, n)
	}
	return both(ir.Ge(x, ir.Int64(0)), ir.Lt(x, n))
}

// both is a conjunction that may evaluate b where a fails: of conditions on subscripts, which are evaluated in any case. So their
// reads are shared with the access behind the condition.
func both(a, b *ir.Expr) *ir.Expr {
	if a == ir.True || b == ir.True || !reads(b, 64) {
		return ir.And(a, b)
	}
	return ir.Select(a, b, ir.False)
}

// reads reports whether an expression needs memory; of a large one it says so without looking through all of it.
func reads(x *ir.Expr, limit int) bool {
	if x.Op == ir.OpRead || x.Op == tensor.OpReduce || x.Op == tensor.OpScan || limit == 0 {
		return true
	}
	for _, a := range x.Args {
		if reads(a, limit/2) {
			return true
		}
	}
	return false
}

// whole reports whether a subscript is an axis, counted from where its range begins, and the range no longer than the extent.
func (r ranges) whole(x, n *ir.Expr) bool {
	name := x
	if x.Op == ir.OpSub {
		name = x.Args[0]
	}
	a, ok := name.Ref.(*ir.Axis)
	if !ok {
		return false
	}
	s, bound := r.spans[a]
	return bound && ir.Equal(x, ir.Sub(name, s.Lo)) && (ir.Equal(ir.Sub(s.Hi, s.Lo), n) || ir.Equal(extent(s), n))
}

// nonNegative reports whether an index is at least 0 for reasons that are plain to see. Sums and products of indices do not
// overflow: they count elements.
func (r ranges) nonNegative(x *ir.Expr, depth int) bool {
	if v, ok := x.IntValue(); ok {
		return v >= 0
	}
	if depth == 0 {
		return false
	}
	switch ref := x.Ref.(type) {
	case *ir.Axis:
		s, ok := r.spans[ref]
		return ok && r.nonNegative(s.Lo, depth-1)
	case *ir.Scalar:
		return ref.IsSize
	}
	switch x.Op {
	case ir.OpAdd, ir.OpMul, ir.OpDiv, ir.OpMin:
		return r.nonNegative(x.Args[0], depth-1) && r.nonNegative(x.Args[1], depth-1)
	case ir.OpMax:
		return r.nonNegative(x.Args[0], depth-1) || r.nonNegative(x.Args[1], depth-1)
	}
	return false
}
