package ir

import (
	"math"
	"math/bits"
)

// The meanings that need more than a line. All are total: where an operation has no value they give 0.

func zeroDivisor(a []*Expr) *Expr {
	if !a[1].Type.IsInt() {
		return nil // floats divide to infinities
	}
	return Eq(a[1], ZeroOf(a[1].Type))
}

func badShift(a []*Expr) *Expr {
	n := a[1]
	width := NewConst(n.Type, IntConst(int64(a[0].Type.Bits())))
	return Or(Lt(n, ZeroOf(n.Type)), Ge(n, width))
}

func intDiv(t *DType, a, b int64) int64 {
	if b == 0 {
		return 0
	}
	if t == u64 {
		return int64(uint64(a) / uint64(b))
	}
	if b == -1 {
		return -a // also where the quotient does not fit
	}
	return a / b
}

func intRem(t *DType, a, b int64) int64 {
	if b == 0 || b == -1 && t != u64 {
		return 0
	}
	if t == u64 {
		return int64(uint64(a) % uint64(b))
	}
	return a % b
}

func intFloorDiv(t *DType, a, b int64) int64 {
	q := intDiv(t, a, b)
	if r := a - q*b; b != 0 && t != u64 && r != 0 && (r < 0) != (b < 0) {
		q--
	}
	return q
}

func intMod(t *DType, a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return a - intFloorDiv(t, a, b)*b
}

// floatMod has the sign of the divisor, as Python's % has.
func floatMod(a, b float64) float64 {
	r := math.Mod(a, b)
	switch {
	case r == 0:
		return math.Copysign(0, b)
	case (r < 0) != (b < 0):
		return r + b
	}
	return r
}

func intPow(t *DType, a, n int64) int64 {
	if n < 0 && t != u64 {
		return 0
	}
	out := int64(1)
	for m := uint64(n); m > 0; m >>= 1 {
		if m&1 != 0 {
			out *= a
		}
		a *= a
	}
	return out
}

func intAbs(t *DType, a int64) int64 {
	if a < 0 && t.Kind == Int {
		return -a
	}
	return a
}

// floatMin and floatMax propagate NaN, also past infinities, and order -0 below 0.
func floatMin(a, b float64) float64 { return min(a, b) }
func floatMax(a, b float64) float64 { return max(a, b) }

func floatSign(x float64) float64 {
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

func intSign(t *DType, a int64) int64 {
	switch {
	case a == 0:
		return 0
	case a < 0 && t.Kind == Int:
		return -1
	}
	return 1
}

// intLess orders integers; only u64 differs from the order of int64.
func intLess(t *DType, a, b int64) bool {
	if t == u64 {
		return uint64(a) < uint64(b)
	}
	return a < b
}

func pick(c bool, a, b int64) int64 {
	if c {
		return a
	}
	return b
}

func ignoreNaN(f func(a, b float64) float64, a, b float64) float64 {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	}
	return f(a, b)
}

func lowBits(t *DType, a int64) uint64 {
	if t.Bits == 64 {
		return uint64(a)
	}
	return uint64(a) & (1<<t.Bits - 1)
}

func shiftLeft(t *DType, a, n int64) int64 {
	if n < 0 || n >= int64(t.Bits) {
		return 0
	}
	return a << n
}

func shiftRight(t *DType, a, n int64) int64 {
	if n < 0 || n >= int64(t.Bits) {
		return 0
	}
	if t.Kind == Uint {
		return int64(lowBits(t, a) >> n)
	}
	return a >> n
}

func choose(_ Type, _ []Type, args []Const) Const {
	if args[0].Bool() {
		return args[1]
	}
	return args[2]
}

func cast(to Type, from []Type, args []Const) Const { return Convert(to, from[0], args[0]) }

func widen(to Type, from []Type, args []Const) Const {
	x := args[0]
	switch {
	case to.IsFloat() && from[0].IsFloat():
		return x
	case to.IsFloat():
		return FloatConst(intToFloat(from[0].Elem, x.Int()))
	case to.IsInt():
		return IntConst(Wrap(to.Elem, x.Int()))
	}
	return x
}

// Convert is what a cast does: rounds to floats, truncates and saturates to integers, tests for not zero to bool.
func Convert(to, from Type, x Const) Const {
	switch {
	case to.IsFloat() && from.IsFloat():
		return FloatConst(RoundTo(to.Elem, x.Float()))
	case to.IsFloat():
		return FloatConst(roundInt(to.Elem, from.Elem, x.Int()))
	case to.IsInt() && from.IsFloat():
		return IntConst(Saturate(to.Elem, x.Float()))
	case to.IsInt() && to == from:
		return x
	case to.IsInt():
		return IntConst(SaturateInt(to.Elem, x.Int()))
	case to.IsBool() && from.IsFloat():
		return BoolConst(x.Float() != 0)
	}
	return BoolConst(x.Int() != 0)
}

