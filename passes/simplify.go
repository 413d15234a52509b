package passes

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// simplify makes integer arithmetic cheap: what is certain becomes a constant, divisions by powers of two become shifts where no
// sign is in the way, and sums are put in order, so that what changes seldom is computed first and constants come last, where
// they are part of an address.
//
//	if point / 4 < 1000000000000 {
//	  load x <- X[(point + 3) * 64 + widen.i64(lane % 8 + 2)]
//	}
//
// becomes
//
//	load x <- X[point * 64 + widen.i64(lane & 7) + 194]
func simplify(u *Unit) error {
	eachKernel(u, func(k *simt.Kernel) []simt.Stmt {
		s := &simplifier{intervals: intervalsOf(k), same: map[ir.Ref]*ir.Expr{}, depths: depthsOf(k.Body), names: countNames(k.Body), one: ir.Unifier()}
		s.rewriter.Post = s.simple
		return s.list(k.Body)
	})
	return nil
}

type simplifier struct {
	*intervals
	one      *ir.Rewriter
	rewriter ir.Rewriter
	same     map[ir.Ref]*ir.Expr // registers that are another name of something
	depths   depths
	names    map[string]int
}

func (s *simplifier) list(body []simt.Stmt) []simt.Stmt {
	m := exprMap{s.expr, s.expr}
	var out []simt.Stmt
	for _, x := range body {
		x = m.stmt(x)
		if let, ok := x.(*simt.Let); ok && s.alias(let) {
			continue
		}
		if branch, ok := s.taken(x); ok {
			out = append(out, s.list(branch)...)
			continue
		}
		out = append(out, withBlocks(x, s.list))
	}
	return out
}

// expr simplifies an expression. Subscripts are written out in full at every access, so what is equal becomes one first: this and all
// that follows then look at it once.
func (s *simplifier) expr(e *ir.Expr) *ir.Expr { return s.rewriter.Rewrite(s.one.Rewrite(e)) }

// alias notes a register that only names a constant or another register.
func (s *simplifier) alias(x *simt.Let) bool {
	if x.Reg.Mutable || x.Value == nil || !x.Reg.Type.IsInt() {
		return false
	}
	if x.Value.IsConst() || x.Value.Op == ir.OpName && fixedName(x.Value.Ref) {
		s.same[x.Reg] = x.Value
		return true
	}
	return false
}

// fixedName reports whether a name has one value wherever it is seen.
func fixedName(ref ir.Ref) bool {
	switch r := ref.(type) {
	case *simt.Reg:
		return !r.Mutable && r.Len == 0
	case *simt.Builtin: // warps and groups count from another start in an arm of roles
		return r != simt.Warp && r != simt.Group
	case *simt.Value:
		return true
	}
	return false
}

// taken is the branch of an if whose condition is certain, where its names may stand outside.
func (s *simplifier) taken(x simt.Stmt) ([]simt.Stmt, bool) {
	c, ok := x.(*simt.If)
	if !ok || !c.Cond.IsConst() {
		return nil, false
	}
	branch := c.Else
	if c.Cond.Val.Bool() {
		branch = c.Then
	}
	for _, y := range branch {
		if r := declared(y); r != nil && s.names[r.Name] > 1 {
			return nil, false
		}
	}
	return branch, true
}

// countNames says how often each name is declared.
func countNames(body []simt.Stmt) map[string]int {
	out := map[string]int{}
	simt.Walk(body, func(x simt.Stmt) {
		if r := declared(x); r != nil {
			out[r.Name]++
		}
	})
	return out
}

// simple is an expression whose operands are simple already.
func (s *simplifier) simple(e *ir.Expr) *ir.Expr {
	if len(e.Args) == 0 {
		if to := s.same[e.Ref]; to != nil && e.Op == ir.OpName {
			return to
		}
		return s.certain(e)
	}
	if !pure(e.Op) || e.Op == simt.OpElem {
		return e
	}
	e = ir.Fold(e)
	if len(e.Args) == 0 {
		return e
	}
	switch {
	case e.Type.IsBool():
		return s.truth(e)
	case !e.Type.IsInt():
		return s.choice(e)
	}
	if e = s.certain(e); e.IsConst() {
		return e
	}
	switch e.Op {
	case ir.OpAdd, ir.OpSub:
		return s.sum(e)
	case ir.OpMul:
		return s.product(e)
	case ir.OpWiden:
		return s.widened(e)
	case ir.OpDiv, ir.OpFloorDiv, ir.OpRem, ir.OpMod:
		return s.division(e)
	case ir.OpMin, ir.OpMax:
		return s.extreme(e)
	case ir.OpBitAnd:
		return s.masked(e)
	case ir.OpIf, ir.OpSelect:
		return s.choice(e)
	}
	return e
}

// certain is the constant that an integer is.
func (s *simplifier) certain(e *ir.Expr) *ir.Expr {
	if !e.Type.IsInt() || e.IsConst() || e.Op == simt.OpAddr {
		return e
	}
	if r := s.of(e); r.lo == r.hi && !r.wild {
		return ir.NewConst(e.Type, ir.IntConst(r.lo)).At(e.Pos)
	}
	return e
}

