package sim

import (
	"fmt"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// barrier is a barrier object of a block: an mbarrier, or a named barrier.
type barrier struct {
	name    string
	agent   int   // of the copies that it counts
	made    stamp // its initialisation
	count   int64 // arrivals of a phase
	missing int64 // arrivals
	bytes   int64 // that are expected and have not come; negative: that came and are not yet expected
	phase   int64 // phases that are over
	clock   []uint64
	done    []uint64 // the clock of the last phase that is over
	ops     []*op    // copies that have not taken effect
	waiting []*warp  // of a named barrier
}

func (b *barrier) String() string {
	return fmt.Sprintf("%s (%d arrivals and %d bytes missing in phase %d)", b.name, b.missing, b.bytes, b.phase)
}

// arrive counts an arrival of the warp's clock.
func (b *barrier) arrive(w *warp, n int64) {
	w.publish(&b.clock)
	if b.missing < n {
		w.report("barrier", b.name, "an arrival too many at %s", b)
		return
	}
	b.missing -= n
	b.turn()
}

// turn begins the next phase if the present one is complete.
func (b *barrier) turn() {
	if b.missing != 0 || b.bytes != 0 {
		return
	}
	b.phase++
	b.missing = b.count
	b.done, b.clock = b.clock, b.done
	clear(b.clock)
}

// landed counts the bytes of a copy.
func (b *barrier) landed(o *op) {
	if o.time+1 > b.clock[o.agent] {
		b.clock[o.agent] = o.time + 1
	}
	b.bytes -= o.bytes
	b.turn()
}

// over reports whether the phase of a parity is over, after letting copies take effect that may do so at last.
func (b *barrier) over(parity int64) bool {
	if b.phase&1 == parity&1 {
		for len(b.ops) > 0 {
			o := b.ops[0]
			b.ops = b.ops[1:]
			o.finish()
		}
	}
	return b.phase&1 != parity&1
}

// barRef is a compiled reference to a barrier object.
type barRef struct {
	bar      *simt.Bar
	at, rank operand
	remote   bool
}

func (c *compiler) barRef(r simt.BarRef) barRef {
	out := barRef{bar: r.Bar, at: c.constant(ir.IntConst(0))}
	if r.At != nil {
		out.at = c.expr(r.At)
	}
	if r.Rank != nil {
		out.rank, out.remote = c.expr(r.Rank), true
	}
	return out
}

// of is the barrier that a lane means; nil, after a report, where there is none.
func (r *barRef) of(w *warp, lane int) *barrier {
	b := w.blk
	if r.remote {
		if b = w.peer(r.rank.of(w)[lane].Int()); b == nil {
			return nil
		}
	}
	return r.in(w, b, lane)
}

func (r *barRef) in(w *warp, b *block, lane int) *barrier {
	k := r.at.of(w)[lane].Int()
	if k < 0 || k >= int64(r.bar.N) {
		w.report("bounds", r.bar.Name, "barrier %d of %s, which has %d", k, r.bar.Name, r.bar.N)
		return nil
	}
	x := b.bars[r.bar][k]
	switch {
	case x == nil && r.bar.Named:
		x = &barrier{name: barName(r.bar, k), count: int64(r.bar.Count), missing: int64(r.bar.Count)}
		b.bars[r.bar][k] = x
	case x == nil:
		w.report("barrier", r.bar.Name, "%s is used before its initialisation", barName(r.bar, k))
	case !r.bar.Named && int(x.made.thread>>5) != w.agent() && !w.ordered(&x.made):
		w.report("barrier", r.bar.Name, "%s is used without a barrier behind its initialisation by %s at %s", x.name, w.threadText(&x.made), w.placeOf(&x.made))
	}
	return x
}

func barName(b *simt.Bar, k int64) string {
	if b.N == 1 {
		return b.Name
	}
	return fmt.Sprintf("%s[%d]", b.Name, k)
}

// eachBar calls f with the barrier that each active lane means.
func (r *barRef) eachBar(w *warp, f func(b *barrier, lane int)) {
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		if b := r.of(w, i); b != nil {
			f(b, i)
		}
	}
}

