package passes

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

// The block engine gives block kernels, whose values have layouts, to the threads of a block. A tile in registers is an array in
// each thread, whose elements are the registers of the layout; a tile in shared memory is a buffer. Statements that happen point
// by point for tiles of one layout are written out over its registers; loops and branches whose conditions are the same for all
// points happen in all threads together.

// block lowers the body of a block kernel.
type block struct {
	*threads
	lane    *ir.Expr // i32: of the warp
	warp    *ir.Expr // i32: of the block
	opening []simt.Stmt
	opened  map[uint64][]*simt.Let // those of opening, by hash
	arrays  map[*tile.Value]*simt.Reg
	shared  map[*tile.Value]*sharedTile
	places  map[*ir.Layout]*places
	forms   map[string]*ir.Layout // by axes: the layout of the last tile over them
	uses    map[*tile.Value]int   // expressions and statements that name a value
	contigs *contig
	fixed   map[ir.Ref]bool // registers that the block and the thread fix
	looping int             // loops around
	state   barriers
	ring    *ring // of the loop around
}

// blockKernel lowers the body of a block kernel inside its grid.
func (t *threads) blockKernel(m *tile.Module, body []tile.Stmt) {
	b := &block{
		threads: t, lane: ir.Name(simt.Lane), warp: ir.Name(simt.Warp), opened: map[uint64][]*simt.Let{},
		arrays: map[*tile.Value]*simt.Reg{}, shared: map[*tile.Value]*sharedTile{}, places: map[*ir.Layout]*places{},
		forms: map[string]*ir.Layout{}, uses: usesIn(body), contigs: newContig(m, t.in), state: newBarriers(), fixed: map[ir.Ref]bool{},
	}
	for _, s := range t.body {
		if l, ok := s.(*simt.Let); ok {
			b.fixed[l.Reg] = true
		}
	}
	t.address = b.address
	list := t.inner(func() { b.list(body) })
	t.body = append(append(t.body, b.opening...), list...)
}

// opening declares at the start of the kernel what a thread computes from its number alone.
func (b *block) open(hint string, x *ir.Expr) *ir.Expr {
	if len(x.Args) == 0 {
		return x
	}
	for _, l := range b.opened[x.Hash()] {
		if ir.Equal(l.Value, x) {
			return ir.Name(l.Reg)
		}
	}
	l := &simt.Let{Reg: &simt.Reg{Name: b.fresh(hint), Type: x.Type}, Value: x}
	b.opened[x.Hash()] = append(b.opened[x.Hash()], l)
	b.fixed[l.Reg] = true
	b.opening = append(b.opening, l)
	return ir.Name(l.Reg)
}

// places are where the elements that a thread holds lie on the axes of a layout: a part that the thread fixes, and for every
// register a part that the register does.
type places struct {
	layout *ir.Layout
	thread []word   // of each axis
	regs   [][]int  // of each register, along each axis
	one    *ir.Expr // where the thread is the first of those that hold the same
}

// placesOf are the places of a layout.
func (b *block) placesOf(l *ir.Layout) *places {
	if p := b.places[l]; p != nil {
		return p
	}
	p := &places{layout: l}
	for a, name := range l.Axes {
		part := b.threadPart(l, func(bit ir.LayoutBit) uint32 { return bit.To[a] })
		p.thread = append(p.thread, word{b.open(name, part.x), part.mask})
	}
	for r := range l.Regs() {
		p.regs = append(p.regs, l.At(r, 0, 0))
	}
	p.one = ir.And(firstOf(b.lane, l.Bits[ir.LaneBits]), firstOf(b.warp, l.Bits[ir.WarpBits]))
	b.places[l] = p
	return p
}

// firstOf is where those bits of x are 0 that select nothing.
func firstOf(x *ir.Expr, list []ir.LayoutBit) *ir.Expr {
	held := int64(0)
	for k, bit := range list {
		if bit.Free != 0 {
			held |= 1 << k
		}
	}
	if held == 0 {
		return ir.True
	}
	return ir.Eq(ir.Apply(ir.OpBitAnd, x, ir.NewConst(ir.I32, ir.IntConst(held))), ir.ZeroOf(ir.I32))
}

// threadPart is the XOR of what the bits of the lane and of the warp select.
func (b *block) threadPart(l *ir.Layout, of func(ir.LayoutBit) uint32) word {
	part := func(x *ir.Expr, list []ir.LayoutBit) word {
		cols := make([]uint32, len(list))
		for k, bit := range list {
			if bit.Free == 0 {
				cols[k] = of(bit)
			}
		}
		return linear(x, cols)
	}
	return part(b.lane, l.Bits[ir.LaneBits]).xor(part(b.warp, l.Bits[ir.WarpBits]))
}

