package ir

// Kinds of atoms that are operations of their own. Quotients of integers are OpDiv (toward zero), OpFloorDiv, or opExact, where
// the divisor is known to divide; other operations that nothing is known of stand in the table as they are.
var (
	opExact   = &Op{Name: "exact"}
	opWrapped = &Op{Name: "wrapped"} // a sum or product that may leave 64 bits, as the machine computes it
)

// Value is the canonical form of an integer expression under what is known.
func (f *Facts) Value(e *Expr) Poly {
	f.settle()
	f.visits, f.conditions = 0, 0
	p := f.value(e)
	f.memo = nil
	return p
}

// memoAfter is the number of nodes from which on a walk remembers the values of shared nodes.
const memoAfter = 24

func (f *Facts) value(e *Expr) Poly {
	switch e.Op {
	case OpConst:
		if e.Type.IsInt() && e.Type != U64 {
			if p := constPoly(e.Val.Int()); p.known() {
				return p
			}
			return f.term(row{op: OpConst, typ: e.Type, val: e.Val, interval: interval{e.Val.Int(), e.Val.Int()}})
		}
		return f.term(row{op: OpConst, typ: e.Type, val: e.Val, interval: everything})
	case OpName:
		return f.named(e.Ref)
	}
	if f.memo != nil {
		if p, ok := f.memo[e]; ok {
			return p
		}
	}
	if f.visits++; f.visits > memoAfter && f.memo == nil {
		f.memo = map[*Expr]Poly{}
	}
	p := f.operation(e)
	if f.memo != nil {
		f.memo[e] = p
	}
	return p
}

func (f *Facts) named(r Ref) Poly {
	if p, ok := f.names[r]; ok {
		return f.reduce(p)
	}
	if s, ok := r.(*Scalar); ok && s.Type.IsInt() {
		return f.name(r, f.scalar(s, s.Multiple))
	}
	t := r.RefType()
	return f.name(r, f.fresh(row{op: OpName, typ: t, ref: r, interval: typeInterval(t), wild: t == I64}))
}

// scalar is an integer of which a divisor may be known: then it is that times an atom.
func (f *Facts) scalar(s *Scalar, divisor int64) Poly {
	if s.Fixed != nil {
		return constPoly(s.Fixed.Int())
	}
	x := row{op: OpName, typ: s.Type, ref: s, interval: typeInterval(s.Type), wild: s.Type == I64 && !s.IsSize}
	if s.IsSize {
		x.lo = max(0, s.Lo)
	}
	if divisor <= 1 {
		return f.fresh(x)
	}
	x.val = IntConst(divisor)
	if x.lo != noLow {
		x.lo = -floorDivide(-x.lo, divisor)
	}
	if x.hi != noHigh {
		x.hi = floorDivide(x.hi, divisor)
	}
	return f.fresh(x).times(divisor)
}

func (f *Facts) name(r Ref, p Poly) Poly {
	f.trail = append(f.trail, undo{ref: r, poly: f.names[r]})
	f.names[r] = p
	return p
}

