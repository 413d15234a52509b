package gogen

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gkc-lang/gkc/codegen/source"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
)

// exprs writes expressions as Go.
type exprs struct {
	ref   func(ir.Ref) string // how a name is written
	temps map[*ir.Expr]string // expressions that have a name here
}

// cannot stops emitting: the module has something that this target has no way to say.
func cannot(pos diag.Pos, format string, args ...any) {
	panic(diag.Errorf(pos, "ir", "Go: "+format, args...))
}

// typeOf is the Go type that holds values of t.
func typeOf(t ir.Type) string {
	if t.IsPacked() {
		return "uint32"
	}
	return t.Elem.Go
}

// text is e on its own.
func (x *exprs) text(e *ir.Expr) string { return x.expr(e).String }

func (x *exprs) expr(e *ir.Expr) source.Text {
	if name, ok := x.temps[e]; ok {
		return source.Atom(name)
	}
	switch e.Op {
	case ir.OpConst:
		return source.Atom(typed(e))
	case ir.OpName:
		return source.Atom(x.ref(e.Ref))
	case simt.OpElem:
		return source.Atom(fmt.Sprintf("%s[%s]", x.ref(e.Ref), x.subscript(e.Args[0])))
	case ir.OpCast, ir.OpWiden, ir.OpBitcast:
		return x.convert(e)
	}
	template, ok := e.Op.Go.For(operandType(e))
	if !ok {
		cannot(e.Pos, "no way to say %s of %s", e.Op.Name, operandType(e))
	}
	return source.Fill(template, x.operands(e), map[byte]string{'t': typeOf(e.Type)})
}

// operandType is the type by which an operation's spelling is chosen.
func operandType(e *ir.Expr) ir.Type {
	if len(e.Args) == 0 {
		return e.Type
	}
	return e.Args[0].Type
}

// operands writes the operands of e. Numbers stand bare where the other operand gives
// them its type (the count of a shift has a type of its own); an operation on nothing but
// numbers would be constant arithmetic, which has other rules.
func (x *exprs) operands(e *ir.Expr) []source.Text {
	out := make([]source.Text, len(e.Args))
	constants := 0
	for _, a := range e.Args {
		if a.IsConst() {
			constants++
		}
	}
	bare := len(e.Args) == 2 && constants == 1 && e.Args[0].Type == e.Args[1].Type && e.Op != ir.OpShl && e.Op != ir.OpShr
	for i, a := range e.Args {
		switch {
		case !a.IsConst():
			out[i] = x.expr(a)
		case bare:
			out[i] = source.Atom(number(a))
			if strings.HasPrefix(out[i].String, "-") {
				out[i] = source.Loose(out[i].String)
			}
		case constants == len(e.Args) && i == 0:
			out[i] = source.Atom("simt.Value(" + typed(a) + ")")
		default:
			out[i] = source.Atom(typed(a))
		}
	}
	return out
}

// subscript writes an index; Go refuses negative constants there, which must fail as they run.
func (x *exprs) subscript(e *ir.Expr) string {
	if n, ok := e.IntValue(); ok {
		if n < 0 {
			return "simt.Value(" + typed(e) + ")"
		}
		return strconv.FormatInt(n, 10)
	}
	return x.text(e)
}

// typed is a constant with its type.
func typed(e *ir.Expr) string {
	s := number(e)
	if e.Type.IsBool() || strings.HasPrefix(s, "simt.") {
		return s
	}
	return typeOf(e.Type) + "(" + s + ")"
}

// number is a constant as Go writes it where the type is known.
func number(e *ir.Expr) string {
	switch t := e.Type; {
	case t == ir.F32 || t == ir.F64:
		return float(e.Val.Float(), t.Elem.Bits)
	case t.IsFloat():
		return fmt.Sprintf("%s(%#x)", typeOf(t), ir.ToBits(t, e.Val))
	case t.IsInt() && t.Elem.Kind == ir.Uint:
		return strconv.FormatUint(ir.ToBits(t, e.Val), 10)
	}
	return e.Val.Text(e.Type)
}

func float(v float64, bits int) string {
	switch {
	case math.IsInf(v, 1):
		return fmt.Sprintf("simt.Inf%d", bits)
	case math.IsInf(v, -1):
		return fmt.Sprintf("-simt.Inf%d", bits)
	case v != v:
		return fmt.Sprintf("simt.NaN%d", bits)
	case v == 0 && math.Signbit(v):
		return fmt.Sprintf("simt.NegZero%d", bits)
	}
	s := strconv.FormatFloat(v, 'g', -1, bits)
	if strings.ContainsAny(s, ".e") {
		return s
	}
	return s + ".0"
}
