package simt

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
)

// Layouts of registers agree with the matrix operations that use them: an atom fixes which element of its operand each bit of
// the register, lane and warp number selects.

// layoutPlace is the element of the tile that a layout gives to element i of a thread, counting through the registers' parts.
func layoutPlace(l *ir.Layout, thread, i int) [2]uint32 {
	var out [2]uint32
	pick := func(place, n int) {
		for k, b := range l.Bits[place] {
			if n>>k&1 != 0 {
				for axis, step := range b.To {
					out[axis] ^= step
				}
			}
		}
	}
	pick(ir.RegBits, i)
	pick(ir.LaneBits, thread%WarpSize)
	pick(ir.WarpBits, thread/WarpSize)
	return out
}

// matches checks a piece of an array against the fragment of a matrix operation: seen from their first elements both must go the
// same way. Both are linear in the bits of the numbers, so that single bits tell all.
func (v *verifier) matches(s *Slice, a *Atom, at func(thread, i int) (int, int), what string) {
	l := s.Reg.Layout
	if l == nil || s.From == nil || !v.require(len(l.Axes) == 2, "%s: the layout of %s has %d axes, and a matrix has two", what, s.Reg.Name, len(l.Axes)) {
		return
	}
	first, _, ok := span(s.From, v.loops, &v.fuel)
	if !ok {
		return // reported with the subscript
	}
	per := ElemsPerReg(s.Reg.Type)
	base, elems := int(first)*per, s.Len*per
	origin := layoutPlace(l, 0, base)
	same := func(thread, i int) bool {
		r, c := at(thread, i)
		p := layoutPlace(l, thread, base^i)
		return [2]uint32{uint32(r), uint32(c)} == [2]uint32{p[0] ^ origin[0], p[1] ^ origin[1]}
	}
	fits := elems&(elems-1) != 0 || base%elems == 0
	for bit := 1; bit < elems; bit <<= 1 {
		fits = fits && same(0, bit)
	}
	for bit := 1; bit < a.Warps*WarpSize; bit <<= 1 {
		fits = fits && same(bit, 0)
	}
	v.require(fits, "%s: %s has the layout %s, which is not that of %s", what, s.Reg.Name, l.Name, a.Name)
}

// matrixLayouts checks the operands of a matrix operation that are in registers.
func (v *verifier) matrixLayouts(s *Mma) {
	a := s.Atom
	v.matches(&s.D, a, a.DAt, "the result")
	if s.A.Slice != nil {
		v.matches(s.A.Slice, a, a.AAt, "A")
	}
	if s.B.Slice != nil {
		v.matches(s.B.Slice, a, a.BAt, "B")
	}
}

// soundLayouts reports whether all layouts a kernel uses are well formed, so that they can be looked into.
func soundLayouts(body []Stmt) bool {
	return !slices.ContainsFunc(layouts(body), func(l *ir.Layout) bool { return validLayout(l) != "" })
}
