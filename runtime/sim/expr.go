package sim

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// expr compiles an expression; its value stays valid until the statement ends.
func (c *compiler) expr(e *ir.Expr) operand {
	if x, ok := c.memo[e]; ok {
		return x
	}
	x := c.exprInto(e, -1)
	c.memo[e] = x
	return x
}

// exprInto compiles an expression, into slot dst if it has to be computed and dst is not negative.
func (c *compiler) exprInto(e *ir.Expr, dst int) operand {
	if c.problem != nil {
		return operand{}
	}
	switch e.Op {
	case ir.OpConst:
		return c.constant(e.Val)
	case ir.OpName:
		return c.name(e)
	case simt.OpElem:
		return c.elem(e, dst)
	case simt.OpPin:
		return c.expr(e.Args[0])
	case simt.OpAddr:
		return c.addr(e, dst)
	case simt.OpClock:
		return c.clock(dst)
	}
	return c.apply(e, dst)
}

func (c *compiler) target(dst int) int {
	if dst >= 0 {
		return dst
	}
	return c.slot()
}

func (c *compiler) apply(e *ir.Expr, dst int) operand {
	args, from := make([]operand, len(e.Args)), make([]ir.Type, len(e.Args))
	known := len(args) > 0
	for i, a := range e.Args {
		args[i], from[i] = c.expr(a), a.Type
		known = known && args[i].con != nil
	}
	if c.problem != nil {
		return operand{}
	}
	if e.Op.Where&ir.WarpWide != 0 {
		return c.warpWide(e, args, dst)
	}
	if (e.Op == ir.OpCast || e.Op == ir.OpWiden) && isNothing(e.Op, e.Type, from[0]) {
		return args[0]
	}
	if known && e.Op.Effect == ir.NoEffect {
		return c.folded(e, from, args)
	}
	if c.problem == nil && !c.hasMeaning(e, from) {
		c.refuse("operation %s of %v has no meaning on a device", e.Op.Name, from)
		return operand{}
	}
	at := c.target(dst)
	c.emit(costOf(e), counted(e, compute(e.Op, e.Type, from, args, at)))
	return operand{slot: at}
}

// costOf is the unit that an operation keeps busy. Whole numbers are added and multiplied beside the multiply-add units of floats.
func costOf(e *ir.Expr) ir.Cost {
	if e.Op.Cost == ir.CostFMA && e.Type.IsInt() {
		return ir.CostALU
	}
	return e.Op.Cost
}

// counted counts the second operation of a fused multiply-add.
func counted(e *ir.Expr, run step) step {
	if e.Op != ir.OpFMA || e.Type.IsInt() {
		return run
	}
	return func(w *warp) {
		w.blk.run.count.fused += w.active
		run(w)
	}
}

// folded evaluates an operation on constants, as a device would.
func (c *compiler) folded(e *ir.Expr, from []ir.Type, args []operand) operand {
	w := &warp{r: make([]vec, 1), mask: 1}
	if !c.hasMeaning(e, from) {
		c.refuse("operation %s of %v has no meaning on a device", e.Op.Name, from)
		return operand{}
	}
	compute(e.Op, e.Type, from, args, 0)(w)
	return c.constant(w.r[0][0])
}

// hasMeaning tries an operation on zeros.
func (c *compiler) hasMeaning(e *ir.Expr, from []ir.Type) bool {
	key := meaningKey{e.Op, e.Type, [3]ir.Type{}}
	copy(key.from[:], from)
	ok, known := c.l.meanings[key]
	if !known {
		_, ok = simt.Eval(e.Op, e.Type, from, make([]ir.Const, len(from)))
		c.l.meanings[key] = ok
	}
	return ok
}

type meaningKey struct {
	op   *ir.Op
	to   ir.Type
	from [3]ir.Type
}

func (c *compiler) name(e *ir.Expr) operand {
	switch ref := e.Ref.(type) {
	case *simt.Reg:
		if v, ok := c.fixed[ref]; ok {
			return c.constant(v)
		}
		b, ok := c.regs[ref]
		if !ok {
			c.refuse("register %s is not declared", ref.Name)
			return operand{}
		}
		if ref.Len > 0 {
			c.refuse("array %s stands without a subscript", ref.Name)
		}
		c.expectSet(ref, b, 0)
		return b.operand
	case *simt.Builtin:
		return c.builtin(ref)
	case *simt.Value:
		if v, ok := c.l.values[ref]; ok {
			return c.constant(v)
		}
	}
	c.refuse("%s has no value on the device", e.Ref.RefName())
	return operand{}
}

