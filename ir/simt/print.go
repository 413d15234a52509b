package simt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/module"
	"github.com/gkc-lang/gkc/ir/text"
)

// String writes a module as text that Parse reads back: all of it but the positions of statements.
func (m *Module) String() string {
	p := newPrinter()
	p.out.WriteString(m.Text("simt"))
	for _, k := range m.Kernels {
		p.line("")
		p.kernel(k)
	}
	return p.out.String()
}

// PrintStmts writes statements, for messages and tests.
func PrintStmts(body []Stmt) string {
	p := newPrinter()
	p.stmts(body)
	return p.out.String()
}

type printer struct {
	out    strings.Builder
	indent int
	// scalars maps those module scalars that a host value hides to a name that stands for them.
	scalars map[ir.Ref]*ir.Expr
}

func newPrinter() *printer { return &printer{} }

const margin = "                                                                                "

func (p *printer) line(format string, args ...any) {
	if format != "" {
		p.out.WriteString(margin[:min(2*p.indent, len(margin))])
		fmt.Fprintf(&p.out, format, args...)
	}
	p.out.WriteByte('\n')
}

// show writes an expression where a value of type want is expected.
func (p *printer) show(e *ir.Expr, want ir.Type) string {
	w := text.Printer{Special: special}
	w.Expr(e, want)
	return w.String()
}

// special writes array elements and shared addresses.
func special(w *text.Printer, e *ir.Expr) bool {
	switch e.Op {
	case OpElem:
		w.WriteString(e.Ref.RefName() + "[")
		w.Expr(e.Args[0], ir.I32)
		w.WriteByte(']')
	case OpAddr:
		w.WriteString("addr(" + e.Ref.RefName() + ", ")
		w.Expr(e.Args[0], ir.I32)
		w.WriteByte(')')
	default:
		return false
	}
	return true
}

func (p *printer) list(list []*ir.Expr, want ir.Type) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = p.show(e, want)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// host writes an expression of the launcher.
func (p *printer) host(e *ir.Expr, want ir.Type) string {
	if len(p.scalars) > 0 {
		e = ir.Substitute(e, p.scalars)
	}
	return p.show(e, want)
}

func (p *printer) hosts(list []*ir.Expr) string {
	out := make([]*ir.Expr, len(list))
	for i, e := range list {
		out[i] = ir.Substitute(e, p.scalars)
	}
	return p.list(out, ir.I64)
}

func (p *printer) kernel(k *Kernel) {
	head := "kernel " + k.Name
	if k.For != "" {
		head += " for " + k.For
	}
	p.line("%s%s {", head, module.LinesText(k.Lines))
	p.indent++
	p.scalars = hidden(k)
	for _, v := range k.Params {
		p.line("host %s: %s = %s", v.Name, v.Type, p.host(v.Expr, v.Type))
	}
	p.launch(&k.Launch)
	for _, b := range k.Global {
		p.line("global %s: %s = %s%s", b.Name, b.Type, b.Array.Name, when(b.ReadOnly, " readonly"))
	}
	for _, t := range k.Maps {
		p.tensorMap(t)
	}
	for _, b := range k.Shared {
		p.shared(b)
	}
	for _, b := range k.Bars {
		p.bar(b)
	}
	for _, l := range layouts(k.Body) {
		p.line("layout %s %s", l.Name, text.Layout(l))
	}
	p.stmts(k.Body)
	p.indent--
	p.line("}")
}

// hidden lists the module scalars whose names mean something else in this kernel, with a name that does not.
func hidden(k *Kernel) map[ir.Ref]*ir.Expr {
	taken := map[string]bool{SMs.Name: true, L2Bytes.Name: true}
	for _, v := range k.Params {
		taken[v.Name] = true
	}
	out := map[ir.Ref]*ir.Expr{}
	add := func(e *ir.Expr) {
		ir.Walk(e, func(x *ir.Expr) {
			if s, ok := x.Ref.(*ir.Scalar); ok && taken[s.Name] {
				out[s] = ir.Name(&ir.Scalar{Name: scalarPrefix + s.Name, Type: s.Type})
			}
		})
	}
	add(k.Launch.Grid)
	for _, v := range k.Params {
		add(v.Expr)
	}
	for _, t := range k.Maps {
		for _, e := range append(append([]*ir.Expr{}, t.Dims...), t.Strides...) {
			add(e)
		}
	}
	return out
}

func when(on bool, text string) string {
	if on {
		return text
	}
	return ""
}

func number(word string, n int) string {
	return when(n != 0, " "+word+" "+strconv.Itoa(n))
}

func (p *printer) launch(l *Launch) {
	p.line("launch grid %s threads %d%s%s%s%s", p.host(l.Grid, ir.I64), l.Threads,
		number("cluster", l.Cluster), number("per_sm", l.PerSM), number("shared", l.SharedBytes), when(l.Tail, " tail"))
}

func (p *printer) tensorMap(t *TensorMap) {
	box := make([]*ir.Expr, len(t.Box))
	for i, n := range t.Box {
		box[i] = ir.Int64(int64(n))
	}
	p.line("map %s = %s%s strides %s box %s%s%s%s", t.Name, t.Of.Name, p.hosts(t.Dims), p.hosts(t.Strides), p.list(box, ir.I64),
		number("swizzle", t.Swizzle), number("l2", t.Promote), when(t.FillNaN, " fill nan"))
}

func (p *printer) shared(b *Buffer) {
	over := ""
	if b.Over != nil {
		over = " over " + b.Over.Name
	}
	p.line("shared %s: %s[%d] at %d%s%s%s", b.Name, b.Type, b.Len, b.At, number("align", b.Align), over, when(b.ReadOnly, " readonly"))
}

func (p *printer) bar(b *Bar) {
	if b.Named {
		p.line("named %s[%d] first %d count %d", b.Name, b.N, b.First, b.Count)
		return
	}
	p.line("mbar %s[%d] at %d count %d", b.Name, b.N, b.First, b.Count)
}
