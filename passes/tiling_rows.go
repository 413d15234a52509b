package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// rowKernel computes definitions that go along the same rows: reductions, whose elements are one a row, and after them what has an
// element for every row and column and needs their results.
type rowKernel struct {
	rows    fused
	members []*rowMember
	shape   rowShape
}

// rowMember is one of the definitions.
type rowMember struct {
	def   *tensor.Map
	free  fused    // its axes, those of the rows being the kernel's
	body  *ir.Expr // over these
	folds []*rowFold
	cols  fused // those of its axes that are no rows
	keep  bool  // it is read elsewhere, so it is stored
}

// rowFold is a reduction along the columns.
type rowFold struct {
	expr    *ir.Expr
	op      *ir.Monoid
	over    fused
	element *ir.Expr
	guard   *ir.Expr                // nil: none
	needs   map[*tensor.Tensor]bool // that members in front define
}

// rowsOf makes the kernel of a definition with reductions; nil if it is none, or also needs another loop: a scan, a reduction inside
// another, behind a condition that few elements meet (it would be computed for all), or over ranges that are no box.
func rowsOf(d *tensor.Map, conditions []*ir.Expr) *rowKernel {
	k := &rowKernel{rows: d.Free}
	one := &rowMember{def: d, free: d.Free, body: d.Body, keep: true}
	if !one.reduces() {
		return nil
	}
	k.members = []*rowMember{one}
	k.plan(conditions, ir.Unifier())
	return k
}

// last is the definition where the kernel stands.
func (k *rowKernel) last() *tensor.Map { return k.members[len(k.members)-1].def }

// reduces collects the reductions of a member; false if it has none, or also what is no loop along columns.
func (r *rowMember) reduces() bool {
	f := &finder{free: axisSet{}, depends: map[*ir.Expr]axisSet{}, strict: map[*ir.Expr]bool{}}
	f.reductions(r.body)
	if !f.ok(r.body) || len(f.found) == 0 {
		return false
	}
	r.folds = nil
	for _, x := range f.found {
		m := x.Ref.(*tensor.Reduction)
		boxed := len(m.Over) > 0 && !slices.ContainsFunc(m.Over, func(s ir.Span) bool { return !scalarOnly(s.Lo) || !scalarOnly(s.Hi) })
		if !boxed || !flat(x.Args[0]) || m.Guard != nil && !flat(m.Guard) {
			return false
		}
		r.folds = append(r.folds, &rowFold{expr: x, op: m.Op, over: slices.Clone(m.Over), element: x.Args[0], guard: m.Guard})
	}
	return true
}

// flat reports whether an expression has no reductions and scans in it.
func flat(x *ir.Expr) bool {
	good := true
	ir.Walk(x, func(y *ir.Expr) { good = good && y.Op != tensor.OpReduce && y.Op != tensor.OpScan })
	return good
}

// plan orders columns as memory has them, lets what runs over the same ranges run over the same axes, with equal expressions made
// one, so that a loop loads nothing twice, and looks at the shape of it all.
func (k *rowKernel) plan(conditions []*ir.Expr, one *ir.Rewriter) {
	a := newAccesses(conditions, k.rows)
	defer a.facts.Forget()
	var columns []fused
	share := func(spans fused) (fused, map[ir.Ref]*ir.Expr) {
		i := slices.IndexFunc(columns, func(c fused) bool { return sameSpans(c, spans) })
		if i < 0 {
			i, columns = len(columns), append(columns, spans)
		}
		axes := map[ir.Ref]*ir.Expr{}
		for j, s := range spans {
			axes[s.Axis] = ir.Name(columns[i][j].Axis)
		}
		return columns[i], axes
	}
	made := map[*tensor.Tensor]bool{}
	for _, m := range k.members {
		for _, f := range m.folds {
			a.inward(f)
			var axes map[ir.Ref]*ir.Expr
			f.over, axes = share(f.over)
			f.element = one.Rewrite(ir.Substitute(f.element, axes))
			f.guard = one.Rewrite(ir.Substitute(f.guard, axes))
			f.needs = readsAmong(made, f.element, f.guard)
		}
		if len(m.cols) > 0 {
			cols, axes := share(m.cols)
			m.cols, m.body = cols, one.Rewrite(ir.Substitute(m.body, axes))
			for i, s := range m.free {
				if to := axes[s.Axis]; to != nil {
					m.free[i].Axis = to.Ref.(*ir.Axis)
				}
			}
		}
		made[m.def.Out] = true
	}
	k.shape = a.rowShape(k)
}

// readsAmong is the set of those tensors that expressions read.
func readsAmong(of map[*tensor.Tensor]bool, list ...*ir.Expr) map[*tensor.Tensor]bool {
	out := map[*tensor.Tensor]bool{}
	if len(of) == 0 {
		return out
	}
	for _, x := range readsIn(list...) {
		if t := tensorOf(x); of[t] {
			out[t] = true
		}
	}
	return out
}

// roots lists the expressions that will be emitted.
func (k *rowKernel) roots() (out []*ir.Expr) {
	for _, m := range k.members {
		out = append(out, m.body)
		for _, f := range m.folds {
			out = append(out, f.element, f.guard)
		}
	}
	return out
}

// along reports whether two reductions run over the same columns.
func (f *rowFold) along(g *rowFold) bool { return f.over[0].Axis == g.over[0].Axis }
