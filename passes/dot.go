package passes

import (
	"math/bits"
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

// dotForm is a dot as a product of matrices, A[m, k] * B[k, n], that the warps of a block share.
type dotForm struct {
	m, n, k             *ir.Axis
	sizeM, sizeN, sizeK int
	warpsM, warpsN      int        // that share m and n
	idle                int        // how many warps do the same
	atom                *simt.Atom // nil: threads multiply and add
}

// dotFormOf takes a dot apart; nil where its axes are not m, n and k, with sizes that are powers of two.
func dotFormOf(d *tile.Dot, k *tile.Kernel) *dotForm {
	if len(d.Out.Axes) != 2 || len(d.Over) != 1 || len(d.A.Axes) != 2 || len(d.B.Axes) != 2 {
		return nil
	}
	f := &dotForm{k: d.Over[0], atom: simt.AtomByName(d.Atom)}
	for _, a := range d.Out.Axes {
		switch inA, inB := slices.Contains(d.A.Axes, a), slices.Contains(d.B.Axes, a); {
		case inA && !inB:
			f.m = a
		case inB && !inA:
			f.n = a
		}
	}
	if f.m == nil || f.n == nil {
		return nil
	}
	for _, s := range []struct {
		axis *ir.Axis
		size *int
	}{{f.m, &f.sizeM}, {f.n, &f.sizeN}, {f.k, &f.sizeK}} {
		n, ok := s.axis.Extent.IntValue()
		if !ok || n < 1 || n&(n-1) != 0 {
			return nil
		}
		*s.size = int(n)
	}
	if warps := k.Threads / simt.WarpSize; !f.share(warps, k.Sched.Of("warps.m", 1), k.Sched.Of("warps.n", warps)) {
		return nil
	}
	return f
}

// share gives so many warps to m and n, or fewer where there are fewer operations; what one axis cannot use goes to the other. It
// returns false where the numbers are no powers of two.
func (f *dotForm) share(warps, m, n int) bool {
	if warps < 1 || warps&(warps-1) != 0 || m < 1 || m&(m-1) != 0 || n < 1 || n&(n-1) != 0 {
		return false
	}
	mostM, mostN := f.sizeM, f.sizeN
	if f.atom != nil {
		mostM, mostN = max(1, mostM/f.atom.M), max(1, mostN/f.atom.N)
	}
	f.warpsM = min(m, warps, mostM)
	f.warpsN = min(n*m/f.warpsM, warps/f.warpsM, mostN)
	f.warpsM = min(m*n/f.warpsN, warps/f.warpsN, mostM)
	f.idle = warps / (f.warpsM * f.warpsN)
	return true
}

// layoutMaker collects the bits of a layout over two axes, low bits first.
type layoutMaker struct{ out *ir.Layout }

func newLayout(axes ...*ir.Axis) layoutMaker { return layoutMaker{&ir.Layout{Axes: axisNames(axes)}} }

// take lets the next bits of a place move an axis by from, twice that, and so on below to.
func (m layoutMaker) take(place int, axis *ir.Axis, from, to int) {
	for ; from < to; from *= 2 {
		bit := ir.LayoutBit{To: make([]uint32, len(m.out.Axes))}
		if a := slices.Index(m.out.Axes, axis.Name); a >= 0 {
			bit.To[a] = uint32(from)
		} else {
			bit.Free = '='
		}
		m.out.Bits[place] = append(m.out.Bits[place], bit)
	}
}

// hold adds bits that move nothing, one for each factor of two of n.
func (m layoutMaker) hold(place, n int) {
	for range bits.Len(uint(n)) - 1 {
		m.out.Bits[place] = append(m.out.Bits[place], ir.LayoutBit{To: make([]uint32, len(m.out.Axes)), Free: '='})
	}
}

// warps adds the bits of the warps: those along m are the lowest.
func (f *dotForm) warps(m layoutMaker) {
	m.take(ir.WarpBits, f.m, f.part(f.m), f.sizeM)
	m.take(ir.WarpBits, f.n, f.part(f.n), f.sizeN)
	m.hold(ir.WarpBits, f.idle)
}

// part is what a warp has of an axis.
func (f *dotForm) part(a *ir.Axis) int {
	switch a {
	case f.m:
		return f.sizeM / f.warpsM
	case f.n:
		return f.sizeN / f.warpsN
	}
	return f.sizeK
}

// dotLayout is the layout of a dot's result over its axes; nil where the dot is no product of matrices.
func dotLayout(d *tile.Dot, k *tile.Kernel) *ir.Layout {
	f := dotFormOf(d, k)
	if f == nil {
		return nil
	}
	m := newLayout(d.Out.Axes...)
	if f.atom != nil {
		f.fragment(m, f.atom.DAt, f.atom.DRegs()*simt.ElemsPerReg(f.atom.D), f.m, f.n)
		m.take(ir.RegBits, f.n, f.atom.N, f.part(f.n))
		m.take(ir.RegBits, f.m, f.atom.M, f.part(f.m))
	} else {
		t := f.threadTile(d.Out.Type.Bytes())
		m.take(ir.RegBits, f.n, 1, t.vecN)
		m.take(ir.RegBits, f.n, t.vecN*t.lanesN, f.part(f.n))
		m.take(ir.RegBits, f.m, 1, t.vecM)
		m.take(ir.RegBits, f.m, t.vecM*t.lanesM, f.part(f.m))
		t.lanes(m, f)
	}
	f.warps(m)
	return m.out
}

// fragment adds the bits of what a thread holds of an operand of a matrix operation, whose rows and columns are on two axes.
func (f *dotForm) fragment(m layoutMaker, at func(thread, i int) (int, int), elems int, rows, cols *ir.Axis) {
	add := func(place, row, col int) {
		if row != 0 {
			m.take(place, rows, row, row+1)
		} else {
			m.take(place, cols, col, col+1)
		}
	}
	for i := 1; i < elems; i *= 2 {
		row, col := at(0, i)
		add(ir.RegBits, row, col)
	}
	for lane := 1; lane < simt.WarpSize; lane *= 2 {
		row, col := at(lane, 0)
		add(ir.LaneBits, row, col)
	}
}

// threadTile is how the lanes of a warp share its part of the result where they multiply and add: each has vectors of vecM x vecN
// elements, lanesM x lanesN of them beside each other.
type threadTile struct{ vecM, vecN, lanesM, lanesN int }

// threadTile makes vectors as long as an access can be, shorter where lanes would have nothing to do, and gives lanes to m and n
// so that threads read as little as they can for what they multiply; of two such ways it takes the one with more lanes along n,
// where results lie beside each other.
func (f *dotForm) threadTile(bytes int) threadTile {
	m, n := f.part(f.m), f.part(f.n)
	vec := max(1, vectorBytes/max(bytes, 4))
	t := threadTile{vecM: min(vec, m), vecN: min(vec, n)}
	for m/t.vecM*(n/t.vecN) < simt.WarpSize && t.vecM*t.vecN > 1 {
		if t.vecM >= t.vecN {
			t.vecM /= 2
		} else {
			t.vecN /= 2
		}
	}
	best := m + n + 1
	for lanesM := min(simt.WarpSize, m/t.vecM); lanesM >= 1; lanesM /= 2 {
		lanesN := min(simt.WarpSize/lanesM, n/t.vecN)
		if reads := m/lanesM + n/lanesN; reads <= best {
			t.lanesM, t.lanesN, best = lanesM, lanesN, reads
		}
	}
	return t
}

// lanes adds the bits of the lanes.
func (t threadTile) lanes(m layoutMaker, f *dotForm) {
	m.take(ir.LaneBits, f.n, t.vecN, t.vecN*t.lanesN)
	m.take(ir.LaneBits, f.m, t.vecM, t.vecM*t.lanesM)
	m.hold(ir.LaneBits, simt.WarpSize/(t.lanesN*t.lanesM))
}

// operandForm is how a warp reads an operand of a dot from shared memory. The registers of a thread are pieces of run elements,
// each read at once; they follow each other along k within a step, then along the other axis, then step by step.
type operandForm struct {
	layout *ir.Layout
	matrix simt.Form // Matrix or MatrixTrans: the lanes give the rows of 8x8 blocks; One: they read their own elements
	blocks int       // of a matrix access
	run    int       // elements that a thread reads at once, or that a row has
}

// operandOfDot says how an operand is read.
func (f *dotForm) operand(d *tile.Dot, of *tile.Value) *operandForm {
	outer := f.m
	if of == d.B {
		outer = f.n
	}
	inner := of.Axes[len(of.Axes)-1]
	switch {
	case f.atom == nil:
		return f.plainOperand(d, of, outer, inner)
	case f.byMatrix(of, inner):
		return f.matrixOperand(d, of, outer, inner)
	}
	return f.fragmentOperand(d, of, outer)
}

// byMatrix reports whether matrix loads give the fragments of an operand: words of 32 bits along k, or 16-bit elements across.
func (f *dotForm) byMatrix(of *tile.Value, inner *ir.Axis) bool {
	bytes := of.Type.Bytes()
	size := f.sizeK
	if inner != f.k {
		size = f.part(inner)
	}
	return size*bytes >= vectorBytes && (bytes == 2 || bytes <= 4 && inner == f.k)
}

// rowsOf are the elements of an operand along its other axis that one operation takes.
func (f *dotForm) rowsOf(d *tile.Dot, of *tile.Value) int {
	if of == d.A {
		return f.atom.M
	}
	return f.atom.N
}

// matrixOperand: a word of a thread's fragment is an 8x8 block of 16-bit elements (or pairs of smaller ones), of which a lane
// gives the place of one row of 16 bytes. Four blocks are read at once: those of one operation, and of the next one along the
// outer axis where that has only two.
func (f *dotForm) matrixOperand(d *tile.Dot, of *tile.Value, outer, inner *ir.Axis) *operandForm {
	bytes := of.Type.Bytes()
	run := vectorBytes / bytes
	out := &operandForm{run: run, matrix: simt.Matrix, blocks: 1}
	m := newLayout(of.Axes...)
	rows := outer
	if inner != f.k {
		out.matrix, rows = simt.MatrixTrans, f.k
	}
	m.take(ir.RegBits, inner, 1, run)
	m.take(ir.LaneBits, rows, 1, 8)
	high := map[*ir.Axis]int{outer: 8, f.k: run} // where the next block begins
	block := func(axis *ir.Axis, end int) {
		for ; high[axis] < end && out.blocks < 4; high[axis] *= 2 {
			m.take(ir.LaneBits, axis, high[axis], high[axis]+1)
			out.blocks *= 2
		}
	}
	block(outer, min(f.rowsOf(d, of), f.part(outer)))
	block(f.k, f.atom.K)
	block(outer, f.part(outer))
	m.hold(ir.LaneBits, 4/out.blocks)
	m.take(ir.RegBits, outer, high[outer], f.part(outer))
	m.take(ir.RegBits, f.k, high[f.k], f.sizeK)
	f.warps(m)
	out.layout = m.out
	return out
}

// fragmentOperand: the lanes read the elements of their fragments one by one, or as far as they lie beside each other.
func (f *dotForm) fragmentOperand(d *tile.Dot, of *tile.Value, outer *ir.Axis) *operandForm {
	m := newLayout(of.Axes...)
	if of == d.A {
		f.fragment(m, f.atom.AAt, f.atom.ARegs()*simt.ElemsPerReg(f.atom.A), f.m, f.k)
	} else {
		f.fragment(m, f.atom.BAt, f.atom.BRegs()*simt.ElemsPerReg(f.atom.B), f.k, f.n)
	}
	m.take(ir.RegBits, outer, f.rowsOf(d, of), f.part(outer))
	m.take(ir.RegBits, f.k, f.atom.K, f.sizeK)
	f.warps(m)
	return &operandForm{layout: m.out, matrix: simt.One, blocks: 1, run: f.runOf(m.out, of)}
}

// runOf is how many of a thread's lowest registers lie beside each other.
func (f *dotForm) runOf(l *ir.Layout, of *tile.Value) int {
	return min(l.Run(of.Axes[len(of.Axes)-1].Name), vectorBytes/of.Type.Bytes())
}

// plainOperand: the lanes read vectors of the rows or columns that they multiply, or of a few steps along k where those lie
// beside each other.
func (f *dotForm) plainOperand(d *tile.Dot, of *tile.Value, outer, inner *ir.Axis) *operandForm {
	t := f.threadTile(d.Out.Type.Bytes())
	vec, lanes := t.vecM, t.lanesM
	if outer == f.n {
		vec, lanes = t.vecN, t.lanesN
	}
	steps := 1
	if inner == f.k {
		steps = min(vectorBytes/of.Type.Bytes(), f.sizeK)
	}
	m := newLayout(of.Axes...)
	m.take(ir.RegBits, f.k, 1, steps)
	m.take(ir.RegBits, outer, 1, vec)
	m.take(ir.RegBits, outer, vec*lanes, f.part(outer))
	m.take(ir.RegBits, f.k, steps, f.sizeK)
	t.lanes(m, f)
	f.warps(m)
	return &operandForm{layout: m.out, matrix: simt.One, blocks: 1, run: f.runOf(m.out, of)}
}

// dotReads is how a warp reads an operand of a dot from shared memory.
func dotReads(d *tile.Dot, k *tile.Kernel, of *tile.Value) []ir.Access {
	f := dotFormOf(d, k)
	if f == nil {
		return nil
	}
	var out []ir.Access
	for _, x := range []*tile.Value{d.A, d.B} {
		if x == of {
			o := f.operand(d, of)
			out = append(out, ir.Access{Layout: o.layout, Width: o.run * of.Type.Bytes()})
		}
	}
	return out
}
