package ir

// launch learns launch conditions. Each is evaluated as a whole before anything runs, and a launch whose conditions divide by zero
// fails, so their divisors are not 0. Divisors that are numbers come first: a size that 128 divides is 128 times an
// atom from then on; then equalities, which replace a name everywhere.
func (f *Facts) launch(conditions []*Expr) {
	parts := conjuncts(conditions, map[*Expr]bool{})
	divisors := map[*Scalar]int64{}
	for _, c := range parts {
		if s, n, ok := divisible(c); ok && lcm(divisors[s], n) <= maxCoef>>16 {
			divisors[s] = lcm(divisors[s], n)
		}
	}
	for _, c := range parts { // not over the map: atoms have an order
		if s, _, ok := divisible(c); ok && divisors[s] > 1 && f.names[s] == nil && s.Fixed == nil {
			f.name(s, f.scalar(s, lcm(s.Multiple, divisors[s])))
		}
	}
	for _, c := range parts {
		f.evaluates(c, map[*Expr]bool{})
		if c.Op == OpEq && c.Args[0].Type.IsInt() {
			f.equate(f.value(c.Args[0]), f.value(c.Args[1]))
		}
	}
	for _, c := range parts {
		f.exact(c)
	}
	for _, c := range parts {
		f.conditions = 0
		f.assume(c, true)
	}
}

// conjuncts lists the conditions joined by &&, each once.
func conjuncts(conditions []*Expr, seen map[*Expr]bool) (out []*Expr) {
	for _, c := range conditions {
		if seen[c] {
			continue
		}
		if seen[c] = true; c.Op == OpAnd {
			out = append(out, conjuncts(c.Args, seen)...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// divisible recognises name % number == 0.
func divisible(c *Expr) (s *Scalar, n int64, ok bool) {
	a, b, ok := remainderIsZero(c)
	if !ok {
		return nil, 0, false
	}
	for a.Op == OpWiden {
		a = a.Args[0]
	}
	s, named := a.Ref.(*Scalar)
	n, constant := number(b)
	return s, n, named && constant && n > 1 && s.Type.IsInt() && a.Op == OpName
}

// number is the value of a constant, or of a name that is set.
func number(e *Expr) (int64, bool) {
	for e.Op == OpWiden {
		e = e.Args[0]
	}
	if s, ok := e.Ref.(*Scalar); ok && s.Fixed != nil && s.Type.IsInt() {
		return s.Fixed.Int(), true
	}
	return e.IntValue()
}

func remainderIsZero(c *Expr) (a, b *Expr, ok bool) {
	if c.Op != OpEq {
		return nil, nil, false
	}
	r, zero := c.Args[0], c.Args[1]
	if r.IsInt(0) {
		r, zero = zero, r
	}
	for r.Op == OpWiden {
		r = r.Args[0]
	}
	if !zero.IsInt(0) || r.Op != OpRem && r.Op != OpMod {
		return nil, nil, false
	}
	return r.Args[0], r.Args[1], true
}

func lcm(a, b int64) int64 {
	if a <= 1 || b <= 1 {
		return max(a, b)
	}
	return a / int64(gcd(uint64(a), uint64(b))) * b
}

// evaluates learns that no divisor in e is 0, except behind conditions.
func (f *Facts) evaluates(e *Expr, seen map[*Expr]bool) {
	if seen[e] {
		return
	}
	seen[e] = true
	args := e.Args
	if e.Op.Is(Lazy) {
		args = args[:1]
	}
	for _, a := range args {
		f.evaluates(a, seen)
	}
	switch e.Op {
	case OpDiv, OpRem, OpFloorDiv, OpMod:
		if !e.Type.IsInt() {
			return
		}
		if b := f.tame(e.Args[1]); f.atLeast(b, 0) {
			f.learn(b.shift(-1))
		}
	}
}

// equate replaces an atom that is a name by what it is equal to.
func (f *Facts) equate(a, b Poly) {
	a, b = f.reduce(a), f.reduce(b)
	x, ok := a.single()
	if y, other := b.single(); other && (!ok || f.atoms[x].op != OpName || y > x && f.atoms[y].op == OpName) {
		a, b, x, ok = b, a, y, true
	}
	if !ok || f.atoms[x].op != OpName || !b.known() || f.needs(b, x, map[atom]bool{}) {
		return
	}
	r := f.atoms[x].interval
	f.rules = append(f.rules, rule{product{x}, b})
	if r.lo != noLow {
		f.learn(b.shift(-r.lo))
	}
	if r.hi != noHigh {
		f.learn(b.negative().shift(r.hi))
	}
}

// needs reports whether x occurs in p or in what its atoms are made of.
func (f *Facts) needs(p Poly, x atom, seen map[atom]bool) bool {
	for _, y := range p.atoms() {
		if y == x {
			return true
		}
		if seen[y] {
			continue
		}
		seen[y] = true
		for _, q := range f.atoms[y].args {
			if f.needs(q, x, seen) {
				return true
			}
		}
	}
	return false
}

// exact learns a % b == 0: the quotient times b is a.
func (f *Facts) exact(c *Expr) {
	x, y, ok := remainderIsZero(c)
	if !ok {
		return
	}
	a, b := f.tame(x), f.tame(y)
	if n, constant := b.constant(); constant && n < 1 || !a.known() || !b.known() {
		return
	}
	if whole, rest := a.divide(b); len(rest) == 0 && len(whole) > 0 {
		return
	}
	r := row{op: opExact, typ: I64, args: []Poly{a, b}, interval: everything}
	if f.atLeast(a, 0) && f.atLeast(b, 1) {
		r.interval = interval{0, f.interval(a).hi}
	}
	q := f.term(r)
	back := b.mul(q)
	if len(back) == 1 && back.known() && back[0].coef == 1 {
		f.rules = append(f.rules, rule{back[0].of, a})
		return
	}
	f.learn(back.minus(a))
	f.learn(a.minus(back))
}
