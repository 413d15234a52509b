package sim

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// Moment says when an asynchronous operation takes effect: at any time between its issue and the wait that covers it. A right
// program gives the same results whichever is chosen.
type Moment uint8

// The moments.
const (
	Late   Moment = iota // at the wait
	Early                // at the issue
	Random               // one of both, by the seed
)

// op is an asynchronous operation. What it reads and writes in shared memory is stamped with a time of its agent: the
// asynchronous side of the warp that issued it, or the mbarrier that counts its bytes.
type op struct {
	apply func() // takes effect; nil once it has
	agent int
	time  uint64
	bytes int64
	pos   int32
}

// issue numbers an operation of an agent.
func (r *runner) issue(agent int, w *warp, bytes int64) *op {
	t := r.agentTime[agent]
	r.agentTime[agent]++
	return &op{agent: agent, time: t, bytes: bytes, pos: w.stmt()}
}

// start makes the operation take effect now, if it is the moment.
func (o *op) start(r *runner, apply func()) {
	o.apply = apply
	if r.early() {
		o.finish()
	}
}

func (o *op) finish() {
	if o.apply != nil {
		o.apply()
		o.apply = nil
	}
}

func (r *runner) early() bool {
	switch r.options.Moment {
	case Early:
		return true
	case Late:
		return false
	}
	r.dice = (r.dice+r.options.Seed)*0x9E3779B97F4A7C15 + 0x7F4A7C15
	return r.dice>>63 != 0
}

// stamp is the mark that an operation leaves in shared memory.
func (o *op) stamp() stamp {
	return stamp{clock: o.time, thread: uint16(32 * o.agent), stmt: o.pos}
}

// queue holds the operations of a warp that complete in groups. Groups belong to a thread.
type queue struct {
	name      string
	ops       []queued
	committed [32]int64
}

type queued struct {
	*op
	lane  int
	group int64 // -1: not yet closed
}

func (q *queue) add(o *op, lane int) { q.ops = append(q.ops, queued{o, lane, -1}) }

// commit closes the group of each of the lanes.
func (q *queue) commit(lanes uint32) {
	for i := range q.ops {
		if o := &q.ops[i]; o.group < 0 && lanes>>o.lane&1 != 0 {
			o.group = q.committed[o.lane]
		}
	}
	for m := lanes; m != 0; m &= m - 1 {
		q.committed[lowest(m)]++
	}
}

// wait completes all but the n youngest groups of each of the lanes. If the operations have only to have read their sources, they
// stay in the queue.
func (q *queue) wait(w *warp, n int64, onlyRead bool, done func(*op)) {
	rest := q.ops[:0]
	for _, o := range q.ops {
		if w.mask>>o.lane&1 == 0 || o.group < 0 || o.group >= q.committed[o.lane]-n {
			rest = append(rest, o)
			continue
		}
		o.finish()
		if q == &w.async.wgmma {
			w.clock[o.agent] = max(w.clock[o.agent], o.time+1)
		} else {
			w.async.landed = max(w.async.landed, o.time+1)
		}
		if onlyRead {
			rest = append(rest, o)
		} else if done != nil {
			done(o.op)
		}
	}
	clear(q.ops[len(rest):])
	q.ops = rest
}

// asyncState is what a warp has in flight.
type asyncState struct {
	cp, bulk, wgmma queue
	flight          []flight // by tracked register; nil where the kernel has nothing asynchronous
	held            map[*op][]int
	landed          uint64 // copies before this time are done, as the thread that issued them knows; others learn it by meeting it
}

// flight is the state of a register with respect to the matrix unit.
type flight struct {
	writers int32 // operations in flight that write it
	readers int32 // operations in flight that read it
	dirty   bool  // written by ordinary code since the last fence
}

func (a *asyncState) allocate(marks int) {
	a.flight, a.held = make([]flight, marks), map[*op][]int{}
	a.cp.name, a.bulk.name, a.wgmma.name = "cp", "bulk", "wgmma"
}

func (a *asyncState) begin() {
	for _, q := range []*queue{&a.cp, &a.bulk, &a.wgmma} {
		q.ops, q.committed = q.ops[:0], [32]int64{}
	}
	clear(a.flight)
	clear(a.held)
	a.landed = 0
}

// finish ends a warp's life: what is still in flight takes effect, and stores that read the memory of a block that ends are a
// mistake.
func (a *asyncState) finish(w *warp) {
	for _, o := range a.bulk.ops {
		if o.apply != nil {
			w.report("async", "end", "the block ends while a bulk copy is in flight, issued at %s", w.blk.run.prog.places[o.pos])
		}
	}
	for _, q := range []*queue{&a.cp, &a.bulk, &a.wgmma} {
		for _, o := range q.ops {
			o.finish()
		}
	}
}

