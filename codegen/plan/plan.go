// Package plan is the launch contract of emitted CUDA: which device functions to launch, in which order, with which grid and
// which arguments, over which arrays. It is written beside the CUDA text as NAME.plan.json, and holds everything that a
// launcher needs to know, so that none has to read the compiler's mind.
//
// Extents, grids, and host values are expressions in the text of the IR, over the scalars and the host values of the launch:
// + - * / % and comparisons, min max floordiv mod select pow2floor pow2ceil and the other operations by name, casts by type
// name, widen.TYPE(x). Bare numbers take the type of the other operand, else that of the whole. Integer division truncates, and
// by zero gives 0. sms is the number of multiprocessors, l2bytes the size of the L2 cache.
package plan

import (
	"bytes"
	"encoding/json"

	"github.com/gkc-lang/gkc/codegen/cuda"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/text"
)

// Format is the version of the contract that this package writes and reads.
const Format = 1

// Plan is how a kernel of a source file is launched.
type Plan struct {
	Format   int         `json:"format"`
	Kernel   string      `json:"kernel"`
	Order    []string    `json:"order"` // the caller's parameters, scalars among arrays
	Scalars  []Scalar    `json:"scalars"`
	Arrays   []Array     `json:"arrays"`
	Where    []Condition `json:"where,omitempty"`
	Sites    []Site      `json:"sites,omitempty"` // what the codes of failed checks stand for
	Launches []Launch    `json:"launches"`        // one after another
	Variants []Variant   `json:"variants,omitempty"`
}

// Variant is the same kernel compiled for some calls only, with a plan and a source of its own name. The first variant whose
// conditions hold is the best; where none does, the plan that lists them is right for all calls.
type Variant struct {
	Kernel string      `json:"kernel"`
	When   []Condition `json:"when"`
}

// Scalar is a size or a scalar parameter.
type Scalar struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Size    bool   `json:"size,omitempty"`
	Fixed   string `json:"fixed,omitempty"`   // the only value that the code is right for
	Default string `json:"default,omitempty"` // of a parameter
}

// Array is a row-major array in device memory. Arrays do not overlap.
type Array struct {
	Name    string   `json:"name"`
	As      string   `json:"as,omitempty"` // the caller's name, where it differs: a result that is a parameter, too
	Type    string   `json:"type"`
	Extents []string `json:"extents"`
	Role    string   `json:"role"`           // param, result, work
	Zero    string   `json:"zero,omitempty"` // of work: each launch of the plan, or once when it is allocated
}

// Condition is what a launch demands of the scalars.
type Condition struct {
	Expr string `json:"expr"`
	Text string `json:"text"` // as the source has it
}

