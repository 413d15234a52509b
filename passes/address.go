package passes

import "github.com/gkc-lang/gkc/ir"

// joined makes one dimension of those whose subscripts are the quotient and the remainder of one number, as they are where axes
// were fused: the element is found without dividing.
//
//	x[n / C, n % C]
//
// is element n. Extents are those of an element that is there, so none is 0.
func joined(extents, at []*ir.Expr) (fewer, subscripts []*ir.Expr) {
	for i, x := range at {
		n := extents[i]
		for len(subscripts) > 0 {
			last := len(subscripts) - 1
			whole := join(subscripts[last], x, n)
			if whole == nil {
				break
			}
			n, x = ir.Mul(fewer[last], n), whole
			fewer, subscripts = fewer[:last], subscripts[:last]
		}
		fewer, subscripts = append(fewer, n), append(subscripts, x)
	}
	return fewer, subscripts
}

// join is high * n + low, where that is plain to see; nil elsewhere.
func join(high, low, n *ir.Expr) *ir.Expr {
	if low.Op != ir.OpRem || !sameSize(low.Args[1], n) {
		return nil
	}
	number := low.Args[0]
	switch {
	case high.Op == ir.OpRem:
		if join(high.Args[0], low, n) == nil {
			return nil
		}
		return ir.Rem(number, ir.Mul(high.Args[1], n))
	case high.Op != ir.OpDiv:
		return nil
	case ir.Equal(high.Args[0], number) && sameSize(high.Args[1], n):
		return number
	case number.Op == ir.OpDiv && ir.Equal(high.Args[0], number.Args[0]) && sameSize(high.Args[1], ir.Mul(n, number.Args[1])):
		return number
	}
	return nil
}

// sameSize compares numbers of elements that are there: none is below 0.
func sameSize(a, b *ir.Expr) bool {
	if ir.Equal(a, b) {
		return true
	}
	bare := ir.Rewriter{Post: func(x *ir.Expr) *ir.Expr {
		if x.Op == ir.OpMax && x.Args[1].IsInt(0) {
			return x.Args[0]
		}
		return x
	}}
	return ir.Equal(bare.Rewrite(a), bare.Rewrite(b))
}
