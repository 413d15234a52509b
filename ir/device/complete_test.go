package device_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gkc-lang/gkc/ir/device"
)

func TestCompleted(t *testing.T) {
	h200, _ := device.Find("h200")
	for _, c := range []struct {
		found  device.Device
		like   string // whose facts it gets
		tensor bool
	}{
		{device.Device{Name: "NVIDIA H200", Compute: "9.0"}, "h200", true},
		{device.Device{Name: "NVIDIA H100 PCIe", Compute: "9.0", SMs: 114, BlockShared: 1 << 16}, "h100", true},
		{device.Device{Name: "NVIDIA L40S", Compute: "8.9"}, "l40s", true},
		{device.Device{Name: "NVIDIA GeForce RTX 5090", Compute: "12.0", SMs: 170}, "b200", false},
		{device.Device{Name: "some part", Compute: "8.7"}, "orin", true},
	} {
		like, err := device.Find(c.like)
		assert.NoError(t, err)
		got := c.found.Completed()
		assert.Equal(t, c.found.Name, got.Name)
		assert.Equal(t, c.found.Compute, got.Compute)
		assert.Equal(t, like.RegsPerThread, got.RegsPerThread, c.found.Name)
		assert.Equal(t, like.HasCpAsync, got.HasCpAsync, c.found.Name)
		assert.Equal(t, c.tensor && like.HasWgmma, got.HasWgmma, c.found.Name)
		if c.found.SMs != 0 {
			assert.Equal(t, c.found.SMs, got.SMs, "what the driver says stands")
		}
		if c.found.BlockShared != 0 {
			assert.Equal(t, c.found.BlockShared, got.BlockShared)
		}
	}
	assert.Equal(t, h200.DRAMGBs, (&device.Device{Name: "NVIDIA H200", Compute: "9.0"}).Completed().DRAMGBs, "the name decides among equals")
	old := &device.Device{Name: "old", Compute: "3.5"}
	assert.Same(t, old, old.Completed())
	other := &device.Device{Name: "other", Compute: "gfx942"}
	assert.Same(t, other, other.Completed())
}
