package ir

import "fmt"

// Swizzle permutes the elements of a buffer: the Bits bits of an element's address that begin at Base are XORed with those that
// begin Shift bits higher. The zero Swizzle changes nothing.
type Swizzle struct{ Bits, Base, Shift int }

// Validate says what is wrong with a swizzle. A pattern that reached into its own bits would not be its own inverse.
func (s Swizzle) Validate() error {
	if s == (Swizzle{}) {
		return nil
	}
	if s.Bits < 1 || s.Base < 0 || s.Shift < s.Bits || s.Base > 30 || s.Shift > 30 || s.Base+s.Shift+s.Bits > 31 {
		return fmt.Errorf("a swizzle of %d bits from bit %d by bits %d higher: it needs bits of an address of 31 bits, and as many between its two parts", s.Bits, s.Base, s.Shift)
	}
	return nil
}

// Apply is where the element of address at stands, and what stands at address at: a swizzle is its own inverse.
func (s Swizzle) Apply(at uint32) uint32 {
	return at ^ at>>s.Shift&((1<<s.Bits-1)<<s.Base)
}
