package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tile"
)

// swizzle gives every tile in shared memory the swizzle with which the threads that write it and those that read it meet in no
// bank, if there is one.
func (a *assigner) swizzle() {
	for _, u := range usesOfShared(a.sources, a.kernel) {
		u.of.Swizzle, _ = u.solve()
	}
}

// sharedUse is how warps write and read a tile in shared memory: in accesses as they are, or moving it to and from registers in
// layouts, as many elements at once as lie beside each other.
type sharedUse struct {
	of       *tile.Value
	accesses []ir.Access
	moves    []*ir.Layout
}

// solve finds the swizzle with the fewest conflicts. One that leaves fewer elements beside each other is taken where longer moves
// would meet others.
func (u *sharedUse) solve() (best ir.Swizzle, least int) {
	place, size := rowMajor(u.of.Axes), u.of.Type.Bytes()
	for widest := vectorBytes; widest >= max(size, 4); widest /= 2 {
		s, _ := ir.SolveSwizzle(place, size, u.all(place, widest))
		if n := u.conflicts(s); widest == vectorBytes || n < least {
			best, least = s, n
		}
		if least == 0 || len(u.moves) == 0 {
			break
		}
	}
	return best, least
}

// conflicts are those that are left with a swizzle.
func (u *sharedUse) conflicts(s ir.Swizzle) (n int) {
	place := rowMajor(u.of.Axes).Swizzled(s)
	for _, x := range u.all(place, vectorBytes) {
		n += ir.Conflicts(x, place, u.of.Type.Bytes())
	}
	return n
}

// all are the accesses to a tile that is placed somehow, those of moves of some bytes at most.
func (u *sharedUse) all(place *ir.Placement, widest int) []ir.Access {
	out := slices.Clone(u.accesses)
	for _, l := range u.moves {
		out = append(out, ir.Access{Layout: l, Width: min(widest, l.Vector(place)*u.of.Type.Bytes())})
	}
	return out
}

// usesOfShared lists the tiles in shared memory, in the order in which they are written.
func usesOfShared(from *sources, k *tile.Kernel) (out []*sharedUse) {
	reads := readsOfDots(k)
	use := func(v *tile.Value) *sharedUse {
		i := slices.IndexFunc(out, func(u *sharedUse) bool { return u.of == v })
		if i < 0 {
			i = len(out)
			out = append(out, &sharedUse{of: v, accesses: slices.Clone(reads[v])})
		}
		return out[i]
	}
	eachStmt(k.Body, func(s tile.Stmt) {
		switch s := s.(type) {
		case *tile.Load:
			if s.Async {
				n := from.piece(s, s.Out.Axes[len(s.Out.Axes)-1])
				u := use(s.Out)
				u.accesses = append(u.accesses, ir.Access{Layout: spread(s.Out.Axes, k.Threads, n), Width: n * s.Out.Type.Bytes()})
			}
		case *tile.Move:
			t, l := s.Out, s.In.Layout
			if t.Space != tile.Shared {
				t, l = s.In, s.Out.Layout
			}
			u := use(t)
			u.moves = append(u.moves, l)
		}
	})
	return out
}

// readsOfDots is how dots read their operands.
func readsOfDots(k *tile.Kernel) map[*tile.Value][]ir.Access {
	out := map[*tile.Value][]ir.Access{}
	eachStmt(k.Body, func(s tile.Stmt) {
		if d, ok := s.(*tile.Dot); ok {
			out[d.A] = append(out[d.A], dotReads(d, k, d.A)...)
			if d.B != d.A {
				out[d.B] = append(out[d.B], dotReads(d, k, d.B)...)
			}
		}
	})
	return out
}

// eachStmt calls f for statements and those inside them.
func eachStmt(list []tile.Stmt, f func(tile.Stmt)) {
	for _, s := range list {
		f(s)
		for _, inner := range nested(s) {
			eachStmt(inner, f)
		}
	}
}
