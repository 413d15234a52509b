package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// TestSampledBlocks: where all blocks do the same, some say what all do. Kernels read what others left unwritten.
func TestSampledBlocks(t *testing.T) {
	unit, errs := lang.Compile("k.gk", `kernel k(x: f32[M, N], w: f32[N, M]) -> z: f32[M, M] {
    p[m, n] = softmax[n](x[m, n])
    z[m, l] = sum[n](p[m, n] * w[n, l])
}`, map[string]int64{"M": 256, "N": 64})
	require.NoError(t, errs.Err())
	u := &passes.Unit{Level: passes.Tensor, Tensor: unit.Programs[0], Device: h200(t)}
	require.NoError(t, passes.Run(u, passes.Options{To: passes.Simt}))
	call, err := data.Bind(u.Simt.Signature(), data.Given{Fill: func(of data.Tensor, shape []int) *data.Array { return data.New(of.Type, shape...) }})
	require.NoError(t, err)
	want, err := sim.Run(t.Context(), u.Simt, h200(t), call, sim.Options{})
	require.NoError(t, err)
	for _, workers := range []int{1, 3} {
		got, err := sim.Run(t.Context(), u.Simt, h200(t), call, sim.Options{Blocks: 4, Workers: workers})
		require.NoError(t, err)
		for i, k := range want.Kernels {
			require.Greater(t, k.Grid, int64(4))
			k.DRAMBytes, got.Kernels[i].Seconds = got.Kernels[i].DRAMBytes, k.Seconds
			require.Equal(t, k, got.Kernels[i])
		}
		for i, k := range want.Kernels {
			require.InEpsilon(t, k.DRAMBytes, got.Kernels[i].DRAMBytes, 0.3, k.Name)
		}
	}
	got, err := sim.Run(t.Context(), u.Simt, h200(t), call, sim.Options{Blocks: 1 << 20})
	require.NoError(t, err)
	require.Equal(t, want.Kernels, got.Kernels)
}
