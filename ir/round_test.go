package ir

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

var narrowFloats = []*DType{f16, bf16, f8e4m3, f8e5m2}

// reference derives the value of a pattern in another way than FloatFromBits: from the bits of a wider IEEE format, or, for
// f8e4m3, by counting steps.
func reference(t *DType, b uint64) float64 {
	switch t {
	case bf16:
		return float64(math.Float32frombits(uint32(b) << 16))
	case f8e5m2:
		return reference(f16, b<<8)
	case f16:
		if b&0x7C00 == 0x7C00 {
			if b&0x3FF != 0 {
				return math.NaN()
			}
			return math.Copysign(math.Inf(1), 1-2*float64(b>>15))
		}
		magnitude := math.Float32frombits(uint32(b&0x7FFF)<<13) * 0x1p112 // the exponent's bias moves from 15 to 127
		return math.Copysign(float64(magnitude), 1-2*float64(b>>15))
	}
	if b&0x7F == 0x7F {
		return math.NaN()
	}
	value, step := 0.0, 0x1p-9 // every eight patterns the step doubles, but for the first sixteen
	for k := uint64(0); k < b&0x7F; k++ {
		if k >= 16 && k%8 == 0 {
			step *= 2
		}
		value += step
	}
	return math.Copysign(value, 1-2*float64(b>>7))
}

func TestEveryPattern(t *testing.T) {
	for _, d := range narrowFloats {
		for b := range uint64(1) << d.Bits {
			x := FloatFromBits(d, b)
			want := reference(d, b)
			if want != want {
				require.True(t, x != x, "%s %#x", d.Name, b)
				back := FloatBits(d, x)
				require.True(t, math.IsNaN(reference(d, back)), "%s: the NaN pattern is %#x", d.Name, back)
				continue
			}
			require.Equal(t, math.Float64bits(want), math.Float64bits(x), "%s %#x: %v, expected %v", d.Name, b, x, want)
			require.Equal(t, b, FloatBits(d, x), "%s %v", d.Name, x)
			if !math.IsInf(x, 0) || d != f8e5m2 { // conversions to f8 never give the infinities that f8e5m2 has
				require.Equal(t, x, RoundTo(d, x), "a value rounds to itself")
			}
		}
	}
}

// finite lists the finite values from 0 upwards, by pattern.
func finite(d *DType) []float64 {
	var out []float64
	for b := range uint64(1) << (d.Bits - 1) {
		if x := reference(d, b); !math.IsInf(x, 0) && x == x {
			out = append(out, x)
		}
	}
	return out
}

// Between any two neighbours: what is nearer to one goes there, the middle to the even pattern.
func TestRoundToNeighbours(t *testing.T) {
	for _, d := range narrowFloats {
		values := finite(d)
		require.True(t, slices.IsSorted(values))
		for k := range len(values) - 1 {
			a, b := values[k], values[k+1]
			middle := a + (b-a)/2
			even := a
			if k%2 == 1 {
				even = b
			}
			for _, c := range []struct{ x, want float64 }{
				{middle, even},
				{math.Nextafter(middle, 0), a}, {math.Nextafter(middle, b), b},
				{a + (b-a)/4, a}, {a + 3*(b-a)/4, b},
			} {
				require.Equal(t, c.want, RoundTo(d, c.x), "%s: %v between %v and %v", d.Name, c.x, a, b)
				require.Equal(t, -c.want, RoundTo(d, -c.x), "%s: %v", d.Name, -c.x)
			}
		}
	}
}

