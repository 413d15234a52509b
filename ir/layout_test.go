package ir_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/text"
)

func layout(t *testing.T, s string) *ir.Layout {
	t.Helper()
	p, errs := syntax.New(s, syntax.IR)
	require.Empty(t, errs)
	var l *ir.Layout
	if d := p.Catch(func() { l = (&text.Lines{Parser: p}).Layout() }); d != nil {
		require.FailNow(t, d.Error())
	}
	return l
}

// randomLayout has two axes, most bits of which are single steps, some are sums, some held.
func randomLayout(r *rand.Rand) *ir.Layout {
	for {
		l := &ir.Layout{Axes: []string{"m", "n"}}
		if r.IntN(3) == 0 {
			l.Rep = []int{1 + 2*r.IntN(2), 1 + 2*r.IntN(2)}
		}
		var steps [][]uint32
		for k := range r.IntN(4) {
			steps = append(steps, []uint32{1 << k, 0})
		}
		for k := range r.IntN(4) {
			steps = append(steps, []uint32{0, 1 << k})
		}
		r.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		for i, to := range steps {
			if i > 0 && r.IntN(4) == 0 {
				to = []uint32{to[0] ^ steps[0][0], to[1] ^ steps[0][1]}
			}
			p := r.IntN(3)
			if r.IntN(6) == 0 {
				l.Bits[p] = append(l.Bits[p], ir.LayoutBit{To: make([]uint32, 2), Free: '='})
			}
			l.Bits[p] = append(l.Bits[p], ir.LayoutBit{To: to})
		}
		if l.Validate() == nil {
			return l
		}
	}
}

// eachPlace lists the registers, lanes and warps of a layout.
func eachPlace(l *ir.Layout) (out [][6]int) {
	for reg := range l.Regs() {
		for lane := range 1 << len(l.Bits[ir.LaneBits]) {
			for warp := range 1 << len(l.Bits[ir.WarpBits]) {
				out = append(out, [6]int{reg, lane, warp})
			}
		}
	}
	return out
}

func held(l *ir.Layout) (n int) {
	for _, place := range l.Bits {
		for _, b := range place {
			if b.Free != 0 {
				n++
			}
		}
	}
	return n
}

func TestLayoutsCoverTheirTile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		l := randomLayout(r)
		count := map[[2]int]int{}
		for _, p := range eachPlace(l) {
			at := l.Of(p)
			require.Less(t, at[0], l.Extents()[0])
			require.Less(t, at[1], l.Extents()[1])
			count[[2]int(at)]++
		}
		assert.Equal(t, l.Size() == len(count), l.Onto())
		alone := true
		for _, n := range count {
			alone = alone && n == 1<<held(l)
		}
		assert.Equal(t, alone, l.OneToOne(), text.Layout(l))
		v, ok := l.Invert()
		require.Equal(t, l.Onto(), ok)
		for at := range count {
			if ok {
				assert.Equal(t, at[:], l.Of(v.Place(at[:])), text.Layout(l))
			}
		}
	}
}

func TestOfIsWhatTheTextSays(t *testing.T) {
	l := layout(t, "m n [reg n1 m8 | lane n2 n4 m1 m2 m4 | warp m16 | rep n3]")
	assert.Equal(t, []int{32, 24}, l.Extents())
	assert.Equal(t, 768, l.Size())
	assert.Equal(t, 12, l.Regs())
	assert.Equal(t, 64, l.Threads())
	assert.Equal(t, []int{8 + 1 + 16, 16 + 1 + 2}, l.At(2*4+3, 0b00101, 1))
	two := layout(t, "m n [reg n1 | rep m3 n5]")
	assert.Equal(t, []int{2, 2*3 + 1}, two.At((2*5+3)*2+1, 0, 0))
}