// at is the subscript along axis a of what register r holds.
func (p *places) at(a, r int) *ir.Expr {
	c := p.regs[r][a]
	low := uint32(c) & p.thread[a].mask // what cannot be added
	x := ir.Widen(ir.I64, p.thread[a].xor(wordOf(low)).x)
	return ir.Add(x, ir.Int64(int64(c)&^int64(low)))
}

// array is the registers that hold a tile.
func (b *block) array(v *tile.Value) *simt.Reg {
	r := b.arrays[v]
	if r == nil {
		r = b.newArray(v)
		b.arrays[v] = r
	}
	return r
}

func (b *block) newArray(v *tile.Value) *simt.Reg {
	r := &simt.Reg{Name: b.fresh(v.Name), Type: v.Type, Len: b.layoutOf(v).Regs(), Mutable: true}
	b.add(&simt.Let{Reg: r})
	return r
}

// layoutOf is that of a tile in registers.
func (b *block) layoutOf(v *tile.Value) *ir.Layout {
	if v.Layout == nil {
		b.unsupported("the tile %s has no layout", v.Name)
	}
	return v.Layout
}

// into is the array of a dot's result: that of what it is added to, where nothing else needs that, or a new one with its values.
func (b *block) into(s *tile.Dot) *simt.Reg {
	if s.Into != nil && b.uses[s.Into] == 1 && s.Into.Layout == s.Out.Layout {
		b.arrays[s.Out] = b.array(s.Into)
		return b.arrays[s.Out]
	}
	r := b.array(s.Out)
	first := func(*ir.Expr) *ir.Expr { return ir.ZeroOf(r.Type) }
	if s.Into != nil {
		from := b.array(s.Into)
		first = func(i *ir.Expr) *ir.Expr { return simt.Elem(from, i) }
	}
	b.each(r.Len, func(i *ir.Expr) { b.add(&simt.Set{Reg: r, At: i, Value: first(i)}) })
	return r
}

// each is a loop over the elements of an array, written out.
func (b *block) each(n int, body func(i *ir.Expr)) {
	v := &simt.Reg{Name: b.fresh("r"), Type: ir.I32}
	loop := &simt.For{Var: v, Lo: ir.ZeroOf(ir.I32), Hi: ir.NewConst(ir.I32, ir.IntConst(int64(n))), Step: 1, Unroll: true}
	loop.Body = b.inner(func() { body(ir.Name(v)) })
	b.add(loop)
}

// usesIn counts the statements that name each value.
func usesIn(body []tile.Stmt) map[*tile.Value]int {
	out := map[*tile.Value]int{}
	count := func(x *ir.Expr) { countUses(x, out) }
	var walk func([]tile.Stmt)
	walk = func(list []tile.Stmt) {
		for _, s := range list {
			for _, v := range operands(s) {
				out[v]++
			}
			for _, x := range ownExprs(s) {
				count(x)
			}
			for _, inner := range nested(s) {
				walk(inner)
			}
		}
	}
	walk(body)
	return out
}

func countUses(x *ir.Expr, out map[*tile.Value]int) {
	if x != nil {
		for v := range valuesIn(x) {
			out[v]++
		}
	}
}

// valuesIn is the set of values that expressions name.
func valuesIn(list ...*ir.Expr) map[*tile.Value]bool {
	out := map[*tile.Value]bool{}
	for _, x := range list {
		if x == nil {
			continue
		}
		ir.Walk(x, func(e *ir.Expr) {
			if v, ok := e.Ref.(*tile.Value); ok {
				out[v] = true
			}
		})
	}
	return out
}

// operands are the tiles that a statement takes whole.
func operands(s tile.Stmt) []*tile.Value {
	switch s := s.(type) {
	case *tile.Dot:
		if s.Into != nil {
			return []*tile.Value{s.A, s.B, s.Into}
		}
		return []*tile.Value{s.A, s.B}
	case *tile.Reduce:
		return []*tile.Value{s.In}
	case *tile.Scan:
		return []*tile.Value{s.In}
	case *tile.Move:
		return []*tile.Value{s.In}
	}
	return nil
}

