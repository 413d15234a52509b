package passes

import (
	"math"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// narrowIndices computes indices in 32 bits where their values are certain to fit, as they are where sizes are fixed: a machine
// needs one instruction instead of two to four. Constants that are added stay outside, as part of an address of 64 bits.
//
//	let row: i64 = widen.i64(cta) * 4
//	for k: i64 in 0..64 {
//	  load x <- X[row * 64 + k + 32]
//	}
//
// becomes
//
//	let row: i32 = cta * 4
//	for k: i32 in 0..64 {
//	  load x <- X[widen.i64(row * 64 + k) + 32]
//	}
func narrowIndices(u *Unit) error {
	eachKernel(u, func(k *simt.Kernel) []simt.Stmt {
		n := &narrower{intervals: intervalsOf(k), wide: map[ir.Ref]*ir.Expr{}}
		n.rewriter.Post = n.expr
		return n.list(k.Body)
	})
	return nil
}

type narrower struct {
	*intervals
	rewriter ir.Rewriter
	wide     map[ir.Ref]*ir.Expr // registers that became narrow, as the value that they had
}

func (n *narrower) list(body []simt.Stmt) []simt.Stmt {
	m := exprMap{n.rewriter.Rewrite, n.rewriter.Rewrite}
	out := make([]simt.Stmt, len(body))
	for i, s := range body {
		s = m.stmt(s)
		switch s := s.(type) {
		case *simt.Let:
			n.let(s)
		case *simt.For:
			n.loop(s)
		}
		out[i] = withBlocks(s, n.list)
	}
	return out
}

// let makes a register narrow whose value is.
func (n *narrower) let(s *simt.Let) {
	if s.Reg.Type != ir.I64 || s.Reg.Mutable || s.Value == nil || s.Value.IsConst() {
		return
	}
	if v := n.low(s.Value); v != nil {
		s.Reg, s.Value = n.register(s.Reg, n.name(s.Reg)), v
	}
}

func (n *narrower) loop(s *simt.For) {
	if s.Var.Type != ir.I64 || s.Unroll || n.of(s.Hi).hi > math.MaxInt32-s.Step {
		return
	}
	if lo, hi := n.low(s.Lo), n.low(s.Hi); lo != nil && hi != nil {
		s.Var, s.Lo, s.Hi = n.register(s.Var, n.name(s.Var)), lo, hi
	}
}

func (n *narrower) register(r *simt.Reg, lies span) *simt.Reg {
	reg := *r
	reg.Type = ir.I32
	n.names[&reg] = lies
	n.wide[r] = ir.Widen(ir.I64, ir.Name(&reg))
	return &reg
}

// int32s are what 32 bits hold.
var int32s = span{math.MinInt32, math.MaxInt32, false}

func (n *narrower) fits(e *ir.Expr) bool {
	s := n.of(e)
	return !s.wild && s.in(int32s)
}

// low is the value of an index as a number of 32 bits; nil where it is not certain to be one.
func (n *narrower) low(e *ir.Expr) *ir.Expr {
	switch {
	case e.Type != ir.I64 || !n.fits(e):
		return nil
	case e.IsConst():
		return ir.NewConst(ir.I32, e.Val)
	case e.Op == ir.OpWiden && e.Args[0].Type == ir.I32:
		return e.Args[0]
	case offset(e):
		a, b := n.low(e.Args[0]), n.low(e.Args[1])
		if a != nil && b != nil {
			return ir.Fold(ir.NewExpr(e.Op, ir.I32, nil, e.Pos, a, b))
		}
	}
	return nil
}

// expr is an expression whose operands are narrow already, where they can be.
func (n *narrower) expr(e *ir.Expr) *ir.Expr {
	switch e.Op {
	case ir.OpName:
		if to := n.wide[e.Ref]; to != nil {
			return to
		}
	case ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpDiv, ir.OpRem, ir.OpFloorDiv, ir.OpMod, ir.OpMin, ir.OpMax, ir.OpBitAnd, ir.OpBitOr, ir.OpBitXor:
		if e.Type == ir.I64 && !offset(e) && n.fits(e) {
			return n.arithmetic(e, e.Args)
		}
	case ir.OpShl, ir.OpShr:
		if c, ok := e.Args[1].IntValue(); ok && c >= 0 && c < 31 && e.Type == ir.I64 && n.fits(e) {
			return n.arithmetic(e, e.Args[:1])
		}
	case ir.OpEq, ir.OpNe, ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
		if a, b := n.low(e.Args[0]), n.low(e.Args[1]); a != nil && b != nil {
			return ir.NewExpr(e.Op, e.Type, nil, e.Pos, a, b)
		}
	}
	return e
}

// arithmetic is an operation on 32 bits, made wide; list are the operands whose type is the result's.
func (n *narrower) arithmetic(e *ir.Expr, list []*ir.Expr) *ir.Expr {
	args := append([]*ir.Expr{}, e.Args...)
	for i, a := range list {
		if args[i] = n.low(a); args[i] == nil {
			return e
		}
	}
	return ir.NewExpr(ir.OpWiden, ir.I64, nil, e.Pos, ir.NewExpr(e.Op, ir.I32, nil, e.Pos, args...))
}
