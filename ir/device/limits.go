package device

import (
	"fmt"
	"strconv"
	"strings"
)

// Feature is something that only some devices have.
type Feature struct {
	Name string
	Has  func(*Device) bool
}

// The features that programs may need.
var (
	CpAsync  = Feature{"asynchronous copies to shared memory (cp.async)", func(d *Device) bool { return d.HasCpAsync }}
	MBarrier = Feature{"mbarriers", func(d *Device) bool { return d.HasMBarrier }}
	TMA      = Feature{"bulk and tensor-map copies", func(d *Device) bool { return d.HasTMA }}
	Clusters = Feature{"clusters", func(d *Device) bool { return d.HasClusters }}
	Wgmma    = Feature{"wgmma", func(d *Device) bool { return d.HasWgmma }}
)

// Require says why the device cannot do something, or nil.
func (d *Device) Require(f Feature) error {
	if f.Has(d) {
		return nil
	}
	return fmt.Errorf("%s (%s) has no %s", d.Name, d.Target(), f.Name)
}

// Capability is the compute capability; ok is false for devices that have none.
func (d *Device) Capability() (major, minor int, ok bool) { return parseCapability(d.Compute) }

func parseCapability(s string) (major, minor int, ok bool) {
	a, b, found := strings.Cut(s, ".")
	major, errA := strconv.Atoi(a)
	minor, errB := strconv.Atoi(b)
	return major, minor, found && errA == nil && errB == nil
}

// Target is the name of the device's instruction set: sm_90, gfx942.
func (d *Device) Target() string {
	if major, minor, ok := d.Capability(); ok {
		return fmt.Sprintf("sm_%d%d", major, minor)
	}
	return d.Compute
}

// FullTarget is the target that programs for the device are compiled for. From Hopper on, it is the one that has all instructions.
func (d *Device) FullTarget() string {
	if major, _, ok := d.Capability(); ok && major >= 9 {
		return d.Target() + "a"
	}
	return d.Target()
}

// CanRun says why a program made for a target ("" any, "sm_80", "sm_90a") cannot run on the device, or nil. Targets that end in
// "a" run on exactly their own capability, others on every later one too.
func (d *Device) CanRun(target string) error {
	if target == "" {
		return nil
	}
	digits, isCUDA := strings.CutPrefix(target, "sm_")
	digits, exact := strings.CutSuffix(digits, "a")
	n, err := strconv.Atoi(digits)
	if !isCUDA || err != nil || n < 10 {
		return fmt.Errorf("%q is no target", target)
	}
	major, minor, ok := d.Capability()
	switch have := 10*major + minor; {
	case !ok:
		return fmt.Errorf("%s (%s) cannot run a program for %s", d.Name, d.Target(), target)
	case exact && have != n:
		return fmt.Errorf("%s (%s) cannot run a program for %s, which only sm_%d executes", d.Name, d.Target(), target, n)
	case have < n:
		return fmt.Errorf("%s (%s) cannot run a program for %s: it needs sm_%d or later", d.Name, d.Target(), target, n)
	}
	return nil
}

// Usage is what a launch asks for.
type Usage struct {
	Threads   int // a block
	Shared    int // bytes a block
	Registers int // a thread; 0: unknown
	Cluster   int // blocks; 0 or 1: none
}

// Fits says which limit of the device a launch exceeds, or nil.
func (d *Device) Fits(u Usage) error {
	over := func(what string, want, limit int) error {
		if limit == 0 || want <= limit {
			return nil
		}
		return fmt.Errorf("%s allows %d %s, not %d", d.Name, limit, what, want)
	}
	if u.Cluster > 1 {
		if err := d.Require(Clusters); err != nil {
			return err
		}
	}
	for _, err := range []error{
		over("threads a block", u.Threads, d.BlockThreads),
		over("bytes of shared memory a block", u.Shared, d.BlockShared),
		over("registers a thread", u.Registers, d.RegsPerThread),
		over("blocks a cluster", u.Cluster, d.ClusterBlocks),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// Occupancy is the number of blocks that one multiprocessor holds at a time; 0 if not even one fits. Registers are allotted to
// warps in units, and to each partition of the multiprocessor on its own.
func (d *Device) Occupancy(u Usage) int {
	warps := max(1, (u.Threads+d.WarpSize-1)/d.WarpSize)
	blocks := d.SMWarps / warps
	if d.SMBlocks > 0 {
		blocks = min(blocks, d.SMBlocks)
	}
	if u.Registers > 0 && d.Registers > 0 && d.RegUnit > 0 {
		perWarp := roundUp(u.Registers*d.WarpSize, d.RegUnit)
		fitting := d.Registers / d.Partitions / perWarp * d.Partitions
		blocks = min(blocks, fitting/warps)
	}
	if d.SMShared > 0 {
		blocks = min(blocks, d.SMShared/max(1, roundUp(u.Shared+d.SharedReserved, max(1, d.SharedUnit))))
	}
	return blocks
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
