package passes

import (
	"cmp"
	"fmt"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
)

// Space is what may be chosen for a block kernel on a device (nil: any); nil where nothing is to be chosen.
func Space(k *tile.Kernel, d *device.Device) *schedule.Space {
	if k.Threads == 0 {
		return nil
	}
	if _, rows := k.Sched.Get("rows"); rows {
		return spaceOfRows(k, d)
	}
	if _, each := k.Sched.Get("each"); each {
		return eachSpace(d, eachChoiceOf(k.Sched))
	}
	var shapes []dotShape
	var visit func(list []tile.Stmt)
	visit = func(list []tile.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *tile.Loop:
				visit(s.Body)
			case *tile.Dot:
				shapes = append(shapes, dotShape{s.A.Type, s.B.Type, s.Out.Type})
			}
		}
	}
	visit(k.Body)
	if len(shapes) == 0 {
		return nil
	}
	return contractionSpace(shapes, d)
}

// dotShape is what a dot multiplies, and in what it adds.
type dotShape struct{ a, b, acc ir.Type }

func (c *contraction) space(d *device.Device) *schedule.Space { return contractionSpace(c.shapes(), d) }

func (c *contraction) shapes() []dotShape {
	out := make([]dotShape, len(c.sums))
	for i, s := range c.sums {
		out[i] = dotShape{s.a.Type, s.b.Type, s.expr.Ref.(*tensor.Reduction).Acc}
	}
	return out
}

// limits are those of a device that matter to a block.
type limits struct {
	name                       string
	threads, shared, perThread int
	registers                  int // of a block
}

func limitsOf(d *device.Device) limits {
	if d == nil || d.BlockThreads == 0 || d.BlockShared == 0 || d.RegsPerThread == 0 {
		return limits{"every device", 1024, 48 << 10, 255, 64 << 10}
	}
	return limits{d.Name, d.BlockThreads, d.BlockShared, d.RegsPerThread, cmp.Or(d.Registers, 64<<10)}
}

func powers(from, to int) (out []int) {
	for n := from; n <= to; n *= 2 {
		out = append(out, n)
	}
	return out
}

// contractionSpace are the knobs of a contraction: its tile, the warps on it, how copies overlap, the order of blocks.
func contractionSpace(shapes []dotShape, d *device.Device) *schedule.Space {
	l := limitsOf(d)
	limit := func(c schedule.Choice) error { return l.contraction(shapes, c) }
	s := &schedule.Space{Limit: limit, Knobs: []schedule.Knob{
		{Name: "m", Values: powers(8, 256), Default: 128},
		{Name: "n", Values: powers(8, 256), Default: 128},
		{Name: "k", Values: powers(8, 128), Default: 32},
		{Name: "warps.m", Values: powers(1, 8), Default: 2},
		{Name: "warps.n", Values: powers(1, 8), Default: 2},
		{Name: "stages", Values: []int{1, 2, 3, 4, 5, 6}, Default: 4},
		{Name: "raster", Values: powers(1, 16), Default: 8},
		{Name: "tensor", Values: []int{0, 1}, Default: 1},
	}}
	// What does not fit is made smaller: fewer stages first, then shorter steps, then smaller tiles.
	for _, less := range []struct{ knob, least int }{{5, 2}, {2, 16}, {0, 64}, {1, 64}, {5, 1}, {0, 8}, {1, 8}, {2, 8}} {
		for k := &s.Knobs[less.knob]; k.Default > less.least && limit(s.Default()) != nil; {
			if less.knob == 5 {
				k.Default--
			} else {
				k.Default /= 2
			}
		}
	}
	return s
}

// contraction says which limit a choice exceeds.
func (l limits) contraction(shapes []dotShape, c schedule.Choice) error {
	m, n, k, stages := c.Of("m", 1), c.Of("n", 1), c.Of("k", 1), c.Of("stages", 1)
	warps := c.Of("warps.m", 1) * c.Of("warps.n", 1)
	if 32*warps > l.threads {
		return fmt.Errorf("warps.m %d and warps.n %d need %d threads; a block of %s has %d", c.Of("warps.m", 1), c.Of("warps.n", 1), 32*warps, l.name, l.threads)
	}
	if 32*warps > m*n {
		return fmt.Errorf("warps.m %d and warps.n %d are %d threads; a tile of m %d, n %d has %d elements", c.Of("warps.m", 1), c.Of("warps.n", 1), 32*warps, m, n, m*n)
	}
	bytes, accumulators := 0, 0
	for _, s := range shapes {
		bytes += stages * k * (m*s.a.Bytes() + n*s.b.Bytes())
		accumulators += m * n * max(s.acc.Bytes(), 4) / 4 / (32 * warps)
	}
	if bytes > l.shared {
		return fmt.Errorf("stages %d of m %d, n %d, k %d need %d bytes of shared memory; a block of %s has %d", stages, m, n, k, bytes, l.name, l.shared)
	}
	if most := l.perThread * 3 / 4; accumulators > most {
		return fmt.Errorf("m %d, n %d keep %d registers of sums in each of %d threads; %d of the %d of %s can hold them", m, n, accumulators, 32*warps, most, l.perThread, l.name)
	}
	return nil
}
