package sim

import (
	"encoding/binary"
	"math"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// registers are the places of a slice: consecutive slots from slot on.
type registers struct {
	slot, mark int // mark is -1 where initialisation is not tracked
	n          int
	t          ir.Type
}

// target is where a load or a matrix operation writes.
func (c *compiler) targetOf(s simt.Slice) (registers, bool) {
	return c.slice(s, isSet)
}

// use says what an operation does with registers.
type use uint8

const (
	isRead   use = iota
	isSet        // by ordinary code
	unitUses     // by the matrix unit, which has checks of its own
)

func (c *compiler) slice(s simt.Slice, u use) (registers, bool) {
	b, ok := c.regs[s.Reg]
	if !ok || b.con != nil {
		c.refuse("register %s is not declared as one that changes", s.Reg.Name)
		return registers{}, false
	}
	from := 0
	if s.From != nil {
		x := c.expr(s.From)
		k, known := x.constant()
		if !known {
			c.refuse("subscript of %s is not known before the run; the loop that counts it has to be unrolled", s.Reg.Name)
			return registers{}, false
		}
		from = int(k.Int())
	}
	n := max(1, s.Len)
	if from < 0 || from+n > max(1, s.Reg.Len) {
		c.refuse("registers %d..%d of %s are outside 0..%d", from, from+n, s.Reg.Name, max(1, s.Reg.Len))
		return registers{}, false
	}
	r := registers{slot: b.slot + from, mark: -1, n: n, t: s.Reg.Type}
	if b.mark >= 0 {
		r.mark = b.mark + from
		switch u {
		case isSet:
			c.landing(s.Reg, b, from, n, true)
		case isRead:
			for k := range n {
				c.expectSet(s.Reg, b, from+k)
			}
		}
	}
	return r, true
}

// assigned notes that the active lanes have set the registers.
func (r *registers) assigned(w *warp) {
	if r.mark < 0 {
		return
	}
	for k := range r.n {
		w.marks[r.mark+k] |= w.mask
	}
}

const maxAccess = 64 // bytes that a lane moves at once

// reference is the memory side of an access.
type reference struct {
	at, rank operand
	remote   bool
	buf      *simt.Buffer
	global   *globalMemory // nil: shared
	size     int           // bytes of a lane's access
	elems    int           // elements of the buffer that it covers
}

// refer compiles a place in memory for accesses of n values of type t a lane.
func (c *compiler) refer(m simt.Mem, t ir.Type, n int) (reference, bool) {
	r := reference{buf: m.Buf, at: c.expr(m.At), size: n * t.Bytes()}
	switch {
	case r.size%m.Buf.Type.Bytes() != 0:
		c.refuse("a value of %s is moved to or from %s, which holds %s", t, m.Buf.Name, m.Buf.Type)
		return r, false
	case r.size > maxAccess:
		c.refuse("an access of %d bytes a thread", r.size)
		return r, false
	}
	if r.elems = r.size / m.Buf.Type.Bytes(); r.elems > 1 && r.size&(r.size-1) != 0 {
		c.refuse("an access of %d bytes, which is no power of two", r.size)
		return r, false
	}
	if m.Buf.Space == simt.Global {
		if r.global = c.l.memory[m.Buf.Array]; r.global == nil {
			c.refuse("buffer %s is bound to no array of the module", m.Buf.Name)
			return r, false
		}
	}
	if m.Rank != nil {
		r.rank, r.remote = c.expr(m.Rank), true
	}
	return r, c.problem == nil
}

func (c *compiler) load(s *simt.Load) {
	if s.Form == simt.Matrix || s.Form == simt.MatrixTrans {
		c.loadMatrix(s)
		return
	}
	to, ok := c.targetOf(s.To)
	if !ok {
		return
	}
	m, ok := c.refer(s.From, to.t, to.n)
	if !ok {
		return
	}
	f, each := formatOf(to.t), to.t.Bytes()
	if m.global != nil {
		c.emit(ir.CostShared, func(w *warp) {
			offs, lanes := m.reachGlobal(w, false)
			for k := range to.n {
				fetch(f, m.global.data[k*each:], offs, lanes, &w.r[to.slot+k])
			}
			to.assigned(w)
		})
		return
	}
	c.emit(ir.CostShared, func(w *warp) {
		m.eachShared(w, func(b *block, lane, off int) {
			b.shared.see(w, m.buf, lane, off, m.size)
			for k := range to.n {
				w.r[to.slot+k][lane] = f.read(b.shared.data[off+k*each:])
			}
		})
		to.assigned(w)
	})
}

// reachGlobal checks the active lanes' accesses to global memory and counts their traffic. It returns the byte offsets of the lanes
// that may go on.
func (m *reference) reachGlobal(w *warp, write bool) (offs *[32]int64, lanes uint32) {
	g, at, run := m.global, m.at.of(w), w.blk.run
	offs = &run.offs
	list := run.list[:0]
	for x := w.mask; x != 0; x &= x - 1 {
		i := lowest(x)
		e := at[i].Int()
		if uint64(e) > uint64(g.n-m.elems) || g.n < m.elems {
			m.outside(w, i, e, g.n, write)
			continue
		}
		off := e * int64(g.size)
		if off&int64(m.size-1) != 0 && m.elems > 1 {
			w.report("alignment", g.Name, "thread %d accesses %d bytes at byte %d of %s", w.thread(i), m.size, off, g.Name)
			continue
		}
		offs[i] = off
		list = append(list, off)
		lanes |= 1 << i
	}
	n := &run.count
	touched := run.touched(g, write)
	if write {
		n.storeSectors += int64(sectors(list, int64(m.size), touched))
		n.storeBytes += int64(len(list) * m.size)
	} else {
		n.loadSectors += int64(sectors(list, int64(m.size), touched))
		n.loadBytes += int64(len(list) * m.size)
	}
	if !write && (g.born != nil || g.read != nil) {
		for x := lanes; x != 0; x &= x - 1 {
			i := lowest(x)
			for k := range m.elems {
				g.see(w, i, int(offs[i])/g.size+k)
			}
		}
	}
	return offs, lanes
}

func (m *reference) outside(w *warp, lane int, e int64, n int, write bool) {
	does := "reads"
	if write {
		does = "writes"
	}
	w.report("bounds", m.buf.Name, "thread %d %s element %d of %s, which has %d", w.thread(lane), does, e, m.buf.Name, n)
}

// fetch reads a value of format f for every lane.
func fetch(f format, data []byte, offs *[32]int64, lanes uint32, d *vec) {
	switch f {
	case fmtF32:
		for ; lanes != 0; lanes &= lanes - 1 {
			i := lowest(lanes)
			d[i] = asF64(float64(math.Float32frombits(binary.LittleEndian.Uint32(data[offs[i]:]))))
		}
	case fmtInt32:
		for ; lanes != 0; lanes &= lanes - 1 {
			i := lowest(lanes)
			d[i] = asInt(int64(int32(binary.LittleEndian.Uint32(data[offs[i]:]))))
		}
	default:
		for ; lanes != 0; lanes &= lanes - 1 {
			i := lowest(lanes)
			d[i] = f.read(data[offs[i]:])
		}
	}
}

// eachShared calls f for every active lane with the block whose shared memory it accesses and the offset there, if that is allowed,
// and counts wavefronts.
func (m *reference) eachShared(w *warp, f func(b *block, lane, off int)) {
	at, run := m.at.of(w), w.blk.run
	list := run.words[:0]
	for x := w.mask; x != 0; x &= x - 1 {
		i := lowest(x)
		off, ok := pointer(m.buf, at[i].Int(), m.size)
		if !ok {
			w.report("bounds", m.buf.Name, "thread %d accesses element %d of %s in shared memory, which has %d", w.thread(i), at[i].Int(), m.buf.Name, m.buf.Len)
			continue
		}
		if off&(m.size-1) != 0 && m.elems > 1 {
			w.report("alignment", m.buf.Name, "thread %d accesses %d bytes at byte %d of shared memory", w.thread(i), m.size, off)
			continue
		}
		b := w.blk
		if m.remote {
			if b = w.peer(m.rank.of(w)[i].Int()); b == nil {
				continue
			}
		}
		list = append(list, int32(off))
		f(b, i, off)
	}
	n := bankWavefronts(list, m.size)
	run.count.wavefronts += int64(n)
	run.count.conflicts += int64(n - bankMinimum(len(list), m.size))
}

func bankMinimum(lanes, size int) int {
	each := 32 * 4 / max(4, size)
	return (lanes + each - 1) / each
}

// peer is a block of the cluster.
func (w *warp) peer(rank int64) *block {
	if rank < 0 || rank >= int64(len(w.blk.run.blocks)) {
		w.report("bounds", "rank", "block %d of a cluster of %d", rank, len(w.blk.run.blocks))
		return nil
	}
	return w.blk.run.blocks[rank]
}

func (c *compiler) store(s *simt.Store) {
	if s.Form == simt.Matrix || s.Form == simt.MatrixTrans {
		c.storeMatrix(s)
		return
	}
	if len(s.From) == 0 {
		c.refuse("a store of nothing")
		return
	}
	from := make([]operand, len(s.From))
	t := s.From[0].Type
	for k, e := range s.From {
		if from[k] = c.expr(e); e.Type != t {
			c.refuse("a store of values of different types %s and %s", t, e.Type)
		}
	}
	m, ok := c.refer(s.To, t, len(from))
	if !ok {
		return
	}
	if m.global != nil && m.global.Role == simt.Param {
		c.refuse("parameter %s is written", m.global.Name)
		return
	}
	if s.Op != nil {
		c.combine(s, m, t, from)
		return
	}
	f, each := formatOf(t), t.Bytes()
	if m.global != nil {
		c.emit(ir.CostShared, func(w *warp) {
			offs, lanes := m.reachGlobal(w, true)
			m.markGlobal(w, offs, lanes, f, from)
			for k := range from {
				deposit(f, m.global.data[k*each:], offs, lanes, from[k].of(w))
			}
		})
		return
	}
	c.emit(ir.CostShared, func(w *warp) {
		m.eachShared(w, func(b *block, lane, off int) {
			if !w.sameAgain(b, f, off, lane, from) {
				b.shared.mark(w, m.buf, lane, off, m.size, false)
			}
			for k := range from {
				f.write(b.shared.data[off+k*each:], from[k].of(w)[lane])
			}
		})
	})
}

// sameAgain reports whether another lane has just written the same value there with the same instruction, which is harmless.
func (w *warp) sameAgain(b *block, f format, off, lane int, from []operand) bool {
	last := &b.shared.cells[off/b.shared.unit].write
	other := int(last.thread & 31)
	if last.clock != w.now() || int(last.thread>>5) != w.agent() || last.stmt != w.stmt() || last.atomic || other >= lane || w.mask>>other&1 == 0 {
		return false
	}
	for k := range from {
		if v := from[k].of(w); v[other] != v[lane] {
			return false
		}
	}
	return true
}

// markGlobal notes the lanes' writes. Lanes that write the same value to the same place with one instruction do no harm: only the
// first of them counts.
func (m *reference) markGlobal(w *warp, offs *[32]int64, lanes uint32, f format, from []operand) {
	g := m.global
	for x := lanes; x != 0; x &= x - 1 {
		i := lowest(x)
		if p := i - 1; p >= 0 && lanes>>p&1 != 0 && offs[p] == offs[i] && sameValues(w, from, p, i) {
			continue
		}
		for k := range m.elems {
			g.mark(w, i, int(offs[i])/g.size+k, false)
		}
	}
}

func sameValues(w *warp, from []operand, a, b int) bool {
	for k := range from {
		if v := from[k].of(w); v[a] != v[b] {
			return false
		}
	}
	return true
}

// deposit writes a value of format f for every lane; of several at one place the last lane's stays.
func deposit(f format, data []byte, offs *[32]int64, lanes uint32, x *vec) {
	if f == fmtF32 {
		for ; lanes != 0; lanes &= lanes - 1 {
			i := lowest(lanes)
			binary.LittleEndian.PutUint32(data[offs[i]:], bitsF32(num(x[i])))
		}
		return
	}
	for ; lanes != 0; lanes &= lanes - 1 {
		i := lowest(lanes)
		f.write(data[offs[i]:], x[i])
	}
}

// combine is an atomic operation: the lanes take their turns.
func (c *compiler) combine(s *simt.Store, m reference, t ir.Type, from []operand) {
	old := registers{mark: -1}
	if s.Old != nil {
		var ok bool
		if old, ok = c.targetOf(simt.Slice{Reg: s.Old, Len: 1}); !ok {
			return
		}
	}
	if old.n > 0 && len(from) > 1 {
		c.refuse("an atomic operation on a vector gives no old value")
		return
	}
	f, each := formatOf(t), t.Bytes()
	types := []ir.Type{t, t}
	turn := func(w *warp, data []byte, lane int) {
		for k := range from {
			was := f.read(data[k*each:])
			if old.n > 0 {
				w.r[old.slot][lane] = was
			}
			now, _ := simt.Eval(s.Op.Op, t, types, []ir.Const{was, from[k].of(w)[lane]})
			f.write(data[k*each:], now)
		}
	}
	c.emit(ir.CostShared, func(w *warp) {
		w.blk.run.count.atomics += int64(w.active)
		if m.global == nil {
			m.eachShared(w, func(b *block, lane, off int) {
				b.shared.mark(w, m.buf, lane, off, m.size, true)
				turn(w, b.shared.data[off:], lane)
			})
		} else {
			offs, lanes := m.reachGlobal(w, true)
			for x := lanes; x != 0; x &= x - 1 {
				i := lowest(x)
				m.markAtomic(w, i, int(offs[i])/m.global.size)
				turn(w, m.global.data[offs[i]:], i)
			}
		}
		old.assigned(w)
	})
}

func (m *reference) markAtomic(w *warp, lane, e int) {
	for k := range m.elems {
		if born := m.global.born; born != nil && born[e+k] == 0 {
			w.report("uninitialised", m.global.Name, "%s is combined with before anybody wrote it", m.global.element(e+k))
		}
		m.global.mark(w, lane, e+k, true)
	}
}
