package simt

import "math"

// The functions of floats are computed in float64 and rounded once.

func apply[T Float](f func(float64) float64, x T) T { return T(f(float64(x))) }

func Sqrt[T Float](x T) T  { return T(math.Sqrt(float64(x))) }
func Rsqrt[T Float](x T) T { return T(1 / math.Sqrt(float64(x))) }
func Exp[T Float](x T) T   { return apply(math.Exp, x) }
func Exp2[T Float](x T) T  { return apply(math.Exp2, x) }
func Log[T Float](x T) T   { return apply(math.Log, x) }
func Log2[T Float](x T) T  { return apply(math.Log2, x) }
func Log1p[T Float](x T) T { return apply(math.Log1p, x) }
func Expm1[T Float](x T) T { return apply(math.Expm1, x) }
func Sin[T Float](x T) T   { return apply(math.Sin, x) }
func Cos[T Float](x T) T   { return apply(math.Cos, x) }
func Tan[T Float](x T) T   { return apply(math.Tan, x) }
func Tanh[T Float](x T) T  { return apply(math.Tanh, x) }
func Sinh[T Float](x T) T  { return apply(math.Sinh, x) }
func Cosh[T Float](x T) T  { return apply(math.Cosh, x) }
func Asin[T Float](x T) T  { return apply(math.Asin, x) }
func Acos[T Float](x T) T  { return apply(math.Acos, x) }
func Atan[T Float](x T) T  { return apply(math.Atan, x) }
func Erf[T Float](x T) T   { return apply(math.Erf, x) }
func Erfc[T Float](x T) T  { return apply(math.Erfc, x) }
func Floor[T Float](x T) T { return apply(math.Floor, x) }
func Ceil[T Float](x T) T  { return apply(math.Ceil, x) }
func Round[T Float](x T) T { return apply(math.RoundToEven, x) }
func Trunc[T Float](x T) T { return apply(math.Trunc, x) }

func Atan2[T Float](y, x T) T       { return T(math.Atan2(float64(y), float64(x))) }
func PowFloat[T Float](a, b T) T    { return T(math.Pow(float64(a), float64(b))) }
func FMA64(a, b, c float64) float64 { return math.FMA(a, b, c) }
func RemFloat[T Float](a, b T) T    { return T(math.Mod(float64(a), float64(b))) }

// FMA32 is a*b + c rounded once: the product is exact in float64, and the sum is rounded to odd there.
func FMA32(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	s := float64(p) + float64(c)
	if math.IsInf(s, 0) || s != s {
		return float32(s)
	}
	t := s - p
	if lost := (p - (s - t)) + (float64(c) - t); lost != 0 && math.Float64bits(s)&1 == 0 {
		s = math.Nextafter(s, math.Copysign(math.Inf(1), lost))
	}
	return float32(s)
}

// FloorDivFloat is the quotient rounded down to a whole number.
func FloorDivFloat[T Float](a, b T) T { return T(math.Floor(float64(a) / float64(b))) }

// ModFloat has the sign of the divisor.
func ModFloat[T Float](a, b T) T {
	r := math.Mod(float64(a), float64(b))
	switch {
	case r == 0:
		return T(math.Copysign(0, float64(b)))
	case (r < 0) != (b < 0):
		return T(r + float64(b))
	}
	return T(r)
}

// AbsFloat clears the sign.
func AbsFloat[T Float](x T) T { return apply(math.Abs, x) }

// SignFloat is -1, 0, 1 or NaN.
func SignFloat[T Float](x T) T {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	case x != x:
		return x
	}
	return 0
}

// MinNum ignores NaN where there is a number.
func MinNum[T Float](a, b T) T {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	}
	return min(a, b)
}

// MaxNum ignores NaN where there is a number.
func MaxNum[T Float](a, b T) T {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	}
	return max(a, b)
}

// IsNaN reports whether x is no number.
func IsNaN[T Float](x T) bool { return x != x }

// IsInf reports whether x is infinite.
func IsInf[T Float](x T) bool { return math.IsInf(float64(x), 0) }

// Pick is a where c holds, and b elsewhere. Both are computed.
func Pick[T any](c bool, a, b T) T {
	if c {
		return a
	}
	return b
}

// Less orders truth values: false before true.
func Less(a, b bool) bool { return !a && b }

// Value is x, hidden from the constant arithmetic of Go, which is exact and does not wrap.
func Value[T any](x T) T { return x }

// Bits are those of a float32 or float64, in the order of the types.
func Bits32(x float32) uint32     { return math.Float32bits(x) }
func Bits64(x float64) uint64     { return math.Float64bits(x) }
func FromBits32(b uint32) float32 { return math.Float32frombits(b) }
func FromBits64(b uint64) float64 { return math.Float64frombits(b) }