// Site is a place that can fail as it runs.
type Site struct {
	Kind   string `json:"kind"`
	Tensor string `json:"tensor,omitempty"`
	Dim    int    `json:"dim,omitempty"`
	Text   string `json:"text,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// Launch is one launch of a device function. A grid of 0 blocks launches nothing.
type Launch struct {
	Entry   string  `json:"entry"`
	Kernel  string  `json:"kernel"`
	For     string  `json:"for,omitempty"`   // the least device
	Lines   []int   `json:"lines,omitempty"` // of the source
	Values  []Value `json:"values,omitempty"`
	Grid    string  `json:"grid"`
	Threads int     `json:"threads"`
	Cluster int     `json:"cluster,omitempty"`
	Shared  int     `json:"shared"` // bytes of dynamic shared memory
	Tail    bool    `json:"tail,omitempty"`
	Args    []Arg   `json:"args"`
	Maps    []Map   `json:"maps,omitempty"`
	Checks  []Check `json:"checks,omitempty"`
}

// Value is computed on the host before the launch, from scalars and the values above it.
type Value struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Expr string `json:"expr"`
}

// Arg is an argument of the device function; one of the fields is set. Failure is the address of the record of the first
// failed check, zeroed: two u32 (lock, count), i64 thread, i32 code, i32 args, i64[4] arg.
type Arg struct {
	Value   string `json:"value,omitempty"`
	Array   string `json:"array,omitempty"`
	Map     string `json:"map,omitempty"`
	Failure bool   `json:"failure,omitempty"`
}

// Map is how a tensor map is encoded, innermost dimension first.
type Map struct {
	Name    string   `json:"name"`
	Array   string   `json:"array"`
	Type    string   `json:"type"`
	Dims    []string `json:"dims"`
	Strides []string `json:"strides"` // bytes, of every dimension but the first
	Box     []int    `json:"box"`
	Swizzle int      `json:"swizzle,omitempty"`
	Promote int      `json:"l2,omitempty"`
	FillNaN bool     `json:"fill_nan,omitempty"`
}

// Check tells whose element the second argument of a failed check counts.
type Check struct {
	Code int    `json:"code"`
	Of   string `json:"of,omitempty"` // an array
}

// Of is the plan of a module, whose device functions codegen/cuda prints.
func Of(m *simt.Module) *Plan {
	w := &writer{names: map[ir.Ref]string{}, taken: map[string]bool{}}
	p := &Plan{Format: Format, Kernel: m.Name, Order: append([]string{}, m.Order...), Scalars: []Scalar{}, Arrays: []Array{}, Launches: []Launch{}}
	for _, b := range simt.Builtins {
		if b.Host {
			w.name(b, b.Name)
		}
	}
	for _, s := range m.Scalars {
		p.Scalars = append(p.Scalars, w.scalar(s))
	}
	for _, a := range m.Arrays {
		p.Arrays = append(p.Arrays, w.array(a))
	}
	for _, c := range m.Where {
		p.Where = append(p.Where, Condition{w.text(c.Expr, ir.Bool_), c.Text})
	}
	for _, s := range m.Sites {
		p.Sites = append(p.Sites, Site{s.Kind, s.Tensor, s.Dim, s.Text, int(s.Pos.Line), int(s.Pos.Col)})
	}
	for i, entry := range cuda.Entries(m) {
		p.Launches = append(p.Launches, w.launch(m.Kernels[i], entry))
	}
	return p
}

// AddVariant lists a module that is the plan's kernel for sizes that are fixed in it.
func (p *Plan) AddVariant(m *simt.Module) {
	v := Variant{Kernel: m.Name, When: []Condition{}}
	for i, s := range m.Scalars {
		if s.Fixed != nil && p.Scalars[i].Fixed == "" {
			value := s.Fixed.Text(s.Type)
			v.When = append(v.When, Condition{p.Scalars[i].Name + " == " + value, s.Name + " = " + value})
		}
	}
	p.Variants = append(p.Variants, v)
}

// JSON is the contents of the file.
func (p *Plan) JSON() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p); err != nil {
		panic(err) // a Plan is texts and numbers
	}
	return b.Bytes()
}

// writer makes texts of expressions. Scalars and host values share one space of names; a value that is called as a scalar is
// gets another name.
type writer struct {
	names map[ir.Ref]string
	taken map[string]bool
}

func (w *writer) name(r ir.Ref, wants string) string {
	for w.taken[wants] {
		wants += "_"
	}
	w.names[r], w.taken[wants] = wants, true
	return wants
}

func (w *writer) text(e *ir.Expr, want ir.Type) string {
	p := text.Printer{NameOf: func(r ir.Ref) string { return w.names[r] }}
	p.Expr(e, want)
	return p.String()
}

func (w *writer) texts(list []*ir.Expr) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = w.text(e, e.Type)
	}
	return out
}

func (w *writer) scalar(s *ir.Scalar) Scalar {
	out := Scalar{Name: w.name(s, s.Name), Type: s.Type.String(), Size: s.IsSize}
	if s.Fixed != nil {
		out.Fixed = s.Fixed.Text(s.Type)
	}
	if s.Default != nil {
		out.Default = s.Default.Text(s.Type)
	}
	return out
}

func (w *writer) array(a *simt.Array) Array {
	out := Array{Name: a.Name, Type: a.Type.String(), Extents: w.texts(a.Extents), Role: a.Role.String(), Zero: a.Zero.String()}
	if a.CallerName() != a.Name {
		out.As = a.CallerName()
	}
	return out
}

func (w *writer) launch(k *simt.Kernel, entry string) Launch {
	inner := &writer{names: map[ir.Ref]string{}, taken: map[string]bool{}}
	for r, n := range w.names {
		inner.names[r], inner.taken[n] = n, true
	}
	l := Launch{Entry: entry, Kernel: k.Name, For: k.For, Lines: k.Lines, Threads: k.Launch.Threads, Shared: k.Launch.SharedBytes, Tail: k.Launch.Tail, Args: []Arg{}}
	if k.Launch.Cluster > 1 {
		l.Cluster = k.Launch.Cluster
	}
	for _, v := range k.Params {
		expr := inner.text(v.Expr, v.Type)
		l.Values = append(l.Values, Value{inner.name(v, v.Name), v.Type.String(), expr})
	}
	l.Grid = inner.text(k.Launch.Grid, ir.I64)
	for _, a := range cuda.Arguments(k) {
		switch {
		case a.Scalar != nil:
			l.Args = append(l.Args, Arg{Value: inner.names[a.Scalar]})
		case a.Buffer != nil:
			l.Args = append(l.Args, Arg{Array: a.Buffer.Array.Name})
		case a.Map != nil:
			l.Args = append(l.Args, Arg{Map: a.Map.Name})
		default:
			l.Args = append(l.Args, Arg{Failure: true})
		}
	}
	for _, m := range k.Maps {
		l.Maps = append(l.Maps, Map{m.Name, m.Of.Name, m.Of.Type.String(), inner.texts(m.Dims), inner.texts(m.Strides), m.Box, m.Swizzle, m.Promote, m.FillNaN})
	}
	seen := map[Check]bool{}
	simt.Walk(k.Body, func(s simt.Stmt) {
		if c, ok := s.(*simt.Check); ok {
			check := Check{Code: c.Code}
			if c.Of != nil {
				check.Of = c.Of.Name
			}
			if !seen[check] {
				l.Checks = append(l.Checks, check)
			}
			seen[check] = true
		}
	})
	return l
}
