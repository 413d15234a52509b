package sim

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
)

// compiler turns a kernel into a program for one launch. Registers live in slots, which are used again behind the block of
// statements that declares them.
type compiler struct {
	l       *launch
	code    []inst
	places  map[diag.Pos]int32
	prog    *program
	regs    map[*simt.Reg]binding
	consts  map[ir.Const]*vec
	next    int                    // first free slot
	mark    int                    // first free tracked register
	pos     diag.Pos               // of the present statement
	memo    map[*ir.Expr]operand   // of the present statement
	fixed   map[*simt.Reg]ir.Const // counters of loops that are being written out
	trips   int                    // of loops that were written out
	problem error                  // the first
}

// binding is where a register lives. A register that is declared without a value is tracked: bit lane of mark says that the lane
// has set it.
type binding struct {
	operand
	mark int // -1: not tracked
}

const maxInstructions = 1 << 20 // of a kernel with its loops written out

// refuse notes that the present statement cannot be executed.
func (c *compiler) refuse(format string, args ...any) {
	if c.problem == nil {
		c.problem = diag.Errorf(c.pos, "runtime", "kernel "+c.l.kernel.Name+": "+format, args...)
	}
}

func compile(l *launch) (*program, error) {
	c := &compiler{l: l, places: map[diag.Pos]int32{}, prog: &program{}, regs: map[*simt.Reg]binding{}, consts: map[ir.Const]*vec{},
		next: builtinSlots, memo: map[*ir.Expr]operand{}, fixed: map[*simt.Reg]ir.Const{}}
	c.prog.slots = builtinSlots
	c.block(l.kernel.Body)
	c.emit(ir.CostFree, func(w *warp) { w.state = finished })
	if c.problem != nil {
		return nil, c.problem
	}
	c.prog.code = c.code
	return c.prog, nil
}

func (c *compiler) emit(cost ir.Cost, run step) int {
	if len(c.code) >= maxInstructions {
		c.refuse("it is longer than %d instructions", maxInstructions)
		return 0
	}
	at, known := c.places[c.pos]
	if !known {
		at = int32(len(c.prog.places))
		c.places[c.pos] = at
		c.prog.places = append(c.prog.places, c.pos)
	}
	c.code = append(c.code, inst{run, cost, at})
	return len(c.code) - 1
}

// here is the pc of the next instruction.
func (c *compiler) here() int { return len(c.code) }

func (c *compiler) slot() int { return c.slotsFor(1) }

func (c *compiler) slotsFor(n int) int {
	at := c.next
	c.next += n
	c.prog.slots = max(c.prog.slots, c.next)
	return at
}

func (c *compiler) constant(v ir.Const) operand {
	x := c.consts[v]
	if x == nil {
		x = splat(v)
		c.consts[v] = x
	}
	return operand{con: x}
}

// block compiles statements whose registers are forgotten behind them.
func (c *compiler) block(list []simt.Stmt) {
	next, mark := c.next, c.mark
	c.sequence(list)
	c.next, c.mark = next, mark
}

func (c *compiler) sequence(list []simt.Stmt) {
	for _, s := range list {
		if c.problem != nil {
			return
		}
		c.stmt(s)
	}
}

// begin starts a statement: temporaries of the last are free, and so is what it computed.
func (c *compiler) begin(pos diag.Pos) {
	c.pos = pos
	clear(c.memo)
}

func (c *compiler) stmt(s simt.Stmt) {
	c.begin(s.Place())
	next := c.next
	switch s := s.(type) {
	case *simt.Let:
		c.let(s)
		return // its slot stays
	case *simt.Set:
		c.set(s)
	case *simt.For:
		c.loop(s)
	case *simt.While:
		c.while(s)
	case *simt.If:
		c.branch(s)
	case *simt.Load:
		c.load(s)
	case *simt.Store:
		c.store(s)
	case *simt.Check:
		c.check(s)
	case *simt.Sync:
		c.sync(s)
	case *simt.Copy:
		c.copy(s)
	case *simt.Mma:
		c.mma(s)
	case *simt.Roles:
		c.roles(s)
	default:
		c.refuse("a statement of type %T is not executable", s)
	}
	c.next = next
}

