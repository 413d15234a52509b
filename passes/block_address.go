package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// address orders the sum that is the place of an element in memory: first what the thread and the block fix, which is the same for
// many elements and, inside a loop, is computed in front of it; then what changes from trip to trip; last what the launcher knows.
func (b *block) address(x *ir.Expr) *ir.Expr {
	var own, trips, host, number []term
	for _, t := range termsOf(x) {
		switch {
		case t.of == nil:
			number = append(number, t)
		case !b.onlyNames(t.of, func(r ir.Ref) bool { return isHost(r) || b.fixed[r] }):
			trips = append(trips, t)
		case !b.onlyNames(t.of, isHost):
			own = append(own, t)
		default:
			host = append(host, t)
		}
	}
	first := sumOfTerms(own)
	if b.looping > 0 {
		first = b.open("at", first)
	}
	out := ir.Add(first, sumOfTerms(trips))
	if len(host) > 0 {
		return ir.Add(out, b.hostValue("n", sumOfTerms(append(host, number...))))
	}
	return ir.Add(out, sumOfTerms(number))
}

func isHost(r ir.Ref) bool {
	_, ok := r.(*simt.Value)
	return ok
}

// onlyNames reports whether all that an expression names is of a kind.
func (b *block) onlyNames(x *ir.Expr, kind func(ir.Ref) bool) bool {
	if x.Op == ir.OpName || x.Op == simt.OpElem {
		return x.Op == ir.OpName && kind(x.Ref)
	}
	for _, a := range x.Args {
		if !b.onlyNames(a, kind) {
			return false
		}
	}
	return true
}