// operation is the value of an operation that is no name and no constant.
func (f *Facts) operation(e *Expr) Poly {
	if !e.Type.IsInt() || e.Type == U64 {
		return f.opaque(e)
	}
	switch e.Op {
	case OpAdd:
		return f.fit(e, f.value(e.Args[0]).plus(1, f.value(e.Args[1])))
	case OpSub:
		return f.fit(e, f.value(e.Args[0]).minus(f.value(e.Args[1])))
	case OpMul:
		return f.fit(e, f.product(f.value(e.Args[0]), f.value(e.Args[1])))
	case OpNeg:
		return f.fit(e, f.value(e.Args[0]).negative())
	case OpFMA:
		return f.fit(e, f.product(f.value(e.Args[0]), f.value(e.Args[1])).plus(1, f.value(e.Args[2])))
	case OpDiv, OpFloorDiv:
		return f.fit(e, f.quotient(e.Op, f.tame(e.Args[0]), f.tame(e.Args[1])))
	case OpRem:
		return f.fit(e, f.remainder(OpDiv, f.tame(e.Args[0]), f.tame(e.Args[1])))
	case OpMod:
		return f.fit(e, f.remainder(OpFloorDiv, f.tame(e.Args[0]), f.tame(e.Args[1])))
	case OpMin, OpMax:
		return f.fit(e, f.extreme(e.Op, f.tame(e.Args[0]), f.tame(e.Args[1])))
	case OpAbs:
		x := f.tame(e.Args[0])
		return f.fit(e, f.extreme(OpMax, x, x.negative()))
	case OpFloor, OpCeil, OpRound, OpTrunc:
		return f.value(e.Args[0])
	case OpWiden:
		if e.Args[0].Type.IsInt() {
			return f.fit(e, f.value(e.Args[0]))
		}
	case OpCast:
		return f.cast(e)
	case OpIPow:
		return f.power(e)
	case OpShl, OpShr:
		return f.shift(e)
	case OpIf, OpSelect:
		return f.choice(e)
	}
	return f.opaque(e)
}

// fit keeps p as the value of e, if arithmetic in e's type cannot wrap; of 64 bits that is left to tame.
func (f *Facts) fit(e *Expr, p Poly) Poly {
	if p.known() && (e.Type == I64 || f.interval(p).in(typeInterval(e.Type))) {
		return p
	}
	return f.opaque(e)
}

// tame is the value of an operand of which more counts than its lower 64 bits: of data that may wrap it is an atom.
func (f *Facts) tame(e *Expr) Poly {
	p := f.value(e)
	if _, ok := p.single(); ok || !p.known() || e.Type != I64 {
		return p
	}
	wild := false
	for _, t := range p {
		for _, x := range t.of {
			wild = wild || f.atoms[x].wild
		}
	}
	if r := f.interval(p); !wild || r.lo != noLow && r.hi != noHigh {
		return p
	}
	return f.term(row{op: opWrapped, typ: I64, args: []Poly{p}, interval: everything, wild: true})
}

// product multiplies, and uses what is known of exact quotients.
func (f *Facts) product(a, b Poly) Poly { return f.reduce(a.mul(b)) }

// quotient is a / b, rounded as op says. Of a divisor that may be 0 nothing is known.
func (f *Facts) quotient(op *Op, a, b Poly) Poly {
	if !a.known() || !b.known() {
		return unknown
	}
	a, b = cancel(op, a, b)
	if n, ok := b.constant(); ok {
		switch x, whole := a.constant(); {
		case n == 0:
			return nil
		case n < 0 && op == OpFloorDiv:
			return f.quotient(op, a.negative(), b.negative())
		case n < 0:
			return f.quotient(op, a, b.negative()).negative()
		case n == 1:
			return a
		case whole && op == OpFloorDiv:
			return constPoly(floorDivide(x, n))
		case whole:
			return constPoly(x / n)
		}
	}
	x := row{op: opExact, typ: I64, args: []Poly{a, b}, interval: everything}
	if t, ok := f.find(&x); ok {
		return atomPoly(t)
	}
	x.op = op
	if t, ok := f.find(&x); ok {
		return atomPoly(t)
	}
	positive, natural := f.atLeast(b, 1), f.atLeast(a, 0)
	if natural && f.atLeast(b, 0) {
		x.interval = interval{0, f.interval(a).hi}
	}
	if !positive {
		return f.term(x)
	}
	if natural {
		x.op = OpFloorDiv
	}
	if whole, rest := a.divide(b); len(whole) > 0 && (x.op == OpFloorDiv || len(rest) == 0) {
		return whole.plus(1, f.quotient(OpFloorDiv, rest, b))
	}
	if x.op == OpFloorDiv {
		if t, ok := a.single(); ok && f.atoms[t].op == OpFloorDiv && f.atLeast(f.atoms[t].args[1], 1) {
			inner := f.atoms[t].args // a / b / c is a / (b * c)
			return f.quotient(OpFloorDiv, inner[0], f.product(inner[1], b))
		}
		switch {
		case f.atLeast(a, 0) && f.atLeast(b.minus(a), 1):
			return nil
		case f.atLeast(a.negative(), 1) && f.atLeast(a.plus(1, b), 0):
			return constPoly(-1)
		}
	}
	return f.term(x)
}

