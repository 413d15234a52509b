package sim

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// vec is a value of every lane of a warp, held as ir.Const holds values: floats of every width as float64, which is exact, and
// integers as int64.
type vec = simt.Lanes

func num(c ir.Const) float64    { return math.Float64frombits(c.Bits) }
func asF64(x float64) ir.Const  { return ir.Const{Bits: math.Float64bits(x)} }
func asF32(x float64) ir.Const  { return ir.Const{Bits: math.Float64bits(float64(float32(x)))} }
func asInt(x int64) ir.Const    { return ir.Const{Bits: uint64(x)} }
func lowest(mask uint32) int    { return bits.TrailingZeros32(mask) & 31 }
func splat(c ir.Const) (v *vec) { v = new(vec); fill(v, c); return v }
func fill(v *vec, c ir.Const) {
	for i := range v {
		v[i] = c
	}
}
func lanesOf(threads, w int) uint32 { return uint32(uint64(1)<<min(32, max(0, threads-32*w)) - 1) }
func wrap32(x uint64) ir.Const      { return ir.Const{Bits: uint64(int64(int32(uint32(x))))} }
func asBool(b bool) (c ir.Const) {
	if b {
		c.Bits = 1
	}
	return c
}

// format is how a type lies in memory.
type format uint8

const (
	fmtWord8 format = iota // unsigned, bool: the bits as they are
	fmtWord16
	fmtWord32
	fmtWord64
	fmtInt8
	fmtInt16
	fmtInt32
	fmtF64
	fmtF32
	fmtF16
	fmtBF16
	fmtE4M3
	fmtE5M2
)

func formatOf(t ir.Type) format {
	switch t {
	case ir.F64:
		return fmtF64
	case ir.F32:
		return fmtF32
	case ir.F16:
		return fmtF16
	case ir.BF16:
		return fmtBF16
	case ir.F8E4M3:
		return fmtE4M3
	case ir.F8E5M2:
		return fmtE5M2
	case ir.I8:
		return fmtInt8
	case ir.I16:
		return fmtInt16
	case ir.I32:
		return fmtInt32
	}
	switch t.Bytes() {
	case 1:
		return fmtWord8
	case 2:
		return fmtWord16
	case 4:
		return fmtWord32
	}
	return fmtWord64 // i64 too
}

// read is the value at the front of b.
func (f format) read(b []byte) ir.Const {
	switch f {
	case fmtF32:
		return asF64(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case fmtInt32:
		return asInt(int64(int32(binary.LittleEndian.Uint32(b))))
	case fmtF64, fmtWord64:
		return ir.Const{Bits: binary.LittleEndian.Uint64(b)}
	case fmtWord32:
		return ir.Const{Bits: uint64(binary.LittleEndian.Uint32(b))}
	case fmtF16:
		return halves()[binary.LittleEndian.Uint16(b)]
	case fmtBF16:
		return asF64(float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16)))
	case fmtWord16:
		return ir.Const{Bits: uint64(binary.LittleEndian.Uint16(b))}
	case fmtInt16:
		return asInt(int64(int16(binary.LittleEndian.Uint16(b))))
	case fmtInt8:
		return asInt(int64(int8(b[0])))
	case fmtE4M3:
		return bytes().e4m3[b[0]]
	case fmtE5M2:
		return bytes().e5m2[b[0]]
	}
	return ir.Const{Bits: uint64(b[0])}
}

// write puts a value that the type can hold at the front of b. NaNs have one pattern each.
func (f format) write(b []byte, c ir.Const) {
	switch f {
	case fmtF32:
		binary.LittleEndian.PutUint32(b, bitsF32(num(c)))
	case fmtInt32, fmtWord32:
		binary.LittleEndian.PutUint32(b, uint32(c.Bits))
	case fmtF64:
		x := num(c)
		if x != x {
			c = ir.FloatConst(x)
		}
		binary.LittleEndian.PutUint64(b, c.Bits)
	case fmtWord64:
		binary.LittleEndian.PutUint64(b, c.Bits)
	case fmtF16:
		binary.LittleEndian.PutUint16(b, bitsF16(num(c)))
	case fmtBF16:
		binary.LittleEndian.PutUint16(b, uint16(bitsF32(num(c))>>16))
	case fmtWord16, fmtInt16:
		binary.LittleEndian.PutUint16(b, uint16(c.Bits))
	case fmtE4M3:
		b[0] = byte(ir.ToBits(ir.F8E4M3, c))
	case fmtE5M2:
		b[0] = byte(ir.ToBits(ir.F8E5M2, c))
	default:
		b[0] = byte(c.Bits)
	}
}

func bitsF32(x float64) uint32 {
	if x != x {
		return 0x7FC00000
	}
	return math.Float32bits(float32(x))
}

// bitsF16 is the pattern of a value that f16 can hold.
func bitsF16(x float64) uint16 {
	b := math.Float64bits(x)
	sign := uint16(b>>48) & 0x8000
	a := math.Abs(x)
	switch {
	case x != x:
		return 0x7E00
	case a >= 65536:
		return sign | 0x7C00
	case a < 1.0/(1<<14): // denormal, or 0
		return sign | uint16(a*(1<<24))
	}
	return sign | uint16((b>>42)&0x1FFFF-(1023-15)<<10&0x1FFFF)
}

// halves holds the value of every f16 pattern.
var halves = sync.OnceValue(func() *[1 << 16]ir.Const {
	out := new([1 << 16]ir.Const)
	for i := range out {
		out[i] = ir.FromBits(ir.F16, uint64(i))
	}
	return out
})

type byteTables struct{ e4m3, e5m2 [256]ir.Const }

// bytes holds the value of every f8 pattern.
var bytes = sync.OnceValue(func() *byteTables {
	out := new(byteTables)
	for i := range 256 {
		out.e4m3[i] = ir.FromBits(ir.F8E4M3, uint64(i))
		out.e5m2[i] = ir.FromBits(ir.F8E5M2, uint64(i))
	}
	return out
})

// narrow describes a float type shorter than f32 to round.
type narrow struct {
	drop     uint    // bits of the float64 mantissa that go
	least    float64 // smallest normal number
	denormal float64 // 1 / the smallest denormal one
	most     float64 // largest finite number
	over     float64 // what exceeds it becomes
}

func narrowOf(t ir.Type) narrow {
	n := narrow{drop: uint(52 - t.Elem.Mant), over: math.Inf(1)}
	bias := 1<<(t.Elem.Exp-1) - 1
	n.least = math.Ldexp(1, 1-bias)
	n.denormal = math.Ldexp(1, bias-1+t.Elem.Mant)
	n.most = ir.RoundTo(t.Elem, math.MaxFloat64)
	if n.most > math.MaxFloat32 { // overflows to infinity
		n.most = math.Ldexp(2-math.Ldexp(1, -t.Elem.Mant), bias)
	} else {
		n.over = n.most
	}
	return n
}

// round is x as the type keeps it, nearest even.
func (n *narrow) round(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x:
		return x
	case a < n.least:
		return math.Copysign(math.RoundToEven(a*n.denormal)/n.denormal, x)
	case a <= math.MaxFloat64:
		b := math.Float64bits(a)
		b += 1<<(n.drop-1) - 1 + b>>n.drop&1
		a = math.Float64frombits(b &^ (1<<n.drop - 1))
	}
	if a > n.most {
		a = n.over
	}
	return math.Copysign(a, x)
}
