package tensor

import (
	"fmt"
	"reflect"

	"github.com/gkc-lang/gkc/ir"
)

// same compares two programs up to positions, the identity of their axes and tensors, and how expressions are shared.
func same(p, q *Program) error {
	c := &comparer{refs: map[ir.Ref]ir.Ref{}, done: map[[2]*ir.Expr]bool{}}
	c.value("name", p.Name, q.Name)
	c.value("order", p.Order, q.Order)
	c.each("scalars", len(p.Scalars), len(q.Scalars), func(i int) { c.scalar(p.Scalars[i], q.Scalars[i]) })
	for _, pair := range [][2][]*Tensor{{p.Params, q.Params}, {p.Results, q.Results}, {p.Temps, q.Temps}} {
		c.each("tensors", len(pair[0]), len(pair[1]), func(i int) { c.tensor(pair[0][i], pair[1][i]) })
	}
	c.each("conditions", len(p.Where), len(q.Where), func(i int) {
		c.value("condition", p.Where[i].Text, q.Where[i].Text)
		c.expr(p.Where[i].Expr, q.Where[i].Expr)
	})
	c.each("sites", len(p.Sites), len(q.Sites), func(i int) {
		a, b := p.Sites[i], q.Sites[i]
		a.Pos = b.Pos
		c.value("site", a, b)
	})
	c.each("defs", len(p.Defs), len(q.Defs), func(i int) { c.def(p.Defs[i], q.Defs[i]) })
	return c.err
}

type comparer struct {
	refs map[ir.Ref]ir.Ref
	done map[[2]*ir.Expr]bool
	err  error
}

func (c *comparer) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *comparer) value(what string, a, b any) {
	if !reflect.DeepEqual(a, b) {
		c.fail("%s: %v and %v", what, a, b)
	}
}

func (c *comparer) each(what string, n, m int, f func(i int)) {
	if n != m {
		c.fail("%s: %d and %d", what, n, m)
		return
	}
	for i := range n {
		f(i)
	}
}

func (c *comparer) scalar(a, b *ir.Scalar) {
	c.refs[a] = b
	x, y := *a, *b
	x.Pos = y.Pos
	x.Multiple = max(x.Multiple, 1)
	c.value("scalar", x, y)
}

func (c *comparer) tensor(a, b *Tensor) {
	if a == nil || b == nil {
		c.value("tensor", a == nil, b == nil)
		return
	}
	if known, ok := c.refs[a]; ok {
		c.value("tensor", known == ir.Ref(b), true)
		return
	}
	c.refs[a] = b
	c.value("tensor", []any{a.Name, a.Type, a.Role}, []any{b.Name, b.Type, b.Role})
	c.exprs(a.Extents, b.Extents)
}

func (c *comparer) exprs(a, b []*ir.Expr) {
	c.each("expressions", len(a), len(b), func(i int) { c.expr(a[i], b[i]) })
}

func (c *comparer) spans(a, b []ir.Span) {
	c.each("spans", len(a), len(b), func(i int) {
		c.expr(a[i].Lo, b[i].Lo)
		c.expr(a[i].Hi, b[i].Hi)
		c.refs[a[i].Axis] = b[i].Axis
	})
}

func (c *comparer) def(a, b Def) {
	c.value("definition", reflect.TypeOf(a), reflect.TypeOf(b))
	if c.err != nil {
		return
	}
	c.value("place", [2]int32{a.Place().Line, a.Place().Col}, [2]int32{b.Place().Line, b.Place().Col})
	c.done = map[[2]*ir.Expr]bool{}
	switch a := a.(type) {
	case *Map:
		b := b.(*Map)
		c.tensor(a.Out, b.Out)
		c.spans(a.Free, b.Free)
		c.expr(a.Body, b.Body)
	case *Check:
		b := b.(*Check)
		c.tensor(a.Of, b.Of)
		c.spans(a.Free, b.Free)
		c.expr(a.Fault, b.Fault)
	case *Scatter:
		b := b.(*Scatter)
		c.tensor(a.Out, b.Out)
		c.tensor(a.Init, b.Init)
		c.value("scatter", []any{a.Op, a.Acc, a.Edge}, []any{b.Op, b.Acc, b.Edge})
		c.spans(a.Free, b.Free)
		c.exprs(a.At, b.At)
		c.expr(a.Guard, b.Guard)
		c.expr(a.Body, b.Body)
	case *Recur:
		b := b.(*Recur)
		c.value("recurrence", []any{a.Back, a.Step}, []any{b.Back, b.Step})
		c.each("outs", len(a.Tensors), len(b.Tensors), func(k int) {
			c.tensor(a.Tensors[k], b.Tensors[k])
			c.tensor(a.From[k], b.From[k])
			c.spans(a.Free[k], b.Free[k])
			c.expr(a.Bodies[k], b.Bodies[k])
		})
	}
}

func (c *comparer) expr(a, b *ir.Expr) {
	if c.err != nil || a == nil && b == nil || c.done[[2]*ir.Expr{a, b}] {
		return
	}
	if a == nil || b == nil {
		c.fail("an expression is missing")
		return
	}
	c.done[[2]*ir.Expr{a, b}] = true
	c.value("operation", []any{a.Op.Name, a.Type, a.Val}, []any{b.Op.Name, b.Type, b.Val})
	switch ref := a.Ref.(type) {
	case nil:
	case Read:
		other := b.Ref.(Read)
		c.tensor(ref.Of, other.Of)
		c.value("edge", ref.Edge, other.Edge)
	case *Reduction:
		other := b.Ref.(*Reduction)
		c.value("reduction", []any{ref.Op, ref.Acc}, []any{other.Op, other.Acc})
		c.spans(ref.Over, other.Over)
		c.expr(ref.Guard, other.Guard)
	case *Scan:
		other := b.Ref.(*Scan)
		c.value("scan", []any{ref.Op, ref.Acc, ref.Reverse, ref.Exclusive}, []any{other.Op, other.Acc, other.Reverse, other.Exclusive})
		c.value("scanned axis", c.refs[ref.Over.Axis] == ir.Ref(other.Over.Axis), true)
		c.exprs(ref.Exprs(), other.Exprs())
	default:
		c.value("name "+ref.RefName(), c.refs[ref] == b.Ref, true)
	}
	c.exprs(a.Args, b.Args)
}
