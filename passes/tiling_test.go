package passes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/passes"
)

// toTiles are the passes that lead to block kernels.
var toTiles = []string{"explicit_faults", "expand_edges", "split_reductions", "drop_unused", "merge_equal", "make_tiles"}

// tiled makes block kernels of a program.
func tiled(t *testing.T, p *tensor.Program, sched schedule.Choice) *tile.Module {
	t.Helper()
	u := &passes.Unit{Level: passes.Tensor, Tensor: p, Sched: sched}
	require.NoError(t, passes.Run(u, passes.Options{Only: toTiles, Verify: true}))
	again, errs := tile.Parse(u.Tile.String())
	require.NoError(t, errs.Err())
	require.Equal(t, u.Tile.String(), again.String())
	return u.Tile
}

func blocks(m *tile.Module) (out []*tile.Kernel) {
	for _, k := range m.Kernels {
		if k.Threads > 0 {
			out = append(out, k)
		}
	}
	return out
}

// smallTiles draws a schedule of which a few elements fill tiles.
func smallTiles(r *rand.Rand) schedule.Choice {
	size := func() int { return 8 << r.IntN(2) }
	return schedule.Choice{{Knob: "m", Value: size()}, {Knob: "n", Value: size()}, {Knob: "k", Value: size()},
		{Knob: "warps.m", Value: 1 + r.IntN(2)}, {Knob: "warps.n", Value: 1}, {Knob: "stages", Value: 1 + r.IntN(4)},
		{Knob: "rows", Value: 32}, {Knob: "cols", Value: 2 << r.IntN(2)}, {Knob: "vec", Value: 1}, {Knob: "lanes", Value: 1 + r.IntN(2)},
		{Knob: "warps", Value: 1}, {Knob: "warps.r", Value: 1}}
}

// contractions lists programs that contract, with the number of block kernels that they become.
var contractions = []struct {
	name, src string
	blocks    int
}{
	{"gemm", `kernel gemm(x: f16[M, K], w: f16[K, N], b: f16[N]) -> y: f16[M, N] { y[m, n] = gelu(sum[k](x[m, k] * w[k, n]) + b[n]) }`, 1},
	{"fixed", `kernel fixed(x: f16[64, 32], w: f16[32, 16]) -> y: f32[64, 16] { y[m, n] = sum[k](x[m, k] * w[k, n]) }`, 1},
	{"permuted", `kernel permuted(x: f32[K, M], w: f32[N, K]) -> y: f32[N, M] { y[n, m] = sum[k](x[k, m] * w[n, k]) }`, 1},
	{"two_axes", `kernel two(x: f32[I, A, B], w: f32[B, J, A]) -> y: f32[I, J] { y[i, j] = sum[a, b](x[i, a, b] * w[b, j, a]) }`, 1},
	{"merged", `kernel merged(x: f32[I, A, L, B], w: f32[A, B, J, H]) -> y: f32[I, J, L, H] { y[i, j, l, h] = sum[a, b](x[i, a, l, b] * w[a, b, j, h]) }`, 1},
	{"conv", `kernel conv(x: f16[B, H, W, C], w: f16[R, S, C, O]) -> y: f16[B, H, W, O] { y[b, i, j, o] = max(sum[r in 0..R, s in 0..S, c](x@zero[b, i + r - 1, j + s - 1, c] * w[r, s, c, o]), 0) }`, 1},
	{"batch", `kernel batch(q: f16[B, H, S, D], k: f16[B, T, H, D]) -> y: f32[B, H, S, T] { y[b, h, s, t] = sum[d](q[b, h, s, d] * k[b, t, h, d]) }`, 1},
	{"dual", `kernel dual(x: f16[M, K], g: f16[K, N], u: f16[K, N]) -> y: f16[M, N] { y[m, n] = silu(sum[k](x[m, k] * g[k, n])) * sum[k](x[m, k] * u[k, n]) }`, 1},
	{"swapped", `kernel swapped(x: f32[M, K], g: f32[K, N], u: f32[L, N], v: f32[L, M]) -> y: f32[M, N] { y[m, n] = sum[k](x[m, k] * g[k, n]) - sum[l](u[l, n] * v[l, m]) }`, 1},
	{"guarded", `kernel guarded(x: f32[M, K], w: f32[K, N], on: i32[K]) -> y: f32[M, N] { y[m, n] = sum[k where on[k] > 0](x[m, k] / x[m, 0] * w[k, n]) }`, 1},
	{"gathered", `kernel gathered(x: f32[M, K], i: i32[L], w: f32[K, N]) -> y: f32[L, N] { y[l, n] = sum[k](x@clamp[i[l], k] * w[k, n]) }`, 1},
	{"scaled", `kernel scaled(x: f16[M, K], q: i8[K, N], s: f32[N], z: f32[K]) -> y: f16[M, N] { y[m, n] = sum[k: f32](x[m, k] * q[k, n] * s[n] * exp(z[k])) }`, 1},
	{"integers", `kernel integers(x: i8[M, K], w: u8[K, N]) -> y: i32[M, N] { y[m, n] = sum[k: i32](i32(x[m, k]) * i32(w[k, n])) }`, 1},
	{"mapped", `kernel mapped(x: f32[M, K], w: f32[K, N]) -> y: f32[M, N] { y[m, n] = sum[k](exp(x[m, k]) * (if n > k { w[k, n] } else { 1.5 })) }`, 1},
	{"epilogue", `kernel epilogue(x: f32[M, K], w: f32[K, N], r: f32[M, N], i: i32[M]) -> y: f32[N, M] { y[n, m] = if i[m] > 1 { r[m, n] + sum[k](x[m, k] * w[k, n]) } else { 2 * sum[k](x[m, k] * w[k, n]) } }`, 1},
	{"matvec", `kernel matvec(x: f32[M, K], w: f32[K]) -> y: f32[M] { y[m] = sum[k](x[m, k] * w[k]) }`, 1},
	{"triangle", `kernel triangle(x: f32[M, K], w: f32[K, N]) -> y: f32[M, N] { y[m, n] = sum[k where k <= m](x[m, k] * w[k, n]) }`, 1},
	{"largest", `kernel largest(x: f32[M, K], w: f32[K, N]) -> y: f32[M, N] { y[m, n] = max[k where K > 0](x[m, k] * w[k, n]) }`, 1},
	{"summed", `kernel summed(x: f32[M, K], w: f32[K, N]) -> y: f32[M, N] { y[m, n] = sum[k](x[m, k] + w[k, n]) }`, 1},
	{"masked_too", `kernel two(x: f32[M, K], w: f32[K, N], a: f32[K]) -> y: f32[M, N] { y[m, n] = sum[k](x[m, k] * w[k, n]) + 2 * sum[k where a[k] > 0](x[m, k] * w[k, n]) }`, 1},
	{"some_too", `kernel two(x: f32[M, K], w: f32[K, N]) -> y: f32[M, N] { y[m, n] = sum[k](x[m, k] * w[k, n]) + 2 * sum[k where k % 3 == 0](x[m, k] * w[k, n]) }`, 1},
}

