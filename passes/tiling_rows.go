package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// rowReduction is a definition whose body computes with reductions. Its elements are rows: those of the reductions run along the
// columns.
type rowReduction struct {
	rows  fused
	folds []*rowFold
	shape rowShape
}

// rowFold is one reduction of it.
type rowFold struct {
	expr    *ir.Expr // the reduction
	op      *ir.Monoid
	over    fused
	element *ir.Expr
	guard   *ir.Expr // nil: none
}

// rowsOf finds the reductions of a definition; nil if there is none, or also something that needs another loop: a scan, a
// reduction inside another, behind a guard (it would be computed for every element), or over ranges that are no box.
func rowsOf(d *tensor.Map, conditions []*ir.Expr) *rowReduction {
	f := &finder{free: axisSet{}, depends: map[*ir.Expr]axisSet{}, strict: map[*ir.Expr]bool{}}
	f.reductions(d.Body)
	if !f.ok(d.Body) || len(f.found) == 0 {
		return nil
	}
	r := &rowReduction{rows: d.Free}
	for _, x := range f.found {
		m := x.Ref.(*tensor.Reduction)
		boxed := !slices.ContainsFunc(m.Over, func(s ir.Span) bool { return !scalarOnly(s.Lo) || !scalarOnly(s.Hi) })
		if !boxed || !flat(x.Args[0]) || m.Guard != nil && !flat(m.Guard) {
			return nil
		}
		r.folds = append(r.folds, &rowFold{expr: x, op: m.Op, over: slices.Clone(m.Over), element: x.Args[0], guard: m.Guard})
	}
	a := newAccesses(conditions, d.Free)
	defer a.facts.Forget()
	for _, x := range r.folds {
		a.inward(x)
	}
	r.merge()
	r.shape = a.rowShape(r)
	return r
}

// flat reports whether an expression has no reductions and scans in it.
func flat(x *ir.Expr) bool {
	good := true
	ir.Walk(x, func(y *ir.Expr) { good = good && y.Op != tensor.OpReduce && y.Op != tensor.OpScan })
	return good
}

// merge lets reductions over the same ranges run over the same axes, with equal elements made one, so that a loop loads them once.
func (r *rowReduction) merge() {
	one := unifier()
	for i, f := range r.folds {
		first := r.folds[slices.IndexFunc(r.folds[:i+1], func(g *rowFold) bool { return sameSpans(g.over, f.over) })]
		axes := map[ir.Ref]*ir.Expr{}
		for j, span := range f.over {
			axes[span.Axis] = ir.Name(first.over[j].Axis)
		}
		f.element = one.Rewrite(ir.Substitute(f.element, axes))
		if f.guard != nil {
			f.guard = one.Rewrite(ir.Substitute(f.guard, axes))
		}
		f.over = first.over
	}
}

// loops groups the reductions that share a loop.
func (r *rowReduction) loops() [][]*rowFold {
	var out [][]*rowFold
	for _, f := range r.folds {
		i := slices.IndexFunc(out, func(g []*rowFold) bool { return sameAxis(g[0], f) })
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], f)
	}
	return out
}

func sameAxis(a, b *rowFold) bool {
	return len(a.over) == len(b.over) && (len(a.over) == 0 || a.over[0].Axis == b.over[0].Axis)
}

// roots lists the expressions that will be emitted.
func (r *rowReduction) roots(d *tensor.Map) []*ir.Expr {
	out := []*ir.Expr{d.Body}
	for _, f := range r.folds {
		out = append(out, f.element, f.guard)
	}
	return out
}