// truth decides comparisons by where their sides lie.
func (s *simplifier) truth(e *ir.Expr) *ir.Expr {
	if len(e.Args) != 2 || !e.Args[0].Type.IsInt() {
		return e
	}
	a, b := s.of(e.Args[0]), s.of(e.Args[1])
	var yes, no bool
	switch e.Op {
	case ir.OpLt:
		yes, no = a.hi < b.lo, a.lo >= b.hi
	case ir.OpLe:
		yes, no = a.hi <= b.lo, a.lo > b.hi
	case ir.OpGt:
		yes, no = a.lo > b.hi, a.hi <= b.lo
	case ir.OpGe:
		yes, no = a.lo >= b.hi, a.hi < b.lo
	case ir.OpEq:
		no = a.hi < b.lo || b.hi < a.lo
	case ir.OpNe:
		yes = a.hi < b.lo || b.hi < a.lo
	}
	switch {
	case a.wild || b.wild:
		return e
	case yes:
		return ir.True
	case no:
		return ir.False
	}
	return e
}

func (s *simplifier) choice(e *ir.Expr) *ir.Expr {
	if (e.Op == ir.OpIf || e.Op == ir.OpSelect) && e.Args[0].IsConst() {
		if e.Args[0].Val.Bool() {
			return e.Args[1]
		}
		return e.Args[2]
	}
	return e
}

func (s *simplifier) extreme(e *ir.Expr) *ir.Expr {
	a, b := s.of(e.Args[0]), s.of(e.Args[1])
	if e.Op == ir.OpMax {
		a, b = b, a
	}
	switch {
	case a.wild || b.wild:
		return e
	case a.hi <= b.lo:
		return e.Args[0]
	case b.hi <= a.lo:
		return e.Args[1]
	}
	return e
}

// masked drops a mask that takes nothing away.
func (s *simplifier) masked(e *ir.Expr) *ir.Expr {
	for i := range 2 {
		n, ok := e.Args[i].IntValue()
		if x := s.of(e.Args[1-i]); ok && n > 0 && n&(n+1) == 0 && x.lo >= 0 && x.hi <= n && !x.wild {
			return e.Args[1-i]
		}
	}
	return e
}

// division turns division by a power of two into a shift, and its remainder into a mask. Those that round down do so for all
// numbers, those that round to zero for numbers that are not negative.
func (s *simplifier) division(e *ir.Expr) *ir.Expr {
	a, b := e.Args[0], e.Args[1]
	x, y := s.of(a), s.of(b)
	down := e.Op == ir.OpFloorDiv || e.Op == ir.OpMod || x.lo >= 0
	quotient := e.Op == ir.OpDiv || e.Op == ir.OpFloorDiv
	if x.lo >= 0 && x.hi < y.lo && !x.wild && !y.wild {
		if quotient {
			return ir.ZeroOf(e.Type)
		}
		return a
	}
	n, ok := b.IntValue()
	if !ok || !down || n <= 0 || n&(n-1) != 0 || e.Type == ir.U64 {
		return e
	}
	if quotient {
		count := ir.NewConst(ir.I32, ir.IntConst(int64(bits.TrailingZeros64(uint64(n)))))
		return s.simple(ir.Apply(ir.OpShr, a, count).At(e.Pos))
	}
	return s.simple(ir.Apply(ir.OpBitAnd, a, ir.NewConst(e.Type, ir.IntConst(n-1))).At(e.Pos))
}

// summand is a part of a sum.
type summand struct {
	of    *ir.Expr
	minus bool
}

// summands are a sum of terms and a constant. Sums and products of integers wrap, so their order is free.
type summands struct {
	terms []summand
	add   int64
}

// maxSummands bounds the sums that are put in order.
const maxSummands = 16

func (s *simplifier) summands(e *ir.Expr) summands {
	var l summands
	l.collect(e, false)
	return l
}

func (l *summands) collect(e *ir.Expr, minus bool) {
	if n, ok := e.IntValue(); ok {
		if minus {
			n = -n
		}
		l.add += n
		return
	}
	if isSum(e) && len(l.terms) < maxSummands {
		l.collect(e.Args[0], minus)
		l.collect(e.Args[1], minus != (e.Op == ir.OpSub))
		return
	}
	l.terms = append(l.terms, summand{e, minus})
}

// build writes a sum: what changes in few loops first, then what the launch is given, of which there can be many that few places
// need each, the constant last. ok is false where it would begin with a minus.
func (s *simplifier) build(t ir.Type, l summands) (e *ir.Expr, ok bool) {
	slices.SortStableFunc(l.terms, s.compare)
	add := ir.Wrap(t.Elem, l.add)
	for _, x := range l.terms {
		switch {
		case e == nil && x.minus:
			return nil, false
		case e == nil:
			e = x.of
		case x.minus:
			e = ir.Sub(e, x.of)
		default:
			e = ir.Add(e, x.of)
		}
	}
	switch {
	case e == nil:
		return ir.NewConst(t, ir.IntConst(add)), true
	case add < 0 && add != math.MinInt64 && t.Elem.Kind == ir.Int && ir.Wrap(t.Elem, -add) == -add:
		return ir.Sub(e, ir.NewConst(t, ir.IntConst(-add))), true
	}
	return ir.Add(e, ir.NewConst(t, ir.IntConst(add))), true
}

