// Command corpus writes every run of the conformance corpus as emitted CUDA with inputs and right outputs, so that a machine
// with a GPU and no Go can check them: go run ./bench/corpus -o DIR, then python3 bench/corpus.py DIR there.
package main

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/bench/job"
	"github.com/gkc-lang/gkc/codegen/cuda"
	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/internal/conformance"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
)

func main() {
	dir := flag.String("o", "corpus", "where the files go")
	only := flag.String("only", "", "only cases whose group/name holds this")
	flag.Parse()
	if err := export(*dir, *only); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

// array is one array of a run: bytes of its input, or of its right result as float64 or int64, in data.bin.
type array struct {
	job.Array
	Input  int64 `json:"input"`  // offset, or -1
	Expect int64 `json:"expect"` // offset, or -1
}

type runJob struct {
	ID       string       `json:"id"`
	Module   string       `json:"module"`
	Fails    bool         `json:"fails"`
	RTol     float64      `json:"rtol"`
	ATol     float64      `json:"atol"`
	Arrays   []array      `json:"arrays"`
	Launches []job.Launch `json:"launches"`
}

type exporter struct {
	dir  string
	data io.Writer
	size int64
	jobs []runJob
}

func export(dir, only string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, "data.bin.gz"))
	if err != nil {
		return err
	}
	defer file.Close()
	z := gzip.NewWriter(file)
	x := &exporter{dir: dir, data: z}
	cases, err := conformance.Load()
	if err != nil {
		return err
	}
	for _, c := range cases {
		if !strings.Contains(c.ID(), only) {
			continue
		}
		if err := x.kernel(c); err != nil {
			return fmt.Errorf("%s: %w", c.ID(), err)
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	text, err := json.Marshal(x.jobs)
	if err != nil {
		return err
	}
	fmt.Printf("%d runs, %d bytes of arrays\n", len(x.jobs), x.size)
	return os.WriteFile(filepath.Join(dir, "jobs.json"), text, 0o666)
}

func (x *exporter) kernel(c *conformance.Case) error {
	kernels, errs := gkc.Compile(c.Name+".gk", c.Source, nil)
	if len(errs) > 0 && len(c.MayRefuse) > 0 {
		return nil
	}
	if err := errs.Err(); err != nil {
		return err
	}
	for _, k := range kernels {
		if k.Program.Name != c.Kernel {
			continue
		}
		m, err := gkc.Lower(k.Program, false)
		if err != nil {
			return err
		}
		text, err := cuda.Emit(m)
		if err != nil {
			return err
		}
		name := c.Group + "." + c.Name + ".cu"
		if err := os.WriteFile(filepath.Join(x.dir, name), []byte(text), 0o666); err != nil {
			return err
		}
		p := plan.Of(m)
		for i := range c.Runs {
			r := &c.Runs[i]
			call, err := r.Bind(k.Program.Signature())
			if err != nil {
				continue // refused before a launch
			}
			j := runJob{ID: fmt.Sprintf("%s %d", c.ID(), i), Module: name, Fails: r.Fails, RTol: r.RTol, ATol: r.ATol}
			if err := x.run(&j, p, r, call); err != nil {
				return err
			}
			x.jobs = append(x.jobs, j)
		}
	}
	return nil
}

func (x *exporter) run(j *runJob, p *plan.Plan, r *conformance.Run, call *data.Call) error {
	dev, err := device.Find("h200")
	if err != nil {
		return err
	}
	arrays, launches, err := job.Of(p, call.Scalars, plan.Device{SMs: int64(dev.SMs), L2Bytes: dev.L2Bytes()})
	if err != nil {
		return err
	}
	j.Launches = launches
	for _, a := range arrays {
		out := array{Array: a, Input: -1, Expect: -1}
		switch {
		case a.Role == "param":
			out.Input = x.write(call.Inputs[a.Name].Data)
		case a.Role == "result" && !r.Fails:
			out.Expect = x.expected(r.Outputs[a.Name])
		}
		j.Arrays = append(j.Arrays, out)
	}
	return nil
}

func (x *exporter) write(b []byte) int64 {
	at := x.size
	n, err := x.data.Write(b)
	if err != nil {
		panic(err) // the file is ours; a full disk ends the command
	}
	x.size += int64(n)
	return at
}

// expected writes a right result as the type holds it: f64 for floats, i64 for the others.
func (x *exporter) expected(want conformance.Expected) int64 {
	t := ir.I64
	if want.Type.IsFloat() {
		t = ir.F64
	}
	out := data.New(t, want.Values.Len())
	for i := range want.Values.Len() {
		v := want.Values.At(i)
		if want.Type.IsFloat() {
			v = ir.FloatConst(ir.RoundTo(want.Type.Elem, v.Float()))
		}
		out.Set(i, v)
	}
	return x.write(out.Data)
}
