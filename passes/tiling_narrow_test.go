package passes_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// TestFactorsAlike: factors get one narrow type where it has all their values, and products are what they were.
func TestFactorsAlike(t *testing.T) {
	dev, err := device.Find("h200")
	require.NoError(t, err)
	for _, c := range []struct{ a, b, product, want string }{
		{"f16", "f16", "max(A, 0) * B", "f16 f16"},
		{"f16", "f16", "-A * abs(B)", "f16 f16"},
		{"f16", "f16", "abs(A) * max(B, 0.5)", "f16 f16"},
		{"f16", "f16", "abs(A) * max(B, 0.1)", "f32 f32"}, // 0.1 is no f16
		{"f16", "f16", "(if k % 2 == 0 { A } else { -A }) * B", "f16 f16"},
		{"f16", "f16", "(A + 1) * B", "f32 f16"},
		{"bf16", "bf16", "min(max(A, -1), 1) * B", "bf16 bf16"},
		{"f16", "bf16", "A * B", "f16 bf16"},
		{"f16", "i8", "A * f32(B)", "f16 f16"},
		{"bf16", "u8", "A * f32(B)", "bf16 bf16"},
		{"f16", "i16", "A * f32(B)", "f16 f32"},
		{"f8e4m3", "f16", "A * B", "f16 f16"},
		{"f8e4m3", "f8e5m2", "A * B", "f8e4m3 f8e5m2"},
		{"f32", "f16", "A * max(B, 0)", "f32 f32"},
		{"i8", "i8", "A * B", "i8 i8"},
	} {
		acc := "f32"
		if c.a == "i8" {
			acc = "i32"
		}
		src := fmt.Sprintf("kernel p(A: %s[M, K], B: %s[K, N]) -> C: %s[M, N] { C[m, n] = sum[k: %s](%s) }", c.a, c.b, acc, acc, strings.NewReplacer("A", "A[m, k]", "B", "B[k, n]").Replace(c.product))
		unit, errs := lang.Compile("k.gk", src, nil)
		require.NoError(t, errs.Err(), src)
		p := unit.Programs[0]
		u := &passes.Unit{Level: passes.Tensor, Tensor: p, Device: dev, Strict: true, Sched: schedule.Choice{{Knob: "m", Value: 16}, {Knob: "n", Value: 16}, {Knob: "k", Value: 32}, {Knob: "warps.m", Value: 1}, {Knob: "warps.n", Value: 2}}}
		require.NoError(t, passes.Run(u, passes.Options{To: passes.Tile, Verify: true}), src)
		got := ""
		for _, k := range u.Tile.Kernels {
			for _, s := range k.Body {
				dotsOf(s.(*tile.Loop).Body, func(d *tile.Dot) { got = d.A.Type.String() + " " + d.B.Type.String() })
			}
		}
		require.Equal(t, c.want, got, src)
		require.NoError(t, passes.Run(u, passes.Options{To: passes.Simt, Verify: true}), src)
		call := draw(t, p, rand.New(rand.NewPCG(1, 2)))
		want, err := tensor.Eval(p, call, tensor.EvalOptions{})
		require.NoError(t, err)
		agree(t, src, simulated(t, u, call, sim.Options{}).Outputs["C"], want["C"])
	}
}
