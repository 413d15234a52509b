package passes

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
)

// TestSchedulesOfRows: what is chosen for reductions of any shape can be, and so can what is drawn; every element of a tile is in
// one place.
func TestSchedulesOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	h200, err := device.Find("h200")
	require.NoError(t, err)
	tile := []*ir.Axis{{Name: "r"}, {Name: "c"}}
	for n := range 4000 {
		s := rowShape{rows: 1 + r.IntN(1<<r.IntN(24)), cols: 1 + r.IntN(1<<r.IntN(24)), known: r.IntN(2) == 0, again: r.IntN(2) == 0,
			across: r.IntN(2) == 0, taken: 1 << r.IntN(5), width: 1 << r.IntN(4), bytes: 4 * (1 + r.IntN(16))}
		s.vec = 1 << r.IntN(5)
		s.vec = min(s.vec, s.taken)
		for _, d := range []*device.Device{nil, h200} {
			c := s.choose(d)
			if r.IntN(2) == 0 {
				c.parts(s, d)
			}
			space := rowSpace(s.bytes, d, c)
			require.NoError(t, space.Legal(space.Default()), "%+v on %v: %+v", s, d, c)
			for _, c := range []rowChoice{c, rowChoiceOf(space.Random(uint64(n)))} {
				l := c.form().layout(tile[0], tile)
				what := fmt.Sprintf("%+v on %v: %+v", s, d, c)
				require.NoError(t, l.Validate(), what)
				require.Equal(t, []int{c.rows, c.cols}, l.Extents(), what)
				require.True(t, l.Onto() && l.OneToOne(), what)
				require.Equal(t, c.threads(), l.Threads(), what)
				part := c.form().layout(tile[0], tile[:1])
				require.True(t, part.Equal(l.Slice("c")), what)
			}
		}
	}
}
