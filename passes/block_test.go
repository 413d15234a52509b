package passes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/tile"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// lowered is a module of tile text as threads.
func lowered(t *testing.T, text string) (*tile.Module, *passes.Unit) {
	t.Helper()
	m, errs := tile.Parse(text)
	require.NoError(t, errs.Err())
	require.NoError(t, tile.Verify(m))
	u := &passes.Unit{Level: passes.Tile, Tile: m}
	require.NoError(t, passes.Run(u, passes.Options{Only: []string{"map_threads"}, Verify: true}))
	return m, u
}

// simulated runs threads on the simulated device, which must find no mistake and no conflict in shared memory.
func simulated(t *testing.T, u *passes.Unit, call *data.Call, o sim.Options) *sim.Result {
	t.Helper()
	dev, err := device.Find("h200")
	require.NoError(t, err)
	got, err := sim.Run(context.Background(), u.Simt, dev, call, o)
	require.NoError(t, err, u.Text())
	for _, k := range got.Kernels {
		require.Zero(t, k.Conflicts, "conflicts in shared memory of %s\n%s", k.Name, u.Text())
	}
	return got
}

// TestBlocksAgreeWithTheEvaluator: the threads of a block compute what tile IR means, in any order, whenever copies arrive.
func TestBlocksAgreeWithTheEvaluator(t *testing.T) {
	files, err := filepath.Glob("testdata/map_threads/block_*.tile")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			m, u := lowered(t, string(src))
			for seed := range uint64(8) {
				call := drawCall(t, m.Signature(), rand.New(rand.NewPCG(seed, 1)), 100)
				want, err := tile.Eval(context.Background(), m, call)
				require.NoError(t, err)
				got := simulated(t, u, call, sim.Options{Moment: sim.Moment(seed % 3), Seed: seed})
				for name, w := range want {
					agree(t, fmt.Sprintf("%s of %s\n%s", name, file, u.Text()), got.Outputs[name], w)
				}
			}
		})
	}
}
