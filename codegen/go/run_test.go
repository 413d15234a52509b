package gogen

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/simt"
)

const addText = `simt vadd
size N: i64
param c: f32
array x: f16[N] param
array y: f32[N] result
order x c

kernel y {
  launch grid (N + 127) / 128 threads 128
  host n: i64 = N
  host c1: f32 = c
  global x: f16 = x readonly
  global y: f32 = y
  let i: i64 = widen.i64(cta) * 128 + widen.i64(tid)
  if i < n {
    var v: f16
    load v <- x[i]
    store y[i] <- widen.f32(v) * 2.0 + c1
  }
}
`

const sumText = `simt total
size N: i64
array x: f32[N] param
array y: f32[2] result

kernel y {
  launch grid 1 threads 96 shared 12
  host n: i64 = N
  global x: f32 = x readonly
  global y: f32 = y
  shared part: f32[3] at 0 align 4
  var sum: f32 = 0.0
  let me: i64 = widen.i64(tid)
  for i: i64 in me..n step 96 {
    var v: f32
    load v <- x[i]
    sum = sum + v
  }
  for d in 0..5 unroll {
    let o: f32 = shfl.xor(sum, i32(1) << d)
    sum = sum + o
  }
  if lane == 0 { store part[widen.i64(warp)] <- sum }
  sync cta
  var all: f32 = 0.0
  for w: i64 in 0..3 {
    var p: f32
    load p <- part[w]
    all = all + p
    sync cta
  }
  if tid == 0 {
    store y[0] <- all
    store y[1] <- sum
  }
}
`

const scatterText = `simt scatter
size N: i64
array at: i32[N] param
array x: f16[N] param
array y: f16[4] result
site "index" "at[i]" tensor y dim 0

kernel zero {
  launch grid 1 threads 4
  global y: f16 = y
  store y[widen.i64(tid)] <- f16(0.0)
}
kernel y {
  launch grid (N + 31) / 32 threads 32
  host n: i64 = N
  global at: i32 = at readonly
  global x: f16 = x readonly
  global y: f16 = y
  let i: i64 = widen.i64(cta) * 32 + widen.i64(tid)
  if i < n {
    var a: i32
    load a <- at[i]
    let k: i64 = widen.i64(a)
    check k >= 0 && k < 4, 0, k, i
    if k >= 0 && k < 4 {
      var v: f16
      load v <- x[i]
      store y[k] <- v add
    }
  }
}
`

func parse(t *testing.T, text string) *simt.Module {
	m, err := simt.Parse(text)
	require.NoError(t, err)
	return m
}

func floats(t ir.Type, x ...float64) *data.Array {
	a := data.New(t, len(x))
	for i, v := range x {
		a.Set(i, ir.FloatConst(v))
	}
	return a
}

func values(a *data.Array) []float64 {
	out := make([]float64, a.Len())
	for i := range out {
		out[i] = a.Float(i)
	}
	return out
}

func TestRunBatch(t *testing.T) {
	add, sum, scatter := parse(t, addText), parse(t, sumText), parse(t, scatterText)
	n := func(v int64) map[string]ir.Const { return map[string]ir.Const{"N": ir.IntConst(v)} }
	one := make([]float64, 1000)
	for i := range one {
		one[i] = 1
	}
	at := func(v ...int64) *data.Array {
		a := data.New(ir.I32, len(v))
		for i := range v {
			a.Set(i, ir.IntConst(v[i]))
		}
		return a
	}
	out, err := RunBatch(context.Background(), []Job{
		{add, &data.Call{Scalars: map[string]ir.Const{"N": ir.IntConst(3), "c": ir.FloatConst(0.5)}, Inputs: map[string]*data.Array{"x": floats(ir.F16, 1, -2, 65504)}}},
		{sum, &data.Call{Scalars: n(1000), Inputs: map[string]*data.Array{"x": floats(ir.F32, one...)}}},
		{scatter, &data.Call{Scalars: n(3), Inputs: map[string]*data.Array{"at": at(3, 1, 3), "x": floats(ir.F16, 1, 2, 4)}}},
		{scatter, &data.Call{Scalars: n(3), Inputs: map[string]*data.Array{"at": at(3, 7, 9), "x": floats(ir.F16, 1, 2, 4)}}},
		{add, &data.Call{Scalars: map[string]ir.Const{"N": ir.IntConst(0), "c": ir.FloatConst(0.5)}, Inputs: map[string]*data.Array{"x": floats(ir.F16)}}},
	})
	require.NoError(t, err)
	require.NoError(t, out[0].Err)
	assert.Equal(t, []float64{2.5, -3.5, 131008.5}, values(out[0].Results["y"]))
	require.NoError(t, out[1].Err)
	assert.Equal(t, 1000.0, values(out[1].Results["y"])[0])
	require.NoError(t, out[2].Err)
	assert.Equal(t, []float64{0, 2, 0, 5}, values(out[2].Results["y"]))
	assert.ErrorContains(t, out[3].Err, "index 7 of y is outside 0..4 (dimension 1) while computing kernel y")
	require.NoError(t, out[4].Err)
	assert.Empty(t, values(out[4].Results["y"]))
}
