// Command cuda runs the conformance corpus on a GPU: every program through the plain lowering, emitted CUDA, NVRTC and the
// driver, its results against the right ones, and calls that must fail against the simulator's words. Results are poisoned
// before every run. It is no test, since a machine without a GPU would have to skip it:
//
//	go run ./bench/cuda -o bench/results/cuda_h200.json
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gkc-lang/gkc/internal/conformance"
	"github.com/gkc-lang/gkc/runtime/cuda"
)

func main() {
	gpu := flag.Int("gpu", 0, "the number of the GPU")
	parts := flag.Int("parts", runtime.NumCPU(), "processes: the compiler compiles one text at a time in each")
	part := flag.Int("part", -1, "do only this part, and print a line for every run")
	only := flag.String("only", "", "only cases whose group/name holds this")
	out := flag.String("o", "", "a file for the verdicts")
	flag.Parse()
	var err error
	if *part >= 0 {
		err = checkPart(context.Background(), os.Stdout, *gpu, *part, *parts, *only)
	} else {
		err = checkAll(*gpu, *parts, *only, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cuda:", err)
		os.Exit(1)
	}
}

// report is what the verdicts add up to, as it is kept.
type report struct {
	What     string             `json:"what"`
	Command  string             `json:"command"`
	GPU      string             `json:"gpu"`
	Compiler string             `json:"compiler"`
	Kernels  int                `json:"kernels"`
	Runs     int                `json:"runs"`
	Failing  int                `json:"failing_as_they_must"`
	Launches int                `json:"launches"`
	Micros   float64            `json:"launches_us"`
	Wrong    map[string]string  `json:"wrong"`
	Seconds  map[string]float64 `json:"seconds"`
}

// checkAll shares the cases among processes and adds up what they say.
func checkAll(gpu, parts int, only, file string) error {
	start := time.Now()
	r := &report{What: "every run of the conformance corpus on a GPU through runtime/cuda", Wrong: map[string]string{}, Seconds: map[string]float64{}}
	r.Command = "go run ./bench/cuda"
	if err := r.identify(gpu); err != nil {
		return err
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	for part := range parts {
		group.Go(func() {
			err := runPart(gpu, part, parts, only, func(v verdict) {
				mu.Lock()
				defer mu.Unlock()
				r.add(v)
			})
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				r.Wrong[fmt.Sprintf("part %d of %d", part, parts)] = err.Error()
			}
		})
	}
	group.Wait()
	r.Seconds["all"] = time.Since(start).Seconds()
	for _, id := range slices.Sorted(maps.Keys(r.Wrong)) {
		fmt.Printf("%s: %s\n", id, r.Wrong[id])
	}
	fmt.Printf("%s, %s: %d runs of %d kernels, %d of them fail as they must, %d wrong; %d launches of %.1f ms together; %.1f s\n",
		r.GPU, r.Compiler, r.Runs, r.Kernels, r.Failing, len(r.Wrong), r.Launches, r.Micros/1e3, r.Seconds["all"])
	if err := r.write(file); err != nil {
		return err
	}
	if len(r.Wrong) > 0 {
		return fmt.Errorf("%d wrong", len(r.Wrong))
	}
	return nil
}

func (r *report) identify(gpu int) error {
	dev, err := cuda.Open(gpu)
	if err != nil {
		return err
	}
	r.GPU = dev.Facts().Name
	if err := dev.Close(); err != nil {
		return err
	}
	r.Compiler, err = cuda.Compiler()
	return err
}

func (r *report) add(v verdict) {
	r.Seconds["compiling"] += v.Built
	if v.Run < 0 {
		r.Kernels++
		if v.Wrong == "" {
			return
		}
	} else {
		r.Runs++
	}
	if v.Fails && v.Wrong == "" {
		r.Failing++
	}
	r.Launches += v.Launches
	r.Micros += v.Micros
	if v.Wrong != "" {
		r.Wrong[fmt.Sprintf("%s %d", v.Case, v.Run)] = v.Wrong
	}
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

// runPart does a part in a process of its own, so that a kernel that takes the device down takes only its part with it.
func runPart(gpu, part, parts int, only string, each func(verdict)) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "-gpu", fmt.Sprint(gpu), "-part", fmt.Sprint(part), "-parts", fmt.Sprint(parts), "-only", only)
	cmd.Stderr = os.Stderr
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	dec := json.NewDecoder(bufio.NewReader(lines))
	for {
		var v verdict
		if err = dec.Decode(&v); err != nil {
			break
		}
		each(v)
	}
	if err == io.EOF {
		err = nil
	}
	if e := cmd.Wait(); e != nil {
		err = e
	}
	return err
}

func selected(c *conformance.Case, only string) bool { return strings.Contains(c.ID(), only) }
