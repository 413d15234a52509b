package tensor

import (
	"github.com/gkc-lang/gkc/ir"
)

// operation is the code of an operation of the table. The few that most time goes into are written out, so that their
// operands are combined without a further call.
func (c *compiler) operation(e *ir.Expr) code {
	args := make([]code, len(e.Args))
	for i, a := range e.Args {
		args[i] = c.code(a)
	}
	if c.ev.bound() {
		return boundOperation(e, args)
	}
	if len(args) > 0 && args[0].f != nil {
		if k := floatFast(e.Op, args); k.f != nil || k.i != nil {
			return k
		}
		return floatTable(&e.Op.Mean, args)
	}
	if k := intFast(e, args); k.i != nil {
		return k
	}
	return intTable(e, args)
}

func floatFast(op *ir.Op, args []code) code {
	if len(args) == 1 {
		if a := args[0].f; op == ir.OpNeg {
			return code{f: func(f *frame) float64 { return -a(f) }}
		}
		return code{}
	}
	if len(args) != 2 {
		return code{}
	}
	a, b := args[0].f, args[1].f
	switch op {
	case ir.OpAdd:
		return code{f: func(f *frame) float64 { return a(f) + b(f) }}
	case ir.OpSub:
		return code{f: func(f *frame) float64 { return a(f) - b(f) }}
	case ir.OpMul:
		return code{f: func(f *frame) float64 { return a(f) * b(f) }}
	case ir.OpDiv:
		return code{f: func(f *frame) float64 { return a(f) / b(f) }}
	case ir.OpMax:
		return code{f: func(f *frame) float64 { return max(a(f), b(f)) }}
	case ir.OpMin:
		return code{f: func(f *frame) float64 { return min(a(f), b(f)) }}
	}
	return code{}
}

// floatTable is the meaning of an operation on floats as the table has it.
func floatTable(m *ir.Mean, args []code) code {
	switch {
	case m.F1 != nil && len(args) == 1:
		a, op := args[0].f, m.F1
		return code{f: func(f *frame) float64 { return op(a(f)) }}
	case m.F2 != nil && len(args) == 2:
		a, b, op := args[0].f, args[1].f, m.F2
		return code{f: func(f *frame) float64 { return op(a(f), b(f)) }}
	case m.F3 != nil && len(args) == 3:
		a, b, c, op := args[0].f, args[1].f, args[2].f, m.F3
		return code{f: func(f *frame) float64 { return op(a(f), b(f), c(f)) }}
	case m.P1 != nil && len(args) == 1:
		a, op := args[0].f, m.P1
		return code{i: func(f *frame) int64 { return truth(op(a(f))) }}
	case m.PF2 != nil && len(args) == 2:
		a, b, op := args[0].f, args[1].f, m.PF2
		return code{i: func(f *frame) int64 { return truth(op(a(f), b(f))) }}
	}
	panic("tensor: an operation without a meaning on floats")
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func intFast(e *ir.Expr, args []code) code {
	if len(args) != 2 || args[0].i == nil || e.Args[0].Type == ir.U64 {
		return code{}
	}
	a, b := args[0].i, args[1].i
	switch e.Op {
	case ir.OpEq:
		return code{i: func(f *frame) int64 { return truth(a(f) == b(f)) }}
	case ir.OpNe:
		return code{i: func(f *frame) int64 { return truth(a(f) != b(f)) }}
	case ir.OpLt:
		return code{i: func(f *frame) int64 { return truth(a(f) < b(f)) }}
	case ir.OpLe:
		return code{i: func(f *frame) int64 { return truth(a(f) <= b(f)) }}
	case ir.OpGt:
		return code{i: func(f *frame) int64 { return truth(a(f) > b(f)) }}
	case ir.OpGe:
		return code{i: func(f *frame) int64 { return truth(a(f) >= b(f)) }}
	}
	if e.Type != ir.I64 {
		return code{}
	}
	switch e.Op {
	case ir.OpAdd:
		return code{i: func(f *frame) int64 { return a(f) + b(f) }}
	case ir.OpSub:
		return code{i: func(f *frame) int64 { return a(f) - b(f) }}
	case ir.OpMul:
		return code{i: func(f *frame) int64 { return a(f) * b(f) }}
	}
	return code{}
}

// intTable is the meaning of an operation on integers and bools as the table has it.
func intTable(e *ir.Expr, args []code) code {
	m, to := &e.Op.Mean, e.Type
	if len(args) == 0 {
		panic("tensor: an operation without operands")
	}
	t := e.Args[0].Type
	switch {
	case m.I1 != nil && len(args) == 1:
		a, op := args[0].i, m.I1
		return wrapped(to, func(f *frame) int64 { return op(t.Elem, a(f)) })
	case m.I2 != nil && len(args) == 2:
		a, b, op := args[0].i, args[1].i, m.I2
		return wrapped(to, func(f *frame) int64 { return op(t.Elem, a(f), b(f)) })
	case m.I3 != nil && len(args) == 3:
		a, b, c, op := args[0].i, args[1].i, args[2].i, m.I3
		return wrapped(to, func(f *frame) int64 { return op(t.Elem, a(f), b(f), c(f)) })
	}
	return anyTable(e, args)
}

// anyTable evaluates by the operation's row, for what is rare: predicates of u64, and meanings over constants.
func anyTable(e *ir.Expr, args []code) code {
	types := make([]ir.Type, len(e.Args))
	for i, a := range e.Args {
		types[i] = a.Type
	}
	return code{i: func(f *frame) int64 {
		vals := make([]ir.Const, len(args))
		for i, a := range args {
			vals[i] = ir.IntConst(a.i(f))
		}
		v, ok := ir.EvalOp(e.Op, e.Type, types, vals)
		if !ok {
			panic("tensor: " + e.Op.Name + " has no meaning on " + types[0].String())
		}
		return v.Int()
	}}
}

// wrapped reduces an integer result to its type.
func wrapped(to ir.Type, x fn[int64]) code {
	switch {
	case to == ir.I64 || to == ir.U64 || to.IsBool():
		return code{i: x}
	case to == ir.I32:
		return code{i: func(f *frame) int64 { return int64(int32(x(f))) }}
	}
	return code{i: func(f *frame) int64 { return ir.Wrap(to.Elem, x(f)) }}
}

// combiner is the operation of a monoid on accumulators of type t.
func combiner(m *ir.Monoid, t ir.Type) (func(a, b float64) float64, func(a, b int64) int64) {
	if t.IsFloat() {
		return m.Op.Mean.F2, nil
	}
	switch {
	case m.Op == ir.OpAnd:
		return nil, func(a, b int64) int64 { return a & b }
	case m.Op == ir.OpOr:
		return nil, func(a, b int64) int64 { return a | b }
	case t == ir.I64 && m.Op == ir.OpAdd:
		return nil, func(a, b int64) int64 { return a + b }
	}
	op, elem := m.Op.Mean.I2, t.Elem
	if t.IsBool() {
		return nil, func(a, b int64) int64 { return op(elem, a, b) }
	}
	return nil, func(a, b int64) int64 { return ir.Wrap(elem, op(elem, a, b)) }
}
