package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tile"
)

// sources says from where in memory the tiles of a kernel come.
type sources struct {
	contig *contig
	loads  map[*tile.Value]*tile.Load
	maps   map[*tile.Value]*tile.Map
}

func newSources(m *tile.Module, k *tile.Kernel) *sources {
	s := &sources{contig: newContig(m, k), loads: map[*tile.Value]*tile.Load{}, maps: map[*tile.Value]*tile.Map{}}
	s.find(k.Body)
	return s
}

func (s *sources) find(list []tile.Stmt) {
	for _, st := range list {
		switch st := st.(type) {
		case *tile.Load:
			s.loads[st.Out] = st
		case *tile.Map:
			s.maps[st.Out] = st
		}
		for _, inner := range nested(st) {
			s.find(inner)
		}
	}
}

// of is the load of which most of a tile is computed: that of the most axes; nil if there is none.
func (s *sources) of(v *tile.Value) (best *tile.Load) {
	seen := map[*tile.Value]bool{}
	var visit func(*tile.Value)
	visit = func(v *tile.Value) {
		if seen[v] {
			return
		}
		seen[v] = true
		if l := s.loads[v]; l != nil && (best == nil || len(v.Axes) > len(best.Out.Axes)) {
			best = l
		}
		if m := s.maps[v]; m != nil {
			ir.Walk(m.Body, func(x *ir.Expr) {
				if u, ok := x.Ref.(*tile.Value); ok {
					visit(u)
				}
			})
		}
	}
	visit(v)
	return best
}

// piece is how many elements of a load, along an axis, lie one behind the other in memory under one condition: 16 bytes at most.
func (s *sources) piece(l *tile.Load, along *ir.Axis) int {
	n := s.contig.run(l.From, l.At, along, max(1, vectorBytes/l.From.Type.Bytes()))
	for n > 1 && !s.contig.same(l.Where, along, n) {
		n /= 2
	}
	return n
}

// inMemory are the axes of a tile as they lie in the array that it comes from, the one along which its elements are beside each
// other last.
func (s *sources) inMemory(v *tile.Value) []*ir.Axis {
	l := s.of(v)
	if l == nil {
		return v.Axes
	}
	type along struct {
		axis  *ir.Axis
		piece int
		step  int64
	}
	list := make([]along, len(v.Axes))
	for i, a := range v.Axes {
		list[i] = along{a, s.piece(l, a), max(s.contig.step(l.From, l.At, a), 0)}
	}
	// An axis without a step may go in steps of any size: it is outside the others.
	slices.SortStableFunc(list, func(x, y along) int {
		switch {
		case x.piece != y.piece:
			return x.piece - y.piece
		case x.step == y.step:
			return 0
		case x.step == 0 || y.step != 0 && x.step > y.step:
			return -1
		}
		return 1
	})
	out := make([]*ir.Axis, len(list))
	for i, x := range list {
		out[i] = x.axis
	}
	return out
}
