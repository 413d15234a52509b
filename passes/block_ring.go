package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

// ring is the slots of the tiles that a loop fills ahead of the trips that use them.
type ring struct {
	slots int
	slot  *simt.Reg // i32: that of this trip
	fills map[*tile.Value]bool
}

// fillsOf are the loads past the registers in the body of a loop.
func fillsOf(s *tile.Loop) (out []*tile.Load) {
	for _, st := range s.Body {
		if l, ok := st.(*tile.Load); ok && l.Async {
			out = append(out, l)
		}
	}
	return out
}

// staged lowers a loop whose copies run ahead: n slots hold the tiles of n trips. Before the loop the copies of n-1 trips begin;
// each trip waits for its own, meets the other threads (whose copies are there now too, and who are done with the slot of
// the trip before), begins the copies of the trip that will use that slot, and computes. A group of copies is committed in every
// trip, also where none is left to begin, so that the number of groups behind that of a trip is always n-2.
func (b *block) staged(s *tile.Loop) {
	fills := fillsOf(s)
	n := s.Stages
	if s.Down || b.ring != nil {
		b.unsupported("a loop with stages that goes down, or inside another one")
	}
	b.enter(s)
	if len(b.state.read)+len(b.state.written) > 0 {
		b.barrier()
	}
	b.state.meet()
	slot := &simt.Reg{Name: b.fresh("slot"), Type: ir.I32, Mutable: true}
	b.add(&simt.Let{Reg: slot, Value: ir.ZeroOf(ir.I32)})
	b.ring = &ring{slots: n, slot: slot, fills: map[*tile.Value]bool{}}
	for _, l := range fills {
		b.ring.fills[l.Out] = true
	}
	lo, hi := b.expr(s.Over[0].Lo), b.expr(s.Over[0].Hi)
	for ahead := range n - 1 {
		b.fill(s, fills, ir.Add(lo, ir.Int64(int64(ahead))), hi, number(ahead))
	}
	b.trips(s, func() {
		b.queue("wait", n-2)
		b.barrier()
		trip := b.rename[s.Over[0].Axis]
		free := b.let("free", ir.Select(ir.Eq(ir.Name(slot), number(0)), number(n-1), ir.Sub(ir.Name(slot), number(1))))
		b.fill(s, fills, ir.Add(trip, ir.Int64(int64(n-1))), hi, free)
		b.rename[s.Over[0].Axis] = trip
		var rest []tile.Stmt
		for _, st := range s.Body {
			if !isAsync(st) {
				rest = append(rest, st)
			}
		}
		b.list(rest)
		b.add(&simt.Set{Reg: slot, Value: ir.Select(ir.Eq(ir.Name(slot), number(n-1)), number(0), ir.Add(ir.Name(slot), number(1)))})
	})
	b.ring = nil
	b.leave(s)
}

// fill begins the copies of a trip, if there is such a trip, and closes their group.
func (b *block) fill(s *tile.Loop, fills []*tile.Load, trip, hi, slot *ir.Expr) {
	b.rename[s.Over[0].Axis] = trip
	body := b.inner(func() {
		for _, l := range fills {
			t := b.sharedTile(l.Out)
			b.copyIn(l, t, ir.Mul(slot, number(t.buf.Len/t.slots)))
		}
	})
	b.add(&simt.If{Head: simt.Head{Pos: s.Pos}, Cond: ir.Lt(trip, hi), Then: body})
	b.queue("commit")
}
