package sim

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// copy compiles an asynchronous copy.
func (c *compiler) copy(s *simt.Copy) {
	f := s.Form
	switch {
	case f.To == simt.AtNone:
		c.emit(ir.CostShared, func(*warp) {}) // a prefetch
	case f.Queue == "cp":
		c.copyThread(s)
	case f.From == simt.AtMap:
		c.boxIn(s)
	case f.To == simt.AtMap:
		c.boxOut(s)
	case f.From == simt.AtGlobal:
		c.bulkIn(s)
	case f.To == simt.AtPeer:
		c.bulkPeer(s)
	case f.To == simt.AtGlobal:
		c.bulkOut(s)
	default:
		c.refuse("copy %s is not executable", f.Name)
	}
}

// end compiles an end in memory; the length is what the form or the statement says.
func (c *compiler) end(s *simt.Copy, p simt.Place) (reference, bool) {
	if p.Mem == nil {
		c.refuse("copy %s without a place in memory", s.Form.Name)
		return reference{}, false
	}
	m := reference{buf: p.Mem.Buf, at: c.expr(p.Mem.At)}
	if p.Mem.Rank != nil {
		m.rank, m.remote = c.expr(p.Mem.Rank), true
	}
	if p.Mem.Buf.Space == simt.Global {
		if m.global = c.l.memory[p.Mem.Buf.Array]; m.global == nil {
			c.refuse("buffer %s is bound to no array of the module", p.Mem.Buf.Name)
			return m, false
		}
	}
	return m, c.problem == nil
}

func (c *compiler) length(s *simt.Copy) operand {
	if s.Bytes == nil {
		return c.constant(ir.IntConst(int64(s.Form.Bytes)))
	}
	return c.expr(s.Bytes)
}

// globalRun is the offset of n bytes of an array from the element that lane means, after checking that they are there.
func (m *reference) globalRun(w *warp, lane int, n int64) (off int64, ok bool) {
	g := m.global
	off = m.at.of(w)[lane].Int() * int64(g.size)
	if off < 0 || n < 0 || off+n > int64(len(g.data)) {
		w.report("bounds", g.Name, "a copy of %d bytes from element %d of %s, which has %d", n, m.at.of(w)[lane].Int(), g.Name, g.n)
		return 0, false
	}
	return off, true
}

// traffic counts and checks the copying of runs of n bytes of an array at once.
func (w *warp) traffic(g *globalMemory, n int64, write bool, offs ...int64) {
	c := &w.blk.run.count
	k := int64(sectors(offs, n, w.blk.run.touched(g, write)))
	c.copied += n * int64(len(offs))
	if write {
		c.storeSectors += k
	} else {
		c.loadSectors += k
	}
	lane := lowest(w.mask)
	for _, off := range offs {
		for e := int(off) / g.size; e*g.size < int(off+n); e++ {
			switch {
			case write:
				g.mark(w, lane, e, false)
			case g.born != nil || g.read != nil:
				g.see(w, lane, e)
			}
		}
	}
}

// sharedRun is the offset of n bytes of shared memory.
func (m *reference) sharedRun(w *warp, lane int, n, align int64) (off int, ok bool) {
	at := m.at.of(w)[lane].Int()
	off, ok = pointer(m.buf, at, int(n))
	if !ok || n < 0 {
		w.report("bounds", m.buf.Name, "a copy of %d bytes at element %d of %s in shared memory, which has %d", n, at, m.buf.Name, m.buf.Len)
		return 0, false
	}
	if int64(off)%align != 0 {
		w.report("alignment", m.buf.Name, "a copy at byte %d of shared memory, which is no multiple of %d", off, align)
		return 0, false
	}
	return off, true
}

