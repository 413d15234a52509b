package passes_test

import (
	"context"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// TestBlocksNeedTheirBarriers: without any one of the barriers and waits of a loop with slots there is a race, in some order of
// the warps and for some moment at which copies arrive.
func TestBlocksNeedTheirBarriers(t *testing.T) {
	dev, err := device.Find("h200")
	require.NoError(t, err)
	for _, name := range []string{"block_ring", "block_mma", "block_turned", "block_prefetch"} {
		src, err := os.ReadFile("testdata/map_threads/" + name + ".tile")
		require.NoError(t, err)
		m, u := lowered(t, string(src))
		calls := make([]*data.Call, 8)
		for i := range calls {
			calls[i] = drawCall(t, m.Signature(), rand.New(rand.NewPCG(uint64(i), 1)), 200)
		}
		lines := strings.Split(u.Text(), "\n")
		for i, line := range lines {
			if verb := strings.TrimSpace(line); verb != "sync cta" && !strings.HasPrefix(verb, "wait ") {
				continue
			}
			lines[i] = ""
			mutant, err := simt.Parse(strings.Join(lines, "\n"))
			require.NoError(t, err)
			require.True(t, caught(mutant, dev, calls), "%s is right without line %d, %s\n%s", name, i+1, line, u.Text())
			lines[i] = line
		}
	}
}

// caught reports whether the simulated device finds a mistake.
func caught(m *simt.Module, dev *device.Device, calls []*data.Call) bool {
	for i, call := range calls {
		for moment := range sim.Moment(3) {
			if _, err := sim.Run(context.Background(), m, dev, call, sim.Options{Moment: moment, Seed: uint64(i)}); err != nil {
				return true
			}
		}
	}
	return false
}
