package passes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/passes"
)

// TestDefaultsSuitTheSizes: tiles are no larger than what there is, stages no more than steps, and there is a tile for every
// multiprocessor, if it can be.
func TestDefaultsSuitTheSizes(t *testing.T) {
	h200, err := device.Find("h200")
	require.NoError(t, err)
	for _, c := range []struct{ src, want string }{
		{"kernel any(x: f16[M, K], w: f16[K, N]) -> y: f16[M, N] { y[m, n] = sum[k](x[m, k] * w[k, n]) }", "m 128, n 128, k 32, warps.m 2, warps.n 2, stages 4"},
		{"kernel few(x: f16[1024, 1024], w: f16[1024, 1024]) -> y: f16[1024, 1024] { y[m, n] = sum[k](x[m, k] * w[k, n]) }", "m 64, n 64,"},
		{"kernel narrow(x: f16[65536, 64], w: f16[64, 24]) -> y: f16[65536, 24] { y[m, n] = sum[k](x[m, k] * w[k, n]) }", "m 128, n 32, k 64, warps.m 2, warps.n 2, stages 1"},
		{"kernel conv(x: f16[32, 56, 56, 64], w: f16[3, 3, 64, 64]) -> y: f16[32, 56, 56, 64] { y[b, i, j, o] = sum[r, s, c](x@zero[b, i + r - 1, j + s - 1, c] * w[r, s, c, o]) }", "m 128, n 64, k 64, warps.m 2, warps.n 2, stages 3"},
		{"kernel tiny(x: f16[8, 5], w: f16[5, 8]) -> y: f16[8, 8] { y[m, n] = sum[k](x[m, k] * w[k, n]) }", "m 16, n 16, k 16, warps.m 2, warps.n 2, stages 1"},
	} {
		u := &passes.Unit{Level: passes.Tensor, Tensor: program(t, c.src), Device: h200}
		require.NoError(t, passes.Run(u, passes.Options{Only: toTiles, Verify: true}))
		k := blocks(u.Tile)[0]
		require.Contains(t, k.Sched.String(), c.want, c.src)
		require.NoError(t, passes.Space(k, h200).Legal(k.Sched))
	}
}