func TestSliceAndRename(t *testing.T) {
	acc := layout(t, "m n [reg n1 m8 n8 n16 | lane n2 n4 m1 m2 m4 | warp m16 n32 | rep n3]")
	assert.Equal(t, "m [reg m8 | lane = = m1 m2 m4 | warp m16 =]", text.Layout(acc.Slice("n")))
	assert.Equal(t, "n [reg n1 n8 n16 | lane n2 n4 = = = | warp = n32 | rep n3]", text.Layout(acc.Slice("m")))
	assert.Equal(t, "m k [reg k1 m8 k8 k16 | lane k2 k4 m1 m2 m4 | warp m16 k32 | rep k3]", text.Layout(acc.Rename("n", "k")))
	mixed := layout(t, "m n [reg n1+m1 m2 | lane n2 =]")
	assert.Equal(t, "m [reg m1 m2 | lane = =]", text.Layout(mixed.Slice("n")))
	assert.Panics(t, func() { acc.Slice("k") })
}

func TestTimesAndDivide(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		atom, outer := randomLayout(r), randomLayout(r)
		atom.Rep = nil
		l := atom.Times(outer)
		back, ok := l.Divide(atom)
		require.True(t, ok)
		assert.True(t, back.Equal(outer), "%s / %s = %s", text.Layout(l), text.Layout(atom), text.Layout(back))
		for _, p := range eachPlace(l) {
			var low, high [6]int
			for i, n := range p {
				low[i], high[i] = n&(1<<len(atom.Bits[i])-1), n>>len(atom.Bits[i])
			}
			a, b, e := atom.Of(low), outer.Of(high), atom.Extents()
			assert.Equal(t, []int{b[0]*e[0] + a[0], b[1]*e[1] + a[1]}, l.Of(p))
		}
	}
	l := layout(t, "m n [reg n1 m8 n8 | lane n2 n4 m1 m2 m4]")
	rest, ok := l.Divide(layout(t, "m n [reg n1 m8 | lane n2 n4 m1 m2 m4]"))
	assert.True(t, ok)
	assert.Equal(t, "m n [reg n1]", text.Layout(rest))
	for _, no := range []string{"m n [reg m8 n1]", "m n [reg n1 m8 n8 n16]", "m n [reg n1 m8]", "m k [reg k1]", "m n [reg n1 m8 | lane n2 | rep n3]"} {
		_, ok := l.Divide(layout(t, no))
		assert.False(t, ok, no)
	}
}

// convertible finds by trying how far an element must travel at most.
func convertible(a, b *ir.Layout) ir.Exchange {
	where := map[[2]int][][6]int{}
	for _, p := range eachPlace(a) {
		at := [2]int(a.Of(p))
		where[at] = append(where[at], p)
	}
	worst := ir.Nothing
	if a.Regs() != b.Regs() {
		worst = ir.Registers
	}
	for _, p := range eachPlace(b) {
		best := ir.Memory
		for _, q := range where[[2]int(b.Of(p))] {
			switch {
			case q == p:
				best = ir.Nothing
			case q[1] == p[1] && q[2] == p[2]:
				best = min(best, ir.Registers)
			case q[2] == p[2]:
				best = min(best, ir.Shuffles)
			}
		}
		worst = max(worst, best)
	}
	return worst
}

func TestConversionsAreTheNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	seen := map[ir.Exchange]int{}
	for range 10000 {
		a, b := randomLayout(r), randomLayout(r)
		if r.IntN(20) == 0 {
			*b = *a
			regs := slices.Clone(a.Bits[ir.RegBits])
			r.Shuffle(len(regs), func(i, j int) { regs[i], regs[j] = regs[j], regs[i] })
			b.Bits[ir.RegBits] = regs
		}
		if !slices.Equal(a.Extents(), b.Extents()) || !a.Onto() {
			continue
		}
		c, ok := a.Convert(b)
		require.True(t, ok)
		seen[c.Kind]++
		assert.Equal(t, convertible(a, b), c.Kind, "%s to %s", text.Layout(a), text.Layout(b))
		for _, p := range eachPlace(b) {
			q := c.Source(p)
			require.Equal(t, b.Of(p), a.Of(q), "%s to %s at %v from %v", text.Layout(a), text.Layout(b), p, q)
			require.True(t, c.Kind > ir.Registers || p[1] == q[1] && p[2] == q[2])
			require.True(t, c.Kind > ir.Shuffles || p[2] == q[2])
			require.Less(t, q[0], a.Regs())
		}
	}
	for x := ir.Nothing; x <= ir.Memory; x++ {
		assert.Greater(t, seen[x], 20, "%s", x)
	}
}

