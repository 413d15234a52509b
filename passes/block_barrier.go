package passes

import (
	"maps"
	"slices"

	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

// barriers are what threads of a block did to tiles in shared memory since they last met. A barrier stands where a thread reads
// what another may have written since, or writes what another may still read.
type barriers struct {
	written, read map[*tile.Value]bool
	async         bool // some of what was written is on its way
}

func newBarriers() barriers {
	return barriers{written: map[*tile.Value]bool{}, read: map[*tile.Value]bool{}}
}

func (s barriers) clone() barriers {
	return barriers{written: maps.Clone(s.written), read: maps.Clone(s.read), async: s.async}
}

// join adds what may have happened on another way here, and reports whether that is news.
func (s *barriers) join(t barriers) bool {
	n := len(s.written) + len(s.read)
	maps.Copy(s.written, t.written)
	maps.Copy(s.read, t.read)
	news := len(s.written)+len(s.read) > n || t.async && !s.async
	s.async = s.async || t.async
	return news
}

// pending reports whether threads may still read or write one of some tiles.
func (s *barriers) pending(list []*tile.Value) bool {
	return slices.ContainsFunc(list, func(v *tile.Value) bool { return s.read[v] || s.written[v] })
}

// meet forgets what happened before a barrier.
func (s *barriers) meet() { *s = newBarriers() }

// touches are the tiles in shared memory that a statement reads and writes, without the statements inside it.
func touches(s tile.Stmt) (reads, writes []*tile.Value) {
	for _, v := range operands(s) {
		if v.Space == tile.Shared {
			reads = append(reads, v)
		}
	}
	for _, v := range tile.Defined(s) {
		if v.Space == tile.Shared {
			writes = append(writes, v)
		}
	}
	return reads, writes
}

// before reports whether a barrier is needed in front of a statement, and notes what the statement does.
func (s *barriers) before(st tile.Stmt) (needed bool) {
	if r, ok := st.(*tile.Reduce); ok && warpsOver(r) != 0 { // its result stands for the shared memory that it goes through
		needed = s.read[r.Out]
		s.meet()
		s.read[r.Out] = true
		return needed
	}
	reads, writes := touches(st)
	for _, v := range reads {
		needed = needed || s.written[v]
	}
	for _, v := range writes {
		needed = needed || s.read[v] || s.written[v] && !isAsync(st)
	}
	if needed {
		s.meet()
	}
	for _, v := range reads {
		s.read[v] = true
	}
	for _, v := range writes {
		s.written[v] = true
		s.async = s.async || isAsync(st)
	}
	return needed
}

func isAsync(s tile.Stmt) bool {
	l, ok := s.(*tile.Load)
	return ok && l.Async
}

// after is the state behind statements, from the one in front of them, if their barriers are placed.
func after(list []tile.Stmt, s barriers) barriers {
	for _, st := range list {
		switch st := st.(type) {
		case *tile.Phase:
			s.meet()
		case *tile.Loop:
			s = afterLoop(st, s)
		case *tile.If:
			yes := after(st.Then, s.clone())
			s = after(st.Else, s)
			s.join(yes)
		default:
			s.before(st)
		}
	}
	return s
}

// atLoop is the state at the beginning of each trip: it also holds what the trip before left.
func atLoop(s *tile.Loop, state barriers) barriers {
	if once(s) {
		return state
	}
	for {
		in := state.clone()
		if !state.join(after(s.Body, in)) {
			return state
		}
	}
}

// once reports whether it is known that a loop has no second trip.
func once(s *tile.Loop) bool {
	lo, known := s.Over[0].Lo.IntValue()
	hi, too := s.Over[0].Hi.IntValue()
	return known && too && hi-lo <= 1
}

func afterLoop(s *tile.Loop, state barriers) barriers {
	if r := ringOf(s); r != nil { // it places its own
		if state.pending(r.fills()) {
			state.meet()
		}
		for _, v := range r.fills() {
			state.read[v] = true
		}
		return state
	}
	state = atLoop(s, state)
	out := state.clone()
	out.join(after(s.Body, state))
	return out
}

// touches places a barrier in front of a statement that needs one.
func (b *block) touches(s tile.Stmt) {
	if b.ring != nil && b.ring.orders(s) {
		return
	}
	async := b.state.async
	if b.state.before(s) {
		if async {
			b.queue("commit")
			b.queue("wait", 0)
		}
		b.barrier()
	}
}

// barrier is a meeting of all threads of the block.
func (b *block) barrier() {
	b.add(&simt.Sync{Verb: simt.VerbOf("sync", "cta"), On: simt.BarRef{Builtin: "cta"}})
}

// queue is a verb on the queue of asynchronous copies.
func (b *block) queue(verb string, args ...int) {
	s := &simt.Sync{Verb: simt.VerbOf(verb, "queue"), On: simt.BarRef{Builtin: "cp"}}
	for _, n := range args {
		s.Args = append(s.Args, number(n))
	}
	b.add(s)
}
