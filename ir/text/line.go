package text

import (
	"fmt"
	"strconv"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// The text of every level has these lines; what stands in brackets may be left out:
//
//	size|scalar NAME: TYPE [>= N] [multiple N] [fixed V] [default V]
//	where CONDITION "as it is written" [at LINE:COLUMN]
//	site "KIND" [of TENSOR DIMENSION] "as it is written" [at LINE:COLUMN]

// Scalar writes the line of a size or a scalar parameter, with what is known of it.
func (p *Printer) Scalar(s *ir.Scalar) {
	word := "scalar"
	if s.IsSize {
		word = "size"
	}
	p.WriteString(word + " " + s.Name + ": " + s.Type.String())
	if s.Lo != 0 {
		fmt.Fprintf(p, " >= %d", s.Lo)
	}
	if s.Multiple > 1 || s.Multiple < 0 {
		fmt.Fprintf(p, " multiple %d", s.Multiple)
	}
	if s.Fixed != nil {
		p.WriteString(" fixed " + s.Fixed.Text(s.Type))
	}
	if s.Default != nil {
		p.WriteString(" default " + s.Default.Text(s.Type))
	}
	p.WriteByte('\n')
}

// Condition writes the line of a launch condition.
func (p *Printer) Condition(c ir.Condition) {
	p.WriteString("where ")
	p.Expr(c.Expr, ir.Bool_)
	p.WriteString(" " + strconv.Quote(c.Text))
	p.End(c.Pos)
}

// Site writes the line of a place that can fail.
func (p *Printer) Site(s ir.Site) {
	p.WriteString("site " + strconv.Quote(s.Kind))
	if s.Tensor != "" {
		fmt.Fprintf(p, " of %s %d", s.Tensor, s.Dim)
	}
	p.WriteString(" " + strconv.Quote(s.Text))
	p.End(s.Pos)
}

// End ends a line with its place in the source, if it has one.
func (p *Printer) End(pos diag.Pos) {
	if pos.IsValid() {
		fmt.Fprintf(p, " at %d:%d", pos.Line, pos.Col)
	}
	p.WriteByte('\n')
}

// Lines reads the lines that every level has, and their parts.
type Lines struct {
	*syntax.Parser
	Exprs Reader
}

// Scalar reads the line of a size or a scalar parameter behind its first word.
func (l *Lines) Scalar(isSize bool) *ir.Scalar {
	name, t := l.Typed("a name")
	if t.IsPacked() {
		l.Fail(name.Pos, "ir", "%s cannot be of type %s", name.Text, t)
	}
	s := &ir.Scalar{Name: name.Text, Type: t, IsSize: isSize, Multiple: 1, Pos: name.Pos}
	if l.Accept(">=") {
		s.Lo = l.Integer("a number")
	}
	if l.Accept("multiple") {
		s.Multiple = l.Integer("a number")
	}
	if l.Accept("fixed") {
		s.Fixed = l.Constant(t)
	}
	if l.Accept("default") {
		s.Default = l.Constant(t)
	}
	return s
}

// Condition reads the line of a launch condition behind its first word.
func (l *Lines) Condition() ir.Condition {
	return ir.Condition{Expr: l.Value(ir.Bool_), Text: l.Text("the condition in quotes"), Pos: l.Place()}
}

// Site reads the line of a place that can fail behind its first word.
func (l *Lines) Site() ir.Site {
	s := ir.Site{Kind: l.Text("the kind of fault in quotes")}
	if l.Accept("of") {
		s.Tensor = l.Name("a tensor").Text
		s.Dim = int(l.Integer("a dimension"))
	}
	s.Text = l.Text("the expression in quotes")
	s.Pos = l.Place()
	return s
}

// Place reads the place in the source at the end of a line; the zero Pos if there is none. Its byte offset is not known.
func (l *Lines) Place() diag.Pos {
	if !l.Accept("at") {
		return diag.Pos{}
	}
	line := l.Integer("a line")
	l.Expect(":", "':' and a column")
	return diag.Pos{Line: int32(line & 0x7FFFFFFF), Col: int32(l.Integer("a column") & 0x7FFFFFFF), Offset: -1}
}

// Typed reads NAME: TYPE.
func (l *Lines) Typed(what string) (syntax.Token, ir.Type) {
	name := l.Name(what)
	l.Expect(":", "':' and a type")
	return name, Type(l.Parser)
}

// Value reads an expression of a type.
func (l *Lines) Value(t ir.Type) *ir.Expr { return l.Exprs.Expr(l.Expr(), t) }

// Values reads expressions of a type between square brackets.
func (l *Lines) Values(t ir.Type) (out []*ir.Expr) {
	l.Expect("[", "'['")
	for _, n := range l.ExprList("]") {
		out = append(out, l.Exprs.Expr(n, t))
	}
	return out
}

// Constant reads a number of a type.
func (l *Lines) Constant(t ir.Type) *ir.Const {
	pos := l.Peek().Pos
	e := l.Value(t)
	if !e.IsConst() {
		l.Fail(pos, "ir", "%s is no constant", String(e))
	}
	v := e.Val
	return &v
}

// Integer reads a whole number, which may be negative.
func (l *Lines) Integer(what string) int64 {
	pos := l.Peek().Pos
	n, ok := l.Value(ir.I64).IntValue()
	if !ok {
		l.Fail(pos, "ir", "expected %s", what)
	}
	return n
}
