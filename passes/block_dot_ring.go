package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

// A loop with slots that does nothing but a product by matrix operations is turned by one step along k: the fragments of a step
// are read while the operations of the step before it run, also those of the first step of a trip, which the trip before reads.
// So no operation waits for the barrier and the reads behind it.

// turning is the product of a loop that can be turned; nil if it cannot.
func (b *block) turning(r *ring) *dotMaker {
	if len(r.rest) != 1 || len(r.moves) > 0 {
		return nil // what is under way to registers should have all operations of a trip to come
	}
	s, ok := r.rest[0].(*tile.Dot)
	if !ok || !r.orders(s) {
		return nil
	}
	if f := dotFormOf(s, b.in); f == nil || f.atom == nil || f.sizeK/f.atom.K%2 != 0 {
		return nil // two sets of fragments take turns, and a trip begins with the same one
	}
	if s.Into == nil || b.uses[s.Into] != 1 || s.Into.Layout != s.Out.Layout {
		return nil // its sums move from one array to another
	}
	return b.newDot(s)
}

// turned lowers such a loop. Behind its last read of a slot, which is in front of its last operations, the threads meet, so that
// the slot can be filled for the trip that is as many trips on as there are slots. There is no branch around any of that, so that
// it can be among the operations: the last trip reads its own slot again, for nothing.
func (b *block) turned(r *ring, d *dotMaker, lo, hi *ir.Expr) {
	parts := [2]fragments{d.newFragments(), d.newFragments()}
	b.begin(r, lo, hi, r.slots)
	arrive := func(pending int, slot *ir.Expr) {
		b.queue("wait", pending)
		b.barrier()
		d.inSlot(slot, func() { d.loadFragments(parts[0], 0) })
	}
	b.onTrip(r, lo, hi, func() { arrive(r.slots-1, number(0)) })
	axis := r.loop.Over[0].Axis
	b.trips(r.loop, func() {
		now, last := b.rename[axis], d.stepsK()-1
		b.state.meet()
		next, behind := b.slotBehind(r), ir.Add(now, ir.Int64(1))
		for step := range last {
			d.loadFragments(parts[(step+1)%2], step+1)
			d.multiplyFragments(parts[step%2])
		}
		arrive(r.slots-2, ir.Select(ir.Lt(behind, hi), next, ir.Name(r.slot)))
		b.fill(r, ir.Add(now, ir.Int64(int64(r.slots))), hi, ir.Name(r.slot))
		b.rename[axis] = now
		d.multiplyFragments(parts[last%2])
		b.add(&simt.Set{Reg: r.slot, Value: next})
	})
}

// inSlot does something with the operands in another slot than that of the trip.
func (d *dotMaker) inSlot(slot *ir.Expr, f func()) {
	at := func(slot *ir.Expr) {
		for _, t := range []*sharedTile{d.a.tile, d.b.tile} {
			if t.slots > 1 {
				t.slot = t.slotAt(slot)
			}
		}
	}
	at(slot)
	f()
	at(ir.Name(d.ring.slot))
}
