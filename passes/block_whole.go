package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

// whole lowers a statement that the threads of the block do together.
func (b *block) whole(s tile.Stmt) {
	switch s := s.(type) {
	case *tile.Phase:
		b.barrier()
		b.state.meet()
	case *tile.Loop:
		if r := ringOf(s); r != nil {
			b.staged(r)
			return
		}
		b.loop(s)
	case *tile.If:
		b.branch(s)
	case *tile.Load:
		b.touches(s)
		b.copyIn(s, b.sharedTile(s.Out), nil)
	case *tile.Dot:
		b.touches(s)
		b.dot(s)
	case *tile.Reduce:
		b.reduce(s)
	default:
		b.unsupported("%s has no lowering to the threads of a block", kindOf(s))
	}
}

// loop lowers a loop whose trips all threads do together.
func (b *block) loop(s *tile.Loop) {
	b.enter(s)
	b.state = atLoop(s, b.state)
	b.trips(s, func() { b.list(s.Body) })
	b.leave(s)
}

// trips is the loop itself, around what a trip does.
func (b *block) trips(s *tile.Loop, body func()) {
	o := s.Over[0]
	loop := &simt.For{Head: simt.Head{Pos: s.Pos}, Lo: b.expr(o.Lo), Hi: b.expr(o.Hi), Step: 1, Down: s.Down, Unroll: s.Kind == tile.Unroll}
	loop.Var = &simt.Reg{Name: b.fresh(o.Axis.Name), Type: ir.I64}
	b.rename[o.Axis] = ir.Name(loop.Var)
	b.looping++
	loop.Body = b.inner(func() {
		body()
		b.next(s)
	})
	b.looping--
	b.add(loop)
}

// enter gives the carried values of a loop their first values.
func (b *block) enter(s *tile.Loop) {
	var tiles []tile.Stmt
	for _, c := range s.Carry {
		if len(c.In.Axes) == 0 {
			b.variable(c.In, b.expr(c.First))
			continue
		}
		if c.First.IsConst() {
			r := b.array(c.In)
			b.each(r.Len, func(i *ir.Expr) { b.add(&simt.Set{Reg: r, At: i, Value: c.First}) })
			continue
		}
		if from, ok := c.First.Ref.(*tile.Value); ok && b.arrays[from] != nil && b.uses[from] == 1 && from.Layout == c.In.Layout {
			b.arrays[c.In] = b.arrays[from]
			continue
		}
		b.array(c.In)
		tiles = append(tiles, &set{Head: s.Head, to: c.In, value: c.First})
	}
	b.list(tiles)
}

// next gives the carried values of a loop their next values, all at once: what other next values are computed from is computed
// before anything is set, and set behind the rest.
func (b *block) next(s *tile.Loop) {
	var early, sets, late []tile.Stmt
	for i, c := range s.Carry {
		if from, ok := c.Next.Ref.(*tile.Value); ok && (from == c.In || b.arrays[from] != nil && b.arrays[from] == b.arrays[c.In]) {
			continue
		}
		if !neededByOthers(s.Carry, i) {
			sets = append(sets, &set{Head: s.Head, to: c.In, value: c.Next})
			continue
		}
		v := &tile.Value{Name: c.In.Name + ".next", Type: c.In.Type, Axes: c.In.Axes, Layout: c.In.Layout}
		b.uses[v] = 2 // it is kept from one run to the other
		early = append(early, &tile.Map{Head: s.Head, Out: v, Body: c.Next})
		late = append(late, &set{Head: s.Head, to: c.In, value: ir.Name(v)})
	}
	b.list(slices.Concat(early, sets, late))
}

// neededByOthers reports whether a carried value is part of the next value of another one.
func neededByOthers(carry []tile.Carry, i int) bool {
	for j, d := range carry {
		if j != i && valuesIn(d.Next)[carry[i].In] {
			return true
		}
	}
	return false
}

// leave names what the last trip left.
func (b *block) leave(s *tile.Loop) {
	for _, c := range s.Carry {
		if len(c.In.Axes) == 0 {
			b.rename[c.Out] = b.rename[c.In]
			continue
		}
		b.arrays[c.Out] = b.array(c.In)
	}
}

