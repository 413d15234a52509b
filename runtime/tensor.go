// Package runtime is what Go programs use that call kernels: tensors, devices, and what the launchers that gkc writes are made of.
package runtime

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/gkc-lang/gkc/runtime/simt"
)

// The narrow floats: storage types, with a method F32.
type (
	// F16 is an IEEE half.
	F16 = simt.F16
	// BF16 is the upper half of a float32.
	BF16 = simt.BF16
	// F8E4M3 has 4 bits of exponent, 3 of mantissa, and no infinity.
	F8E4M3 = simt.F8E4M3
	// F8E5M2 has 5 bits of exponent and 2 of mantissa.
	F8E5M2 = simt.F8E5M2
)

// ToF16 rounds to nearest even.
func ToF16(x float64) F16 { return simt.ToF16(x) }

// ToBF16 rounds to nearest even.
func ToBF16(x float64) BF16 { return simt.ToBF16(x) }

// ToF8E4M3 rounds to nearest even; what is too large becomes the largest number.
func ToF8E4M3(x float64) F8E4M3 { return simt.ToF8E4M3(x) }

// ToF8E5M2 rounds to nearest even; what is too large becomes the largest number.
func ToF8E5M2(x float64) F8E5M2 { return simt.ToF8E5M2(x) }

// Element is what a tensor can hold.
type Element interface {
	F16 | BF16 | F8E4M3 | F8E5M2 | float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool
}

// maxBytes bounds a tensor.
const maxBytes = 1 << 40

// Tensor is a row-major array without gaps. Without dimensions it has one element.
type Tensor[T Element] struct {
	shape []int
	data  []T
}

// From makes a tensor of elements, which it shares with the caller.
func From[T Element](data []T, shape ...int) (*Tensor[T], error) {
	n, err := count[T](shape)
	if err != nil {
		return nil, err
	}
	if n != len(data) {
		return nil, fmt.Errorf("a tensor of shape %v has %d elements, but %d are given", shape, n, len(data))
	}
	return &Tensor[T]{slices.Clone(shape), data}, nil
}

// Zeros makes a tensor of zeros.
func Zeros[T Element](shape ...int) (*Tensor[T], error) {
	n, err := count[T](shape)
	if err != nil {
		return nil, err
	}
	return &Tensor[T]{slices.Clone(shape), make([]T, n)}, nil
}

// Shape is the tensor's extents.
func (t *Tensor[T]) Shape() []int { return slices.Clone(t.shape) }

// Data is the tensor's elements, not a copy.
func (t *Tensor[T]) Data() []T { return t.data }

// count is the number of elements of a shape.
func count[T Element](shape []int) (int, error) {
	var t T
	bytes := int(unsafe.Sizeof(t))
	n := 1
	for d, e := range shape {
		switch {
		case e < 0:
			return 0, fmt.Errorf("dimension %d of shape %v is negative", d+1, shape)
		case e > 0 && n > min(maxBytes, math.MaxInt)/bytes/e:
			return 0, fmt.Errorf("a tensor of shape %v is too large", shape)
		}
		n *= e
	}
	return n, nil
}
