package main

import (
	"errors"
	"strconv"

	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/runtime/cuda"
)

// gpuRun is a run on a GPU.
type gpuRun struct {
	*cuda.Result
	name, compiler string
}

// onGPU runs on the GPU of a number; none is the first.
func (c *runCmd) onGPU(a *app, t *target, call *data.Call, number string) (*outcome, error) {
	n := 0
	if number != "" {
		var err error
		if n, err = strconv.Atoi(number); err != nil {
			return nil, usage("--device %s: expected cuda or cuda:N", c.Device)
		}
	}
	dev, err := cuda.Open(n)
	if err != nil {
		return nil, c.absent(err)
	}
	defer dev.Close()
	if err := c.lower(a, t, call, dev.Facts().Completed()); err != nil {
		return nil, err
	}
	res, err := dev.Run(a.ctx, t.unit.Simt, call)
	if err != nil {
		return nil, c.absent(err)
	}
	compiler, err := cuda.Compiler()
	return &outcome{outputs: res.Outputs, gpu: &gpuRun{res, dev.Facts().Name, compiler}}, err
}

// absent tells a machine that cannot run the kernel, and text that the compiler refuses, from other errors.
func (c *runCmd) absent(err error) error {
	var none *cuda.Absent
	var text *cuda.CompileError
	switch {
	case errors.As(err, &none):
		return usage("--device %s: %v", c.Device, err)
	case errors.As(err, &text):
		return reproducible(err, "cu", text.Text)
	}
	return err
}

func (r *gpuRun) seconds() (sum float64) {
	for _, l := range r.Launches {
		sum += l.Seconds
	}
	return sum
}

// describe adds the run to what --json prints.
func (r *gpuRun) describe(j *jsonRun) {
	j.GPU, j.Compiler, j.Workspace = r.name, r.compiler, r.Workspace
	for _, l := range r.Launches {
		j.Kernels = append(j.Kernels, jsonKernel{
			Name: l.Kernel, Statements: append([]int{}, l.Lines...), Grid: l.Grid, Block: l.Threads, Cluster: max(l.Cluster, 1), SharedBytes: l.Shared,
			Registers: l.Registers, PerSM: l.PerSM, Counts: map[string]int64{}, Warps: map[string]int64{}, Threads: map[string]int64{}, Measured: l.Seconds * 1e6,
		})
	}
}
