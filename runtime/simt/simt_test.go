package simt_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/runtime/simt"
)

func same(a, b float64) bool { return a == b && math.Signbit(a) == math.Signbit(b) || a != a && b != b }

func TestNarrowFloatsDecode(t *testing.T) {
	for b := range 1 << 16 {
		require.True(t, same(ir.FromBits(ir.F16, uint64(b)).Float(), float64(simt.F16(b).F32())), "f16 %#x", b)
		require.True(t, same(ir.FromBits(ir.BF16, uint64(b)).Float(), float64(simt.BF16(b).F32())), "bf16 %#x", b)
	}
	for b := range 1 << 8 {
		require.True(t, same(ir.FromBits(ir.F8E4M3, uint64(b)).Float(), float64(simt.F8E4M3(b).F32())), "f8e4m3 %#x", b)
		require.True(t, same(ir.FromBits(ir.F8E5M2, uint64(b)).Float(), float64(simt.F8E5M2(b).F32())), "f8e5m2 %#x", b)
	}
}

func TestNarrowFloatsRound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(x float64) {
		want := func(ty ir.Type) uint64 { return ir.ToBits(ty, ir.FloatConst(ir.RoundTo(ty.Elem, x))) }
		assert.Equal(t, want(ir.F16), uint64(simt.ToF16(x)), "f16 %v", x)
		assert.Equal(t, want(ir.BF16), uint64(simt.ToBF16(x)), "bf16 %v", x)
		assert.Equal(t, want(ir.F8E4M3), uint64(simt.ToF8E4M3(x)), "f8e4m3 %v", x)
		assert.Equal(t, want(ir.F8E5M2), uint64(simt.ToF8E5M2(x)), "f8e5m2 %v", x)
	}
	for _, x := range []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 65504, 65519.9999, 65520, 448, 464, 465, 57344, 61440, 1e300, 5e-324} {
		check(x)
	}
	for range 200_000 {
		check(math.Float64frombits(r.Uint64()))
		check(float64(math.Float32frombits(r.Uint32())))
		check(math.Ldexp(float64(r.IntN(1<<13)-1<<12), r.IntN(60)-40)) // near ties
	}
}

func TestRandIsTheLanguages(t *testing.T) {
	for n := range int64(10) {
		index := make([]int64, n)
		for i := range index {
			index[i] = int64(i)*77 - 3
		}
		assert.Equal(t, ir.Rand(n*1e12, index...), float64(simt.Rand(n*1e12, index...)))
	}
}

func TestRunDealsOutEveryBlockOnce(t *testing.T) {
	for _, grid := range []int64{0, 1, 7, 1000} {
		seen := make([]int, grid)
		var l simt.Launch
		l.Run("k", grid, 8, false, func(b *simt.Block) { seen[b.Cta]++ })
		require.NoError(t, l.Err())
		for _, n := range seen {
			assert.Equal(t, 1, n)
		}
	}
}

func TestTheFirstFaultCounts(t *testing.T) {
	l := simt.Launch{Sites: []simt.Site{{Kind: "index", Tensor: "x", Dim: 1, Text: "p[i]", Line: 3}}}
	l.Run("k", 100, 0, false, func(b *simt.Block) {
		for tid := int32(31); tid >= 0; tid-- {
			if b.Cta >= 40 && tid > 2 {
				b.Fail(tid, 0, int64(b.Cta), int64(tid))
			}
		}
	})
	assert.EqualError(t, l.Err(), "line 3: index 40 of x is outside its extent (dimension 2, p[i]) while computing element 3")
	ran := false
	l.Run("next", 1, 0, false, func(*simt.Block) { ran = true })
	assert.False(t, ran, "nothing runs after a fault")
}

func TestPanicsAreErrors(t *testing.T) {
	var l simt.Launch
	l.Run("k", 3, 0, false, func(b *simt.Block) { _ = b.Shared[b.Cta] })
	assert.ErrorContains(t, l.Err(), "index out of range")
}

func TestArraysMustHaveTheirExtents(t *testing.T) {
	var l simt.Launch
	l.Has("X", 6, 2, 3)
	require.NoError(t, l.Err())
	l.Has("Y", 5, 2, 3)
	assert.EqualError(t, l.Err(), "Y has 5 elements, expected 6 for extents [2 3]")
	l = simt.Launch{}
	l.Has("Z", 0, 1<<40, 1<<40)
	assert.EqualError(t, l.Err(), "Z is too large")
}
