package ir

import (
	"math/bits"
	"unsafe"
)

// Memo maps expressions to what is known about them, by identity. Walks need one at every step: it costs less than a map. The zero
// value is empty.
type Memo[V any] struct {
	slots []slot[V] // a power of two; a third are free at least
	used  int
}

type slot[V any] struct {
	of  *Expr
	val V
}

// Get is the value of an expression, and whether it has one.
func (m *Memo[V]) Get(e *Expr) (v V, ok bool) {
	if m.used == 0 {
		return v, false
	}
	s := m.find(e)
	return s.val, s.of != nil
}

// Set gives an expression, which is not nil, a value.
func (m *Memo[V]) Set(e *Expr, v V) {
	if m.used*3 >= len(m.slots)*2 {
		m.grow()
	}
	s := m.find(e)
	if s.of == nil {
		m.used++
	}
	*s = slot[V]{e, v}
}

// find is the slot of an expression, or the free one where it belongs. An expression that is in a memo is in the heap, where
// nothing moves, so its address stands for it.
func (m *Memo[V]) find(e *Expr) *slot[V] {
	h := uint64(uintptr(unsafe.Pointer(e))) * 0x9E3779B97F4A7C15
	mask := len(m.slots) - 1
	for i := int(h >> bits.LeadingZeros64(uint64(mask))); ; i++ {
		if s := &m.slots[i&mask]; s.of == e || s.of == nil {
			return s
		}
	}
}

func (m *Memo[V]) grow() {
	old := m.slots
	m.slots = make([]slot[V], max(8, 2*len(old)))
	for _, s := range old {
		if s.of != nil {
			*m.find(s.of) = s
		}
	}
}
