package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/diag"
)

// Result is what a run gives.
type Result struct {
	Outputs   map[string]*data.Array // by the caller's names
	Launches  []Launch
	Workspace int64 // bytes
}

// Launch is what became of a launch of the plan.
type Launch struct {
	*plan.Launch
	Grid      int64
	Registers int     // a thread
	PerSM     int     // blocks that a multiprocessor holds
	Seconds   float64 // as the device measured it, this once
}

// run is a run on its way.
type run struct {
	*Program
	drv      driver
	call     *data.Call
	numbers  *plan.Resolved
	arrays   map[string]int // places in the plan
	memory   []address      // of every array
	failures address        // a record for every launch
	held     []address      // what is to be released
	events   []handle       // one before the launches, and one behind each
}

// Run launches the program once. What a result or workspace holds before is poison, so that nothing comes out by chance. Where
// ctx ends before the kernels do, they keep the device, and their memory, until the process ends: a device cannot be told to stop.
func (p *Program) Run(ctx context.Context, call *data.Call) (*Result, error) {
	r := &run{Program: p, drv: p.dev.drv, call: call, arrays: map[string]int{}}
	var out *Result
	err := p.dev.do(func() (err error) {
		if p.closed {
			return fmt.Errorf("program %s is closed", p.plan.Kernel)
		}
		if err = r.resolve(); err != nil {
			return err
		}
		defer func() {
			if p.dev.left {
				return
			}
			if e := r.release(); err == nil {
				err = e
			}
		}()
		out, err = r.run(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (r *run) run(ctx context.Context) (*Result, error) {
	for _, step := range []func() error{r.allocate, r.mark, r.launchAll, func() error { return r.wait(ctx) }, r.check} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r.result()
}

// release gives back what the run holds.
func (r *run) release() error {
	var errs []error
	for _, p := range r.held {
		errs = append(errs, r.drv.release(p))
	}
	for _, e := range r.events {
		errs = append(errs, r.drv.discard(e))
	}
	return errors.Join(errs...)
}

// resolve gives the plan numbers and refuses grids that no device has.
func (r *run) resolve() (err error) {
	facts := r.dev.facts
	r.numbers, err = r.plan.Resolve(r.call.Scalars, plan.Device{SMs: int64(facts.SMs), L2Bytes: facts.L2Bytes()})
	if err != nil {
		return err
	}
	for i, n := range r.numbers.Launches {
		l := r.plan.Launches[i]
		switch cluster := int64(max(l.Cluster, 1)); {
		case n.Grid < 0 || n.Grid > math.MaxInt32:
			return diag.Errorf(diag.Pos{}, "runtime", "kernel %s: a grid of %d blocks", l.Kernel, n.Grid)
		case n.Grid%cluster != 0:
			return diag.Errorf(diag.Pos{}, "runtime", "kernel %s: a grid of %d blocks does not divide into clusters of %d", l.Kernel, n.Grid, cluster)
		}
	}
	return nil
}

// mark records an event behind what was launched so far.
func (r *run) mark() error {
	e, err := r.drv.event()
	if err != nil {
		return err
	}
	r.events = append(r.events, e)
	return r.drv.record(e)
}

// launchAll launches one after another: a launch that may begin before the one in front of it is done is not hurried.
func (r *run) launchAll() error {
	for i := range r.plan.Launches {
		l, n := &r.plan.Launches[i], &r.numbers.Launches[i]
		if n.Grid > 0 {
			args, err := r.arguments(i)
			if err != nil {
				return err
			}
			s := shape{int(n.Grid), l.Threads, l.Shared, l.Cluster}
			if err := r.drv.launch(r.loaded[i].function, s, args); err != nil {
				return fmt.Errorf("kernel %s: %w", l.Kernel, err)
			}
		}
		if err := r.mark(); err != nil {
			return err
		}
	}
	return nil
}

// wait returns when the device is idle. Short kernels are awaited in short steps.
func (r *run) wait(ctx context.Context) error {
	for pause := 5 * time.Microsecond; ; pause = min(2*pause, time.Millisecond) {
		idle, err := r.drv.idle()
		if err != nil {
			r.dev.lost = fmt.Errorf("kernel %s: %w", r.plan.Kernel, err) // the driver gives the same error to every later call
			return r.dev.lost
		}
		if idle {
			return nil
		}
		select {
		case <-ctx.Done():
			r.dev.left = true
			r.dev.lost = fmt.Errorf("kernel %s was left while it ran: %w", r.plan.Kernel, ctx.Err())
			return r.dev.lost
		case <-time.After(pause):
		}
	}
}

// failure is the record that codegen/cuda's gkc_fail leaves.
type failure struct {
	count uint32
	code  int
	args  []int64
}

const failureBytes = 64

func readFailure(b []byte) failure {
	u32 := binary.LittleEndian.Uint32
	f := failure{count: u32(b[4:]), code: int(int32(u32(b[16:])))}
	for i := range min(u32(b[20:]), 4) {
		f.args = append(f.args, int64(binary.LittleEndian.Uint64(b[24+8*i:])))
	}
	return f
}

// check turns the first failed check into an error.
func (r *run) check() error {
	records := make([]byte, failureBytes*len(r.plan.Launches))
	if err := r.download(records, r.failures); err != nil {
		return err
	}
	i := 0
	for record := range slices.Chunk(records, failureBytes) {
		if f := readFailure(record); f.count > 0 {
			return r.plan.Explain(&r.plan.Launches[i], f.code, f.args, r.numbers)
		}
		i++
	}
	return nil
}

func (r *run) download(to []byte, from address) error {
	if len(to) == 0 {
		return nil
	}
	return r.drv.download(to, from)
}

func (r *run) result() (*Result, error) {
	out := &Result{Outputs: map[string]*data.Array{}}
	for i := range r.plan.Arrays {
		a := &r.plan.Arrays[i]
		shape, t, bytes := r.array(i)
		switch a.Role {
		case "result":
			res := data.New(t, shape...)
			if err := r.download(res.Data, r.memory[i]); err != nil {
				return nil, err
			}
			out.Outputs[callerName(a)] = res
		case "work":
			out.Workspace += bytes
		}
	}
	for i := range r.plan.Launches {
		seconds, err := r.drv.elapsed(r.events[i], r.events[i+1])
		if err != nil {
			return nil, err
		}
		l := r.loaded[i]
		out.Launches = append(out.Launches, Launch{&r.plan.Launches[i], r.numbers.Launches[i].Grid, l.registers, l.perSM, seconds})
	}
	return out, nil
}

func callerName(a *plan.Array) string {
	if a.As != "" {
		return a.As
	}
	return a.Name
}

// array is the shape, type and size of an array in this run; allocate has checked them.
func (r *run) array(i int) (shape []int, t ir.Type, bytes int64) {
	t, _ = ir.TypeByName(r.plan.Arrays[i].Type)
	for _, n := range r.numbers.Extents[i] {
		shape = append(shape, int(n))
	}
	return shape, t, int64(data.Len(shape)) * int64(t.Bytes())
}
