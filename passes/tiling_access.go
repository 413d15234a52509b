package passes

import (
	"cmp"
	"maps"
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

// maxLooked bounds the reads that decide how threads share a definition.
const maxLooked = 64

// looked are the first of the reads of expressions.
func looked(list ...*ir.Expr) []*ir.Expr {
	out := readsIn(list...)
	return out[:min(len(out), maxLooked)]
}

// takenAtOnce is the number of elements that a thread takes at once of small expressions; of larger ones it takes fewer.
const takenAtOnce = 16

// taken is the power of two of elements that a thread takes at once of expressions.
func taken(list ...*ir.Expr) int {
	size, sizes := 1, map[*ir.Expr]int{}
	for _, x := range list {
		size = min(size+ir.TreeSize(x, sizes), ir.MaxTree)
	}
	n := takenAtOnce
	for weight := max(len(readsIn(list...)), size/16); n > 1 && n*weight > 8*takenAtOnce; {
		n /= 2
	}
	return n
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
	for _, x := range looked(f.element, f.guard) {
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
	known      bool // there are exactly so many columns
	again      bool // the same columns are walked several times
	across     bool // most of what is loaded lies one behind the other along the rows, not along the columns
	vec        int  // elements that a thread may take at once along that axis
	taken      int  // elements that a thread may take at once
	width      int  // bytes of an element of what most is loaded of along the rows
	bytes      int  // that a thread holds for one element, all accumulators and what is loaded once for several walks
}

// walked is what happens along some columns.
type walked struct {
	cols  fused
	walks [][]*ir.Expr            // what each computes
	needs map[*tensor.Tensor]bool // the results that the last of them needs
	bytes int                     // of accumulators
}

// walks lists what happens along each set of columns.
func (k *rowKernel) walks() []*walked {
	var out []*walked
	of := func(cols fused) *walked {
		for _, w := range out {
			if w.cols[0].Axis == cols[0].Axis {
				return w
			}
		}
		w := &walked{cols: cols}
		out = append(out, w)
		return w
	}
	for _, m := range k.members {
		for _, f := range m.folds {
			w := of(f.over)
			if len(w.walks) == 0 || !maps.Equal(w.needs, f.needs) {
				w.walks, w.needs = append(w.walks, nil), f.needs
			}
			last := len(w.walks) - 1
			w.walks[last] = append(w.walks[last], f.element, f.guard)
			w.bytes += max(f.expr.Type.Bytes(), 4)
		}
		if len(m.cols) > 0 {
			w := of(m.cols)
			w.walks = append(w.walks, []*ir.Expr{m.body})
		}
	}
	return out
}

// maxKept bounds the loaded elements that count as held, since a walk may load them again.
const maxKept = 4

func (a *accesses) rowShape(k *rowKernel) rowShape {
	s := rowShape{rows: a.points(k.rows), cols: 1, known: true, vec: 1, taken: takenAtOnce}
	var along, across, widest float64
	ofAlong, ofAcross := vectors{}, vectors{}
	for _, w := range k.walks() {
		if n := a.points(w.cols); n >= s.cols {
			lo, hi := a.facts.Interval(w.cols.total())
			s.cols, s.known = n, lo == hi
		}
		mark := a.facts.Mark()
		for _, x := range w.cols {
			a.facts.Bind(x)
		}
		kept := 0
		var reads []*ir.Expr
		times := map[*ir.Expr]int{} // walks that read it
		for _, exprs := range w.walks {
			s.taken = min(s.taken, taken(exprs...))
			once := map[*ir.Expr]bool{}
			for _, x := range looked(exprs...) {
				if once[x] {
					continue
				}
				if once[x] = true; times[x] == 0 {
					reads = append(reads, x)
				}
				times[x]++
			}
		}
		for _, x := range reads {
			of, weight := tensorOf(x), a.weight(x, w.cols)
			if follows(x.Args, w.cols) {
				along += weight
				ofAlong[a.vector(of, x.Args, w.cols)] += weight
			} else if follows(x.Args, k.rows) {
				across += weight
				ofAcross[a.vector(of, x.Args, k.rows)] += weight
				if weight > widest {
					widest, s.width = weight, x.Type.Bytes()
				}
			} else {
				continue
			}
			kept += min(times[x]-1, 1)
		}
		s.again = s.again || kept > 0
		s.bytes = max(s.bytes, w.bytes+4*min(kept, maxKept))
		a.facts.Release(mark)
	}
	if s.across = across > along; s.across {
		s.vec = ofAcross.most()
	} else {
		s.vec = ofAlong.most()
	}
	s.vec = min(s.vec, s.taken)
	return s
}