func intToFloat(t *DType, x int64) float64 {
	if t == u64 {
		return float64(uint64(x))
	}
	return float64(x)
}

// roundInt rounds an integer to a float once: through float64 a large i64 would be rounded twice.
func roundInt(to, from *DType, x int64) float64 {
	if to == f32 && from.Bits == 64 {
		if from == u64 {
			return float64(float32(uint64(x)))
		}
		return float64(float32(x))
	}
	return RoundTo(to, intToFloat(from, x))
}

func bitcast(to Type, from []Type, args []Const) Const {
	return FromBits(to, ToBits(from[0], args[0]))
}

// ToBits is the storage pattern of a value, which must be one that the type can hold. NaNs have one pattern each.
func ToBits(t Type, c Const) uint64 {
	switch {
	case t.IsPacked() || t.IsBool():
		return c.Bits
	case t.IsInt():
		return lowBits(t.Elem, c.Int())
	}
	return FloatBits(t.Elem, c.Float())
}

// FromBits is the value of a storage pattern.
func FromBits(t Type, b uint64) Const {
	switch {
	case t.IsPacked():
		return Const{b & 0xFFFFFFFF}
	case t.IsBool():
		return BoolConst(b != 0)
	case t.IsInt():
		return IntConst(Wrap(t.Elem, int64(b)))
	}
	return FloatConst(FloatFromBits(t.Elem, b))
}

// FloatBits is the storage pattern of a value that dtype t can hold.
func FloatBits(t *DType, x float64) uint64 {
	switch t {
	case f64:
		return math.Float64bits(x)
	case f32:
		return uint64(math.Float32bits(float32(x)))
	}
	sign := math.Float64bits(x) >> 63 << (t.Bits - 1)
	bias := 1<<(t.Exp-1) - 1
	top := uint64(1)<<(t.Bits-1) - 1
	switch {
	case x != x && t == f8e4m3:
		return top
	case x != x && t == f8e5m2:
		return top
	case x != x: // the quiet NaN
		return (1<<t.Exp-1)<<t.Mant | 1<<(t.Mant-1)
	case math.IsInf(x, 0):
		return sign | (1<<t.Exp-1)<<t.Mant
	case x == 0:
		return sign
	}
	a := math.Abs(x)
	_, e := math.Frexp(a)
	e = max(e-1, 1-bias)
	m := uint64(math.Ldexp(a, t.Mant-e)) // with the leading one, or denormal
	return sign | uint64(e-1+bias)<<t.Mant + m
}

// FloatFromBits is the value of a storage pattern of dtype t.
func FloatFromBits(t *DType, b uint64) float64 {
	switch t {
	case f64:
		return math.Float64frombits(b)
	case f32:
		return float64(math.Float32frombits(uint32(b)))
	}
	bias := 1<<(t.Exp-1) - 1
	e := int(b >> t.Mant & (1<<t.Exp - 1))
	m := b & (1<<t.Mant - 1)
	var x float64
	switch {
	case t == f8e4m3 && b&0x7F == 0x7F:
		return math.NaN()
	case t != f8e4m3 && e == 1<<t.Exp-1 && m != 0:
		return math.NaN()
	case t != f8e4m3 && e == 1<<t.Exp-1:
		x = math.Inf(1)
	case e == 0:
		x = math.Ldexp(float64(m), 1-bias-t.Mant)
	default:
		x = math.Ldexp(float64(m|1<<t.Mant), e-bias-t.Mant)
	}
	if b>>(t.Bits-1)&1 != 0 {
		x = -x
	}
	return x
}

func randOp(_ Type, _ []Type, args []Const) Const {
	idx := make([]int64, len(args)-1)
	for i, a := range args[1:] {
		idx[i] = a.Int()
	}
	return FloatConst(Rand(args[0].Int(), idx...))
}

// Rand is a number in [0, 1) by Philox-4x32-10 (Salmon et al., SC 2011): the key is the seed; the counter the low words of
// up to four indices; each further four are xor-ed into the block and permuted again; the value is (word 0 >> 8) / 2^24.
func Rand(seed int64, index ...int64) float64 {
	k0, k1 := uint32(seed), uint32(uint64(seed)>>32)
	var c [4]uint32
	for i := 0; i == 0 || i < len(index); i += 4 {
		for j := i; j < min(i+4, len(index)); j++ {
			c[j-i] ^= uint32(index[j])
		}
		c = philox(c, k0, k1)
	}
	return float64(c[0]>>8) / (1 << 24)
}

func philox(c [4]uint32, k0, k1 uint32) [4]uint32 {
	for range 10 {
		h0, l0 := bits.Mul32(c[0], 0xD2511F53)
		h1, l1 := bits.Mul32(c[2], 0xCD9E8D57)
		c = [4]uint32{h1 ^ c[1] ^ k0, l1, h0 ^ c[3] ^ k1, l0}
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return c
}
