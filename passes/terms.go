package passes

import "github.com/gkc-lang/gkc/ir"

// term is a part of a sum of i64: coef * of, or coef alone where of is nil.
type term struct {
	coef int64
	of   *ir.Expr
}

// maxTerms bounds what is multiplied out.
const maxTerms = 24

// termsOf writes an i64 as a sum, which is exact as it wraps: sums are taken apart, products with sums multiplied out.
func termsOf(x *ir.Expr) []term {
	switch x.Op {
	case ir.OpConst:
		return []term{{x.Val.Int(), nil}}
	case ir.OpAdd:
		return addTerms(termsOf(x.Args[0]), termsOf(x.Args[1]), 1)
	case ir.OpSub:
		return addTerms(termsOf(x.Args[0]), termsOf(x.Args[1]), -1)
	case ir.OpMul:
		a, b := termsOf(x.Args[0]), termsOf(x.Args[1])
		if len(a)*len(b) <= maxTerms {
			var out []term
			for _, s := range a {
				for _, t := range b {
					out = addTerms(out, []term{timesTerm(s, t)}, 1)
				}
			}
			return out
		}
	}
	return []term{{1, x}}
}

func timesTerm(a, b term) term {
	out := term{coef: a.coef * b.coef, of: a.of}
	switch {
	case a.of == nil:
		out.of = b.of
	case b.of != nil:
		out.of = ir.Mul(a.of, b.of)
	}
	return out
}

// addTerms is a + scale * b.
func addTerms(a, b []term, scale int64) []term {
	out := append(make([]term, 0, len(a)+len(b)), a...)
next:
	for _, t := range b {
		for i := range out {
			if out[i].of == t.of || out[i].of != nil && t.of != nil && ir.Equal(out[i].of, t.of) {
				out[i].coef += scale * t.coef
				continue next
			}
		}
		out = append(out, term{scale * t.coef, t.of})
	}
	return out
}

// sumOfTerms writes a sum again.
func sumOfTerms(list []term) *ir.Expr {
	sum := ir.Int64(0)
	for _, t := range list {
		x := ir.Int64(t.coef)
		if t.of != nil {
			x = ir.Mul(t.of, x)
		}
		sum = ir.Add(sum, x)
	}
	return sum
}
