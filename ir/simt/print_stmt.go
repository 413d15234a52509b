package simt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gkc-lang/gkc/ir"
)

func (p *printer) stmts(body []Stmt) {
	for _, s := range body {
		p.stmt(s)
	}
}

func (p *printer) block(body []Stmt) {
	p.indent++
	p.stmts(body)
	p.indent--
}

func (p *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *Let:
		p.let(s)
	case *Set:
		p.line("%s%s = %s", s.Reg.Name, p.at(s.At), p.show(s.Value, s.Reg.Type))
	case *For:
		p.forLoop(s)
	case *While:
		p.line("while {")
		p.block(s.Pre)
		p.line("} %s {", p.show(s.Cond, ir.Bool_))
		p.block(s.Body)
		p.line("}")
	case *If:
		p.branch("", s)
	case *Load:
		p.line("load %s <- %s%s%s%s", p.slice(s.To), p.mem(&s.From), form(s.Form, s.To.Len), keepNames[s.Keep], orderNames[s.Order])
	case *Store:
		p.store(s)
	case *Copy:
		p.copy(s)
	case *Mma:
		p.line("mma %s %s += %s * %s acc %s", s.Atom.Name, p.slice(s.D), p.operand(&s.A), p.operand(&s.B), p.show(s.Acc, ir.Bool_))
	case *Sync:
		p.sync(s)
	case *Roles:
		p.roles(s)
	case *Check:
		line := fmt.Sprintf("check %s, %d", p.show(s.Cond, ir.Bool_), s.Code)
		for _, a := range s.Args {
			line += ", " + p.show(a, ir.I64)
		}
		if s.Of != nil {
			line += " of " + s.Of.Name
		}
		p.line("%s", line)
	default:
		panic(fmt.Sprintf("simt: statement %T", s))
	}
}

// at writes the subscript of a register, or nothing.
func (p *printer) at(e *ir.Expr) string {
	if e == nil {
		return ""
	}
	return "[" + p.show(e, ir.I32) + "]"
}

func (p *printer) let(s *Let) {
	r := s.Reg
	word, size, as, value := "let", "", "", ""
	if r.Mutable || r.Len > 0 {
		word = "var"
	}
	if r.Len > 0 {
		size = "[" + strconv.Itoa(r.Len) + "]"
	}
	if r.Layout != nil {
		as = " as " + r.Layout.Name
	}
	if s.Value != nil {
		value = " = " + p.show(s.Value, r.Type)
	}
	p.line("%s %s: %s%s%s%s", word, r.Name, r.Type, size, as, value)
}

func (p *printer) forLoop(s *For) {
	t, step := "", ""
	if s.Var.Type != ir.I32 {
		t = ": " + s.Var.Type.String()
	}
	if s.Step != 1 {
		step = fmt.Sprintf(" step %d", s.Step)
	}
	p.line("for %s%s in %s..%s%s%s%s {", s.Var.Name, t, p.show(s.Lo, s.Var.Type), p.show(s.Hi, s.Var.Type), step, when(s.Down, " down"), when(s.Unroll, " unroll"))
	p.block(s.Body)
	p.line("}")
}

func (p *printer) branch(prefix string, s *If) {
	p.line("%sif %s {", prefix, p.show(s.Cond, ir.Bool_))
	p.block(s.Then)
	if len(s.Else) == 1 {
		if next, ok := s.Else[0].(*If); ok {
			p.branch("} else ", next)
			return
		}
	}
	if len(s.Else) > 0 {
		p.line("} else {")
		p.block(s.Else)
	}
	p.line("}")
}

// slice writes registers: x of a scalar or a whole array, x[i], x[i:n].
func (p *printer) slice(s Slice) string {
	switch {
	case s.From == nil || s.From.IsInt(0) && s.From.Type == ir.I32 && s.Len == s.Reg.Len:
		return s.Reg.Name
	case s.Len == 1:
		return s.Reg.Name + p.at(s.From)
	}
	return fmt.Sprintf("%s[%s:%d]", s.Reg.Name, p.show(s.From, ir.I32), s.Len)
}

func (p *printer) mem(m *Mem) string {
	s := m.Buf.Name + "[" + p.show(m.At, m.Buf.indexType()) + "]"
	return s + p.rank(m.Rank)
}

// indexType is the type of a bare number as a subscript of the buffer.
func (b *Buffer) indexType() ir.Type {
	if b.Space == Shared {
		return ir.I32
	}
	return ir.I64
}

func (p *printer) rank(e *ir.Expr) string {
	switch {
	case e == nil:
		return ""
	case e.Op == ir.OpName || e.IsConst() && e.Type == ir.I32 && e.Val.Int() >= 0:
		return "@" + p.show(e, ir.I32)
	}
	return "@(" + p.show(e, ir.I32) + ")"
}

