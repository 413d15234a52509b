package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/internal/conformance"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/runtime/cuda"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// checker runs cases on a GPU and notes what becomes of them.
type checker struct {
	*report
	suite *suite
	dev   *cuda.Device
	sim   *device.Device
}

// check makes the runs of a case whose kernel is compiled.
func (k *checker) check(ctx context.Context, c *conformance.Case, img image) {
	k.Seconds["nvrtc, all processes"] += img.Seconds
	kernel, m, err := k.suite.lowered(c)
	if img.Wrong != "" {
		err = fmt.Errorf("%s", img.Wrong)
	}
	if err != nil || m == nil {
		k.note(c.ID(), err)
		return
	}
	p, err := k.dev.Load(plan.Of(m), img.Image)
	if err != nil {
		k.note(c.ID(), err)
		return
	}
	defer p.Close()
	k.Kernels++
	for i := range c.Runs {
		call, err := c.Runs[i].Bind(kernel.Program.Signature())
		if err != nil {
			continue // refused before a launch
		}
		k.Runs++
		k.note(fmt.Sprintf("%s %d", c.ID(), i), k.run(ctx, m, p, call, &c.Runs[i]))
	}
}

func (k *checker) note(id string, err error) {
	if err != nil {
		k.Wrong[id] = err.Error()
	}
}

// run makes a run; the error says what is wrong with it.
func (k *checker) run(ctx context.Context, m *simt.Module, p *cuda.Program, call *data.Call, r *conformance.Run) error {
	res, err := p.Run(ctx, call)
	if r.Fails {
		_, want := sim.Run(ctx, m, k.sim, call, sim.Options{})
		if err == nil || want == nil || want.Error() != err.Error() {
			return fmt.Errorf("it fails with %v, and on the simulator with %v", err, want)
		}
		k.Failing++
		return nil
	}
	if err != nil {
		return err
	}
	k.Launches += len(res.Launches)
	for _, l := range res.Launches {
		k.Micros += l.Seconds * 1e6
	}
	if wrong := r.Compare(res.Outputs); len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return nil
}
