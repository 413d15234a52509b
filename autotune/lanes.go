package autotune

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// warpSize is the number of lanes of a warp.
const warpSize = simt.WarpSize

// lanes is the value of an expression in the lanes of a warp.
type lanes struct {
	known   bool
	uniform bool // all lanes have that of the first
	v       [warpSize]ir.Const
}

func (l *lanes) at(i int) ir.Const {
	if l.uniform {
		i = 0
	}
	return l.v[i]
}

// same is the value that all lanes have.
func (l *lanes) same() (ir.Const, bool) { return l.v[0], l.known && l.uniform }

func uniform(v ir.Const) *lanes { return &lanes{known: true, uniform: true, v: [warpSize]ir.Const{v}} }

var unknown = &lanes{}

// sample evaluates expressions in the first warp of the block in the middle of a grid, in the middle trip of every loop. What
// depends on memory, or on registers that change, is unknown.
type sample struct {
	names map[ir.Ref]*lanes
	memo  map[*ir.Expr]*lanes // no name ever changes its value
}

func newSample(names map[ir.Ref]*lanes) *sample {
	return &sample{names: names, memo: map[*ir.Expr]*lanes{}}
}

// enter puts the sample into a block of a grid.
func (s *sample) enter(grid int64) {
	each := &lanes{known: true}
	for i := range each.v {
		each.v[i] = ir.IntConst(int64(i))
	}
	zero := uniform(ir.IntConst(0))
	s.names[simt.Tid], s.names[simt.Lane] = each, each
	s.names[simt.Warp], s.names[simt.Group], s.names[simt.Rank] = zero, zero, zero
	s.names[simt.Cta], s.names[simt.Ctas] = uniform(ir.IntConst(grid/2)), uniform(ir.IntConst(grid))
}

// integer is the value of an expression that is the same in all lanes.
func (s *sample) integer(e *ir.Expr) (int64, bool) {
	v, ok := s.eval(e).same()
	return v.Int(), ok
}

func (s *sample) eval(e *ir.Expr) *lanes {
	switch e.Op {
	case ir.OpConst:
		return uniform(e.Val)
	case ir.OpName:
		if v := s.names[e.Ref]; v != nil {
			return v
		}
		return unknown
	}
	v := s.memo[e]
	if v == nil {
		v = s.apply(e)
		s.memo[e] = v
	}
	return v
}

func (s *sample) apply(e *ir.Expr) *lanes {
	if e.Ref != nil || e.Op.Effect != ir.NoEffect || e.Op.Where&ir.WarpWide != 0 {
		return unknown
	}
	args, types := make([]*lanes, len(e.Args)), make([]ir.Type, len(e.Args))
	out := &lanes{known: true, uniform: true}
	for i, a := range e.Args {
		args[i], types[i] = s.eval(a), a.Type
		if !args[i].known {
			return unknown
		}
		out.uniform = out.uniform && args[i].uniform
	}
	n := warpSize
	if out.uniform {
		n = 1
	}
	values := make([]ir.Const, len(args))
	for lane := range n {
		for i, a := range args {
			values[i] = a.at(lane)
		}
		v, ok := simt.Eval(e.Op, e.Type, types, values)
		if !ok {
			return unknown
		}
		out.v[lane] = v
	}
	return out
}
