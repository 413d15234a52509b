package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/text"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

type explainCmd struct {
	File     string   `arg:"" help:"A gk file."`
	Kernel   string   `help:"Which kernel, where the file holds several."`
	Set      []string `sep:"none" placeholder:"N=V,…" help:"Give sizes values."`
	In       []string `sep:"none" placeholder:"NAME=FILE.npy|NUMBER" help:"Give a parameter a value."`
	Device   string   `default:"sim:h200" help:"The simulated device."`
	Schedule string   `sep:"none" placeholder:"K=V,…|random:SEED" help:"Force choices for device kernels whose blocks compute tiles."`
	NoFuse   bool     `help:"One device kernel a definition."`
	JSON     bool     `name:"json" help:"Print one JSON object: what was fused, and each device kernel with its choices."`
}

// Run says what a kernel becomes, and what each device kernel does on the device.
func (c *explainCmd) Run(a *app) error {
	run := runCmd{File: c.File, Kernel: c.Kernel, Set: c.Set, In: c.In, Device: c.Device, Seed: 1, Bounds: "check", Schedule: c.Schedule}
	set, err := settings(c.Set)
	if err != nil {
		return err
	}
	name, ok := strings.CutPrefix(c.Device, "sim:")
	if !ok {
		return usage("--device %s: expected sim:NAME", c.Device)
	}
	dev, err := device.Find(name)
	if err != nil {
		return usage("--device %s: %v", c.Device, err)
	}
	t, err := a.load(c.File, c.Kernel, set)
	if err != nil {
		return err
	}
	call, err := run.bind(t, set)
	if err != nil {
		return a.located(t, err)
	}
	t.unit.NoFuse = c.NoFuse
	out, err := run.simulate(a, t, call, name)
	if err != nil {
		return a.located(t, err)
	}
	if c.JSON {
		enc := json.NewEncoder(a.out)
		enc.SetIndent("", " ")
		return enc.Encode(c.object(t, dev, out.sim))
	}
	c.print(a, t, dev, out.sim)
	return nil
}

func (c *explainCmd) print(a *app, t *target, dev *device.Device, res *sim.Result) {
	fmt.Fprintf(a.out, "%s on %s: %s, %d bytes of workspace, about %s\n", t.unit.Name(), dev.Name, count(len(res.Kernels), "device kernel"), res.Workspace, duration(res.Seconds))
	for _, e := range t.unit.Edges {
		fmt.Fprintf(a.out, "  %s -> %s: %s\n", e.From, e.To, fused(e))
	}
	chosen := scheduled(t.unit)
	lines := strings.Split(t.source, "\n")
	for i, k := range res.Kernels {
		fmt.Fprintf(a.out, "\n%s: grid %s = %d blocks of %d threads, about %s\n", k.Name, text.String(t.unit.Simt.Kernels[i].Launch.Grid), k.Grid, k.Block, duration(k.Seconds))
		for _, n := range k.Lines {
			if n >= 1 && n <= len(lines) {
				fmt.Fprintf(a.out, "  line %d: %s\n", n, clip(strings.TrimSpace(lines[n-1])))
			}
		}
		if sched := chosen[k.Name]; len(sched) > 0 {
			fmt.Fprintf(a.out, "  schedule %s\n", sched)
		}
		fmt.Fprintf(a.out, "  reads %d and writes %d bytes, about %d of them in DRAM; %d flops; %s\n", k.LoadBytes, k.StoreBytes, k.DRAMBytes, k.Flops, bound(dev, &k))
	}
}

// jsonExplain is what gkc explain --json prints.
type jsonExplain struct {
	Kernel    string         `json:"kernel"`
	Device    string         `json:"device"`
	Workspace int64          `json:"workspace_bytes"`
	Estimate  float64        `json:"estimate_seconds"`
	Tensors   []jsonEdge     `json:"tensors"` // between two definitions
	Kernels   []jsonExplains `json:"kernels"`
}

type jsonEdge struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Fused bool   `json:"fused"`
	Why   string `json:"why,omitempty"` // not
}

type jsonExplains struct {
	jsonKernel
	GridExpr string     `json:"grid_expr"`
	Bound    string     `json:"bound"`
	Knobs    []jsonKnob `json:"knobs"` // what --schedule can force
}

func (c *explainCmd) object(t *target, dev *device.Device, res *sim.Result) jsonExplain {
	j := jsonExplain{Kernel: t.unit.Name(), Device: dev.Name, Workspace: res.Workspace, Estimate: res.Seconds, Tensors: []jsonEdge{}, Kernels: []jsonExplains{}}
	for _, e := range t.unit.Edges {
		j.Tensors = append(j.Tensors, jsonEdge{e.From, e.To, e.Why == "", e.Why})
	}
	chosen := scheduled(t.unit)
	for i := range res.Kernels {
		k := kernelObject(&res.Kernels[i])
		k.Schedule = picks(chosen[k.Name])
		grid := text.String(t.unit.Simt.Kernels[i].Launch.Grid)
		j.Kernels = append(j.Kernels, jsonExplains{k, grid, bound(dev, &res.Kernels[i]), knobs(t.unit, k.Name)})
	}
	return j
}

// fused says what became of a tensor between two definitions.
func fused(e passes.FusionEdge) string {
	if e.Why == "" {
		return "fused"
	}
	return "not fused: " + e.Why
}

// clip shortens a line to what a terminal shows.
func clip(line string) string {
	const most = 120
	if r := []rune(line); len(r) > most {
		return string(r[:most]) + "…"
	}
	return line
}

// bound says which of the device's rates limits a kernel, by its counts.
func bound(dev *device.Device, k *sim.KernelReport) string {
	memory := float64(k.DRAMBytes) / (dev.DRAMGBs * 1e9)
	issued := int64(0)
	for _, n := range k.Issued {
		issued += n
	}
	rate := float64(dev.SMs*dev.Partitions) * dev.BoostMHz * 1e6
	issue := float64(issued) / rate
	switch {
	case max(memory, issue) < k.Seconds/4:
		return "bound by latency and the launch: there is too little work for the device"
	case memory > issue:
		return "bound by memory"
	}
	return "bound by the instructions that it issues"
}