func TestAccumulatorIsTheNextOperand(t *testing.T) {
	acc := layout(t, "m n [reg n1 m8 n8 n16 | lane n2 n4 m1 m2 m4 | warp m16 m32]").Rename("n", "k")
	for want, s := range map[ir.Exchange]string{
		ir.Nothing:   "m k [reg k1 m8 k8 k16 | lane k2 k4 m1 m2 m4 | warp m16 m32]",
		ir.Registers: "k m [reg k1 k8 m8 k16 | lane k2 k4 m1 m2 m4 | warp m16 m32]",
		ir.Shuffles:  "m k [reg k1 k2 m8 k16 | lane k4 k8 m1 m2 m4 | warp m16 m32]",
		ir.Memory:    "m k [reg k1 m8 k8 k16 | lane k2 k4 m1 m2 m4 | warp m32 m16]",
	} {
		c, ok := acc.Convert(layout(t, s))
		require.True(t, ok)
		assert.Equal(t, want, c.Kind, s)
	}
	for _, no := range []string{"m k [reg k1]", "m n [reg n1]", "m [reg m1]"} {
		_, ok := acc.Convert(layout(t, no))
		assert.False(t, ok)
	}
	row := acc.Slice("k")
	c, ok := row.Convert(layout(t, "m [reg m8 | lane m1 m2 m4 | warp m16 m32]"))
	require.True(t, ok)
	assert.Equal(t, ir.Shuffles, c.Kind)
	twice := layout(t, "m [reg m1 | rep m3]")
	_, ok = twice.Convert(layout(t, "m [reg m1 m2]"))
	assert.False(t, ok)
}

func TestRun(t *testing.T) {
	for s, want := range map[string]int{
		"m n [reg n1 n2 m1 | lane n4 m2]":   4,
		"m n [reg n1 n2 n4 | lane m1]":      8,
		"m n [reg m1 n1 n2]":                1,
		"m n [reg n1 n2+m1 n4]":             2,
		"m n [reg n1 n2 | lane n1+m1]":      1,
		"m n [reg n1 n2 | lane n6 m1]":      2,
		"m n [reg n1 n2 | lane = | rep n3]": 4,
		"m n [reg = n1]":                    1,
		"m n [lane n1]":                     1,
	} {
		assert.Equal(t, want, layout(t, s).Run("n"), s)
	}
}

func TestHeldBitsNeedNoSteps(t *testing.T) {
	l := layout(t, "m [reg m1 | lane = m2]")
	bare := &ir.Layout{Axes: []string{"m"}}
	bare.Bits[ir.RegBits] = l.Bits[ir.RegBits]
	bare.Bits[ir.LaneBits] = []ir.LayoutBit{{Free: '='}, l.Bits[ir.LaneBits][1]}
	require.NoError(t, bare.Validate())
	assert.True(t, l.Equal(bare))
	assert.False(t, l.Equal(layout(t, "m [reg m1 | lane ~ m2]")))
	assert.False(t, l.Equal(layout(t, "m [reg m1 | lane = m2 | rep m3]")))
	rest, ok := l.Divide(bare)
	require.True(t, ok)
	assert.Equal(t, "m []", text.Layout(rest))
	c, ok := bare.Convert(l)
	require.True(t, ok)
	assert.Equal(t, ir.Nothing, c.Kind)
}