func (s *simplifier) compare(a, b summand) int {
	return cmp.Or(compareBool(ofSizes(a.of), ofSizes(b.of)), cmp.Compare(s.depths.of(a.of), s.depths.of(b.of)), compareBool(a.minus, b.minus))
}

// ordered reports whether a sum is in order, given that what it begins with is.
func (s *simplifier) ordered(e *ir.Expr) bool {
	a, b := e.Args[0], e.Args[1]
	if isSum(b) || a.IsConst() || isSum(a) && a.Args[1].IsConst() {
		return false
	}
	if n, ok := b.IntValue(); ok {
		return n > 0
	}
	last := summand{a, false}
	if isSum(a) {
		last = summand{a.Args[1], a.Op == ir.OpSub}
	}
	return s.compare(last, summand{b, e.Op == ir.OpSub}) <= 0
}

func isSum(e *ir.Expr) bool { return e.Op == ir.OpAdd || e.Op == ir.OpSub }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// sum puts the terms of a sum in order.
func (s *simplifier) sum(e *ir.Expr) *ir.Expr {
	if s.ordered(e) {
		return e
	}
	l := s.summands(e)
	if len(l.terms) > maxSummands {
		return e
	}
	if out, ok := s.build(e.Type, l); ok && !ir.Equal(out, e) {
		return out.At(e.Pos)
	}
	return e
}

// product multiplies what is constant in a sum, and what the launch is given, on its own.
func (s *simplifier) product(e *ir.Expr) *ir.Expr {
	a, b := e.Args[0], e.Args[1]
	if a.IsConst() || ofSizes(a) && !ofSizes(b) {
		a, b = b, a
	}
	if !ofSizes(b) || ofSizes(a) && !b.IsConst() {
		return e
	}
	l := s.summands(a)
	if len(l.terms) == 1 && l.add == 0 {
		return times(e, a, b)
	}
	if len(l.terms) == 0 || len(l.terms) > maxSummands {
		return e
	}
	var rest, out summands
	for _, x := range l.terms {
		if b.IsConst() && ofSizes(x.of) {
			out.terms = append(out.terms, summand{times(nil, x.of, b), x.minus})
		} else {
			rest.terms = append(rest.terms, x)
		}
	}
	if l.add == 0 && (len(out.terms) == 0 || len(rest.terms) == 0) {
		return e
	}
	core, ok := s.build(e.Type, rest)
	if !ok {
		return e
	}
	if len(rest.terms) > 0 {
		out.terms = append(out.terms, summand{times(nil, core, b), false})
	}
	if n, number := b.IntValue(); number {
		out.add = l.add * n
	} else if l.add != 0 {
		out.terms = append(out.terms, summand{ir.Mul(b, ir.NewConst(e.Type, ir.IntConst(ir.Wrap(e.Type.Elem, l.add)))), false})
	}
	if sum, ok := s.build(e.Type, out); ok {
		return sum.At(e.Pos)
	}
	return e
}

// times is a * b, with one number where both have one; as is, where it is not nil, is how that is written already.
func times(as, a, b *ir.Expr) *ir.Expr {
	if n, ok := b.IntValue(); ok && a.Op == ir.OpMul {
		for i := range 2 {
			if m, ok := a.Args[i].IntValue(); ok {
				return ir.Mul(a.Args[1-i], ir.NewConst(a.Type, ir.IntConst(ir.Wrap(a.Type.Elem, m*n))))
			}
		}
	}
	if as != nil {
		return as
	}
	return ir.Mul(a, b)
}

// widened takes a constant out of a conversion, where the narrow sum does not wrap.
func (s *simplifier) widened(e *ir.Expr) *ir.Expr {
	x := e.Args[0]
	if !x.Type.IsInt() || x.Op != ir.OpAdd && x.Op != ir.OpSub || e.Type.Elem.Kind != ir.Int {
		return e
	}
	n, ok := x.Args[1].IntValue()
	if !ok {
		return e
	}
	core, t := s.of(x.Args[0]), spanOf(x.Type)
	if x.Op == ir.OpSub {
		n = -n
	}
	if t.wild || core.lo < t.lo-min(n, 0) || core.hi > t.hi-max(n, 0) {
		return e
	}
	return s.simple(ir.Add(ir.Widen(e.Type, x.Args[0]), ir.NewConst(e.Type, ir.IntConst(n))).At(e.Pos))
}

// ofSizes reports whether a value is made of what the launch is given alone.
func ofSizes(e *ir.Expr) bool {
	switch e.Op {
	case ir.OpConst:
		return true
	case ir.OpName:
		_, ok := e.Ref.(*simt.Value)
		return ok
	case ir.OpMul:
		return ofSizes(e.Args[0]) && ofSizes(e.Args[1])
	}
	return false
}
