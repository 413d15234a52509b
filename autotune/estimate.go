// Package autotune looks for the schedules with which kernels are fastest: it ranks what a device allows by a closed form, runs the
// best on the simulated device, and keeps what it found in files.
package autotune

import (
	"cmp"
	"fmt"
	"math"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// Estimate is what a device kernel is expected to do, without executing it.
type Estimate struct {
	Kernel  string
	Blocks  float64
	Issued  float64 // instructions of warps
	Seconds float64
}

// launcher knows what is known in front of a launch of a module's kernels.
func launcher(m *simt.Module, d *device.Device) *sample {
	names := map[ir.Ref]*lanes{simt.SMs: uniform(ir.IntConst(int64(d.SMs))), simt.L2Bytes: uniform(ir.IntConst(d.L2Bytes()))}
	for _, s := range m.Scalars {
		switch {
		case s.Fixed != nil:
			names[s] = uniform(*s.Fixed)
		case s.Default != nil:
			names[s] = uniform(*s.Default)
		}
	}
	return newSample(names)
}

// Of estimates the kernels of a module whose sizes are fixed. The error says which limit of the device a kernel exceeds.
func Of(m *simt.Module, d *device.Device) ([]Estimate, error) {
	host := launcher(m, d)
	out := make([]Estimate, len(m.Kernels))
	for i, k := range m.Kernels {
		if err := d.Fits(device.Usage{Threads: k.Launch.Threads, Shared: k.Launch.SharedBytes, Cluster: k.Launch.Cluster}); err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
		}
		for _, v := range k.Params {
			host.names[v] = host.eval(v.Expr)
		}
		grid, ok := host.integer(k.Launch.Grid)
		if !ok {
			return nil, fmt.Errorf("kernel %s: the size of its grid is not known", k.Name)
		}
		out[i] = kernel(host, k, d, grid)
	}
	return out, nil
}

// otherRegisters are those of a thread that its text does not name.
const otherRegisters = 16

func kernel(host *sample, k *simt.Kernel, d *device.Device, grid int64) Estimate {
	c := &counter{sample: host, weight: float64((k.Launch.Threads + warpSize - 1) / warpSize), mask: math.MaxUint32, sectors: map[*simt.Array]float64{}}
	host.enter(grid)
	host.memo = map[*ir.Expr]*lanes{} // the grid is another
	wait := c.block(k.Body)
	blocks := float64(grid)
	r := sim.KernelReport{Grid: grid, Block: k.Launch.Threads, SharedBytes: k.Launch.SharedBytes, Issued: map[string]int64{},
		Registers: min(c.most+otherRegisters, d.RegsPerThread), MmaFlops: int64(c.mmaFlops * blocks), Wavefronts: int64(c.wavefronts * blocks)}
	e := Estimate{Kernel: k.Name, Blocks: blocks}
	for i, n := range c.issued {
		r.Issued[ir.Cost(i).String()] = int64(n * blocks)
		e.Issued += n * blocks
	}
	r.BlocksPerSM = d.Occupancy(device.Usage{Threads: r.Block, Shared: r.SharedBytes, Registers: r.Registers})
	asked := c.traffic(host, d, blocks, &r)
	e.Seconds = sim.Seconds(d, &r)
	if grid > 0 {
		wave := latency(d, &r)
		e.Seconds = max(e.Seconds, cacheTime(d, asked), wave*wait.ahead) + wave*wait.idle/float64(max(1, r.BlocksPerSM))
	}
	return e
}

// traffic estimates what goes to and from DRAM: every byte once, and again as often as the cache loses it. It returns the bytes
// that blocks ask for.
func (c *counter) traffic(host *sample, d *device.Device, blocks float64, r *sim.KernelReport) (asked float64) {
	var once float64
	for a, n := range c.sectors {
		bytes := math.Floor(n * blocks * sector) // whole numbers, so that the order of the sum does not matter
		asked += bytes
		once += min(bytes, size(host, a))
	}
	if cache := float64(d.L2Bytes()); once > cache && asked > once {
		once += math.Floor((1 - cache/once) * (asked - once))
	}
	r.DRAMBytes = int64(once)
	return asked
}

// size is the number of bytes of an array; without end where it is not known.
func size(host *sample, a *simt.Array) float64 {
	out := float64(a.Type.Bytes())
	for _, e := range a.Extents {
		n, ok := host.integer(e)
		if !ok {
			return math.Inf(1)
		}
		out *= float64(n)
	}
	return out
}

// held is the number of bytes of a module's arrays.
func held(m *simt.Module, d *device.Device) (out float64) {
	host := launcher(m, d)
	for _, a := range m.Arrays {
		out += size(host, a)
	}
	return out
}

// cacheTime is what the L2 cache needs for what blocks ask for.
func cacheTime(d *device.Device, asked float64) float64 {
	if d.L2GBs == 0 {
		return 0
	}
	return asked / (d.L2GBs * 1e9)
}

// memoryLatency is that of a device that does not tell, in clocks.
const memoryLatency = 600

// latency is what it takes to wait for memory once in every wave of blocks. Where blocks do nothing else meanwhile, others of the
// same multiprocessor do.
func latency(d *device.Device, r *sim.KernelReport) float64 {
	waves := math.Ceil(float64(r.Grid) / float64(max(1, r.BlocksPerSM)*d.SMs))
	return waves * cmp.Or(d.DRAMLatency, memoryLatency) / (d.BoostMHz * 1e6)
}
