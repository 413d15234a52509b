package ir

import "slices"

// Facts is what is known about integers at some place of a program: ranges of indices, launch conditions, guards around. It gives
// expressions a canonical form and proves inequalities, with sizes unknown. What it says holds; what it does not know it
// does not say. The effort is bounded.
//
// It takes the 64-bit arithmetic of sizes and indices as exact, since every element that is touched has an address; arithmetic on
// 64-bit data, and all narrower arithmetic, counts as what it is.
type Facts struct {
	atoms  []row // row 0 is none
	table  map[uint64]atom
	names  map[Ref]Poly
	facts  []fact
	either [][2][]Poly // of each pair, one list holds
	rules  []rule
	trail  []undo
	depth  int32 // binders around
	scope  int64 // number of the innermost binder
	scopes int64
	effort int
	memo   map[*Expr]Poly
	visits int

	frames  []frame // what was entered
	settled int     // how many of them were looked into
	bound   int     // the innermost that binds an axis, from 1
}

// frame is something that was entered. Most frames are left before anything is asked, so they are looked into only then.
type frame struct {
	given  []*Expr // launch conditions
	span   Span    // of an axis
	bound  int     // with a span: the next one outside
	cond   *Expr   // holds, or does not
	holds  bool
	runs   *Expr // is evaluated
	before state
}

// fact is an inequality p >= 0. seen has a bit for each of its atoms, modulo 64; top is the innermost of them.
type fact struct {
	p    Poly
	seen uint64
	top  atom
}

// rule says that coef * of is to. It rewrites products of divisor and exact quotient, and names that are equal to others.
type rule struct {
	of   product
	coef int64
	to   Poly
}

// undo is a change to take back: the range of an atom, or the value of a name.
type undo struct {
	of    atom
	was   interval
	ref   Ref
	poly  Poly
	scope int64
	depth int32
}

// state is how much is known at some moment.
type state struct{ atoms, facts, either, rules, trail int }

// Limits of effort.
const (
	effortOfAll    = 20_000 // goals, of all proofs together
	effortOfAccess = 8      // more of them, for every access
	effortOfProof  = 200    // goals, of one
	maxFacts       = 2_000
)

// NewFacts knows the launch conditions.
func NewFacts(conditions ...*Expr) *Facts {
	f := &Facts{effort: effortOfAll}
	if len(conditions) > 0 {
		f.frames = append(f.frames, frame{given: conditions})
	}
	return f
}

// Bind enters the range of an axis: what is asked from here on is asked of an index inside it, so the range is not empty.
func (f *Facts) Bind(s Span) {
	f.frames = append(f.frames, frame{span: s, bound: f.bound})
	f.bound = len(f.frames)
}

// Assume enters a place where cond holds (or does not).
func (f *Facts) Assume(cond *Expr, holds bool) {
	f.frames = append(f.frames, frame{cond: cond, holds: holds})
}

// Evaluates says that e is evaluated before anything runs: its divisors are not 0.
func (f *Facts) Evaluates(e *Expr) { f.frames = append(f.frames, frame{runs: e}) }

// Mark notes where we are, for Release.
func (f *Facts) Mark() int { return len(f.frames) }

// Release leaves what was entered since the mark.
func (f *Facts) Release(mark int) {
	if mark < f.settled {
		f.restore(f.frames[mark].before)
		f.settled = mark
	}
	for f.bound > mark {
		f.bound = f.frames[f.bound-1].bound
	}
	f.frames = f.frames[:mark]
}

// settle looks into what was entered.
func (f *Facts) settle() {
	if f.atoms == nil {
		f.atoms, f.table, f.names = make([]row, 1, 32), map[uint64]atom{}, map[Ref]Poly{}
	}
	for f.settled < len(f.frames) {
		x := &f.frames[f.settled]
		x.before = f.now()
		f.settled++
		f.visits = 0
		switch {
		case x.given != nil:
			f.launch(x.given)
		case x.cond != nil:
			f.assume(x.cond, x.holds)
		case x.runs != nil:
			f.evaluates(x.runs, map[*Expr]bool{})
		default:
			f.bind(x.span)
		}
		f.memo = nil
	}
}

// now is the present state.
func (f *Facts) now() state {
	return state{len(f.atoms), len(f.facts), len(f.either), len(f.rules), len(f.trail)}
}

// restore forgets what was learnt since.
func (f *Facts) restore(s state) {
	for i := len(f.trail) - 1; i >= s.trail; i-- {
		switch u := f.trail[i]; {
		case u.of != 0:
			f.atoms[u.of].interval = u.was
		case u.ref != nil && u.poly == nil:
			delete(f.names, u.ref)
		case u.ref != nil:
			f.names[u.ref] = u.poly
		default:
			f.scope, f.depth = u.scope, u.depth
		}
	}
	for i := len(f.atoms) - 1; i >= s.atoms; i-- {
		if x := &f.atoms[i]; f.table[x.hash] == atom(i) {
			if x.next == 0 {
				delete(f.table, x.hash)
			} else {
				f.table[x.hash] = x.next
			}
		}
	}
	f.atoms, f.facts, f.either, f.rules, f.trail = f.atoms[:s.atoms], f.facts[:s.facts], f.either[:s.either], f.rules[:s.rules], f.trail[:s.trail]
}

// Define gives a name the value of an expression.
func (f *Facts) Define(r Ref, value *Expr) {
	p := f.Value(value)
	f.name(r, p)
}

func (f *Facts) bind(s Span) {
	lo, hi := f.tame(s.Lo), f.tame(s.Hi)
	f.trail = append(f.trail, undo{scope: f.scope, depth: f.depth})
	f.scopes++
	f.scope, f.depth = f.scopes, f.depth+1
	low, high := f.interval(lo), f.interval(hi)
	x := row{op: OpName, typ: I64, ref: s.Axis, depth: f.depth, wild: f.wild(lo) || f.wild(hi), interval: interval{low.lo, high.hi}}
	if f.atLeast(lo, 0) {
		x.lo = max(x.lo, 0)
	}
	if x.hi != noHigh {
		x.hi--
	}
	index := f.name(s.Axis, f.fresh(x))
	f.learn(index.minus(lo))
	f.learn(index.below(hi))
	f.learn(lo.below(hi))
}

func (f *Facts) wild(p Poly) bool {
	for _, t := range p {
		for _, x := range t.of {
			if f.atoms[x].wild {
				return true
			}
		}
	}
	return false
}

func (f *Facts) assume(cond *Expr, holds bool) {
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

// reduce applies the rules.
func (f *Facts) reduce(p Poly) Poly {
	for range 8 {
		changed := false
		for _, r := range f.rules {
			for i := 0; i < len(p); i++ {
				of, ok := p[i].of.over(r.of)
				if !ok || p[i].coef == 0 || p[i].coef%r.coef != 0 {
					continue
				}
				t := p[i]
				p = slices.Delete(slices.Clone(p), i, i+1).plus(1, Poly{{of, t.coef / r.coef}}.mul(r.to))
				if changed = true; !p.known() {
					return p
				}
				i = -1
			}
		}
		if !changed {
			break
		}
	}
	return p
}
