package plan

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/text"
)

// Read reads a plan, and refuses one of another format or with fields that this package does not know.
func Read(b []byte) (*Plan, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	p := &Plan{}
	if err := dec.Decode(p); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if p.Format != Format {
		return nil, fmt.Errorf("plan: format %d, this reads format %d", p.Format, Format)
	}
	return p, nil
}

// Device is what expressions may ask of the device.
type Device struct {
	SMs     int64
	L2Bytes int64
}

// Resolved is a plan with numbers: for one set of scalars on one device.
type Resolved struct {
	Extents  [][]int64 // of every array
	Launches []ResolvedLaunch
}

// ResolvedLaunch is a launch with numbers.
type ResolvedLaunch struct {
	Grid   int64
	Values map[string]ir.Const
	Dims   [][]int64 // of every map
	Stride [][]int64
}

// Resolve computes what a launch with these scalars is. A condition that does not hold is an error.
func (p *Plan) Resolve(scalars map[string]ir.Const, dev Device) (*Resolved, error) {
	s := newScope(dev)
	for _, x := range p.Scalars {
		v, ok := scalars[x.Name]
		if !ok {
			return nil, fmt.Errorf("plan: scalar %s has no value", x.Name)
		}
		if err := s.add(x.Name, x.Type, v); err != nil {
			return nil, err
		}
	}
	for _, c := range p.Where {
		if v, err := s.eval(c.Expr, ir.Bool_); err != nil || !v.Bool() {
			return nil, fmt.Errorf("plan: kernel %s demands %s (%v)", p.Kernel, c.Text, err)
		}
	}
	out := &Resolved{}
	for _, a := range p.Arrays {
		ext, err := s.integers(a.Extents)
		if err != nil {
			return nil, err
		}
		out.Extents = append(out.Extents, ext)
	}
	for i := range p.Launches {
		r, err := s.inner().launch(&p.Launches[i])
		if err != nil {
			return nil, err
		}
		out.Launches = append(out.Launches, *r)
	}
	return out, nil
}

// Pick is the name of the first variant whose conditions hold for some scalars; the kernel's own where none does.
func (p *Plan) Pick(scalars map[string]ir.Const, dev Device) (string, error) {
	s := newScope(dev)
	for _, x := range p.Scalars {
		if err := s.add(x.Name, x.Type, scalars[x.Name]); err != nil {
			return "", err
		}
	}
	for _, v := range p.Variants {
		holds := true
		for _, c := range v.When {
			value, err := s.eval(c.Expr, ir.Bool_)
			if err != nil {
				return "", err
			}
			holds = holds && value.Bool()
		}
		if holds {
			return v.Kernel, nil
		}
	}
	return p.Kernel, nil
}

// scope is names with values.
type scope struct {
	names  map[string]*ir.Scalar
	values map[ir.Ref]ir.Const
}

func newScope(dev Device) *scope {
	s := &scope{map[string]*ir.Scalar{}, map[ir.Ref]ir.Const{}}
	for b, v := range map[*simt.Builtin]int64{simt.SMs: dev.SMs, simt.L2Bytes: dev.L2Bytes} {
		s.set(b.Name, b.Type, ir.IntConst(v))
	}
	return s
}

func (s *scope) inner() *scope {
	in := &scope{map[string]*ir.Scalar{}, s.values}
	for n, r := range s.names {
		in.names[n] = r
	}
	return in
}

func (s *scope) set(name string, t ir.Type, v ir.Const) {
	r := &ir.Scalar{Name: name, Type: t}
	s.names[name], s.values[r] = r, v
}

func (s *scope) add(name, typ string, v ir.Const) error {
	t, ok := ir.TypeByName(typ)
	if !ok {
		return fmt.Errorf("plan: %s has the unknown type %s", name, typ)
	}
	s.set(name, t, v)
	return nil
}

// eval computes an expression that is written in the plan.
func (s *scope) eval(src string, want ir.Type) (ir.Const, error) {
	e, err := s.read(src, want)
	if err != nil {
		return ir.Const{}, fmt.Errorf("plan: expression %q: %w", src, err)
	}
	v, err := ir.EvalExpr(e, func(r ir.Ref) (ir.Const, bool) { v, ok := s.values[r]; return v, ok })
	if err != nil {
		return ir.Const{}, fmt.Errorf("plan: expression %q: %w", src, err)
	}
	return v, nil
}

func (s *scope) read(src string, want ir.Type) (*ir.Expr, error) {
	p, errs := syntax.New(src, syntax.IR)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	r := text.Reader{Name: func(name string) *ir.Expr {
		if x := s.names[name]; x != nil {
			return ir.Name(x)
		}
		return nil
	}}
	var e *ir.Expr
	d := p.Catch(func() {
		e = r.Expr(p.Expr(), want)
		if p.Peek().Kind != syntax.End {
			p.Expected("the end of the expression")
		}
	})
	if d != nil {
		return nil, d
	}
	return e, nil
}

func (s *scope) integers(list []string) ([]int64, error) {
	out := make([]int64, len(list))
	for i, src := range list {
		v, err := s.eval(src, ir.I64)
		if err != nil {
			return nil, err
		}
		out[i] = v.Int()
	}
	return out, nil
}

func (s *scope) launch(l *Launch) (*ResolvedLaunch, error) {
	out := &ResolvedLaunch{Values: map[string]ir.Const{}}
	for _, v := range l.Values {
		t, ok := ir.TypeByName(v.Type)
		if !ok {
			return nil, fmt.Errorf("plan: %s has the unknown type %s", v.Name, v.Type)
		}
		c, err := s.eval(v.Expr, t)
		if err != nil {
			return nil, err
		}
		s.set(v.Name, t, c)
		out.Values[v.Name] = c
	}
	grid, err := s.eval(l.Grid, ir.I64)
	if err != nil {
		return nil, err
	}
	out.Grid = grid.Int()
	for _, m := range l.Maps {
		dims, err := s.integers(m.Dims)
		if err != nil {
			return nil, err
		}
		strides, err := s.integers(m.Strides)
		if err != nil {
			return nil, err
		}
		out.Dims, out.Stride = append(out.Dims, dims), append(out.Stride, strides)
	}
	return out, nil
}
