// Command cuda runs the conformance corpus on a GPU: every program through the plain lowering, emitted CUDA, NVRTC and the
// driver, its results against the right ones, and calls that must fail against the simulator's words. Results are poisoned
// before every run. Arguments FILE.simt:N=V,N=V are kernels in IR text, which run on the GPU and on the simulator. It is no test,
// since a machine without a GPU would have to skip it:
//
//	go run ./bench/cuda -o bench/results/cuda_h200.json ir/simt/testdata/golden/gemm.simt:M=129,N=264,K=136
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/runtime/cuda"
)

func main() {
	gpu := flag.Int("gpu", 0, "the number of the GPU")
	processes := flag.Int("processes", runtime.NumCPU(), "processes that compile")
	serves := flag.Bool("serve", false, "compile the cases whose numbers come over the input")
	s := &suite{}
	flag.StringVar(&s.arch, "arch", "", "for which target")
	flag.StringVar(&s.only, "only", "", "only cases whose group/name holds one of these, separated by commas")
	flag.StringVar(&s.device, "device", "h200", "the device for which kernels are cut")
	flag.Uint64Var(&s.draw, "draw", 0, "draw schedules with this seed; 0: the default schedule")
	out := flag.String("o", "", "a file for the verdicts")
	flag.Parse()
	var err error
	if *serves {
		err = s.serve(os.Stdin, os.Stdout)
	} else {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		err = checkAll(ctx, s, *gpu, *processes, *out, flag.Args())
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cuda:", err)
		os.Exit(1)
	}
}

// flags are those that say what is checked, where they are not the defaults.
func (s *suite) flags() (out []string) {
	for _, f := range []struct{ name, value, otherwise string }{{"only", s.only, ""}, {"device", s.device, "h200"}, {"draw", fmt.Sprint(s.draw), "0"}} {
		if f.value != f.otherwise {
			out = append(out, "-"+f.name+" "+f.value)
		}
	}
	return out
}

// report is what is kept of a check.
type report struct {
	What     string             `json:"what"`
	Command  string             `json:"command"`
	GPU      string             `json:"gpu"`
	Compiler string             `json:"compiler"`
	ByHand   []string           `json:"by_hand,omitempty"` // kernels in IR text
	Kernels  int                `json:"kernels"`
	Runs     int                `json:"runs"`
	Failing  int                `json:"failing_as_they_must"`
	Launches int                `json:"launches"`
	Micros   float64            `json:"launches_us"`
	Left     []string           `json:"cases_not_run"`
	Wrong    map[string]string  `json:"wrong"`
	Seconds  map[string]float64 `json:"seconds"`
}

func checkAll(ctx context.Context, s *suite, gpu, processes int, file string, byHand []string) error {
	start := time.Now()
	k, err := newChecker(gpu, s)
	if err != nil {
		return err
	}
	defer k.dev.Close()
	s.arch = k.dev.Arch()
	k.Command, k.ByHand = strings.Join(slices.Concat([]string{"go run ./bench/cuda"}, s.flags(), byHand), " "), byHand
	cases, err := s.selected()
	if err != nil {
		return err
	}
	for _, arg := range byHand {
		k.note(arg, k.byHand(ctx, arg))
	}
	left := map[string]bool{}
	for _, c := range cases {
		left[c.ID()] = true
	}
	images, failed := s.compileAll(ctx, len(cases), processes)
	for img := range images {
		if ctx.Err() == nil {
			began := time.Now()
			k.check(ctx, cases[img.Case], img)
			k.Seconds["lowering, loading and running"] += time.Since(began).Seconds()
			delete(left, cases[img.Case].ID())
		}
	}
	k.Left = slices.AppendSeq([]string{}, maps.Keys(left))
	slices.Sort(k.Left)
	if err := failed(); err != nil {
		k.Wrong["compiling"] = err.Error()
	}
	k.Seconds["all"] = time.Since(start).Seconds()
	k.print()
	if err := k.write(file); err != nil {
		return err
	}
	if len(k.Wrong)+len(k.Left) > 0 {
		return fmt.Errorf("%d wrong, %d cases not run", len(k.Wrong), len(k.Left))
	}
	return nil
}

func newChecker(gpu int, s *suite) (*checker, error) {
	r := &report{What: "every run of the conformance corpus on a GPU through runtime/cuda", Wrong: map[string]string{}, Seconds: map[string]float64{}}
	compiler, err := cuda.Compiler()
	if err != nil {
		return nil, err
	}
	simulated, err := device.Find("h200")
	if err != nil {
		return nil, err
	}
	dev, err := cuda.Open(gpu)
	if err != nil {
		return nil, err
	}
	r.GPU, r.Compiler = dev.Facts().Name, compiler
	return &checker{r, s, dev, simulated}, nil
}

func (r *report) print() {
	for _, id := range slices.Sorted(maps.Keys(r.Wrong)) {
		fmt.Printf("%s: %s\n", id, r.Wrong[id])
	}
	fmt.Printf("%s, %s: %d runs of %d kernels, %d of them fail as they must, %d wrong, %d cases not run; %d launches of %.1f ms together; %.1f s\n",
		r.GPU, r.Compiler, r.Runs, r.Kernels, r.Failing, len(r.Wrong), len(r.Left), r.Launches, r.Micros/1e3, r.Seconds["all"])
}

func (r *report) write(file string) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o666)
}
