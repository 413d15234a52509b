package ir

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// Layout says which element of a tile each hardware bit selects (F2-linear): Bits[p][k] is the XOR contribution of bit k of
// place p, low bit first, to the subscripts of the axes. The direction is from the hardware to the tile, so that a value may be
// in several places.
type Layout struct {
	Name string // as the text calls it
	Axes []string
	Bits [6][]LayoutBit
	// Rep is, for each axis, how often the pattern of the bits is repeated along it: the odd factor of an extent that is no power
	// of two. Repeats are registers above RegBits, those of the last axis innermost. nil is 1 for every axis.
	Rep []int
}

// The places of a layout, in order.
const (
	RegBits = iota
	LaneBits
	WarpBits
	GroupBits
	CtaBits
	GridBits
)

// LayoutBit is one hardware bit. Free '=' holds (the value is replicated), '~' is pending (the true value combines both halves).
type LayoutBit struct {
	To   []uint32 // contribution to each axis
	Free byte     // 0, '=' or '~'; To is all zero unless it is 0
}

// Validate says what makes a layout ill-formed. The operations on layouts expect well-formed ones.
func (l *Layout) Validate() error {
	for i, a := range l.Axes {
		if slices.Contains(l.Axes[:i], a) {
			return fmt.Errorf("axis %s of a layout twice", a)
		}
	}
	for _, place := range l.Bits {
		if len(place) > 32 {
			return errors.New("a place of a layout has more than 32 bits")
		}
		for _, b := range place {
			if err := l.validBit(b); err != nil {
				return err
			}
		}
	}
	if l.Rep != nil && len(l.Rep) != len(l.Axes) {
		return errors.New("a layout has a repeat count for every axis or none")
	}
	for _, n := range l.Rep {
		if n < 1 || n%2 == 0 {
			return errors.New("a layout repeats an odd number of times: powers of two are bits")
		}
	}
	if l.addressBits() > 40 || l.repeats() > 1<<16 {
		return errors.New("a layout of more elements than can be counted")
	}
	return nil
}

func (l *Layout) validBit(b LayoutBit) error {
	moves := slices.ContainsFunc(b.To, func(n uint32) bool { return n != 0 })
	switch {
	case b.Free != 0 && b.Free != '=' && b.Free != '~':
		return errors.New("a bit that moves nothing is held (=) or pending (~)")
	case moves == (b.Free != 0) || len(b.To) != len(l.Axes) && b.Free == 0:
		return errors.New("a bit of a layout moves an axis, or is held or pending")
	}
	return nil
}

// width is the number of bits of axis a's subscript that hardware bits select.
func (l *Layout) width(a int) int {
	var all uint32
	for _, place := range l.Bits {
		for _, b := range place {
			if b.Free == 0 {
				all |= b.To[a]
			}
		}
	}
	return bits.Len32(all)
}

func (l *Layout) widths() []int {
	out := make([]int, len(l.Axes))
	for a := range out {
		out[a] = l.width(a)
	}
	return out
}

func (l *Layout) addressBits() (n int) {
	for a := range l.Axes {
		n += l.width(a)
	}
	return n
}

func (l *Layout) rep(a int) int {
	if l.Rep == nil {
		return 1
	}
	return l.Rep[a]
}

// repeats is the number of times that the pattern of the bits is repeated in all, at least up to a bound beyond all use.
func (l *Layout) repeats() int {
	n := 1
	for a := range l.Axes {
		n = min(n*min(l.rep(a), 1<<20), 1<<20)
	}
	return n
}

// Extents are the extents of the tile, an axis each.
func (l *Layout) Extents() []int {
	out := make([]int, len(l.Axes))
	for a := range out {
		out[a] = l.rep(a) << l.width(a)
	}
	return out
}

// Size is the number of elements of the tile.
func (l *Layout) Size() int {
	n := 1
	for _, e := range l.Extents() {
		n *= e
	}
	return n
}

// Regs is the number of elements that a thread holds.
func (l *Layout) Regs() int { return l.repeats() << len(l.Bits[RegBits]) }

// Threads is the number of threads that a layout names, over lanes, warps and groups.
func (l *Layout) Threads() int {
	return 1 << (len(l.Bits[LaneBits]) + len(l.Bits[WarpBits]) + len(l.Bits[GroupBits]))
}

// At is the element that a thread holds in its register reg.
func (l *Layout) At(reg, lane, warp int) []int { return l.Of([6]int{reg, lane, warp}) }

// Of is the element at a place: the numbers of its register, lane, warp, group, block of the cluster, and cluster.
func (l *Layout) Of(place [6]int) []int {
	out := make([]int, len(l.Axes))
	for p, list := range l.Bits {
		for k, b := range list {
			if place[p]>>k&1 != 0 && b.Free == 0 {
				for a, step := range b.To {
					out[a] ^= int(step)
				}
			}
		}
	}
	if l.Rep == nil {
		return out
	}
	rest := place[RegBits] >> len(l.Bits[RegBits])
	for a := len(out) - 1; a >= 0; a-- {
		out[a] += rest % l.Rep[a] << l.width(a)
		rest /= l.Rep[a]
	}
	return out
}

// Onto reports whether every element of the tile is in some place.
func (l *Layout) Onto() bool { return rank(l.columns(allPlaces)) == l.addressBits() }

// OneToOne reports whether no element is in two places, but for bits that are held or pending.
func (l *Layout) OneToOne() bool {
	cols := slices.DeleteFunc(l.columns(allPlaces), func(c uint64) bool { return c == 0 })
	return rank(cols) == len(cols)
}

// Equal reports whether two layouts select the same elements, whatever their names.
func (l *Layout) Equal(m *Layout) bool {
	if !slices.Equal(l.Axes, m.Axes) {
		return false
	}
	for a := range l.Axes {
		if l.rep(a) != m.rep(a) {
			return false
		}
	}
	for p := range l.Bits {
		if !slices.EqualFunc(l.Bits[p], m.Bits[p], sameBit) {
			return false
		}
	}
	return true
}

func sameBit(x, y LayoutBit) bool {
	return x.Free == y.Free && (x.Free != 0 || slices.Equal(x.To, y.To))
}
