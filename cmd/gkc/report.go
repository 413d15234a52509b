package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// jsonRun is what gkc run --json prints.
type jsonRun struct {
	Kernel    string               `json:"kernel"`
	Device    string               `json:"device"`
	Variant   string               `json:"variant,omitempty"` // that was compiled for these sizes, and ran
	Outputs   map[string]jsonArray `json:"outputs"`
	Kernels   []jsonKernel         `json:"kernels"`
	Workspace int64                `json:"workspace_bytes"`
	Estimate  float64              `json:"estimate_seconds,omitempty"`
	GPU       string               `json:"gpu,omitempty"`
	Compiler  string               `json:"compiler,omitempty"`
	Verify    []verdict            `json:"verify,omitempty"`
}

type jsonArray struct {
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
}

type jsonKernel struct {
	Name        string           `json:"name"`
	Statements  []int            `json:"statements"` // source lines
	Grid        int64            `json:"grid"`
	Block       int              `json:"block"`
	Cluster     int              `json:"cluster"`
	SharedBytes int              `json:"shared_bytes"`
	Registers   int              `json:"registers"`
	PerSM       int              `json:"blocks_per_sm"`
	Counts      map[string]int64 `json:"counts"`
	Warps       map[string]int64 `json:"warp_instructions"`
	Threads     map[string]int64 `json:"thread_instructions"`
	Estimate    float64          `json:"estimate_seconds,omitempty"`
	Measured    float64          `json:"measured_us,omitempty"` // of this one run
	Schedule    json.RawMessage  `json:"schedule,omitempty"`    // of a kernel whose blocks compute tiles
}

func (c *runCmd) print(a *app, t *target, out *outcome) error {
	if c.JSON {
		enc := json.NewEncoder(a.out)
		enc.SetIndent("", " ")
		return enc.Encode(c.object(t, out))
	}
	for _, name := range sortedNames(out.outputs) {
		fmt.Fprintf(a.out, "%s: %s = %s\n", name, out.outputs[name], sample(out.outputs[name]))
	}
	if r := out.sim; r != nil {
		fmt.Fprintf(a.out, "%s on %s: %s, %d bytes of workspace, about %s\n", t.unit.Name(), c.Device, count(len(r.Kernels), "device kernel"), r.Workspace, duration(r.Seconds))
	}
	if r := out.gpu; r != nil {
		fmt.Fprintf(a.out, "%s on %s: %s, %d bytes of workspace, %s\n", t.unit.Name(), r.name, count(len(r.Launches), "device kernel"), r.Workspace, duration(r.seconds()))
	}
	for _, v := range out.checked {
		fmt.Fprintf(a.out, "verified %s: largest difference %.3g, %.2g of what rounding may do\n", v.Result, v.Largest, v.OfBound)
	}
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func duration(seconds float64) time.Duration {
	return time.Duration(seconds * 1e9).Round(10 * time.Nanosecond)
}

func sortedNames(m map[string]*data.Array) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// sample shows the first elements of an array.
func sample(a *data.Array) string {
	const shown = 6
	var parts []string
	for i := range min(a.Len(), shown) {
		if a.Type.IsFloat() {
			parts = append(parts, fmt.Sprintf("%.5g", a.Float(i)))
		} else {
			parts = append(parts, a.At(i).Text(a.Type))
		}
	}
	if a.Len() > shown {
		parts = append(parts, "…")
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func (c *runCmd) object(t *target, out *outcome) jsonRun {
	j := jsonRun{Kernel: t.unit.Name(), Device: c.Device, Variant: t.variant, Outputs: map[string]jsonArray{}, Kernels: []jsonKernel{}, Verify: out.checked}
	for name, a := range out.outputs {
		j.Outputs[name] = jsonArray{a.Type.String(), append([]int{}, a.Shape...)}
	}
	if out.sim != nil {
		j.Workspace, j.Estimate = out.sim.Workspace, out.sim.Seconds
		for i := range out.sim.Kernels {
			j.Kernels = append(j.Kernels, kernelObject(&out.sim.Kernels[i]))
		}
	}
	if out.gpu != nil {
		out.gpu.describe(&j)
	}
	chosen := scheduled(t.unit)
	for i := range j.Kernels {
		j.Kernels[i].Schedule = picks(chosen[j.Kernels[i].Name])
	}
	return j
}

func kernelObject(k *sim.KernelReport) jsonKernel {
	return jsonKernel{
		Name: k.Name, Statements: append([]int{}, k.Lines...), Grid: k.Grid, Block: k.Block, Cluster: max(k.Cluster, 1), SharedBytes: k.SharedBytes,
		Registers: k.Registers, PerSM: k.BlocksPerSM, Warps: k.Issued, Threads: k.Lanes, Estimate: k.Seconds,
		Counts: map[string]int64{
			"fma": k.Lanes[ir.CostFMA.String()], "mma": k.Mma, "mma_flops": k.MmaFlops, "flops": k.Flops, "load_bytes": k.LoadBytes, "store_bytes": k.StoreBytes, "load_sectors": k.LoadSectors, "store_sectors": k.StoreSectors,
			"copied_bytes": k.CopiedBytes, "dram_bytes": k.DRAMBytes, "shared_wavefronts": k.Wavefronts, "shared_conflicts": k.Conflicts, "barriers": k.Barriers,
			"shuffles": k.Shuffles, "atomics": k.Atomics, "branches": k.Branches, "divergent_branches": k.Divergent,
		},
	}
}
