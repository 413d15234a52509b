package tensor

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/gkc-lang/gkc/ir"
)

// Values that are needed more than once are kept: in a cell for the indices that were seen last, or, where the loops come
// back to the same indices later, in a table over all of them.

// cell is a kept value of one frame.
type cell[T any] struct {
	key   []int64 // the axes that it was computed for
	full  bool
	value T
	err   float64
	fault fault
}

func newCells[T any](keys [][]int) []cell[T] {
	out := make([]cell[T], len(keys))
	for i, key := range keys {
		out[i].key = make([]int64, len(key))
	}
	return out
}

func (c *cell[T]) holds(f *frame, slots []int) bool {
	if !c.full {
		return false
	}
	for i, s := range slots {
		if c.key[i] != f.axis[s] {
			return false
		}
	}
	return true
}

// fill computes the value, with the faults of its own.
func (c *cell[T]) fill(f *frame, slots []int, x func(*frame) T) {
	outer := f.fault
	f.fault = fault{}
	c.value = x(f)
	c.err, c.fault, c.full = f.err, f.fault, true
	f.fault = outer
	for i, s := range slots {
		c.key[i] = f.axis[s]
	}
}

// Limits of keeping.
const (
	keepSize    = 5       // operations from which a shared expression is kept
	tableBudget = 1 << 22 // entries of one table
)

// kept wraps the code of e where its value is worth keeping.
func (c *compiler) kept(e *ir.Expr, k code) code {
	n := c.info[e]
	slots := slotsOf(n.free)
	fewer := len(slots) < len(c.scope)
	switch {
	case e.Op == OpScan:
		return k // has rows of its own
	case e.Op == OpReduce && (fewer || n.uses > 1):
		if table := c.table(slots); table != nil && !c.outermost(n.free) {
			if k.f != nil {
				return code{f: tabled(table, k.f, math.Float64bits, math.Float64frombits)}
			}
			return code{i: tabled(table, k.i, func(x int64) uint64 { return uint64(x) }, func(b uint64) int64 { return int64(b) })}
		}
	case n.uses > 1 && n.size >= keepSize:
	case fewer && n.size > 1 && e.Op.Cost == ir.CostSlow && len(c.scope) > 0 && !hasBit(n.free, c.scope[len(c.scope)-1]):
	default:
		return k
	}
	if k.f != nil {
		id := c.newCell(0, slots)
		x := k.f
		return code{f: func(f *frame) float64 {
			c := &f.floats[id]
			if !c.holds(f, slots) {
				c.fill(f, slots, x)
			}
			f.raise(c.fault)
			f.err = c.err
			return c.value
		}}
	}
	id := c.newCell(1, slots)
	x := k.i
	return code{i: func(f *frame) int64 {
		c := &f.ints[id]
		if !c.holds(f, slots) {
			c.fill(f, slots, x)
		}
		f.raise(c.fault)
		f.err = c.err
		return c.value
	}}
}

func (c *compiler) newCell(kind int, slots []int) int {
	c.cells[kind] = append(c.cells[kind], slots)
	return len(c.cells[kind]) - 1
}

func slotsOf(set []uint64) []int {
	out := []int{}
	for bit := range 64 * len(set) {
		if hasBit(set, bit) {
			out = append(out, bit)
		}
	}
	return out
}

// outermost reports whether these axes are the outermost ones in scope: then the loops see all their values in turn, and a
// cell is as good as a table.
func (c *compiler) outermost(free []uint64) bool {
	inside := false
	for _, s := range c.scope {
		if !hasBit(free, s) {
			inside = true
		} else if inside {
			return false
		}
	}
	return true
}

// box places tuples of axes in a row-major table.
type box struct {
	slots  []int
	lo     []int64
	stride []int64
	n      int64
}

// boxOf is the box of axes whose ranges are known as the run begins; nil if one is not, or the box is too large.
func (c *compiler) boxOf(slots []int) *box {
	b := &box{slots: slots, lo: make([]int64, len(slots)), stride: make([]int64, len(slots)), n: 1}
	for d := len(slots) - 1; d >= 0; d-- {
		r := c.axisRange(c.axes[slots[d]])
		if !r.ok || r.hi-r.lo >= tableBudget/b.n {
			return nil
		}
		b.lo[d], b.stride[d] = r.lo, b.n
		b.n *= r.hi - r.lo + 1
	}
	return b
}

func (b *box) at(f *frame) int64 {
	at := int64(0)
	for d, s := range b.slots {
		at += (f.axis[s] - b.lo[d]) * b.stride[d]
	}
	return at
}

// table keeps a value for every tuple of a box; all frames share it. Two frames may compute one entry at the same moment: they
// store the same.
type table struct {
	box    *box
	state  []atomic.Uint32 // 0: nothing, 1: a value, 2: a value and a fault
	bits   []atomic.Uint64
	errs   []atomic.Uint64
	faults sync.Map // by entry
}

func (c *compiler) table(slots []int) *table {
	b := c.boxOf(slots)
	if b == nil || c.ev.lend(2*b.n, "", c.ev.prog.Pos) != nil {
		return nil
	}
	t := &table{box: b, state: make([]atomic.Uint32, b.n), bits: make([]atomic.Uint64, b.n)}
	if c.ev.bound() {
		t.errs = make([]atomic.Uint64, b.n)
	}
	return t
}

func tabled[T number](t *table, x fn[T], toBits func(T) uint64, fromBits func(uint64) T) fn[T] {
	return func(f *frame) T {
		at := t.box.at(f)
		state := t.state[at].Load()
		if state == 0 {
			var c cell[T]
			c.fill(f, nil, x)
			t.put(at, toBits(c.value), c.err, c.fault)
			f.raise(c.fault)
			f.err = c.err
			return c.value
		}
		if state == 2 {
			bad, _ := t.faults.Load(at)
			f.raise(bad.(fault))
		}
		if t.errs != nil {
			f.err = math.Float64frombits(t.errs[at].Load())
		}
		return fromBits(t.bits[at].Load())
	}
}

func (t *table) put(at int64, bits uint64, err float64, bad fault) {
	t.bits[at].Store(bits)
	if t.errs != nil {
		t.errs[at].Store(math.Float64bits(err))
	}
	state := uint32(1)
	if bad.at != nil {
		t.faults.Store(at, bad)
		state = 2
	}
	t.state[at].Store(state)
}
