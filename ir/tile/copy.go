package tile

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
)

// Copy is the kernel with statements and values of its own, so that they can be changed while the kernel stays as it is. Axes,
// arrays and layouts are shared, and so are expressions that name no value.
func (k *Kernel) Copy() *Kernel {
	c := &copier{of: map[*Value]*Value{}}
	c.expr.Post = func(x *ir.Expr) *ir.Expr {
		if v, ok := x.Ref.(*Value); ok && x.Op == ir.OpName {
			return ir.Name(c.value(v))
		}
		return x
	}
	out := *k
	out.Body = c.stmts(k.Body)
	return &out
}

type copier struct {
	of   map[*Value]*Value
	expr ir.Rewriter
}

func (c *copier) value(v *Value) *Value {
	if v == nil {
		return nil
	}
	out := c.of[v]
	if out == nil {
		own := *v
		out = &own
		c.of[v] = out
	}
	return out
}

func (c *copier) exprs(list []*ir.Expr) []*ir.Expr {
	out := slices.Clone(list)
	for i, x := range out {
		out[i] = c.expr.Rewrite(x)
	}
	return out
}

func (c *copier) stmts(list []Stmt) []Stmt {
	out := make([]Stmt, len(list))
	for i, s := range list {
		out[i] = c.stmt(s)
	}
	return out
}

func (c *copier) stmt(s Stmt) Stmt {
	x := c.expr.Rewrite
	switch s := s.(type) {
	case *Loop:
		return c.loop(*s)
	case *If:
		out := *s
		out.Cond, out.Then, out.Else, out.Outs = x(s.Cond), c.stmts(s.Then), c.stmts(s.Else), slices.Clone(s.Outs)
		for i, o := range out.Outs {
			out.Outs[i] = Phi{c.value(o.Out), x(o.Then), x(o.Else)}
		}
		return &out
	case *Load:
		out := *s
		out.Out, out.At, out.Where, out.Other = c.value(s.Out), c.exprs(s.At), x(s.Where), x(s.Other)
		return &out
	case *Store:
		out := *s
		out.At, out.Value, out.Where = c.exprs(s.At), x(s.Value), x(s.Where)
		return &out
	case *Map:
		return &Map{s.Head, c.value(s.Out), x(s.Body)}
	case *Dot:
		out := *s
		out.Out, out.A, out.B, out.Into = c.value(s.Out), c.value(s.A), c.value(s.B), c.value(s.Into)
		return &out
	case *Reduce:
		out := *s
		out.Out, out.In = c.value(s.Out), c.value(s.In)
		return &out
	case *Scan:
		out := *s
		out.Out, out.In = c.value(s.Out), c.value(s.In)
		return &out
	case *Move:
		return &Move{s.Head, c.value(s.Out), c.value(s.In)}
	case *Check:
		out := *s
		out.Cond, out.Args = x(s.Cond), c.exprs(s.Args)
		return &out
	}
	return s // a phase
}

func (c *copier) loop(s Loop) *Loop {
	s.Over, s.Carry = slices.Clone(s.Over), slices.Clone(s.Carry)
	for i, o := range s.Over {
		s.Over[i].Lo, s.Over[i].Hi = c.expr.Rewrite(o.Lo), c.expr.Rewrite(o.Hi)
	}
	for i, v := range s.Carry {
		s.Carry[i] = Carry{c.value(v.In), c.value(v.Out), c.expr.Rewrite(v.First), c.expr.Rewrite(v.Next)}
	}
	s.Body = c.stmts(s.Body)
	return &s
}
