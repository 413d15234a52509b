package sim

import (
	"math/bits"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// truth is the lanes in which a condition holds.
func truth(x *vec) (m uint32) {
	for i := range x {
		m |= uint32(x[i].Bits&1) << i // a lane that is not active may hold anything
	}
	return m
}

// branch runs Then for the lanes in which the condition holds, Else for the others, and joins them.
func (c *compiler) branch(s *simt.If) {
	cond := c.expr(s.Cond)
	var toElse, toEnd int
	c.emit(ir.CostALU, func(w *warp) {
		yes := w.mask & truth(cond.of(w))
		no := w.mask &^ yes
		w.push(frame{w.mask, no})
		n := &w.blk.run.count
		n.branches++
		if yes != 0 && no != 0 {
			n.divergent++
		}
		w.setMask(yes)
		if yes == 0 {
			w.pc = toElse
		}
	})
	c.block(s.Then)
	c.pos = s.Pos
	if len(s.Else) > 0 {
		c.emit(ir.CostFree, func(w *warp) { w.pc = toElse })
	}
	toElse = c.here()
	if len(s.Else) > 0 {
		c.emit(ir.CostFree, func(w *warp) {
			w.setMask(w.stack[len(w.stack)-1].other)
			if w.mask == 0 {
				w.pc = toEnd
			}
		})
		c.block(s.Else)
		c.pos = s.Pos
	}
	toEnd = c.here()
	c.emit(ir.CostFree, func(w *warp) { w.setMask(w.pop().outer) })
}

const (
	maxTrips    = 1024    // of a loop that is written out
	maxWritten  = 1 << 17 // instructions of a kernel behind which no more loops are written out
	maxAllTrips = 1 << 14 // of all loops that are written out
)

// loop counts. Loops that the printers write out are written out here too, so that subscripts of registers are constants.
func (c *compiler) loop(s *simt.For) {
	if s.Step <= 0 {
		c.refuse("a loop with step %d", s.Step)
		return
	}
	lo, hi := c.expr(s.Lo), c.expr(s.Hi)
	a, knownLo := lo.constant()
	b, knownHi := hi.constant()
	if s.Unroll && knownLo && knownHi && (b.Int()-a.Int()) <= maxTrips*s.Step && c.here() < maxWritten && c.trips < maxAllTrips {
		c.writeOut(s, a.Int(), b.Int())
		return
	}
	c.count(s, lo, hi)
}

func (c *compiler) writeOut(s *simt.For, lo, hi int64) {
	trips := max(0, (hi-lo+s.Step-1)/s.Step)
	c.trips += int(trips)
	for k := range trips {
		if s.Down {
			k = trips - 1 - k
		}
		c.fixed[s.Var] = ir.IntConst(lo + k*s.Step)
		c.block(s.Body)
	}
	delete(c.fixed, s.Var)
}

func (c *compiler) count(s *simt.For, lo, hi operand) {
	end, at := c.slot(), c.slot()
	c.regs[s.Var] = binding{operand{slot: at}, -1}
	step, down := s.Step, s.Down
	c.emit(ir.CostALU, func(w *warp) {
		from, to, last, i := lo.of(w), hi.of(w), &w.r[end], &w.r[at]
		w.push(frame{outer: w.mask})
		for k := range i {
			a, b := from[k].Int(), to[k].Int()
			if down && b > a {
				a, b = a+(b-1-a)/step*step, a
			} else if down {
				a = b - 1 // none
			}
			i[k], last[k] = asInt(a), asInt(b)
		}
	})
	var toEnd int
	test := c.emit(ir.CostALU, func(w *warp) {
		i, last := &w.r[at], &w.r[end]
		var m uint32
		for k := range i {
			if down {
				m |= uint32(asBool(i[k].Int() >= last[k].Int()).Bits) << k
			} else {
				m |= uint32(asBool(i[k].Int() < last[k].Int()).Bits) << k
			}
		}
		w.setMask(w.mask & m)
		if w.mask == 0 {
			w.pc = toEnd
		}
	})
	c.block(s.Body)
	c.pos = s.Pos
	if down {
		step = -step
	}
	c.emit(ir.CostALU, func(w *warp) {
		i := &w.r[at]
		for k := range i {
			i[k].Bits += uint64(step)
		}
		w.pc = test
	})
	toEnd = c.here()
	c.emit(ir.CostFree, func(w *warp) { w.setMask(w.pop().outer) })
}

func (c *compiler) while(s *simt.While) {
	next, mark := c.next, c.mark
	c.emit(ir.CostFree, func(w *warp) { w.push(frame{outer: w.mask}) })
	head := c.here()
	c.sequence(s.Pre)
	c.begin(s.Pos)
	cond := c.expr(s.Cond)
	var toEnd int
	c.emit(ir.CostALU, func(w *warp) {
		w.setMask(w.mask & truth(cond.of(w)))
		if w.mask == 0 {
			w.pc = toEnd
		}
	})
	c.block(s.Body)
	c.pos = s.Pos
	c.emit(ir.CostFree, func(w *warp) { w.pc = head })
	toEnd = c.here()
	c.emit(ir.CostFree, func(w *warp) { w.setMask(w.pop().outer) })
	c.next, c.mark = next, mark
}

// roles sends every warp to its arm. Those that have none go on behind them all.
func (c *compiler) roles(s *simt.Roles) {
	starts := make([]int, len(s.Arms))
	var end int
	c.emit(ir.CostALU, func(w *warp) {
		w.pc = end
		for i, arm := range s.Arms {
			if w.id >= arm.First && w.id < arm.First+arm.Warps {
				w.enter(arm)
				w.pc = starts[i]
			}
		}
	})
	for i, arm := range s.Arms {
		starts[i] = c.here()
		c.block(arm.Body)
		c.pos = s.Pos
		c.emit(ir.CostFree, func(w *warp) {
			w.leave()
			w.pc = end
		})
	}
	end = c.here()
	c.emit(ir.CostFree, func(*warp) {})
}

// enter gives the builtins their values within an arm: groups of By warps, and warps within the group.
func (w *warp) enter(arm *simt.Arm) {
	w.arm = arm
	group, in := 0, w.id-arm.First
	if arm.By > 0 {
		group, in = in/arm.By, in%arm.By
	}
	fill(&w.r[slotGroup], asInt(int64(group)))
	fill(&w.r[slotWarp], asInt(int64(in)))
}

func (w *warp) leave() {
	w.arm = nil
	fill(&w.r[slotGroup], asInt(int64(w.id/4)))
	fill(&w.r[slotWarp], asInt(int64(w.id)))
}

// check notes where its condition fails. What it would say is computed only there.
func (c *compiler) check(s *simt.Check) {
	cond := c.expr(s.Cond)
	if s.Code < 0 || s.Code >= len(c.l.module.Sites) {
		c.refuse("check of unknown code %d", s.Code)
		return
	}
	var toEnd int
	c.emit(ir.CostALU, func(w *warp) {
		bad := w.mask &^ truth(cond.of(w))
		if bad == 0 {
			w.pc = toEnd
			return
		}
		w.push(frame{outer: w.mask})
		w.setMask(bad)
	})
	args := make([]operand, len(s.Args))
	for i, a := range s.Args {
		args[i] = c.expr(a)
	}
	c.emit(ir.CostFree, func(w *warp) {
		w.fail(s, args)
		w.setMask(w.pop().outer)
	})
	toEnd = c.here()
	clear(c.memo) // the arguments were computed for some lanes only
}

// failure is a check that failed; the first of a launch is the one of the first thread of the first block.
type failure struct {
	block  int64
	thread int
	check  *simt.Check
	args   []ir.Const
}

func (f *failure) before(g *failure) bool {
	return g == nil || f.block < g.block || f.block == g.block && f.thread < g.thread
}

func (w *warp) fail(s *simt.Check, args []operand) {
	f := &failure{block: w.blk.index, thread: w.thread(bits.TrailingZeros32(w.mask)), check: s}
	run := w.blk.run
	if !f.before(run.failed) {
		return
	}
	for i := range args {
		f.args = append(f.args, args[i].of(w)[f.thread%32])
	}
	run.failed = f
}
