package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// use says how a definition reads a tensor.
type use struct {
	sites int  // different elements that are read, and different reductions that read them
	again bool // an element may be read for several points
	inner bool // a reduction or a scan reads it
	lazy  bool // the first place that reads it stands behind a condition
	exact bool // element for element: the subscripts are the definition's axes, each once
	bound bool // it decides which elements there are, or is updated in place
}

// againstReduction says what stands against inlining a tensor that reduces.
func (u *use) againstReduction(d tensor.Def, readers int) string {
	_, isMap := d.(*tensor.Map)
	_, isCheck := d.(*tensor.Check)
	switch {
	case readers > 1 || u.sites > 1:
		return "its reduction would be computed several times"
	case u.inner || !u.exact:
		return "its reduction would be computed again and again"
	case u.lazy:
		return "its reduction would stand behind a condition"
	case !isMap && !isCheck:
		return "contributions are not elements"
	case defReduces(d):
		return "there is another reduction in the kernel"
	}
	return ""
}

func defReduces(d tensor.Def) bool {
	found := false
	rewriteDef(d, func(x *ir.Expr) *ir.Expr {
		found = found || reduces(x)
		return x
	})
	return found
}

// site is a hash of reads and the reduction around them.
type site struct {
	hash  uint64
	scope *ir.Expr
}

// reading collects the uses in one definition.
type reading struct {
	uses   map[*tensor.Tensor]*use
	ranges ranges
	free   []ir.Span
	nested map[*ir.Expr]bool // reductions inside others
	sites  map[site][]*ir.Expr
	seen   map[visit]bool
}

func usesOf(d tensor.Def) map[*tensor.Tensor]*use {
	w := &reading{uses: map[*tensor.Tensor]*use{}, ranges: rangesOf(d), nested: map[*ir.Expr]bool{}, sites: map[site][]*ir.Expr{}, seen: map[visit]bool{}}
	for _, box := range boxesOf(d) {
		w.free = append(w.free, box...)
	}
	switch d := d.(type) {
	case *tensor.Map:
		w.visit(d.Body, nil, false)
	case *tensor.Check:
		w.visit(d.Fault, nil, false)
	case *tensor.Scatter:
		w.scatter(d)
	}
	for at, reads := range w.sites {
		for _, x := range reads {
			if w.nested[at.scope] {
				w.uses[tensorOf(x)].again = true
			}
		}
	}
	return w.uses
}

func tensorOf(read *ir.Expr) *tensor.Tensor { return read.Ref.(tensor.Read).Of }

// scatter: ranges and the tensor that is updated are used as they are.
func (w *reading) scatter(d *tensor.Scatter) {
	w.visit(d.Guard, nil, false)
	for _, x := range d.At {
		w.visit(x, nil, d.Guard != nil)
	}
	w.visit(d.Body, nil, d.Guard != nil)
	for _, s := range d.Free {
		for _, x := range []*ir.Expr{s.Lo, s.Hi} {
			ir.Walk(x, func(y *ir.Expr) {
				if y.Op == ir.OpRead {
					w.of(tensorOf(y)).bound = true
				}
			})
		}
	}
	if d.Init != nil {
		w.of(d.Init).bound = true
	}
}

func (w *reading) of(t *tensor.Tensor) *use {
	if w.uses[t] == nil {
		w.uses[t] = &use{exact: true}
	}
	return w.uses[t]
}

// visit notes the reads below x in the order in which they are evaluated. scope is the reduction or scan around x, lazy that x
// stands behind a condition.
func (w *reading) visit(x, scope *ir.Expr, lazy bool) {
	if x == nil || w.seen[visit{x, scope}] {
		return
	}
	w.seen[visit{x, scope}] = true
	switch r := x.Ref.(type) {
	case *tensor.Reduction:
		w.inner(x, scope, r.Exprs())
		return
	case *tensor.Scan:
		w.inner(x, scope, r.Exprs())
		w.nested[x] = true // its axis is walked in order, or for every element again
		return
	}
	for i, a := range x.Args {
		w.visit(a, scope, lazy || i > 0 && x.Op.Is(ir.Lazy))
	}
	if x.Op == ir.OpRead {
		w.read(x, scope, lazy)
	}
}

func (w *reading) inner(x, scope *ir.Expr, held []*ir.Expr) {
	if scope != nil {
		w.nested[x] = true
	}
	for _, a := range held {
		w.visit(a, x, true)
	}
	w.visit(x.Args[0], x, true)
}

func (w *reading) read(x, scope *ir.Expr, lazy bool) {
	u := w.of(tensorOf(x))
	here := site{x.Hash(), scope}
	for _, y := range w.sites[here] {
		if ir.Equal(x, y) {
			return
		}
	}
	w.sites[here] = append(w.sites[here], x)
	u.sites++
	u.lazy = u.lazy || lazy
	u.inner = u.inner || scope != nil
	around := w.free
	if scope != nil {
		if r, ok := scope.Ref.(*tensor.Reduction); ok {
			around = append(append([]ir.Span(nil), w.free...), r.Over...)
		}
	}
	named := axisSet{}
	for i, a := range x.Args {
		axis := alone(a)
		u.exact = u.exact && axis != nil && !named[axis] && w.ranges.whole(a, tensorOf(x).Extents[i])
		if axis != nil {
			named[axis] = true
		}
	}
	for _, s := range around {
		u.again = u.again || !named[s.Axis] && !single(s)
	}
	u.exact = u.exact && !u.again
}

// single reports whether a range holds one point at most.
func single(s ir.Span) bool {
	if s.Lo.IsInt(0) && s.Hi.Op == ir.OpMin && s.Hi.Args[1].IsInt(1) {
		return true
	}
	n, ok := extent(s).IntValue()
	return ok && n <= 1
}

// alone is the axis that a subscript is, but for something added that does not change from element to element; nil: it is
// something else.
func alone(x *ir.Expr) *ir.Axis {
	if a, ok := x.Ref.(*ir.Axis); ok {
		return a
	}
	if x.Op != ir.OpAdd && x.Op != ir.OpSub {
		return nil
	}
	for i, a := range x.Args {
		if axis := alone(a); axis != nil && scalarOnly(x.Args[1-i]) {
			return axis
		}
	}
	return nil
}

// measure counts the operations of a definition, written out as trees, up to a bound, and the number of tensors that it reads.
func measure(d tensor.Def) (size, tensors int) {
	memo := map[*ir.Expr]int{}
	rewriteDef(d, func(x *ir.Expr) *ir.Expr {
		size = min(size+ir.TreeSize(x, memo), ir.MaxTree)
		return x
	})
	readsOf(d, func(*tensor.Tensor) { tensors++ })
	return size, tensors
}
