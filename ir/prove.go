package ir

import "slices"

// The proof of p >= 0 eliminates atoms one after the other, those of the innermost binders first: each is replaced by a bound of it
// that makes p no larger, until what remains has no negative term. Bounds come from facts, and from what an atom is: a
// quotient, an extreme, a choice.

// proof is the search for one inequality.
type proof struct {
	*Facts
	left  int
	depth int
	ups   int // of maxUps
	goals []goal
}

type goal struct {
	hash uint64
	p    Poly
	ok   bool
}

// prove reports whether p >= 0 follows from the facts.
func (f *Facts) prove(p Poly) bool {
	if f.atLeast(p, 0) {
		return true
	}
	granted := max(leastEffort, min(effortOfProof, f.effort))
	s := proof{Facts: f, left: granted}
	ok := s.holds(p)
	f.effort = max(0, f.effort-granted+max(0, s.left))
	return ok
}

// maxCases bounds the alternatives that a proof looks at.
const maxCases = 4

// proveByCases also looks at guards of which one of two parts holds.
func (f *Facts) proveByCases(p Poly) bool {
	if f.prove(p) {
		return true
	}
	for i := len(f.either) - 1; i >= max(0, len(f.either)-maxCases); i-- {
		if f.inCase(p, f.either[i][0]) && f.inCase(p, f.either[i][1]) {
			return true
		}
	}
	return false
}

func (f *Facts) inCase(p Poly, facts []Poly) bool {
	for _, q := range facts {
		if f.prove(q.negative().shift(-1)) {
			return true // the case cannot be
		}
	}
	return f.under(facts, func() bool { return f.prove(p) })
}

// under asks with some facts more.
func (f *Facts) under(facts []Poly, ask func() bool) bool {
	defer f.restore(f.now())
	for _, q := range facts {
		f.learn(q)
	}
	return ask()
}

// atLeast reports whether p >= n by the ranges of its atoms.
func (f *Facts) atLeast(p Poly, n int64) bool {
	if n != 0 {
		p = p.shift(-n)
	}
	if !p.known() {
		return false
	}
	falls, negative, raised := false, false, false
	for _, t := range p {
		falls = falls || t.coef < 0
		for _, x := range t.of[:t.of.degree()] {
			lo := f.atoms[x].lo
			negative, raised = negative || lo < 0, raised || lo > 0
		}
	}
	if !falls && !negative || f.interval(p).lo >= 0 {
		return true
	}
	return raised && !negative && f.fromLowest(p)
}

// fromLowest counts every atom from its least value: what has no negative term then is not negative.
func (f *Facts) fromLowest(p Poly) bool {
	for _, x := range p.atoms() {
		if lo := f.atoms[x].lo; lo > 0 && lo < maxCoef {
			p = p.replace(x, atomPoly(x).shift(lo))
		}
	}
	return p.known() && !slices.ContainsFunc(p, func(t term) bool { return t.coef < 0 })
}

// holds reports whether p >= 0 can be shown.
func (s *proof) holds(p Poly) bool {
	if s.left <= 0 {
		return false
	}
	p = s.reduce(p).tight()
	if s.atLeast(p, 0) {
		return true
	}
	if !p.known() || s.interval(p).hi < 0 || s.depth > 40 {
		return false
	}
	h := p.hash()
	for _, g := range s.goals {
		if g.hash == h && g.p.equal(p) {
			return g.ok
		}
	}
	s.left -= 1 + len(s.facts)/64
	i := len(s.goals)
	s.goals = append(s.goals, goal{hash: h, p: p}) // no, while it is being tried
	s.depth++
	ok := s.eliminate(p)
	s.depth--
	s.goals[i].ok = ok
	return ok
}

// eliminate tries the atoms of p, the innermost first.
func (s *proof) eliminate(p Poly) bool {
	atoms := p.atoms()
	slices.SortFunc(atoms, s.inner)
	for _, x := range atoms {
		c, rest, _ := p.split(x) // of a power of x, one factor is replaced
		sign := s.sign(c)
		if s.byFacts(x, c, rest, sign) || s.byMeaning(x, c, rest, sign) || s.byRemainder(atoms, x, c, rest, sign) {
			return true
		}
	}
	return false
}

// sign is 1 where c >= 0 is known, -1 where c <= 0 is, else 0.
func (s *proof) sign(c Poly) int {
	if n, ok := c.constant(); ok {
		if n > 0 {
			return 1
		}
		return -1
	}
	minus := c.negative()
	switch {
	case s.atLeast(c, 0):
		return 1
	case s.atLeast(minus, 0):
		return -1
	case s.holds(c):
		return 1
	case s.holds(minus):
		return -1
	}
	return 0
}

// byFacts shows c * x + rest >= 0 with a fact that bounds x on the side that counts.
func (s *proof) byFacts(x atom, c, rest Poly, sign int) bool {
	if sign == 0 {
		return false
	}
	for i := len(s.facts) - 1; i >= 0; i-- {
		if s.facts[i].top == x && s.byFact(s.facts[i].p, x, c, rest, sign) {
			return true
		}
	}
	if s.ups < maxUps && s.upwards(x, c, rest, sign) {
		return true
	}
	r := s.atoms[x].interval
	return sign > 0 && r.lo != noLow && s.holds(c.times(r.lo).plus(1, rest)) ||
		sign < 0 && r.hi != noHigh && s.holds(c.times(r.hi).plus(1, rest))
}

// maxUps is how often a proof may replace an atom by an inner one. More of it goes in circles.
const maxUps = 2

