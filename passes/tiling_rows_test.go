package passes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// blockProgram is a program, with the number of block kernels that it becomes and the largest size of a call.
type blockProgram struct {
	name, src string
	blocks    int
	most      int64
}

// rowReductions lists programs that reduce.
var rowReductions = []blockProgram{
	{"squares", `kernel squares(x: f32[R, C]) -> s: f32[R] { s[i] = sqrt(sum[j](x[i, j] * x[i, j])) }`, 1, 70},
	{"columns", `kernel columns(x: f32[R, C]) -> s: f32[C] { s[j] = max[i where R > 0](x[i, j]) }`, 1, 70},
	{"all", `kernel all(x: f16[R, C]) -> s: f32 { s = sum[i, j](x[i, j]) }`, 2, 20},
	{"spread", `kernel spread(x: f32[R, C], w: f32[R]) -> s: f32[C] { s[j] = sum[i](x[i, j] * w[i]) / (1 + max[i where w[i] > 0](x[i, j] * x[i, j])) }`, 1, 60},
	{"matvec", `kernel matvec(a: f16[M, K], x: f16[K]) -> y: f32[M] { y[m] = sum[k](a[m, k] * x[k]) }`, 1, 70},
	{"norm", `kernel norm(x: f32[B, H, W, C]) -> y: f32[B, C] { y[b, c] = sum[h, w](x[b, h, w, c]) / (H * W) }`, 1, 8},
	{"swapped", `kernel swapped(x: f32[A, B, C]) -> y: f32[B] { y[b] = sum[c, a](x[a, b, c]) }`, 1, 8},
	{"moments", `kernel moments(x: f32[R, C], w: f32[C]) -> y: f32[R] { y[i] = sum[j](x[i, j] * w[j]) / (1 + sum[j](x[i, j] * x[i, j])) }`, 1, 70},
	{"softmax", `kernel softmax(x: f32[R, C]) -> y: f32[R] { m[i] = max[j](x[i, j]); y[i] = log(sum[j](exp(x[i, j] - m[i]))) + m[i] }`, 1, 70},
	{"causal", `kernel causal(x: f32[N, N]) -> y: f32[N] { y[i] = prod[j where j <= i](1 + 0.1 * x[i, j]) }`, 1, 40},
	{"first", `kernel first(x: i32[R, C]) -> y: i32[R] { m[i] = max[j](x[i, j]); y[i] = i32(min[j where x[i, j] == m[i]](j)) }`, 1, 70},
	{"any", `kernel any(x: i32[R, C]) -> y: i32[R] { y[i] = if any[j](x[i, j] == 3) == all[j](x[i, j] < 5) { 1 } else { 0 } }`, 1, 70},
	{"depthwise", `kernel depthwise(x: f32[H, W, C], w: f32[3, 3, C]) -> y: f32[H, W, C] { y[h, v, c] = sum[r in 0..3, s in 0..3](x@zero[h + r - 1, v + s - 1, c] * w[r, s, c]) }`, 1, 8},
	{"ranges", `kernel ranges(x: f32[R, C], y: f32[R, D]) -> s: f32[R] { s[i] = sum[j](x[i, j]) - max[k in 0..D where D > 0](y[i, k]) }`, 1, 50},
	{"scaled", `kernel scaled(x: f32[R, C], i: i32[R], s: f32[K]) -> y: f32[R] { y[r] = sum[c where x[r, c] > 0](x[r, c] * s@clamp[i[r]]) }`, 1, 50},
	{"nested", `kernel nested(x: f32[R, C, 5]) -> y: f32[R] { y[i] = sum[j](abs(x[i, j, j % 2])) + sum[j](x[i, j, j % 2] * max[k in 0..5](x[i, j, k])) }`, 0, 8},
	{"normalized", `kernel normalized(x: f32[R, C]) -> y: f32[R, C] { y[i, j] = softmax[j](x[i, j]) }`, 1, 40},
	{"fixed", `kernel fixed(x: f32[R, 24], w: f16[24]) -> y: f16[R, 24] { m[i] = sum[j](x[i, j]) / 24; v[i] = sum[j]((x[i, j] - m[i]) * (x[i, j] - m[i])) / 24; y[i, j] = (x[i, j] - m[i]) * rsqrt(v[i] + 0.001) * w[j] }`, 1, 40},
	{"channels", `kernel channels(x: f32[B, C, L]) -> (y: f32[B, C, L], m: f32[B, L]) { m[b, l] = max[c](x[b, c, l]); y[b, c, l] = x[b, c, l] - m[b, l] }`, 1, 9},
	{"apart", `kernel apart(x: f32[R, C]) -> (y: f32[R, C], z: f32[R, C]) { m[i] = max[j](x[i, j]); y[i, j] = x[i, j] - m[i]; z[i, j] = x[i, j] - m[R - 1 - i] + y[i, j] }`, 2, 40},
	{"one row", `kernel one(x: f32[C]) -> y: f32[C] { s = sum[j](x[j] * x[j]); y[j] = x[j] * rsqrt(s + 1) }`, 2, 90},
	{"independent", `kernel independent(x: f32[R, C], k: i32[R]) -> (a: f32[R], b: f32[R], c: f32[R]) { a[i] = sum[j](x[i, j]); b[i] = max[j where j > 0](x[i, j]); c[i] = sum[j where k[i] > j](x[i, j] + a[i]) * b[i] }`, 1, 40},
	{"masked", `kernel masked(x: f32[N, N]) -> y: f32[N, N] { m[i] = max[j where j <= i](x[i, j]); s[i] = sum[j where j <= i](exp(x[i, j] - m[i])); y[i, j] = if j <= i { exp(x[i, j] - m[i]) / s[i] } else { 0 } }`, 1, 30},
	{"behind", `kernel behind(x: f32[R, C], k: i32[R]) -> y: f32[R] { y[i] = if k[i] >= 0 && k[i] < R { sum[j](x[k[i], j]) } else { 7 } }`, 1, 30},
	{"rare", `kernel rare(x: f32[R, C]) -> y: f32[R] { y[i] = if i == 0 { sum[j](x[i, j]) } else { 7 } }`, 0, 30},
	{"prefix", `kernel prefix(x: f32[R, C]) -> y: f32[R, C] { y[i, j] = sum[k in 0..j + 1 where x[i, k] > 0](x[i, k]) }`, 1, 8},
	{"suffix", `kernel suffix(x: f32[R, C]) -> y: f32[R, C] { y[i, j] = max[k in j..C](x[i, k]) }`, 1, 8},
	{"windows", `kernel windows(x: f32[R, C]) -> y: f32[R, (C - 2) / 2] where C >= 4 { y[i, j] = sum[k in 2 * j..2 * j + 4 where k % 3 > 0](x[i, k] * k) }`, 1, 30},
	{"groups", `kernel groups(x: f32[N, 12, L]) -> y: f32[N, 4] { y[n, g] = sum[c in g * 3..(g + 1) * 3, l](x[n, c, l]) }`, 1, 8},
	{"clipped", `kernel clipped(x: f32[C], w: i64) -> y: f32[C] where w >= 0 { y[j] = max[k in max(j - w, 0)..j + 1](x[k]) }`, 0, 8},
}

