package tile

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// define reads NAME[axes]: type = ….
func (p *parser) define(head Head) Stmt {
	v, t := p.newValue()
	p.Expect("=", "'='")
	word := p.Name("map, load, dot, reduce, scan or move")
	var s Stmt
	switch word.Text {
	case "map":
		s = &Map{head, v, p.Value(v.Type)}
	case "load":
		s = p.load(head, v)
	case "dot":
		s = p.dot(head, v)
	case "reduce":
		op := p.monoid()
		in := p.use()
		p.Expect("over", "'over'")
		s = &Reduce{head, v, in, p.axisList(), op}
	case "scan":
		op := p.monoid()
		in := p.use()
		p.Expect("over", "'over'")
		scan := &Scan{Head: head, Out: v, In: in, Op: op, Over: p.axis()}
		scan.Reverse = p.flag("reverse")
		scan.Exclusive = p.flag("exclusive")
		s = scan
	case "move":
		s = &Move{head, v, p.use()}
	default:
		p.Fail(word.Pos, "syntax", "expected map, load, dot, reduce, scan or move, found '%s'", word.Text)
	}
	p.declare(t, v)
	return s
}

// flag takes a word that ends a statement on its line.
func (p *parser) flag(word string) bool { return !p.Peek().First && p.Accept(word) }

func (p *parser) load(head Head, v *Value) Stmt {
	async := p.Is("async") && p.PeekAt(1).Kind == syntax.NameTok
	if async {
		p.Next()
	}
	s := &Load{Head: head, Out: v, Async: async, From: p.ArrayUse()}
	s.At = p.Values(ir.I64)
	if p.Accept("where") {
		s.Where = p.Value(ir.Bool_)
		p.Expect("else", "'else' and a value")
		s.Other = p.Value(v.Type)
	}
	return s
}

func (p *parser) dot(head Head, v *Value) Stmt {
	s := &Dot{Head: head, Out: v, A: p.use()}
	p.Expect(",", "','")
	s.B = p.use()
	p.Expect("over", "'over'")
	s.Over = p.axisList()
	if p.flag("into") {
		s.Into = p.use()
	}
	if p.flag("by") {
		s.Atom = p.Name("a matrix operation").Text
	}
	return s
}

func (p *parser) store(head Head) Stmt {
	p.Next()
	s := &Store{Head: head, Axes: p.axes(), To: p.ArrayUse()}
	s.At = p.Values(ir.I64)
	if !p.Is("<-") {
		s.Op = p.monoid()
	}
	p.Expect("<-", "'<-'")
	s.Value = p.Value(s.To.Type)
	if p.Accept("where") {
		s.Where = p.Value(ir.Bool_)
	}
	return s
}

func (p *parser) check(head Head) Stmt {
	p.Next()
	s := &Check{Head: head, Axes: p.axes()}
	t := p.Peek()
	code := p.Integer("a number")
	if code < 0 || code >= 1<<20 {
		p.Fail(t.Pos, "ir", "the code %d is no site", code)
	}
	s.Code = int(code)
	s.Args = p.Values(ir.I64)
	p.Expect(",", "','")
	s.Cond = p.Value(ir.Bool_)
	if p.Accept("of") {
		s.Of = p.ArrayUse()
	}
	return s
}

func (p *parser) loop(head Head) Stmt {
	s := &Loop{Head: head, Kind: map[string]LoopKind{"grid": Grid, "loop": Serial, "unroll": Unroll}[p.Next().Text]}
	var outs []syntax.Token
	p.inner(func() {
		for !p.Is("{") {
			s.Over = append(s.Over, p.span())
			if !p.Accept(",") {
				break
			}
		}
		s.Down = p.Accept("down")
		if p.Accept("stages") {
			s.Stages = p.small()
		}
		if p.Accept("raster") {
			s.Raster = p.small()
		}
		if p.Accept("carry") {
			outs = p.carries(s)
		}
		s.Body = p.block(func() {
			for i := range s.Carry {
				p.Expect("next", "'next' and a carried value")
				if t := p.Name("a carried value"); t.Text != s.Carry[i].In.Name {
					p.Fail(t.Pos, "ir", "expected next %s, found %s", s.Carry[i].In.Name, t.Text)
				}
				p.Expect("=", "'='")
				s.Carry[i].Next = p.Value(s.Carry[i].In.Type)
			}
		})
	})
	for i, t := range outs {
		p.declare(t, s.Carry[i].Out)
	}
	return s
}

func (p *parser) span() ir.Span {
	t := p.Name("an axis")
	p.Expect("in", "'in'")
	lo := p.Value(ir.I64)
	p.Expect("..", "'..'")
	a := &ir.Axis{Name: t.Text}
	span := ir.Span{Axis: a, Lo: lo, Hi: p.Value(ir.I64)}
	p.declare(t, a)
	return span
}

func (p *parser) carries(s *Loop) (outs []syntax.Token) {
	p.Expect("(", "'('")
	var ins []syntax.Token
	p.List(")", func() {
		in, t := p.newValue()
		p.Expect("=", "'='")
		first := p.Value(in.Type)
		p.Expect("->", "'->' and a name")
		out := p.Name("a name")
		ins, outs = append(ins, t), append(outs, out)
		s.Carry = append(s.Carry, Carry{In: in, Out: &Value{Name: out.Text, Type: in.Type, Axes: in.Axes, Space: in.Space, Layout: in.Layout, Swizzle: in.Swizzle}, First: first})
	})
	p.Expect(")", "')'")
	for i, t := range ins { // first values cannot see them
		p.declare(t, s.Carry[i].In)
	}
	return outs
}

func (p *parser) branch(head Head) Stmt {
	p.Next()
	s := &If{Head: head, Cond: p.Value(ir.Bool_)}
	var outs []syntax.Token
	p.inner(func() {
		s.Then = p.block(func() {
			for p.ends() {
				p.Expect("yield", "'yield'")
				v, t := p.newValue()
				p.Expect("=", "'='")
				s.Outs, outs = append(s.Outs, Phi{Out: v, Then: p.Value(v.Type)}), append(outs, t)
			}
		})
	})
	if len(outs) > 0 && !p.Is("else") {
		p.Fail(p.Peek().Pos, "ir", "the branch gives %s, so the other one must", outs[0].Text)
	}
	if p.Accept("else") {
		p.inner(func() {
			s.Else = p.block(func() {
				for i := range s.Outs {
					p.Expect("yield", "'yield' and "+outs[i].Text)
					if t := p.Name("a value"); t.Text != outs[i].Text {
						p.Fail(t.Pos, "ir", "expected yield %s, found %s", outs[i].Text, t.Text)
					}
					p.Expect("=", "'='")
					s.Outs[i].Else = p.Value(s.Outs[i].Out.Type)
				}
			})
		})
	}
	for i, t := range outs {
		p.declare(t, s.Outs[i].Out)
	}
	return s
}
