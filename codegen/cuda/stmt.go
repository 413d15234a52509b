package cuda

import (
	"fmt"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

func (p *printer) stmts(list []simt.Stmt) {
	for i := 0; i < len(list); i++ {
		if p.isDead(list[i]) {
			continue
		}
		if l, ok := list[i].(*simt.Let); ok && i+1 < len(list) && fills(list[i+1], l) {
			load := list[i+1].(*simt.Load)
			text := p.values(load.From.At, load.From.Rank)
			p.line("%s%s %s = %s;", constness(l.Reg), typeOf(l.Reg.Type), p.ref(l.Reg), p.read(load, text[0], text[1]))
			i++
			continue
		}
		p.stmt(list[i])
	}
}

// isDead tells statements that only give a value to a register that nobody reads, which the compiler would complain of.
func (p *printer) isDead(s simt.Stmt) bool {
	switch s := s.(type) {
	case *simt.Let:
		return !p.used[s.Reg]
	case *simt.Set:
		return !p.used[s.Reg]
	case *simt.Load:
		return !p.used[s.To.Reg] && s.Order == simt.Plain && (s.Form == simt.One || s.Form == simt.Vec)
	}
	return false
}

// fills tells a load whose only target is the register that l declares.
func fills(next simt.Stmt, l *simt.Let) bool {
	load, ok := next.(*simt.Load)
	return ok && l.Value == nil && load.To.Reg == l.Reg && l.Reg.Len == 0 && load.Form == simt.One
}

func constness(r *simt.Reg) string {
	if r.Mutable {
		return ""
	}
	return "const "
}

func (p *printer) stmt(s simt.Stmt) {
	switch s := s.(type) {
	case *simt.Let:
		p.let(s)
	case *simt.Set:
		text := p.values(s.Value, s.At)
		p.line("%s = %s;", p.element(s.Reg, text[1]), text[0])
	case *simt.For:
		p.loop(s)
	case *simt.While:
		p.block("for (;;)", func() {
			p.stmts(s.Pre)
			cond := p.values(s.Cond)[0]
			p.line("if (!(%s)) break;", cond)
			p.stmts(s.Body)
		})
	case *simt.If:
		p.branch(s)
	case *simt.Load:
		p.load(s)
	case *simt.Store:
		p.store(s)
	case *simt.Check:
		p.check(s)
	case *simt.Sync:
		p.sync(s)
	case *simt.Copy:
		p.copy(s)
	case *simt.Mma:
		p.mma(s)
	case *simt.Roles:
		p.roles(s)
	default:
		panic(fmt.Sprintf("cuda: statement %T", s))
	}
}

// element is a register, or an element of one.
func (p *printer) element(r *simt.Reg, at string) string {
	if at == "" {
		return p.ref(r)
	}
	return fmt.Sprintf("%s[%s]", p.ref(r), at)
}

func (p *printer) let(s *simt.Let) {
	t, name := typeOf(s.Reg.Type), p.ref(s.Reg)
	switch {
	case s.Reg.Len > 0:
		p.line("%s %s[%d];", t, name, s.Reg.Len)
	case s.Value == nil:
		p.line("%s %s;", t, name)
	default:
		p.line("%s%s %s = %s;", constness(s.Reg), t, name, p.values(s.Value)[0])
	}
}

// loop prints a counted loop whose ends are evaluated once.
func (p *printer) loop(s *simt.For) {
	ends := p.values(s.Lo, s.Hi)
	lo, hi := ends[0], ends[1]
	v, t := p.ref(s.Var), typeOf(s.Var.Type)
	if !s.Hi.IsConst() && (s.Hi.Op != ir.OpName || isMutable(s.Hi.Ref)) {
		end := p.names.New("end")
		p.line("const %s %s = %s;", t, end, hi)
		hi = end
	}
	if s.Unroll {
		p.line("#pragma unroll")
	}
	switch {
	case s.Down: // counts trips, since the variable itself may pass the lowest value of its type
		begin, trip := p.names.New("begin"), p.names.New("trip")
		if s.Unroll {
			begin = lo
		} else {
			p.line("const %s %s = %s;", t, begin, lo)
		}
		head := fmt.Sprintf("for (i64 %s = ((i64)(%s) - (i64)(%s) + %dll) / %dll - 1; %s >= 0; %s--)", trip, hi, begin, s.Step-1, s.Step, trip, trip)
		p.block(head, func() {
			if p.used[s.Var] {
				p.line("const %s %s = (%s)((%s) + %s * %d);", t, v, t, begin, trip, s.Step)
			}
			p.stmts(s.Body)
		})
	case s.Step != 1 && s.Var.Type.Bits() < 64 && !s.Unroll: // counts in 64 bits, since the last step may pass the highest value
		at := p.names.New("at")
		p.block(fmt.Sprintf("for (i64 %s = %s; %s < (i64)%s; %s += %d)", at, lo, at, hi, at, s.Step), func() {
			if p.used[s.Var] {
				p.line("const %s %s = (%s)%s;", t, v, t, at)
			}
			p.stmts(s.Body)
		})
	default:
		next := fmt.Sprintf("%s += %d", v, s.Step)
		if s.Step == 1 {
			next = v + "++"
		}
		p.block(fmt.Sprintf("for (%s %s = %s; %s < %s; %s)", t, v, lo, v, hi, next), func() { p.stmts(s.Body) })
	}
}

func isMutable(r ir.Ref) bool {
	reg, ok := r.(*simt.Reg)
	return ok && reg.Mutable
}

func (p *printer) branch(s *simt.If) {
	cond := p.values(s.Cond)[0]
	p.line("if (%s) {", cond)
	p.indent++
	p.stmts(s.Then)
	p.indent--
	if len(s.Else) > 0 {
		p.line("} else {")
		p.indent++
		p.stmts(s.Else)
		p.indent--
	}
	p.line("}")
}

func (p *printer) check(s *simt.Check) {
	list := append([]*ir.Expr{s.Cond}, s.Args...)
	text := p.values(list...)
	if len(s.Args) > 4 {
		cannot(s.Pos, "a check with %d values", len(s.Args))
	}
	args := ""
	for i := range 4 {
		if i < len(s.Args) {
			args += ", " + text[1+i]
		} else {
			args += ", 0"
		}
	}
	p.line("if (!(%s)) gkc_fail(failure, %d, %d%s);", text[0], s.Code, len(s.Args), args)
}
