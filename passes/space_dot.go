package passes

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/simt"
)

// dotSizes are the numbers of points of a contraction, where they are known; otherwise 0.
type dotSizes struct{ m, n, k, batch int64 }

func (c *contraction) sizes() (out dotSizes) {
	known := func(f fused) int64 {
		n, _ := withFixed(f.total()).IntValue()
		return n
	}
	out = dotSizes{m: known(c.m), n: known(c.n), batch: known(c.batch)}
	for _, s := range c.sums {
		out.k = max(out.k, known(s.over))
	}
	return out
}

// dotDefault is the tile of a contraction where nothing is forced: large, so that each element that is loaded is used often, in
// steps of 128 bytes along k, if all ends on whole vectors and there are tiles for all multiprocessors.
type dotDefault struct{ m, n, k, warpsM, warpsN, stages int }

func defaultOf(shapes []dotShape, sizes dotSizes, d *device.Device) dotDefault {
	bytes := 1
	for _, s := range shapes {
		bytes = max(bytes, s.a.Bytes(), s.b.Bytes())
	}
	vector := int64(max(1, vectorBytes/bytes))
	whole := sizes.m > 0 && sizes.n > 0 && sizes.k > 0 && (sizes.m|sizes.n|sizes.k)%vector == 0
	out := dotDefault{m: 128, n: 128, k: max(16, 64/bytes), warpsM: 2, warpsN: 2, stages: 4}
	if !onTensorCores(shapes, d) {
		out.k, out.warpsN, out.stages = 16, 4, 3
	}
	if whole {
		out.n, out.warpsN, out.stages = 256, 4, 3
		if onTensorCores(shapes, d) {
			out.k = max(16, 128/bytes)
		}
	}
	out.clip(sizes)
	if sizes.m > 0 && sizes.n > 0 && d != nil {
		out.shrink(sizes, int64(d.SMs))
	}
	return out
}

// leastSide is the least side of a tile: what a matrix operation takes.
const leastSide = 16

// clip makes a tile no larger than what there is, and its stages no more than its steps.
func (t *dotDefault) clip(sizes dotSizes) {
	n := t.n
	for _, x := range []struct {
		side *int
		size int64
	}{{&t.m, sizes.m}, {&t.n, sizes.n}, {&t.k, sizes.k}} {
		if x.size > 0 {
			*x.side = min(*x.side, max(leastSide, 1<<bits.Len64(uint64(x.size-1))))
		}
	}
	if t.n < n {
		t.warpsN = min(t.warpsN, max(2, t.n/64))
	}
	if sizes.k > 0 {
		t.stages = int(min(int64(t.stages), (sizes.k+int64(t.k)-1)/int64(t.k)))
	}
}

// shrink halves a tile until there are enough for all multiprocessors.
func (t *dotDefault) shrink(sizes dotSizes, enough int64) {
	tiles := func() int64 {
		return (sizes.m + int64(t.m) - 1) / int64(t.m) * ((sizes.n + int64(t.n) - 1) / int64(t.n)) * max(sizes.batch, 1)
	}
	for tiles() < enough && (t.m > 32 || t.n > 32) {
		if t.n >= t.m {
			t.n /= 2
		} else {
			t.m /= 2
		}
		t.warpsN = min(t.warpsN, max(2, t.n/64))
	}
}

// onTensorCores reports whether the device has matrix operations for all shapes.
func onTensorCores(shapes []dotShape, d *device.Device) bool {
	return d != nil && !slices.ContainsFunc(shapes, func(s dotShape) bool {
		return !slices.ContainsFunc(simt.Atoms(), func(a *simt.Atom) bool {
			return runsOn(a, d) && a.D == s.acc && isWordOf(a.A, s.a) && isWordOf(a.B, s.b)
		})
	})
}

// contractionSpace are the knobs of a contraction: its tile, the warps on it, how copies overlap, the order of blocks.
func contractionSpace(shapes []dotShape, sizes dotSizes, d *device.Device) *schedule.Space {
	l := limitsOf(d)
	limit := func(c schedule.Choice) error { return l.contraction(shapes, c) }
	first := defaultOf(shapes, sizes, d)
	s := &schedule.Space{Limit: limit, Knobs: []schedule.Knob{
		{Name: "m", Values: powers(8, 256), Default: first.m},
		{Name: "n", Values: powers(8, 256), Default: first.n},
		{Name: "k", Values: powers(8, 128), Default: first.k},
		{Name: "warps.m", Values: powers(1, 8), Default: first.warpsM},
		{Name: "warps.n", Values: powers(1, 8), Default: first.warpsN},
		{Name: "stages", Values: []int{1, 2, 3, 4, 5, 6}, Default: first.stages},
		{Name: "raster", Values: powers(1, 16), Default: 8},
		{Name: "tensor", Values: []int{0, 1}, Default: 1},
	}}
	// What does not fit is made smaller: fewer stages first, then shorter steps, then smaller tiles.
	for _, less := range []struct{ knob, least int }{{5, 2}, {2, 16}, {1, 128}, {0, 64}, {1, 64}, {5, 1}, {0, 8}, {1, 8}, {2, 8}} {
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

// otherRegisters is what a thread of a contraction needs at least beside its sums.
const otherRegisters = 40

// maxWritten bounds the multiplications of a trip that a thread does one by one, and so the text.
const maxWritten = 4096

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
	bytes, accumulators, written := 0, 0, 0
	byMatrices := c.Of("tensor", 1) != 0 && onTensorCores(shapes, l.device)
	for _, s := range shapes {
		if !byMatrices {
			written += k * m * n / (32 * warps)
		}
		bytes += stages * k * (m*s.a.Bytes() + n*s.b.Bytes())
		accumulators += m * n * max(s.acc.Bytes(), 4) / 4 / (32 * warps)
	}
	if bytes > l.shared {
		return fmt.Errorf("stages %d of m %d, n %d, k %d need %d bytes of shared memory; a block of %s has %d", stages, m, n, k, bytes, l.name, l.shared)
	}
	if written > maxWritten {
		return fmt.Errorf("k %d of m %d, n %d are %d multiplications in each of %d threads, which are written out; at most %d are", k, m, n, written, 32*warps, maxWritten)
	}
	if need := 32 * warps * (accumulators + otherRegisters); need > l.registers {
		return fmt.Errorf("m %d, n %d keep %d registers of sums and about %d others in each of %d threads; a block of %s has %d", m, n, accumulators, otherRegisters, 32*warps, l.name, l.registers)
	}
	if most := l.perThread * 3 / 4; accumulators > most {
		return fmt.Errorf("m %d, n %d keep %d registers of sums in each of %d threads; %d of the %d of %s can hold them", m, n, accumulators, 32*warps, most, l.perThread, l.name)
	}
	return nil
}
