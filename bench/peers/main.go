// Command peers writes kernels, compiled to CUDA for the sizes of a table of rows, so that a machine with a GPU and no Go can
// check them and time them beside what a user of PyTorch would call instead:
//
//	go run ./bench/peers -o DIR; python3 bench/peers.py DIR --out FILE
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/bench/job"
	"github.com/gkc-lang/gkc/codegen/cuda"
	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/passes"
)

// row is a row of the table: a kernel, its sizes, and what it is compared with, a Python expression over the kernel's
// parameters and sizes. flops and bytes are the least that the work needs.
type row struct {
	File   string             `json:"file"` // from the table's folder
	Kernel string             `json:"kernel"`
	Sizes  []map[string]int64 `json:"sizes"`
	Peer   string             `json:"peer"`
	FLOPs  string             `json:"flops,omitempty"`
	Bytes  string             `json:"bytes,omitempty"`
	Scheds []string           `json:"schedules,omitempty"` // tried beside the default
}

// task is a kernel that is compiled for one set of sizes.
type task struct {
	Kernel   string             `json:"kernel"`
	Sizes    map[string]int64   `json:"sizes"`
	Scalars  map[string]float64 `json:"scalars"`
	General  bool               `json:"general"`  // compiled for any size
	Schedule string             `json:"schedule"` // empty: the default
	Peer     string             `json:"peer"`
	FLOPs    string             `json:"flops"`
	Bytes    string             `json:"bytes"`
	Module   string             `json:"module"`
	Arrays   []job.Array        `json:"arrays"`
	Launches []job.Launch       `json:"launches"`
}

type exporter struct {
	dir, device string
	general     bool
	tasks       []task
}

func main() {
	table := flag.String("rows", "bench/peers/rows.json", "the table of kernels")
	only := flag.String("only", "", "only kernels of these names, separated by commas")
	x := &exporter{}
	flag.StringVar(&x.dir, "o", "out", "where the files go")
	flag.StringVar(&x.device, "device", "h200", "the device to compile for")
	flag.BoolVar(&x.general, "general", false, "compile for any size, not for each")
	flag.Parse()
	if err := x.export(*table, *only); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func (x *exporter) export(table, only string) error {
	text, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	var rows []row
	if err := json.Unmarshal(text, &rows); err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	if err := os.MkdirAll(x.dir, 0o777); err != nil {
		return err
	}
	for _, r := range rows {
		if only != "" && !slices.Contains(strings.Split(only, ","), r.Kernel) {
			continue
		}
		r.File = filepath.Join(filepath.Dir(table), r.File)
		for _, sizes := range r.Sizes {
			for _, sched := range append([]string{""}, r.Scheds...) {
				if err := x.add(&r, sizes, sched); err != nil {
					return fmt.Errorf("%s %v %s: %w", r.Kernel, sizes, sched, err)
				}
			}
		}
	}
	if len(x.tasks) == 0 {
		return errors.New("no row is of these names")
	}
	text, err = json.MarshalIndent(map[string]any{"commit": commit(), "tasks": x.tasks}, "", " ")
	if err != nil {
		return err
	}
	fmt.Printf("%d kernels\n", len(x.tasks))
	return os.WriteFile(filepath.Join(x.dir, "tasks.json"), text, 0o666)
}

// commit names the version of the sources, where git knows it.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func (x *exporter) add(r *row, sizes map[string]int64, sched string) error {
	k, err := compile(r, sizes, x.general)
	if err != nil {
		return err
	}
	m, err := x.lower(k, sched)
	if err != nil {
		return err
	}
	text, err := cuda.Emit(m)
	if err != nil {
		return err
	}
	t := task{Kernel: r.Kernel, Sizes: sizes, Scalars: map[string]float64{}, General: x.general, Schedule: sched, Peer: r.Peer, FLOPs: r.FLOPs, Bytes: r.Bytes}
	t.Module = fmt.Sprintf("%s.%d.cu", r.Kernel, len(x.tasks))
	if err := os.WriteFile(filepath.Join(x.dir, t.Module), []byte(text), 0o666); err != nil {
		return err
	}
	if err := x.launches(&t, m); err != nil {
		return err
	}
	x.tasks = append(x.tasks, t)
	return nil
}

// lower takes a kernel down for the device, under a schedule.
func (x *exporter) lower(k *gkc.Kernel, sched string) (*simt.Module, error) {
	choice, err := schedule.Parse(sched)
	if err != nil {
		return nil, err
	}
	u := &passes.Unit{Level: passes.Tensor, Tensor: k.Program, Sched: choice}
	if u.Device, err = device.Find(x.device); err != nil {
		return nil, err
	}
	err = passes.Run(u, passes.Options{To: passes.Simt, Verify: true})
	return u.Simt, err
}

// compile finds the kernel of a row, with its sizes fixed unless it is to be general.
func compile(r *row, sizes map[string]int64, general bool) (*gkc.Kernel, error) {
	src, err := os.ReadFile(r.File)
	if err != nil {
		return nil, err
	}
	if general {
		sizes = nil
	}
	kernels, errs := gkc.Compile(r.File, string(src), sizes)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	for _, k := range kernels {
		if k.Program.Name == r.Kernel {
			return k, nil
		}
	}
	return nil, fmt.Errorf("%s has no kernel %s", r.File, r.Kernel)
}

// launches resolves the plan of a module. Scalars that are no sizes have their defaults.
func (x *exporter) launches(t *task, m *simt.Module) error {
	scalars := map[string]ir.Const{}
	for _, s := range m.Scalars {
		n, ok := t.Sizes[s.Name]
		switch {
		case ok:
			scalars[s.Name] = ir.IntConst(n)
		case s.Default != nil:
			scalars[s.Name], t.Scalars[s.Name] = *s.Default, s.Default.Float()
		default:
			return fmt.Errorf("%s has no value; the row has values of %v", s.Name, slices.Sorted(maps.Keys(t.Sizes)))
		}
	}
	dev, err := device.Find(x.device)
	if err != nil {
		return err
	}
	t.Arrays, t.Launches, err = job.Of(plan.Of(m), scalars, plan.Device{SMs: int64(dev.SMs), L2Bytes: dev.L2Bytes()})
	return err
}
