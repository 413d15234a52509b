package sim

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// blockRow is the length of a row of the 8x8 blocks of 16-bit elements that matrix loads and stores move.
const blockRow = 16

// matrixRows is the offset of every row of n blocks: lane 8i+r points at row r of block i.
func (m *reference) matrixRows(w *warp, n int) (rows [32]int, ok bool) {
	at, list := m.at.of(w), w.blk.run.words[:0]
	for i := range 8 * n {
		off, inside := pointer(m.buf, at[i].Int(), blockRow)
		switch {
		case !inside:
			w.report("bounds", m.buf.Name, "thread %d points a matrix access at element %d of %s, which has %d", w.thread(i), at[i].Int(), m.buf.Name, m.buf.Len)
			return rows, false
		case off%blockRow != 0:
			w.report("alignment", m.buf.Name, "thread %d points a matrix access at byte %d of shared memory", w.thread(i), off)
			return rows, false
		}
		rows[i] = off
		list = append(list, int32(off))
	}
	passes := 0
	for i := 0; i < len(list); i += 8 {
		passes += bankPass(list[i:i+8], blockRow)
	}
	w.blk.run.count.wavefronts += int64(passes)
	w.blk.run.count.conflicts += int64(passes - n)
	return rows, true
}

func (c *compiler) matrix(mem simt.Mem, n int) (reference, bool) {
	m := reference{buf: mem.Buf, at: c.expr(mem.At)}
	switch {
	case mem.Buf.Space != simt.Shared || mem.Rank != nil:
		c.refuse("a matrix access to something that is not the block's shared memory")
	case n != 1 && n != 2 && n != 4:
		c.refuse("a matrix access of %d blocks", n)
	}
	return m, c.problem == nil
}

func (w *warp) wholeWarp(what string) {
	if w.mask != w.lanes || w.lanes != ^uint32(0) {
		w.report("warp", what, "%s while not all lanes of %s are active", what, w.name())
	}
}

// loadMatrix gives lane l elements 2(l%4) and 2(l%4)+1 of row l/4 of each block; transposed, of column l/4.
func (c *compiler) loadMatrix(s *simt.Load) {
	to, ok := c.slice(s.To, isSet)
	if !ok {
		return
	}
	m, ok := c.matrix(s.From, to.n)
	if !ok {
		return
	}
	trans, form := s.Form == simt.MatrixTrans, formatOf(to.t)
	c.emit(ir.CostShared, func(w *warp) {
		w.wholeWarp("a matrix load")
		rows, ok := m.matrixRows(w, to.n)
		if !ok {
			return
		}
		sh := &w.blk.shared
		for i := range 8 * to.n {
			sh.see(w, m.buf, i, rows[i], blockRow)
		}
		for k := range to.n {
			for lane := range 32 {
				lo, hi := blockPlaces(lane, trans)
				var word [4]byte
				copy(word[:2], sh.data[rows[8*k+lo.row]+2*lo.col:])
				copy(word[2:], sh.data[rows[8*k+hi.row]+2*hi.col:])
				w.r[to.slot+k][lane] = form.read(word[:])
			}
		}
		to.assigned(w)
	})
}

type blockPlace struct{ row, col int }

// blockPlaces is where the two elements of a lane's register stand in its block.
func blockPlaces(lane int, trans bool) (lo, hi blockPlace) {
	major, minor := lane>>2, 2*(lane&3)
	if trans {
		return blockPlace{minor, major}, blockPlace{minor + 1, major}
	}
	return blockPlace{major, minor}, blockPlace{major, minor + 1}
}

func (c *compiler) storeMatrix(s *simt.Store) {
	n := len(s.From)
	m, ok := c.matrix(s.To, n)
	if !ok || s.Op != nil {
		c.refuse("a matrix store that combines")
		return
	}
	from := make([]operand, n)
	for k, e := range s.From {
		from[k] = c.expr(e)
	}
	trans, form := s.Form == simt.MatrixTrans, formatOf(s.From[0].Type)
	c.emit(ir.CostShared, func(w *warp) {
		w.wholeWarp("a matrix store")
		rows, ok := m.matrixRows(w, n)
		if !ok {
			return
		}
		sh := &w.blk.shared
		for i := range 8 * n {
			sh.mark(w, m.buf, i, rows[i], blockRow, false)
		}
		for k := range n {
			for lane, x := range from[k].of(w) {
				lo, hi := blockPlaces(lane, trans)
				var word [4]byte
				form.write(word[:], x)
				copy(sh.data[rows[8*k+lo.row]+2*lo.col:], word[:2])
				copy(sh.data[rows[8*k+hi.row]+2*hi.col:], word[2:])
			}
		}
	})
}
