package lang

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// builtin is a scalar function of the language: how many arguments it takes and how its type comes about.
type builtin struct {
	op       *ir.Op
	min, max int
	rule     builtinRule
}

type builtinRule uint8

const (
	ofFloats   builtinRule = iota // computed in f32 or f64
	ofNumbers                     // computed in the type of its arguments
	testsFloat                    // a bool
	ofBits                        // computed on integers
	shifts                        // in the type of the left operand
	extremes                      // min and max, also of bools
	clamps
	selects
	random
	bitcasts
)

var builtins = map[string]builtin{
	"atan2": {ir.OpAtan2, 2, 2, ofFloats}, "pow": {ir.OpPow, 2, 2, ofFloats},
	"abs": {ir.OpAbs, 1, 1, ofNumbers}, "sign": {ir.OpSign, 1, 1, ofNumbers}, "floor": {ir.OpFloor, 1, 1, ofNumbers}, "ceil": {ir.OpCeil, 1, 1, ofNumbers},
	"round": {ir.OpRound, 1, 1, ofNumbers}, "trunc": {ir.OpTrunc, 1, 1, ofNumbers}, "fma": {ir.OpFMA, 3, 3, ofNumbers},
	"floordiv": {ir.OpFloorDiv, 2, 2, ofNumbers}, "mod": {ir.OpMod, 2, 2, ofNumbers},
	"isnan": {ir.OpIsNaN, 1, 1, testsFloat}, "isinf": {ir.OpIsInf, 1, 1, testsFloat},
	"bitand": {ir.OpBitAnd, 2, 2, ofBits}, "bitor": {ir.OpBitOr, 2, 2, ofBits}, "bitxor": {ir.OpBitXor, 2, 2, ofBits}, "popcount": {ir.OpPopcount, 1, 1, ofBits},
	"shl": {ir.OpShl, 2, 2, shifts}, "shr": {ir.OpShr, 2, 2, shifts},
	"min": {ir.OpMin, 2, many, extremes}, "max": {ir.OpMax, 2, many, extremes}, "clamp": {nil, 3, 3, clamps},
	"select": {ir.OpSelect, 3, 3, selects}, "rand": {ir.OpRand, 2, many, random}, "bitcast": {ir.OpBitcast, 2, 2, bitcasts},
}

const many = 99

func init() {
	for _, op := range []*ir.Op{ir.OpSqrt, ir.OpRsqrt, ir.OpExp, ir.OpExp2, ir.OpLog, ir.OpLog2, ir.OpLog1p, ir.OpExpm1, ir.OpSin, ir.OpCos, ir.OpTan, ir.OpTanh,
		ir.OpSinh, ir.OpCosh, ir.OpAsin, ir.OpAcos, ir.OpAtan, ir.OpErf, ir.OpErfc} {
		builtins[op.Name] = builtin{op, 1, 1, ofFloats}
	}
}

// reductions and scans by name; the monoid is nil where more than a monoid is needed.
var (
	reductions = map[string]*ir.Monoid{"sum": ir.Sum, "prod": ir.Prod, "max": ir.Max_, "min": ir.Min_, "any": ir.Any, "all": ir.All,
		"count": ir.Sum, "argmax": nil, "argmin": nil, "argtop": nil}
	scans = map[string]*ir.Monoid{"cumsum": ir.Sum, "cumprod": ir.Prod, "cummax": ir.Max_, "cummin": ir.Min_}
)

func isReduction(name string) bool { _, ok := reductions[name]; return ok }
func isScan(name string) bool      { return scans[name] != nil }

// isBuiltin reports whether a name belongs to the language, so that nothing else may take it.
func isBuiltin(name string) bool {
	_, scalar := builtins[name]
	return scalar || isReduction(name) || isScan(name) || dtypeNamed(name) != nil
}

// dtypeNamed finds a dtype that programs may name.
func dtypeNamed(name string) *ir.DType {
	if d := ir.DTypeByName(name); d != nil && d.InLanguage() {
		return d
	}
	return nil
}

// call resolves NAME(args): a macro, a scalar function, or a cast.
func (x *expander) call(c context, n *syntax.Node) *term {
	if m := x.findMacro(c, n.Name); m != nil {
		args := x.exprs(c, n.Args)
		if len(m.Binders) > 0 {
			x.fail(c, n.Pos, "arity", "%s needs %s, %s[%s](…)", n.Name, counted(len(m.Binders), "binder"), n.Name, wordList(m.Binders))
			return x.lost(n, args...)
		}
		return x.macro(c, n, m, nil, args)
	}
	f, scalar := builtins[n.Name]
	to := dtypeNamed(n.Name)
	if scalar && f.rule == bitcasts {
		return x.bitcast(c, n)
	}
	args := x.exprs(c, n.Args)
	switch {
	case to != nil && len(args) != 1:
		x.fail(c, n.Pos, "arity", "%s takes 1 argument, not %d", n.Name, len(args))
	case to != nil:
		return x.cast(c, n, ir.Type{Elem: to, Pack: 1}, args[0])
	case scalar && f.max == many && len(args) < f.min:
		x.fail(c, n.Pos, "arity", "%s takes %d or more arguments, not %d", n.Name, f.min, len(args))
	case scalar && (len(args) < f.min || len(args) > f.max):
		x.fail(c, n.Pos, "arity", "%s takes %s, not %d", n.Name, counted(f.min, "argument"), len(args))
	case scalar:
		return x.function(c, n, f, args)
	case isReduction(n.Name) || isScan(n.Name):
		x.fail(c, n.Pos, "name", "%s needs a binder, %s[j](…)", n.Name, n.Name)
	case !x.file.Lost[n.Name]:
		x.suggestOf(x.fail(c, n.Pos, "name", "unknown function %s", n.Name), n.Name, x.functionNames)
	}
	return x.lost(n, args...)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return itoa(n) + " " + what + "s"
}

