package tile

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
)

// axesOf lists the axes of tiles on which an expression depends.
func (ev *evaluator) axesOf(list ...*ir.Expr) (out []*ir.Axis) {
	add := func(a *ir.Axis) {
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	for _, e := range list {
		ir.Walk(e, func(x *ir.Expr) {
			if x.Op != ir.OpName {
				return
			}
			if t := ev.tiles[x.Ref]; t != nil {
				for _, a := range t.axes {
					add(a)
				}
			} else if a, ok := x.Ref.(*ir.Axis); ok {
				add(a)
			}
		})
	}
	return out
}

// compute makes a tile of an expression over the axes on which it depends.
func (ev *evaluator) compute(axes []*ir.Axis, e *ir.Expr) *tileOf {
	t := ev.tile(axes)
	ev.points(axes, func(i int) { t.data[i] = ev.value(e) })
	return t
}

func (ev *evaluator) branch(s *If) {
	cond := ev.compute(ev.axesOf(s.Cond), s.Cond)
	outs := make([]*tileOf, len(s.Outs))
	for i, o := range s.Outs {
		outs[i] = ev.tile(o.Out.Axes)
	}
	arm := func(want bool, list []Stmt, of func(Phi) *ir.Expr) {
		active := &tileOf{cond.axes, make([]ir.Const, len(cond.data))}
		for i, c := range cond.data {
			active.data[i] = ir.BoolConst(c.Bool() == want)
		}
		if len(cond.axes) == 0 && cond.data[0].Bool() != want {
			return
		}
		ev.mask = append(ev.mask, active)
		ev.stmts(list)
		for i, o := range s.Outs {
			ev.points(o.Out.Axes, func(n int) { outs[i].data[n] = ev.value(of(o)) })
		}
		ev.mask = ev.mask[:len(ev.mask)-1]
	}
	arm(true, s.Then, func(o Phi) *ir.Expr { return o.Then })
	arm(false, s.Else, func(o Phi) *ir.Expr { return o.Else })
	for i, o := range s.Outs {
		ev.tiles[o.Out] = outs[i]
	}
}

// loop runs trips until the points with the longest range are done. The others sit out.
func (ev *evaluator) loop(s *Loop) {
	o := s.Over[0]
	axes := ev.axesOf(o.Lo, o.Hi)
	lo, hi := ev.compute(axes, o.Lo), ev.compute(axes, o.Hi)
	for _, c := range s.Carry {
		ev.tiles[c.In] = ev.compute(c.In.Axes, c.First)
	}
	trips := int64(0)
	ev.points(axes, func(i int) { trips = max(trips, hi.data[i].Int()-lo.data[i].Int()) })
	index, active := ev.tile(axes), ev.tile(axes)
	ev.tiles[o.Axis] = index
	ev.mask = append(ev.mask, active)
	for n := range trips {
		for i := range index.data {
			at := lo.data[i].Int() + n
			if s.Down {
				at = hi.data[i].Int() - 1 - n
			}
			index.data[i] = ir.IntConst(at)
			active.data[i] = ir.BoolConst(n < hi.data[i].Int()-lo.data[i].Int())
		}
		ev.trip(s)
	}
	ev.mask = ev.mask[:len(ev.mask)-1]
	for _, c := range s.Carry {
		ev.tiles[c.Out] = ev.tiles[c.In]
	}
}

func (ev *evaluator) trip(s *Loop) {
	ev.stmts(s.Body)
	next := make([]*tileOf, len(s.Carry))
	for i, c := range s.Carry {
		next[i] = &tileOf{c.In.Axes, slices.Clone(ev.tiles[c.In].data)}
		ev.points(c.In.Axes, func(n int) { next[i].data[n] = ev.value(c.Next) })
	}
	for i, c := range s.Carry {
		ev.tiles[c.In] = next[i]
	}
}

// read is the element of a value at the point at hand.
func (ev *evaluator) read(v *Value) ir.Const {
	t := ev.tiles[v]
	return t.data[ev.number(t.axes)]
}

func (ev *evaluator) dot(s *Dot) {
	ev.define(s.Out, func() ir.Const {
		sum := ir.Const{}
		if s.Into != nil {
			sum = ev.read(s.Into)
		}
		t := exact(s.Out.Type)
		ev.points(s.Over, func(int) {
			p, _ := ir.EvalOp(ir.OpMul, t, []ir.Type{t, t}, []ir.Const{ev.read(s.A), ev.read(s.B)})
			sum = combine(ir.Sum, t, sum, p)
		})
		return sum
	})
}

func (ev *evaluator) reduce(s *Reduce) {
	ev.define(s.Out, func() ir.Const {
		acc := s.Op.Identity(s.In.Type)
		ev.points(s.Over, func(int) { acc = combine(s.Op, s.In.Type, acc, ev.read(s.In)) })
		return acc
	})
}

func (ev *evaluator) scan(s *Scan) {
	ev.define(s.Out, func() ir.Const {
		here := ev.at[s.Over]
		first, last := int64(0), here
		if s.Reverse {
			first, last = here, ev.sizes[s.Over]-1
		}
		acc := s.Op.Identity(s.In.Type)
		for i := first; i <= last; i++ {
			if s.Exclusive && i == here {
				continue
			}
			ev.at[s.Over] = i
			acc = combine(s.Op, s.In.Type, acc, ev.read(s.In))
		}
		ev.at[s.Over] = here
		return acc
	})
}

// value is the value of an expression at the point at hand.
func (ev *evaluator) value(e *ir.Expr) ir.Const {
	shared, known := ev.shared[e]
	if !known {
		shared = sharedIn(e)
		ev.shared[e] = shared
	}
	if len(shared) == 0 {
		return ev.operation(e, nil)
	}
	outer := ev.memo
	ev.memo = make(map[*ir.Expr]ir.Const, len(shared))
	out := ev.operation(e, shared)
	ev.memo = outer
	return out
}

// sharedIn lists the operations that are used more than once.
func sharedIn(e *ir.Expr) map[*ir.Expr]bool {
	uses := map[*ir.Expr]int{}
	ir.Walk(e, func(x *ir.Expr) {
		for _, a := range x.Args {
			uses[a]++
		}
	})
	var out map[*ir.Expr]bool
	for x, n := range uses {
		if n > 1 && len(x.Args) > 0 {
			if out == nil {
				out = map[*ir.Expr]bool{}
			}
			out[x] = true
		}
	}
	return out
}

func (ev *evaluator) operation(e *ir.Expr, shared map[*ir.Expr]bool) ir.Const {
	switch e.Op {
	case ir.OpConst:
		return e.Val
	case ir.OpName:
		if t := ev.tiles[e.Ref]; t != nil {
			return t.data[ev.number(t.axes)]
		}
		return ir.IntConst(ev.at[e.Ref.(*ir.Axis)])
	}
	if shared[e] {
		if v, ok := ev.memo[e]; ok {
			return v
		}
	}
	var few [3]ir.Const
	var fewTypes [3]ir.Type
	args, types := few[:0], fewTypes[:0]
	for _, a := range e.Args {
		args, types = append(args, ev.operation(a, shared)), append(types, a.Type)
	}
	to := e.Type
	if e.Op != ir.OpCast {
		to = exact(to)
		if e.Op == ir.OpBitcast {
			to = e.Type
		}
	}
	v, ok := ir.EvalOp(e.Op, to, types, args)
	if !ok {
		panic("tile: " + e.Op.Name + " has no meaning for " + e.Type.String())
	}
	if shared[e] {
		ev.memo[e] = v
	}
	return v
}
