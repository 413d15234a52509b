package passes

import "github.com/gkc-lang/gkc/ir"

// alike gives two factors one type of floats, where a narrow one has every value of both: matrix operations take operands of one
// type, and what is computed of narrow numbers is often one of them, as the larger of x and 0 is.
func alike(a, b *ir.Expr) (x, y *ir.Expr) {
	if a.Type.Bits() == b.Type.Bits() && a.Type.Bits() <= 16 {
		return a, b
	}
	for _, t := range []ir.Type{a.Type, b.Type, ir.F16, ir.BF16} {
		if t.IsFloat() && t.Bits() <= 16 && holdsAll(t, a, map[*ir.Expr]bool{}) && holdsAll(t, b, map[*ir.Expr]bool{}) {
			return castTo(t, a), castTo(t, b)
		}
	}
	return a, b
}

func castTo(t ir.Type, x *ir.Expr) *ir.Expr {
	if x.Type == t {
		return x
	}
	return ir.Cast(t, ir.Widen(computedIn(x.Type), x)).At(x.Pos)
}

// holdsAll reports whether every value of x is one of a type of floats. It is a walk of a graph: done holds what was found to be.
func holdsAll(t ir.Type, x *ir.Expr, done map[*ir.Expr]bool) bool {
	if x.Type.IsFloat() && x.Type.Elem.Exp <= t.Elem.Exp && x.Type.Elem.Mant <= t.Elem.Mant {
		return true
	}
	if ok, seen := done[x]; seen {
		return ok
	}
	ok := false
	switch x.Op {
	case ir.OpConst:
		ok = x.Type.IsFloat() && ir.RoundTo(t.Elem, x.Val.Float()) == x.Val.Float()
	case ir.OpWiden, ir.OpCast:
		ok = x.Type.IsFloat() && widensTo(t, x, done)
	case ir.OpNeg, ir.OpAbs, ir.OpMin, ir.OpMax:
		ok = x.Type.IsFloat() && all(t, x.Args, done)
	case ir.OpIf, ir.OpSelect:
		ok = x.Type.IsFloat() && all(t, x.Args[1:], done)
	}
	done[x] = ok
	return ok
}

// widensTo reports whether a conversion keeps every value, and those are of a type of floats.
func widensTo(t ir.Type, x *ir.Expr, done map[*ir.Expr]bool) bool {
	y := x.Args[0]
	switch {
	case y.Type.IsBool():
		return true
	case y.Type.IsInt(): // of so many bits at most as there are in a mantissa
		return y.Type.Bits() <= t.Elem.Mant+1 && y.Type.Bits() <= x.Type.Elem.Mant+1
	}
	return wider(x.Type, y.Type) && holdsAll(t, y, done)
}

// all reports whether every value of several expressions is one of a type of floats.
func all(t ir.Type, list []*ir.Expr, done map[*ir.Expr]bool) bool {
	for _, x := range list {
		if !holdsAll(t, x, done) {
			return false
		}
	}
	return true
}