func (c *compiler) mbarVerb(s *simt.Sync) {
	ref := c.barRef(s.On)
	arg := c.constant(ir.IntConst(0))
	if len(s.Args) > 0 {
		arg = c.expr(s.Args[0])
	}
	switch s.Verb.Name {
	case "init":
		c.emit(ir.CostALU, func(w *warp) { ref.initialise(w, arg.of(w)) })
	case "arrive":
		c.emit(ir.CostALU, func(w *warp) {
			ref.eachBar(w, func(b *barrier, _ int) { b.arrive(w, 1) })
		})
	case "expect":
		c.emit(ir.CostALU, func(w *warp) {
			n := arg.of(w)
			ref.eachBar(w, func(b *barrier, lane int) {
				b.bytes += n[lane].Int()
				b.arrive(w, 1)
			})
		})
	case "wait":
		c.emit(ir.CostALU, func(w *warp) { ref.wait(w, arg.of(w)) })
	default:
		c.refuse("%s of an mbarrier is not executable", s.Verb.Name)
	}
}

func (r *barRef) initialise(w *warp, count *vec) {
	for m := w.mask; m != 0; m &= m - 1 {
		lane := lowest(m)
		k, n := r.at.of(w)[lane].Int(), count[lane].Int()
		if k < 0 || k >= int64(r.bar.N) || n < 1 {
			w.report("bounds", r.bar.Name, "initialisation of barrier %d of %s, which has %d, with %d arrivals", k, r.bar.Name, r.bar.N, n)
			continue
		}
		run := w.blk.run
		agent := run.agentOf(w.blk.rank, 0) + run.barAgent[r.bar] + int(k)
		w.blk.bars[r.bar][k] = &barrier{name: barName(r.bar, k), agent: agent, count: n, missing: n,
			made:  stamp{clock: w.now(), thread: uint16(32*w.agent() + lane), stmt: w.stmt()},
			clock: make([]uint64, len(w.clock)), done: make([]uint64, len(w.clock))}
	}
}

// wait suspends the warp until the phases that its lanes wait for are over.
func (r *barRef) wait(w *warp, parity *vec) {
	type wanted struct {
		b *barrier
		p int64
	}
	var list []wanted
	r.eachBar(w, func(b *barrier, lane int) {
		x := wanted{b, parity[lane].Int()}
		if len(list) == 0 || list[len(list)-1] != x {
			list = append(list, x)
		}
	})
	if len(list) == 0 {
		return
	}
	w.on = list[0].b
	w.wait(list[0].b.name, func() bool {
		for _, x := range list {
			if !x.b.over(x.p) {
				return false
			}
		}
		for _, x := range list {
			w.acquire(x.b.done)
		}
		w.on = nil
		return true
	})
}

func (c *compiler) namedVerb(s *simt.Sync) {
	ref := c.barRef(s.On)
	waits := s.Verb.Name == "sync"
	c.emit(ir.CostALU, func(w *warp) {
		b := ref.of(w, lowest(w.mask))
		if b == nil {
			return
		}
		if w.mask != w.lanes {
			w.report("barrier", b.name, "%s at %s while %s not there", s.Verb.Name, b.name, w.lanesText(w.lanes&^w.mask))
		}
		w.blk.run.count.barriers++
		b.gather(w, waits)
	})
}

// gather counts the threads of a warp at a named barrier; the arrival that completes it wakes those that wait.
func (b *barrier) gather(w *warp, waits bool) {
	w.publish(&b.clock)
	if b.missing -= int64(w.active); b.missing < 0 {
		w.fatal("barrier", "more than %d threads at %s", b.count, b.name)
		return
	}
	if waits {
		b.waiting = append(b.waiting, w)
	}
	if b.missing > 0 {
		if waits {
			w.on = b
			w.wait(b.name, nil)
		}
		return
	}
	for _, other := range b.waiting {
		other.acquire(b.clock)
		other.on = nil
		if other != w {
			other.wake()
		}
	}
	b.waiting, b.missing = b.waiting[:0], b.count
	b.phase++
	clear(b.clock)
}

// clusterArrive and clusterWait are the two halves of the barrier of all threads of a cluster.
func (w *warp) clusterArrive() {
	run := w.blk.run
	if w.mask != w.lanes {
		w.report("barrier", "cluster", "arrive cluster while %s not there", w.lanesText(w.lanes&^w.mask))
	}
	if w.arrived > run.meets {
		w.report("barrier", "cluster", "a second arrive cluster without a wait cluster between")
		return
	}
	w.arrived = run.meets + 1
	w.publish(&run.gathering)
	if run.present++; run.present == len(run.blocks)*len(w.blk.warps) {
		run.present = 0
		run.meets++
		run.gathered, run.gathering = run.gathering, run.gathered
		clear(run.gathering)
	}
}

func (w *warp) clusterWait() {
	run := w.blk.run
	if w.arrived == 0 {
		w.report("barrier", "cluster", "wait cluster without an arrive cluster")
		return
	}
	w.wait("the cluster", func() bool {
		if run.meets < w.arrived {
			return false
		}
		w.acquire(run.gathered)
		return true
	})
}
