package ir

// maxConditions bounds the conditions that one guard is made of, as they are looked at: shared ones count again.
const maxConditions = 4_000

// assume learns that cond holds (or does not).
func (f *Facts) assume(cond *Expr, holds bool) {
	if f.conditions++; f.conditions > maxConditions {
		return
	}
	switch {
	case cond.Op == OpNot:
		f.assume(cond.Args[0], !holds)
	case cond.Op == OpAnd && holds, cond.Op == OpOr && !holds:
		f.assume(cond.Args[0], holds)
		f.assume(cond.Args[1], holds)
	case cond.Op == OpAnd, cond.Op == OpOr:
		a, b := f.follows(cond.Args[0], holds), f.follows(cond.Args[1], holds)
		if len(a) > 0 && len(b) > 0 {
			f.either = append(f.either, [2][]Poly{a, b})
		}
	case cond.Op == OpNe && holds, cond.Op == OpEq && !holds:
		if a, b, ok := f.sides(cond); ok {
			f.differ(a, b)
		}
	default:
		for _, p := range f.follows(cond, holds) {
			f.learn(p)
		}
	}
}

// differ learns a != b.
func (f *Facts) differ(a, b Poly) {
	switch {
	case f.atLeast(a.minus(b), 0):
		f.learn(b.below(a))
	case f.atLeast(b.minus(a), 0):
		f.learn(a.below(b))
	default:
		f.either = append(f.either, [2][]Poly{{a.below(b)}, {b.below(a)}})
	}
}

// sides are the values of what is compared, where that is integers.
func (f *Facts) sides(cond *Expr) (a, b Poly, ok bool) {
	if len(cond.Args) != 2 || !cond.Args[0].Type.IsInt() || cond.Args[0].Type == U64 {
		return nil, nil, false
	}
	a, b = f.tame(cond.Args[0]), f.tame(cond.Args[1])
	return a, b, a.known() && b.known()
}

// follows lists Polys that are not negative where cond holds (or does not).
func (f *Facts) follows(cond *Expr, holds bool) []Poly {
	if f.conditions++; f.conditions > maxConditions {
		return nil
	}
	op := cond.Op
	switch {
	case op == OpNot:
		return f.follows(cond.Args[0], !holds)
	case op == OpAnd && holds, op == OpOr && !holds:
		return append(f.follows(cond.Args[0], holds), f.follows(cond.Args[1], holds)...)
	}
	if !holds {
		op = contrary[op]
	}
	switch op {
	case OpEq, OpLt, OpLe, OpGt, OpGe:
	default:
		return nil
	}
	a, b, ok := f.sides(cond)
	if !ok {
		return nil
	}
	switch op {
	case OpLt:
		return []Poly{a.below(b)}
	case OpLe:
		return []Poly{b.minus(a)}
	case OpGt:
		return []Poly{b.below(a)}
	case OpGe:
		return []Poly{a.minus(b)}
	}
	return []Poly{a.minus(b), b.minus(a)}
}

var contrary = map[*Op]*Op{OpEq: OpNe, OpNe: OpEq, OpLt: OpGe, OpLe: OpGt, OpGt: OpLe, OpGe: OpLt}

// learn takes p >= 0 as known, and what follows from it at once.
func (f *Facts) learn(p Poly) { f.learnFrom(p, 0) }

// inner orders atoms: those of inner binders first, later ones first.
func (f *Facts) inner(a, b atom) int {
	if d := f.atoms[b].depth - f.atoms[a].depth; d != 0 {
		return int(d)
	}
	return int(b) - int(a)
}

// maxProjection is how deep facts about operations become facts about their operands.
const maxProjection = 4

