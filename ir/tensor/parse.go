package tensor

import (
	"slices"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/text"
)

// Parse reads the IR text of one program, as String writes it. It stops at the first mistake.
//
//	tensor NAME(NAME: type[extents], NAME: type, …) -> (NAME: type[extents], …)  parameters, scalars among them, and results
//	size NAME: i64 >= 1 multiple 8 fixed 64                                     a size and what is known of it
//	scalar NAME: type >= 0 default 1                                            a scalar parameter
//	where condition "as it is written"                                          a launch condition
//	temp NAME: type[extents]                                                    an intermediate
//	site "index" of NAME 0 "as it is written"                                   a place that a check may name
//	let NAME: type = e                                                          an expression that the next definition shares
//	def NAME[i in lo..hi, …] = e
//	scatter NAME@edge[e, …] sum: type = e for i in lo..hi, … where guard from NAME
//	recur back { NAME[t in lo..hi step, …] = e from NAME … }
//	check NAME[i in lo..hi, …] = e
//
// Behind the first line, conditions, sites and definitions may stand at LINE:COLUMN, their place in the source. Expressions
// are those of package text, with reads NAME@edge[e, …], reductions sum[i in lo..hi: type, … where guard](e) and scans
// cumsum[i in lo..hi: type reverse exclusive where guard](e). A read of a name that is a parameter and a result is one of the
// parameter, a definition one of the result.
func Parse(src string) (*Program, diag.List) {
	all, errs := ParseAll(src)
	if len(errs) == 0 && len(all) != 1 {
		errs.Add(diag.Errorf(diag.Pos{Line: 1, Col: 1}, "ir", "the text holds %d programs, expected one", len(all)))
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return all[0], nil
}

// ParseAll reads the IR text of any number of programs.
func ParseAll(src string) ([]*Program, diag.List) {
	p, errs := syntax.New(src, syntax.IR)
	if len(errs) > 0 {
		return nil, errs
	}
	var all []*Program
	d := p.Catch(func() {
		for p.Peek().Kind != syntax.End {
			r := &reader{Lines: text.Lines{Parser: p}}
			all = append(all, r.program())
		}
	})
	errs.Add(d)
	if len(errs) > 0 {
		return nil, errs
	}
	return all, nil
}

// reader holds what one program has declared so far.
type reader struct {
	text.Lines
	prog     *Program
	scalars  map[string]*ir.Scalar
	reads    map[string]*Tensor // what a read of a name means: the parameter where there is one
	defined  map[string]*Tensor // what a definition of a name means
	header   []pending
	promised []syntax.Token // parameters without extents: scalars
	scope    []*ir.Axis     // innermost last; no two have one name
	visible  map[string]*ir.Axis
	axes     map[string]*ir.Axis // of the definition at hand, by name
	lets     map[string]*let
	budget   int
}

// pending is a declared tensor whose extents wait for the sizes.
type pending struct {
	t       *Tensor
	extents []*syntax.Node
}

// maxNodes bounds the expressions of a program as they are read.
const maxNodes = 4 << 20

func (r *reader) program() *Program {
	r.prog = &Program{}
	r.scalars, r.reads, r.defined, r.lets = map[string]*ir.Scalar{}, map[string]*Tensor{}, map[string]*Tensor{}, map[string]*let{}
	r.visible, r.axes = map[string]*ir.Axis{}, map[string]*ir.Axis{}
	r.Exprs = text.Reader{Name: r.name, Special: r.special}
	r.budget = maxNodes
	r.head()
	for r.Is("size") || r.Is("scalar") {
		r.scalar()
	}
	for _, name := range r.promised {
		if s := r.scalars[name.Text]; s == nil || s.IsSize {
			r.fail(name.Pos, "the parameter %s has no extents, and no line 'scalar %s: …'", name.Text, name.Text)
		}
	}
	r.closeHeader()
	for r.Peek().Kind != syntax.End && !r.Is("tensor") {
		r.statement()
	}
	return r.prog
}

// head reads tensor NAME(params) -> (results). Scalars among the params are declared by lines of their own.
func (r *reader) head() {
	r.Expect("tensor", "'tensor'")
	p := r.prog
	p.Name = r.Name("the program's name").Text
	r.Expect("(", "'('")
	r.List(")", func() {
		name, ty := r.Typed("a parameter")
		if slices.Contains(p.Order, name.Text) {
			r.fail(name.Pos, "%s is declared twice", name.Text)
		}
		p.Order = append(p.Order, name.Text)
		if r.Is("[") {
			p.Params = append(p.Params, r.tensor(name, ty, Param))
		} else {
			r.promised = append(r.promised, name)
		}
	})
	r.Expect(")", "',' or ')'")
	r.Expect("->", "'->'")
	r.Expect("(", "'('")
	r.List(")", func() {
		name, ty := r.Typed("a result")
		p.Results = append(p.Results, r.tensor(name, ty, Result))
	})
	r.Expect(")", "',' or ')'")
	p.Pos = r.Place()
}

// tensor reads the extents of a tensor, which are made into expressions by closeHeader.
func (r *reader) tensor(name syntax.Token, ty ir.Type, role Role) *Tensor {
	t := &Tensor{Name: name.Text, Type: ty, Role: role}
	r.Expect("[", "'[' and the extents")
	r.header = append(r.header, pending{t, r.ExprList("]")})
	if role == Param {
		r.declare(r.reads, t, name.Pos)
		return t
	}
	r.declare(r.defined, t, name.Pos)
	if r.reads[t.Name] == nil {
		r.reads[t.Name] = t
	}
	return t
}

func (r *reader) declare(in map[string]*Tensor, t *Tensor, pos diag.Pos) {
	if in[t.Name] != nil {
		r.fail(pos, "%s is declared twice", t.Name)
	}
	in[t.Name] = t
}

func (r *reader) closeHeader() {
	for _, h := range r.header {
		for _, n := range h.extents {
			h.t.Extents = append(h.t.Extents, r.Exprs.Index(n))
		}
	}
	r.header = nil
}

func (r *reader) fail(pos diag.Pos, format string, args ...any) { r.Fail(pos, "ir", format, args...) }

func (r *reader) scalar() {
	isSize, name := r.Next().Text == "size", r.Peek()
	if old := r.reads[name.Text]; r.scalars[name.Text] != nil || old != nil && old.Role != Result {
		r.fail(name.Pos, "%s is declared twice", name.Text)
	}
	s := r.Scalar(isSize)
	delete(r.reads, s.Name) // a scalar that is updated in place is read, not the result of its name
	r.scalars[s.Name] = s
	r.prog.Scalars = append(r.prog.Scalars, s)
}

func (r *reader) statement() {
	t := r.Next()
	switch t.Text {
	case "where":
		r.prog.Where = append(r.prog.Where, r.Condition())
	case "temp":
		name, ty := r.Typed("a name")
		r.prog.Temps = append(r.prog.Temps, r.tensor(name, ty, Temp))
		r.closeHeader()
	case "site":
		r.prog.Sites = append(r.prog.Sites, r.Site())
	case "let":
		r.let()
	case "def", "scatter", "recur", "check":
		r.prog.Defs = append(r.prog.Defs, r.def(t))
		r.lets = map[string]*let{}
	default:
		r.fail(t.Pos, "expected where, temp, site, let, def, scatter, recur or check, found '%s'", t.Text)
	}
}

// find is a tensor by name.
func (r *reader) find(in map[string]*Tensor, what string) *Tensor {
	t := r.Name(what)
	if in[t.Text] == nil {
		r.fail(t.Pos, "unknown tensor %s", t.Text)
	}
	return in[t.Text]
}

// edge makes a read's or a scatter's edge of what is written.
func (r *reader) edge(e *syntax.Edge, t ir.Type) Edge {
	if e == nil {
		return Edge{}
	}
	for k, name := range edgeNames {
		if name != e.Kind || EdgeKind(k) == Inside {
			continue
		}
		out := Edge{Kind: EdgeKind(k)}
		if out.Kind == Const {
			v := r.Exprs.Expr(e.Value, t)
			if !v.IsConst() {
				r.fail(e.Pos, "the value of @const is no constant")
			}
			out.Value = v.Val
		}
		return out
	}
	r.fail(e.Pos, "unknown edge @%s, expected one of %s", e.Kind, strings.Join(edgeNames[1:], " "))
	return Edge{}
}
