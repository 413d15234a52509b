package passes_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// TestRoundOperands: intermediates are rounded to the type of what they are contracted with, and nothing else is; results stay
// within what the language allows.
func TestRoundOperands(t *testing.T) {
	for _, c := range []struct {
		device, a, b, body string
		strict, rounds     bool
	}{
		{"h200", "f16", "f16", "sum[k]((A[m, k] + 1) * B[k, n])", false, true},
		{"h200", "f32", "bf16", "sum[k](B[k, n] * exp(A[m, k]))", false, true},
		{"h200", "f16", "f8e4m3", "sum[k](tanh(A[m, k]) * B[k, n])", false, true},
		{"h200", "f16", "f16", "sum[k]((A[m, k] + 1) * B[k, n])", true, false},
		{"v100", "f16", "f16", "sum[k]((A[m, k] + 1) * B[k, n])", false, false},
		{"h200", "f32", "f16", "sum[k](A[m, k] * B[k, n])", false, false},                                 // a parameter is data
		{"h200", "f32", "f32", "sum[k](exp(A[m, k]) * B[k, n])", false, false},                            // nothing is narrow
		{"h200", "f16", "f16", "sum[k](exp(A[m, k]) * B[k, 0])", false, false},                            // no contraction
		{"h200", "f16", "f16", "max[k](exp(A[m, k]) * B[k, n])", false, false},                            // no sum
		{"h200", "f16", "f16", "sum[k: f64](f64(exp(A[m, k])) * f64(B[k, n]))", false, false},             // f64 is wanted
		{"h200", "f16", "f16", "sum[k](A[m, k] * B[k, n]) + sum[k](exp(A[m, k]) * B[k, n])", false, true}, // one of two sums
	} {
		src := fmt.Sprintf("kernel p(A: %s[M, K], B: %s[K, N]) -> C: f32[M, N] { C[m, n] = f32(%s) }", c.a, c.b, c.body)
		unit, errs := lang.Compile("k.gk", src, nil)
		require.NoError(t, errs.Err(), src)
		p := unit.Programs[0]
		before := p.String()
		u := &passes.Unit{Level: passes.Tensor, Tensor: p, Strict: c.strict, Sched: schedule.Choice{{Knob: "m", Value: 16}, {Knob: "n", Value: 16}, {Knob: "k", Value: 16}, {Knob: "warps.m", Value: 1}, {Knob: "warps.n", Value: 2}}}
		var err error
		u.Device, err = device.Find(c.device)
		require.NoError(t, err)
		require.NoError(t, passes.Run(u, passes.Options{Only: []string{"round_operands"}, Verify: true}), src)
		require.Equal(t, c.rounds, u.Tensor.String() != before, src)
		require.Equal(t, before, p.String(), "what a pass is given stays as it is")
		require.NoError(t, passes.Run(u, passes.Options{To: passes.Simt, Verify: true}), src)
		call, bounds := draw(t, p, rand.New(rand.NewPCG(3, 4))), map[string]*data.Array{}
		want, err := tensor.Eval(p, call, tensor.EvalOptions{Bound: bounds, Strict: c.strict})
		require.NoError(t, err)
		dev, err := device.Find("h200")
		require.NoError(t, err)
		got, err := sim.Run(t.Context(), u.Simt, dev, call, sim.Options{})
		require.NoError(t, err)
		for i := range want["C"].Len() {
			require.InDelta(t, want["C"].Float(i), got.Outputs["C"].Float(i), 4*bounds["C"].Float(i)+1e-30, "%s: C[%d]", src, i)
		}
	}
}
