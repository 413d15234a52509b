package ir

// Groups asks what an expression does within groups of consecutive indices of an axis: n of them, the first a multiple of n. Of all
// that is not the axis nothing is known but what the facts say.
type Groups struct {
	f      *Facts
	axis   atom
	n      int64
	varies func(Ref) bool
	steady map[atom]bool
}

// Step is by how much an integer goes up from one index of an axis to the next, quotients and choices that depend on the index
// left aside; ok is false where that is no number.
func (f *Facts) Step(e *Expr, axis *Axis) (step int64, ok bool) {
	x, known := f.Value(Name(axis)).single()
	p := f.Value(e)
	if !known || !p.known() {
		return 0, false
	}
	c, _, linear := p.split(x)
	step, ok = c.constant()
	return step, ok && linear
}

// Groups are those of n indices of an axis that was bound. varies says which other names may differ within a group.
func (f *Facts) Groups(axis *Axis, n int64, varies func(Ref) bool) *Groups {
	x, _ := f.Value(Name(axis)).single()
	return &Groups{f, x, n, varies, map[atom]bool{}}
}

// Consecutive reports whether an integer goes up by 1 from index to index of every group, from a multiple of n.
func (g *Groups) Consecutive(e *Expr) bool {
	p, ok := g.line(g.f.Value(e))
	return ok && p.step == 1 && p.divisor%g.n == 0 && p.first == 0
}

// Same reports whether an expression of any type has one value in every group.
func (g *Groups) Same(e *Expr) bool { return g.constant(g.f.Value(e)) }

// line is what an integer is at index r of a group, 0 <= r < n: a number that leaves the rest first when it is divided by divisor,
// plus step * r. Divisor 0 is a multiple of all others.
type line struct{ step, divisor, first int64 }

// ends are the least and the largest distance from the next lower multiple of the divisor.
func (l line) ends(n int64) (low, high int64) {
	last := saturatedMul(l.step, n-1)
	return l.first + min(0, last), l.first + max(0, last)
}

// together reports whether all values of a group lie between the same two multiples of a divisor of the line's.
func (l line) together(n, divisor int64) bool {
	l.first = modulo(l.first, divisor)
	low, high := l.ends(n)
	return low >= 0 && high < divisor
}

func modulo(a, n int64) int64 { return a - n*floorDivide(a, n) }

// line recognises an integer that is linear in the index.
func (g *Groups) line(p Poly) (line, bool) {
	if !p.known() || g.axis == 0 {
		return line{}, false
	}
	c, rest, linear := p.split(g.axis)
	step, number := c.constant()
	if !linear || !number || !g.constant(rest) {
		return line{}, false
	}
	out := line{step: step}
	d := magnitude(saturatedMul(step, g.n))
	for _, t := range rest {
		if t.of == (product{}) {
			out.first = t.coef
		} else {
			d = gcd(d, magnitude(t.coef))
		}
	}
	if out.divisor = int64(d); d > 0 {
		out.first = modulo(out.first, out.divisor)
	}
	return out, d <= maxCoef
}

// constant reports whether a Poly has one value in every group.
func (g *Groups) constant(p Poly) bool {
	if !p.known() {
		return false
	}
	for _, t := range p {
		for _, x := range t.of[:t.of.degree()] {
			if !g.constantAtom(x) {
				return false
			}
		}
	}
	return true
}

func (g *Groups) constantAtom(x atom) bool {
	same, ok := g.steady[x]
	if !ok {
		same = g.unmoved(x)
		g.steady[x] = same
	}
	return same
}

func (g *Groups) unmoved(x atom) bool {
	r := g.f.atoms[x]
	if x == g.axis {
		return g.n == 1
	}
	if _, scope := r.ref.(scoped); scope || r.ref != nil && g.varies(r.ref) {
		return false
	}
	all := true
	for _, p := range r.args {
		all = all && g.constant(p)
	}
	switch {
	case all:
		return true
	case r.op == OpFloorDiv || r.op == OpDiv:
		return g.quotient(r)
	case contrary[r.op] != nil:
		return g.comparison(r)
	}
	return false
}

// quotient reports whether a / b is the same for all of a group: where a does not reach the next multiple of a divisor of b.
func (g *Groups) quotient(r row) bool {
	a, b := r.args[0], r.args[1]
	if !g.constant(b) || !g.f.atLeast(b, 1) || r.op == OpDiv && !g.f.prove(a) {
		return false
	}
	l, ok := g.line(a)
	if !ok {
		return false
	}
	d := magnitude(l.divisor)
	for _, t := range b {
		d = gcd(d, magnitude(t.coef))
	}
	return d <= maxCoef && l.together(g.n, int64(d))
}

// comparison reports whether a comparison comes out the same for all of a group.
func (g *Groups) comparison(r row) bool {
	d := r.args[0].minus(r.args[1])
	switch r.op {
	case OpLe, OpGt: // a <= b is a - b - 1 < 0
		d = d.shift(-1)
	case OpEq, OpNe:
		return g.apart(d)
	}
	l, ok := g.line(d)
	if ok && l.divisor == 0 {
		return true // a number
	}
	return ok && l.together(g.n, l.divisor)
}

// apart reports whether an integer that changes is 0 nowhere in a group.
func (g *Groups) apart(p Poly) bool {
	l, ok := g.line(p)
	if !ok || l.divisor == 0 {
		return ok
	}
	low, high := l.ends(g.n)
	return low > 0 && high < l.divisor
}
