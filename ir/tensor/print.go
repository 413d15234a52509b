package tensor

import (
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/text"
)

// String writes the program as IR text, which Parse reads back. Sharing inside expressions survives: what is used twice, and
// is more than a few operations, gets a name of its own (let). Axes that share a name inside one definition are renamed.
// Of positions only those of the program, its conditions, definitions and sites are kept, without byte offsets.
func (p *Program) String() string {
	w := newWriter()
	w.header(p)
	for _, s := range p.Scalars {
		w.Scalar(s)
	}
	for _, c := range p.Where {
		w.Condition(c)
	}
	for _, t := range p.Temps {
		w.WriteString("temp ")
		w.declare(t)
		w.WriteByte('\n')
	}
	for _, s := range p.Sites {
		w.Site(s)
	}
	for _, d := range p.Defs {
		w.def(p, d)
	}
	return w.String()
}

type writer struct {
	text.Printer
	axes map[*ir.Axis]string
	lets map[*ir.Expr]string
}

func newWriter() *writer {
	w := &writer{axes: map[*ir.Axis]string{}}
	w.Special, w.NameOf = w.special, w.nameOf
	return w
}

func (w *writer) nameOf(r ir.Ref) string {
	if a, ok := r.(*ir.Axis); ok && w.axes[a] != "" {
		return w.axes[a]
	}
	return r.RefName()
}

func (w *writer) header(p *Program) {
	w.WriteString("tensor " + p.Name + "(")
	byName := map[string]*Tensor{}
	for _, t := range p.Params {
		byName[t.Name] = t
	}
	scalars := map[string]*ir.Scalar{}
	for _, s := range p.Scalars {
		scalars[s.Name] = s
	}
	for i, name := range p.Order {
		w.comma(i)
		if t := byName[name]; t != nil {
			w.declare(t)
		} else if s := scalars[name]; s != nil {
			w.WriteString(name + ": " + s.Type.String())
		}
	}
	w.WriteString(") -> (")
	for i, t := range p.Results {
		w.comma(i)
		w.declare(t)
	}
	w.WriteByte(')')
	w.End(p.Pos)
}

func (w *writer) comma(i int) {
	if i > 0 {
		w.WriteString(", ")
	}
}

func (w *writer) declare(t *Tensor) {
	w.WriteString(t.Name + ": " + t.Type.String())
	w.List("[", t.Extents, "]")
}

func (w *writer) def(p *Program, d Def) {
	n := namesOf(p, d)
	w.axes, w.lets = n.axes, n.lets
	for _, e := range n.order {
		name := w.lets[e]
		delete(w.lets, e) // written out, once
		w.WriteString("let " + name + ": " + e.Type.String() + " = ")
		w.Expr(e, e.Type)
		w.WriteByte('\n')
		w.lets[e] = name
	}
	switch d := d.(type) {
	case *Map:
		w.WriteString("def ")
		w.equation(d.Out, d.Free, -1, d.Body)
		w.End(d.Pos)
	case *Scatter:
		w.scatter(d)
	case *Recur:
		w.recur(d)
	case *Check:
		w.WriteString("check ")
		w.equation(d.Of, d.Free, -1, d.Fault)
		w.End(d.Pos)
	}
}

// equation writes NAME[axes] = body; step marks the stepping axis of a recurrence.
func (w *writer) equation(t *Tensor, free []ir.Span, step int, body *ir.Expr) {
	w.WriteString(t.Name + "[")
	for i, s := range free {
		w.comma(i)
		w.span(s)
		if i == step {
			w.WriteString(" step")
		}
	}
	w.WriteString("] = ")
	w.Expr(body, body.Type)
}

func (w *writer) span(s ir.Span) {
	w.WriteString(w.nameOf(s.Axis) + " in ")
	w.Expr(s.Lo, ir.I64)
	w.WriteString("..")
	w.Expr(s.Hi, ir.I64)
}

func (w *writer) scatter(s *Scatter) {
	w.WriteString("scatter " + s.Out.Name)
	w.edge(s.Edge, s.Out.Type)
	w.List("[", s.At, "]")
	w.WriteString(" " + s.Op.Name + ": " + s.Acc.String() + " = ")
	w.Expr(s.Body, s.Acc)
	for i, f := range s.Free {
		w.WriteString([]string{" for ", ", "}[min(i, 1)])
		w.span(f)
	}
	if s.Guard != nil {
		w.WriteString(" where ")
		w.Expr(s.Guard, ir.Bool_)
	}
	if s.Init != nil {
		w.WriteString(" from " + s.Init.Name)
	}
	w.End(s.Pos)
}

func (w *writer) recur(r *Recur) {
	w.WriteString("recur")
	if r.Back {
		w.WriteString(" back")
	}
	w.WriteString(" {\n")
	for k, t := range r.Tensors {
		w.WriteString("  ")
		w.equation(t, r.Free[k], r.Step[k], r.Bodies[k])
		if r.From[k] != nil {
			w.WriteString(" from " + r.From[k].Name)
		}
		w.WriteByte('\n')
	}
	w.WriteByte('}')
	w.End(r.Pos)
}

func (w *writer) edge(e Edge, t ir.Type) {
	switch e.Kind {
	case Inside:
	case Const:
		w.WriteString("@const(" + e.Value.Text(t) + ")")
	default:
		w.WriteString("@" + e.Kind.String())
	}
}

// special writes lets by their names, reads, reductions and scans.
func (w *writer) special(_ *text.Printer, e *ir.Expr) bool {
	if name, ok := w.lets[e]; ok {
		w.WriteString(name)
		return true
	}
	switch ref := e.Ref.(type) {
	case Read:
		w.WriteString(ref.Of.Name)
		w.edge(ref.Edge, ref.Of.Type)
		w.List("[", e.Args, "]")
		return true
	case *Reduction:
		w.WriteString(ref.Op.Name + "[")
		for i, s := range ref.Over {
			w.comma(i)
			w.span(s)
			if i == 0 {
				w.WriteString(": " + ref.Acc.String())
			}
		}
		w.body(ref.Guard, e)
		return true
	case *Scan:
		w.WriteString("cum" + ref.Op.Name + "[")
		w.span(ref.Over)
		w.WriteString(": " + ref.Acc.String())
		if ref.Reverse {
			w.WriteString(" reverse")
		}
		if ref.Exclusive {
			w.WriteString(" exclusive")
		}
		w.body(ref.Guard, e)
		return true
	}
	return false
}

func (w *writer) body(guard *ir.Expr, e *ir.Expr) {
	if guard != nil {
		w.WriteString(" where ")
		w.Expr(guard, ir.Bool_)
	}
	w.WriteString("](")
	w.Expr(e.Args[0], e.Type)
	w.WriteByte(')')
}

// ExprText writes an expression of the level for messages, as it would stand in IR text, and no longer than a line.
func ExprText(e *ir.Expr) string {
	w := newWriter()
	if ir.TreeSize(e, map[*ir.Expr]int{}) > 200 {
		return e.Op.Name + "(…)"
	}
	w.Expr(e, e.Type)
	if s := []rune(strings.ReplaceAll(w.String(), "\n", " ")); len(s) > 120 {
		return string(s[:119]) + "…"
	}
	return w.String()
}
