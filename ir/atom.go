package ir

import (
	"hash/maphash"
	"math"
	"slices"
)

// row says what an atom is.
type row struct {
	op   *Op
	typ  Type
	val  Const // of a name: what it is divided by, if anything
	ref  Ref
	args []Poly // operands; those that are no integers are single atoms
	interval
	depth   int32  // of the innermost binder that it depends on
	wild    bool   // 64-bit data: arithmetic on it may wrap
	yes, no []Poly // of a choice: what follows from its condition and from the contrary
	hash    uint64
	next    atom // of the same hash
}

// find looks an atom up by what it is.
func (f *Facts) find(x *row) (atom, bool) {
	h := maphash.Comparable(seed, struct {
		op  *Op
		ref Ref
	}{x.op, x.ref})
	h = mix(h, x.val.Bits)
	for _, p := range x.args {
		h = mix(h, p.hash())
	}
	x.hash = h
	for t := f.table[h]; t != 0; t = f.atoms[t].next {
		y := &f.atoms[t]
		if y.op == x.op && y.typ == x.typ && y.val == x.val && y.ref == x.ref && slices.EqualFunc(y.args, x.args, Poly.equal) {
			return t, true
		}
	}
	return 0, false
}

// term is an atom, a new one if none is the same.
func (f *Facts) term(x row) Poly {
	if t, ok := f.find(&x); ok {
		return atomPoly(t)
	}
	for _, p := range x.args {
		for _, t := range p {
			for _, a := range t.of {
				x.depth = max(x.depth, f.atoms[a].depth)
			}
		}
	}
	p := f.fresh(x)
	if t, ok := p.single(); ok {
		f.atoms[t].next = f.table[x.hash]
		f.table[x.hash] = t
	}
	return p
}

// fresh is a new atom, whatever else there is.
func (f *Facts) fresh(x row) Poly {
	if len(f.atoms) > math.MaxUint16-1 {
		return unknown
	}
	f.atoms = append(f.atoms, x)
	return atomPoly(atom(len(f.atoms) - 1))
}

// opaque is the value of an operation of which only the range is known.
func (f *Facts) opaque(e *Expr) Poly {
	if p, ok := f.names[e.Ref]; ok && e.Op == OpRead && len(e.Args) == 0 {
		return p
	}
	x := row{op: e.Op, typ: e.Type, val: e.Val, ref: e.Ref, interval: typeInterval(e.Type)}
	if _, ok := e.Ref.(Scope); ok {
		x.ref, x.val, x.depth = scoped{e}, IntConst(f.scope), f.depth
		x.wild = e.Type == I64
		return f.term(x)
	}
	x.args = make([]Poly, len(e.Args))
	for i, a := range e.Args {
		if x.args[i] = f.tame(a); !x.args[i].known() {
			return unknown
		}
	}
	x.interval = x.interval.and(f.bitRange(e, x.args))
	x.wild = e.Type == I64 && !(x.lo >= math.MinInt32 && x.hi <= math.MaxInt32)
	return f.term(x)
}

// scoped names a reduction by its place.
type scoped struct{ *Expr }

func (s scoped) RefName() string { return s.Ref.RefName() }
func (s scoped) RefType() Type   { return s.Type }

// bitRange is the range of operations on bits and of conversions from truth values.
func (f *Facts) bitRange(e *Expr, args []Poly) interval {
	switch e.Op {
	case OpBitAnd, OpBitOr, OpBitXor:
		a, b := f.interval(args[0]), f.interval(args[1])
		switch {
		case e.Op == OpBitAnd && a.lo >= 0 && b.lo >= 0:
			return interval{0, min(a.hi, b.hi)}
		case e.Op == OpBitAnd && a.lo >= 0:
			return interval{0, a.hi}
		case e.Op == OpBitAnd && b.lo >= 0:
			return interval{0, b.hi}
		case e.Op != OpBitAnd && a.lo >= 0 && b.lo >= 0:
			hi := max(a.hi, b.hi)
			for s := 1; s < 64; s *= 2 {
				hi |= hi >> s
			}
			return interval{0, hi}
		}
	case OpPopcount:
		return interval{0, 64}
	case OpSign:
		return interval{-1, 1}
	case OpCast, OpWiden:
		if e.Args[0].Type.IsBool() {
			return interval{0, 1}
		}
	case OpRem, OpMod: // by a divisor that may be 0, when it is 0
		if a := f.interval(args[0]); e.Op == OpRem && a.lo >= 0 {
			return interval{0, a.hi}
		}
	}
	return everything
}
