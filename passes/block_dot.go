package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

// dot lowers a product of tiles in shared memory, added to registers.
func (b *block) dot(s *tile.Dot) {
	if d := b.newDot(s); d.atom != nil {
		d.multiplyMatrices()
	} else {
		d.multiplyAdd()
	}
}

func (b *block) newDot(s *tile.Dot) *dotMaker {
	f := dotFormOf(s, b.in)
	switch {
	case f == nil:
		b.unsupported("the dot %s is no product of two matrices with sizes that are powers of two", s.Out.Name)
	case s.A.Space != tile.Shared || s.B.Space != tile.Shared:
		b.unsupported("the operands of the dot %s are not in shared memory", s.Out.Name)
	case !sameLayout(b.layoutOf(s.Out), dotLayout(s, b.in)):
		b.unsupported("the result of the dot %s has another layout than the dot gives it", s.Out.Name)
	}
	d := &dotMaker{block: b, dotForm: f, dot: s, acc: b.into(s)}
	d.a, d.b = d.read(s.A), d.read(s.B)
	return d
}

// computedIn is the type in which arithmetic on elements of a type happens.
func computedIn(t ir.Type) ir.Type { return ir.Type{Elem: t.Elem.Computed(), Pack: 1} }

// dotMaker writes a dot out.
type dotMaker struct {
	*block
	*dotForm
	dot  *tile.Dot
	acc  *simt.Reg
	a, b *operandReader
}

// operandReader reads the pieces of an operand.
type operandReader struct {
	*operandForm
	value *tile.Value
	tile  *sharedTile
	at    func(reg int) *ir.Expr
}

func (d *dotMaker) read(v *tile.Value) *operandReader {
	o := &operandReader{operandForm: d.operand(d.dot, v), value: v, tile: d.sharedTile(v)}
	o.at = d.addresses(o.tile, o.layout)
	return o
}

// load reads n registers from reg on into element to of an array.
func (o *operandReader) load(b *block, array *simt.Reg, to, reg, n int) {
	for i := 0; i < n; i += o.run {
		b.add(&simt.Load{Head: simt.Head{}, To: simt.Slice{Reg: array, From: number(to + i), Len: min(o.run, n)},
			From: simt.Mem{Buf: o.tile.buf, At: o.at(reg + i)}, Form: formFor(min(o.run, n))})
	}
}

// multiplyMatrices does the matrix operations, step by step along k: first all fragments of a step, then its products.
func (d *dotMaker) multiplyMatrices() {
	for step := range d.stepsK() {
		part := d.newFragments()
		d.loadFragments(part, step)
		d.multiplyFragments(part)
	}
}

// stepsK is the number of steps along k.
func (d *dotMaker) stepsK() int { return d.sizeK / d.atom.K }

// fragments are what the operations of a step take, in registers.
type fragments struct{ a, b *simt.Reg }

func (d *dotMaker) newFragments() fragments {
	array := func(o *operandReader, t ir.Type, words int) *simt.Reg {
		r := &simt.Reg{Name: d.fresh(o.value.Name + ".part"), Type: t, Len: words, Mutable: true}
		d.add(&simt.Let{Reg: r})
		return r
	}
	x := d.atom
	return fragments{array(d.a, x.A, d.part(d.m)/x.M*x.ARegs()), array(d.b, x.B, d.part(d.n)/x.N*x.BRegs())}
}

func (d *dotMaker) loadFragments(f fragments, step int) {
	d.loadFragment(d.a, f.a, step)
	d.loadFragment(d.b, f.b, step)
}

func (d *dotMaker) multiplyFragments(f fragments) {
	x := d.atom
	perA, perB := x.ARegs(), x.BRegs()
	countM, countN := d.part(d.m)/x.M, d.part(d.n)/x.N
	for i := range countM {
		for j := range countN {
			d.add(&simt.Mma{Head: simt.Head{Pos: d.dot.Pos}, Atom: x, Acc: ir.True,
				D: simt.Slice{Reg: d.acc, From: number((i*countN + j) * x.DRegs()), Len: x.DRegs()},
				A: simt.Operand{Slice: &simt.Slice{Reg: f.a, From: number(i * perA), Len: perA}},
				B: simt.Operand{Slice: &simt.Slice{Reg: f.b, From: number(j * perB), Len: perB}}})
		}
	}
}

