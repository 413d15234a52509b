package tensor

import (
	"fmt"
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
)

// Verify reports the first invariant of the level that p breaks: names, types, scopes of axes, the order of definitions, what
// a recurrence may read, and that everything is defined once. Whether accesses stay inside is ProveBounds's business, whether a
// definition covers its tensor the evaluator's.
func Verify(p *Program) error {
	v := &verifier{prog: p, scalars: map[*ir.Scalar]bool{}, known: map[*Tensor]state{}, inScope: map[*ir.Axis]bool{}}
	d := v.catch(v.program)
	if d == nil {
		return nil
	}
	return d
}

// state says what is known of a tensor.
type state uint8

const (
	declared state = iota + 1
	ready          // a parameter, or defined by an earlier definition
	stepping       // defined by the recurrence at hand
)

// checked holds the expressions that were found right in a scope. They are right in every scope inside it.
type checked struct {
	here  map[*ir.Expr]bool
	outer *checked
}

func newChecked(outer *checked) *checked { return &checked{map[*ir.Expr]bool{}, outer} }

func (c *checked) has(e *ir.Expr) bool {
	for ; c != nil; c = c.outer {
		if c.here[e] {
			return true
		}
	}
	return false
}

type verifier struct {
	prog    *Program
	scalars map[*ir.Scalar]bool
	known   map[*Tensor]state
	inScope map[*ir.Axis]bool
	done    *checked
	recur   *recurScope
	at      diag.Pos
	where   string // what is being verified, for messages
}

func (v *verifier) catch(f func()) (d *diag.Diag) {
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if d, ok = r.(*diag.Diag); !ok {
				panic(r)
			}
		}
	}()
	f()
	return nil
}

func (v *verifier) fail(format string, args ...any) {
	where := "tensor " + v.prog.Name
	if v.where != "" {
		where += ": " + v.where
	}
	panic(diag.Errorf(v.at, "ir", "%s: %s", where, fmt.Sprintf(format, args...)))
}

func (v *verifier) need(ok bool, format string, args ...any) {
	if !ok {
		v.fail(format, args...)
	}
}

func (v *verifier) program() {
	p := v.prog
	names := map[string]bool{}
	unique := func(name string) {
		v.need(name != "" && !names[name], "the name %q is empty or given twice", name)
		names[name] = true
	}
	for _, s := range p.Scalars {
		unique(s.Name)
		v.scalar(s)
	}
	params := map[string]*Tensor{}
	for _, t := range p.Params {
		unique(t.Name)
		params[t.Name] = t
		v.tensor(t, Param)
		v.known[t] = ready
	}
	results := map[string]bool{}
	for _, t := range p.Results {
		v.need(!results[t.Name], "the result %s is given twice", t.Name)
		results[t.Name] = true
		switch in := params[t.Name]; {
		case in != nil:
			v.inPlace(in, t)
		case len(t.Extents) > 0 || !slices.ContainsFunc(p.Scalars, func(s *ir.Scalar) bool { return s.Name == t.Name && s.Type == t.Type && !s.IsSize }):
			unique(t.Name) // else a scalar parameter that is updated in place
		}
		v.tensor(t, Result)
	}
	for _, t := range p.Temps {
		unique(t.Name)
		v.tensor(t, Temp)
	}
	v.order()
	for _, c := range p.Where {
		v.at, v.where = c.Pos, "condition "+c.Text
		v.outside(c.Expr, ir.Bool_)
	}
	for _, d := range p.Defs {
		v.def(d)
	}
	v.at = p.Pos
	for _, list := range [][]*Tensor{p.Results, p.Temps} {
		for _, t := range list {
			v.where = t.Name
			v.need(v.known[t] == ready, "no definition")
		}
	}
}

func (v *verifier) scalar(s *ir.Scalar) {
	v.where = s.Name
	v.need(s.Type.IsValid() && !s.Type.IsPacked(), "a scalar of type %s", s.Type)
	v.need(!s.IsSize || s.Type == ir.I64, "a size of type %s", s.Type)
	v.need(s.Multiple >= 0, "a multiple of %d", s.Multiple)
	for _, c := range []*ir.Const{s.Fixed, s.Default} {
		v.need(c == nil || holds(s.Type, *c), "a value that %s cannot hold", s.Type)
	}
	v.need(!s.IsSize || s.Default == nil, "a size with a default")
	v.scalars[s] = true
}

func (v *verifier) tensor(t *Tensor, role Role) {
	v.where, v.at = t.Name, t.Pos
	v.need(t.Role == role, "its role is not that of its list")
	v.need(t.Type.IsValid() && !t.Type.IsPacked(), "elements of type %s", t.Type)
	v.known[t] = declared
	for _, e := range t.Extents {
		v.outside(e, ir.I64)
	}
}