// cancel divides both sides of a quotient by a number.
func cancel(op *Op, a, b Poly) (Poly, Poly) {
	if len(b) != 1 {
		return a, b
	}
	g := int64(gcd(uint64(a.content()), magnitude(b[0].coef)))
	if n, _ := b.constant(); g <= 1 || a.remainder(g) != 0 && (op != OpFloorDiv || n < 1) {
		return a, b
	}
	q, _ := b.divide(constPoly(g))
	return a.quotient(g), q
}

// remainder is a - b * (a / b), where b is not 0.
func (f *Facts) remainder(op *Op, a, b Poly) Poly {
	if n, ok := b.constant(); ok && n < 0 && op == OpDiv {
		b = b.negative() // the sign of a remainder is the dividend's
	}
	if !f.atLeast(b, 1) && !f.prove(b.shift(-1)) {
		return unknown
	}
	return a.minus(f.product(b, f.quotient(op, a, b)))
}

// extreme is the smaller or larger of two.
func (f *Facts) extreme(op *Op, a, b Poly) Poly {
	if !a.known() || !b.known() {
		return unknown
	}
	d := a.minus(b)
	if op == OpMin {
		d = d.negative()
	}
	switch {
	case f.atLeast(d, 0):
		return a
	case f.atLeast(d.negative(), 0):
		return b
	}
	if a.hash() > b.hash() {
		a, b = b, a
	}
	x, y := f.interval(a), f.interval(b)
	r := interval{max(x.lo, y.lo), max(x.hi, y.hi)}
	if op == OpMin {
		r = interval{min(x.lo, y.lo), min(x.hi, y.hi)}
	}
	return f.term(row{op: op, typ: I64, args: []Poly{a, b}, interval: r})
}

// cast saturates integers to the range of the type.
func (f *Facts) cast(e *Expr) Poly {
	if !e.Args[0].Type.IsInt() || e.Args[0].Type == U64 {
		return f.opaque(e)
	}
	p, r := f.tame(e.Args[0]), typeInterval(e.Type)
	if r.lo != noLow {
		p = f.extreme(OpMax, p, constPoly(r.lo))
	}
	if r.hi != noHigh {
		p = f.extreme(OpMin, p, constPoly(r.hi))
	}
	return f.fit(e, p)
}

func (f *Facts) power(e *Expr) Poly {
	n, ok := e.Args[1].IntValue()
	if !ok || n < 0 || n > maxDegree {
		return f.opaque(e)
	}
	x, p := f.value(e.Args[0]), constPoly(1)
	for range n {
		p = f.product(p, x)
	}
	return f.fit(e, p)
}

// shift by a constant is a product or a quotient.
func (f *Facts) shift(e *Expr) Poly {
	n, ok := e.Args[1].IntValue()
	switch {
	case !ok || n < 0 || n > 55 || int(n) >= e.Type.Bits():
	case e.Op == OpShl:
		return f.fit(e, f.value(e.Args[0]).times(1<<n))
	default:
		return f.fit(e, f.quotient(OpFloorDiv, f.tame(e.Args[0]), constPoly(1<<n)))
	}
	return f.opaque(e)
}

func (f *Facts) choice(e *Expr) Poly {
	c, a, b := f.value(e.Args[0]), f.tame(e.Args[1]), f.tame(e.Args[2])
	if !a.known() || !b.known() || !c.known() {
		return f.opaque(e)
	}
	if a.equal(b) {
		return a
	}
	x := row{op: OpIf, typ: e.Type, args: []Poly{c, a, b}, interval: f.interval(a).or(f.interval(b))}
	if t, ok := f.find(&x); ok {
		return atomPoly(t)
	}
	x.yes, x.no = f.follows(e.Args[0], true), f.follows(e.Args[0], false)
	return f.term(x)
}
