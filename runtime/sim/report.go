package sim

import (
	"math"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
)

const costs = int(ir.CostSlow) + 1

// counts is what the warps of a launch did.
type counts struct {
	issued                    [costs]uint64 // instructions of warps, by cost class
	lanes                     [costs]uint64 // the same, weighted with active lanes
	loadSectors, storeSectors int64
	loadBytes, storeBytes     int64
	wavefronts, conflicts     int64
	barriers, shuffles        int64
	atomics                   int64
	branches, divergent       int64
	mma, mmaFlops             int64
	fused                     uint64 // multiplications with an addition, weighted with active lanes
	copied                    int64  // bytes of asynchronous copies
}

func (c *counts) add(d *counts) {
	for i := range c.issued {
		c.issued[i] += d.issued[i]
		c.lanes[i] += d.lanes[i]
	}
	c.loadSectors += d.loadSectors
	c.storeSectors += d.storeSectors
	c.loadBytes += d.loadBytes
	c.storeBytes += d.storeBytes
	c.wavefronts += d.wavefronts
	c.conflicts += d.conflicts
	c.barriers += d.barriers
	c.shuffles += d.shuffles
	c.atomics += d.atomics
	c.branches += d.branches
	c.divergent += d.divergent
	c.mma += d.mma
	c.mmaFlops += d.mmaFlops
	c.fused += d.fused
	c.copied += d.copied
}

// KernelReport says what one launched kernel did.
type KernelReport struct {
	Name                      string
	Lines                     []int // of the source
	Grid                      int64
	Block, Cluster            int
	SharedBytes               int
	Registers                 int // a thread, predicted
	BlocksPerSM               int
	Issued                    map[string]int64 // instructions of warps, by cost class
	Lanes                     map[string]int64 // instructions of threads, by cost class
	Mma                       int64            // matrix operations of warps or warp groups
	MmaFlops                  int64
	Flops                     int64 // of multiply-add units (a fused operation is two) and of matrix units
	LoadBytes, StoreBytes     int64 // that threads asked for
	LoadSectors, StoreSectors int64 // of 32 bytes, that warps asked for
	CopiedBytes               int64 // of asynchronous copies
	DRAMBytes                 int64 // estimate
	Wavefronts, Conflicts     int64 // of shared memory; conflicts are those that another layout would avoid
	Barriers, Shuffles        int64
	Atomics                   int64
	Branches, Divergent       int64
	Seconds                   float64 // estimate
}

func (l *launch) report(r *runner) KernelReport {
	c := &r.count
	k := KernelReport{Name: l.kernel.Name, Lines: l.kernel.Lines, Grid: l.blocks, Block: l.threads, Cluster: l.cluster,
		SharedBytes: l.kernel.Launch.SharedBytes, Registers: l.registers(), Issued: map[string]int64{}, Lanes: map[string]int64{},
		Mma: c.mma, LoadBytes: c.loadBytes, StoreBytes: c.storeBytes, LoadSectors: c.loadSectors, StoreSectors: c.storeSectors,
		CopiedBytes: c.copied, Wavefronts: c.wavefronts, Conflicts: c.conflicts, Barriers: c.barriers, Shuffles: c.shuffles,
		Atomics: c.atomics, Branches: c.branches, Divergent: c.divergent}
	for i := range costs {
		name := ir.Cost(i).String()
		k.Issued[name], k.Lanes[name] = int64(c.issued[i]), int64(c.lanes[i])
	}
	k.MmaFlops = c.mmaFlops
	k.Flops = k.Lanes[ir.CostFMA.String()] + int64(c.fused) + c.mmaFlops
	k.BlocksPerSM = l.dev.Occupancy(device.Usage{Threads: l.threads, Shared: k.SharedBytes, Registers: k.Registers})
	k.DRAMBytes = l.dramBytes(r)
	k.Seconds = Seconds(l.dev, &k)
	return k
}

// registers predicts the registers of a thread: what is alive at once, and what addresses and the target's compiler add.
func (l *launch) registers() int {
	const overhead = 16
	return min(l.prog.slots-builtinSlots+overhead, l.dev.RegsPerThread)
}

// dramBytes estimates the traffic of memory: every sector once, and again as often as the cache loses it.
func (l *launch) dramBytes(r *runner) int64 {
	var unique int64
	for i, p := range r.pages {
		unique += l.unique(32*popcounts(p), len(l.memory[l.module.Arrays[i/2]].data))
	}
	asked := 32 * (r.count.loadSectors + r.count.storeSectors)
	if cache := l.dev.L2Bytes(); unique > cache && asked > unique {
		lost := 1 - float64(cache)/float64(unique)
		unique += int64(lost * float64(asked-unique))
	}
	return unique
}

const (
	launchSeconds = 2.5e-6 // where the device's own is not known
	dramFraction  = 0.85   // of the peak that kernels reach
	slowIssues    = 20     // instructions that an operation of class slow stands for
)

// Seconds is a closed form over the counts of a report: the launch, and the longest of what keeps one unit busy (issue, multiply-add,
// special functions, shared memory, matrix units, DRAM), stretched by the waves that the grid needs and by too few warps to hide
// latency.
func Seconds(d *device.Device, k *KernelReport) float64 {
	start := launchSeconds
	if d.LaunchUS > 0 {
		start = d.LaunchUS * 1e-6
	}
	if k.Grid == 0 {
		return start
	}
	blocks := float64(max(1, k.BlocksPerSM) * d.SMs)
	waves := math.Ceil(float64(k.Grid) / blocks)
	busy := float64(k.Grid) / (waves * blocks) // of the multiprocessors' places
	if float64(k.Grid) < blocks {
		busy = math.Min(1, float64(k.Grid)/float64(d.SMs))
	}
	class := func(c ir.Cost) float64 { return float64(k.Issued[c.String()]) }
	var issues float64
	for i := range costs {
		issues += class(ir.Cost(i))
	}
	issues += (slowIssues - 1) * class(ir.CostSlow)
	rate := func(lanes, otherwise float64) float64 { // warps a clock of a multiprocessor
		if lanes == 0 {
			lanes = otherwise
		}
		return lanes / 32
	}
	perSM := math.Max(issues/math.Max(1, float64(d.Partitions)), class(ir.CostFMA)/rate(d.F32Lanes, 128))
	perSM = math.Max(perSM, (class(ir.CostMUFU)+2*class(ir.CostSlow))/rate(d.SFULanes, 16))
	perSM = math.Max(perSM, float64(k.Wavefronts))
	if d.TensorFMA > 0 {
		perSM = math.Max(perSM, float64(k.MmaFlops)/2/d.TensorFMA)
	}
	compute := perSM / float64(d.SMs) / busy / (d.BoostMHz * 1e6)
	memory := float64(k.DRAMBytes) / (d.DRAMGBs * 1e9 * dramFraction)
	return start + math.Max(compute, memory)
}

// touched is the bit set of the sectors of an array that the runner's blocks have read or written.
func (r *runner) touched(g *globalMemory, write bool) []uint64 {
	k := 2 * g.id
	if write {
		k++
	}
	if r.pages == nil {
		r.pages = make([][]uint64, 2*len(r.module.Arrays))
	}
	if r.pages[k] == nil {
		r.pages[k] = make([]uint64, len(g.data)/(32*64)+1)
	}
	return r.pages[k]
}

func union(a, b []uint64) []uint64 {
	if a == nil {
		return b
	}
	for i := range b {
		a[i] |= b[i]
	}
	return a
}