func (a *asyncState) named(name string) *queue {
	switch name {
	case "cp":
		return &a.cp
	case "bulk":
		return &a.bulk
	}
	return &a.wgmma
}

// share lets the other lanes, and whoever meets the warp, know which copies are done.
func (w *warp) share() {
	if w.async.landed > 0 {
		w.clock[w.own()] = max(w.clock[w.own()], w.async.landed)
	}
}

// waitedFor reports whether an access is that of a copy for which lane has waited itself.
func (w *warp) waitedFor(s *stamp, lane int) bool {
	return s.clock < w.async.landed && int(s.thread) == 32*w.own()+lane
}

// own is the agent of the warp's asynchronous operations.
func (w *warp) own() int { return w.agent() + len(w.blk.warps) }

// async notes that an operation issued by w touches n bytes of a block's shared memory at off, and reports what is not ordered
// before it. Unless the operation belongs to the ordinary side of memory (cp.async), what ordinary code did has to be fenced too.
func (s *sharedMemory) async(w *warp, name string, off, n int, by stamp, write, generic bool) {
	for i := off / s.unit; i*s.unit < off+n; i++ {
		c := &s.cells[i]
		if !write && c.born != s.born {
			w.report("uninitialised", name, "byte %d of shared memory (%s) is read by an asynchronous operation before anybody wrote it", i*s.unit, name)
		}
		w.against(name, i*s.unit, &c.write, &by, write, "written", generic)
		if write {
			if c.inGroup {
				for k := range s.groupOf(c) {
					w.against(name, i*s.unit, &s.groupOf(c)[k], &by, true, "read", generic)
				}
			} else {
				w.against(name, i*s.unit, &c.read, &by, true, "read", generic)
			}
			c.write, c.read, c.inGroup, c.born = by, stamp{}, false, s.born
		} else {
			s.addReader(w, c, &by)
		}
	}
}

func (w *warp) against(name string, off int, old, by *stamp, write bool, did string, generic bool) {
	if old.clock == 0 {
		return
	}
	does := "read"
	if write {
		does = "written"
	}
	run := w.blk.run
	switch {
	case !w.ordered(old) && !(old.thread == by.thread && old.clock == by.clock) && !w.waitedFor(old, int(by.thread&31)) && !w.reported("race", name):
		w.report("race", name, "byte %d of shared memory (%s) is %s by an asynchronous operation; unordered with that it is %s by %s at %s",
			off, name, does, did, w.threadText(old), run.prog.places[old.stmt])
	case !generic && run.isWarp(int(old.thread>>5)) && old.clock >= w.clock[run.agents+int(old.thread>>5)]:
		w.report("async", name, "byte %d of shared memory (%s) is %s by an asynchronous operation; it was %s by %s at %s, without a fence async between",
			off, name, does, did, w.threadText(old), run.prog.places[old.stmt])
	}
}

// isWarp reports whether an agent is a warp's ordinary side.
func (r *runner) isWarp(agent int) bool { return agent%r.each < len(r.blocks[0].warps) }

// fenceAsync orders what the warp did and knows of before later asynchronous operations of whoever learns of it. Where only some
// lanes fence, what the others did since the last meeting of the warp is not covered.
func (w *warp) fenceAsync() {
	agents := w.blk.run.agents
	all := w.mask == w.lanes
	if all {
		w.clock[w.agent()]++
	}
	for i := range agents {
		known := w.knows(i)
		if all {
			known = w.clock[i]
		}
		w.clock[agents+i] = max(w.clock[agents+i], known)
	}
}

// expectLanded reports a use of a register that the matrix unit has not finished with.
func (w *warp) expectLanded(reg *simt.Reg, k, mark int, write bool) {
	f := &w.async.flight[mark]
	switch {
	case f.writers > 0:
		w.report("async", reg.Name, "register %s is used while a matrix operation that writes it is in flight", regText(reg, k))
	case write && f.readers > 0:
		w.report("async", reg.Name, "register %s is written while a matrix operation that reads it is in flight", regText(reg, k))
	}
	f.dirty = f.dirty || write
}

// landing emits the check in front of an ordinary use of registers from..from+n of a tracked binding.
func (c *compiler) landing(reg *simt.Reg, b binding, from, n int, write bool) {
	if b.mark < 0 || !c.l.traits.wgmma {
		return
	}
	c.emit(ir.CostFree, func(w *warp) {
		for k := from; k < from+n; k++ {
			if f := &w.async.flight[b.mark+k]; f.writers > 0 || write {
				w.expectLanded(reg, k, b.mark+k, write)
			}
		}
	})
}