func (f *Facts) learnFrom(p Poly, level int) {
	p = f.reduce(p).tight()
	if _, constant := p.constant(); constant || !p.known() || len(f.facts) >= maxFacts {
		return
	}
	seen, top := uint64(0), p[0].of[0]
	for _, t := range p {
		for _, x := range t.of[:t.of.degree()] {
			if seen |= 1 << (x % 64); f.inner(x, top) < 0 {
				top = x
			}
		}
	}
	f.facts = append(f.facts, fact{p, seen, top})
	f.bounds(p, level)
	if level < maxProjection {
		f.project(p, level+1)
	}
}

// bounds reads the range of an atom off an inequality that has no other.
func (f *Facts) bounds(p Poly, level int) {
	c := int64(0)
	switch {
	case len(p) == 2 && p[1].of == product{}:
		c = p[1].coef
	case len(p) != 1:
		return
	}
	x, k := p[0].of, p[0].coef
	switch {
	case x.degree() > 1 && k > 0 && c < 0:
		f.factors(x, level)
	case x.degree() > 1:
	case k > 0:
		f.narrow(x[0], interval{-floorDivide(c, k), noHigh}, level)
	default:
		f.narrow(x[0], interval{noLow, floorDivide(c, -k)}, level)
	}
}

// factors learns that the factors of a positive product are positive, if at most one of them could be negative.
func (f *Facts) factors(x product, level int) {
	signed := 0
	for _, a := range x[:x.degree()] {
		if f.atoms[a].lo < 0 {
			signed++
		}
	}
	for _, a := range x[:x.degree()] {
		if signed <= 1 {
			f.narrow(a, interval{1, noHigh}, level)
		}
	}
}

// narrow restricts the range of an atom.
func (f *Facts) narrow(x atom, to interval, level int) {
	was := f.atoms[x].interval
	now := was.and(to)
	if now == was {
		return
	}
	f.trail = append(f.trail, undo{of: x, was: was})
	f.atoms[x].interval = now
	if now.lo < 1 || was.lo >= 1 || level > maxProjection {
		return
	}
	for _, r := range f.rules {
		if r.to.has(x) && f.atLeast(r.to, 1) {
			f.factors(r.of, level+1)
		}
	}
}

// project turns a fact about operations into facts about their operands.
func (f *Facts) project(p Poly, level int) {
	for _, t := range p {
		for _, x := range t.of[:t.of.degree()] {
			r := &f.atoms[x]
			switch r.op {
			case OpMin, OpMax, OpDiv, OpFloorDiv, opExact:
			default:
				continue
			}
			if c, rest, linear := p.split(x); linear {
				for _, q := range f.onOperands(r, c, rest) {
					f.learnFrom(q, level)
				}
			}
		}
	}
}

// onOperands lists what follows for the operands of r from c * r + rest >= 0.
func (f *Facts) onOperands(r *row, c, rest Poly) (out []Poly) {
	up, down := f.atLeast(c, 0), f.atLeast(c.negative(), 0)
	switch r.op {
	case OpMax, OpMin:
		if r.op == OpMax && down || r.op == OpMin && up {
			for _, a := range r.args {
				out = append(out, c.mul(a).plus(1, rest))
			}
		}
		return out
	}
	a, b := r.args[0], r.args[1]
	if !f.atLeast(b, 1) {
		return nil
	}
	slack := b.shift(-1) // the quotient times b is not farther than this from a
	over, under := Poly(nil), slack
	switch {
	case r.op == opExact:
		under = nil
	case r.op == OpDiv && !f.atLeast(a, 0):
		over = slack
	}
	one, _ := c.constant()
	if one == 1 { // r >= -rest
		out = append(out, a.plus(1, f.product(b, rest)).plus(1, over))
	}
	if one == -1 { // r <= rest
		out = append(out, f.product(b, rest).minus(a).plus(1, under))
	}
	if k, ok := c.ratio(b); ok && up {
		out = append(out, f.product(k, a.plus(1, over)).plus(1, rest))
	} else if ok && down {
		out = append(out, f.product(k, a.minus(under)).plus(1, rest))
	}
	return out
}
