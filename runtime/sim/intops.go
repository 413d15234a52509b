package sim

import (
	"math/bits"

	"github.com/gkc-lang/gkc/ir"
)

// integers are the frequent operations on integers; nil for the rest.
func integers(op *ir.Op, t ir.Type, a, b operand, dst int) step {
	if s := compareInt(op, t, a, b, dst); s != nil {
		return s
	}
	switch t {
	case ir.I32:
		return ints32(op, a, b, dst)
	case ir.I64:
		return ints64(op, a, b, dst)
	}
	return nil
}

func compareInt(op *ir.Op, t ir.Type, a, b operand, dst int) step {
	switch {
	case op == ir.OpEq:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = asBool(x[i].Bits == y[i].Bits)
			}
		}
	case op == ir.OpNe:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = asBool(x[i].Bits != y[i].Bits)
			}
		}
	case op == ir.OpLt:
		return lessInt(a, b, dst, signOf(t))
	case op == ir.OpGt:
		return lessInt(b, a, dst, signOf(t))
	case op == ir.OpLe:
		return notLessInt(b, a, dst, signOf(t))
	case op == ir.OpGe:
		return notLessInt(a, b, dst, signOf(t))
	}
	return nil
}

// signOf is what turns the order of t into that of int64 by exclusive or.
func signOf(t ir.Type) int64 {
	if t == ir.U64 {
		return -1 << 63
	}
	return 0
}

func lessInt(a, b operand, dst int, sign int64) step {
	return func(w *warp) {
		x, y, d := a.of(w), b.of(w), &w.r[dst]
		for i := range d {
			d[i] = asBool(x[i].Int()^sign < y[i].Int()^sign)
		}
	}
}

func notLessInt(a, b operand, dst int, sign int64) step {
	return func(w *warp) {
		x, y, d := a.of(w), b.of(w), &w.r[dst]
		for i := range d {
			d[i] = asBool(x[i].Int()^sign >= y[i].Int()^sign)
		}
	}
}

func ints64(op *ir.Op, a, b operand, dst int) step {
	switch op {
	case ir.OpAdd:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i].Bits = x[i].Bits + y[i].Bits
			}
		}
	case ir.OpSub:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i].Bits = x[i].Bits - y[i].Bits
			}
		}
	case ir.OpMul:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i].Bits = x[i].Bits * y[i].Bits
			}
		}
	}
	return signed(op, a, b, dst)
}

func ints32(op *ir.Op, a, b operand, dst int) step {
	switch op {
	case ir.OpAdd:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = wrap32(x[i].Bits + y[i].Bits)
			}
		}
	case ir.OpSub:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = wrap32(x[i].Bits - y[i].Bits)
			}
		}
	case ir.OpMul:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = wrap32(x[i].Bits * y[i].Bits)
			}
		}
	case ir.OpShl:
		if n, ok := b.constant(); ok && n.Bits < 32 {
			return func(w *warp) {
				x, d := a.of(w), &w.r[dst]
				for i := range d {
					d[i] = wrap32(x[i].Bits << n.Bits)
				}
			}
		}
		return nil
	}
	return signed(op, a, b, dst)
}

// signed are the operations on i32 and i64 that cannot leave the range, and the divisions that cannot.
func signed(op *ir.Op, a, b operand, dst int) step {
	n, isConst := b.constant()
	switch op {
	case ir.OpMin:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = asInt(min(x[i].Int(), y[i].Int()))
			}
		}
	case ir.OpMax:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = asInt(max(x[i].Int(), y[i].Int()))
			}
		}
	case ir.OpBitAnd:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i].Bits = x[i].Bits & y[i].Bits
			}
		}
	case ir.OpBitOr:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i].Bits = x[i].Bits | y[i].Bits
			}
		}
	case ir.OpBitXor:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i].Bits = x[i].Bits ^ y[i].Bits
			}
		}
	case ir.OpShr:
		if isConst && n.Bits < 32 {
			return func(w *warp) {
				x, d := a.of(w), &w.r[dst]
				for i := range d {
					d[i] = asInt(x[i].Int() >> n.Bits)
				}
			}
		}
	case ir.OpDiv:
		if isConst && n.Int() > 0 {
			return divideBy(a, n.Int(), dst)
		}
	case ir.OpRem:
		if isConst && n.Int() > 0 {
			return remainderBy(a, n.Int(), dst)
		}
	}
	return nil
}

// divideBy divides by a positive constant. Most dividends are subscripts, which are not negative and short: for them the
// quotient is a product with the rounded-up reciprocal, which is exact below 2^32 for divisors below 2^32.
func divideBy(a operand, n int64, dst int) step {
	recip := reciprocal(n)
	return func(w *warp) {
		x, d := a.of(w), &w.r[dst]
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			d[i] = asInt(quotient(x[i].Int(), n, recip))
		}
	}
}

func remainderBy(a operand, n int64, dst int) step {
	recip := reciprocal(n)
	return func(w *warp) {
		x, d := a.of(w), &w.r[dst]
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			v := x[i].Int()
			d[i] = asInt(v - n*quotient(v, n, recip))
		}
	}
}

// reciprocal is 2^64/n, rounded up, for divisors of 2 to 2^32-1; 0 for others.
func reciprocal(n int64) uint64 {
	if n < 2 || n >= 1<<32 {
		return 0
	}
	return ^uint64(0)/uint64(n) + 1
}

func quotient(v, n int64, recip uint64) int64 {
	if uint64(v) < 1<<32 && recip != 0 {
		hi, _ := bits.Mul64(uint64(v), recip)
		return int64(hi)
	}
	return v / n
}
