package ir

import (
	"fmt"

	"github.com/gkc-lang/gkc/ir/diag"
)

// EvalExpr computes an expression of scalars: names are looked up, guards are respected, and an operation without a value (a
// division by zero) is an error. Reads and a level's binding operations are errors too: they need the level's evaluator.
func EvalExpr(e *Expr, lookup func(Ref) (Const, bool)) (Const, error) {
	ev := scalarEval{lookup, map[*Expr]Const{}}
	return ev.eval(e)
}

type scalarEval struct {
	lookup func(Ref) (Const, bool)
	memo   map[*Expr]Const
}

func (ev *scalarEval) eval(e *Expr) (Const, error) {
	if v, ok := ev.memo[e]; ok {
		return v, nil
	}
	v, err := ev.compute(e)
	if err == nil {
		ev.memo[e] = v
	}
	return v, err
}

func (ev *scalarEval) compute(e *Expr) (Const, error) {
	switch e.Op {
	case OpConst:
		return e.Val, nil
	case OpName:
		if v, ok := ev.lookup(e.Ref); ok {
			return v, nil
		}
		return Const{}, diag.Errorf(e.Pos, "runtime", "%s has no value here", e.Ref.RefName())
	case OpIf, OpAnd, OpOr:
		return ev.lazy(e)
	}
	args := make([]Const, len(e.Args))
	types := make([]Type, len(e.Args))
	consts := make([]*Expr, len(e.Args))
	for i, a := range e.Args {
		v, err := ev.eval(a)
		if err != nil {
			return Const{}, err
		}
		args[i], types[i], consts[i] = v, a.Type, NewConst(a.Type, v)
	}
	if e.Op.Fault != nil {
		if bad := e.Op.Fault(consts); bad != nil && bad.IsConst() && bad.Val.Bool() {
			return Const{}, diag.Errorf(e.Pos, "runtime", "%s", e.Op.FaultText)
		}
	}
	v, ok := EvalOp(e.Op, e.Type, types, args)
	if !ok {
		return Const{}, fmt.Errorf("%s has no value outside a kernel", e.Op.Name)
	}
	return v, nil
}

func (ev *scalarEval) lazy(e *Expr) (Const, error) {
	c, err := ev.eval(e.Args[0])
	if err != nil {
		return Const{}, err
	}
	switch {
	case e.Op == OpAnd && !c.Bool() || e.Op == OpOr && c.Bool():
		return c, nil
	case e.Op == OpIf && !c.Bool():
		return ev.eval(e.Args[2])
	}
	return ev.eval(e.Args[1])
}
