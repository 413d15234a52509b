package ir

import (
	"fmt"
	"math/bits"
	"slices"
)

// Inverse finds the elements of a tile in the hardware: a right inverse of a layout, which takes register 0, lane 0, … where
// there is a choice.
type Inverse struct {
	of    *Layout
	axes  [][][6]int // of each bit of each axis
	width []int
}

// Invert returns false where some element of the tile is in no place.
func (l *Layout) Invert() (*Inverse, bool) {
	b := newBasis(l.columns(allPlaces))
	out := &Inverse{of: l, width: l.widths()}
	at := 0
	for _, w := range out.width {
		axis := make([][6]int, w)
		for k := range axis {
			from, ok := b.solve(1 << at)
			if !ok {
				return nil, false
			}
			axis[k] = l.place(from)
			at++
		}
		out.axes = append(out.axes, axis)
	}
	return out, true
}

// place splits a set of hardware bits, in the order of columns of all places.
func (l *Layout) place(from uint64) (out [6]int) {
	for p, list := range l.Bits {
		out[p] = int(from & (1<<len(list) - 1))
		from >>= len(list)
	}
	return out
}

// Place is where the element at these subscripts is, which must be inside the tile.
func (v *Inverse) Place(at []int) (out [6]int) {
	rep := 0
	for a, x := range at {
		for k, place := range v.axes[a] {
			if x>>k&1 != 0 {
				out = xorPlaces(out, place)
			}
		}
		rep = rep*v.of.rep(a) + x>>v.width[a]
	}
	out[RegBits] += rep << len(v.of.Bits[RegBits])
	return out
}

func xorPlaces(a, b [6]int) [6]int {
	for p := range a {
		a[p] ^= b[p]
	}
	return a
}

// Slice is the layout of what is left of a tile without an axis: its bits are held, so that all of them have the same value, and
// those of registers are dropped.
func (l *Layout) Slice(axis string) *Layout {
	a := l.axis(axis)
	out := &Layout{Axes: slices.Delete(slices.Clone(l.Axes), a, a+1)}
	if l.Rep != nil {
		out.Rep = slices.Delete(slices.Clone(l.Rep), a, a+1)
	}
	for p, list := range l.Bits {
		for _, b := range list {
			b = LayoutBit{To: slices.Clone(b.To), Free: b.Free}
			if b.Free == 0 {
				b.To = slices.Delete(b.To, a, a+1)
				if !slices.ContainsFunc(b.To, func(n uint32) bool { return n != 0 }) {
					if p == RegBits {
						continue
					}
					b.Free = '='
				}
			} else {
				b.To = make([]uint32, len(out.Axes))
			}
			out.Bits[p] = append(out.Bits[p], b)
		}
	}
	return out
}

// Rename is the layout with another name for an axis.
func (l *Layout) Rename(axis, to string) *Layout {
	a := l.axis(axis)
	out := *l
	out.Name = ""
	out.Axes = slices.Clone(l.Axes)
	out.Axes[a] = to
	return &out
}

func (l *Layout) axis(name string) int {
	a := slices.Index(l.Axes, name)
	if a < 0 {
		panic(fmt.Sprintf("ir: layout over %v has no axis %s", l.Axes, name))
	}
	return a
}

// Times is the layout of a tile of tiles: the inner ones by l, their arrangement by outer, over the same axes. The bits of l are
// the lower ones of every place.
func (l *Layout) Times(outer *Layout) *Layout {
	if !slices.Equal(l.Axes, outer.Axes) || l.repeats() != 1 {
		panic("ir: a product of layouts over different axes, or of one that repeats")
	}
	width := l.widths()
	out := &Layout{Axes: l.Axes, Rep: outer.Rep}
	for p := range l.Bits {
		out.Bits[p] = slices.Clone(l.Bits[p])
		for _, b := range outer.Bits[p] {
			b.To = slices.Clone(b.To)
			for a := range b.To {
				b.To[a] <<= width[a]
			}
			out.Bits[p] = append(out.Bits[p], b)
		}
	}
	return out
}

// Divide is the inverse of Times: how tiles of layout atom are arranged in l. It returns false where l does not end in them.
func (l *Layout) Divide(atom *Layout) (*Layout, bool) {
	if !slices.Equal(l.Axes, atom.Axes) || atom.repeats() != 1 {
		return nil, false
	}
	width := atom.widths()
	out := &Layout{Axes: l.Axes, Rep: l.Rep}
	for p, list := range l.Bits {
		n := len(atom.Bits[p])
		if len(list) < n || !slices.EqualFunc(list[:n], atom.Bits[p], sameBit) {
			return nil, false
		}
		for _, b := range list[n:] {
			b.To = slices.Clone(b.To)
			for a := range b.To {
				if b.To[a]&(1<<width[a]-1) != 0 {
					return nil, false
				}
				b.To[a] >>= width[a]
			}
			out.Bits[p] = append(out.Bits[p], b)
		}
	}
	return out, true
}

// Run is the number of elements, a power of two, that the lowest registers of a thread hold one behind the other along an axis;
// every such run begins at a multiple of its length.
func (l *Layout) Run(axis string) int {
	a := l.axis(axis)
	only := make([]uint64, 0, 64)
	for _, list := range l.Bits {
		for _, b := range list {
			var c uint64
			for i, step := range b.To {
				if i == a {
					c |= uint64(step)
				} else if step != 0 {
					c |= 1 << 40 // somewhere else
				}
			}
			only = append(only, c)
		}
	}
	return 1 << lowRun(only, len(l.Bits[RegBits]))
}

// lowRun is how many of the first n columns are the unit vectors in order, where no other column reaches into them.
func lowRun(cols []uint64, n int) int {
	k := 0
	for k < n && cols[k] == 1<<k {
		k++
	}
	for _, c := range cols[min(k, len(cols)):] {
		if c != 0 {
			k = min(k, bits.TrailingZeros64(c))
		}
	}
	return k
}