// branch lowers a branch that all threads take together.
func (b *block) branch(s *tile.If) {
	for _, o := range s.Outs {
		if len(o.Out.Axes) == 0 {
			b.variable(o.Out, nil)
		} else {
			b.array(o.Out)
		}
	}
	out := &simt.If{Head: simt.Head{Pos: s.Pos}, Cond: b.expr(s.Cond)}
	before := b.state.clone()
	arm := func(list []tile.Stmt, of func(tile.Phi) *ir.Expr) []simt.Stmt {
		list = slices.Clone(list)
		for _, o := range s.Outs {
			list = append(list, &set{Head: s.Head, to: o.Out, value: of(o)})
		}
		return b.inner(func() { b.list(list) })
	}
	out.Then = arm(s.Then, func(o tile.Phi) *ir.Expr { return o.Then })
	yes := b.state
	b.state = before
	out.Else = arm(s.Else, func(o tile.Phi) *ir.Expr { return o.Else })
	b.state.join(yes)
	b.add(out)
}

// copyIn copies a tile from global to shared memory past the registers: threads take turns at its elements, in the order in which
// they lie there, a piece of memory each. slot is where they go; nil: where the tile is.
func (b *block) copyIn(s *tile.Load, t *sharedTile, slot *ir.Expr) {
	inner := s.Out.Axes[len(s.Out.Axes)-1]
	size := s.Out.Type.Bytes()
	n := b.contigs.run(s.From, s.At, inner, vectorBytes/size)
	for n > 1 && !b.contigs.same(s.Where, inner, n) {
		n /= 2
	}
	form := simt.CopyFormByName("cp." + map[int]string{4: "4", 8: "8", 16: "16"}[n*size])
	if form == nil {
		b.unsupported("%s is copied %d bytes at a time, which is no asynchronous copy", s.Out.Name, n*size)
	}
	l := b.copyLayout(s.Out, n)
	p := b.placesOf(l)
	at := *t
	at.slot = slot
	to := b.addresses(&at, l)
	for reg := 0; reg < l.Regs(); reg += n {
		for i, a := range s.Out.Axes {
			b.rename[a] = p.at(i, reg)
		}
		c := &simt.Copy{Head: simt.Head{Pos: s.Pos}, Form: form,
			To: simt.Place{Mem: &simt.Mem{Buf: t.buf, At: to(reg)}}}
		from := b.mem(s.From, s.At)
		c.From = simt.Place{Mem: &from}
		if s.Where != nil {
			c.Bytes = ir.Select(b.expr(s.Where), number(n*size), number(0))
		}
		b.onceIf(p.one, c)
	}
	for _, a := range s.Out.Axes {
		delete(b.rename, a)
	}
}

// onceIf adds a statement under a condition of the thread alone.
func (b *block) onceIf(cond *ir.Expr, s simt.Stmt) {
	if cond == ir.True {
		b.add(s)
		return
	}
	b.add(&simt.If{Head: simt.Head{Pos: s.Place()}, Cond: cond, Then: []simt.Stmt{s}})
}

// copyLayout shares the elements of a tile among all threads in groups of n, a warp's beside each other.
func (b *block) copyLayout(v *tile.Value, n int) *ir.Layout {
	l := &ir.Layout{Axes: axisNames(v.Axes)}
	axis, step := len(v.Axes)-1, 1
	take := func(place, count int) {
		for k := 1; k < count; k *= 2 {
			bit := ir.LayoutBit{To: make([]uint32, len(v.Axes))}
			for axis >= 0 && v.Axes[axis].Extent.IsInt(int64(step)) {
				axis, step = axis-1, 1
			}
			if axis < 0 {
				bit.Free = '='
				if place == ir.RegBits {
					return
				}
			} else {
				bit.To[axis] = uint32(step)
				step *= 2
			}
			l.Bits[place] = append(l.Bits[place], bit)
		}
	}
	take(ir.RegBits, n)
	take(ir.LaneBits, simt.WarpSize)
	take(ir.WarpBits, b.in.Threads/simt.WarpSize)
	take(ir.RegBits, 1<<30)
	return l
}
