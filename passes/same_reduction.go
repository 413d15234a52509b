package passes

import (
	"hash/maphash"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// likeness compares expressions of a program up to the names of their axes.
type likeness struct {
	seed  maphash.Seed
	rough map[*ir.Expr]uint64
}

func newLikeness() *likeness { return &likeness{maphash.MakeSeed(), map[*ir.Expr]uint64{}} }

// hash is the same for expressions that differ in their axes only.
func (l *likeness) hash(x *ir.Expr) uint64 {
	if x == nil {
		return 0
	}
	if h, ok := l.rough[x]; ok {
		return h
	}
	h := maphash.Comparable(l.seed, struct {
		op  *ir.Op
		typ ir.Type
		val ir.Const
	}{x.Op, x.Type, x.Val})
	mix := func(n uint64) { h = h*0x9e3779b97f4a7c15 + n }
	switch r := x.Ref.(type) {
	case *ir.Axis:
	case ir.Scope:
		for _, e := range r.Exprs() {
			mix(l.hash(e))
		}
	case nil:
	default:
		mix(maphash.Comparable(l.seed, x.Ref))
	}
	for _, a := range x.Args {
		mix(l.hash(a))
	}
	l.rough[x] = h
	return h
}

// alike reports whether x is y with its free axes as axes say. Axes that both bind are added to axes.
func (l *likeness) alike(x, y *ir.Expr, axes map[*ir.Axis]*ir.Axis) bool {
	return l.compare(x, y, axes, map[[2]*ir.Expr]bool{})
}

func (l *likeness) compare(x, y *ir.Expr, axes map[*ir.Axis]*ir.Axis, done map[[2]*ir.Expr]bool) bool {
	if x == nil || y == nil {
		return x == y
	}
	if done[[2]*ir.Expr{x, y}] {
		return true
	}
	if l.hash(x) != l.hash(y) || x.Op != y.Op || x.Type != y.Type || x.Val != y.Val || len(x.Args) != len(y.Args) {
		return false
	}
	same := func(a, b *ir.Expr) bool { return l.compare(a, b, axes, done) }
	switch r := x.Ref.(type) {
	case *ir.Axis:
		to, known := axes[r]
		if !known {
			to = r
		}
		if y.Ref != ir.Ref(to) {
			return false
		}
	case *tensor.Reduction:
		s, ok := y.Ref.(*tensor.Reduction)
		if !ok || !sameReduction(r, s, axes, same) {
			return false
		}
	default:
		if x.Ref != y.Ref {
			return false
		}
	}
	for i := range x.Args {
		if !same(x.Args[i], y.Args[i]) {
			return false
		}
	}
	done[[2]*ir.Expr{x, y}] = true
	return true
}

// sameReduction compares what two reductions are over, and makes their axes correspond.
func sameReduction(r, s *tensor.Reduction, axes map[*ir.Axis]*ir.Axis, same func(a, b *ir.Expr) bool) bool {
	if r.Op != s.Op || r.Acc != s.Acc || len(r.Over) != len(s.Over) {
		return false
	}
	for i, o := range r.Over {
		if to, known := axes[o.Axis]; known && to != s.Over[i].Axis {
			return false
		}
		if !same(o.Lo, s.Over[i].Lo) || !same(o.Hi, s.Over[i].Hi) {
			return false
		}
		axes[o.Axis] = s.Over[i].Axis
	}
	return same(r.Guard, s.Guard)
}