func (v *verifier) inPlace(in, out *Tensor) {
	v.where = out.Name
	v.need(in.Type == out.Type && len(in.Extents) == len(out.Extents), "the parameter and the result of one name differ in type or rank")
	for i := range in.Extents {
		v.need(ir.Equal(in.Extents[i], out.Extents[i]), "the parameter and the result of one name differ in extent %d", i+1)
	}
}

// order: every parameter once.
func (v *verifier) order() {
	v.where, v.at = "order of parameters", v.prog.Pos
	want := map[string]bool{}
	for _, t := range v.prog.Params {
		want[t.Name] = true
	}
	for _, s := range v.prog.Scalars {
		if !s.IsSize {
			want[s.Name] = true
		}
	}
	for _, name := range v.prog.Order {
		v.need(want[name], "%s is no parameter, or stands twice", name)
		delete(want, name)
	}
	for name := range want {
		v.fail("the parameter %s is missing", name)
	}
}

func (v *verifier) def(d Def) {
	v.at, v.where = d.Place(), "definition"
	switch d := d.(type) {
	case *Map:
		v.begin(d.Out)
		v.free(d.Free, d.Out)
		v.typed(d.Body, d.Out.Type)
		v.close(d.Free)
		v.known[d.Out] = ready
	case *Check:
		v.need(d.Of != nil && v.known[d.Of] != 0 && d.Of.Role == Result, "a check of what is no result")
		v.where = "check of " + d.Of.Name
		v.done = newChecked(nil)
		v.free(d.Free, nil)
		v.typed(d.Fault, ir.I64)
		v.close(d.Free)
	case *Scatter:
		v.scatter(d)
	case *Recur:
		v.recurrence(d)
	}
}

func (v *verifier) begin(out *Tensor) {
	v.need(out != nil && v.known[out] != 0, "a definition of a tensor that is not declared")
	v.where = out.Name
	v.need(v.known[out] == declared && out.Role != Param, "defined twice")
	v.done = newChecked(nil)
}

// free opens the box of a definition, whose ends use scalars only. out is nil where nothing is defined.
func (v *verifier) free(free []ir.Span, out *Tensor) {
	v.need(out == nil || len(free) == len(out.Extents), "a box of %d axes for a tensor of %d", len(free), lenOf(out))
	for _, s := range free {
		v.outside(s.Lo, ir.I64)
		v.outside(s.Hi, ir.I64)
	}
	for _, s := range free {
		v.open(s.Axis)
	}
}

func lenOf(t *Tensor) int {
	if t == nil {
		return 0
	}
	return len(t.Extents)
}

func (v *verifier) open(a *ir.Axis) {
	v.need(a != nil, "a span without an axis")
	v.need(!v.inScope[a], "the axis %s is bound inside its own scope", a.Name)
	v.inScope[a] = true
}

func (v *verifier) close(free []ir.Span) {
	for _, s := range free {
		delete(v.inScope, s.Axis)
	}
}

func (v *verifier) scatter(s *Scatter) {
	v.begin(s.Out)
	v.need(len(s.At) == len(s.Out.Extents), "%d subscripts for a tensor of %d axes", len(s.At), len(s.Out.Extents))
	v.monoid(s.Op, s.Acc)
	v.edge(s.Edge, s.Out.Type)
	if s.Init != nil {
		v.need(v.known[s.Init] == ready && s.Init.Role == Param && s.Init.Name == s.Out.Name, "starts from what is not the parameter of its name")
	}
	for _, f := range s.Free {
		v.typed(f.Lo, ir.I64)
		v.typed(f.Hi, ir.I64)
		v.open(f.Axis)
		v.done = newChecked(nil)
	}
	for _, e := range s.At {
		v.typed(e, ir.I64)
	}
	if s.Guard != nil {
		v.typed(s.Guard, ir.Bool_)
	}
	v.typed(s.Body, s.Acc)
	v.close(s.Free)
	v.known[s.Out] = ready
}

func (v *verifier) monoid(m *ir.Monoid, acc ir.Type) {
	v.need(m != nil, "no monoid")
	v.need(acc.IsValid(), "no accumulator type")
	t, err := m.Op.ResultType([]ir.Type{acc, acc})
	v.need(err == nil && t == acc, "%s in %s", m.Name, acc)
}

func (v *verifier) edge(e Edge, t ir.Type) {
	v.need(int(e.Kind) < len(edgeNames), "an edge of unknown kind")
	v.need(e.Kind == Const && holds(t, e.Value) || e.Kind != Const && e.Value == ir.Const{}, "an edge's value that %s cannot hold", t)
}

// holds reports whether c is a value of type t.
func holds(t ir.Type, c ir.Const) bool {
	switch {
	case t.IsFloat():
		x := c.Float()
		return x != x || ir.RoundTo(t.Elem, x) == x
	case t.IsInt():
		return ir.Wrap(t.Elem, c.Int()) == c.Int()
	case t.IsBool():
		return c.Bits <= 1
	}
	return false
}
