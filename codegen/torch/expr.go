package torch

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gkc-lang/gkc/codegen/source"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// host writes expressions of the launch. What they share is printed first, as assignments.
func host(p *printer, indent string, names *source.Names, list ...*ir.Expr) []string {
	x := &exprs{names: names, temps: map[*ir.Expr]string{}}
	for _, e := range source.Shared(list...) {
		value := x.text(e)
		x.temps[e] = names.New("t")
		p.line("%s%s = %s", indent, x.temps[e], value)
	}
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = x.text(e)
	}
	return out
}

// exprs writes expressions as Python. Every value is one that its type holds: a number, or True or False.
type exprs struct {
	names *source.Names
	temps map[*ir.Expr]string
}

func (x *exprs) text(e *ir.Expr) string { return x.expr(e, false) }

// expr writes an expression. Integers that only go into sums and products of their own type need not be reduced before.
func (x *exprs) expr(e *ir.Expr, unreduced bool) string {
	if name, ok := x.temps[e]; ok {
		return name
	}
	switch e.Op {
	case ir.OpConst:
		return constant(e)
	case ir.OpName:
		return x.names.Of(e.Ref, e.Ref.RefName())
	case ir.OpCast:
		return x.cast(e)
	case ir.OpWiden:
		return x.widen(e)
	}
	t := e.Type
	if len(e.Args) > 0 {
		t = e.Args[0].Type
	}
	row, ok := spellings[e.Op]
	if !ok || t.IsPacked() || t.IsFloat() && t.Bits() < 16 {
		cannot(e.Pos, "no way to say %s of %s before the launch", e.Op.Name, t)
	}
	template := row.ints
	switch {
	case t.IsFloat():
		template = row.floats
	case t.IsBool():
		template = row.bools
	}
	if e.Op == ir.OpIf || e.Op == ir.OpSelect {
		template = "$1 if $0 else $2"
	}
	if template == "" {
		cannot(e.Pos, "no way to say %s of %s before the launch", e.Op.Name, t)
	}
	linear := e.Op == ir.OpAdd || e.Op == ir.OpSub || e.Op == ir.OpMul
	operands := make([]source.Text, len(e.Args))
	for i, a := range e.Args {
		operands[i] = source.Atom(x.operand(a, linear && a.Type == e.Type))
	}
	text := source.Fill(template, operands, map[byte]string{'b': strconv.Itoa(t.Bits())}).String
	switch {
	case e.Type.IsFloat() && row.rounds:
		return "_" + e.Type.String() + "(" + text + ")"
	case e.Type.IsInt() && row.wraps && !unreduced:
		return reduced(e.Type, text)
	}
	return text
}

// operand writes an operand, in parentheses unless it is one word or a call.
func (x *exprs) operand(e *ir.Expr, unreduced bool) string {
	s := x.expr(e, unreduced)
	depth := 0
	for i, r := range s {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth == 0 && (r == ' ' || r == '-' && i == 0):
			return "(" + s + ")"
		}
	}
	return s
}

// reduced reduces an integer to its type.
func reduced(t ir.Type, text string) string {
	letter := "_i"
	if t.Elem.Kind == ir.Uint {
		letter = "_u"
	}
	return fmt.Sprintf("%s(%s, %d)", letter, text, t.Bits())
}

func constant(e *ir.Expr) string {
	switch {
	case e.Type.IsBool():
		if e.Val.Bool() {
			return "True"
		}
		return "False"
	case e.Type.IsInt() && e.Type.Elem.Kind == ir.Uint:
		return strconv.FormatUint(uint64(e.Val.Int()), 10)
	case e.Type.IsInt():
		return strconv.FormatInt(e.Val.Int(), 10)
	}
	v := e.Val.Float()
	switch {
	case v != v:
		return "math.nan"
	case math.IsInf(v, 1):
		return "math.inf"
	case math.IsInf(v, -1):
		return "-math.inf"
	}
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if _, err := strconv.Atoi(s); err == nil {
		s += ".0"
	}
	return s
}

func (x *exprs) cast(e *ir.Expr) string {
	a, to := e.Args[0], e.Type
	from, s := a.Type, x.text(a)
	if to.IsPacked() || from.IsPacked() || to.IsFloat() && to.Bits() < 16 {
		cannot(e.Pos, "no way to cast %s to %s before the launch", from, to)
	}
	switch {
	case to.IsFloat() && from.IsFloat():
		return fmt.Sprintf("_%s(%s)", to, s)
	case to.IsFloat() && from.IsInt() && to == ir.F32 && from.Bits() == 64:
		return fmt.Sprintf("_f32(_of_int(%s, 24))", s)
	case to.IsFloat():
		return fmt.Sprintf("_%s(float(%s))", to, s)
	case to.IsInt() && to == from:
		return s
	case to.IsInt() && from.IsFloat():
		lo, hi := bounds(to)
		return fmt.Sprintf("_to_int(%s, %s, %s)", s, lo, hi)
	case to.IsInt():
		lo, hi := bounds(to)
		return fmt.Sprintf("min(max(int(%s), %s), %s)", s, lo, hi)
	case to == from:
		return s
	}
	return x.operand(a, false) + " != 0"
}

