package passes

import "github.com/gkc-lang/gkc/ir/tile"

// reduce combines a tile over axes.
func (b *block) reduce(s *tile.Reduce) {
	b.unsupported("the reduction %s has no lowering to the threads of a block", s.Out.Name)
}
