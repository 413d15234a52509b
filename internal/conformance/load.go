// Package conformance holds the project's cases: programs with inputs and right outputs, and wrong programs with the
// diagnoses they deserve. cases/README.md describes the files. It is imported by tests only.
package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gkc-lang/gkc/internal/npy"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
)

// Case is a kernel with values.
type Case struct {
	Group, Name string
	Kernel      string   // the one that runs; the source may hold others
	Source      string   // gk text
	MayRefuse   []string // a compiler may refuse it with a diagnosis that matches one of these patterns
	Runs        []Run
}

// ID is group/name.
func (c *Case) ID() string { return c.Group + "/" + c.Name }

// Run is one call with the results it must have, or the words that its error must mention.
type Run struct {
	Set        map[string]int64
	Values     map[string]Number // scalar parameters
	Inputs     map[string]*data.Array
	Outputs    map[string]Expected
	RTol, ATol float64
	Fails      bool
	Mention    []string // of a failing call: each entry holds alternatives separated by |
}

// Bind makes the run's call of a kernel. A failing run may fail here.
func (r *Run) Bind(sig *data.Signature) (*data.Call, error) {
	given := data.Given{Set: r.Set, Values: map[string]ir.Const{}, Inputs: r.Inputs}
	for name, v := range r.Values {
		if s := sig.Scalar(name); s != nil {
			given.Values[name] = v.As(s.Type)
		}
	}
	return data.Bind(sig, given)
}

// Expected is a right result: the dtype and shape that the kernel has, and the values before the last rounding.
type Expected struct {
	Type   ir.Type
	Shape  []int
	Values *data.Array // f64 for floats, the type itself for integers and bools
}

// Number is a scalar argument: an integer where it was written as one.
type Number struct {
	Int     int64
	Float   float64
	IsFloat bool
}

// As converts the number to a parameter's type, as a cast does.
func (n Number) As(t ir.Type) ir.Const {
	if n.IsFloat {
		return ir.Convert(t, ir.F64, ir.FloatConst(n.Float))
	}
	return ir.Convert(t, ir.I64, ir.IntConst(n.Int))
}

// UnmarshalJSON reads a number, a truth value, or "nan", "inf", "-inf".
func (n *Number) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	switch s {
	case "true":
		*n = Number{Int: 1, Float: 1}
		return nil
	case "false":
		*n = Number{}
		return nil
	}
	if _, err := fmt.Sscan(s, &n.Float); err != nil {
		return fmt.Errorf("%s is not a number", b)
	}
	if strings.ContainsAny(s, ".eEni") {
		n.IsFloat = true
		return nil
	}
	_, err := fmt.Sscan(s, &n.Int)
	return err
}

// Mistakes is a wrong program.
type Mistakes struct {
	Name      string
	Source    string
	MayAccept bool
	Errors    []Mistake
}

// Mistake is a diagnosis that must be reported. Line and Column are 0 where the place is debatable.
type Mistake struct {
	Line, Column int
	Mention      []string
}

// Dir is the folder of the cases.
func Dir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "cases")
}

type caseFile struct {
	Kernel    string
	MayRefuse json.RawMessage `json:"may_refuse"`
	Runs      []struct {
		Set    map[string]int64
		Inputs map[string]struct {
			DType string
			Shape []int
			Value *Number
		}
		Outputs map[string]struct {
			DType string
			Shape []int
		}
		RTol, ATol float64
		Error      *struct {
			Mention []string `json:"must_mention"`
		}
	}
}

// Load reads the cases with values of some groups (none named: all), ordered by group and name.
func Load(groups ...string) ([]*Case, error) {
	files, err := filepath.Glob(filepath.Join(Dir(), "*", "*", "case.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var out []*Case
	for _, f := range files {
		dir := filepath.Dir(f)
		group := filepath.Base(filepath.Dir(dir))
		if len(groups) > 0 && !slices.Contains(groups, group) {
			continue
		}
		c, err := loadCase(dir)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", group, filepath.Base(dir), err)
		}
		c.Group, c.Name = group, filepath.Base(dir)
		out = append(out, c)
	}
	return out, nil
}

func loadCase(dir string) (*Case, error) {
	source, err := os.ReadFile(filepath.Join(dir, "kernel.gk"))
	if err != nil {
		return nil, err
	}
	var f caseFile
	if err := readJSON(filepath.Join(dir, "case.json"), &f); err != nil {
		return nil, err
	}
	arrays, err := readArchive(filepath.Join(dir, "data.npz"))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	c := &Case{Kernel: f.Kernel, Source: string(source)}
	if len(f.MayRefuse) > 0 {
		if err := json.Unmarshal(f.MayRefuse, &c.MayRefuse); err != nil {
			c.MayRefuse = []string{strings.Trim(string(f.MayRefuse), `"`)}
		}
	}
	for i, r := range f.Runs {
		run := Run{Set: r.Set, Values: map[string]Number{}, Inputs: map[string]*data.Array{}, Outputs: map[string]Expected{}, RTol: r.RTol, ATol: r.ATol}
		if r.Error != nil {
			run.Fails, run.Mention = true, r.Error.Mention
		}
		for name, in := range r.Inputs {
			if in.Value != nil {
				run.Values[name] = *in.Value
				continue
			}
			t, _ := ir.TypeByName(in.DType)
			a := arrays[fmt.Sprintf("r%d.in.%s", i, name)]
			if a == nil {
				return nil, fmt.Errorf("run %d: no data for input %s", i, name)
			}
			if run.Inputs[name], err = npy.As(a, t); err != nil {
				return nil, fmt.Errorf("run %d: input %s: %w", i, name, err)
			}
		}
		for name, spec := range r.Outputs {
			t, ok := ir.TypeByName(spec.DType)
			a := arrays[fmt.Sprintf("r%d.out.%s", i, name)]
			if !ok || a == nil {
				return nil, fmt.Errorf("run %d: no data for output %s", i, name)
			}
			run.Outputs[name] = Expected{t, spec.Shape, a}
		}
		c.Runs = append(c.Runs, run)
	}
	return c, nil
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// LoadMistakes reads the wrong programs.
func LoadMistakes() ([]*Mistakes, error) {
	files, err := filepath.Glob(filepath.Join(Dir(), "errors", "*", "expect.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var out []*Mistakes
	for _, f := range files {
		var e struct {
			MayAccept bool `json:"may_accept"`
			Generate  *struct {
				Before, Middle, After string
				Times                 int
			}
			Errors []struct {
				Line, Column *int
				Mention      []string `json:"must_mention"`
			}
		}
		if err := readJSON(f, &e); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		source, err := os.ReadFile(filepath.Join(filepath.Dir(f), "kernel.gk"))
		if err != nil {
			return nil, err
		}
		m := &Mistakes{Name: filepath.Base(filepath.Dir(f)), Source: string(source), MayAccept: e.MayAccept}
		if g := e.Generate; g != nil {
			text := strings.Repeat(g.Before, g.Times) + g.Middle + strings.Repeat(g.After, g.Times)
			m.Source = strings.ReplaceAll(m.Source, "/*GENERATE*/", text)
		}
		for _, x := range e.Errors {
			mistake := Mistake{Mention: x.Mention}
			if x.Line != nil {
				mistake.Line = *x.Line
			}
			if x.Column != nil {
				mistake.Column = *x.Column
			}
			m.Errors = append(m.Errors, mistake)
		}
		out = append(out, m)
	}
	return out, nil
}
