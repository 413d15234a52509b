package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/internal/conformance"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/runtime/cuda"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// verdict is what became of a run, or with Run -1 of building the kernel of a case.
type verdict struct {
	Case     string  `json:"case"`
	Run      int     `json:"run"`
	Wrong    string  `json:"wrong,omitempty"`
	Fails    bool    `json:"fails,omitempty"` // it must
	Built    float64 `json:"built,omitempty"` // seconds
	Launches int     `json:"launches,omitempty"`
	Micros   float64 `json:"us,omitempty"`
}

// checker runs cases on a GPU.
type checker struct {
	dev *cuda.Device
	sim *device.Device
	out *json.Encoder
}

func checkPart(ctx context.Context, w io.Writer, gpu, part, parts int, only string) error {
	cases, err := conformance.Load()
	if err != nil {
		return err
	}
	dev, err := cuda.Open(gpu)
	if err != nil {
		return err
	}
	defer dev.Close()
	simulated, err := device.Find("h200")
	if err != nil {
		return err
	}
	k := &checker{dev, simulated, json.NewEncoder(w)}
	for i, c := range cases {
		if i%parts != part || !selected(c, only) {
			continue
		}
		if err := k.check(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// check builds the kernel of a case and makes its runs. The error is one of writing verdicts.
func (k *checker) check(ctx context.Context, c *conformance.Case) error {
	kernels, errs := gkc.Compile(c.Name+".gk", c.Source, nil)
	if len(errs) > 0 && len(c.MayRefuse) > 0 {
		return nil
	}
	built := verdict{Case: c.ID(), Run: -1}
	if err := errs.Err(); err != nil {
		built.Wrong = err.Error()
		return k.out.Encode(built)
	}
	for _, kernel := range kernels {
		if kernel.Program.Name != c.Kernel {
			continue
		}
		m, p, err := k.build(kernel, &built)
		if err != nil {
			built.Wrong = err.Error()
		}
		if e := k.out.Encode(built); e != nil || err != nil {
			return e
		}
		defer p.Close()
		for i := range c.Runs {
			call, err := data.Bind(kernel.Program.Signature(), given(kernel, &c.Runs[i]))
			if err != nil {
				continue // refused before a launch
			}
			v := k.run(ctx, m, p, call, &c.Runs[i])
			v.Case, v.Run = c.ID(), i
			if err := k.out.Encode(v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *checker) build(kernel *gkc.Kernel, v *verdict) (*simt.Module, *cuda.Program, error) {
	m, err := gkc.Lower(kernel.Program, false)
	if err != nil {
		return nil, nil, err
	}
	start := time.Now()
	p, err := k.dev.Build(m)
	v.Built = time.Since(start).Seconds()
	return m, p, err
}

func (k *checker) run(ctx context.Context, m *simt.Module, p *cuda.Program, call *data.Call, r *conformance.Run) verdict {
	v := verdict{Fails: r.Fails}
	res, err := p.Run(ctx, call)
	switch {
	case r.Fails && err == nil:
		v.Wrong = "it does not fail"
	case r.Fails:
		if _, want := sim.Run(ctx, m, k.sim, call, sim.Options{}); want == nil || want.Error() != err.Error() {
			v.Wrong = "it fails with: " + err.Error() + "; on the simulator with: " + text(want)
		}
	case err != nil:
		v.Wrong = err.Error()
	default:
		v.Wrong = strings.Join(r.Compare(res.Outputs), "; ")
		v.Launches = len(res.Launches)
		for _, l := range res.Launches {
			v.Micros += l.Seconds * 1e6
		}
	}
	return v
}

func text(err error) string {
	if err == nil {
		return "nothing"
	}
	return err.Error()
}

func given(k *gkc.Kernel, r *conformance.Run) data.Given {
	g := data.Given{Set: r.Set, Values: map[string]ir.Const{}, Inputs: r.Inputs}
	for name, v := range r.Values {
		if s := k.Program.Signature().Scalar(name); s != nil {
			g.Values[name] = v.As(s.Type)
		}
	}
	return g
}
