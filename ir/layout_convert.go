package ir

import "slices"

// Exchange is the least that a change of layout needs.
type Exchange uint8

// The ways to change a layout, cheapest first.
const (
	Nothing   Exchange = iota // every register is already where it should be
	Registers                 // a thread has what it needs, in other registers
	Shuffles                  // a warp has what its lanes need
	Memory                    // other warps have it
)

func (x Exchange) String() string {
	return [...]string{"nothing", "registers", "shuffles", "shared memory"}[x]
}

// Conversion is the change of a tile from one layout to another.
type Conversion struct {
	Kind     Exchange
	from     [6][][6]int // of each bit of the new layout: what it adds to the place where the element was
	old, new int         // bits of registers
}

// Convert says how a tile in layout l comes into layout to. Both must be well-formed and over the same tile, whose axes they may
// list in any order, and every element must be somewhere in l; otherwise the second result is false. Pending bits count as held.
func (l *Layout) Convert(to *Layout) (*Conversion, bool) {
	if !l.sameTile(to) || !l.Onto() {
		return nil, false
	}
	width, cols := l.widths(), l.columns(allPlaces)
	regs, lanes := len(l.Bits[RegBits]), len(l.Bits[LaneBits])
	near := [...]*basis{Registers: newBasis(cols[:regs]), Shuffles: newBasis(cols[:regs+lanes]), Memory: newBasis(cols)}
	c := &Conversion{old: regs, new: len(to.Bits[RegBits])}
	if c.old != c.new {
		c.Kind = Registers
	}
	for p := range to.Bits {
		mine := l.columns(1 << p)
		for k, move := range to.columnsOver(1<<p, l.Axes, width) {
			var stay [6]int
			kind := [...]Exchange{RegBits: Registers, LaneBits: Shuffles, WarpBits: Memory, GroupBits: Memory, CtaBits: Memory, GridBits: Memory}[p]
			if k < len(mine) {
				kind, stay[p] = Nothing, 1<<k
				move ^= mine[k]
			}
			far, from := nearest(near[:], move)
			c.Kind = max(c.Kind, kind, far)
			c.from[p] = append(c.from[p], xorPlaces(stay, l.place(from)))
		}
	}
	return c, true
}

// nearest writes v with the columns of the nearest basis that spans it; the last one does.
func nearest(near []*basis, v uint64) (Exchange, uint64) {
	if v == 0 {
		return Nothing, 0
	}
	x := Registers
	from, ok := near[x].solve(v)
	for !ok {
		x++
		from, ok = near[x].solve(v)
	}
	return x, from
}

// sameTile reports whether two layouts have the same axes with the same extents, and repeats in the same order.
func (l *Layout) sameTile(m *Layout) bool {
	if len(l.Axes) != len(m.Axes) {
		return false
	}
	for a, axis := range l.Axes {
		b := slices.Index(m.Axes, axis)
		if b < 0 || l.rep(a) != m.rep(b) || l.width(a) != m.width(b) {
			return false
		}
	}
	return slices.Equal(l.repeated(), m.repeated())
}

func (l *Layout) repeated() (out []string) {
	for a, axis := range l.Axes {
		if l.rep(a) > 1 {
			out = append(out, axis)
		}
	}
	return out
}

// Source is the place in the old layout of the element that has this place in the new one.
func (c *Conversion) Source(place [6]int) (out [6]int) {
	for p, list := range c.from {
		for k, from := range list {
			if place[p]>>k&1 != 0 {
				out = xorPlaces(out, from)
			}
		}
	}
	out[RegBits] += place[RegBits] >> c.new << c.old
	return out
}
