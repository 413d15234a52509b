package runtime

import (
	"unsafe"

	"github.com/gkc-lang/gkc/runtime/simt"
)

// In is the memory of an argument, which must have rank dimensions.
func In[T Element](c *Call, name string, t *Tensor[T], rank int) []T {
	if t == nil {
		c.fail("argument %s is nil", name)
		return nil
	}
	want, err := count[T](t.shape)
	switch {
	case err != nil || want != len(t.data):
		c.fail("argument %s has shape %v but %d elements: make tensors with From or Zeros", name, t.shape, len(t.data))
	case len(t.shape) != rank:
		c.fail("argument %s has %d dimensions %v, but the kernel's has %d", name, len(t.shape), t.shape, rank)
	}
	c.Arrays = append(c.Arrays, Array{Name: name, Shape: t.shape, Bytes: simt.Recast[byte](t.data)})
	return t.data
}

// Out makes a result. It never returns nil, so that a launcher can go on to the error.
func Out[T Element](c *Call, name string, extents ...int64) *Tensor[T] {
	t := &Tensor[T]{shape: make([]int, len(extents))}
	if c.err != nil {
		return t
	}
	for d, e := range extents {
		t.shape[d] = int(e)
	}
	n, err := count[T](t.shape)
	if err != nil {
		c.fail("result %s: %w", name, err)
		return t
	}
	t.data = make([]T, n)
	c.Arrays = append(c.Arrays, Array{Name: name, Shape: t.shape, Bytes: simt.Recast[byte](t.data), Result: true})
	return t
}

// Alone demands that an argument that the kernel changes shares no memory with the others.
func Alone(c *Call, name string) {
	mine := c.array(name)
	for i := range c.Arrays {
		other := &c.Arrays[i]
		if other.Name != name && !other.Result && overlap(mine.Bytes, other.Bytes) {
			c.fail("arguments %s and %s overlap, and the kernel changes %s", name, other.Name, name)
		}
	}
}

func overlap(x, y []byte) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	a, b := uintptr(unsafe.Pointer(unsafe.SliceData(x))), uintptr(unsafe.Pointer(unsafe.SliceData(y)))
	return a < b+uintptr(len(y)) && b < a+uintptr(len(x))
}
