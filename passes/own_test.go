package passes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/passes"
)

// TestOwnSchedules: each definition obeys its own schedule, and the others what is for all; the unit says what became of which.
func TestOwnSchedules(t *testing.T) {
	const src = `kernel two(x: f32[128, 64], w: f32[64, 128]) -> (y: f32[128, 128], z: f32[128]) {
    y[m, n] = sum[k](x[m, k] * w[k, n])
    z[m] = sum[k](x[m, k] * x[m, k])
}`
	dev, err := device.Find("h200")
	require.NoError(t, err)
	own := map[string]schedule.Choice{"y": {{Knob: "m", Value: 32}, {Knob: "k", Value: 16}}}
	u := &passes.Unit{Level: passes.Tensor, Tensor: program(t, src), Device: dev, Own: own, Sched: schedule.Choice{{Knob: "m", Value: 64}, {Knob: "warps", Value: 2}}}
	require.NoError(t, passes.Run(u, passes.Options{To: passes.Tile, Verify: true}))
	require.Len(t, u.Cut, 2)
	y, z := u.Cut[0], u.Cut[1]
	require.Equal(t, []string{"y", "z"}, []string{y.Of, z.Of})
	require.Equal(t, [2]int{32, 16}, [2]int{y.Sched.Of("m", 0), y.Sched.Of("k", 0)})
	require.Equal(t, 2, z.Sched.Of("warps", 0))
	for _, c := range u.Cut {
		require.NotEmpty(t, c.Kernels)
		require.NoError(t, c.Space.Legal(c.Sched))
		for _, name := range c.Kernels {
			require.Equal(t, c.Sched.String(), kernelOf(u, name))
		}
	}

	own["y"] = schedule.Choice{{Knob: "m", Value: 7}}
	u = &passes.Unit{Level: passes.Tensor, Tensor: program(t, src), Device: dev, Own: own}
	require.ErrorContains(t, passes.Run(u, passes.Options{To: passes.Tile}), "the schedule of y: m is 7")
}

func kernelOf(u *passes.Unit, name string) string {
	for _, k := range u.Tile.Kernels {
		if k.Name == name {
			return k.Sched.String()
		}
	}
	return "no kernel " + name
}
