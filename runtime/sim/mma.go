package sim

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// The matrix unit: products are exact, a row of A times a column of B is summed in float64 in the order of k, added to the element
// of D, and rounded once an operation to the type of D. Devices round a little differently and in no order that anybody documents.

// mma compiles a matrix operation.
func (c *compiler) mma(s *simt.Mma) {
	a := s.Atom
	d, ok := c.matrixRegs(s.D, a.DRegs(), a.D, "D", unitUses)
	if !ok {
		return
	}
	acc := c.constant(ir.BoolConst(true))
	if s.Acc != nil {
		acc = c.expr(s.Acc)
	}
	if a.Async {
		c.groupMma(s, d, acc)
		return
	}
	if s.A.Slice == nil || s.B.Slice == nil {
		c.refuse("%s takes its operands from registers", a.Name)
		return
	}
	ra, ok1 := c.matrixRegs(*s.A.Slice, a.ARegs(), a.A, "A", isRead)
	rb, ok2 := c.matrixRegs(*s.B.Slice, a.BRegs(), a.B, "B", isRead)
	if !ok1 || !ok2 {
		return
	}
	shape := shapeOf(a)
	c.emit(ir.CostShared, func(w *warp) {
		w.wholeWarp(a.Name)
		adds := acc.of(w)[lowest(w.mask)].Bool()
		if adds {
			w.expectAll(s.D.Reg, d)
		}
		u := &w.blk.run.unit
		u.resize(shape, a)
		shape.readA(w, u, ra)
		shape.readB(w, u, rb)
		shape.multiply(w, u, d, adds)
	})
}

// expectAll reports registers of a slice that the active lanes have not set.
func (w *warp) expectAll(reg *simt.Reg, r registers) {
	for k := 0; k < r.n && r.mark >= 0; k++ {
		if w.mask&^w.marks[r.mark+k] != 0 {
			w.report("uninitialised", reg.Name, "registers of %s are used by a matrix operation before they are set", reg.Name)
			return
		}
	}
}

// shape is an atom as one warp sees it: its rows of D and A, which are all of them or 16 of 64, and all of B.
type shape struct {
	*simt.Atom
	rows    int
	d, a, b [32][]spot // of each element that a lane holds
	elemA   element
	elemB   element
}

// spot is the place of an element in a matrix: row and column of D, row and k of A, column and k of B.
type spot struct{ x, y int32 }

func shapeOf(a *simt.Atom) *shape {
	s := &shape{Atom: a, rows: a.M / a.Warps, elemA: elementOf(a.A, a.Tf32), elemB: elementOf(a.B, a.Tf32)}
	for lane := range 32 {
		for i := range a.DRegs() * simt.ElemsPerReg(a.D) {
			row, col := a.DAt(lane, i)
			s.d[lane] = append(s.d[lane], spot{int32(row), int32(col)})
		}
		for i := range a.ARegs() * simt.ElemsPerReg(a.A) {
			row, k := a.AAt(lane, i)
			s.a[lane] = append(s.a[lane], spot{int32(row), int32(k)})
		}
		for i := range a.BRegs() * simt.ElemsPerReg(a.B) {
			k, col := a.BAt(lane, i)
			s.b[lane] = append(s.b[lane], spot{int32(col), int32(k)})
		}
	}
	return s
}

// unit holds the operands of the operation that is being computed: rows of A and columns of B, each with its k side by side.
type unit struct{ a, b []float64 }

func (u *unit) resize(s *shape, a *simt.Atom) {
	u.a = slices.Grow(u.a[:0], s.rows*a.K)[:s.rows*a.K]
	u.b = slices.Grow(u.b[:0], a.N*a.K)[:a.N*a.K]
}

// element reads the elements of operands: from a register, or from memory.
type element struct {
	f     format
	bytes int
	pack  int
	tf32  bool
}

func elementOf(t ir.Type, tf32 bool) element {
	one := ir.Type{Elem: t.Elem, Pack: 1}
	return element{f: formatOf(one), bytes: one.Bytes(), pack: int(t.Pack), tf32: tf32}
}

func (e *element) value(b []byte) float64 {
	c := e.f.read(b)
	switch {
	case e.f < fmtF64: // an integer
		return float64(c.Int())
	case e.tf32:
		return float64(math.Float32frombits(math.Float32bits(float32(num(c))) &^ 0x1FFF))
	}
	return num(c)
}

// inRegister is element i of a register.
func (e *element) inRegister(c ir.Const, i int) float64 {
	if e.pack == 1 {
		if e.tf32 {
			return float64(math.Float32frombits(math.Float32bits(float32(num(c))) &^ 0x1FFF))
		}
		return num(c)
	}
	var word [4]byte
	binary.LittleEndian.PutUint32(word[:], uint32(c.Bits))
	return e.value(word[i*e.bytes:])
}

func (s *shape) readA(w *warp, u *unit, r registers) {
	for lane, list := range &s.a {
		for i, p := range list {
			u.a[int(p.x)*s.K+int(p.y)] = s.elemA.inRegister(w.r[r.slot+i/s.elemA.pack][lane], i%s.elemA.pack)
		}
	}
}

func (s *shape) readB(w *warp, u *unit, r registers) {
	for lane, list := range &s.b {
		for i, p := range list {
			u.b[int(p.x)*s.K+int(p.y)] = s.elemB.inRegister(w.r[r.slot+i/s.elemB.pack][lane], i%s.elemB.pack)
		}
	}
}

// multiply computes the elements of D that the warp's lanes hold.
func (s *shape) multiply(w *warp, u *unit, d registers, acc bool) {
	n := &w.blk.run.count
	n.mma++
	n.mmaFlops += 2 * int64(s.rows) * int64(s.N) * int64(s.K)
	pack := simt.ElemsPerReg(s.D)
	for lane, list := range &s.d {
		for i, p := range list {
			row, col := u.a[int(p.x)*s.K:][:s.K], u.b[int(p.y)*s.K:][:s.K]
			sum := 0.0
			for k, x := range row {
				sum += x * col[k]
			}
			s.accumulate(&w.r[d.slot+i/pack][lane], i%pack, sum, acc)
		}
	}
	d.assigned(w)
}

// accumulate adds a sum to element i of a register of D, or puts it there.
func (s *shape) accumulate(c *ir.Const, i int, sum float64, acc bool) {
	switch s.D {
	case ir.I32:
		x := int64(sum)
		if acc {
			x += c.Int()
		}
		*c = asInt(int64(int32(x)))
		return
	case ir.F32, ir.F64:
		if acc {
			sum += num(*c)
		}
		if *c = asF64(sum); s.D == ir.F32 {
			*c = asF32(sum)
		}
		return
	}
	if acc {
		sum += num(halves()[uint16(c.Bits>>(16*i))])
	}
	bits := uint64(bitsF16(ir.RoundTo(ir.F16.Elem, sum)))
	*c = ir.Const{Bits: c.Bits&^(0xFFFF<<(16*i)) | bits<<(16*i)}
}

// matrixRegs is the registers of an operand, which have to be as many and of the type that the atom says.
func (c *compiler) matrixRegs(s simt.Slice, n int, t ir.Type, what string, use use) (registers, bool) {
	r, ok := c.slice(s, use)
	if ok && (r.n != n || r.t != t) {
		c.refuse("operand %s has %d registers of %s; the operation takes %d of %s", what, r.n, r.t, n, t)
		return r, false
	}
	return r, ok
}
