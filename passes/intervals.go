package passes

import (
	"math"
	"math/bits"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// span is where an integer lies, both ends included; the ends of int64 stand for no bound. Arithmetic of 64 bits on sizes and
// indices is taken as exact, since every element that is touched has an address; wild values are data, which may wrap.
type span struct {
	lo, hi int64
	wild   bool
}

var unbounded = span{math.MinInt64, math.MaxInt64, true}

func spanOf(t ir.Type) span {
	if !t.IsInt() || t == ir.I64 || t == ir.U64 {
		return unbounded
	}
	lo, hi := ir.IntRange(t.Elem)
	return span{lo, hi, false}
}

func (a span) in(b span) bool { return b.lo <= a.lo && a.hi <= b.hi }

// intervals finds where the integers of a kernel lie, from what declares their names.
type intervals struct {
	kernel *simt.Kernel
	known  ir.Memo[span]
	names  map[ir.Ref]span
	lets   map[*simt.Reg]*ir.Expr
	vars   map[*simt.Reg]*simt.For
}

func intervalsOf(k *simt.Kernel) *intervals {
	r := &intervals{kernel: k, names: map[ir.Ref]span{}, lets: map[*simt.Reg]*ir.Expr{}, vars: map[*simt.Reg]*simt.For{}}
	simt.Walk(k.Body, r.declare)
	return r
}

// declare notes what says the value of a register.
func (r *intervals) declare(s simt.Stmt) {
	switch s := s.(type) {
	case *simt.Let:
		if !s.Reg.Mutable && s.Reg.Len == 0 && s.Value != nil {
			r.lets[s.Reg] = s.Value
		}
	case *simt.For:
		r.vars[s.Var] = s
	}
}

// of is the span of an expression.
func (r *intervals) of(e *ir.Expr) span {
	switch e.Op {
	case ir.OpConst:
		if e.Type.IsInt() && e.Type != ir.U64 {
			return span{e.Val.Int(), e.Val.Int(), false}
		}
		return unbounded
	case ir.OpName:
		return r.name(e.Ref)
	}
	if s, ok := r.known.Get(e); ok {
		return s
	}
	r.known.Set(e, unbounded)
	s := r.compute(e)
	if t := spanOf(e.Type); !t.wild && !s.in(t) {
		s = t
	}
	r.known.Set(e, s)
	return s
}

func (r *intervals) compute(e *ir.Expr) span {
	if !e.Type.IsInt() || e.Type == ir.U64 {
		return unbounded
	}
	if e.Op == ir.OpIf || e.Op == ir.OpSelect {
		return union(r.of(e.Args[1]), r.of(e.Args[2]))
	}
	args := make([]span, len(e.Args))
	for i, a := range e.Args {
		if !a.Type.IsInt() || a.Type == ir.U64 {
			return spanOf(e.Type)
		}
		args[i] = r.of(a)
	}
	switch len(args) {
	case 1:
		return unarySpan(e.Op, e.Type, args[0])
	case 2:
		return binarySpan(e.Op, e.Type, args[0], args[1])
	case 3:
		if e.Op == ir.OpFMA {
			return binarySpan(ir.OpAdd, e.Type, binarySpan(ir.OpMul, e.Type, args[0], args[1]), args[2])
		}
	}
	return spanOf(e.Type)
}

func (r *intervals) name(ref ir.Ref) span {
	if s, ok := r.names[ref]; ok {
		return s
	}
	s := spanOf(ref.RefType())
	r.names[ref] = s // of what depends on itself nothing more is known
	switch x := ref.(type) {
	case *simt.Builtin:
		s = r.builtin(x)
	case *simt.Value:
		s = r.of(x.Expr)
	case *ir.Scalar:
		s = scalarSpan(x)
	case *simt.Reg:
		if e := r.lets[x]; e != nil {
			s = r.of(e)
		} else if f := r.vars[x]; f != nil {
			s = loopSpan(r.of(f.Lo), r.of(f.Hi))
		}
	}
	if t := spanOf(ref.RefType()); !t.wild && !s.in(t) {
		s = t
	}
	r.names[ref] = s
	return s
}

func loopSpan(lo, hi span) span {
	out := span{lo.lo, hi.hi, lo.wild || hi.wild}
	if out.hi != math.MaxInt64 && out.hi > math.MinInt64 {
		out.hi--
	}
	out.hi = max(out.hi, out.lo) // of a loop that never runs any value will do
	return out
}

func scalarSpan(s *ir.Scalar) span {
	switch {
	case !s.Type.IsInt():
		return unbounded
	case s.Fixed != nil:
		return span{s.Fixed.Int(), s.Fixed.Int(), false}
	case s.IsSize:
		return span{max(0, s.Lo), math.MaxInt64, false}
	}
	return spanOf(s.Type)
}

func (r *intervals) builtin(b *simt.Builtin) span {
	threads := int64(r.kernel.Launch.Threads)
	const grid = math.MaxInt32
	switch b {
	case simt.Tid:
		return span{0, threads - 1, false}
	case simt.Lane:
		return span{0, min(threads, simt.WarpSize) - 1, false}
	case simt.Warp, simt.Group:
		return span{0, (threads - 1) / simt.WarpSize, false}
	case simt.Cta:
		return span{0, max(0, min(grid, r.of(r.kernel.Launch.Grid).hi)-1), false}
	case simt.Ctas:
		return span{1, grid, false}
	case simt.Rank:
		return span{0, max(0, int64(r.kernel.Launch.Cluster)-1), false}
	}
	return spanOf(b.Type)
}

func union(a, b span) span { return span{min(a.lo, b.lo), max(a.hi, b.hi), a.wild || b.wild} }

// settled gives up the bounds of wild values that may have wrapped.
func settled(s span) span {
	if s.wild && (s.lo == math.MinInt64 || s.hi == math.MaxInt64) {
		return unbounded
	}
	s.wild = false
	return s
}

func unarySpan(op *ir.Op, t ir.Type, a span) span {
	switch op {
	case ir.OpWiden:
		if t.Elem.Kind == ir.Uint && a.lo < 0 {
			return spanOf(t)
		}
		return a
	case ir.OpCast: // saturates
		if t.Bits() == 64 {
			return unarySpan(ir.OpWiden, t, a)
		}
		b := spanOf(t)
		return span{min(max(a.lo, b.lo), b.hi), max(min(a.hi, b.hi), b.lo), false}
	case ir.OpNeg:
		return binarySpan(ir.OpSub, t, span{0, 0, false}, a)
	case ir.OpFloor, ir.OpCeil, ir.OpRound, ir.OpTrunc:
		return a
	}
	return spanOf(t)
}

func binarySpan(op *ir.Op, t ir.Type, a, b span) span {
	wild := a.wild || b.wild
	switch op {
	case ir.OpAdd:
		return settled(span{lowSum(a.lo, b.lo), highSum(a.hi, b.hi), wild})
	case ir.OpSub:
		return settled(span{lowSum(a.lo, opposite(b.hi)), highSum(a.hi, opposite(b.lo)), wild})
	case ir.OpMul:
		return settled(products(a, b, wild))
	case ir.OpMin:
		return span{min(a.lo, b.lo), min(a.hi, b.hi), wild}
	case ir.OpMax:
		return span{max(a.lo, b.lo), max(a.hi, b.hi), wild}
	case ir.OpDiv, ir.OpFloorDiv:
		if a.lo >= 0 && b.lo >= 0 { // a divisor of 0 gives 0
			if b.lo > 0 && b.hi != math.MaxInt64 && a.hi != math.MaxInt64 {
				return span{a.lo / b.hi, a.hi / b.lo, false}
			}
			return span{0, divided(a.hi, b.lo), wild}
		}
	case ir.OpRem, ir.OpMod:
		if b.lo >= 0 && (a.lo >= 0 || op == ir.OpMod) {
			hi := b.hi
			if hi != math.MaxInt64 {
				hi = max(0, hi-1)
			}
			if a.lo >= 0 {
				hi = min(hi, a.hi)
			}
			return span{0, hi, wild && hi == math.MaxInt64}
		}
	case ir.OpBitAnd:
		switch {
		case a.lo >= 0 && b.lo >= 0:
			return span{0, min(a.hi, b.hi), false}
		case a.lo >= 0:
			return span{0, a.hi, false}
		case b.lo >= 0:
			return span{0, b.hi, false}
		}
	case ir.OpBitOr, ir.OpBitXor:
		if a.lo >= 0 && b.lo >= 0 {
			return span{0, int64(1)<<bits.Len64(uint64(a.hi|b.hi)) - 1, false}
		}
	case ir.OpShl:
		if b.lo == b.hi && b.lo >= 0 && b.lo < min(62, int64(t.Bits())) {
			return settled(products(a, span{1 << b.lo, 1 << b.lo, false}, wild))
		}
	case ir.OpShr:
		if b.lo == b.hi && b.lo >= 0 && b.lo < int64(t.Bits()) {
			return span{a.lo >> b.lo, a.hi >> b.lo, false}
		}
	}
	return spanOf(t)
}

func divided(a, b int64) int64 {
	if a == math.MaxInt64 {
		return a
	}
	return a / max(b, 1)
}

func opposite(n int64) int64 {
	switch n {
	case math.MinInt64:
		return math.MaxInt64
	case math.MaxInt64:
		return math.MinInt64
	}
	return -n
}

// lowSum and highSum add ends on one side.
func lowSum(a, b int64) int64 {
	s := a + b
	if a == math.MinInt64 || b == math.MinInt64 || a < 0 && b < 0 && s >= 0 {
		return math.MinInt64
	}
	if a > 0 && b > 0 && s < 0 {
		return math.MaxInt64
	}
	return s
}

func highSum(a, b int64) int64 {
	s := a + b
	if a == math.MaxInt64 || b == math.MaxInt64 || a > 0 && b > 0 && s < 0 {
		return math.MaxInt64
	}
	if a < 0 && b < 0 && s >= 0 {
		return math.MinInt64
	}
	return s
}

func products(a, b span, wild bool) span {
	out := span{math.MaxInt64, math.MinInt64, wild}
	for _, x := range [2]int64{a.lo, a.hi} {
		for _, y := range [2]int64{b.lo, b.hi} {
			p := product(x, y)
			out.lo, out.hi = min(out.lo, p), max(out.hi, p)
		}
	}
	return out
}

// product multiplies ends; what is beyond int64 has no bound.
func product(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	negative := (a < 0) != (b < 0)
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	if hi != 0 || lo >= math.MaxInt64 {
		if negative {
			return math.MinInt64
		}
		return math.MaxInt64
	}
	return a * b
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}
