package gogen

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/gkc-lang/gkc/codegen/source"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// stmts prints statements in which nobody meets.
func (p *kernel) stmts(list []simt.Stmt) (out []jen.Code) {
	for i := 0; i < len(list); i++ {
		var next simt.Stmt
		if i+1 < len(list) {
			next = list[i+1]
		}
		if l, ok := list[i].(*simt.Let); ok && fills(next, l) && p.cut.home[l.Reg] == local {
			out = append(out, p.load(next.(*simt.Load), ":=")...)
			out = append(out, p.silence(l.Reg)...)
			i++
			continue
		}
		out = append(out, p.stmt(list[i])...)
	}
	return out
}

// fills tells a load whose only target is the register that l declares.
func fills(next simt.Stmt, l *simt.Let) bool {
	load, ok := next.(*simt.Load)
	return ok && l.Value == nil && load.To.Reg == l.Reg && l.Reg.Len == 0 && load.Form == simt.One
}

// value writes expressions, and before them what they share.
func (p *kernel) value(e *ir.Expr) (pre []jen.Code, text string) {
	pre, texts := p.values(e)
	return pre, texts[0]
}

func (p *kernel) values(list ...*ir.Expr) (pre []jen.Code, texts []string) {
	flat := make([]*ir.Expr, len(list))
	for i, e := range list {
		flat[i] = p.unpack.Rewrite(e)
	}
	flat = source.Merged(flat)
	saved := p.exprs.temps
	p.exprs.temps = map[*ir.Expr]string{}
	for _, e := range source.Shared(flat...) {
		text := p.exprs.text(e)
		name := p.names.New("t")
		p.exprs.temps[e] = name
		pre = append(pre, assign(name, ":=", text))
	}
	for _, e := range flat {
		if e == nil {
			texts = append(texts, "")
			continue
		}
		texts = append(texts, p.exprs.text(e))
	}
	p.exprs.temps = saved
	return pre, texts
}

func (p *kernel) stmt(s simt.Stmt) []jen.Code {
	switch s := s.(type) {
	case *simt.Let:
		return p.let(s)
	case *simt.Set:
		pre, text := p.values(s.Value, s.At)
		return append(pre, assign(p.element(s.Reg, s.At, text[1]), "=", text[0]))
	case *simt.For:
		pre, ends := p.values(s.Lo, s.Hi)
		return append(pre, p.loop(s, ends[0], ends[1], p.stmts(s.Body))...)
	case *simt.While:
		body := p.stmts(s.Pre)
		pre, cond := p.value(s.Cond)
		body = append(append(body, pre...), leaveUnless(cond))
		return []jen.Code{jen.For().Block(append(body, p.stmts(s.Body)...)...)}
	case *simt.If:
		pre, cond := p.value(s.Cond)
		return append(pre, branch(cond, p.stmts(s.Then), p.stmts(s.Else)))
	case *simt.Load:
		return p.load(s, "=")
	case *simt.Store:
		return p.store(s)
	case *simt.Check:
		return p.check(s)
	case *simt.Sync:
		return nil // a meeting of one
	}
	panic(fmt.Sprintf("gogen: statement %T", s))
}

// element is a register, or an element of one, as it is assigned.
func (p *kernel) element(r *simt.Reg, at *ir.Expr, text string) string {
	if at == nil {
		return p.ref(r)
	}
	if _, constant := at.IntValue(); constant {
		text = p.exprs.subscript(at)
	}
	return p.ref(r) + "[" + text + "]"
}

func (p *kernel) let(s *simt.Let) []jen.Code {
	h := p.cut.home[s.Reg]
	switch {
	case s.Value == nil && h == local:
		return append([]jen.Code{jen.Var().Id(p.ref(s.Reg)).Add(registerType(s.Reg))}, p.silence(s.Reg)...)
	case s.Value == nil:
		return nil // declared around the loop
	}
	pre, text := p.value(s.Value)
	if h == local || h == once {
		return append(append(pre, assign(p.ref(s.Reg), ":=", text)), p.silence(s.Reg)...)
	}
	return append(pre, assign(p.ref(s.Reg), "=", text))
}

// silence is for registers that nobody reads, which Go refuses.
func (p *kernel) silence(r *simt.Reg) []jen.Code {
	if p.used[r] {
		return nil
	}
	return []jen.Code{assign("_", "=", p.ref(r))}
}

func leaveUnless(cond string) jen.Code {
	return jen.If(jen.Op("!").Parens(jen.Id(cond))).Block(jen.Break())
}

func branch(cond string, then, otherwise []jen.Code) jen.Code {
	out := jen.If(jen.Id(cond)).Block(then...)
	if len(otherwise) > 0 {
		out.Else().Block(otherwise...)
	}
	return out
}

