package lang

import (
	"math/big"
	"strconv"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
)

func itoa(n int) string { return strconv.Itoa(n) }

var binaryOps = map[string]*ir.Op{"+": ir.OpAdd, "-": ir.OpSub, "*": ir.OpMul, "/": ir.OpDiv, "%": ir.OpRem,
	"==": ir.OpEq, "!=": ir.OpNe, "<": ir.OpLt, "<=": ir.OpLe, ">": ir.OpGt, ">=": ir.OpGe, "&&": ir.OpAnd, "||": ir.OpOr}

func (x *expander) unary(c context, n *syntax.Node) *term {
	a := x.expr(c, n.Args[0])
	if n.Name == "!" {
		x.needBool(c, a, "a bool behind '!'")
		return x.operation(c, n, ir.OpNot, ir.Bool_, ir.Bool_, a)
	}
	t := x.counts(c, a)
	return x.operation(c, n, ir.OpNeg, t, t, a)
}

func (x *expander) binary(c context, n *syntax.Node) *term {
	a, b := x.expr(c, n.Args[0]), x.expr(c, n.Args[1])
	switch n.Name {
	case "&&", "||":
		x.needBool(c, a, "a bool in front of "+n.Name)
		x.needBool(c, b, "a bool behind "+n.Name)
		return x.operation(c, n, binaryOps[n.Name], ir.Bool_, ir.Bool_, a, b)
	case "==", "!=", "<", "<=", ">", ">=":
		return x.operation(c, n, binaryOps[n.Name], comparedIn(a, b), ir.Bool_, a, b)
	case "**":
		t := widen(x.counts(c, a), x.counts(c, b))
		op := ir.OpPow
		if t.IsInt() {
			op = ir.OpIPow
		}
		return x.operation(c, n, op, t, t, a, b)
	}
	t := widen(x.counts(c, a), x.counts(c, b))
	return x.operation(c, n, binaryOps[n.Name], t, t, a, b)
}

// comparedIn is the type in which two values are compared. An integer that the other side's type cannot hold is compared in i64.
func comparedIn(a, b *term) ir.Type {
	t := widen(a.typ, b.typ)
	if !t.IsInt() || t == intLit {
		return t
	}
	for _, x := range []*term{a, b} {
		if v, ok := x.isInteger(); ok && x.typ == intLit && ir.Wrap(t.Elem, v) != v {
			return ir.I64
		}
	}
	return t
}

func (x *expander) choice(c context, n *syntax.Node) *term {
	cond, a, b := x.expr(c, n.Args[0]), x.expr(c, n.Args[1]), x.expr(c, n.Args[2])
	x.needBool(c, cond, "a bool condition")
	t := widen(a.typ, b.typ)
	if a.typ == b.typ {
		t = a.typ // nothing is computed with the values
	}
	return x.operation(c, n, ir.OpIf, t, t, cond, a, b)
}

// counts is the type in which t takes part in arithmetic; bool does not.
func (x *expander) counts(c context, t *term) ir.Type {
	if t.typ.IsBool() {
		x.fail(c, t.pos, "type", "%s is bool, expected a number", show(t.node)).WithFix("write if, or a cast such as i32(…)")
		return lostType
	}
	return computed(t.typ)
}

func (x *expander) needBool(c context, t *term, what string) {
	if t.typ != lostType && !t.typ.IsBool() {
		x.fail(c, t.pos, "type", "%s is %s, expected %s", show(t.node), t.typ, what)
	}
}

func (x *expander) needInteger(c context, t *term, what string) bool {
	if t.typ == lostType || t.typ.IsInt() {
		return true
	}
	x.fail(c, t.pos, "type", "%s is %s, expected %s", show(t.node), t.typ, what)
	return false
}

// operation makes op of args, computed in the type in; operations on literals happen here.
func (x *expander) operation(c context, n *syntax.Node, op *ir.Op, in, out ir.Type, args ...*term) *term {
	if in == lostType && out != ir.Bool_ {
		out = lostType
	}
	t := x.newTerm(c, term{kind: applyTerm, node: n, pos: c.pos(n.Pos), op: op, in: in, typ: out, args: args})
	if t.kind != applyTerm {
		return t
	}
	if in.IsInt() && in != intLit && (op.Fault != nil && len(args) == 2 && x.certainFault(c, t) || x.tooLarge(c, t)) {
		return x.lost(n, args...)
	}
	if in == intLit && op.Fault != nil && x.certainFault(c, t) {
		return x.lost(n, args...)
	}
	return x.fold(c, t)
}

