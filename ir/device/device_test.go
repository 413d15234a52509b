package device_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/device"
)

func TestEveryRowIsUsable(t *testing.T) {
	require.Len(t, device.All(), 12)
	seen := map[string]bool{}
	for _, d := range device.All() {
		require.NotEmpty(t, d.Short, d.Name)
		for _, s := range append([]string{d.Name}, d.Short...) {
			require.False(t, seen[s], "%s names two devices", s)
			seen[s] = true
			found, err := device.Find(s)
			require.NoError(t, err)
			require.Same(t, d, found)
		}
		assert.Positive(t, d.SMs, d.Name)
		assert.Positive(t, d.BlockThreads, d.Name)
		assert.Positive(t, d.BlockShared, d.Name)
		assert.Positive(t, d.BoostMHz, d.Name)
		assert.Positive(t, d.DRAMGBs, d.Name)
		assert.Positive(t, d.Occupancy(device.Usage{Threads: 128, Shared: 1024, Registers: 32}), d.Name)
	}
}

func TestFindIgnoresCaseAndNamesTheKnown(t *testing.T) {
	d, err := device.Find("H200")
	require.NoError(t, err)
	assert.Equal(t, "H200-SXM-141GB", d.Name)
	_, err = device.Find("h2000")
	require.ErrorContains(t, err, `"h2000"`)
	assert.ErrorContains(t, err, "a100-80")
}

func TestCanRun(t *testing.T) {
	for _, c := range []struct{ device, target, refusal string }{
		{"h200", "", ""},
		{"h200", "sm_80", ""},
		{"h200", "sm_90a", ""},
		{"b200", "sm_90a", "only sm_90"},
		{"a100", "sm_90a", "sm_90"},
		{"v100", "sm_80", "needs sm_80 or later"},
		{"rtx3090", "sm_80", ""},
		{"mi300x", "sm_80", "gfx942"},
		{"h200", "avx", "no target"},
	} {
		d, err := device.Find(c.device)
		require.NoError(t, err)
		err = d.CanRun(c.target)
		if c.refusal == "" {
			assert.NoError(t, err, "%s on %s", c.target, c.device)
			continue
		}
		assert.ErrorContains(t, err, c.refusal)
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		device  string
		use     device.Usage
		refusal string
	}{
		{"h200", device.Usage{Threads: 384, Shared: 232448, Registers: 168}, ""},
		{"h200", device.Usage{Threads: 1025}, "1024 threads"},
		{"rtx4090", device.Usage{Threads: 128, Shared: 110000}, "101376 bytes of shared memory"},
		{"a100", device.Usage{Threads: 128, Cluster: 2}, "no clusters"},
		{"h100", device.Usage{Threads: 128, Cluster: 16}, "8 blocks a cluster"},
	} {
		d, err := device.Find(c.device)
		require.NoError(t, err)
		if err = d.Fits(c.use); c.refusal == "" {
			assert.NoError(t, err)
			continue
		}
		assert.ErrorContains(t, err, c.refusal)
	}
}

// The register file is split among four partitions: 168 registers make 5376 a warp, three warps a partition.
func TestOccupancy(t *testing.T) {
	h200, err := device.Find("h200")
	require.NoError(t, err)
	assert.Equal(t, 1, h200.Occupancy(device.Usage{Threads: 384, Registers: 168}))
	assert.Equal(t, 8, h200.Occupancy(device.Usage{Threads: 256, Registers: 32}))
	assert.Equal(t, 1, h200.Occupancy(device.Usage{Threads: 128, Registers: 32, Shared: 200000}))
	assert.Equal(t, 0, h200.Occupancy(device.Usage{Threads: 1024, Registers: 255}))
}