// upwards uses facts that bound x by atoms further inside.
func (s *proof) upwards(x atom, c, rest Poly, sign int) bool {
	s.ups++
	defer func() { s.ups-- }()
	for i := len(s.facts) - 1; i >= 0; i-- {
		if f := &s.facts[i]; f.top != x && f.seen&(1<<(x%64)) != 0 && s.byFact(f.p, x, c, rest, sign) {
			return true
		}
	}
	return false
}

// byFact uses a fact k * x + other >= 0.
func (s *proof) byFact(fact Poly, x atom, c, rest Poly, sign int) bool {
	k, other, linear := fact.split(x)
	if !linear || len(k) == 0 {
		return false
	}
	if sign < 0 {
		k, c = k.negative(), c.negative() // the fact says k * x <= other
	}
	if m, ok := c.ratio(k); ok && (s.atLeast(m, 0) || s.atLeast(k, 1)) {
		return s.holds(rest.minus(m.mul(other)))
	}
	if _, number := k.constant(); !number && s.depth > maxScaled {
		return false // each such step makes the goal larger
	}
	return s.atLeast(k, 1) && s.holds(k.mul(rest).minus(c.mul(other)))
}

// maxScaled is how deep in a proof a goal may be multiplied by an expression.
const maxScaled = 2

// byRemainder uses that a lies between b * q and b * q + b - 1, where q = a / b occurs as well.
func (s *proof) byRemainder(atoms []atom, x atom, c, rest Poly, sign int) bool {
	for _, q := range atoms {
		r := s.atoms[q]
		switch r.op {
		case OpDiv, OpFloorDiv, opExact:
		default:
			continue
		}
		a, b := r.args[0], r.args[1]
		if sign == 0 || !a.has(x) || !s.holds(b.shift(-1)) {
			continue
		}
		low := a.minus(s.product(b, atomPoly(q)))
		high := low.below(b)
		if r.op == OpDiv && !s.holds(a) {
			low = low.plus(1, b).shift(-1)
		}
		if s.byFact(high, x, c, rest, sign) || s.byFact(low, x, c, rest, sign) {
			return true
		}
	}
	return false
}

// byMeaning shows c * x + rest >= 0 with what x is.
func (s *proof) byMeaning(x atom, c, rest Poly, sign int) bool {
	r := s.atoms[x]
	with := func(q Poly) bool { return s.holds(c.mul(q).plus(1, rest)) }
	switch r.op {
	case OpMax, OpMin:
		a, b := r.args[0], r.args[1]
		if r.op == OpMax && sign > 0 || r.op == OpMin && sign < 0 {
			return with(a) || with(b)
		}
		return with(a) && with(b)
	case OpIf:
		return s.inBranch(r.yes, c.mul(r.args[1]).plus(1, rest)) && s.inBranch(r.no, c.mul(r.args[2]).plus(1, rest))
	case OpDiv, OpFloorDiv, opExact:
		return sign != 0 && s.byQuotient(&r, c, rest, sign)
	}
	return false
}

// inBranch shows p >= 0 where some facts hold as well.
func (s *proof) inBranch(facts []Poly, p Poly) bool {
	if len(facts) == 0 {
		return s.holds(p)
	}
	granted := s.left / 2
	inner := proof{Facts: s.Facts, left: granted, depth: s.depth}
	ok := s.under(facts, func() bool { return inner.holds(p) })
	s.left -= granted - max(0, inner.left)
	return ok
}

// byQuotient shows c * x + rest >= 0, where x = a / b for whole numbers, b >= 1.
func (s *proof) byQuotient(r *row, c, rest Poly, sign int) bool {
	a, b := r.args[0], r.args[1]
	if !s.holds(b.shift(-1)) {
		return false
	}
	if s.byWhole(r, c, rest, sign) {
		return true
	}
	// b * x lies between a - under and a + over.
	under, over := b.shift(-1), Poly(nil)
	switch {
	case r.op == opExact:
		under = nil
	case r.op == OpDiv && sign < 0 && !s.holds(a):
		over = under
	}
	bx := a.minus(under)
	if sign < 0 {
		bx = a.plus(1, over)
	}
	if k, ok := c.ratio(b); ok {
		return s.holds(k.mul(bx).plus(1, rest))
	}
	if n, ok := b.constant(); ok && s.holds(c.mul(bx).plus(n, rest)) {
		return true
	}
	// The quotient of what is not negative lies between 0 and a.
	if sign < 0 {
		return s.holds(a) && s.holds(c.mul(a).plus(1, rest))
	}
	return s.holds(a) && s.holds(rest)
}

// byWhole writes rest as |c| * whole + left: then x + whole >= 0, or whole - x >= 0, suffices, which is exact for quotients.
func (s *proof) byWhole(r *row, c, rest Poly, sign int) bool {
	a, b := r.args[0], r.args[1]
	unit := c
	if sign < 0 {
		unit = c.negative()
	}
	if len(unit) != 1 {
		return false
	}
	whole, left := rest.divide(unit)
	if len(left) > 0 && !s.holds(left) {
		return false
	}
	edge, slack := b.mul(whole), b.shift(-1)
	if sign > 0 { // x >= -whole
		edge = edge.plus(1, a)
		if r.op == opExact {
			return s.holds(edge.plus(1, slack))
		}
		return s.holds(edge) || r.op == OpDiv && s.holds(whole) && s.holds(edge.plus(1, slack))
	}
	edge = edge.minus(a) // x <= whole
	if r.op == OpDiv && !s.holds(whole) {
		return s.holds(edge)
	}
	return s.holds(edge.plus(1, slack))
}