// ownExprs are the expressions of a statement, without those of the statements inside it.
func ownExprs(s tile.Stmt) (out []*ir.Expr) {
	switch s := s.(type) {
	case *tile.Loop:
		for _, o := range s.Over {
			out = append(out, o.Lo, o.Hi)
		}
		for _, c := range s.Carry {
			out = append(out, c.First, c.Next)
		}
	case *tile.If:
		out = append(out, s.Cond)
		for _, p := range s.Outs {
			out = append(out, p.Then, p.Else)
		}
	case *tile.Load:
		out = append(slices.Clone(s.At), s.Where, s.Other)
	case *tile.Store:
		out = append(slices.Clone(s.At), s.Where, s.Value)
	case *tile.Map:
		out = append(out, s.Body)
	case *tile.Check:
		out = append(slices.Clone(s.Args), s.Cond)
	}
	return out
}

// nested are the lists of statements inside a statement.
func nested(s tile.Stmt) [][]tile.Stmt {
	switch s := s.(type) {
	case *tile.Loop:
		return [][]tile.Stmt{s.Body}
	case *tile.If:
		return [][]tile.Stmt{s.Then, s.Else}
	}
	return nil
}

// powerOfTwo is the largest that divides n.
func powerOfTwo(n int) int { return 1 << bits.TrailingZeros(uint(n)) }

// axisNames are the names of axes, as layouts have them.
func axisNames(axes []*ir.Axis) []string {
	out := make([]string, len(axes))
	for i, a := range axes {
		out[i] = a.Name
	}
	return out
}

// sharedTile is a tile in shared memory.
type sharedTile struct {
	buf   *simt.Buffer
	place *ir.Placement // in elements, behind the swizzle
	slots int
	slot  *ir.Expr // i32: where the slot of this trip begins, in elements; nil: at 0
}

// sharedTile is the buffer of a tile.
func (b *block) sharedTile(v *tile.Value) *sharedTile {
	if t := b.shared[v]; t != nil {
		return t
	}
	extents := make([]int, len(v.Axes))
	size := 1
	for i, a := range v.Axes {
		n, ok := a.Extent.IntValue()
		if !ok {
			b.unsupported("the tile %s in shared memory has no fixed size", v.Name)
		}
		extents[i] = int(n)
		size *= int(n)
	}
	place, err := ir.RowMajor(axisNames(v.Axes), extents)
	if err != nil {
		b.unsupported("the tile %s: %v", v.Name, err)
	}
	t := &sharedTile{place: place.Swizzled(v.Swizzle), slots: 1}
	if b.ring != nil && slices.Contains(b.ring.fills(), v) {
		t.slots = b.ring.slots
	}
	t.buf = b.newShared(v.Name, v.Type, size*t.slots)
	if t.slots > 1 {
		t.slot = t.slotAt(ir.Name(b.ring.slot))
	}
	b.shared[v] = t
	return t
}

// sharedAlign is that of tiles: swizzles and bank conflicts count from it.
const sharedAlign = 128

func (b *block) newShared(hint string, t ir.Type, n int) *simt.Buffer {
	at := (b.out.Launch.SharedBytes + sharedAlign - 1) &^ (sharedAlign - 1)
	buf := &simt.Buffer{Name: b.fresh(hint), Type: t, Space: simt.Shared, Len: n, At: at, Align: sharedAlign}
	b.out.Shared = append(b.out.Shared, buf)
	b.out.Launch.SharedBytes = at + n*t.Bytes()
	return buf
}

// addresses gives the place in shared memory, an i32 in elements, of what each register of this thread holds in a layout over
// axes of the tile.
func (b *block) addresses(t *sharedTile, l *ir.Layout) func(reg int) *ir.Expr {
	cols := l.Compose(t.place)
	thread := linear(b.lane, cols[ir.LaneBits]).xor(linear(b.warp, cols[ir.WarpBits]))
	thread.x = b.open(t.buf.Name+".at", thread.x)
	return func(reg int) *ir.Expr {
		c := t.place.At(order(l, t.place, l.At(reg, 0, 0)))
		low := c & thread.mask // what cannot be added
		base := b.open(t.buf.Name+".at", thread.xor(wordOf(low)).x)
		if t.slot != nil {
			base = ir.Add(t.slot, base)
		}
		return ir.Add(base, wordOf(c&^low).x)
	}
}

// order puts subscripts along the axes of a layout in the order of those of a placement; the rest are 0.
func order(l *ir.Layout, m *ir.Placement, at []int) []int {
	out := make([]int, len(m.Axes))
	for a, name := range l.Axes {
		i := slices.Index(m.Axes, name)
		if i < 0 {
			panic(fmt.Sprintf("passes: axis %s is not in shared memory", name))
		}
		out[i] = at[a]
	}
	return out
}
