package ir

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// Placement says where the elements of a tile stand in memory, as a linear map over F2: To[a][k] is the XOR contribution of bit k
// of axis a's subscript to the element's address.
type Placement struct {
	Axes []string
	To   [][]uint32
}

// RowMajor places a tile densely with the last axis innermost. All extents but the first must be powers of two: otherwise rows
// do not begin at addresses that bits select, and the second result is an error.
func RowMajor(axes []string, extents []int) (*Placement, error) {
	m := &Placement{Axes: axes, To: make([][]uint32, len(axes))}
	at := 0
	for a := len(axes) - 1; a >= 0; a-- {
		n := extents[a]
		if n < 1 || n&(n-1) != 0 && a > 0 {
			return nil, fmt.Errorf("axis %s of %d elements in memory: only the outermost may be no power of two", axes[a], n)
		}
		for range bits.Len(uint(n - 1)) {
			m.To[a] = append(m.To[a], 1<<(at&31))
			at++
		}
	}
	if at > 31 {
		return nil, fmt.Errorf("a tile of 2^%d elements in memory", at)
	}
	return m, nil
}

// Swizzled is the placement behind a swizzle of the addresses.
func (m *Placement) Swizzled(s Swizzle) *Placement {
	out := &Placement{Axes: m.Axes}
	for _, list := range m.To {
		moved := make([]uint32, len(list))
		for k, at := range list {
			moved[k] = s.Apply(at)
		}
		out.To = append(out.To, moved)
	}
	return out
}

// At is the address of an element.
func (m *Placement) At(at []int) (out uint32) {
	for a, x := range at {
		for k, to := range m.To[a] {
			if x>>k&1 != 0 {
				out ^= to
			}
		}
	}
	return out
}

// bits is the number of bits of an address.
func (m *Placement) bits() int {
	var all uint32
	for _, list := range m.To {
		for _, to := range list {
			all |= to
		}
	}
	return bits.Len32(all)
}

// Compose is the address that each hardware bit selects. The axes of the placement that the layout lacks stand at 0; those of the
// layout must all be in the placement. Repeats are left out: they add to addresses that the bits do not reach.
func (l *Layout) Compose(m *Placement) [6][]uint32 {
	order := make([]int, len(l.Axes))
	for a, axis := range l.Axes {
		if order[a] = slices.Index(m.Axes, axis); order[a] < 0 {
			panic("ir: axis " + axis + " of a layout is not in memory")
		}
	}
	var out [6][]uint32
	for p, list := range l.Bits {
		for _, b := range list {
			var at uint32
			for a, step := range b.To {
				for k, to := range m.To[order[a]] {
					if step>>k&1 != 0 {
						at ^= to
					}
				}
			}
			out[p] = append(out[p], at)
		}
	}
	return out
}

// Vector is the number of elements, a power of two, that a thread's lowest registers hold one behind the other in memory, each
// such group beginning at a multiple of its length.
func (l *Layout) Vector(m *Placement) int {
	var cols []uint64
	for _, list := range l.Compose(m) {
		for _, at := range list {
			cols = append(cols, uint64(at))
		}
	}
	k := lowRun(cols, len(l.Bits[RegBits]))
	for a, axis := range l.Axes {
		if l.rep(a) > 1 { // a repeat begins where the bits of its axis end
			for _, to := range m.To[slices.Index(m.Axes, axis)][min(l.width(a), len(m.To[slices.Index(m.Axes, axis)])):] {
				k = min(k, bits.TrailingZeros32(to))
			}
		}
	}
	return 1 << k
}

// Banks of shared memory: 32 of 4 bytes, each of which gives one word in a pass to all lanes that want it. A warp's access takes
// as many passes at least as it has times 128 bytes: 16-byte accesses go by quarters of a warp, 8-byte ones by halves.
const (
	wordBits = 2
	bankBits = 5
	warpBits = 5
)

// Access is how a warp reads or writes shared memory at once: each lane Width bytes, the elements of its lowest registers.
// A row of a matrix that ldmatrix reads is a lane's access of 16 bytes.
type Access struct {
	Layout *Layout
	Width  int // bytes: at least an element's, a power of two up to 16
}

// Conflicts is the number of passes, beyond those it takes at best, that one access of a warp to a tile with elements of elemBytes
// needs. It is the same for all registers and warps, as the tile begins at a multiple of 128 bytes. The count is
// found from ranks: lanes that differ in 2^w words and 2^b banks take 2^(w-b) passes.
func Conflicts(x Access, m *Placement, elemBytes int) int {
	at := x.Layout.Compose(m)
	elem, width := bits.TrailingZeros(uint(elemBytes)), bits.TrailingZeros(uint(x.Width))
	vector := min(width-elem, len(at[RegBits]))
	once := min(warpBits, warpBits+wordBits-max(width, wordBits)) // bits of lanes served in a pass
	lanes := min(once, len(at[LaneBits]))
	var words, banks []uint64
	add := func(list []uint32) {
		for _, a := range list {
			word := uint64(a) << elem >> wordBits
			words = append(words, word)
			banks = append(banks, word&(1<<bankBits-1))
		}
	}
	add(at[RegBits][:vector])
	add(at[LaneBits][:lanes])
	if elem > wordBits { // an element has several words
		for k := range elem - wordBits {
			words, banks = append(words, 1<<k), append(banks, 1<<k)
		}
	}
	turns := 1 << max(0, min(warpBits, len(at[LaneBits]))-once)
	return turns * (1<<(rank(words)-rank(banks)) - 1)
}

// SolveSwizzle finds the swizzle of a tile for which all accesses together have the fewest conflicts, the smallest among several,
// and the number of conflicts that are left: 0 where there is one that makes all of them free. A swizzle keeps the elements
// of an access together.
func SolveSwizzle(m *Placement, elemBytes int, accesses []Access) (best Swizzle, conflicts int) {
	base := 0
	for _, x := range accesses {
		base = max(base, bits.TrailingZeros(uint(x.Width))-bits.TrailingZeros(uint(elemBytes)))
	}
	count := func(s Swizzle) (n int) {
		for _, x := range accesses {
			n += Conflicts(x, m.Swizzled(s), elemBytes)
		}
		return n
	}
	conflicts = count(best)
	for _, s := range swizzles(base, m.bits()) {
		if conflicts == 0 {
			break
		}
		if n := count(s); n < conflicts {
			best, conflicts = s, n
		}
	}
	return best, conflicts
}

// swizzles lists those within a number of address bits that leave the lowest base bits alone, smallest first.
func swizzles(base, n int) (out []Swizzle) {
	for b := 1; b <= bankBits; b++ {
		for at := base; at < n; at++ {
			for shift := b; at+shift+b <= n; shift++ {
				out = append(out, Swizzle{b, at, shift})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Swizzle) int { return cmp.Or(a.Bits-b.Bits, a.Shift-b.Shift) })
	return out
}
