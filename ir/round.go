package ir

import "math"

// RoundTo returns x as storage type t keeps it: nearest even; f16, bf16 and f32 overflow to infinity, the f8 types
// saturate to the largest finite value; NaN stays NaN. For f64 it is the identity. t must be a float.
func RoundTo(t *DType, x float64) float64 {
	switch t {
	case f64:
		return x
	case f32:
		return float64(float32(x))
	}
	if x != x || x == 0 {
		return x
	}
	largest := largestFinite(t)
	if !math.IsInf(x, 0) {
		x = roundMantissa(x, t.Mant, 2-1<<(t.Exp-1))
	}
	if math.Abs(x) > largest {
		if t == f8e4m3 || t == f8e5m2 {
			return math.Copysign(largest, x)
		}
		return math.Copysign(math.Inf(1), x)
	}
	return x
}

// largestFinite is the largest finite value of a narrow float. f8e4m3 has no infinity and gives up only one code to NaN.
func largestFinite(t *DType) float64 {
	if t == f8e4m3 {
		return 448
	}
	return math.Ldexp(2-math.Ldexp(1, -t.Mant), 1<<(t.Exp-1)-1)
}

// roundMantissa rounds a finite x to mant explicit bits, denormal below 2^least. Exact in float64 arithmetic.
func roundMantissa(x float64, mant, least int) float64 {
	_, e := math.Frexp(x)
	step := math.Ldexp(1, max(e-1, least)-mant)
	return math.Copysign(math.RoundToEven(x/step)*step, x)
}

// IntRange is the range of an integer dtype; for u64 the upper end is that of int64, which is what Const holds exactly.
func IntRange(t *DType) (lo, hi int64) {
	switch {
	case t.Kind == Uint && t.Bits == 64:
		return 0, math.MaxInt64
	case t.Kind == Uint:
		return 0, 1<<t.Bits - 1
	case t.Bits == 64:
		return math.MinInt64, math.MaxInt64
	}
	return -1 << (t.Bits - 1), 1<<(t.Bits-1) - 1
}

// Saturate converts a float to integer dtype t: truncates, saturates, and makes 0 of NaN.
func Saturate(t *DType, x float64) int64 {
	lo, hi := IntRange(t)
	x = math.Trunc(x)
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

// SaturateInt converts an integer to the range of integer dtype t.
func SaturateInt(t *DType, x int64) int64 {
	lo, hi := IntRange(t)
	return min(max(x, lo), hi)
}

// Wrap reduces an integer result modulo the width of t, as arithmetic in t does.
func Wrap(t *DType, x int64) int64 {
	switch t.Bits {
	case 64:
		return x
	case 32:
		if t.Kind == Uint {
			return int64(uint32(x))
		}
		return int64(int32(x))
	case 16:
		if t.Kind == Uint {
			return int64(uint16(x))
		}
		return int64(int16(x))
	}
	if t.Kind == Uint {
		return int64(uint8(x))
	}
	return int64(int8(x))
}

// fma32 is a*b + c of f32 values, rounded once. The product is exact in float64; the sum is rounded to odd there, so that the
// rounding to f32 sees whether anything was lost.
func fma32(a, b, c float64) float64 {
	p := a * b
	s := p + c
	if math.IsInf(s, 0) || s != s {
		return float64(float32(s))
	}
	t := s - p
	lost := (p - (s - t)) + (c - t) // what the sum lost, exactly
	if lost != 0 && math.Float64bits(s)&1 == 0 {
		s = math.Nextafter(s, math.Copysign(math.Inf(1), lost))
	}
	return float64(float32(s))
}