// copyThread is cp: every lane copies a few bytes; the rest of the fixed size is filled with zeros.
func (c *compiler) copyThread(s *simt.Copy) {
	from, ok1 := c.end(s, s.From)
	to, ok2 := c.end(s, s.To)
	if !ok1 || !ok2 {
		return
	}
	n, size := c.length(s), int64(s.Form.Bytes)
	c.emit(ir.CostShared, func(w *warp) {
		var offs [32]int64
		whole := offs[:0] // where lanes copy all that they can
		for m := w.mask; m != 0; m &= m - 1 {
			lane := lowest(m)
			k := n.of(w)[lane].Int()
			if k < 0 || k > size {
				w.report("bounds", to.buf.Name, "%s of %d bytes", s.Form.Name, k)
				continue
			}
			var src int64
			if k > 0 {
				var ok bool
				if src, ok = from.globalRun(w, lane, k); !ok {
					continue
				}
				if src%size != 0 {
					w.report("alignment", from.buf.Name, "%s from byte %d of %s", s.Form.Name, src, from.buf.Name)
					continue
				}
				if k == size {
					whole = append(whole, src)
				} else {
					w.traffic(from.global, k, false, src)
				}
			}
			dst, ok := to.sharedRun(w, lane, size, size)
			if !ok {
				continue
			}
			o := w.blk.run.issue(w.own(), w, 0)
			by := o.stamp()
			by.thread += uint16(lane)
			shared := &w.blk.shared
			shared.async(w, to.buf.Name, dst, int(size), by, true, true)
			o.start(w.blk.run, func() {
				clear(shared.data[dst : dst+int(size)])
				copy(shared.data[dst:], from.globalData(src, k))
			})
			w.async.cp.add(o, lane)
		}
		w.traffic(from.global, size, false, whole...)
	})
}

func (m *reference) globalData(off, n int64) []byte { return m.global.data[off : off+n] }

// bulkAlign is what bulk copies ask of addresses and lengths.
const bulkAlign = 16

// bulk emits a bulk copy, which move starts for a lane with its length in bytes.
func (c *compiler) bulk(s *simt.Copy, move func(w *warp, lane int, n int64)) {
	length := c.length(s)
	c.emit(ir.CostShared, func(w *warp) {
		for m := w.mask; m != 0; m &= m - 1 {
			lane := lowest(m)
			if n := length.of(w)[lane].Int(); w.bulkLength(s, n) {
				move(w, lane, n)
			}
		}
	})
}

func (w *warp) bulkLength(s *simt.Copy, n int64) bool {
	if n < 0 || n%bulkAlign != 0 {
		w.report("alignment", s.Form.Name, "%s of %d bytes, which is no multiple of %d", s.Form.Name, n, bulkAlign)
		return false
	}
	return true
}

// arrival is where a copy into shared memory goes: every receiving block with the barrier that counts its bytes.
func (c *compiler) arrival(s *simt.Copy) (done barRef, peers operand, ok bool) {
	if s.Done == nil || s.Done.Bar == nil || s.Done.Bar.Named {
		c.refuse("copy %s completes on no mbarrier", s.Form.Name)
		return
	}
	done = c.barRef(*s.Done)
	if s.Peers != nil {
		peers = c.expr(s.Peers)
	}
	return done, peers, c.problem == nil
}

// receivers calls f for each block that receives a copy and its barrier.
func (w *warp) receivers(done *barRef, peers *operand, multicast bool, lane int, f func(b *block, bar *barrier)) {
	if !multicast {
		if bar := done.of(w, lane); bar != nil {
			f(w.blk, bar)
		}
		return
	}
	mask := peers.of(w)[lane].Int()
	for rank, b := range w.blk.run.blocks {
		if mask>>rank&1 != 0 {
			if bar := done.in(w, b, lane); bar != nil {
				f(b, bar)
			}
		}
	}
	if mask>>len(w.blk.run.blocks) != 0 {
		w.report("bounds", "peers", "a copy to blocks %b of a cluster of %d", mask, len(w.blk.run.blocks))
	}
}

// send starts a copy into n bytes at off of a block's shared memory, which its barrier counts.
func (w *warp) send(b *block, bar *barrier, name string, off, n int, write func(dst []byte)) {
	o := w.blk.run.issue(bar.agent, w, int64(n))
	b.shared.async(w, name, off, n, o.stamp(), true, false)
	bar.ops = append(bar.ops, o)
	o.start(w.blk.run, func() {
		write(b.shared.data)
		bar.landed(o)
	})
}

