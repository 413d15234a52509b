package passes

import "github.com/gkc-lang/gkc/ir/tile"

// dot lowers a product of tiles.
func (b *block) dot(s *tile.Dot) {
	b.unsupported("the dot %s has no lowering to the threads of a block", s.Out.Name)
}
