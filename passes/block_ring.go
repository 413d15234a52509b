package passes

import (
	"maps"
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

// ring is the slots of the tiles in shared memory that a loop fills ahead of the trips that use them.
type ring struct {
	loop  *tile.Loop
	slots int
	slot  *simt.Reg // i32: that of this trip

	copies []tile.Stmt // loads past the registers: begun slots-1 trips ahead
	loads  []tile.Stmt // of what goes through registers: begun one trip ahead, in front of what a trip computes
	moves  []tile.Stmt // the rest of that: behind what a trip computes
	rest   []tile.Stmt // what a trip computes
}

// ringOf takes the body of a loop apart; nil where nothing can run ahead.
func ringOf(s *tile.Loop) *ring {
	if s.Stages < 2 || s.Down {
		return nil
	}
	ahead := newSlice(s)
	out := &ring{loop: s, slots: s.Stages}
	for _, st := range s.Body {
		switch {
		case isAsync(st):
			out.copies = append(out.copies, st)
		case ahead.takes(st):
			out.moves = append(out.moves, st)
		default:
			out.rest = append(out.rest, st)
		}
	}
	out.loads = ahead.loads()
	out.moves = slices.DeleteFunc(out.moves, func(st tile.Stmt) bool { return isTileLoad(st) || ahead.early[st] && ofTiles(st) })
	switch {
	case len(out.copies)+len(out.moves) == 0:
		return nil
	case len(out.copies) == 0:
		out.slots = 2 // registers hold what more would
	}
	return out
}

func isTileLoad(s tile.Stmt) bool {
	l, ok := s.(*tile.Load)
	return ok && len(l.Out.Axes) > 0
}

// ofTiles reports whether a statement defines tiles: those that loads need are there when they are moved.
func ofTiles(s tile.Stmt) bool {
	return slices.ContainsFunc(tile.Defined(s), func(v *tile.Value) bool { return len(v.Axes) > 0 })
}

// fills are the tiles that have slots.
func (r *ring) fills() (out []*tile.Value) {
	for _, s := range slices.Concat(r.copies, r.moves) {
		if _, writes := touches(s); len(writes) > 0 {
			out = append(out, writes...)
		}
	}
	return out
}

// orders reports whether a statement touches no shared memory but the slots, for which the ring has its barrier.
func (r *ring) orders(s tile.Stmt) bool {
	reads, writes := touches(s)
	all := append(reads, writes...)
	fills := r.fills()
	return len(all) > 0 && !slices.ContainsFunc(all, func(v *tile.Value) bool { return !slices.Contains(fills, v) })
}

// slice finds the statements of a loop's body from which its moves into shared memory come.
type slice struct {
	body   []tile.Stmt
	by     map[*tile.Value]tile.Stmt // what defines a value in the body
	needed map[tile.Stmt]bool
	early  map[tile.Stmt]bool // needed by loads
}

// newSlice follows the moves of a body back to where they come from. A move that needs what a trip computes, or what it is handed,
// is not taken.
func newSlice(s *tile.Loop) *slice {
	out := &slice{body: s.Body, by: map[*tile.Value]tile.Stmt{}, needed: map[tile.Stmt]bool{}, early: map[tile.Stmt]bool{}}
	for _, st := range s.Body {
		for _, v := range tile.Defined(st) {
			out.by[v] = st
		}
	}
	own := map[*tile.Value]bool{}
	for _, c := range s.Carry {
		own[c.In] = true
	}
	for _, st := range s.Body {
		if m, ok := st.(*tile.Move); ok && m.Out.Space == tile.Shared {
			if from := map[tile.Stmt]bool{}; out.follow(st, own, from) {
				for s := range from {
					out.needed[s] = true
				}
			}
		}
	}
	for st := range out.needed {
		if isTileLoad(st) {
			out.follow(st, own, out.early)
		}
	}
	return out
}

// follow collects a statement and those that it comes from; false where one of them cannot run ahead.
func (c *slice) follow(s tile.Stmt, own map[*tile.Value]bool, from map[tile.Stmt]bool) bool {
	if from[s] {
		return true
	}
	from[s] = true
	switch s := s.(type) {
	case *tile.Load:
		if s.Async {
			return false
		}
	case *tile.Map:
	case *tile.Move:
		if s.Out.Space != tile.Shared {
			return false
		}
	default:
		return false
	}
	values := valuesIn(ownExprs(s)...)
	for _, v := range operands(s) {
		values[v] = true
	}
	for v := range values {
		if own[v] {
			return false
		}
		if by := c.by[v]; by != nil && !c.follow(by, own, from) {
			return false
		}
	}
	return true
}

// takes reports whether a statement runs ahead.
func (c *slice) takes(s tile.Stmt) bool { return c.needed[s] }

// loads are the loads that run ahead, with what they need.
func (c *slice) loads() (out []tile.Stmt) {
	for _, s := range c.body {
		if c.early[s] {
			out = append(out, s)
		}
	}
	return out
}

// staged lowers a loop whose tiles are filled ahead, in n slots. Before the loop the copies of n-1 trips begin; each trip waits
// for its own, meets the other threads (whose copies are there now too, and who are done with the slot of the trip before),
// begins the copies of the trip that will use that slot, and computes. A group of copies is committed in every trip, also where
// none is left to begin, so that the number of groups behind that of a trip is always n-2. What goes through registers is
// loaded before a trip computes and moved behind it, for the next trip.
func (b *block) staged(r *ring) {
	s := r.loop
	b.enter(s)
	fills := r.fills()
	if b.state.pending(fills) {
		b.barrier()
		b.state.meet()
	}
	r.slot = &simt.Reg{Name: b.fresh("slot"), Type: ir.I32, Mutable: true}
	b.add(&simt.Let{Reg: r.slot, Value: ir.ZeroOf(ir.I32)})
	outer, before := b.ring, b.state.clone()
	b.ring = r
	b.declare(r.loads)
	lo, hi := b.expr(s.Over[0].Lo), b.expr(s.Over[0].Hi)
	if d := b.turning(r); d != nil {
		b.turned(r, d, lo, hi)
	} else {
		b.begin(r, lo, hi, r.slots-1)
		b.trips(s, func() { b.trip(r, hi) })
	}
	b.ring = outer
	b.state = before
	for _, v := range fills {
		b.state.read[v] = true
	}
	b.leave(s)
}

// begin begins the copies of the first n trips, and puts what goes through registers into the first slot.
func (b *block) begin(r *ring, lo, hi *ir.Expr, n int) {
	if len(r.copies) > 0 {
		for ahead := range n {
			b.fill(r, ir.Add(lo, ir.Int64(int64(ahead))), hi, number(ahead))
		}
	}
	b.ahead(r, slices.Concat(r.loads, r.moves), lo, hi, number(0))
}

// declare makes the arrays of tiles that statements define.
func (b *block) declare(list []tile.Stmt) {
	for _, s := range list {
		for _, v := range tile.Defined(s) {
			if len(v.Axes) > 0 && v.Space != tile.Shared {
				b.array(v)
			}
		}
	}
}

// trip is one trip of a loop with slots.
func (b *block) trip(r *ring, hi *ir.Expr) {
	axis := r.loop.Over[0].Axis
	now := b.rename[axis]
	if len(r.copies) > 0 {
		b.queue("wait", r.slots-2)
	}
	b.barrier()
	b.state.meet()
	slot := ir.Name(r.slot)
	if len(r.copies) > 0 {
		free := b.let("free", ir.Select(ir.Eq(slot, number(0)), number(r.slots-1), ir.Sub(slot, number(1))))
		b.fill(r, ir.Add(now, ir.Int64(int64(r.slots-1))), hi, free)
	}
	next := b.slotBehind(r)
	b.ahead(r, r.loads, ir.Add(now, ir.Int64(1)), hi, next)
	b.rename[axis] = now
	b.list(r.rest)
	b.ahead(r, r.moves, ir.Add(now, ir.Int64(1)), hi, next)
	b.rename[axis] = now
	b.add(&simt.Set{Reg: r.slot, Value: next})
}

// slotBehind is the slot of the next trip.
func (b *block) slotBehind(r *ring) *ir.Expr {
	slot := ir.Name(r.slot)
	return b.let("next", ir.Select(ir.Eq(slot, number(r.slots-1)), number(0), ir.Add(slot, number(1))))
}

// fill begins the copies of a trip, if there is such a trip, and closes their group.
func (b *block) fill(r *ring, trip, hi, slot *ir.Expr) {
	b.onTrip(r, trip, hi, func() {
		for _, s := range r.copies {
			l := s.(*tile.Load)
			t := b.sharedTile(l.Out)
			b.copyIn(l, t, t.slotAt(slot))
		}
	})
	b.queue("commit")
}

// ahead lowers statements for another trip, if there is such a trip. Arrays that are declared under that condition are nobody
// else's.
func (b *block) ahead(r *ring, list []tile.Stmt, trip, hi, slot *ir.Expr) {
	if len(list) == 0 {
		return
	}
	b.onTrip(r, trip, hi, func() {
		var tiles []*sharedTile
		for _, s := range list {
			if _, writes := touches(s); len(writes) > 0 {
				tiles = append(tiles, b.sharedTile(writes[0]))
			}
		}
		for _, t := range tiles {
			t.slot = t.slotAt(slot)
		}
		before := maps.Clone(b.arrays)
		b.list(list)
		b.arrays = before
		for _, t := range tiles {
			t.slot = t.slotAt(ir.Name(r.slot))
		}
	})
}

// onTrip lowers what belongs to a trip that there may not be.
func (b *block) onTrip(r *ring, trip, hi *ir.Expr, f func()) {
	b.rename[r.loop.Over[0].Axis] = trip
	b.looping++ // also in front of the loop, which does the same
	body := b.inner(f)
	b.looping--
	if cond := ir.Lt(trip, hi); !isTrue(cond) {
		body = []simt.Stmt{&simt.If{Head: simt.Head{Pos: r.loop.Pos}, Cond: cond, Then: body}}
	}
	b.body = append(b.body, body...)
}

// slotAt is where a slot of the tile begins.
func (t *sharedTile) slotAt(slot *ir.Expr) *ir.Expr { return ir.Mul(slot, number(t.buf.Len/t.slots)) }
