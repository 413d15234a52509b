package ir_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/text"
)

func rowMajor(t *testing.T, axes []string, extents ...int) *ir.Placement {
	t.Helper()
	m, err := ir.RowMajor(axes, extents)
	require.NoError(t, err)
	return m
}

// passes counts by address what one access of a warp takes beyond the least, as shared memory serves it.
func passes(x ir.Access, m *ir.Placement, elem, reg, warp int) (extra int) {
	lanes := 1 << min(5, len(x.Layout.Bits[ir.LaneBits]))
	once := 32 * 4 / max(4, x.Width)
	for first := 0; first < lanes; first += once {
		words := map[int]map[int]bool{}
		worst := 0
		for lane := first; lane < min(lanes, first+once); lane++ {
			for i := range x.Width / elem {
				at := int(m.At(x.Layout.At(reg+i, lane, warp))) * elem
				for b := at; b < at+elem; b++ {
					bank := b / 4 % 32
					if words[bank] == nil {
						words[bank] = map[int]bool{}
					}
					words[bank][b/4] = true
					worst = max(worst, len(words[bank]))
				}
			}
		}
		extra += worst - 1
	}
	return extra
}

// warpLayout spreads a tile of 2^rows x 2^cols over registers, with 2^vec elements in a vector, 32 lanes and warps.
func warpLayout(r *rand.Rand, rows, cols, vec int) *ir.Layout {
	l := &ir.Layout{Axes: []string{"m", "n"}}
	for k := range vec {
		l.Bits[ir.RegBits] = append(l.Bits[ir.RegBits], ir.LayoutBit{To: []uint32{0, 1 << k}})
	}
	var steps []ir.LayoutBit
	for k := range rows {
		steps = append(steps, ir.LayoutBit{To: []uint32{1 << k, 0}})
	}
	for k := vec; k < cols; k++ {
		steps = append(steps, ir.LayoutBit{To: []uint32{0, 1 << k}})
	}
	r.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	for i, b := range steps {
		if i > 0 && r.IntN(5) == 0 {
			b.To = []uint32{b.To[0] ^ steps[0].To[0], b.To[1] ^ steps[0].To[1]}
		}
		p := ir.LaneBits
		if len(l.Bits[p]) == 5 {
			p = []int{ir.RegBits, ir.WarpBits}[r.IntN(2)]
		} else if r.IntN(8) == 0 {
			l.Bits[p] = append(l.Bits[p], ir.LayoutBit{To: []uint32{0, 0}, Free: '='})
			continue
		}
		l.Bits[p] = append(l.Bits[p], b)
	}
	return l
}

func TestConflictsAreThoseOfTheAddresses(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	seen := map[int]int{}
	for range 400 {
		elem := 1 << r.IntN(4)
		width := max(elem, 1<<r.IntN(5))
		vec := 0
		for elem<<vec < width {
			vec++
		}
		l := warpLayout(r, 2+r.IntN(5), vec+1+r.IntN(4), vec)
		m := rowMajor(t, []string{"m", "n"}, 128, 1<<(vec+5))
		if r.IntN(2) == 0 {
			b := 1 + r.IntN(3)
			m = m.Swizzled(ir.Swizzle{Bits: b, Base: vec, Shift: b + r.IntN(3)})
		}
		x := ir.Access{Layout: l, Width: width}
		got := ir.Conflicts(x, m, elem)
		seen[got]++
		for reg := 0; reg < l.Regs(); reg += 1 << vec {
			for warp := range 1 << len(l.Bits[ir.WarpBits]) {
				require.Equal(t, passes(x, m, elem, reg, warp), got, "%s, %d bytes of %d", text.Layout(l), width, elem)
			}
		}
	}
	assert.Greater(t, seen[0], 20)
	assert.Greater(t, len(seen), 4)
}

// TestTheSmallestSwizzle compares with all swizzles, counted by address.
func TestTheSmallestSwizzle(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	solved := 0
	for range 12 {
		const elem, vec = 2, 3
		m := rowMajor(t, []string{"m", "n"}, 16, 64)
		list := []ir.Access{{Layout: warpLayout(r, 4, 6, vec), Width: 16}, {Layout: warpLayout(r, 4, 6, vec), Width: 16}}
		count := func(s ir.Swizzle) (n int) {
			for _, x := range list {
				n += passes(x, m.Swizzled(s), elem, 0, 0)
			}
			return n
		}
		s, left := ir.SolveSwizzle(m, elem, list)
		require.NoError(t, s.Validate())
		require.Equal(t, count(s), left)
		for b := 1; b <= 5; b++ {
			for base := vec; base < 10; base++ {
				for shift := b; base+shift+b <= 10; shift++ {
					n := count(ir.Swizzle{Bits: b, Base: base, Shift: shift})
					assert.GreaterOrEqual(t, n, left)
					assert.True(t, n > left || b >= s.Bits, "%v is smaller than %v", ir.Swizzle{Bits: b, Base: base, Shift: shift}, s)
				}
			}
		}
		if left == 0 {
			solved++
		}
	}
	assert.Greater(t, solved, 2)
}

