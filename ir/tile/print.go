package tile

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/module"
	"github.com/gkc-lang/gkc/ir/text"
)

// String writes a module as text that Parse reads back.
func (m *Module) String() string {
	p := &printer{}
	p.WriteString(m.Text("tile"))
	for _, k := range m.Kernels {
		p.kernel(k)
	}
	return p.String()
}

type printer struct {
	strings.Builder
	indent int
}

func (p *printer) line(format string, args ...any) {
	for range p.indent {
		p.WriteString("  ")
	}
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

func expr(e *ir.Expr, want ir.Type) string {
	var p text.Printer
	p.Expr(e, want)
	return p.String()
}

func index(list []*ir.Expr) string {
	var p text.Printer
	p.List("[", list, "]")
	return p.String()
}

func (p *printer) kernel(k *Kernel) {
	p.line("kernel %s%s {", k.Name, module.LinesText(k.Lines))
	p.indent++
	if len(k.Sched) > 0 {
		p.line("schedule %s", k.Sched)
	}
	if k.Threads > 0 {
		p.line("threads %d", k.Threads)
	}
	for _, a := range k.Axes {
		p.line("axis %s: %s", a.Name, expr(a.Extent, ir.I64))
	}
	for _, l := range layouts(k.Body) {
		p.line("layout %s %s", l.Name, text.Layout(l))
	}
	p.stmts(k.Body)
	p.indent--
	p.line("}")
}

func (p *printer) block(list []Stmt) {
	p.indent++
	p.stmts(list)
	p.indent--
}

func (p *printer) stmts(list []Stmt) {
	for _, s := range list {
		p.stmt(s)
	}
}

func (p *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *Loop:
		p.loop(s)
	case *If:
		p.branch(s)
	case *Load:
		p.line("%s = load %s%s%s%s", value(s.Out), flag(s.Async, "async "), s.From.Name, index(s.At), where(s.Where, s.Other, s.Out.Type))
	case *Store:
		op := ""
		if s.Op != nil {
			op = " " + s.Op.Name
		}
		p.line("store%s %s%s%s <- %s%s", axes(s.Axes), s.To.Name, index(s.At), op, expr(s.Value, s.To.Type), where(s.Where, nil, ir.Type{}))
	case *Map:
		p.line("%s = map %s", value(s.Out), expr(s.Body, s.Out.Type))
	case *Dot:
		into := ""
		if s.Into != nil {
			into = " into " + s.Into.Name
		}
		p.line("%s = dot %s, %s over %s%s%s", value(s.Out), s.A.Name, s.B.Name, names(s.Over), into, flag(s.Atom != "", " by "+s.Atom))
	case *Reduce:
		p.line("%s = reduce %s %s over %s", value(s.Out), s.Op.Name, s.In.Name, names(s.Over))
	case *Scan:
		p.line("%s = scan %s %s over %s%s%s", value(s.Out), s.Op.Name, s.In.Name, s.Over.Name, flag(s.Reverse, " reverse"), flag(s.Exclusive, " exclusive"))
	case *Move:
		p.line("%s = move %s", value(s.Out), s.In.Name)
	case *Phase:
		p.line("phase")
	case *Check:
		of := ""
		if s.Of != nil {
			of = " of " + s.Of.Name
		}
		p.line("check%s %d %s, %s%s", axes(s.Axes), s.Code, index(s.Args), expr(s.Cond, ir.Bool_), of)
	}
}

func flag(set bool, word string) string {
	if set {
		return word
	}
	return ""
}

func (p *printer) loop(s *Loop) {
	head := s.Kind.String()
	for i, o := range s.Over {
		head += flag(i > 0, ",") + fmt.Sprintf(" %s in %s..%s", o.Axis.Name, expr(o.Lo, ir.I64), expr(o.Hi, ir.I64))
	}
	head += flag(s.Down, " down")
	head += number(" stages", s.Stages) + number(" raster", s.Raster)
	if len(s.Carry) > 0 {
		list := make([]string, len(s.Carry))
		for i, c := range s.Carry {
			list[i] = fmt.Sprintf("%s = %s -> %s", value(c.In), expr(c.First, c.In.Type), c.Out.Name)
		}
		head += " carry (" + strings.Join(list, ", ") + ")"
	}
	p.line("%s {", head)
	p.block(s.Body)
	for _, c := range s.Carry {
		p.line("  next %s = %s", c.In.Name, expr(c.Next, c.In.Type))
	}
	p.line("}")
}

func (p *printer) branch(s *If) {
	p.line("if %s {", expr(s.Cond, ir.Bool_))
	p.block(s.Then)
	for _, o := range s.Outs {
		p.line("  yield %s = %s", value(o.Out), expr(o.Then, o.Out.Type))
	}
	if len(s.Else) > 0 || len(s.Outs) > 0 {
		p.line("} else {")
		p.block(s.Else)
	}
	for _, o := range s.Outs {
		p.line("  yield %s = %s", o.Out.Name, expr(o.Else, o.Out.Type))
	}
	p.line("}")
}

func where(cond, other *ir.Expr, t ir.Type) string {
	switch {
	case cond == nil:
		return ""
	case other == nil:
		return " where " + expr(cond, ir.Bool_)
	}
	return " where " + expr(cond, ir.Bool_) + " else " + expr(other, t)
}

func value(v *Value) string {
	out := v.Name + axes(v.Axes) + ": " + v.Type.String() + flag(v.Space != Undecided, " "+v.Space.String())
	if v.Layout != nil {
		out += " as " + v.Layout.Name
	}
	if s := v.Swizzle; s != (ir.Swizzle{}) {
		out += fmt.Sprintf(" swizzle(%d, %d, %d)", s.Bits, s.Base, s.Shift)
	}
	return out
}

// number is a word with a number, nothing where that is 0.
func number(word string, n int) string { return flag(n != 0, fmt.Sprintf("%s %d", word, n)) }

func axes(list []*ir.Axis) string {
	if len(list) == 0 {
		return ""
	}
	return "[" + names(list) + "]"
}

func names(list []*ir.Axis) string {
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = a.Name
	}
	return strings.Join(out, ", ")
}
