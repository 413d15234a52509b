package simt

import "math"

// The narrow floats are storage types: values are converted to float32 or float64 before they are computed with.
type (
	// F16 is an IEEE half.
	F16 uint16
	// BF16 is the upper half of a float32.
	BF16 uint16
	// F8E4M3 has 4 bits of exponent, 3 of mantissa, and no infinity.
	F8E4M3 uint8
	// F8E5M2 has 5 bits of exponent and 2 of mantissa.
	F8E5M2 uint8
)

// F32 is the value.
func (x F16) F32() float32 {
	bits := uint32(x&0x7FFF) << 13
	f := math.Float32frombits(bits) * (1 << 112) // moves the exponent from bias 15 to bias 127, denormals too
	bits = math.Float32bits(f)
	if x&0x7C00 == 0x7C00 {
		bits |= 0x7F800000
	}
	return math.Float32frombits(bits | uint32(x&0x8000)<<16)
}

// F32 is the value.
func (x BF16) F32() float32 { return math.Float32frombits(uint32(x) << 16) }

// F32 is the value.
func (x F8E5M2) F32() float32 { return F16(uint16(x) << 8).F32() }

// F32 is the value.
func (x F8E4M3) F32() float32 {
	if x&0x7F == 0x7F {
		return float32(math.NaN())
	}
	return F16(uint16(x&0x80)<<8|uint16(x&0x7F)<<7).F32() * 256
}

// toOdd is x as a float32 whose last bit tells whether bits were lost, so that rounding it to a narrower type is rounding x once.
func toOdd(x float64) float32 {
	f := float32(x)
	if float64(f) == x || x != x {
		return f
	}
	bits := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(x) {
		bits-- // toward zero; from infinity this gives the largest finite number
	}
	return math.Float32frombits(bits | 1)
}

// format is a narrow float: mantissa bits, exponent bias, the largest code that rounding may give, and the code of NaN.
type format struct {
	mant, bias uint32
	largest    uint32
	nan        uint32
}

var (
	formatF16  = format{10, 15, 0x7C00, 0x7E00}
	formatBF16 = format{7, 127, 0x7F80, 0x7FC0}
	formatE4M3 = format{3, 7, 0x7E, 0x7F}
	formatE5M2 = format{2, 15, 0x7B, 0x7F}
)

// code rounds a number without its sign to nearest even. What is too large becomes the largest code: infinity, or in the 8-bit types the
// largest number.
func (f *format) code(x float32) uint32 {
	abs := math.Float32bits(x) &^ (1 << 31)
	shift := 23 - f.mant
	if abs>>23 <= 127-f.bias { // below the smallest normal number: an addition rounds at the weight of the last bit
		magic := (127 - f.bias + shift + 1) << 23
		return math.Float32bits(math.Float32frombits(abs)+math.Float32frombits(magic)) - magic
	}
	odd := abs >> shift & 1
	return min((abs-(127-f.bias)<<23+(1<<(shift-1)-1)+odd)>>shift, f.largest)
}

// round is the whole code, of bits bits. NaN has one code.
func (f *format) round(x float64, bits uint) uint32 {
	v := toOdd(x)
	if v != v {
		return f.nan
	}
	return f.code(v) | math.Float32bits(v)>>31<<(bits-1)
}

// ToF16 rounds to nearest even; what is too large becomes infinite.
func ToF16[T Float](x T) F16 { return F16(formatF16.round(float64(x), 16)) }

// ToBF16 rounds to nearest even; what is too large becomes infinite.
func ToBF16[T Float](x T) BF16 { return BF16(formatBF16.round(float64(x), 16)) }

// ToF8E4M3 rounds to nearest even; what is too large, and infinity, becomes the largest number.
func ToF8E4M3[T Float](x T) F8E4M3 { return F8E4M3(formatE4M3.round(float64(x), 8)) }

// ToF8E5M2 rounds to nearest even; what is too large, and infinity, becomes the largest number.
func ToF8E5M2[T Float](x T) F8E5M2 { return F8E5M2(formatE5M2.round(float64(x), 8)) }

// Special values, which Go has no literals for.
var (
	Inf32, Inf64 = float32(math.Inf(1)), math.Inf(1)
	NaN32, NaN64 = float32(math.NaN()), math.NaN()
	NegZero32    = float32(math.Copysign(0, -1))
	NegZero64    = math.Copysign(0, -1)
)