// let declares a register. One that never changes may share the place of its value.
func (c *compiler) let(s *simt.Let) {
	if s.Value == nil {
		n := max(1, s.Reg.Len)
		at := c.slotsFor(n)
		b := binding{operand{slot: at}, c.mark}
		c.mark += n
		c.prog.marks = max(c.prog.marks, c.mark)
		c.regs[s.Reg] = b
		c.emit(ir.CostFree, func(w *warp) {
			for i := b.mark; i < b.mark+n; i++ {
				w.marks[i] &^= w.mask
			}
		})
		return
	}
	at := c.slot()
	next := c.next
	x := c.exprInto(s.Value, at)
	if x.con != nil && !s.Reg.Mutable {
		c.regs[s.Reg] = binding{x, -1}
		c.next = at
		return
	}
	if x.con != nil || x.slot != at {
		c.emit(ir.CostFree, func(w *warp) { w.r[at] = *x.of(w) })
	}
	c.regs[s.Reg] = binding{operand{slot: at}, -1}
	c.next = next
}

// set assigns to the active lanes only.
func (c *compiler) set(s *simt.Set) {
	b, known := c.regs[s.Reg]
	switch {
	case !known || b.con != nil:
		c.refuse("register %s is not declared as one that changes", s.Reg.Name)
		return
	case s.At == nil && s.Reg.Len > 0:
		c.refuse("array %s is assigned as a whole", s.Reg.Name)
		return
	}
	if s.Value.Op == simt.OpPin && c.pinned(s) {
		return
	}
	x := c.expr(s.Value)
	if s.At == nil {
		c.assign(s.Reg, b, 0, x)
		return
	}
	at := c.expr(s.At)
	if k, ok := at.constant(); ok {
		if k.Int() < 0 || k.Int() >= int64(s.Reg.Len) {
			c.refuse("subscript %d of %s is outside 0..%d", k.Int(), s.Reg.Name, s.Reg.Len)
			return
		}
		c.assign(s.Reg, b, int(k.Int()), x)
		return
	}
	c.assignAt(s.Reg, b, at, x)
}

// assign moves x into register k of a binding.
func (c *compiler) assign(reg *simt.Reg, b binding, k int, x operand) {
	at := b.slot + k
	if b.mark < 0 {
		c.emit(ir.CostFree, func(w *warp) { w.move(at, x.of(w)) })
		return
	}
	mark := b.mark + k
	c.landing(reg, b, k, 1, true)
	c.emit(ir.CostFree, func(w *warp) {
		w.move(at, x.of(w))
		w.marks[mark] |= w.mask
	})
}

func (w *warp) move(at int, from *vec) {
	d := &w.r[at]
	if w.mask == ^uint32(0) {
		*d = *from
		return
	}
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		d[i] = from[i]
	}
}

// assignAt is an assignment with a subscript that only the run knows.
func (c *compiler) assignAt(reg *simt.Reg, b binding, at, x operand) {
	watch := c.l.traits.wgmma && b.mark >= 0
	c.emit(ir.CostFree, func(w *warp) {
		idx, from := at.of(w), x.of(w)
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			k := idx[i].Int()
			if k < 0 || k >= int64(reg.Len) {
				w.report("bounds", reg.Name, "subscript %d of register array %s is outside 0..%d", k, reg.Name, reg.Len)
				continue
			}
			if watch {
				w.expectLanded(reg, int(k), b.mark+int(k), true)
			}
			w.r[b.slot+int(k)][i] = from[i]
			if b.mark >= 0 {
				w.marks[b.mark+int(k)] |= 1 << i
			}
		}
	})
}

// pinned compiles x = pin(x), which may stand in front of the first assignment of x: it is nothing.
func (c *compiler) pinned(s *simt.Set) bool {
	x := s.Value.Args[0]
	if x.Ref != ir.Ref(s.Reg) {
		return false
	}
	if x.Op == ir.OpName {
		return s.At == nil
	}
	return x.Op == simt.OpElem && s.At != nil && ir.Equal(x.Args[0], s.At)
}
