package ir

import (
	"slices"
	"sync"
)

// Facts is what is known about integers at some place of a program: ranges of indices, launch conditions, guards around. It gives
// expressions a canonical form and proves inequalities, with sizes unknown. What it says holds; what it does not know it
// does not say. The effort is bounded.
//
// It takes the 64-bit arithmetic of sizes and indices as exact, since every element that is touched has an address; arithmetic on
// 64-bit data, and all narrower arithmetic, counts as what it is.
type Facts struct {
	atoms      []row // row 0 is none
	table      map[uint64]atom
	names      map[Ref]Poly
	facts      []fact
	either     [][2][]Poly // of each pair, one list holds
	rules      []rule
	trail      []undo
	depth      int32 // binders around
	scope      int64 // number of the innermost binder
	scopes     int64
	effort     int
	memo       map[*Expr]Poly
	visits     int // of the walk that is under way
	conditions int // of the guard that is looked at

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

// rule says that a product is to. It rewrites divisor times exact quotient, and names that are equal to others.
type rule struct {
	of product
	to Poly
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

// Limits of effort, in goals: of all proofs together and of one. Every access adds to the first, and a proof that finds nothing left
// gets the least; few need more.
const (
	effortOfAll    = 8_000
	effortOfAccess = 8
	effortOfProof  = 200
	leastEffort    = 16
	maxFacts       = 2_000
)

// NewFacts knows the launch conditions.
func NewFacts(conditions ...*Expr) *Facts {
	f := spareFacts.Get().(*Facts)
	f.effort = effortOfAll
	if len(conditions) > 0 {
		f.frames = append(f.frames, frame{given: conditions})
	}
	return f
}

// spareFacts know nothing; they keep the room that others took.
var spareFacts = sync.Pool{New: func() any { return &Facts{} }}

// Forget ends the use of f, so that its room serves others.
func (f *Facts) Forget() {
	f.Release(0)
	if f.atoms != nil {
		f.restore(state{atoms: 1})
	}
	spareFacts.Put(f)
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
		f.visits, f.conditions = 0, 0
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

// reduce applies the rules.
func (f *Facts) reduce(p Poly) Poly {
	for range 8 {
		changed := false
		for _, r := range f.rules {
			for i := 0; i < len(p); i++ {
				of, ok := p[i].of.over(r.of)
				if !ok || !p.known() {
					continue
				}
				t := term{of, p[i].coef}
				p = slices.Delete(slices.Clone(p), i, i+1).plus(1, Poly{t}.mul(r.to))
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