// loop prints a counted loop whose ends are evaluated once.
func (p *kernel) loop(s *simt.For, lo, hi string, body []jen.Code) (out []jen.Code) {
	v, t := p.names.Of(s.Var, s.Var.Name), typeOf(s.Var.Type)
	if !s.Hi.IsConst() && (s.Hi.Op != ir.OpName || isMutable(s.Hi.Ref)) {
		end := p.names.New("end")
		out = append(out, assign(end, ":=", hi))
		hi = end
	}
	body = append(p.silence(s.Var), body...)
	step := fmt.Sprint(s.Step)
	switch {
	case s.Down: // counts trips, since the variable itself may pass the lowest value of its type
		begin, trip := p.names.New("begin"), p.names.New("trip")
		out = append(out, assign(begin, ":=", lo))
		trips := fmt.Sprintf("(int64(%s)-int64(%s)+%s-1)/%s - 1", hi, begin, step, step)
		body = append([]jen.Code{assign(v, ":=", fmt.Sprintf("%s + %s(%s*%s)", begin, t, trip, step))}, body...)
		return append(out, jen.For(assign(trip, ":=", trips), jen.Id(trip).Op(">=").Id("0"), jen.Id(trip).Op("--")).Block(body...))
	case s.Step != 1 && s.Var.Type.Bits() < 64: // counts in 64 bits, since the last step may pass the highest value
		wide := p.names.New("at")
		body = append([]jen.Code{assign(v, ":=", t+"("+wide+")")}, body...)
		return append(out, jen.For(assign(wide, ":=", "int64("+lo+")"), jen.Id(wide).Op("<").Id("int64("+hi+")"), jen.Id(wide).Op("+=").Id(step)).Block(body...))
	}
	next := jen.Id(v).Op("+=").Id(step)
	if s.Step == 1 {
		next = jen.Id(v).Op("++")
	}
	return append(out, jen.For(assign(v, ":=", lo), jen.Id(v).Op("<").Id(hi), next).Block(body...))
}

func isMutable(r ir.Ref) bool {
	reg, ok := r.(*simt.Reg)
	return ok && reg.Mutable
}

func (p *kernel) load(s *simt.Load, op string) []jen.Code {
	pre, text := p.values(s.From.At)
	from := p.names.Of(s.From.Buf, s.From.Buf.Name)
	if s.Form == simt.One {
		pre2, at := p.values(s.To.From)
		to := p.element(s.To.Reg, s.To.From, at[0])
		return append(append(pre, pre2...), assign(to, op, fmt.Sprintf("%s[%s]", from, p.place(s.From.At, text[0]))))
	}
	pre2, first := p.values(s.To.From)
	to := fmt.Sprintf("%s[%s:][:%d]", p.ref(s.To.Reg), first[0], s.To.Len)
	if s.To.Reg.Len == 0 {
		cannot(s.Pos, "a vector load into the single register %s", s.To.Reg.Name)
	}
	words := fmt.Sprintf("simt.Vector[%s](%s, %s, %d)", typeOf(s.To.Reg.Type), from, p.place(s.From.At, text[0]), s.To.Len)
	return append(append(pre, pre2...), jen.Id("copy").Call(jen.Id(to), jen.Id(words)))
}

// place is a subscript of memory.
func (p *kernel) place(at *ir.Expr, text string) string {
	if at.IsConst() {
		return p.exprs.subscript(at)
	}
	return text
}

func (p *kernel) store(s *simt.Store) []jen.Code {
	list := append([]*ir.Expr{s.To.At}, s.From...)
	pre, text := p.values(list...)
	to := p.names.Of(s.To.Buf, s.To.Buf.Name)
	at := p.place(s.To.At, text[0])
	switch {
	case s.Op != nil:
		return append(pre, p.combine(s, to, at, text[1])...)
	case s.Form == simt.One:
		return append(pre, assign(fmt.Sprintf("%s[%s]", to, at), "=", text[1]))
	}
	values := make([]jen.Code, len(s.From))
	for i := range values {
		values[i] = jen.Id(text[1+i])
	}
	view := fmt.Sprintf("simt.Vector[%s](%s, %s, %d)", typeOf(s.From[0].Type), to, at, len(s.From))
	return append(pre, jen.Id("copy").Call(jen.Id(view), jen.Index().Id(typeOf(s.From[0].Type)).Values(values...)))
}

// combine updates an element in place: blocks that do so run one after another, so this is atomic.
func (p *kernel) combine(s *simt.Store, to, at, value string) []jen.Code {
	if s.Form != simt.One {
		cannot(s.Pos, "an atomic store of a vector")
	}
	t := s.To.Buf.Type
	old := &simt.Reg{Name: "old", Type: t}
	given := &simt.Reg{Name: "given", Type: t}
	place, was, with := p.names.New("place"), p.names.Of(old, "was"), p.names.Of(given, "with")
	computed := ir.Type{Elem: t.Elem.Computed(), Pack: 1}
	sum := ir.Cast(t, ir.Apply(s.Op.Op, ir.Widen(computed, ir.Name(old)), ir.Widen(computed, ir.Name(given))))
	if t == computed || t.IsBool() {
		sum = ir.Apply(s.Op.Op, ir.Name(old), ir.Name(given))
	}
	body := []jen.Code{
		assign(place, ":=", fmt.Sprintf("&%s[%s]", to, at)),
		assign(was+", "+with, ":=", "*"+place+", "+value),
		assign("*"+place, "=", p.exprs.text(sum)),
	}
	if s.Old != nil {
		body = append(body, assign(p.ref(s.Old), "=", was))
	}
	return []jen.Code{jen.Block(body...)}
}

func (p *kernel) check(s *simt.Check) []jen.Code {
	pre, text := p.values(append([]*ir.Expr{s.Cond}, s.Args...)...)
	call := []jen.Code{jen.Id(p.thread("tid")), jen.Lit(s.Code)}
	for i := range s.Args {
		call = append(call, jen.Id(text[1+i]))
	}
	return append(pre, jen.If(jen.Op("!").Parens(jen.Id(text[0]))).Block(jen.Id("b").Dot("Fail").Call(call...)))
}
