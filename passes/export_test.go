package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tile"
)

// Contig is what tests see of contig.
type Contig struct{ *contig }

func NewContig(m *tile.Module, k *tile.Kernel) Contig { return Contig{newContig(m, k)} }

func (c Contig) Run(of *tile.Array, at []*ir.Expr, axis *ir.Axis, most int) int {
	return c.run(of, at, axis, most)
}

func (c Contig) Same(cond *ir.Expr, axis *ir.Axis, n int) bool { return c.same(cond, axis, n) }

// Conflicts counts those of the accesses to shared memory in a block kernel whose tiles are placed.
func Conflicts(m *tile.Module, k *tile.Kernel) (n int) {
	for _, u := range usesOfShared(newSources(m, k), k) {
		n += u.conflicts(u.of.Swizzle)
	}
	return n
}
