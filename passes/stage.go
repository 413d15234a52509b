package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tile"
)

// stageOperands puts the operands of dots into shared memory: past the registers where the device can and the operand is just
// loaded, otherwise through them.
//
//	x[mi, ki]: f16 = load X[128 * mm + mi, 32 * km + ki] where … else 0.0
//	w[ki, ni]: f16 = load W[32 * km + ki, 128 * nm + ni] where … else 0.0
//	v[ki, ni]: f16 = map exp(w)
//	d[mi, ni]: f32 = dot x, v over ki into acc
//
// becomes
//
//	x[mi, ki]: f16 shared = load async X[128 * mm + mi, 32 * km + ki] where … else 0.0
//	w[ki, ni]: f16 = load W[32 * km + ki, 128 * nm + ni] where … else 0.0
//	v[ki, ni]: f16 = map exp(w)
//	v.1[ki, ni]: f16 shared = move v
//	d[mi, ni]: f32 = dot x, v.1 over ki into acc
//
// The axes of a tile in shared memory are ordered as in the array that it comes from, so that pieces of memory stay together.
func stageOperands(u *Unit) error {
	m := *u.Tile
	m.Kernels = slices.Clone(m.Kernels)
	for i, k := range m.Kernels {
		if k.Threads > 0 {
			k = k.Copy()
			s := newStager(u, &m, k)
			s.collect(k.Body)
			k.Body = s.list(k.Body)
			m.Kernels[i] = k
		}
	}
	u.Tile = &m
	return nil
}

// stager stages the operands of a kernel.
type stager struct {
	*sources
	kernel *tile.Kernel
	names  *tileNames
	async  bool // the device copies past the registers
	dots   map[*tile.Value][]*tile.Dot
	others map[*tile.Value]int // uses by anything else
	full   ir.Rewriter         // writes out what is computed of tiles
}

func newStager(u *Unit, m *tile.Module, k *tile.Kernel) *stager {
	s := &stager{
		sources: newSources(m, k), kernel: k, names: newTileNames(m, k), async: u.Device != nil && u.Device.HasCpAsync,
		dots: map[*tile.Value][]*tile.Dot{}, others: usesIn(k.Body),
	}
	s.full.Post = func(x *ir.Expr) *ir.Expr {
		if v, ok := x.Ref.(*tile.Value); ok && len(v.Axes) > 0 && s.maps[v] != nil {
			return s.full.Rewrite(s.maps[v].Body)
		}
		return x
	}
	return s
}

// collect finds the operands of dots.
func (s *stager) collect(list []tile.Stmt) {
	for _, st := range list {
		if d, ok := st.(*tile.Dot); ok {
			for _, v := range []*tile.Value{d.A, d.B} {
				s.dots[v] = append(s.dots[v], d)
				s.others[v]--
			}
		}
		for _, inner := range nested(st) {
			s.collect(inner)
		}
	}
}

func (s *stager) list(list []tile.Stmt) (out []tile.Stmt) {
	for _, st := range list {
		switch st := st.(type) {
		case *tile.Loop:
			st.Body = s.list(st.Body)
			for _, c := range slices.Backward(st.Carry) {
				st.Body = append(s.moved(c.In), st.Body...)
			}
			s.overlap(st)
		case *tile.If:
			st.Then, st.Else = s.list(st.Then), s.list(st.Else)
		case *tile.Load:
			s.direct(st)
		}
		out = append(out, st)
		for _, v := range tile.Defined(st) {
			out = append(out, s.moved(v)...)
		}
	}
	return out
}

// overlap lets the copies of later trips run ahead: those through registers by one trip.
func (s *stager) overlap(l *tile.Loop) {
	n := s.kernel.Sched.Of("stages", 1)
	if n < 2 || l.Kind != tile.Serial || l.Down {
		return
	}
	switch {
	case slices.ContainsFunc(l.Body, isAsync):
		l.Stages = n
	case slices.ContainsFunc(l.Body, func(st tile.Stmt) bool { m, ok := st.(*tile.Move); return ok && m.Out.Space == tile.Shared }):
		l.Stages = 2
	}
}

// maxCondition bounds the conditions and subscripts of copies past the registers: each piece of memory evaluates them.
const maxCondition = 1000

// direct lets an operand go past the registers, where the device copies it in pieces of 4 bytes at least. What its place and its
// condition are computed from must be at hand in every thread, so it is written out.
func (s *stager) direct(l *tile.Load) {
	v := l.Out
	if !s.async || s.dots[v] == nil || s.others[v] > 0 || l.Other != nil && !ir.Equal(l.Other, ir.ZeroOf(v.Type)) {
		return
	}
	full := *l
	full.At = slices.Clone(l.At)
	for i, x := range l.At {
		full.At[i] = s.full.Rewrite(x)
	}
	full.Where = s.full.Rewrite(l.Where)
	exprs := append(slices.Clone(full.At), full.Where)
	size, memo := 0, map[*ir.Expr]int{}
	for _, x := range exprs {
		size += ir.TreeSize(x, memo)
	}
	axes := s.inMemory(v)
	if size > maxCondition || s.piece(&full, axes[len(axes)-1])*v.Type.Bytes() < 4 || len(tileAxes(exprs...)) > 0 {
		return
	}
	*l = full
	l.Async = true
	v.Axes, v.Space = axes, tile.Shared
}

// moved copies an operand of dots to shared memory, and lets the dots read it there; nothing of any other value.
func (s *stager) moved(v *tile.Value) []tile.Stmt {
	dots := s.dots[v]
	if dots == nil || v.Space == tile.Shared {
		return nil
	}
	t := &tile.Value{Name: s.names.fresh(v.Name), Type: v.Type, Axes: s.inMemory(v), Space: tile.Shared}
	for _, d := range dots {
		if d.A == v {
			d.A = t
		}
		if d.B == v {
			d.B = t
		}
	}
	return []tile.Stmt{&tile.Move{Head: dots[0].Head, Out: t, In: v}}
}
