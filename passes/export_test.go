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
