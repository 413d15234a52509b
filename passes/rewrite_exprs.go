package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// exprMap replaces the expressions of statements. at is for the subscripts of registers, which have to be constants once loops are
// written out; value is for all others. The statements inside stay as they are.
type exprMap struct{ value, at func(*ir.Expr) *ir.Expr }

// stmt is a copy of a statement with other expressions.
func (m exprMap) stmt(s simt.Stmt) simt.Stmt {
	switch s := s.(type) {
	case *simt.Let:
		c := *s
		c.Value = m.of(s.Value)
		return &c
	case *simt.Set:
		c := *s
		c.At, c.Value = m.sub(s.At), m.of(s.Value)
		return &c
	case *simt.For:
		c := *s
		c.Lo, c.Hi = m.end(s, s.Lo), m.end(s, s.Hi)
		return &c
	case *simt.While:
		c := *s
		c.Cond = m.of(s.Cond)
		return &c
	case *simt.If:
		c := *s
		c.Cond = m.of(s.Cond)
		return &c
	case *simt.Load:
		c := *s
		c.To.From, c.From = m.sub(s.To.From), m.mem(s.From)
		return &c
	case *simt.Store:
		c := *s
		c.To, c.From = m.mem(s.To), m.list(s.From)
		return &c
	case *simt.Copy:
		return m.copy(s)
	case *simt.Mma:
		c := *s
		c.D.From, c.A, c.B, c.Acc = m.sub(s.D.From), m.operand(s.A), m.operand(s.B), m.of(s.Acc)
		return &c
	case *simt.Sync:
		c := *s
		c.On = m.bar(s.On)
		if len(s.Args) > 0 {
			c.Args = m.list(s.Args)
		}
		return &c
	case *simt.Check:
		c := *s
		c.Cond, c.Args = m.of(s.Cond), m.list(s.Args)
		return &c
	}
	return s
}

func (m exprMap) of(e *ir.Expr) *ir.Expr {
	if e == nil {
		return nil
	}
	return m.value(e)
}

func (m exprMap) sub(e *ir.Expr) *ir.Expr {
	if e == nil {
		return nil
	}
	return m.at(e)
}

// end: those of a loop that is written out are constants too.
func (m exprMap) end(f *simt.For, e *ir.Expr) *ir.Expr {
	if f.Unroll {
		return m.sub(e)
	}
	return m.of(e)
}

func (m exprMap) list(in []*ir.Expr) []*ir.Expr {
	out := make([]*ir.Expr, len(in))
	for i, e := range in {
		out[i] = m.of(e)
	}
	return out
}

func (m exprMap) mem(x simt.Mem) simt.Mem {
	x.At, x.Rank = m.of(x.At), m.of(x.Rank)
	return x
}

func (m exprMap) memOf(x *simt.Mem) *simt.Mem {
	if x == nil {
		return nil
	}
	c := m.mem(*x)
	return &c
}

func (m exprMap) bar(b simt.BarRef) simt.BarRef {
	b.At, b.Rank = m.of(b.At), m.of(b.Rank)
	return b
}

func (m exprMap) operand(o simt.Operand) simt.Operand {
	if o.Slice != nil {
		c := *o.Slice
		c.From = m.sub(c.From)
		o.Slice = &c
	}
	o.Desc, o.Of = m.of(o.Desc), m.memOf(o.Of)
	return o
}

func (m exprMap) copy(s *simt.Copy) *simt.Copy {
	c := *s
	for _, p := range []*simt.Place{&c.To, &c.From} {
		p.Mem = m.memOf(p.Mem)
		if p.Coords != nil {
			p.Coords = m.list(p.Coords)
		}
	}
	c.Bytes, c.Peers = m.of(s.Bytes), m.of(s.Peers)
	if s.Done != nil {
		done := m.bar(*s.Done)
		c.Done = &done
	}
	return &c
}
