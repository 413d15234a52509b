package cuda

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

// exprs writes expressions as CUDA C. Integer arithmetic wraps in gk, and C promises that of unsigned integers only: sums and
// products are computed unsigned, and whoever needs their sign converts them back.
type exprs struct {
	ref   func(ir.Ref) string
	mask  string              // the lanes of a warp that exist
	temps map[*ir.Expr]string // expressions that have a name here
}

// piece is a written expression; modular says that its C type is the unsigned one of the same width.
type piece struct {
	source.Text
	modular bool
}

func atom(s string) piece { return piece{Text: source.Atom(s)} }

// cannot stops emitting: the module has something that this target has no way to say.
func cannot(pos diag.Pos, format string, args ...any) {
	panic(diag.Errorf(pos, "ir", "CUDA: "+format, args...))
}

// typeOf is the C type that holds values of t.
func typeOf(t ir.Type) string {
	if t.IsPacked() {
		return "word"
	}
	return t.Elem.Name
}

func isSigned(t ir.Type) bool { return t.IsInt() && t.Elem.Kind == ir.Int }

// unsigned is the unsigned type as wide as t.
func unsigned(t ir.Type) string { return fmt.Sprintf("u%d", t.Bits()) }

// text is e as it is assigned or passed: conversions between integers of one width happen by themselves there.
func (x *exprs) text(e *ir.Expr) string { return x.expr(e).String }

// value is e with the type that it says.
func (x *exprs) value(e *ir.Expr) source.Text {
	p := x.expr(e)
	if p.modular {
		return as(typeOf(e.Type), p.Text)
	}
	return p.Text
}

func (x *exprs) expr(e *ir.Expr) piece {
	if name, ok := x.temps[e]; ok {
		return atom(name)
	}
	switch e.Op {
	case ir.OpConst:
		return piece{Text: constantText(e)}
	case ir.OpName:
		return atom(x.ref(e.Ref))
	case simt.OpElem:
		return atom(fmt.Sprintf("%s[%s]", x.ref(e.Ref), x.subscript(e.Args[0])))
	case simt.OpAddr:
		return atom(fmt.Sprintf("shared_address(%s + %s)", x.ref(e.Ref), x.value(e.Args[0]).Paren()))
	case ir.OpCast, ir.OpWiden, ir.OpBitcast:
		return piece{Text: x.convert(e)}
	}
	template, ok := e.Op.C.For(operandType(e))
	if !ok {
		cannot(e.Pos, "no way to say %s of %s", e.Op.Name, operandType(e))
	}
	if wrapping, ok := strings.CutPrefix(template, "~"); ok {
		return x.wrapping(e, wrapping)
	}
	operands := make([]source.Text, len(e.Args))
	for i, a := range e.Args {
		operands[i] = x.value(a)
	}
	return piece{Text: source.Fill(template, operands, map[byte]string{'t': typeOf(e.Type), 'm': x.mask})}
}

// operandType is the type by which an operation's spelling is chosen.
func operandType(e *ir.Expr) ir.Type {
	if len(e.Args) == 0 {
		return e.Type
	}
	return e.Args[0].Type
}

// wrapping writes arithmetic of signed integers on unsigned ones: a constant operand is written unsigned, or else the first is
// converted.
func (x *exprs) wrapping(e *ir.Expr, template string) piece {
	operands := make([]source.Text, len(e.Args))
	done := !isSigned(e.Type)
	for i, a := range e.Args {
		p := x.expr(a)
		if n, ok := a.IntValue(); ok && isSigned(a.Type) {
			p = modular(n, unsigned(a.Type))
		}
		operands[i], done = p.Text, done || p.modular
	}
	if !done {
		operands[0] = as(unsigned(e.Type), operands[0])
	}
	return piece{source.Fill(template, operands, nil), isSigned(e.Type)}
}

// modular is a number as an unsigned one.
func modular(n int64, t string) piece {
	if n < 0 {
		return piece{source.Unary(fmt.Sprintf("(%s)%d", t, n)), true}
	}
	return piece{source.Atom(strconv.FormatInt(n, 10) + suffix(t)), true}
}

func suffix(t string) string {
	switch t {
	case "u32":
		return "u"
	case "u64":
		return "ull"
	case "i64":
		return "ll"
	}
	return ""
}

func constantText(e *ir.Expr) source.Text {
	switch s := constant(e); {
	case s[0] == '-':
		return source.Loose(s) // "- -1" must not become "--1"
	case s[0] == '(' && s[len(s)-1] != ')':
		return source.Unary(s)
	default:
		return source.Atom(s)
	}
}

// subscript is e where an int does as well: small numbers stand without their type.
func (x *exprs) subscript(e *ir.Expr) string {
	if n, ok := e.IntValue(); ok && n >= 0 && n <= math.MaxInt32 {
		return strconv.FormatInt(n, 10)
	}
	return x.text(e)
}

// constant is a number with its type.
func constant(e *ir.Expr) string {
	switch t := e.Type; {
	case t.IsBool():
		return strconv.FormatBool(e.Val.Bool())
	case t == ir.F32:
		return float(e.Val.Float(), 32, "f32_of_bits(0x%xu)", ir.ToBits(t, e.Val), "f")
	case t == ir.F64:
		return float(e.Val.Float(), 64, "f64_of_bits(0x%xull)", ir.ToBits(t, e.Val), "")
	case t.IsFloat() || t.IsPacked():
		return fmt.Sprintf("(%s)0x%x", typeOf(t), ir.ToBits(t, e.Val))
	case t.Elem.Kind == ir.Uint:
		return whole(strconv.FormatUint(ir.ToBits(t, e.Val), 10), t)
	case e.Val.Int() == math.MinInt64:
		return "(-9223372036854775807ll - 1)"
	case t.Bits() >= 32 && e.Val.Int() == math.MinInt32:
		return "(-2147483647" + suffix(typeOf(t)) + " - 1)"
	}
	return whole(strconv.FormatInt(e.Val.Int(), 10), e.Type)
}

func whole(digits string, t ir.Type) string {
	if t.Bits() < 32 {
		return fmt.Sprintf("(%s)%s", typeOf(t), digits)
	}
	return digits + suffix(typeOf(t))
}

func float(v float64, bits int, pattern string, b uint64, suffix string) string {
	if math.IsInf(v, 0) || v != v {
		return fmt.Sprintf(pattern, b)
	}
	s := strconv.FormatFloat(v, 'g', -1, bits)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s + suffix
}
