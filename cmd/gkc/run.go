package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gkc-lang/gkc/codegen/go"
	"github.com/gkc-lang/gkc/internal/npy"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

type runCmd struct {
	File     string   `arg:"" help:"FILE.gk, or IR text: FILE.tensor, FILE.tile, FILE.simt."`
	Kernel   string   `help:"Which kernel, where the file holds several."`
	Set      []string `sep:"none" placeholder:"N=V,…" help:"Give sizes values."`
	In       []string `sep:"none" placeholder:"NAME=FILE.npy|NUMBER" help:"Give a parameter a value; tensors that are not given are random."`
	Seed     uint64   `default:"1" help:"Of random inputs."`
	Out      string   `placeholder:"DIR" help:"Write results to DIR/NAME.npy."`
	Device   string   `default:"sim:h200" help:"ref (the evaluator), sim[:NAME] (a simulated device), go (as a Go program), cuda[:N] (the N-th NVIDIA GPU)."`
	FP       string   `name:"fp" default:"default" enum:"strict,default,tf32,fast" help:"What arithmetic may do. Unfused kernels round as strict demands in every mode."`
	Bounds   string   `default:"check" enum:"check,trust" help:"trust: accesses through data are not checked."`
	Schedule string   `sep:"none" placeholder:"K=V,…|random:SEED" help:"Force choices for device kernels whose blocks compute tiles; gkc explain lists them."`
	NoFuse   bool     `help:"One device kernel a definition."`
	Verify   bool     `help:"Compare with the evaluator, within the rounding error that the arithmetic may make; verify after every pass."`
	JSON     bool     `name:"json" help:"Print one JSON object: kernels, counts or times, workspace, estimate."`
}

// outcome is what a device gave.
type outcome struct {
	outputs map[string]*data.Array
	sim     *sim.Result // of a simulated device
	gpu     *gpuRun     // of a real one
	checked []verdict   // of --verify
}

// Run runs a kernel.
func (c *runCmd) Run(a *app) error {
	set, err := settings(c.Set)
	if err != nil {
		return err
	}
	t, err := a.load(c.File, c.Kernel, set)
	if err != nil {
		return err
	}
	call, err := c.bind(t, set)
	if err != nil {
		return a.located(t, err)
	}
	program := t.unit.Tensor // lowering replaces it
	out, err := c.execute(a, t, call)
	if err != nil {
		return a.located(t, err)
	}
	if c.Verify {
		if err := out.verify(a, program, call, c.FP == "strict"); err != nil {
			return err
		}
	}
	if err := c.save(out); err != nil {
		return err
	}
	return c.print(a, t, out)
}

func (c *runCmd) bind(t *target, set map[string]int64) (*data.Call, error) {
	sig := t.signature()
	given := data.Given{Set: set, Example: t.example}
	if err := arguments(c.In, sig, &given); err != nil {
		return nil, err
	}
	given.Fill = randomInput(c.Seed, nil)
	return data.Bind(sig, given)
}

// located gives an error of a run the source that it points into.
func (a *app) located(t *target, err error) error {
	var d *diag.Diag
	if errors.As(err, &d) {
		if d.Pos.IsValid() && d.File == "" {
			d.File = t.path
		}
		return a.report(diag.List{d}, t.source)
	}
	return err
}

func (c *runCmd) execute(a *app, t *target, call *data.Call) (*outcome, error) {
	name, arg, _ := strings.Cut(c.Device, ":")
	t.unit.Trust, t.unit.NoFuse, t.unit.Strict = c.Bounds == "trust", c.NoFuse, c.FP == "strict"
	switch name {
	case "ref":
		if c.Schedule != "" && !strings.HasPrefix(c.Schedule, "random:") {
			return nil, callError("--schedule %s: the evaluator makes no choices", c.Schedule)
		}
		return c.evaluate(a, t, call)
	case "sim":
		return c.simulate(a, t, call, arg)
	case "go":
		if err := c.lower(a, t, call, nil); err != nil {
			return nil, err
		}
		outputs, err := gogen.Run(a.ctx, t.unit.Simt, call)
		return &outcome{outputs: outputs}, err
	case "cuda":
		return c.onGPU(a, t, call, arg)
	}
	return nil, usage("--device %s: expected ref, sim, sim:NAME, go, cuda or cuda:N", c.Device)
}

// lower takes the target down to device kernels for the sizes of a call, and for a device; nil: any.
func (c *runCmd) lower(a *app, t *target, call *data.Call, dev *device.Device) error {
	if err := a.fix(t, call); err != nil {
		return err
	}
	t.unit.Device = dev
	if err := force(t.unit, c.Schedule); err != nil {
		return err
	}
	found, err := readTuned(t.path)
	if err != nil {
		return err
	}
	if t.kernel != nil {
		found.give(t.unit, t.kernel.Program.Name)
	}
	if err := a.lower(t, passes.Options{To: passes.Simt, Verify: c.Verify}); err != nil {
		return found.blame(t.unit, err)
	}
	return unforced(t.unit)
}

func (c *runCmd) evaluate(a *app, t *target, call *data.Call) (*outcome, error) {
	var err error
	out := &outcome{}
	switch t.unit.Level {
	case passes.Tensor:
		out.outputs, err = tensor.Eval(t.unit.Tensor, call, tensor.EvalOptions{Context: a.ctx})
	case passes.Tile:
		out.outputs, err = tile.Eval(a.ctx, t.unit.Tile, call)
	default:
		return nil, usage("--device ref evaluates tensor and tile programs; run %s with --device sim", t.path)
	}
	return out, err
}

// maxSteps bounds the instructions that a block's warps execute: a kernel that never ends is told so after some minutes.
const maxSteps = 1 << 34

func (c *runCmd) simulate(a *app, t *target, call *data.Call, name string) (*outcome, error) {
	if name == "" {
		name = "h200"
	}
	dev, err := device.Find(name)
	if err != nil {
		return nil, usage("--device %s: %v", c.Device, err)
	}
	if err := c.lower(a, t, call, dev); err != nil {
		return nil, err
	}
	res, err := sim.Run(a.ctx, t.unit.Simt, dev, call, sim.Options{Seed: c.Seed, Steps: maxSteps})
	var found sim.Mistakes
	if errors.As(err, &found) && t.checked && !t.unit.Trust {
		return nil, reproducible(err, "simt", t.unit.Text()) // what becomes of a checked program has no such mistakes
	}
	if err != nil {
		return nil, err
	}
	return &outcome{outputs: res.Outputs, sim: res}, nil
}

func (c *runCmd) save(out *outcome) error {
	if c.Out == "" {
		return nil
	}
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return err
	}
	for name, array := range out.outputs {
		if err := npy.WriteFile(filepath.Join(c.Out, name+".npy"), array); err != nil {
			return fmt.Errorf("result %s: %w", name, err)
		}
	}
	return nil
}