func form(f Form, n int) string {
	if f == One {
		return ""
	}
	return fmt.Sprintf(" %s %d", formNames[f], n)
}

var (
	formNames  = []string{One: "", Vec: "vec", Matrix: "matrix", MatrixTrans: "matrix.trans"}
	keepNames  = []string{KeepDefault: "", KeepStream: " stream", KeepFirst: " keep first", KeepLast: " keep last"}
	orderNames = []string{Plain: "", Volatile: " volatile", Relaxed: " relaxed", Acquire: " acquire", Release: " release"}
)

func (p *printer) store(s *Store) {
	old := ""
	if s.Old != nil {
		old = " -> " + s.Old.Name
	}
	p.line("store %s <- %s%s%s%s%s%s", p.mem(&s.To), p.values(s.From, s.To.Buf.Type), form(s.Form, len(s.From)), combine(s.Op), keepNames[s.Keep], orderNames[s.Order], old)
}

func combine(m *ir.Monoid) string {
	if m == nil {
		return ""
	}
	return " " + m.Op.Name
}

// monoidOf finds the monoid that the text names by its operation.
func monoidOf(op string) *ir.Monoid {
	for _, m := range ir.Monoids {
		if m.Op.Name == op {
			return m
		}
	}
	return nil
}

// values writes one value, neighbouring elements of an array as a slice, or a list.
func (p *printer) values(list []*ir.Expr, want ir.Type) string {
	if len(list) == 1 {
		return p.show(list[0], want)
	}
	if run := sliceOf(list); run.Reg != nil {
		return p.slice(run)
	}
	return p.list(list, want)
}

// sliceOf finds that values are neighbouring elements of one array; its Reg is nil where they are not.
func sliceOf(list []*ir.Expr) Slice {
	for i, e := range list {
		if e.Op != OpElem || e.Ref != list[0].Ref || !ir.Equal(e.Args[0], element(list[0].Args[0], i)) {
			return Slice{}
		}
	}
	if len(list) == 0 {
		return Slice{}
	}
	return Slice{Reg: list[0].Ref.(*Reg), From: list[0].Args[0], Len: len(list)}
}

// element is the subscript i places behind from.
func element(from *ir.Expr, i int) *ir.Expr {
	if n, ok := from.IntValue(); ok {
		return ir.NewConst(from.Type, ir.IntConst(n+int64(i)))
	}
	return ir.Add(from, ir.NewConst(from.Type, ir.IntConst(int64(i))))
}

func (p *printer) copy(s *Copy) {
	line := "copy " + s.Form.Name
	if s.Form.To != AtNone {
		line += " " + p.place(&s.To) + " <-"
	}
	line += " " + p.place(&s.From)
	if s.Bytes != nil {
		line += " bytes " + p.show(s.Bytes, ir.I32)
	}
	if s.Done != nil {
		line += " done " + p.barRef(s.Done)
	}
	if s.Peers != nil {
		line += " peers " + p.show(s.Peers, ir.I32)
	}
	p.line("%s%s%s", line, combine(s.Op), keepNames[s.Keep])
}

func (p *printer) place(s *Place) string {
	switch {
	case s.Mem != nil:
		return p.mem(s.Mem)
	case len(s.Coords) == 0:
		return s.Map.Name
	}
	return s.Map.Name + p.list(s.Coords, ir.I32)
}

func (p *printer) operand(o *Operand) string {
	if o.Slice != nil {
		return p.slice(*o.Slice)
	}
	return "(" + p.show(o.Desc, ir.U64) + ") of " + p.mem(o.Of)
}

func (p *printer) barRef(b *BarRef) string {
	if b.Bar == nil {
		return b.Builtin
	}
	return b.Bar.Name + p.at(b.At) + p.rank(b.Rank)
}

func (p *printer) sync(s *Sync) {
	parts := []string{}
	if ref := p.barRef(&s.On); ref != "" {
		parts = append(parts, ref)
	}
	for i, a := range s.Args {
		want := ir.Type{}
		if i < len(s.Verb.Args) {
			want = s.Verb.Args[i].Type
		}
		parts = append(parts, p.show(a, want))
	}
	p.line("%s %s", s.Verb.Name, strings.Join(parts, ", "))
}

func (p *printer) roles(s *Roles) {
	p.line("roles {")
	p.indent++
	for _, a := range s.Arms {
		by := ""
		if a.By != 0 {
			by = fmt.Sprintf(" by %d", a.By)
		}
		p.line("%s warps %d..%d%s%s {", a.Name, a.First, a.First+a.Warps, by, number("regs", a.Regs))
		p.block(a.Body)
		p.line("}")
	}
	p.indent--
	p.line("}")
}