func TestRoundToEnds(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		d       *DType
		x, want float64
	}{
		{f16, 65504, 65504}, {f16, 65519.99, 65504}, {f16, 65520, inf}, {f16, 1e300, inf}, {f16, inf, inf},
		{f16, 0x1p-24, 0x1p-24}, {f16, 0x1p-25, 0}, {f16, math.Nextafter(0x1p-25, 1), 0x1p-24}, {f16, 5e-324, 0},
		{bf16, 0x1.fep127, 0x1.fep127}, {bf16, 0x1.feffffp127, 0x1.fep127}, {bf16, 0x1.ffp127, inf}, {bf16, 0x1p-133, 0x1p-133}, {bf16, 0x1p-134, 0},
		{f8e4m3, 448, 448}, {f8e4m3, 449, 448}, {f8e4m3, 1e9, 448}, {f8e4m3, inf, 448}, {f8e4m3, 0x1p-9, 0x1p-9}, {f8e4m3, 0x1p-10, 0},
		{f8e5m2, 57344, 57344}, {f8e5m2, 61440, 57344}, {f8e5m2, 1e9, 57344}, {f8e5m2, inf, 57344}, {f8e5m2, 0x1p-16, 0x1p-16}, {f8e5m2, 0x1p-17, 0},
		{f32, 16777217, 16777216}, {f32, 1e39, inf}, {f32, 1e-46, 0}, {f64, 0.1, 0.1},
	} {
		require.Equal(t, c.want, RoundTo(c.d, c.x), "%s %v", c.d.Name, c.x)
		require.Equal(t, -c.want, RoundTo(c.d, -c.x), "%s %v", c.d.Name, -c.x)
		require.Equal(t, math.Signbit(-c.x), math.Signbit(RoundTo(c.d, -c.x)), "%s keeps the sign of %v", c.d.Name, -c.x)
	}
	for _, d := range append(slices.Clone(narrowFloats), f32, f64) {
		require.True(t, math.IsNaN(RoundTo(d, math.NaN())), d.Name)
		require.True(t, math.IsNaN(FloatFromBits(d, FloatBits(d, math.NaN()))), d.Name)
	}
}

func TestIntegers(t *testing.T) {
	for _, d := range []*DType{i8, u8, i16, u16, i32, u32} {
		lo, hi := IntRange(d)
		size := int64(1) << d.Bits
		for _, x := range []int64{lo, hi, lo - 1, hi + 1, 0, -1, 1, size, -size, size + 7, -size - 7, 5*size + 3, math.MaxInt64, math.MinInt64} {
			m := new(big.Int).Mod(big.NewInt(x), big.NewInt(size)).Int64()
			if m > hi {
				m -= size
			}
			require.Equal(t, m, Wrap(d, x), "wrap %d to %s", x, d.Name)
			require.Equal(t, min(max(x, lo), hi), SaturateInt(d, x), "saturate %d to %s", x, d.Name)
			if x > -1<<53 && x < 1<<53 {
				require.Equal(t, min(max(x, lo), hi), Saturate(d, float64(x)), "%s of %d", d.Name, x)
			}
		}
		require.Equal(t, int64(0), Saturate(d, math.NaN()))
		require.Equal(t, lo, Saturate(d, math.Inf(-1)))
		require.Equal(t, hi, Saturate(d, math.Inf(1)))
		require.Equal(t, int64(2), Saturate(d, 2.99))
		require.Equal(t, max(lo, -2), Saturate(d, -2.99))
	}
	require.Equal(t, int64(math.MaxInt64), Saturate(i64, 9.3e18))
	require.Equal(t, int64(math.MinInt64), Saturate(i64, -9.3e18))
	require.Equal(t, int64(1)<<62, Saturate(i64, 0x1p62))
}

// Conversions round once, also where a detour over another type would round twice.
func TestConvert(t *testing.T) {
	for _, c := range []struct {
		to, from Type
		in, want any
	}{
		{F32, I64, int64(0x8000_0080_0000_0001 >> 1), float64(float32(int64(0x8000_0080_0000_0001 >> 1)))},
		{F32, I64, int64(1<<60 + 1<<36 + 1), 0x1.000002p60},
		{F64, I64, int64(math.MaxInt64), 0x1p63},
		{F16, I32, int64(2049), 2048.0},
		{F16, I64, int64(1 << 40), math.Inf(1)},
		{F8E4M3, I32, int64(-1000), -448.0},
		{F16, F64, 1 + 0x1p-11 + 0x1p-30, 1 + 0x1p-10},
		{I8, F32, 200.7, int64(127)}, {U8, F32, -3.0, int64(0)}, {I32, F64, -1.99, int64(-1)},
		{I8, I64, int64(300), int64(127)}, {U32, I64, int64(-1), int64(0)}, {I32, U32, int64(math.MaxUint32), int64(math.MaxInt32)},
		{Bool_, F32, math.NaN(), true}, {Bool_, F32, math.Copysign(0, -1), false}, {Bool_, I32, int64(-7), true},
		{I32, Bool_, true, int64(1)}, {F32, Bool_, true, 1.0},
	} {
		require.Equal(t, constOf(c.want), Convert(c.to, c.from, constOf(c.in)), "%v of %s as %s", c.in, c.from, c.to)
	}
}

