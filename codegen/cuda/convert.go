package cuda

import (
	"fmt"

	"github.com/gkc-lang/gkc/codegen/source"
	"github.com/gkc-lang/gkc/ir"
)

// convert writes cast, widen and bitcast.
func (x *exprs) convert(e *ir.Expr) source.Text {
	from, to := e.Args[0].Type, e.Type
	in := x.value(e.Args[0])
	switch {
	case e.Op == ir.OpBitcast:
		return fromBits(to, toBits(from, in))
	case from == to:
		return in
	case e.Op == ir.OpWiden && to.IsInt():
		return as(typeOf(to), in)
	}
	return cast(to, from, in)
}

func as(t string, in source.Text) source.Text {
	if in.Prec < source.PrecUnary {
		in.String = "(" + in.String + ")"
	}
	return source.Unary(fmt.Sprintf("(%s)%s", t, in.String))
}

func call(format string, args ...any) source.Text { return source.Atom(fmt.Sprintf(format, args...)) }

func isNarrow(t ir.Type) bool { return t.IsFloat() && t.Bits() < 32 }

// wide is the value of a float in f32 or f64.
func wide(from ir.Type, in source.Text) source.Text {
	if isNarrow(from) {
		return call("f32_of_%s(%s)", typeOf(from), in.String)
	}
	return in
}

func cast(to, from ir.Type, in source.Text) source.Text {
	switch {
	case to.IsBool() && from.IsFloat():
		return source.Fill("$0 != $1", []source.Text{wide(from, in), source.Atom("0")}, nil)
	case to.IsBool():
		return source.Fill("$0 != $1", []source.Text{in, source.Atom("0")}, nil)
	case isNarrow(to) && (from == ir.F32 || isNarrow(from)):
		return call("%s_of_f32(%s)", typeOf(to), wide(from, in).String)
	case isNarrow(to): // integers and f64: through f64, rounded once
		return call("%s_of_f32(round_odd(%s))", typeOf(to), as("f64", in).String)
	case to.IsFloat() && isNarrow(from) && to == ir.F32:
		return wide(from, in)
	case to.IsFloat():
		return as(typeOf(to), wide(from, in))
	case from.IsFloat():
		return call("saturate<%s>((f64)%s, %s)", typeOf(to), wide(from, in).Paren(), limits(to))
	case !from.IsBool() && (from == ir.U64 || !fits(from, to)):
		return call("limit<%s>((i64)%s, %s)", typeOf(to), in.Paren(), limits(to))
	}
	return as(typeOf(to), in)
}

// fits reports whether every value of one integer type is one of the other.
func fits(from, to ir.Type) bool {
	fromLo, fromHi := ir.IntRange(from.Elem)
	toLo, toHi := ir.IntRange(to.Elem)
	return fromLo >= toLo && fromHi <= toHi
}

func limits(t ir.Type) string {
	lo, hi := ir.IntRange(t.Elem)
	return constant(ir.NewConst(t, ir.IntConst(lo))) + ", " + constant(ir.NewConst(t, ir.IntConst(hi)))
}

// toBits is the storage pattern as an unsigned integer of the same width.
func toBits(t ir.Type, in source.Text) source.Text {
	if t == ir.F32 || t == ir.F64 {
		return call("bits_%s(%s)", typeOf(t), in.String)
	}
	return as(unsigned(t), in)
}

func fromBits(t ir.Type, bits source.Text) source.Text {
	switch {
	case t == ir.F32 || t == ir.F64:
		return call("%s_of_bits(%s)", typeOf(t), bits.String)
	case t.IsBool():
		return source.Fill("$0 != $1", []source.Text{bits, source.Atom("0")}, nil)
	}
	return as(typeOf(t), bits)
}