func (c *compiler) builtin(b *simt.Builtin) operand {
	switch b {
	case simt.Tid:
		return operand{slot: slotTid}
	case simt.Lane:
		return operand{slot: slotLane}
	case simt.Warp:
		return operand{slot: slotWarp}
	case simt.Group:
		return operand{slot: slotGroup}
	case simt.Cta:
		return operand{slot: slotCta}
	case simt.Rank:
		return operand{slot: slotRank}
	case simt.Ctas:
		return c.constant(ir.IntConst(c.l.blocks))
	}
	c.refuse("%s is known to the host only", b.Name)
	return operand{}
}

// expectSet emits the check that all active lanes have set register k of a tracked binding.
func (c *compiler) expectSet(reg *simt.Reg, b binding, k int) {
	if b.mark < 0 {
		return
	}
	mark := b.mark + k
	c.landing(reg, b, k, 1, false)
	c.emit(ir.CostFree, func(w *warp) {
		if missing := w.mask &^ w.marks[mark]; missing != 0 {
			w.report("uninitialised", reg.Name, "register %s is read before it is set: %s without a value", regText(reg, k), w.lanesText(missing))
			w.marks[mark] |= missing
		}
	})
}

func (c *compiler) elem(e *ir.Expr, dst int) operand {
	reg := e.Ref.(*simt.Reg)
	b, ok := c.regs[reg]
	if !ok || reg.Len == 0 {
		c.refuse("%s is not a register array", reg.Name)
		return operand{}
	}
	at := c.expr(e.Args[0])
	if k, ok := at.constant(); ok {
		if k.Int() < 0 || k.Int() >= int64(reg.Len) {
			c.refuse("subscript %d of %s is outside 0..%d", k.Int(), reg.Name, reg.Len)
			return operand{}
		}
		c.expectSet(reg, b, int(k.Int()))
		return operand{slot: b.slot + int(k.Int())}
	}
	to := c.target(dst)
	watch := c.l.traits.wgmma && b.mark >= 0
	c.emit(ir.CostFree, func(w *warp) {
		idx, d := at.of(w), &w.r[to]
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			k := idx[i].Int()
			if k < 0 || k >= int64(reg.Len) {
				w.report("bounds", reg.Name, "subscript %d of register array %s is outside 0..%d", k, reg.Name, reg.Len)
				d[i] = ir.Const{}
				continue
			}
			if b.mark >= 0 && w.marks[b.mark+int(k)]>>i&1 == 0 {
				w.report("uninitialised", reg.Name, "register %s is read before it is set", regText(reg, int(k)))
			}
			if watch {
				w.expectLanded(reg, int(k), b.mark+int(k), false)
			}
			d[i] = w.r[b.slot+int(k)][i]
		}
	})
	return operand{slot: to}
}

// addr is the address of an element in the block's shared memory, which begins at 0.
func (c *compiler) addr(e *ir.Expr, dst int) operand {
	buf, ok := e.Ref.(*simt.Buffer)
	if !ok || buf.Space != simt.Shared {
		c.refuse("addr of something that is not in shared memory")
		return operand{}
	}
	x := c.expr(e.Args[0])
	to := c.target(dst)
	base, size := uint64(buf.At), uint64(buf.Type.Bytes())
	c.emit(ir.CostALU, func(w *warp) {
		v, d := x.of(w), &w.r[to]
		for i := range d {
			d[i].Bits = uint64(uint32(base + v[i].Bits*size))
		}
	})
	return operand{slot: to}
}

// clock is the number of instructions that the warp's block has executed.
func (c *compiler) clock(dst int) operand {
	to := c.target(dst)
	c.emit(ir.CostALU, func(w *warp) {
		var n uint64
		for _, k := range w.blk.run.count.issued {
			n += k
		}
		fill(&w.r[to], ir.Const{Bits: uint64(uint32(n))})
	})
	return operand{slot: to}
}
