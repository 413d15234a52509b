package tensor

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
)

// loop is a box of a reduction, whose ends are computed as it runs.
type loop struct {
	slot   int
	lo, hi fn[int64]
	name   string
	pos    diag.Pos
}

func (c *compiler) loops(spans []ir.Span, pos diag.Pos) []loop {
	out := make([]loop, len(spans))
	for i, s := range spans {
		out[i] = loop{c.slots[s.Axis], c.int(s.Lo), c.int(s.Hi), s.Axis.Name, pos}
		c.scope = append(c.scope, c.slots[s.Axis])
	}
	return out
}

// ends are the range of a loop here; it is empty once the run has stopped. uncertain: they depend on inexact values.
func (l *loop) ends(f *frame) (lo, hi int64, uncertain bool) {
	lo = l.lo(f)
	uncertain = f.err != 0
	hi = l.hi(f)
	uncertain = uncertain || f.err != 0
	if hi > lo && uint64(hi)-uint64(lo) > maxRange {
		f.ev.stop(diag.Errorf(l.pos, "limit", "the axis %s ranges over more than %d elements", l.name, int64(maxRange)))
	}
	if f.ev.stopped.Load() != nil {
		return 0, 0, uncertain
	}
	return lo, hi, uncertain
}

// pieceSize is how many elements a loop runs over before it looks whether the run was stopped.
const pieceSize = 1 << 14

// reducer is the code of a reduction.
type reducer[T number] struct {
	loops    []loop
	guard    fn[int64] // nil: all
	body     fn[T]
	identity T
	combine  func(a, b T) T
	sum      bool
	dot      func(f *frame, lo, hi int64, acc T) T // of a sum of products of plain reads
}

func (c *compiler) reduce(e *ir.Expr) code {
	r := e.Ref.(*Reduction)
	loops := c.loops(r.Over, e.Pos)
	var guard fn[int64]
	if r.Guard != nil {
		if k := c.code(r.Guard); !k.known || !k.value.Bool() {
			guard = k.i
		}
	}
	body := c.code(e.Args[0])
	if c.ev.bound() && r.Op == ir.Sum && !c.ev.opt.Strict {
		body = c.contraction(e.Args[0], body)
	}
	c.leave(r.Over)
	floats, ints := combiner(r.Op, r.Acc)
	identity := r.Op.Identity(r.Acc)
	if c.ev.bound() {
		return boundReduce(r, loops, guard, body)
	}
	if body.f != nil {
		red := &reducer[float64]{loops: loops, guard: guard, body: body.f, identity: identity.Float(), combine: floats, sum: r.Op == ir.Sum}
		if red.sum && guard == nil {
			red.dot = c.dot(e.Args[0], loops[len(loops)-1].slot)
		}
		return code{f: red.run}
	}
	red := &reducer[int64]{loops: loops, guard: guard, body: body.i, identity: identity.Int(), combine: ints, sum: r.Op == ir.Sum && r.Acc == ir.I64}
	return code{i: red.run}
}

func (r *reducer[T]) run(f *frame) T { return r.nest(f, 0, r.identity) }

func (r *reducer[T]) nest(f *frame, depth int, acc T) T {
	l := &r.loops[depth]
	lo, hi, _ := l.ends(f)
	if depth+1 == len(r.loops) {
		for lo < hi {
			acc = r.piece(f, l.slot, lo, min(hi, lo+pieceSize), acc)
			if lo += pieceSize; f.ev.stopped.Load() != nil {
				return acc
			}
		}
		return acc
	}
	for x := lo; x < hi && f.ev.stopped.Load() == nil; x++ {
		f.axis[l.slot] = x
		acc = r.nest(f, depth+1, acc)
	}
	return acc
}

// piece runs over a part of the innermost loop.
func (r *reducer[T]) piece(f *frame, slot int, lo, hi int64, acc T) T {
	body, guard := r.body, r.guard
	switch {
	case r.dot != nil:
		return r.dot(f, lo, hi, acc)
	case r.sum && guard == nil:
		for x := lo; x < hi; x++ {
			f.axis[slot] = x
			acc += body(f)
		}
	case r.sum:
		for x := lo; x < hi; x++ {
			if f.axis[slot] = x; guard(f) != 0 {
				acc += body(f)
			}
		}
	default:
		for x := lo; x < hi; x++ {
			if f.axis[slot] = x; guard == nil || guard(f) != 0 {
				acc = r.combine(acc, body(f))
			}
		}
	}
	return acc
}
