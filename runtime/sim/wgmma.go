package sim

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// descriptor is a decoded description of a tile in shared memory: where it begins, and how far its parts lie apart.
type descriptor struct {
	start            int // byte address
	leading, strided int // bytes
	span             int // of the swizzle; 0: none
}

func decode(bits uint64) descriptor {
	d := descriptor{start: int(bits&0x3FFF) << 4, leading: int(bits>>16&0x3FFF) << 4, strided: int(bits>>32&0x3FFF) << 4}
	d.span = [...]int{0, 128, 64, 32}[bits>>62]
	return d
}

// piece is the address of the 16 bytes that begin at line i (a row of A, a column of B) and byte b of k; transposed, at k = i and
// byte b along the line's axis.
func (d *descriptor) piece(i, b int, trans bool) int {
	switch {
	case d.span == 0 && trans:
		return d.start + b/16*d.strided + i/8*d.leading + i%8*16
	case d.span == 0:
		return d.start + i/8*d.strided + i%8*16 + b/16*d.leading
	case trans:
		return swizzled(d.start+b/d.span*d.leading+i/8*d.strided+i%8*d.span+b%d.span, d.span)
	}
	return swizzled(d.start+i/8*d.strided+i%8*d.span+b, d.span)
}

// pieces calls f with every 16-byte piece of lines first..first+n of a tile: its address, and the line and k of its first element.
func (d *descriptor) pieces(first, n, k, size int, trans bool, f func(addr, line, k int)) {
	each := 16 / size
	if !trans {
		for line := first; line < first+n; line++ {
			for j := 0; j < k; j += each {
				f(d.piece(line, j*size, false), line, j)
			}
		}
		return
	}
	for j := range k {
		for line := first; line < first+n; line += each {
			f(d.piece(j, line*size, true), line, j)
		}
	}
}

// source is an operand of a warp group's operation: registers, or a tile in shared memory.
type source struct {
	regs  registers
	desc  operand
	smem  bool
	name  string
	first func(w *warp) int // the warp's first line
	lines int
	trans bool
	elem  element
}

// groupMma compiles an operation of a warp group. Each of its warps computes its own rows: 16 of 64.
func (c *compiler) groupMma(s *simt.Mma, d registers, acc operand) {
	a, shape := s.Atom, shapeOf(s.Atom)
	x, ok1 := c.source(s.A, a.ARegs(), a.A, "A")
	y, ok2 := c.source(s.B, 0, a.B, "B")
	if !ok1 || !ok2 {
		return
	}
	if d.mark < 0 || !x.smem && x.regs.mark < 0 {
		c.refuse("%s takes registers from arrays that are declared without a value", a.Name)
		return
	}
	x.lines, x.trans, x.elem = shape.rows, a.TransA, shape.elemA
	y.lines, y.trans, y.elem = a.N, a.TransB, shape.elemB
	x.first = func(w *warp) int { return w.id % a.Warps * shape.rows }
	y.first = func(*warp) int { return 0 }
	c.emit(ir.CostShared, func(w *warp) {
		w.wholeWarp(a.Name)
		o := w.blk.run.issue(w.own(), w, 0)
		descA, descB := x.decoded(w), y.decoded(w)
		if !x.watch(w, o, &descA, a.K) || !y.watch(w, o, &descB, a.K) {
			return
		}
		adds := acc.of(w)[lowest(w.mask)].Bool()
		w.takeOff(s, o, d, x.regs, x.smem, adds)
		o.apply = func() {
			u := &w.blk.run.unit
			u.resize(shape, a)
			if x.smem {
				x.read(w, u.a, &descA, a.K)
			} else {
				shape.readA(w, u, x.regs)
			}
			y.read(w, u.b, &descB, a.K)
			shape.multiply(w, u, d, adds)
		}
		w.async.wgmma.add(o, 0)
		if w.blk.run.early() {
			for _, older := range w.async.wgmma.ops { // the unit works in order
				older.finish()
			}
		}
	})
}

func (c *compiler) source(o simt.Operand, n int, t ir.Type, what string) (*source, bool) {
	if o.Slice != nil {
		if n == 0 {
			c.refuse("operand %s has to be in shared memory", what)
			return nil, false
		}
		r, ok := c.matrixRegs(*o.Slice, n, t, what, unitUses)
		return &source{regs: r, name: o.Slice.Reg.Name}, ok
	}
	if o.Desc == nil {
		c.refuse("operand %s is missing", what)
		return nil, false
	}
	s := &source{desc: c.expr(o.Desc), smem: true, name: "operand " + what}
	if o.Of != nil {
		s.name = o.Of.Buf.Name
	}
	return s, c.problem == nil
}

func (s *source) decoded(w *warp) descriptor {
	if !s.smem {
		return descriptor{}
	}
	return decode(s.desc.of(w)[lowest(w.mask)].Bits)
}

// watch notes what the operation will read of shared memory.
func (s *source) watch(w *warp, o *op, d *descriptor, k int) bool {
	if !s.smem {
		return true
	}
	sh, ok := &w.blk.shared, true
	by := o.stamp()
	d.pieces(s.first(w), s.lines, k, s.elem.bytes, s.trans, func(addr, _, _ int) {
		if addr+16 > len(sh.data) {
			if ok {
				w.report("bounds", s.name, "a matrix operand (%s) reaches byte %d of shared memory, which has %d", s.name, addr+16, len(sh.data))
			}
			ok = false
			return
		}
		sh.async(w, s.name, addr, 16, by, false, false)
	})
	return ok
}

// read decodes the warp's lines of a tile.
func (s *source) read(w *warp, to []float64, d *descriptor, k int) {
	data, first := w.blk.shared.data, s.first(w)
	each := 16 / s.elem.bytes
	d.pieces(first, s.lines, k, s.elem.bytes, s.trans, func(addr, line, j int) {
		at, step := (line-first)*k+j, 1
		if s.trans {
			step = k
		}
		for e := range each {
			to[at] = s.elem.value(data[addr+e*s.elem.bytes:])
			at += step
		}
	})
}

// takeOff marks the registers of an operation that is in flight, and reports those that ordinary code has written without a fence.
func (w *warp) takeOff(s *simt.Mma, o *op, d, a registers, aInMemory, adds bool) {
	if adds {
		w.expectAll(s.D.Reg, d)
	}
	if !aInMemory {
		w.expectAll(s.A.Slice.Reg, a)
	}
	held := make([]int, 0, d.n+a.n)
	dirty := false
	for k := range d.n {
		f := &w.async.flight[d.mark+k]
		dirty = dirty || f.dirty
		f.writers++
		held = append(held, d.mark+k)
	}
	if !aInMemory {
		for k := range a.n {
			f := &w.async.flight[a.mark+k]
			dirty = dirty || f.dirty
			f.readers++
			held = append(held, ^(a.mark + k))
			if f.writers > 0 {
				w.report("async", s.A.Slice.Reg.Name, "register %s is read by a matrix operation while another writes it", s.A.Slice.Reg.Name)
			}
		}
	}
	if dirty {
		w.report("async", s.D.Reg.Name, "%s without a fence wgmma behind ordinary writes of its registers", s.Atom.Name)
	}
	w.async.held[o] = held
	for k := range d.n { // set once it has landed; until then the flight state guards it
		w.marks[d.mark+k] |= w.mask
	}
}

// land gives back the registers of an operation that is done.
func (w *warp) land(o *op) {
	for _, k := range w.async.held[o] {
		if k >= 0 {
			w.async.flight[k].writers--
		} else {
			w.async.flight[^k].readers--
		}
	}
	delete(w.async.held, o)
}
