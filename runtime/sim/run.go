// Package sim executes SIMT programs on a simulated device, warp by warp: it gives the results, counts what the machine would do,
// estimates the time, and reports every mistake whose outcome depends on luck on a real device: races, accesses outside, reads of
// what nobody wrote, barriers that not all reach.
package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
)

// Options are what a run can be told.
type Options struct {
	Workers int    // goroutines; 0: as many as GOMAXPROCS. Results do not depend on it
	Moment  Moment // when asynchronous operations take effect
	Seed    uint64 // of Moment Random
	Steps   int64  // instructions that a block's warps may execute together; 0: no limit
	// Blocks, if set, executes that many blocks of a larger grid, spread evenly, and takes the rest to be like them: reports are
	// about all blocks, results are worth nothing, and nobody looks for what was not written.
	Blocks int64
}

// Result is what a run gives.
type Result struct {
	Outputs   map[string]*data.Array // by the caller's names
	Kernels   []KernelReport
	Workspace int64     // bytes
	Findings  []Finding // mistakes of the program
	Seconds   float64   // estimate of the time on the device
}

// Mistakes is the error of a run whose program has mistakes. The results that come with it are not to be trusted.
type Mistakes []Finding

func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i, f := range m {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Run executes a module with a call on a device. The error is a diag.Diag where the call or its data are at fault, or Mistakes where
// the program is; in that case there is a Result too.
func Run(ctx context.Context, m *simt.Module, dev *device.Device, call *data.Call, o Options) (*Result, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	res, err := run(ctx, m, dev, call, o)
	if err == nil && len(res.Findings) > 0 && o.Workers > 1 {
		o.Workers = 1 // blocks one after another: the report is the same every time
		res, err = run(ctx, m, dev, call, o)
	}
	if err == nil && len(res.Findings) > 0 {
		err = Mistakes(res.Findings)
	}
	return res, err
}

func run(ctx context.Context, m *simt.Module, dev *device.Device, call *data.Call, o Options) (*Result, error) {
	h, err := newHost(m, dev, call)
	if err != nil {
		return nil, err
	}
	memory, err := h.bind(m, call, o.Blocks > 0)
	if err != nil {
		return nil, err
	}
	res := &Result{Outputs: map[string]*data.Array{}}
	for _, k := range m.Kernels {
		l, err := h.prepare(m, k, memory, o)
		if err != nil {
			return nil, err
		}
		t, err := l.execute(ctx)
		if err != nil {
			return nil, err
		}
		if t.failed != nil && len(t.reports) == 0 {
			return nil, l.failureError(t.failed)
		}
		report := l.report(t)
		res.Kernels = append(res.Kernels, report)
		res.Seconds += report.Seconds
		if res.Findings = append(res.Findings, t.reports...); len(res.Findings) > 0 {
			return res, nil
		}
	}
	for _, a := range m.Arrays {
		g := memory[a]
		switch a.Role {
		case simt.Result:
			res.Outputs[a.CallerName()] = &data.Array{Type: a.Type, Shape: g.shape, Data: g.data}
		case simt.Work:
			res.Workspace += int64(len(g.data))
		}
		if o.Blocks == 0 {
			res.Findings = append(res.Findings, g.leftovers(m)...)
		}
	}
	return res, nil
}

// leftovers reports what no kernel did: elements of results that nobody wrote, workspace that is not zero again.
func (g *globalMemory) leftovers(m *simt.Module) []Finding {
	if g.Role == simt.Result {
		for e, b := range g.born {
			if b == 0 {
				return []Finding{{Kind: "unwritten", Kernel: m.Name, Text: fmt.Sprintf("%s is never written", g.element(e))}}
			}
		}
	}
	if g.Role == simt.Work && g.Zero == simt.ZeroOnce {
		for i, b := range g.data {
			if b != 0 {
				return []Finding{{Kind: "workspace", Kernel: m.Name, Text: fmt.Sprintf("%s is not zero again", g.element(i/g.size))}}
			}
		}
	}
	return nil
}

// execute runs all blocks.
func (l *launch) execute(ctx context.Context) (*runner, error) {
	for _, a := range l.module.Arrays {
		if use := l.traits.arrays[a]; use.written {
			l.memory[a].watch(use.read, l.traits.messages)
			defer l.memory[a].unwatch()
		}
	}
	clusters := l.blocks / int64(l.cluster)
	chosen := l.sampled(clusters)
	workers := int(min(int64(l.options.Workers), max(chosen, 1)))
	if l.traits.serial {
		workers = 1
	}
	runners := make([]*runner, workers)
	for i := range runners {
		runners[i] = newRunner(l, ctx)
	}
	var next atomic.Int64
	var halt atomic.Bool
	work := func(r *runner) {
		for !halt.Load() {
			i := next.Add(1) - 1
			if i >= chosen {
				return
			}
			r.cluster((2*i + 1) * clusters / (2 * chosen) * int64(l.cluster))
			r.spend(1)
			if r.stopped != nil {
				halt.Store(true)
			}
		}
	}
	var group sync.WaitGroup
	for _, r := range runners[1:] {
		group.Go(func() { work(r) })
	}
	work(runners[0])
	group.Wait()
	total, err := merge(runners)
	if err == nil && chosen < clusters {
		l.share = float64(clusters) / float64(chosen)
		total.count.scale(l.share)
	}
	return total, err
}

// merge adds the other runners to the first.
func merge(runners []*runner) (*runner, error) {
	total := runners[0]
	for _, r := range runners {
		if r.stopped != nil && !errors.Is(r.stopped, errStopped) {
			return nil, r.stopped
		}
		if r == total {
			continue
		}
		total.count.add(&r.count)
		total.reports = append(total.reports, r.reports...)
		if r.failed != nil && r.failed.before(total.failed) {
			total.failed = r.failed
		}
		if total.pages == nil {
			total.pages, r.pages = r.pages, nil
		}
		for k := range r.pages {
			total.pages[k] = union(total.pages[k], r.pages[k])
		}
	}
	return total, nil
}

// failureError says what a failed check means to the caller.
func (l *launch) failureError(f *failure) error {
	args := make([]int64, len(f.args))
	for i, a := range f.args {
		args[i] = a.Int()
	}
	fault := simt.Fault{Kernel: l.kernel.Name, Code: f.check.Code, Args: args, Of: f.check.Of}
	return l.module.Explain(fault, func(a *simt.Array) []int { return l.memory[a].shape })
}