func TestSwizzlesOfMatrixOperands(t *testing.T) {
	rows := "m k [reg k1 k2 k4 | lane m1 m2 m4 m8 k8]" // eight rows of 16 bytes, four times
	for _, c := range []struct {
		k, elem int
		layouts []string
		want    ir.Swizzle
	}{
		{64, 2, []string{"m k [reg k1 k2 k4 | lane k8 k16 k32 m1 m2]", rows}, ir.Swizzle{Bits: 3, Base: 3, Shift: 3}},
		{32, 2, []string{"m k [reg k1 k2 k4 | lane k8 k16 m1 m2 m4]", rows}, ir.Swizzle{Bits: 2, Base: 3, Shift: 3}},
		{16, 2, []string{"m k [reg k1 k2 k4 | lane k8 m1 m2 m4 m8]", rows}, ir.Swizzle{Bits: 1, Base: 3, Shift: 3}},
		{8, 2, []string{"m k [reg k1 k2 k4 | lane m1 m2 m4 m8 m16]"}, ir.Swizzle{}},
		{128, 2, []string{"m k [reg k1 k2 k4 | lane k8 k16 k32 k64 m1]", rows}, ir.Swizzle{Bits: 3, Base: 3, Shift: 4}},
	} {
		m := rowMajor(t, []string{"m", "k"}, 64, c.k)
		var list []ir.Access
		for _, s := range c.layouts {
			list = append(list, ir.Access{Layout: layout(t, s), Width: 16})
		}
		s, left := ir.SolveSwizzle(m, c.elem, list)
		assert.Equal(t, 0, left, "k %d", c.k)
		assert.Equal(t, c.want, s, "k %d", c.k)
	}
	one := ir.Access{Layout: layout(t, "m k [lane m1 m2 m4 m8 m16]"), Width: 4} // a column of 32 words
	m := rowMajor(t, []string{"m", "k"}, 32, 32)
	assert.Equal(t, 31, ir.Conflicts(one, m, 4))
	s, left := ir.SolveSwizzle(m, 4, []ir.Access{one, {Layout: layout(t, "m k [lane k1 k2 k4 k8 k16]"), Width: 4}})
	assert.Equal(t, ir.Swizzle{Bits: 5, Base: 0, Shift: 5}, s)
	assert.Equal(t, 0, left)
}

func TestSwizzlesPermute(t *testing.T) {
	for _, s := range []ir.Swizzle{{}, {3, 3, 3}, {2, 3, 3}, {1, 0, 1}, {5, 0, 5}} {
		require.NoError(t, s.Validate())
		all := make([]uint32, 0, 1024)
		for at := range uint32(1024) {
			assert.Equal(t, at, s.Apply(s.Apply(at)))
			all = append(all, s.Apply(at))
		}
		slices.Sort(all)
		assert.Len(t, slices.Compact(all), 1024)
	}
	assert.Equal(t, uint32(0b001_101_010), ir.Swizzle{Bits: 3, Base: 3, Shift: 3}.Apply(0b001_100_010))
	for _, s := range []ir.Swizzle{{0, 1, 0}, {3, 3, 2}, {-1, 0, 0}, {1, -1, 1}, {4, 14, 14}, {1, 1 << 40, 1}} {
		assert.Error(t, s.Validate(), "%v", s)
	}
}

func TestVectorAndPlacement(t *testing.T) {
	axes := []string{"m", "n"}
	for _, c := range []struct {
		layout string
		m, n   int
		want   int
	}{
		{"m n [reg n1 n2 n4 | lane m1]", 2, 8, 8},
		{"m n [reg n1 n2 m1 | lane m2]", 4, 4, 8}, // a row is followed by the next
		{"m n [reg n1 n2 m1 | lane m2]", 4, 8, 4},
		{"m n [reg n1 m1 | lane n2]", 2, 4, 2},
		{"m n [reg m1 n1]", 2, 2, 1},
		{"n m [reg n1 n2]", 1, 4, 4},
		{"m n [reg n1 n2 | rep m3]", 3, 4, 4},
	} {
		assert.Equal(t, c.want, layout(t, c.layout).Vector(rowMajor(t, axes, c.m, c.n)), c.layout)
	}
	m := rowMajor(t, axes, 3, 4)
	assert.Equal(t, uint32(11), m.At([]int{2, 3}))
	assert.Equal(t, 2, layout(t, "m n [reg n1 n2 n4]").Vector(rowMajor(t, axes, 4, 8).Swizzled(ir.Swizzle{Bits: 1, Base: 1, Shift: 1})))
	_, err := ir.RowMajor(axes, []int{4, 3})
	assert.ErrorContains(t, err, "axis n of 3 elements")
	_, err = ir.RowMajor(axes, []int{1 << 20, 1 << 20})
	assert.Error(t, err)
}
