package gogen

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/codegen/source"
	"github.com/gkc-lang/gkc/ir"
)

// convert writes cast, widen and bitcast.
func (x *exprs) convert(e *ir.Expr) source.Text {
	a := e.Args[0]
	in := x.text(a)
	if a.IsConst() { // a conversion of a constant is constant arithmetic
		in = "simt.Value(" + in + ")"
	}
	from, to := a.Type, e.Type
	switch {
	case e.Op == ir.OpBitcast:
		return source.Atom(fromBits(to, toBits(from, in)))
	case from == to && !(a.IsConst()):
		return x.expr(a)
	case e.Op == ir.OpWiden && to.IsInt():
		return source.Atom(typeOf(to) + "(" + integer(from, in) + ")")
	}
	return source.Atom(cast(to, from, in))
}

// integer is the value of an integer or bool as an operand of a conversion.
func integer(from ir.Type, in string) string {
	if from.IsBool() {
		return "simt.Bit(" + in + ")"
	}
	return in
}

// wide is the value of a float in float32 or float64.
func wide(from ir.Type, in string) string {
	if isNarrow(from) {
		return operandOf(in) + ".F32()"
	}
	return in
}

// operandOf is in as what a method can be called on.
func operandOf(in string) string {
	if strings.ContainsAny(in, " ") {
		return "(" + in + ")"
	}
	return in
}

func isNarrow(t ir.Type) bool { return t.IsFloat() && t.Bits() < 32 }

func cast(to, from ir.Type, in string) string {
	switch {
	case to == from:
		return in
	case to.IsBool() && from.IsFloat():
		return "(" + wide(from, in) + " != 0)"
	case to.IsBool():
		return "(" + in + " != 0)"
	case isNarrow(to) && from.IsFloat():
		return fmt.Sprintf("simt.To%s(%s)", narrowName(to), wide(from, in))
	case isNarrow(to):
		return fmt.Sprintf("simt.To%s(float64(%s))", narrowName(to), integer(from, in))
	case to.IsFloat() && from.IsFloat():
		if from.Bits() < 32 && to == ir.F32 {
			return wide(from, in)
		}
		return typeOf(to) + "(" + wide(from, in) + ")"
	case to.IsFloat():
		return typeOf(to) + "(" + integer(from, in) + ")"
	case from.IsFloat():
		return fmt.Sprintf("%s(simt.Saturate(float64(%s), %s))", typeOf(to), wide(from, in), limits(to))
	case !from.IsBool() && (from == ir.U64 || !fits(from, to)):
		return fmt.Sprintf("%s(simt.Limit(int64(%s), %s))", typeOf(to), integer(from, in), limits(to))
	}
	return typeOf(to) + "(" + integer(from, in) + ")"
}

// fits reports whether every value of one integer type is one of the other.
func fits(from, to ir.Type) bool {
	fromLo, fromHi := ir.IntRange(from.Elem)
	toLo, toHi := ir.IntRange(to.Elem)
	return fromLo >= toLo && fromHi <= toHi
}

// narrowName is the name of a narrow float in functions of runtime/simt.
func narrowName(t ir.Type) string { return strings.TrimPrefix(t.Elem.Go, "simt.") }

func limits(t ir.Type) string {
	name := strings.ToUpper(t.Elem.Name)
	return "simt.Min" + name + ", simt.Max" + name
}

// toBits is the storage pattern as an unsigned integer of the same width.
func toBits(t ir.Type, in string) string {
	switch {
	case t == ir.F32:
		return "simt.Bits32(" + in + ")"
	case t == ir.F64:
		return "simt.Bits64(" + in + ")"
	case t.IsBool():
		return "uint8(simt.Bit(" + in + "))"
	}
	return fmt.Sprintf("uint%d(%s)", t.Bits(), in)
}

func fromBits(t ir.Type, bits string) string {
	switch {
	case t == ir.F32:
		return "simt.FromBits32(" + bits + ")"
	case t == ir.F64:
		return "simt.FromBits64(" + bits + ")"
	case t.IsBool():
		return "(" + bits + " != 0)"
	}
	return typeOf(t) + "(" + bits + ")"
}