func program(t *testing.T, src string) *tensor.Program {
	t.Helper()
	unit, errs := lang.Compile("k.gk", src, nil)
	require.NoError(t, errs.Err(), src)
	return unit.Programs[0]
}

// TestTilesAgreeWithTheEvaluator: what block kernels compute is what the program means, with tiles that end anywhere.
func TestTilesAgreeWithTheEvaluator(t *testing.T) {
	for n, c := range contractions {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(6) {
				r := rand.New(rand.NewPCG(seed, uint64(n)))
				p := program(t, c.src)
				sched := smallTiles(r)
				m := tiled(t, p, sched)
				require.Len(t, blocks(m), c.blocks, m.String())
				call := draw(t, p, r)
				want, err := tensor.Eval(p, call, tensor.EvalOptions{})
				require.NoError(t, err)
				got, err := tile.Eval(context.Background(), m, call)
				require.NoError(t, err)
				for name, w := range want {
					agree(t, fmt.Sprintf("%s with %s: %s\n%s", c.name, sched, name, m), got[name], w)
				}
			}
		})
	}
}

// TestScheduleOfTheUser: what is asked for is checked, and the rest are defaults.
func TestScheduleOfTheUser(t *testing.T) {
	gemm := program(t, contractions[0].src)
	k := blocks(tiled(t, gemm, schedule.Choice{{Knob: "m", Value: 64}, {Knob: "warps.n", Value: 4}}))[0]
	require.Equal(t, 64, k.Sched.Of("m", 0))
	require.Equal(t, 256, k.Threads)
	space := passes.Space(k, nil)
	require.NoError(t, space.Legal(k.Sched))
	for seed := range uint64(20) {
		choice := space.Random(seed)
		require.Equal(t, choice, blocks(tiled(t, gemm, choice))[0].Sched)
	}
	for text, want := range map[string]string{
		"m 12":                 "m is 12; it can be one of [8 16 32 64 128 256]",
		"size 2":               "there is no knob size",
		"stages 6, k 64":       "need 196608 bytes of shared memory; a block of every device has 49152",
		"warps.m 8, warps.n 8": "need 2048 threads; a block of every device has 1024",
		"m 8, n 8, warps.m 4":  "a tile of m 8, n 8 has 64 elements",
		"m 256, n 256, k 8":    "registers of sums",
	} {
		choice, err := schedule.Parse(text)
		require.NoError(t, err)
		err = passes.Run(&passes.Unit{Level: passes.Tensor, Tensor: gemm, Sched: choice}, passes.Options{Only: toTiles})
		require.ErrorContains(t, err, want, text)
	}
}