// loadFragment reads what the operations of a step take of an operand.
func (d *dotMaker) loadFragment(o *operandReader, to *simt.Reg, step int) {
	if o.matrix == simt.One {
		d.gather(o, to, step*to.Len*simt.ElemsPerReg(to.Type))
		return
	}
	// A row of run elements is what a lane gives; blocks of them are read at once.
	rows := to.Len / o.blocks
	for i := range rows {
		d.add(&simt.Load{Head: simt.Head{Pos: d.dot.Pos}, To: simt.Slice{Reg: to, From: number(i * o.blocks), Len: o.blocks},
			From: simt.Mem{Buf: o.tile.buf, At: o.at((step*rows + i) * o.run)}, Form: o.matrix})
	}
}

// gather reads the elements of fragments and packs them into words.
func (d *dotMaker) gather(o *operandReader, out *simt.Reg, reg int) {
	per := simt.ElemsPerReg(out.Type)
	if per == 1 {
		o.load(d.block, out, 0, reg, out.Len)
		return
	}
	parts := &simt.Reg{Name: d.fresh(o.value.Name + ".elems"), Type: o.value.Type, Len: out.Len * per, Mutable: true}
	d.add(&simt.Let{Reg: parts})
	o.load(d.block, parts, 0, reg, parts.Len)
	for i := range out.Len {
		elems := make([]*ir.Expr, per)
		for j := range elems {
			elems[j] = ir.Widen(computedIn(parts.Type), simt.Elem(parts, number(i*per+j)))
		}
		d.add(&simt.Set{Reg: out, At: number(i), Value: ir.Apply(simt.PackOf(out.Type), elems...)})
	}
}

// multiplyAdd lets every thread multiply the rows and columns of its part, some steps along k at a time.
func (d *dotMaker) multiplyAdd() {
	acc := d.acc.Type
	rows, cols := d.a.layout.Regs()/d.sizeK, d.b.layout.Regs()/d.sizeK
	stepsA, stepsB := d.steps(d.a), d.steps(d.b)
	steps := max(stepsA, stepsB)
	for k := 0; k < d.sizeK; k += steps {
		a, b := d.strip(d.a, k, steps, rows), d.strip(d.b, k, steps, cols)
		for s := range steps {
			// Registers of a strip go along k within an access, then along the other axis.
			at := func(i *ir.Expr, own, count int) *ir.Expr {
				return ir.Add(ir.Mul(i, number(own)), number(s/own*own*count+s%own))
			}
			d.each(rows, func(i *ir.Expr) {
				d.each(cols, func(j *ir.Expr) {
					x, y := ir.Widen(acc, simt.Elem(a, at(i, stepsA, rows))), ir.Widen(acc, simt.Elem(b, at(j, stepsB, cols)))
					to := ir.Add(ir.Mul(i, number(cols)), j)
					sum := simt.Elem(d.acc, to)
					d.add(&simt.Set{Head: simt.Head{Pos: d.dot.Pos}, Reg: d.acc, At: to, Value: multiplied(x, y, sum)})
				})
			})
		}
	}
}

// steps is how many steps along k the registers of an operand hold behind each other.
func (d *dotMaker) steps(o *operandReader) int {
	a := len(o.layout.Axes) - 1
	for i, name := range o.layout.Axes {
		if name == d.k.Name {
			a = i
		}
	}
	n := 1
	for _, bit := range o.layout.Bits[ir.RegBits] {
		if bit.To[a] == 0 {
			break
		}
		n *= 2
	}
	return min(n, d.sizeK)
}

// strip reads an operand for some steps along k.
func (d *dotMaker) strip(o *operandReader, k, steps, count int) *simt.Reg {
	out := &simt.Reg{Name: d.fresh(o.value.Name + ".part"), Type: o.value.Type, Len: count * steps, Mutable: true}
	d.add(&simt.Let{Reg: out})
	o.load(d.block, out, 0, k*count, out.Len)
	return out
}

// multiplied is x * y + sum.
func multiplied(x, y, sum *ir.Expr) *ir.Expr {
	if x.Type.IsFloat() {
		return ir.Apply(ir.OpFMA, x, y, sum)
	}
	return ir.Add(ir.Mul(x, y), sum)
}