func (x *expander) function(c context, n *syntax.Node, f builtin, args []*term) *term {
	switch f.rule {
	case selects:
		x.needBool(c, args[0], "a bool condition")
		t := widen(args[1].typ, args[2].typ)
		return x.operation(c, n, f.op, t, t, args...)
	case extremes:
		return x.extreme(c, n, f.op, args)
	case ofBits, shifts, random:
		return x.integerFunction(c, n, f, args)
	}
	t := x.counts(c, args[0])
	for _, a := range args[1:] {
		t = widen(t, x.counts(c, a))
	}
	switch f.rule {
	case clamps:
		low := x.operation(c, n, ir.OpMax, t, t, args[0], args[1])
		return x.operation(c, n, ir.OpMin, t, t, low, args[2])
	case testsFloat:
		return x.operation(c, n, f.op, floatOf(t), ir.Bool_, args...)
	case ofFloats:
		t = floatOf(t)
	}
	return x.operation(c, n, f.op, t, t, args...)
}

// floatOf is the type in which a function of floats is computed for an argument of type t.
func floatOf(t ir.Type) ir.Type {
	switch {
	case t == intLit:
		return floatLit
	case t == lostType:
		return t
	}
	return floatOr32(t)
}

func (x *expander) extreme(c context, n *syntax.Node, op *ir.Op, args []*term) *term {
	t := args[0].typ
	for _, a := range args[1:] {
		t = widen(t, a.typ)
	}
	out := args[0]
	for _, a := range args[1:] {
		out = x.operation(c, n, op, t, t, out, a)
	}
	return out
}

func (x *expander) integerFunction(c context, n *syntax.Node, f builtin, args []*term) *term {
	for _, a := range args {
		if !x.needInteger(c, a, "an integer") {
			return x.lost(n, args...)
		}
	}
	if f.rule == random {
		return x.operation(c, n, f.op, ir.I64, ir.F32, args...)
	}
	t := computed(args[0].typ)
	if len(args) > 1 && (f.rule == ofBits || t == intLit) {
		t = widen(t, args[1].typ)
	}
	return x.operation(c, n, f.op, t, t, args...)
}

func (x *expander) cast(c context, n *syntax.Node, to ir.Type, a *term) *term {
	if a.isNumber() {
		return x.newTerm(c, term{kind: numberTerm, node: n, pos: c.pos(n.Pos), typ: to, num: castConst(to, a)})
	}
	return x.newTerm(c, term{kind: castTerm, op: ir.OpCast, node: n, pos: c.pos(n.Pos), typ: to, args: []*term{a}})
}

// bitcast resolves bitcast(f32, x). A literal has the width of the type.
func (x *expander) bitcast(c context, n *syntax.Node) *term {
	if len(n.Args) != 2 {
		x.fail(c, n.Pos, "arity", "bitcast takes 2 arguments, a dtype and a value, not %d", len(n.Args))
		return x.lost(n, x.exprs(c, n.Args[min(1, len(n.Args)):])...)
	}
	a := x.expr(c, n.Args[1])
	to := dtypeNamed(n.Args[0].Name)
	if n.Args[0].Kind != syntax.Name || to == nil || to.Kind == ir.Bool {
		x.fail(c, n.Args[0].Pos, "dtype", "%s is no dtype of numbers: bitcast(f32, x)", show(n.Args[0]))
		return x.lost(n, a)
	}
	from := a.typ
	if a.isLiteral() {
		from = literalOfWidth(a.typ, to.Bits)
	}
	if from != lostType && (from.IsBool() || from.Bits() != to.Bits) {
		x.fail(c, n.Args[1].Pos, "type", "%s is %s, expected a type of %d bits, as %s has", show(n.Args[1]), from, to.Bits, to.Name)
		return x.lost(n, a)
	}
	return x.newTerm(c, term{kind: castTerm, op: ir.OpBitcast, node: n, pos: c.pos(n.Pos), typ: ir.Type{Elem: to, Pack: 1}, in: from, args: []*term{a}})
}

func literalOfWidth(t ir.Type, width int) ir.Type {
	if t == intLit {
		return map[int]ir.Type{64: ir.I64, 32: ir.U32, 16: ir.I16, 8: ir.U8}[width]
	}
	return map[int]ir.Type{64: ir.F64, 32: ir.F32, 16: ir.F16, 8: ir.F8E4M3}[width]
}
