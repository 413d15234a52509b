package sim

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// warpWide compiles an operation in which all lanes of a warp take part. One of them missing is a mistake: the target waits for it,
// or worse.
func (c *compiler) warpWide(e *ir.Expr, args []operand, dst int) operand {
	to := c.target(dst)
	op := e.Op
	var t ir.Type
	if len(e.Args) > 0 {
		t = e.Args[0].Type
	}
	shuffle := op == simt.OpShfl || op == simt.OpShflXor || op == simt.OpShflUp || op == simt.OpShflDown
	c.emit(ir.CostShared, func(w *warp) {
		w.blk.run.count.shuffles++
		if w.mask != w.lanes {
			w.report("warp", op.Name, "%s while %s not active", op.Name, w.lanesText(w.lanes&^w.mask))
		}
		if shuffle {
			w.shuffle(op, args[0].of(w), args[1].of(w), to)
			return
		}
		var in [2]*vec
		for i := range args {
			in[i] = args[i].of(w)
		}
		simt.EvalWarp(op, t, w.mask, in[:len(args)], &w.r[to])
	})
	return operand{slot: to}
}

func (w *warp) shuffle(op *ir.Op, x, by *vec, to int) {
	in, d := *x, &w.r[to] // a copy: the target may be the source
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		from := simt.ShuffleSource(op, i, by[i].Int())
		if w.mask>>from&1 == 0 {
			w.report("warp", op.Name+" source", "%s of lane %d reads lane %d, which is not there", op.Name, i, from)
			d[i] = ir.Const{}
			continue
		}
		d[i] = in[from]
	}
}
