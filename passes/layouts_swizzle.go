package passes

import (
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

func usesOfShared(from *sources, k *tile.Kernel) (out []*sharedUse) {
	of := map[*tile.Value]*sharedUse{}
	add := func(v *tile.Value, accesses ...ir.Access) {
		u := of[v]
		if u == nil {
			u = &sharedUse{of: v}
			of[v] = u
			out = append(out, u)
		}
		u.accesses = append(u.accesses, accesses...)
	}
	var walk func([]tile.Stmt)
	walk = func(list []tile.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *tile.Load:
				if s.Async {
					n := from.piece(s, s.Out.Axes[len(s.Out.Axes)-1])
					add(s.Out, ir.Access{Layout: spread(s.Out.Axes, k.Threads, n), Width: n * s.Out.Type.Bytes()})
				}
			case *tile.Move:
				t, form := s.Out, s.In.Layout
				if t.Space != tile.Shared {
					t, form = s.In, s.Out.Layout
				}
				add(t, ir.Access{Layout: form, Width: min(vectorBytes, form.Vector(rowMajor(t.Axes))*t.Type.Bytes())})
			case *tile.Dot:
				add(s.A, dotReads(s, k, s.A)...)
				add(s.B, dotReads(s, k, s.B)...)
			}
			for _, inner := range nested(s) {
				walk(inner)
			}
		}
	}
	walk(k.Body)
	return out
}
