package ir

// Layout says which element of a tile each hardware bit selects (F2-linear): Bits[p][k] is the XOR contribution of bit k of
// place p, low bit first, to the subscripts of the axes.
type Layout struct {
	Name string // as the text calls it
	Axes []string
	Bits [6][]LayoutBit
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
