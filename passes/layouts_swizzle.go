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
		u.of.Swizzle, _ = ir.SolveSwizzle(rowMajor(u.of.Axes), u.of.Type.Bytes(), u.accesses)
	}
}

// sharedUse is how warps write and read a tile in shared memory.
type sharedUse struct {
	of       *tile.Value
	accesses []ir.Access
}

// usesOfShared lists the tiles in shared memory, in the order in which they are written.
func usesOfShared(from *sources, k *tile.Kernel) (out []*sharedUse) {
	reads := readsOfDots(k)
	add := func(v *tile.Value, x ir.Access) {
		i := slices.IndexFunc(out, func(u *sharedUse) bool { return u.of == v })
		if i < 0 {
			i = len(out)
			out = append(out, &sharedUse{v, slices.Clone(reads[v])})
		}
		out[i].accesses = append(out[i].accesses, x)
	}
	eachStmt(k.Body, func(s tile.Stmt) {
		switch s := s.(type) {
		case *tile.Load:
			if s.Async {
				n := from.piece(s, s.Out.Axes[len(s.Out.Axes)-1])
				add(s.Out, ir.Access{Layout: spread(s.Out.Axes, k.Threads, n), Width: n * s.Out.Type.Bytes()})
			}
		case *tile.Move:
			if s.Out.Space == tile.Shared {
				add(s.Out, writeOf(s.In.Layout, s.Out))
			} else {
				add(s.In, writeOf(s.Out.Layout, s.In))
			}
		}
	})
	return out
}

// writeOf is how a warp writes a tile in shared memory from registers in a layout, or reads it.
func writeOf(l *ir.Layout, t *tile.Value) ir.Access {
	return ir.Access{Layout: l, Width: min(vectorBytes, l.Vector(rowMajor(t.Axes))*t.Type.Bytes())}
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