func constOf(v any) Const {
	switch v := v.(type) {
	case float64:
		return FloatConst(v)
	case int64:
		return IntConst(v)
	case bool:
		return BoolConst(v)
	}
	panic(fmt.Sprintf("%T", v))
}

// exact32 rounds an exact result to f32.
func exact32(x *big.Float) float64 {
	f, _ := x.Float32()
	return float64(f)
}

// Sums, products, quotients, roots and fused operations of f32 are rounded once.
func TestArithmeticOfF32IsCorrectlyRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	number := func() float64 {
		return float64(float32(math.Ldexp(float64(r.IntN(1<<24)|1<<23), r.IntN(40)-20-23) * float64(1-2*r.IntN(2))))
	}
	apply := func(op *Op, x ...float64) float64 {
		args, types := make([]Const, len(x)), make([]Type, len(x))
		for i, v := range x {
			args[i], types[i] = FloatConst(v), F32
		}
		out, ok := EvalOp(op, F32, types, args)
		require.True(t, ok)
		return out.Float()
	}
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(x) }
	for range 30_000 {
		a, b, c := number(), number(), number()
		product := exact(0).Mul(exact(a), exact(b))
		if r.IntN(2) == 0 { // a sum that hangs on its last bits
			c = -exact32(product) * float64(r.IntN(3)) / 2
			c = float64(float32(c))
		}
		require.Equal(t, exact32(exact(0).Add(exact(a), exact(b))), apply(OpAdd, a, b), "%v + %v", a, b)
		require.Equal(t, exact32(product), apply(OpMul, a, b), "%v * %v", a, b)
		require.Equal(t, exact32(exact(0).Quo(exact(a), exact(b))), apply(OpDiv, a, b), "%v / %v", a, b)
		require.Equal(t, exact32(exact(0).Sqrt(exact(math.Abs(a)))), apply(OpSqrt, math.Abs(a)), "sqrt %v", a)
		require.Equal(t, exact32(exact(0).Add(product, exact(c))), apply(OpFMA, a, b, c), "%v * %v + %v", a, b, c)
	}
	// 2^-60 decides on which side of the middle between two f32 the sum lies; a float64 does not hold it.
	a, b := 1+0x1p-12, 1+0x1p-12
	require.Equal(t, exact32(exact(0).Add(exact(0).Mul(exact(a), exact(b)), exact(0x1p-60))), apply(OpFMA, a, b, 0x1p-60))
	require.Equal(t, exact32(exact(0).Add(exact(0).Mul(exact(a), exact(b)), exact(-0x1p-60))), apply(OpFMA, a, b, -0x1p-60))
	require.Equal(t, math.Inf(1), apply(OpFMA, 1e38, 10, 0))
	require.True(t, math.IsNaN(apply(OpFMA, math.Inf(1), 0, 1)))
}

// The known answers of the generator's authors.
func TestPhilox(t *testing.T) {
	const ones = math.MaxUint32
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{ones, ones, ones, ones}, [2]uint32{ones, ones}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		require.Equal(t, c.want, philox(c.counter, c.key[0], c.key[1]))
	}
}

func TestRand(t *testing.T) {
	require.Equal(t, float64(0x6627e8)/(1<<24), Rand(0), "no index is the counter 0")
	require.Equal(t, Rand(0), Rand(0, 0, 0, 0, 0))
	seed := int64(0x299f31d0a4093822)
	require.Equal(t, float64(0xd16cfe)/(1<<24), Rand(seed, 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344))
	first := philox([4]uint32{1, 2, 3, 4}, 7, 0)
	first[0] ^= 5
	require.Equal(t, float64(philox(first, 7, 0)[0]>>8)/(1<<24), Rand(7, 1, 2, 3, 4, 5), "a fifth index is a block of its own")
	require.Equal(t, Rand(3, 1), Rand(3, 1+1<<32), "of an index the low word counts")
	require.NotEqual(t, Rand(3, 1), Rand(3+1<<32, 1), "of the seed both")
	sum, squares, n := 0.0, 0.0, 200_000
	for i := range n {
		x := Rand(42, int64(i))
		require.True(t, x >= 0 && x < 1)
		sum += x
		squares += x * x
	}
	require.InDelta(t, 0.5, sum/float64(n), 0.003)
	require.InDelta(t, 1.0/3, squares/float64(n), 0.003)
}
