package passes

import (
	"maps"
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// contraction is a definition whose body computes with sums of products: each sum runs over axes k, and its factors fall in two
// operands, of which one alone depends on the axes m and the other alone on the axes n.
type contraction struct {
	m, n, batch fused
	sums        []*sumOf
}

// sumOf is one sum of a contraction.
type sumOf struct {
	expr  *ir.Expr // the reduction
	over  fused
	a, b  *ir.Expr // a depends on m, b on n
	guard *ir.Expr // depends on k alone; nil: none
}

// maxFactors bounds the factors of a product that are looked at.
const maxFactors = 8

// contractionOf finds the contraction in a definition; nil if there is none, or also something else that needs a loop.
func contractionOf(d *tensor.Map) *contraction {
	f := &finder{free: axisSet{}, depends: map[*ir.Expr]axisSet{}, strict: map[*ir.Expr]bool{}}
	for _, s := range d.Free {
		f.free[s.Axis] = true
	}
	f.reductions(d.Body)
	if !f.ok(d.Body) || len(f.found) == 0 {
		return nil
	}
	c := &contraction{}
	var ofM, ofN axisSet
	for _, x := range f.found {
		s, onA, onB := f.sum(x)
		if s == nil {
			return nil
		}
		m, n := difference(onA, onB), difference(onB, onA)
		if ofM == nil {
			if m[last(d.Free, m, n)] { // the fastest axis of the result is one of n
				s.a, s.b, m, n = s.b, s.a, n, m
			}
			ofM, ofN = m, n
		} else if maps.Equal(m, ofN) && maps.Equal(n, ofM) {
			s.a, s.b = s.b, s.a
		} else if !maps.Equal(m, ofM) || !maps.Equal(n, ofN) {
			return nil
		}
		c.sums = append(c.sums, s)
	}
	c.merge()
	free := fused(d.Free)
	c.m, c.n = free.in(ofM), free.in(ofN)
	for _, s := range free {
		if !ofM[s.Axis] && !ofN[s.Axis] {
			c.batch = append(c.batch, s)
		}
	}
	return c
}

// merge lets sums over the same ranges run over the same axes, with equal operands made one, so that a loop loads them once.
func (c *contraction) merge() {
	one := ir.Unifier()
	for i, s := range c.sums {
		first := c.sums[slices.IndexFunc(c.sums[:i+1], func(t *sumOf) bool { return sameSpans(t.over, s.over) })]
		axes := map[ir.Ref]*ir.Expr{}
		for j, span := range s.over {
			axes[span.Axis] = ir.Name(first.over[j].Axis)
		}
		for _, x := range []**ir.Expr{&s.a, &s.b, &s.guard} {
			*x = one.Rewrite(ir.Substitute(*x, axes))
		}
		s.over = first.over
	}
}

// last is the last axis that is in one of two sets.
func last(free []ir.Span, m, n axisSet) (out *ir.Axis) {
	for _, s := range free {
		if m[s.Axis] || n[s.Axis] {
			out = s.Axis
		}
	}
	return out
}

func difference(a, b axisSet) axisSet {
	out := axisSet{}
	for x := range a {
		if !b[x] {
			out[x] = true
		}
	}
	return out
}

func contains(all, some axisSet) bool {
	for x := range some {
		if !all[x] {
			return false
		}
	}
	return true
}

type finder struct {
	free    axisSet // of the definition
	depends map[*ir.Expr]axisSet
	strict  map[*ir.Expr]bool // expressions that are evaluated for every element
	found   []*ir.Expr        // reductions among them
	always  bool              // what stands behind a condition is left out
}

// reductions collects those that every element needs, or that may as well be computed for all: what boxed made of the definition
// reads nothing that is not there.
func (f *finder) reductions(x *ir.Expr) {
	if f.strict[x] {
		return
	}
	f.strict[x] = true
	switch {
	case x.Op == tensor.OpReduce:
		f.found = append(f.found, x)
	case x.Op.Is(ir.Lazy):
		f.reductions(x.Args[0])
		for i, a := range x.Args[1:] {
			if !f.always && !rare(x, i) {
				f.reductions(a)
			}
		}
	default:
		for _, a := range x.Args {
			f.reductions(a)
		}
	}
}

// rare reports whether an operand of a choice, && or || is evaluated for few elements, as an equality tells.
func rare(x *ir.Expr, arm int) bool {
	if x.Op == ir.OpOr || x.Op == ir.OpIf && arm == 1 {
		return tells(x.Args[0], ir.OpNe, ir.OpOr)
	}
	return tells(x.Args[0], ir.OpEq, ir.OpAnd)
}

// tells reports whether a condition is a comparison of some kind, or joins such with others.
func tells(x *ir.Expr, comparison, join *ir.Op) bool {
	return x.Op == comparison || x.Op == join && (tells(x.Args[0], comparison, join) || tells(x.Args[1], comparison, join))
}

// ok reports whether there is no other reduction and no scan: not behind a guard where few elements need it, and not inside a
// reduction.
func (f *finder) ok(body *ir.Expr) bool {
	good := true
	ir.Walk(body, func(x *ir.Expr) {
		if x.Op == tensor.OpScan || x.Op == tensor.OpReduce && !f.strict[x] {
			good = false
		}
	})
	return good
}

// on is the set of axes on which a value depends, those of the reduction around it included.
func (f *finder) on(x *ir.Expr) axisSet {
	if s, ok := f.depends[x]; ok {
		return s
	}
	out := axisSet{}
	if a, ok := x.Ref.(*ir.Axis); ok {
		out[a] = true
	}
	for _, a := range x.Args {
		maps.Copy(out, f.on(a))
	}
	f.depends[x] = out
	return out
}

// sum takes a reduction apart; the sets are the definition's axes on which each operand depends.
func (f *finder) sum(x *ir.Expr) (s *sumOf, onA, onB axisSet) {
	r := x.Ref.(*tensor.Reduction)
	over := axisSet{}
	for _, span := range r.Over {
		if !scalarOnly(span.Lo) || !scalarOnly(span.Hi) {
			return nil, nil, nil
		}
		over[span.Axis] = true
	}
	if r.Op != ir.Sum || r.Guard != nil && !contains(over, f.on(r.Guard)) {
		return nil, nil, nil
	}
	factors := factorsOf(x.Args[0], r.Acc, nil)
	if len(factors) > maxFactors {
		return nil, nil, nil
	}
	own := make([]axisSet, len(factors))
	along := make([]bool, len(factors)) // k
	for i, y := range factors {
		own[i] = difference(f.on(y), over)
		along[i] = len(own[i]) < len(f.on(y))
		if !contains(f.free, own[i]) {
			return nil, nil, nil
		}
	}
	for i := range factors {
		for j := i + 1; j < len(factors); j++ {
			if !along[i] || !along[j] || contains(own[i], own[j]) || contains(own[j], own[i]) {
				continue
			}
			if a, b := gather(factors, own, i, j); a != nil {
				s := &sumOf{expr: x, over: r.Over, guard: r.Guard, a: operandOf(a, r.Acc), b: operandOf(b, r.Acc)}
				if s.a == nil || s.b == nil {
					return nil, nil, nil
				}
				s.a, s.b = alike(s.a, s.b)
				return s, own[i], own[j]
			}
		}
	}
	return nil, nil, nil
}

// gather gives every factor to that of two which depends on all that it depends on.
func gather(factors []*ir.Expr, own []axisSet, i, j int) (a, b []*ir.Expr) {
	for n, x := range factors {
		switch {
		case contains(own[i], own[n]):
			a = append(a, x)
		case contains(own[j], own[n]):
			b = append(b, x)
		default:
			return nil, nil
		}
	}
	return a, b
}

// factorsOf takes a product of type t apart. It looks through conversions that change no value, and through those of a product of
// floats to the type in which it is added, which rounds anyway.
func factorsOf(x *ir.Expr, t ir.Type, out []*ir.Expr) []*ir.Expr {
	switch {
	case len(out) > maxFactors:
		return out
	case x.Op == ir.OpMul && x.Type == t:
		return factorsOf(x.Args[1], t, factorsOf(x.Args[0], t, out))
	case (x.Op == ir.OpWiden || x.Op == ir.OpCast && x.Type == t) && t.IsFloat() && x.Args[0].Op == ir.OpMul && x.Args[0].Type.IsFloat():
		return factorsOf(x.Args[0], x.Args[0].Type, out)
	}
	return append(out, x)
}

// operandOf is a product of factors, in the narrowest type that holds a single one; nil where no dot in acc takes it.
func operandOf(factors []*ir.Expr, acc ir.Type) *ir.Expr {
	if len(factors) == 1 {
		if x := narrow(factors[0]); takes(acc, x.Type) {
			return x
		}
		if takes(acc, factors[0].Type) {
			return factors[0]
		}
		return nil
	}
	out := factors[0]
	for _, x := range factors[1:] {
		if x.Type != out.Type {
			return nil
		}
		out = ir.Mul(out, x)
	}
	if !takes(acc, out.Type) {
		return nil
	}
	return out
}

func takes(acc, t ir.Type) bool { return t.IsFloat() == acc.IsFloat() && !t.IsBool() && !t.IsPacked() }

// narrow takes conversions off that change no value: what a dot multiplies it widens itself.
func narrow(x *ir.Expr) *ir.Expr {
	exact := x.Op == ir.OpWiden || x.Op == ir.OpCast && (x.Type.IsInt() || x.Args[0].Op == ir.OpRead)
	switch {
	case exact && x.Args[0].Type.IsFloat() == x.Type.IsFloat() && !x.Args[0].Type.IsBool() && wider(x.Type, x.Args[0].Type):
		return narrow(x.Args[0])
	case x.Op == ir.OpIf && x.Args[2].IsConst() && x.Args[2].Val == (ir.Const{}):
		if y := narrow(x.Args[1]); y.Type != x.Type {
			return ir.If(x.Args[0], y, ir.ZeroOf(y.Type)).At(x.Pos)
		}
	}
	return x
}

// wider reports whether every value of a type is one of a wider type.
func wider(wide, t ir.Type) bool {
	if t.IsFloat() {
		return wide.Bits() > t.Bits() && wide.Bits() >= 32
	}
	signed := func(t ir.Type) bool { return t.Elem.Kind == ir.Int }
	return wide.Bits() > t.Bits() && (signed(wide) || !signed(t))
}
