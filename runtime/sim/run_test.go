package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// vectorAdd is Z = X + Y with a guard for the last block.
func vectorAdd(n int64) *builder {
	b := newBuilder((n+127)/128, 128)
	x, y, z := b.array("X", ir.F32, simt.Param, n), b.array("Y", ir.F32, simt.Param, n), b.array("Z", ir.F32, simt.Result, n)
	i, letI := b.let("i", global(128))
	p, letP := b.variable("p", ir.F32, nil)
	q, letQ := b.variable("q", ir.F32, nil)
	at := wide(ir.Name(i))
	b.add(letI, letP, letQ, b.when(ir.Lt(at, ir.Int64(n)),
		b.load(p, x, at), b.load(q, y, at), b.store(z, at, ir.Add(ir.Name(p), ir.Name(q)))))
	return b
}

func TestVectorAdd(t *testing.T) {
	const n = 1000
	res, err := vectorAdd(n).run(t, map[string]*data.Array{"X": ramp(n), "Y": ramp(n)}, sim.Options{})
	require.NoError(t, err)
	for i := range n {
		require.Equal(t, 2*float64(i%251), res.Outputs["Z"].Float(i))
	}
	k := res.Kernels[0]
	assert.EqualValues(t, 8, k.Grid)
	assert.EqualValues(t, 8*n, k.LoadBytes)
	assert.EqualValues(t, 4*n, k.StoreBytes)
	assert.EqualValues(t, 250, k.LoadSectors)
	assert.EqualValues(t, 125, k.StoreSectors)
	assert.EqualValues(t, 375*32, k.DRAMBytes)
	assert.EqualValues(t, 1, k.Divergent)
	assert.Positive(t, res.Seconds)
}

func TestAnEmptyGridLaunchesNothing(t *testing.T) {
	res, err := vectorAdd(0).run(t, map[string]*data.Array{"X": ramp(0), "Y": ramp(0)}, sim.Options{})
	require.NoError(t, err)
	assert.Zero(t, res.Outputs["Z"].Len())
	assert.Zero(t, res.Kernels[0].LoadBytes)
}

// blockSum adds 256 numbers a block by halving in shared memory. skip leaves out the barrier of the loop.
func blockSum(blocks int64, skip bool) *builder {
	b := newBuilder(blocks, 256)
	x, z := b.array("X", ir.F32, simt.Param, 256*blocks), b.array("Z", ir.F32, simt.Result, blocks)
	s := b.shared("s", ir.F32, 256)
	v, letV := b.variable("v", ir.F32, nil)
	u, letU := b.variable("u", ir.F32, nil)
	half, letHalf := b.variable("half", ir.I32, i32(128))
	tid := ir.Name(simt.Tid)
	b.add(letV, letU, letHalf, b.load(v, x, wide(global(256))), b.store(s, wide(tid), ir.Name(v)), b.sync("cta"))
	body := []simt.Stmt{b.when(ir.Lt(tid, ir.Name(half)),
		b.load(v, s, wide(tid)), b.load(u, s, wide(ir.Add(tid, ir.Name(half)))), b.store(s, wide(tid), ir.Add(ir.Name(v), ir.Name(u))))}
	if !skip {
		body = append(body, b.sync("cta"))
	}
	body = append(body, b.set(half, ir.Div(ir.Name(half), i32(2))))
	b.add(&simt.While{Head: b.head(), Cond: ir.Gt(ir.Name(half), i32(0)), Body: body})
	b.add(b.when(ir.Eq(tid, i32(0)), b.load(v, s, ir.Int64(0)), b.store(z, wide(ir.Name(simt.Cta)), ir.Name(v))))
	return b
}

func TestBlockReduction(t *testing.T) {
	const blocks = 37
	in := ramp(256 * blocks)
	res, err := blockSum(blocks, false).run(t, map[string]*data.Array{"X": in}, sim.Options{})
	require.NoError(t, err)
	for b := range blocks {
		want := 0.0
		for i := range 256 {
			want += in.Float(256*b + i)
		}
		require.Equal(t, want, res.Outputs["Z"].Float(b))
	}
	assert.EqualValues(t, blocks*8*9, res.Kernels[0].Barriers)
	assert.Zero(t, res.Kernels[0].Conflicts)
}

func TestResultsDoNotDependOnWorkers(t *testing.T) {
	in := map[string]*data.Array{"X": ramp(256 * 64)}
	one, err := blockSum(64, false).run(t, in, sim.Options{Workers: 1})
	require.NoError(t, err)
	eight, err := blockSum(64, false).run(t, in, sim.Options{Workers: 8})
	require.NoError(t, err)
	assert.Equal(t, one, eight)
}

func TestReportsDoNotDependOnWorkers(t *testing.T) {
	in := map[string]*data.Array{"X": ramp(256 * 64)}
	_, one := blockSum(64, true).run(t, in, sim.Options{Workers: 1})
	require.Error(t, one)
	for range 4 {
		_, eight := blockSum(64, true).run(t, in, sim.Options{Workers: 8})
		assert.Equal(t, one, eight)
	}
}
