package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

// reduce combines a tile over axes: first what a thread holds, then what the lanes of a warp do, by exchanges between lanes that
// differ in one bit, then what the warps do, through shared memory. All threads that held a part have the result.
func (b *block) reduce(s *tile.Reduce) {
	from := b.layoutOf(s.In)
	b.touches(s)
	out := b.reduceRegs(s, from)
	if len(s.Out.Axes) == 0 {
		defer func() { b.rename[s.Out] = simt.Elem(out, number(0)) }()
	}
	combine := func(i, x *ir.Expr) { b.add(&simt.Set{Reg: out, At: i, Value: ir.Apply(s.Op.Op, simt.Elem(out, i), x)}) }
	for k, bit := range from.Bits[ir.LaneBits] {
		if within(from, bit, s.Over) {
			b.each(out.Len, func(i *ir.Expr) {
				other := &simt.Reg{Name: b.fresh("other"), Type: out.Type}
				b.add(&simt.Let{Reg: other, Value: ir.NewExpr(simt.OpShflXor, out.Type, nil, s.Pos, simt.Elem(out, i), number(1<<k))})
				combine(i, ir.Name(other))
			})
		}
	}
	if mask := warpsOver(s); mask != 0 {
		b.reduceWarps(out, mask, combine)
	}
}

// within reports whether a bit of a layout moves along axes of a set only.
func within(l *ir.Layout, bit ir.LayoutBit, over []*ir.Axis) bool {
	if bit.Free != 0 {
		return false
	}
	for a, n := range bit.To {
		if n != 0 && !slices.ContainsFunc(over, func(x *ir.Axis) bool { return x.Name == l.Axes[a] }) {
			return false
		}
	}
	return true
}

// warpsOver are the bits of the warp's number that a reduction combines.
func warpsOver(s *tile.Reduce) (mask int) {
	if s.In.Layout == nil {
		return 0
	}
	for k, bit := range s.In.Layout.Bits[ir.WarpBits] {
		if within(s.In.Layout, bit, s.Over) {
			mask |= 1 << k
		}
	}
	return mask
}

// reduceRegs combines what each thread holds.
func (b *block) reduceRegs(s *tile.Reduce, from *ir.Layout) *simt.Reg {
	to := from
	for _, a := range s.Over {
		to = to.Slice(a.Name)
	}
	in := b.array(s.In)
	out := &simt.Reg{Name: b.fresh(s.Out.Name), Type: s.Out.Type, Len: max(1, to.Regs()), Mutable: true}
	b.add(&simt.Let{Reg: out})
	b.arrays[s.Out] = out
	if len(s.Out.Axes) > 0 && !sameLayout(b.layoutOf(s.Out), to) {
		b.unsupported("the reduction %s leaves its result in another layout than the one it asks for", s.Out.Name)
	}
	parts := make([][]*ir.Expr, out.Len)
	where := registersOf(to)
	for reg := range from.Regs() {
		r := where[placeKey(projected(from, to, from.At(reg, 0, 0)))]
		parts[r] = append(parts[r], simt.Elem(in, number(reg)))
	}
	for r, list := range parts {
		b.add(&simt.Set{Reg: out, At: number(r), Value: b.tree(s.Op, list)})
	}
	return out
}

// tree combines values in pairs.
func (b *block) tree(op *ir.Monoid, list []*ir.Expr) *ir.Expr {
	for len(list) > 1 {
		var next []*ir.Expr
		for i := 0; i+1 < len(list); i += 2 {
			next = append(next, b.let("part", ir.Apply(op.Op, list[i], list[i+1])))
		}
		if len(list)%2 == 1 {
			next = append(next, list[len(list)-1])
		}
		list = next
	}
	return list[0]
}

// reduceWarps combines what the warps hold that differ in the bits of mask. Each puts its part into shared memory and reads the
// others' from there.
func (b *block) reduceWarps(out *simt.Reg, mask int, combine func(i, x *ir.Expr)) {
	size := out.Len * simt.WarpSize
	buf := b.newShared(out.Name+".parts", out.Type, size*b.in.Threads/simt.WarpSize)
	at := func(warp, i *ir.Expr) simt.Mem {
		place := ir.Add(ir.Mul(warp, number(size)), ir.Add(ir.Mul(i, number(simt.WarpSize)), b.lane))
		return simt.Mem{Buf: buf, At: place}
	}
	b.each(out.Len, func(i *ir.Expr) {
		b.add(&simt.Store{To: at(b.warp, i), From: []*ir.Expr{simt.Elem(out, i)}})
	})
	b.barrier()
	first := b.let("first", ir.Apply(ir.OpBitAnd, b.warp, number((b.in.Threads/simt.WarpSize-1)&^mask)))
	b.each(out.Len, func(i *ir.Expr) {
		// All warps combine in the same order, so that they have the same result.
		for n, part := range subsets(mask) {
			x := &simt.Reg{Name: b.fresh("other"), Type: out.Type, Mutable: true}
			b.add(&simt.Let{Reg: x})
			b.add(&simt.Load{To: simt.Slice{Reg: x, Len: 1}, From: at(ir.Add(first, number(part)), i)})
			if n == 0 {
				b.add(&simt.Set{Reg: out, At: i, Value: ir.Name(x)})
			} else {
				combine(i, ir.Name(x))
			}
		}
	})
}

// subsets lists the numbers whose bits are all in mask, 0 first.
func subsets(mask int) []int {
	out := []int{0}
	for n := (0 - mask) & mask; n != 0; n = (n - mask) & mask {
		out = append(out, n)
	}
	return out
}

// sameLayout reports whether two layouts put the same elements in the same places, whatever their names.
func sameLayout(a, b *ir.Layout) bool {
	return a.Regs() == b.Regs() && registersAgree(a, b) && threadsAgree(a, b)
}