// wraps holds the operations for which an integer counts modulo the width of their type, so that any literal will do.
var wraps = map[*ir.Op]bool{ir.OpAdd: true, ir.OpSub: true, ir.OpMul: true, ir.OpFMA: true, ir.OpNeg: true, ir.OpBitAnd: true, ir.OpBitOr: true,
	ir.OpBitXor: true, ir.OpShl: true, ir.OpPopcount: true}

// tooLarge reports a literal that the type of an operation cannot hold, where that would change the result.
func (x *expander) tooLarge(c context, t *term) bool {
	if wraps[t.op] {
		return false
	}
	for _, a := range t.args {
		if a.typ == intLit && !fits(a, t.in, map[*term]bool{}) {
			x.fail(c, a.pos, "type", "%s does not fit %s, in which %s is computed", show(a.node), t.in, show(t.node)).WithFix("convert the other side: i64(…)")
			return true
		}
	}
	return false
}

// fits reports whether the literals that t is made of have the same value in type in.
func fits(t *term, in ir.Type, seen map[*term]bool) bool {
	switch {
	case t.typ != intLit || seen[t]:
		return true
	case t.isNumber():
		return ir.Wrap(in.Elem, t.num.Int()) == t.num.Int()
	case (t.op == ir.OpSub || t.op == ir.OpNeg) && in.Elem.Kind == ir.Uint:
		return false
	}
	seen[t] = true
	for _, a := range t.args {
		if !fits(a, in, seen) {
			return false
		}
	}
	return true
}

// certainFault reports an operation that never has a value, such as a division by the number 0.
func (x *expander) certainFault(c context, t *term) bool {
	b, ok := t.args[1].isInteger()
	if !ok {
		return false
	}
	in := settled(t.in)
	left := ir.NewConst(in, ir.IntConst(1))
	bad := t.op.Fault([]*ir.Expr{left, ir.NewConst(ir.I64, ir.IntConst(b))})
	if bad == nil || !bad.IsConst() || !bad.Val.Bool() {
		return false
	}
	x.fail(c, t.args[1].pos, "type", "%s: %s", show(t.node), t.op.FaultText)
	return true
}

// fold computes an operation on literals; on anything else it returns the term.
func (x *expander) fold(c context, t *term) *term {
	if t.op.Is(ir.Lazy) && t.op == ir.OpIf || t.op == ir.OpSelect || t.typ != intLit && t.typ != floatLit && t.typ != ir.Bool_ {
		return t
	}
	vals, types := make([]ir.Const, len(t.args)), make([]ir.Type, len(t.args))
	in := literalType(t.in)
	for i, a := range t.args {
		if !a.isNumber() || !a.isLiteral() && !a.typ.IsBool() {
			return t
		}
		vals[i], types[i] = castConst(in, a), in
	}
	if t.typ == intLit && overflows(t.op, vals) {
		x.fail(c, t.pos, "limit", "%s does not fit 64 bits", show(t.node))
		return x.lost(t.node)
	}
	v, ok := ir.EvalOp(t.op, literalType(t.typ), types, vals)
	if !ok {
		return t
	}
	return x.newTerm(c, term{kind: numberTerm, node: t.node, pos: t.pos, typ: t.typ, num: v})
}

// literalType is the type in which literals are computed with each other.
func literalType(t ir.Type) ir.Type {
	switch t {
	case intLit:
		return ir.I64
	case floatLit:
		return ir.F64
	}
	return t
}

// castConst is a number as a value of type t.
func castConst(t ir.Type, n *term) ir.Const {
	v, _ := ir.EvalOp(ir.OpCast, t, []ir.Type{literalType(n.typ)}, []ir.Const{n.num})
	return v
}

// overflows reports whether the exact result of an operation on integers needs more than 64 bits.
func overflows(op *ir.Op, args []ir.Const) bool {
	a := big.NewInt(args[0].Int())
	var b *big.Int
	if len(args) > 1 {
		b = big.NewInt(args[1].Int())
	}
	switch op {
	case ir.OpNeg:
		a.Neg(a)
	case ir.OpAdd:
		a.Add(a, b)
	case ir.OpSub:
		a.Sub(a, b)
	case ir.OpMul:
		a.Mul(a, b)
	case ir.OpIPow:
		if a.CmpAbs(big.NewInt(1)) <= 0 {
			return false
		}
		if b.CmpAbs(big.NewInt(64)) >= 0 {
			return true
		}
		a.Exp(a, b, nil)
	default:
		return false
	}
	return !a.IsInt64()
}
