package plan_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/internal/golden"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

const kernels = `simt rows
size N: i64
size M: i64 multiple 8
scalar n: f16 default 0.5
param x: f16[N, M]
param y.in: f32[N] as y
result y: f32[N]
work t: u32[2*N + 1] zero once
order x n y
where M % 8 == 0 "M % 8 == 0"
site "index" of x 1 "x[k]" at 4:9

kernel rows.t lines 3 {
  launch grid max(N / 4, 1) threads 64
  host n: i64 = N
  host unused: f32 = sqrt(widen.f32(scalar.n))
  global t: u32 = t
  check n > 0, 0, n, n of t
  store t[0] <- 1
}
kernel y for sm_90a lines 4 5 {
  launch grid min(widen.i64(sms), g) threads 128 cluster 2 per_sm 1 shared 16384 tail
  host g: i64 = (N + 127) / 128
  host big: bool = l2bytes > 1000
  host rows: i32 = i32(N)
  global x: f16 = x readonly
  global y: f32 = y
  map mx = x[M, N] strides [2*M] box [64, 64] swizzle 128 l2 256 fill nan
  shared s: f16[8192] at 0 align 1024
  if rows > 3 { store y[0] <- 1.0 }
}
`

func module(t *testing.T) *simt.Module {
	m, err := simt.Parse(kernels)
	require.NoError(t, err)
	return m
}

func TestGolden(t *testing.T) {
	golden.Equal(t, filepath.Join("testdata", "rows.plan.json"), string(plan.Of(module(t)).JSON()))
}

func TestRoundTrip(t *testing.T) {
	p := plan.Of(module(t))
	back, err := plan.Read(p.JSON())
	require.NoError(t, err)
	assert.Equal(t, p, back)
	assert.Equal(t, p.JSON(), plan.Of(module(t)).JSON(), "plans are the same every time")
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                     "plan: unexpected EOF",
		`{"format": 2}`:         "plan: format 2, this reads format 1",
		`{"format": 1, "x": 3}`: `unknown field "x"`,
	} {
		_, err := plan.Read([]byte(text))
		assert.ErrorContains(t, err, want)
	}
}

func TestResolve(t *testing.T) {
	p, err := plan.Read(plan.Of(module(t)).JSON())
	require.NoError(t, err)
	scalars := map[string]ir.Const{"N": ir.IntConst(300), "M": ir.IntConst(64), "n": ir.FloatConst(0.25)}
	r, err := p.Resolve(scalars, plan.Device{SMs: 2, L2Bytes: 50 << 20})
	require.NoError(t, err)
	assert.Equal(t, [][]int64{{300, 64}, {300}, {300}, {601}}, r.Extents)
	assert.Equal(t, int64(75), r.Launches[0].Grid)
	assert.Equal(t, map[string]ir.Const{"n_": ir.IntConst(300), "unused": ir.FloatConst(0.5)}, r.Launches[0].Values, "a value that is called as a scalar is")
	assert.Equal(t, int64(2), r.Launches[1].Grid)
	assert.Equal(t, map[string]ir.Const{"g": ir.IntConst(3), "big": ir.BoolConst(true), "rows": ir.IntConst(300)}, r.Launches[1].Values)
	assert.Equal(t, [][]int64{{64, 300}}, r.Launches[1].Dims)
	assert.Equal(t, [][]int64{{128}}, r.Launches[1].Stride)

	scalars["M"] = ir.IntConst(63)
	_, err = p.Resolve(scalars, plan.Device{})
	assert.ErrorContains(t, err, "kernel rows demands M % 8 == 0")
	delete(scalars, "N")
	_, err = p.Resolve(scalars, plan.Device{})
	assert.ErrorContains(t, err, "scalar N has no value")
	p.Launches[0].Grid = "N +"
	_, err = p.Resolve(map[string]ir.Const{"N": ir.IntConst(8), "M": ir.IntConst(8), "n": {}}, plan.Device{})
	assert.ErrorContains(t, err, "plan: expression \"N +\"")
}
