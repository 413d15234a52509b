// Package data holds the values that travel between a caller and a kernel: arrays with a dtype and a shape, and the
// launch's scalars.
package data

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gkc-lang/gkc/ir"
)

// Array is a row-major array without gaps. Data holds the storage patterns, little-endian; bool is one byte, 0 or 1.
type Array struct {
	Type  ir.Type
	Shape []int
	Data  []byte
}

// New makes an array of zeros.
func New(t ir.Type, shape ...int) *Array {
	return &Array{Type: t, Shape: shape, Data: make([]byte, Len(shape)*t.Bytes())}
}

// Len is the number of elements of a shape.
func Len(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// Len is the number of elements.
func (a *Array) Len() int { return len(a.Data) / a.Type.Bytes() }

// Bits is the storage pattern of element i.
func (a *Array) Bits(i int) uint64 {
	switch a.Type.Bytes() {
	case 1:
		return uint64(a.Data[i])
	case 2:
		return uint64(binary.LittleEndian.Uint16(a.Data[2*i:]))
	case 4:
		return uint64(binary.LittleEndian.Uint32(a.Data[4*i:]))
	}
	return binary.LittleEndian.Uint64(a.Data[8*i:])
}

// SetBits stores a pattern in element i.
func (a *Array) SetBits(i int, b uint64) {
	switch a.Type.Bytes() {
	case 1:
		a.Data[i] = byte(b)
	case 2:
		binary.LittleEndian.PutUint16(a.Data[2*i:], uint16(b))
	case 4:
		binary.LittleEndian.PutUint32(a.Data[4*i:], uint32(b))
	default:
		binary.LittleEndian.PutUint64(a.Data[8*i:], b)
	}
}

// At is the value of element i.
func (a *Array) At(i int) ir.Const { return ir.FromBits(a.Type, a.Bits(i)) }

// Set stores a value, which must be one that the type can hold, in element i.
func (a *Array) Set(i int, c ir.Const) { a.SetBits(i, ir.ToBits(a.Type, c)) }

// Float is the value of element i as a float64, whatever the type.
func (a *Array) Float(i int) float64 {
	if a.Type == ir.F32 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(a.Data[4*i:])))
	}
	c := a.At(i)
	if a.Type.IsFloat() {
		return c.Float()
	}
	return float64(c.Int())
}

func (a *Array) String() string { return fmt.Sprintf("%s%v", a.Type, a.Shape) }

// Clone copies an array.
func (a *Array) Clone() *Array {
	return &Array{a.Type, append([]int(nil), a.Shape...), append([]byte(nil), a.Data...)}
}

// Call is what a launch is given: a value for every scalar (sizes included), and an array for every tensor parameter, by the
// caller's names. Bind makes one that fits a kernel.
type Call struct {
	Scalars map[string]ir.Const
	Inputs  map[string]*Array
}

// Subscripts turns a linear element index into one subscript per axis.
func Subscripts(shape []int, i int) []int {
	out := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		if shape[d] > 0 {
			out[d], i = i%shape[d], i/shape[d]
		}
	}
	return out
}
