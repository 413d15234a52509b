package simt

import (
	"math"
	"math/bits"
	"unsafe"
)

// Integer arithmetic wraps, and is total: where an operation has no value it gives 0.

// Div truncates toward zero.
func Div[T Int](a, b T) T {
	if b == 0 {
		return 0
	}
	return a / b
}

// Rem has the sign of the dividend.
func Rem[T Int](a, b T) T {
	if b == 0 {
		return 0
	}
	return a % b
}

// FloorDiv rounds the quotient down.
func FloorDiv[T Int](a, b T) T {
	if b == 0 {
		return 0
	}
	q := a / b
	if r := a - q*b; r != 0 && (r < 0) != (b < 0) {
		q--
	}
	return q
}

// Mod has the sign of the divisor.
func Mod[T Int](a, b T) T {
	if b == 0 {
		return 0
	}
	r := a % b
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r
}

// Pow is a to the power of n, 0 where n is negative.
func Pow[T Int](a, n T) T {
	if n < 0 {
		return 0
	}
	out := T(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			out *= a
		}
		a *= a
	}
	return out
}

// Shl is 0 for counts below 0 or beyond the width.
func Shl[T, N Int](a T, n N) T {
	if n < 0 {
		return 0
	}
	return a << uint64(n)
}

// Shr keeps the sign of signed types, and is 0 for counts below 0 or beyond the width.
func Shr[T, N Int](a T, n N) T {
	if n < 0 || uint64(n) >= Width[T]() {
		return 0
	}
	return a >> uint64(n)
}

// Width is the number of bits of T.
func Width[T Int]() uint64 {
	return 8 * uint64(unsafe.Sizeof(T(0)))
}

// AbsInt wraps for the lowest value.
func AbsInt[T Int](a T) T {
	if a < 0 {
		return -a
	}
	return a
}

// SignInt is -1, 0 or 1.
func SignInt[T Int](a T) T {
	switch {
	case a > 0:
		return 1
	case a < 0:
		return ^T(0) // minus one
	}
	return 0
}

// Popcount counts the bits that are set.
func Popcount[T Int](a T) T {
	if Width[T]() == 32 {
		return T(bits.OnesCount32(uint32(a)))
	}
	return T(bits.OnesCount64(uint64(a)))
}

// Pow2Floor is the largest power of two that is not above a, and at least 1.
func Pow2Floor[T Int](a T) T { return T(1) << (bits.Len64(uint64(max(a, 1))) - 1) }

// Pow2Ceil is the smallest power of two that is not below a, and at least 1.
func Pow2Ceil[T Int](a T) T { return T(uint64(1) << bits.Len64(uint64(max(a, 1))-1)) }

// Bit is 1 for true.
func Bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Saturate truncates x and limits it to lo..hi; NaN is 0.
func Saturate(x float64, lo, hi int64) int64 {
	switch {
	case x != x:
		return 0
	case x <= float64(lo):
		return lo
	case x >= float64(hi):
		return hi
	}
	return int64(x)
}

// Limit limits x to lo..hi.
func Limit(x, lo, hi int64) int64 { return min(max(x, lo), hi) }

// The ranges of the integer types, as Saturate and Limit take them. That of u64 ends where int64 does.
const (
	MinI64, MaxI64 = math.MinInt64, math.MaxInt64
	MinI32, MaxI32 = math.MinInt32, math.MaxInt32
	MinI16, MaxI16 = math.MinInt16, math.MaxInt16
	MinI8, MaxI8   = math.MinInt8, math.MaxInt8
	MinU64, MaxU64 = 0, math.MaxInt64
	MinU32, MaxU32 = 0, math.MaxUint32
	MinU16, MaxU16 = 0, math.MaxUint16
	MinU8, MaxU8   = 0, math.MaxUint8
)
