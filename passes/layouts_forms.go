package passes

import (
	"math/bits"
	"strconv"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

// sizes are the extents of the axes of a tile, which must be numbers.
func sizes(axes []*ir.Axis) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		n, ok := a.Extent.IntValue()
		if !ok {
			panic(diag.Errorf(diag.Pos{}, "limit", "a tile in registers or shared memory along %s, which has no fixed size", a.Name))
		}
		out[i] = int(n)
	}
	return out
}

// rowMajor places a tile in shared memory, the last axis innermost.
func rowMajor(axes []*ir.Axis) *ir.Placement {
	m, err := ir.RowMajor(axisNames(axes), sizes(axes))
	if err != nil {
		panic(diag.Errorf(diag.Pos{}, "limit", "%v", err))
	}
	return m
}

// spread shares a tile among threads in groups of n elements, a power of two, which lie one behind the other if the tile lies row
// by row: the lanes of a warp take groups beside each other, warps what comes then, and registers the rest. Where there are more
// threads than groups, several hold the same. Extents are powers of two.
func spread(axes []*ir.Axis, threads, n int) *ir.Layout {
	l := &ir.Layout{Axes: axisNames(axes)}
	var steps []ir.LayoutBit // of the number of an element, low bit first
	extents := sizes(axes)
	for a := len(axes) - 1; a >= 0; a-- {
		for k := range bits.TrailingZeros(uint(extents[a])) {
			b := ir.LayoutBit{To: make([]uint32, len(axes))}
			b.To[a] = 1 << k
			steps = append(steps, b)
		}
	}
	take := func(place, count int) {
		for range bits.Len(uint(count)) - 1 {
			switch {
			case len(steps) > 0:
				l.Bits[place] = append(l.Bits[place], steps[0])
				steps = steps[1:]
			case place != ir.RegBits:
				l.Bits[place] = append(l.Bits[place], ir.LayoutBit{To: make([]uint32, len(axes)), Free: '='})
			}
		}
	}
	take(ir.RegBits, n)
	take(ir.LaneBits, simt.WarpSize)
	take(ir.WarpBits, threads/simt.WarpSize)
	l.Bits[ir.RegBits] = append(l.Bits[ir.RegBits], steps...)
	return l
}

// fair is the largest number of elements, at most n, of which every thread gets a group.
func fair(axes []*ir.Axis, threads, n int) int {
	size := 1
	for _, e := range sizes(axes) {
		size *= e
	}
	return min(n, max(1, size/threads))
}

// tileNames gives names that nothing else in a kernel has.
type tileNames struct{ taken map[string]bool }

func newTileNames(m *tile.Module, k *tile.Kernel) *tileNames {
	n := &tileNames{map[string]bool{}}
	for _, s := range m.Scalars {
		n.taken[s.Name] = true
	}
	for _, a := range m.Arrays {
		n.taken[a.Name] = true
	}
	for _, a := range k.Axes {
		n.taken[a.Name] = true
	}
	n.body(k.Body)
	return n
}

func (n *tileNames) body(list []tile.Stmt) {
	for _, s := range list {
		if l, ok := s.(*tile.Loop); ok {
			for _, o := range l.Over {
				n.taken[o.Axis.Name] = true
			}
			for _, c := range l.Carry {
				n.taken[c.In.Name] = true
			}
		}
		for _, v := range tile.Defined(s) {
			n.taken[v.Name] = true
		}
		for _, inner := range nested(s) {
			n.body(inner)
		}
	}
}

func (n *tileNames) fresh(hint string) string {
	name := hint
	for i := 1; n.taken[name]; i++ {
		name = hint + "." + strconv.Itoa(i)
	}
	n.taken[name] = true
	return name
}