// bounds are the range of an integer type.
func bounds(t ir.Type) (lo, hi string) {
	l, h := ir.IntRange(t.Elem)
	return strconv.FormatInt(l, 10), strconv.FormatInt(h, 10)
}

func (x *exprs) widen(e *ir.Expr) string {
	a, to := e.Args[0], e.Type
	s := x.text(a)
	switch {
	case to.IsFloat() && a.Type.IsFloat():
		return s
	case to.IsFloat():
		return "float(" + s + ")"
	case to.IsInt() && to != a.Type:
		return reduced(to, "int("+s+")")
	}
	return s
}

// spelling is how Python writes an operation on integers, floats and truth values; empty: not at all. $b is the operands' width.
type spelling struct {
	ints, floats, bools string
	wraps               bool // an integer result may be one that its type does not hold
	rounds              bool // a float result, too
}

func compare(op string) spelling { return spelling{ints: op, floats: op, bools: op} }

// function is a function of floats in Python's library.
func floatFunction(name string) spelling {
	return spelling{floats: "_float(math." + name + ", $*)", rounds: true}
}

var spellings = map[*ir.Op]spelling{
	ir.OpAdd:      {ints: "$0 + $1", floats: "$0 + $1", wraps: true, rounds: true},
	ir.OpSub:      {ints: "$0 - $1", floats: "$0 - $1", wraps: true, rounds: true},
	ir.OpMul:      {ints: "$0 * $1", floats: "$0 * $1", wraps: true, rounds: true},
	ir.OpFMA:      {ints: "$0 * $1 + $2", wraps: true},
	ir.OpDiv:      {ints: "_div($0, $1)", floats: "_fdiv($0, $1)", wraps: true, rounds: true},
	ir.OpRem:      {ints: "_rem($0, $1)"},
	ir.OpFloorDiv: {ints: "_floordiv($0, $1)", wraps: true},
	ir.OpMod:      {ints: "_mod($0, $1)"},
	ir.OpNeg:      {ints: "-$0", floats: "-$0", wraps: true},
	ir.OpIPow:     {ints: "_pow($0, $1)", wraps: true},
	ir.OpAbs:      {ints: "abs($0)", floats: "abs($0)", wraps: true},
	ir.OpSign:     {ints: "_sign($0)"},
	ir.OpMin:      {ints: "min($0, $1)", floats: "_fmin($0, $1)", bools: "$0 and $1"},
	ir.OpMax:      {ints: "max($0, $1)", floats: "_fmax($0, $1)", bools: "$0 or $1"},
	ir.OpPopcount: {ints: "bin(_u($0, $b)).count(\"1\")"},
	ir.OpBitAnd:   {ints: "$0 & $1"},
	ir.OpBitOr:    {ints: "$0 | $1"},
	ir.OpBitXor:   {ints: "$0 ^ $1"},
	ir.OpShl:      {ints: "_shl($0, $1, $b)", wraps: true},
	ir.OpShr:      {ints: "_shr($0, $1, $b)"},
	ir.OpEq:       compare("$0 == $1"),
	ir.OpNe:       compare("$0 != $1"),
	ir.OpLt:       compare("$0 < $1"),
	ir.OpLe:       compare("$0 <= $1"),
	ir.OpGt:       compare("$0 > $1"),
	ir.OpGe:       compare("$0 >= $1"),
	ir.OpAnd:      {bools: "$0 and $1"},
	ir.OpOr:       {bools: "$0 or $1"},
	ir.OpNot:      {bools: "not $0"},
	ir.OpIf:       {},
	ir.OpSelect:   {},
	ir.OpFloor:    {ints: "$0", floats: "_whole(math.floor, $0)"},
	ir.OpCeil:     {ints: "$0", floats: "_whole(math.ceil, $0)"},
	ir.OpRound:    {ints: "$0", floats: "_whole(round, $0)"},
	ir.OpTrunc:    {ints: "$0", floats: "_whole(math.trunc, $0)"},
	ir.OpIsNaN:    {floats: "math.isnan($0)"},
	ir.OpIsInf:    {floats: "math.isinf($0)"},
	ir.OpSqrt:     {floats: "_sqrt($0)", rounds: true},
	ir.OpRsqrt:    {floats: "_fdiv(1.0, _sqrt($0))", rounds: true},
	ir.OpExp:      floatFunction("exp"),
	ir.OpLog:      floatFunction("log"),
	ir.OpLog2:     floatFunction("log2"),
	ir.OpLog1p:    floatFunction("log1p"),
	ir.OpExpm1:    floatFunction("expm1"),
	ir.OpSin:      floatFunction("sin"),
	ir.OpCos:      floatFunction("cos"),
	ir.OpTan:      floatFunction("tan"),
	ir.OpTanh:     floatFunction("tanh"),
	ir.OpAtan:     floatFunction("atan"),
	ir.OpErf:      floatFunction("erf"),
	ir.OpExp2:     {floats: "_float(math.pow, 2.0, $0)", rounds: true},
	ir.OpPow:      floatFunction("pow"),

	simt.OpPow2Floor: {ints: "_pow2floor($0)", wraps: true},
	simt.OpPow2Ceil:  {ints: "_pow2ceil($0)", wraps: true},
}
