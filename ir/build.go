package ir

import (
	"fmt"

	"github.com/gkc-lang/gkc/ir/diag"
)

// Constructors. They fold constants and the identities that hold for every value, so that index arithmetic stays readable;
// algebra that needs a proof belongs to passes.

// Int64 is an i64 constant.
func Int64(n int64) *Expr { return NewConst(I64, IntConst(n)) }

// ZeroOf is the zero of a type.
func ZeroOf(t Type) *Expr { return NewConst(t, Const{}) }

// True and False are the truth values.
var (
	True  = NewConst(Bool_, BoolConst(true))
	False = NewConst(Bool_, BoolConst(false))
)

// Apply makes op of operands whose result type the rule gives. It panics if the rule refuses: that is a bug of the caller.
func Apply(op *Op, args ...*Expr) *Expr {
	types := make([]Type, len(args))
	for i, a := range args {
		types[i] = a.Type
	}
	t, err := op.ResultType(types)
	if err != nil || !t.IsValid() {
		panic(fmt.Sprintf("ir: %s of %v: %v", op.Name, types, err))
	}
	return fold(NewExpr(op, t, nil, diag.Pos{}, args...))
}

// Binary and unary operations.
func Add(a, b *Expr) *Expr      { return Apply(OpAdd, a, b) }
func Sub(a, b *Expr) *Expr      { return Apply(OpSub, a, b) }
func Mul(a, b *Expr) *Expr      { return Apply(OpMul, a, b) }
func Div(a, b *Expr) *Expr      { return Apply(OpDiv, a, b) }
func Rem(a, b *Expr) *Expr      { return Apply(OpRem, a, b) }
func FloorDiv(a, b *Expr) *Expr { return Apply(OpFloorDiv, a, b) }
func Mod(a, b *Expr) *Expr      { return Apply(OpMod, a, b) }
func Neg(a *Expr) *Expr         { return Apply(OpNeg, a) }
func Min(a, b *Expr) *Expr      { return Apply(OpMin, a, b) }
func Max(a, b *Expr) *Expr      { return Apply(OpMax, a, b) }
func Eq(a, b *Expr) *Expr       { return Apply(OpEq, a, b) }
func Ne(a, b *Expr) *Expr       { return Apply(OpNe, a, b) }
func Lt(a, b *Expr) *Expr       { return Apply(OpLt, a, b) }
func Le(a, b *Expr) *Expr       { return Apply(OpLe, a, b) }
func Gt(a, b *Expr) *Expr       { return Apply(OpGt, a, b) }
func Ge(a, b *Expr) *Expr       { return Apply(OpGe, a, b) }
func And(a, b *Expr) *Expr      { return Apply(OpAnd, a, b) }
func Or(a, b *Expr) *Expr       { return Apply(OpOr, a, b) }
func Not(a *Expr) *Expr         { return Apply(OpNot, a) }
func If(c, a, b *Expr) *Expr    { return Apply(OpIf, c, a, b) }
func Select(c, a, b *Expr) *Expr {
	return Apply(OpSelect, c, a, b)
}

// Cast converts as a program asks for it; of a constant it is a constant.
func Cast(t Type, x *Expr) *Expr { return fold(NewExpr(OpCast, t, nil, diag.Pos{}, x)) }

// Widen converts an operand to the type in which an operation happens; to its own type it is nothing.
func Widen(t Type, x *Expr) *Expr {
	if x.Type == t {
		return x
	}
	return fold(NewExpr(OpWiden, t, nil, diag.Pos{}, x))
}

// Bitcast reads the bits of x as a type of the same width.
func Bitcast(t Type, x *Expr) *Expr { return fold(NewExpr(OpBitcast, t, nil, diag.Pos{}, x)) }

// CeilDiv is (a + b - 1) / b, for a >= 0 and b > 0.
func CeilDiv(a, b *Expr) *Expr {
	if b.IsInt(1) {
		return a
	}
	return Div(Sub(Add(a, b), NewConst(b.Type, IntConst(1))), b)
}

// AllOf is the conjunction of conditions; nil entries are true.
func AllOf(conds ...*Expr) *Expr {
	out := True
	for _, c := range conds {
		if c != nil {
			out = And(out, c)
		}
	}
	return out
}

// fold simplifies what is certain: operations on constants, and neutral operands of integers and bools.
// Fold simplifies what is certain.
func Fold(e *Expr) *Expr { return fold(e) }

func fold(e *Expr) *Expr {
	if out := neutral(e); out != nil {
		return out
	}
	if e.Op.Effect != NoEffect || e.Op.Is(Lazy) || len(e.Args) == 0 {
		return e
	}
	for _, a := range e.Args {
		if !a.IsConst() || a.Type.IsPacked() {
			return e
		}
	}
	vals := make([]Const, len(e.Args))
	types := make([]Type, len(e.Args))
	for i, a := range e.Args {
		vals[i], types[i] = a.Val, a.Type
	}
	if e.Op.Fault != nil {
		if bad := e.Op.Fault(e.Args); bad != nil && (!bad.IsConst() || bad.Val.Bool()) {
			return e // stays, to be reported where it is evaluated
		}
	}
	v, ok := EvalOp(e.Op, e.Type, types, vals)
	if !ok || e.Type.IsFloat() && !isNaN(v) && RoundTo(e.Type.Elem, v.Float()) != v.Float() {
		return e // no value, or, of an integer that is widened, none that the type can hold
	}
	return NewConst(e.Type, v).At(e.Pos)
}

func neutral(e *Expr) *Expr {
	isTrue := func(x *Expr) bool { return x.IsConst() && x.Type.IsBool() && x.Val.Bool() }
	isFalse := func(x *Expr) bool { return x.IsConst() && x.Type.IsBool() && !x.Val.Bool() }
	a := e.Args
	switch e.Op {
	case OpAdd:
		if a[1].IsInt(0) {
			return a[0]
		}
		if a[0].IsInt(0) {
			return a[1]
		}
	case OpSub:
		if a[1].IsInt(0) {
			return a[0]
		}
	case OpMul:
		if a[1].IsInt(1) || a[0].IsInt(0) && harmless(a[1]) {
			return a[0]
		}
		if a[0].IsInt(1) || a[1].IsInt(0) && harmless(a[0]) {
			return a[1]
		}
	case OpDiv:
		if a[1].IsInt(1) {
			return a[0]
		}
	case OpPow:
		if a[1].IsConst() && a[1].Val.Float() == 2 { // the square is rounded as the power is
			return NewExpr(OpMul, e.Type, nil, e.Pos, a[0], a[0])
		}
	case OpAnd:
		if isTrue(a[0]) || isFalse(a[1]) && isFalse(a[0]) {
			return a[1]
		}
		if isFalse(a[0]) || isTrue(a[1]) {
			return a[0]
		}
	case OpOr:
		if isFalse(a[0]) {
			return a[1]
		}
		if isTrue(a[0]) || isFalse(a[1]) {
			return a[0]
		}
	case OpIf:
		if isTrue(a[0]) {
			return a[1]
		}
		if isFalse(a[0]) {
			return a[2]
		}
	}
	return nil
}

// harmless reports whether dropping e drops no fault.
func harmless(e *Expr) bool { return e.Op == OpName || e.Op == OpConst }

func isNaN(c Const) bool { return c.Float() != c.Float() }