func (c *compiler) bulkIn(s *simt.Copy) {
	from, ok1 := c.end(s, s.From)
	to, ok2 := c.end(s, s.To)
	done, peers, ok3 := c.arrival(s)
	if !ok1 || !ok2 || !ok3 {
		return
	}
	c.bulk(s, func(w *warp, lane int, n int64) {
		src, ok := from.globalRun(w, lane, n)
		if !ok {
			return
		}
		w.traffic(from.global, n, false, src)
		off, ok := to.sharedRun(w, lane, n, bulkAlign)
		if !ok {
			return
		}
		w.receivers(&done, &peers, s.Peers != nil, lane, func(b *block, bar *barrier) {
			w.send(b, bar, to.buf.Name, off, int(n), func(dst []byte) { copy(dst[off:], from.globalData(src, n)) })
		})
	})
}

func (c *compiler) bulkPeer(s *simt.Copy) {
	from, ok1 := c.end(s, s.From)
	to, ok2 := c.end(s, s.To)
	done, _, ok3 := c.arrival(s)
	if !ok1 || !ok2 || !ok3 {
		return
	}
	c.bulk(s, func(w *warp, lane int, n int64) {
		src, ok := from.sharedRun(w, lane, n, bulkAlign)
		if !ok {
			return
		}
		off, ok := to.sharedRun(w, lane, n, bulkAlign)
		if !ok {
			return
		}
		b := w.blk
		if to.remote {
			if b = w.peer(to.rank.of(w)[lane].Int()); b == nil {
				return
			}
		}
		bar := done.of(w, lane)
		if bar == nil {
			return
		}
		reads := stamp{clock: w.blk.run.agentTime[bar.agent], thread: uint16(32 * bar.agent), stmt: w.stmt()}
		w.blk.shared.async(w, from.buf.Name, src, int(n), reads, false, false)
		w.send(b, bar, to.buf.Name, off, int(n), func(dst []byte) { copy(dst[off:], w.blk.shared.data[src:src+int(n)]) })
	})
}

func (c *compiler) bulkOut(s *simt.Copy) {
	from, ok1 := c.end(s, s.From)
	to, ok2 := c.end(s, s.To)
	if !ok1 || !ok2 || !c.writable(to.global) {
		return
	}
	c.bulk(s, func(w *warp, lane int, n int64) {
		src, ok := from.sharedRun(w, lane, n, bulkAlign)
		if !ok {
			return
		}
		dst, ok := to.globalRun(w, lane, n)
		if !ok {
			return
		}
		w.traffic(to.global, n, true, dst)
		w.fetchOut(from.buf.Name, src, int(n), lane, func(data []byte) {
			combineBytes(s.Op, to.global.Type, to.globalData(dst, n), data[src:src+int(n)])
		})
	})
}

// fetchOut starts a copy out of n bytes at off of the block's shared memory, which joins the bulk queue of lane.
func (w *warp) fetchOut(name string, off, n, lane int, write func(data []byte)) {
	o := w.blk.run.issue(w.own(), w, 0)
	by := o.stamp()
	by.thread += uint16(lane)
	w.blk.shared.async(w, name, off, n, by, false, false)
	shared := &w.blk.shared
	o.start(w.blk.run, func() { write(shared.data) })
	w.async.bulk.add(o, lane)
}

func (c *compiler) writable(g *globalMemory) bool {
	if g.Role == simt.Param {
		c.refuse("parameter %s is written", g.Name)
		return false
	}
	return true
}

// combineBytes writes src to dst, element by element through op if there is one.
func combineBytes(op *ir.Monoid, t ir.Type, dst, src []byte) {
	if op == nil {
		copy(dst, src)
		return
	}
	f, types := formatOf(t), []ir.Type{t, t}
	for i := 0; i+t.Bytes() <= len(src); i += t.Bytes() {
		v, _ := ir.EvalOp(op.Op, t, types, []ir.Const{f.read(dst[i:]), f.read(src[i:])})
		f.write(dst[i:], v)
	}
}
