package gkc_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/codegen/go"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/runtime/sim"
)

func ints(values []int64, shape ...int) *data.Array {
	a := data.New(ir.I32, shape...)
	for i, v := range values {
		a.Set(i, ir.IntConst(v))
	}
	return a
}

// Programs that a path once got wrong, shrunk. Expected values are worked out by hand.
var regressions = []struct {
	name, source string
	inputs       map[string]*data.Array
	result       string
	want         *data.Array
}{
	{
		name:   "a boundary of a recurring name is one of the other dimensions",
		source: `kernel k(X: i32[T, D]) -> H: i32[T, D] { H[t, d] = H@zero[t - 1, d - 1] + H@clamp[t - 1, d + 1] + X[t, d] from 1 }`,
		inputs: map[string]*data.Array{"X": ints([]int64{0, 10, 100, 1000}, 2, 2)},
		result: "H",
		want:   ints([]int64{1, 12, 112, 1013}, 2, 2),
	},
	{
		name:   "a checked subscript beside the one that steps",
		source: `kernel k(X: i32[T, D], P: i32[D]) -> H: i32[T, D] { H[t, d] = H[t - 1, P[d]] + X[t, d] from 5 }`,
		inputs: map[string]*data.Array{"X": ints([]int64{1, 2, 3, 4}, 2, 2), "P": ints([]int64{1, 0}, 2)},
		result: "H",
		want:   ints([]int64{6, 7, 10, 10}, 2, 2),
	},
	{
		name:   "a contribution that is dropped does not fail",
		source: `kernel k(P: i32[A], X: i32[A]) -> Y: i32[A] { Y@zero[P[l]] += 6 / X[l] }`,
		inputs: map[string]*data.Array{"P": ints([]int64{0, 1, 7}, 3), "X": ints([]int64{1, 2, 0}, 3)},
		result: "Y",
		want:   ints([]int64{6, 3, 0}, 3),
	},
	{
		name: "where a dimension is empty, nothing fails",
		source: `kernel k(X: i32[A], P: i32[B]) -> Y: i32[A, B] {
			t[o, k] = P[o] * k for o in 0..B, k in 0..A
			Y[u, o] = X[u] + P[t[o, clamp(o, 0, A - 1)]]
		}`,
		inputs: map[string]*data.Array{"X": ints(nil, 0), "P": ints([]int64{1, 0}, 2)},
		result: "Y",
		want:   ints(nil, 0, 2),
	},
	{
		name:   "operands under a bound are computed once a level",
		source: `kernel k(P: i32[A]) -> Y: i32[A] { Y[i] = ` + strings.Repeat("P[", 50) + "i" + strings.Repeat("]", 50) + ` }`,
		inputs: map[string]*data.Array{"P": ints([]int64{1, 2, 0}, 3)},
		result: "Y",
		want:   ints([]int64{2, 0, 1}, 3),
	},
}

func TestRegressions(t *testing.T) {
	h200, err := device.Find("h200")
	require.NoError(t, err)
	jobs := make([]gogen.Job, len(regressions))
	for i, c := range regressions {
		kernels, errs := gkc.Compile("k.gk", c.source, nil)
		require.Empty(t, errs, c.name)
		p := kernels[0].Program
		call, err := data.Bind(p.Signature(), data.Given{Inputs: c.inputs})
		require.NoError(t, err, c.name)
		out, err := tensor.Eval(p, call, tensor.EvalOptions{Bound: map[string]*data.Array{}})
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, out[c.result], c.name)
		m, err := gkc.Lower(p, false)
		require.NoError(t, err, c.name)
		res, err := sim.Run(context.Background(), m, h200, call, sim.Options{Workers: 1})
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, res.Outputs[c.result], c.name)
		jobs[i] = gogen.Job{Module: m, Call: call}
	}
	outcomes, err := gogen.RunBatch(context.Background(), jobs)
	require.NoError(t, err)
	for i, c := range regressions {
		require.NoError(t, outcomes[i].Err, c.name)
		assert.Equal(t, c.want, outcomes[i].Results[c.result], c.name)
	}
}

// A result may be small where what its accumulator holds on the way is not: then nothing is known of it.
func TestBoundsOfPartialResults(t *testing.T) {
	kernels, errs := gkc.Compile("k.gk", `kernel k(X: f32[A], S: f32) -> (P: f64, Z: f64, R: f64, C: f64) { P = prod[i](X[i]) * S C = cos(P) Z = sum[i](X[i]) R = prod[i](X[i] / S) }`, nil)
	require.Empty(t, errs)
	p := kernels[0].Program
	for _, c := range []struct {
		x                []float64
		scale            float64
		prod, sum, ratio bool // known
	}{
		{[]float64{2, 3, 0.5}, 1, true, true, true},
		{[]float64{1e30, 1e30, 0}, 1, false, true, false},
		{[]float64{1e30, 1e30, 1}, 1e30, false, true, true},
		{[]float64{3e38, 3e38, -3e38}, 1e38, false, false, true},
	} {
		x := data.New(ir.F32, len(c.x))
		for i, v := range c.x {
			x.Set(i, ir.FloatConst(ir.RoundTo(ir.F32.Elem, v)))
		}
		scale := ir.FloatConst(ir.RoundTo(ir.F32.Elem, c.scale))
		call, err := data.Bind(p.Signature(), data.Given{Inputs: map[string]*data.Array{"X": x}, Values: map[string]ir.Const{"S": scale}})
		require.NoError(t, err)
		bounds := map[string]*data.Array{}
		_, err = tensor.Eval(p, call, tensor.EvalOptions{Bound: bounds})
		require.NoError(t, err)
		for name, known := range map[string]bool{"P": c.prod, "C": c.prod, "Z": c.sum, "R": c.ratio} {
			assert.Equal(t, known, !math.IsInf(bounds[name].Float(0), 1), "%s of %v", name, c)
		}
	}
}
