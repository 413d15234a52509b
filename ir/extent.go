package ir

// Inside proves that an index lies in 0..extent, or says on which sides it may lie outside.
func (f *Facts) Inside(index, extent *Expr) (below, above bool) {
	if f.spans(index, extent) {
		return false, false
	}
	f.effort += effortOfAccess
	p := f.Value(index)
	return !f.proveByCases(p), !f.proveByCases(p.below(f.Value(extent)))
}

// spans recognises an axis whose range is the extent itself, without looking into anything.
func (f *Facts) spans(index, extent *Expr) bool {
	if index.Op != OpName {
		return false
	}
	for i := f.bound; i != 0; i = f.frames[i-1].bound {
		if s := &f.frames[i-1].span; s.Axis == index.Ref {
			lo, ok := s.Lo.IntValue()
			return ok && lo >= 0 && Equal(s.Hi, extent)
		}
	}
	return false
}

// Same reports whether two integer expressions are equal wherever the facts hold.
func (f *Facts) Same(a, b *Expr) bool {
	p, q := f.Value(a), f.Value(b)
	return p.known() && p.equal(q)
}

// SameExtent reports whether two extents are equal under a kernel's conditions.
func SameExtent(a, b *Expr, where ...*Expr) bool {
	if Equal(a, b) {
		return true
	}
	f := NewFacts(where...)
	defer f.Forget()
	return f.Same(a, b)
}

// ConstantExtent is the value of an expression that depends on nothing at run time.
func ConstantExtent(e *Expr) (int64, bool) {
	if n, ok := e.IntValue(); ok {
		return n, true
	}
	f := NewFacts()
	defer f.Forget()
	return f.Value(e).constant()
}

// Holds reports whether a comparison of integers, or several joined by &&, follows from what is known.
func (f *Facts) Holds(cond *Expr) bool {
	if cond.Op == OpAnd {
		return f.Holds(cond.Args[0]) && f.Holds(cond.Args[1])
	}
	if cond.Op == OpConst {
		return cond.Val.Bool()
	}
	if contrary[cond.Op] == nil {
		return false
	}
	f.settle()
	f.visits, f.conditions = 0, 0
	claims := f.follows(cond, true)
	f.memo = nil
	for _, p := range claims {
		if !f.proveByCases(p) {
			return false
		}
	}
	return len(claims) > 0
}

// Interval is the range of e that follows from constants; the ends of int64 stand for "not known".
func (f *Facts) Interval(e *Expr) (lo, hi int64) {
	r := f.interval(f.Value(e))
	return r.lo, r.hi
}

// Multiple is a number that divides e; 1 if none is known, 0 of 0.
func (f *Facts) Multiple(e *Expr) int64 {
	p := f.Value(e)
	if !p.known() {
		return 1
	}
	g := uint64(0)
	for _, t := range p {
		g = gcd(g, magnitude(t.coef))
	}
	return int64(g)
}
