package passes

import (
	"cmp"
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// accesses says what the reads of a definition do along its axes: it decides which of them threads share out, and how.
type accesses struct {
	facts *ir.Facts
	free  fused
}

func newAccesses(conditions []*ir.Expr, free fused) *accesses {
	a := &accesses{ir.NewFacts(conditions...), free}
	for _, s := range free {
		a.facts.Bind(s)
	}
	return a
}

// readsIn lists the reads of expressions.
func readsIn(list ...*ir.Expr) []*ir.Expr {
	var out []*ir.Expr
	for _, x := range list {
		if x != nil {
			ir.Walk(x, func(y *ir.Expr) {
				if y.Op == ir.OpRead {
					out = append(out, y)
				}
			})
		}
	}
	return out
}

// What is taken of sizes that are not known, and the most that matters.
const (
	unknownSize = 1024
	manyPoints  = 1 << 24
)

// points is about the number of points of axes.
func (a *accesses) points(spans fused) int {
	n := int64(1)
	for _, s := range spans {
		lo, hi := a.facts.Interval(extent(s))
		if lo != hi {
			lo = unknownSize
		}
		n = min(n*min(max(lo, 1), manyPoints), manyPoints)
	}
	return int(n)
}

// weight is about the number of bytes that a read touches as the axes of the definition and some more go through their ranges.
func (a *accesses) weight(x *ir.Expr, over fused) float64 {
	named := axesIn(x)
	out := float64(x.Type.Bytes())
	for _, s := range slices.Concat(a.free, over) {
		if named[s.Axis] {
			out *= float64(a.points(fused{s}))
		}
	}
	return out
}

// inward orders the axes of a reduction, which may be walked in any order, as the widest read has them: the last one innermost.
func (a *accesses) inward(f *rowFold) {
	weight, rank := 0.0, map[*ir.Axis]int{}
	for _, x := range readsIn(f.element, f.guard) {
		w := a.weight(x, f.over)
		if w <= weight {
			continue
		}
		weight = w
		clear(rank)
		for i, s := range x.Args {
			for on := range axesIn(s) {
				rank[on] = i + 1
			}
		}
	}
	slices.SortStableFunc(f.over, func(x, y ir.Span) int { return cmp.Compare(rank[x.Axis], rank[y.Axis]) })
}

// follows reports whether the elements that subscripts mean lie one behind the other along the last of some axes.
func follows(at []*ir.Expr, along fused) bool {
	if len(at) == 0 || len(along) == 0 {
		return false
	}
	axis := along[len(along)-1].Axis
	for _, x := range at[:len(at)-1] {
		if axesIn(x)[axis] {
			return false
		}
	}
	step, linear := stepOf(at[len(at)-1], axis, 16)
	return linear && step == 1
}

// stepOf is by how much an index grows with an axis, where it is plain to see that it grows evenly.
func stepOf(x *ir.Expr, axis *ir.Axis, depth int) (step int64, linear bool) {
	if x.Ref == ir.Ref(axis) {
		return 1, true
	}
	if !axesIn(x)[axis] {
		return 0, true
	}
	if depth == 0 || x.Op != ir.OpAdd && x.Op != ir.OpSub {
		return 0, false
	}
	p, ok := stepOf(x.Args[0], axis, depth-1)
	q, also := stepOf(x.Args[1], axis, depth-1)
	if x.Op == ir.OpSub {
		q = -q
	}
	return p + q, ok && also
}

// maxVector is the number of bytes that a thread moves at once.
const maxVector = 16

// vector is the number of elements, at most those of a vector, that may be accessed at once along some axes, which are walked as
// one: they begin at a multiple of their number, and rows are no shorter.
func (a *accesses) vector(t *tensor.Tensor, at []*ir.Expr, along fused) int {
	number, places := &ir.Axis{Name: "n"}, map[ir.Ref]*ir.Expr{}
	for i, p := range along.places(ir.Name(number)) {
		places[along[i].Axis] = ir.Add(p, along[i].Lo)
	}
	moved := make([]*ir.Expr, len(at))
	for i, x := range at {
		moved[i] = ir.Substitute(x, places)
	}
	last := along[len(along)-1]
	lengths := []*ir.Expr{along.total(), ir.Substitute(at[len(at)-1], map[ir.Ref]*ir.Expr{last.Axis: last.Lo})}
	extents, moved := joined(t.Extents, moved)
	if len(moved) > 1 {
		lengths = append(lengths, extents[len(moved)-1])
	}
	if moved[len(moved)-1].Ref != ir.Ref(number) {
		lengths = append(lengths, extent(last))
	}
	n := max(maxVector/t.Type.Bytes(), 1)
	for _, x := range lengths {
		for m := a.facts.Multiple(x); n > 1 && m%int64(n) != 0; {
			n /= 2
		}
	}
	return n
}

// vectors is what most of the bytes of accesses allow: each has a weight.
type vectors map[int]float64

func (v vectors) most() int {
	all, sum := 0.0, 0.0
	for _, w := range v {
		all += w
	}
	for n := maxVector; n > 1; n /= 2 {
		if sum += v[n]; 2*sum >= all && sum > 0 {
			return n
		}
	}
	return 1
}

// rowShape is what matters of a reduction to its schedule.
type rowShape struct {
	rows, cols int  // about how many there are
	across     bool // most of what is loaded lies one behind the other along the rows, not along the columns
	vec        int  // elements that a thread may take at once along that axis
	bytes      int  // of the accumulators of one element
}

func (a *accesses) rowShape(r *rowReduction) rowShape {
	s := rowShape{rows: a.points(r.rows)}
	var along, across float64
	ofAlong, ofAcross := vectors{}, vectors{}
	for _, g := range r.loops() {
		over := g[0].over
		s.cols = max(s.cols, a.points(over))
		mark := a.facts.Mark()
		for _, x := range over {
			a.facts.Bind(x)
		}
		bytes := 0
		seen := map[*ir.Expr]bool{}
		for _, f := range g {
			bytes += max(f.expr.Type.Bytes(), 4)
			for _, x := range readsIn(f.element, f.guard) {
				if seen[x] {
					continue
				}
				seen[x] = true
				of, w := x.Ref.(tensor.Read).Of, a.weight(x, over)
				if follows(x.Args, over) {
					along += w
					ofAlong[a.vector(of, x.Args, over)] += w
				} else if follows(x.Args, r.rows) {
					across += w
					ofAcross[a.vector(of, x.Args, r.rows)] += w
				}
			}
		}
		s.bytes = max(s.bytes, bytes)
		a.facts.Release(mark)
	}
	if s.across = across > along; s.across {
		s.vec = ofAcross.most()
	} else {
		s.vec = ofAlong.most()
	}
	return s
}
