package lang

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// binding makes a reduction or a scan.
func (l *lowering) binding(t *term) *ir.Expr {
	switch t.bind.name {
	case "argmax", "argmin":
		return l.place(t)
	case "argtop":
		return l.ranked(t)
	case "count":
		return l.reduce(t, func() (*ir.Expr, *ir.Expr) {
			return ir.Int64(1).At(t.pos), l.as(t.args[0], ir.Bool_)
		})
	}
	if isScan(t.bind.name) {
		return l.scan(t)
	}
	return l.reduce(t, func() (*ir.Expr, *ir.Expr) { return l.element(t), nil })
}

// element is the body in the accumulator's type.
func (l *lowering) element(t *term) *ir.Expr {
	body, acc := t.args[0], t.bind.acc
	if widen(body.typ, acc) != acc && !body.isLiteral() && !body.typ.IsBool() {
		return l.cast(body, acc, t.pos) // the program names a narrower accumulator
	}
	return l.as(body, acc)
}

// reduce makes a reduction over the spans of t; make builds the body, and a condition beside where, inside of them.
func (l *lowering) reduce(t *term, make func() (body, cond *ir.Expr)) *ir.Expr {
	return l.over(t, reductions[t.bind.name], t.bind.acc, make)
}

func (l *lowering) over(t *term, op *ir.Monoid, acc ir.Type, build func() (body, cond *ir.Expr)) *ir.Expr {
	r := &tensor.Reduction{Op: op, Acc: acc, Over: make([]ir.Span, 0, len(t.bind.spans))}
	for i := range t.bind.spans {
		s := &t.bind.spans[i]
		lo, hi := l.ends(s)
		axis, restore := l.open(s.level, s.r.name)
		defer restore()
		r.Over = append(r.Over, ir.Span{Axis: axis, Lo: lo, Hi: hi})
	}
	guard := l.where(t)
	body, cond := build()
	r.Guard = both(guard, cond)
	return ir.NewExpr(tensor.OpReduce, acc, r, t.pos, body)
}

// ends are the ends of a span, under the axes that are open.
func (l *lowering) ends(s *span) (lo, hi *ir.Expr) {
	if s.lo == nil {
		return s.r.lo, s.r.hi
	}
	return l.as(s.lo, ir.I64), l.as(s.hi, ir.I64)
}

func (l *lowering) where(t *term) *ir.Expr {
	if t.bind.where == nil {
		return nil
	}
	return l.as(t.bind.where, ir.Bool_)
}

// both is the conjunction of two guards, nil for what is always true.
func both(a, b *ir.Expr) *ir.Expr {
	switch {
	case a == nil:
		a, b = b, nil
	case b != nil:
		a = ir.Fold(ir.NewExpr(ir.OpAnd, ir.Bool_, nil, a.Pos, a, b))
	}
	if a != nil && a.IsConst() && a.Val.Bool() {
		return nil
	}
	return a
}

// scan makes a scan along an axis of the definition.
func (l *lowering) scan(t *term) *ir.Expr {
	bind := t.bind
	axis := l.env[bind.spans[0].level].Ref.(*ir.Axis)
	s := &tensor.Scan{Op: scans[bind.name], Acc: bind.acc, Reverse: bind.reverse, Exclusive: bind.exclusive, Guard: both(l.where(t), nil)}
	for _, own := range l.own {
		if own.Axis == axis {
			s.Over = own
		}
	}
	return ir.NewExpr(tensor.OpScan, bind.acc, s, t.pos, l.element(t))
}

// An extremum's place is the first of the elements that equal the extremum. Where there are none, the least of no indices is
// the highest integer, and the place is -1.

// index is the value of the index that t binds.
func (l *lowering) index(t *term) *ir.Expr { return l.env[t.bind.spans[0].level] }

func isNaN(x *ir.Expr) *ir.Expr {
	if !x.Type.IsFloat() {
		return ir.False
	}
	return ir.Apply(ir.OpIsNaN, x)
}

// first is the least index of t's elements for which cond holds; of none the highest integer.
func (l *lowering) first(t *term, cond func() *ir.Expr) *ir.Expr {
	return l.over(t, ir.Min_, ir.I64, func() (*ir.Expr, *ir.Expr) {
		var c *ir.Expr
		if cond != nil {
			c = cond()
		}
		return l.index(t), c
	})
}

// orNone is -1 where no index was found.
func orNone(found *ir.Expr) *ir.Expr {
	none := ir.NewConst(ir.I64, ir.HighestOf(ir.I64))
	return ir.If(ir.Eq(found, none), ir.Int64(-1), found)
}

// place makes argmax and argmin. NaN is larger than everything, so that argmin looks at it only if there is nothing else.
func (l *lowering) place(t *term) *ir.Expr {
	if t.bind.name == "argmin" {
		return l.leastPlace(t)
	}
	most := l.over(t, ir.Max_, t.bind.acc, func() (*ir.Expr, *ir.Expr) { return l.element(t), nil })
	return orNone(l.first(t, func() *ir.Expr {
		x := l.element(t)
		return ir.Or(ir.Eq(x, most), ir.And(isNaN(x), isNaN(most)))
	})).At(t.pos)
}

func (l *lowering) leastPlace(t *term) *ir.Expr {
	float := t.bind.acc.IsFloat()
	least := l.over(t, ir.Min_, t.bind.acc, func() (*ir.Expr, *ir.Expr) {
		x := l.element(t)
		if !float {
			return x, nil
		}
		return x, ir.Not(isNaN(x))
	})
	found := l.first(t, func() *ir.Expr { return ir.Eq(l.element(t), least) })
	if !float {
		return orNone(found).At(t.pos)
	}
	none := ir.NewConst(ir.I64, ir.HighestOf(ir.I64))
	any := orNone(l.first(t, nil))
	return ir.If(ir.Eq(found, none), any, found).At(t.pos)
}

// ranked makes argtop: the element before which exactly rank others come.
func (l *lowering) ranked(t *term) *ir.Expr {
	rank := l.as(t.bind.rank, ir.I64)
	return orNone(l.first(t, func() *ir.Expr {
		x, j := l.element(t), l.index(t)
		before := l.over(t, ir.Sum, ir.I64, func() (*ir.Expr, *ir.Expr) {
			y, k := l.element(t), l.index(t)
			larger := ir.Or(ir.Gt(y, x), ir.And(isNaN(y), ir.Not(isNaN(x))))
			equal := ir.Or(ir.Eq(y, x), ir.And(isNaN(y), isNaN(x)))
			return ir.Int64(1), ir.Or(larger, ir.And(equal, ir.Lt(k, j)))
		})
		return ir.Eq(before, rank)
	})).At(t.pos)
}