// TestRowsAgreeWithTheEvaluator: what kernels of reductions compute is what the program means, whatever their schedule.
func TestRowsAgreeWithTheEvaluator(t *testing.T) {
	for n, c := range rowReductions {
		t.Run(c.name, func(t *testing.T) { c.agrees(t, n) })
	}
}

func (c *blockProgram) agrees(t *testing.T, number int) {
	t.Parallel()
	p := program(t, c.src)
	first := blocks(tiled(t, p, nil))
	require.Len(t, first, c.blocks)
	if c.blocks == 0 {
		return
	}
	space := passes.Space(first[0], nil)
	require.NoError(t, space.Legal(space.Default()))
	for seed := range uint64(5) {
		var sched schedule.Choice
		if seed > 0 {
			sched = small(first, space, seed)
		}
		m := tiled(t, p, sched)
		call := drawUpTo(t, p, rand.New(rand.NewPCG(seed, uint64(number))), c.most)
		want, wantErr := tensor.Eval(p, call, tensor.EvalOptions{})
		for _, k := range blocks(m) {
			ok, err := passes.PlaceRows(k)
			require.NoError(t, err)
			require.True(t, ok)
		}
		u := &passes.Unit{Level: passes.Tile, Tile: m}
		require.NoError(t, passes.Run(u, passes.Options{Only: []string{"map_threads"}, Verify: true}), m)
		got, err := tile.Eval(context.Background(), m, call)
		require.Equal(t, wantErr == nil, err == nil, "%s with %s: %v, %v", c.name, sched, wantErr, err)
		if err != nil {
			continue
		}
		ran := simulated(t, u, call, sim.Options{Seed: seed})
		for name, w := range want {
			agree(t, fmt.Sprintf("%s with %s: %s\n%s", c.name, sched, name, m), got[name], w)
			agree(t, fmt.Sprintf("threads of %s with %s: %s\n%s", c.name, sched, name, u.Text()), ran.Outputs[name], w)
		}
	}
}

// small draws a schedule with tiles of few elements, which all kernels can have.
func small(kernels []*tile.Kernel, space *schedule.Space, seed uint64) schedule.Choice {
	for i := uint64(0); ; i += 100 {
		c := space.Random(seed + i)
		few := c.Of("rows", 1)*c.Of("cols", 1) <= 512 && c.Of("vec", 1)*c.Of("warps", 1)*c.Of("each", 1) <= 16
		if few && !slices.ContainsFunc(kernels, func(k *tile.Kernel) bool { return !legal(k, c) }) {
			return c
		}
	}
}

// legal reports whether a kernel can have what a schedule says of its knobs.
func legal(k *tile.Kernel, c schedule.Choice) bool {
	space := passes.Space(k, nil)
	return space.Legal(slices.DeleteFunc(slices.Clone(c), func(p schedule.Pick) bool {
		return !slices.ContainsFunc(space.Knobs, func(k schedule.Knob) bool { return k.Name == p.Knob })
	})) == nil
}
