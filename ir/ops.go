package ir

import (
	"math"
	"math/bits"
)

// The operations that are not computations.
var (
	OpConst = &Op{Name: "const", Where: Anywhere}
	OpName  = &Op{Name: "name", Where: Anywhere}
	OpRead  = &Op{Name: "read", Arity: -1, Where: AtTensor | AtTile}
)

// Arithmetic.
var (
	OpAdd = &Op{Name: "add", Arity: 2, Infix: "+", Prec: 8, Rule: ruleNumber, Cost: CostFMA, Laws: Commutes | Associates, Where: Anywhere,
		Mean: Mean{F2: func(a, b float64) float64 { return a + b }, I2: func(_ *DType, a, b int64) int64 { return a + b }}}
	OpSub = &Op{Name: "sub", Arity: 2, Infix: "-", Prec: 8, Rule: ruleNumber, Cost: CostFMA, Where: Anywhere,
		Mean: Mean{F2: func(a, b float64) float64 { return a - b }, I2: func(_ *DType, a, b int64) int64 { return a - b }}}
	OpMul = &Op{Name: "mul", Arity: 2, Infix: "*", Prec: 9, Rule: ruleNumber, Cost: CostFMA, Laws: Commutes | Associates, Where: Anywhere,
		Mean: Mean{F2: func(a, b float64) float64 { return a * b }, I2: func(_ *DType, a, b int64) int64 { return a * b }}}
	// Div truncates toward zero on integers, and is 0 where the divisor is.
	OpDiv = &Op{Name: "div", Arity: 2, Infix: "/", Prec: 9, Rule: ruleNumber, Cost: CostSlow, Where: Anywhere, FaultText: "division by zero",
		Mean: Mean{F2: func(a, b float64) float64 { return a / b }, I2: intDiv}}
	OpRem = &Op{Name: "rem", Arity: 2, Infix: "%", Prec: 9, Rule: ruleNumber, Cost: CostSlow, Where: Anywhere, FaultText: "division by zero",
		Mean: Mean{F2: math.Mod, I2: intRem}}
	OpNeg = &Op{Name: "neg", Arity: 1, Rule: ruleNumber, Cost: CostALU, Where: Anywhere,
		Mean: Mean{F1: func(a float64) float64 { return -a }, I1: func(_ *DType, a int64) int64 { return -a }}}
	OpFloorDiv = &Op{Name: "floordiv", Arity: 2, Rule: ruleNumber, Cost: CostSlow, Where: Anywhere, FaultText: "division by zero",
		Mean: Mean{F2: func(a, b float64) float64 { return math.Floor(a / b) }, I2: intFloorDiv}}
	OpMod = &Op{Name: "mod", Arity: 2, Rule: ruleNumber, Cost: CostSlow, Where: Anywhere, FaultText: "division by zero",
		Mean: Mean{F2: floatMod, I2: intMod}}
	// Pow is the power of floats, IPow that of integers, whose exponent must not be negative.
	OpPow  = &Op{Name: "pow", Arity: 2, Rule: ruleFloat, Cost: CostSlow, Where: Anywhere, Mean: Mean{F2: math.Pow}}
	OpIPow = &Op{Name: "ipow", Arity: 2, Rule: ruleInt, Cost: CostSlow, Where: Anywhere, FaultText: "integer to a negative power",
		Mean: Mean{I2: intPow}}
	OpFMA = &Op{Name: "fma", Arity: 3, Rule: ruleNumber, Cost: CostFMA, Where: Anywhere,
		Mean: Mean{F3: math.FMA, I3: func(_ *DType, a, b, c int64) int64 { return a*b + c }}}
	OpAbs  = &Op{Name: "abs", Arity: 1, Rule: ruleNumber, Cost: CostALU, Where: Anywhere, Mean: Mean{F1: math.Abs, I1: intAbs}}
	OpSign = &Op{Name: "sign", Arity: 1, Rule: ruleNumber, Cost: CostALU, Where: Anywhere, Mean: Mean{F1: floatSign, I1: intSign}}
	// Min and Max propagate NaN; max.num and min.num ignore it, as fmaxf does.
	OpMin = &Op{Name: "min", Arity: 2, Rule: ruleOrder, Cost: CostALU, Laws: Commutes | Associates | Idempotent, Where: Anywhere,
		Mean: Mean{F2: floatMin, I2: func(t *DType, a, b int64) int64 { return pick(intLess(t, a, b), a, b) }}}
	OpMax = &Op{Name: "max", Arity: 2, Rule: ruleOrder, Cost: CostALU, Laws: Commutes | Associates | Idempotent, Where: Anywhere,
		Mean: Mean{F2: floatMax, I2: func(t *DType, a, b int64) int64 { return pick(intLess(t, a, b), b, a) }}}
	OpMinNum = &Op{Name: "min.num", Arity: 2, Rule: ruleFloat, Cost: CostALU, Laws: Commutes | Associates | Idempotent, Where: BelowOnly,
		Mean: Mean{F2: func(a, b float64) float64 { return ignoreNaN(floatMin, a, b) }}}
	OpMaxNum = &Op{Name: "max.num", Arity: 2, Rule: ruleFloat, Cost: CostALU, Laws: Commutes | Associates | Idempotent, Where: BelowOnly,
		Mean: Mean{F2: func(a, b float64) float64 { return ignoreNaN(floatMax, a, b) }}}
)

// Functions of floats.
var (
	OpSqrt  = floatFunc("sqrt", CostSlow, math.Sqrt)
	OpRsqrt = floatFunc("rsqrt", CostMUFU, func(x float64) float64 { return 1 / math.Sqrt(x) })
	OpExp   = floatFunc("exp", CostSlow, math.Exp)
	OpExp2  = floatFunc("exp2", CostMUFU, math.Exp2)
	OpLog   = floatFunc("log", CostSlow, math.Log)
	OpLog2  = floatFunc("log2", CostMUFU, math.Log2)
	OpLog1p = floatFunc("log1p", CostSlow, math.Log1p)
	OpExpm1 = floatFunc("expm1", CostSlow, math.Expm1)
	OpSin   = floatFunc("sin", CostSlow, math.Sin)
	OpCos   = floatFunc("cos", CostSlow, math.Cos)
	OpTan   = floatFunc("tan", CostSlow, math.Tan)
	OpTanh  = floatFunc("tanh", CostSlow, math.Tanh)
	OpSinh  = floatFunc("sinh", CostSlow, math.Sinh)
	OpCosh  = floatFunc("cosh", CostSlow, math.Cosh)
	OpAsin  = floatFunc("asin", CostSlow, math.Asin)
	OpAcos  = floatFunc("acos", CostSlow, math.Acos)
	OpAtan  = floatFunc("atan", CostSlow, math.Atan)
	OpErf   = floatFunc("erf", CostSlow, math.Erf)
	OpErfc  = floatFunc("erfc", CostSlow, math.Erfc)
	OpAtan2 = &Op{Name: "atan2", Arity: 2, Rule: ruleFloat, Cost: CostSlow, Where: Anywhere, Mean: Mean{F2: math.Atan2}}

	OpFloor = wholeFunc("floor", math.Floor)
	OpCeil  = wholeFunc("ceil", math.Ceil)
	OpRound = wholeFunc("round", math.RoundToEven)
	OpTrunc = wholeFunc("trunc", math.Trunc)

	OpIsNaN = &Op{Name: "isnan", Arity: 1, Rule: ruleTest(ruleFloat), Cost: CostALU, Where: Anywhere, Mean: Mean{P1: func(x float64) bool { return x != x }}}
	OpIsInf = &Op{Name: "isinf", Arity: 1, Rule: ruleTest(ruleFloat), Cost: CostALU, Where: Anywhere, Mean: Mean{P1: func(x float64) bool { return math.IsInf(x, 0) }}}

	// The fast forms are what --fp fast and derived kernels use: a few units in the last place off, denormals flushed.
	OpExp2Fast  = fastFunc("exp2.fast", math.Exp2)
	OpRsqrtFast = fastFunc("rsqrt.fast", func(x float64) float64 { return 1 / math.Sqrt(x) })
	OpDivFast   = &Op{Name: "div.fast", Arity: 2, Rule: ruleFloat, Cost: CostMUFU, Where: BelowOnly, Mean: Mean{F2: func(a, b float64) float64 { return a / b }}}
)

// Comparisons and logic.
var (
	OpEq = compare("eq", "==", Commutes, func(a, b float64) bool { return a == b }, func(a, b int64) bool { return a == b })
	OpNe = compare("ne", "!=", Commutes, func(a, b float64) bool { return a != b }, func(a, b int64) bool { return a != b })
	OpLt = compare("lt", "<", 0, func(a, b float64) bool { return a < b }, func(a, b int64) bool { return a < b })
	OpLe = compare("le", "<=", 0, func(a, b float64) bool { return a <= b }, func(a, b int64) bool { return a <= b })
	OpGt = compare("gt", ">", 0, func(a, b float64) bool { return a > b }, func(a, b int64) bool { return a > b })
	OpGe = compare("ge", ">=", 0, func(a, b float64) bool { return a >= b }, func(a, b int64) bool { return a >= b })

	// And, Or and If guard their later operands: what stands behind them is evaluated only where it counts.
	OpAnd = &Op{Name: "and", Arity: 2, Infix: "&&", Prec: 2, Rule: ruleBool, Cost: CostALU, Laws: Associates | Idempotent | Lazy, Where: Anywhere,
		Mean: Mean{PI2: func(a, b int64) bool { return a&b != 0 }}}
	OpOr = &Op{Name: "or", Arity: 2, Infix: "||", Prec: 1, Rule: ruleBool, Cost: CostALU, Laws: Associates | Idempotent | Lazy, Where: Anywhere,
		Mean: Mean{PI2: func(a, b int64) bool { return a|b != 0 }}}
	OpNot = &Op{Name: "not", Arity: 1, Rule: ruleBool, Cost: CostALU, Where: Anywhere,
		Mean: Mean{I1: func(_ *DType, a int64) int64 { return a ^ 1 }}}
	OpIf     = &Op{Name: "if", Arity: 3, Rule: ruleChoose, Cost: CostALU, Laws: Lazy, Where: Anywhere, Mean: Mean{Any: choose}}
	OpSelect = &Op{Name: "select", Arity: 3, Rule: ruleChoose, Cost: CostALU, Where: Anywhere, Mean: Mean{Any: choose}}
)

// Conversions and bits.
var (
	// Cast converts as a program asks for it: to floats it rounds, to integers it truncates and saturates, to bool it tests for
	// not zero. Casting to the same float type is not nothing: an evaluator that carries more digits rounds there.
	OpCast = &Op{Name: "cast", Arity: 1, Free: true, Cost: CostConvert, Where: Anywhere, Mean: Mean{Any: cast}}
	// Widen converts an operand to the type in which an operation happens. Nobody rounds there, except a device where an
	// integer does not fit the float.
	OpWiden   = &Op{Name: "widen", Arity: 1, Free: true, Cost: CostConvert, Where: Anywhere, Mean: Mean{Any: widen}}
	OpBitcast = &Op{Name: "bitcast", Arity: 1, Free: true, Cost: CostFree, Where: Anywhere, Mean: Mean{Any: bitcast}}

	OpBitAnd = &Op{Name: "bitand", Arity: 2, Infix: "&", Prec: 6, Rule: ruleInt, Cost: CostALU, Laws: Commutes | Associates | Idempotent, Where: Anywhere, Mean: Mean{I2: func(_ *DType, a, b int64) int64 { return a & b }}}
	OpBitOr  = &Op{Name: "bitor", Arity: 2, Infix: "|", Prec: 4, Rule: ruleInt, Cost: CostALU, Laws: Commutes | Associates | Idempotent, Where: Anywhere, Mean: Mean{I2: func(_ *DType, a, b int64) int64 { return a | b }}}
	OpBitXor = &Op{Name: "bitxor", Arity: 2, Infix: "^", Prec: 5, Rule: ruleInt, Cost: CostALU, Laws: Commutes | Associates, Where: Anywhere, Mean: Mean{I2: func(_ *DType, a, b int64) int64 { return a ^ b }}}
	OpShl    = &Op{Name: "shl", Arity: 2, Infix: "<<", Prec: 7, Rule: ruleShift, Cost: CostALU, Where: Anywhere, FaultText: "shift by less than 0 or by the width or more", Mean: Mean{I2: shiftLeft}}
	// Shr keeps the sign of signed types.
	OpShr      = &Op{Name: "shr", Arity: 2, Infix: ">>", Prec: 7, Rule: ruleShift, Cost: CostALU, Where: Anywhere, FaultText: "shift by less than 0 or by the width or more", Mean: Mean{I2: shiftRight}}
	OpPopcount = &Op{Name: "popcount", Arity: 1, Rule: ruleInt, Cost: CostALU, Where: Anywhere, Mean: Mean{I1: func(t *DType, a int64) int64 { return int64(bits.OnesCount64(lowBits(t, a))) }}}

	// Rand is the Philox-4x32-10 number of an i64 seed and i64 indices, uniform in [0, 1).
	OpRand = &Op{Name: "rand", Arity: -1, Rule: ruleFixed(F32), Cost: CostSlow, Where: Anywhere, Mean: Mean{Any: randOp}}
)

// Ops lists every operation that IR text may name, in the order of the tables above.
var Ops = []*Op{
	OpAdd, OpSub, OpMul, OpDiv, OpRem, OpNeg, OpFloorDiv, OpMod, OpPow, OpIPow, OpFMA, OpAbs, OpSign, OpMin, OpMax, OpMinNum, OpMaxNum,
	OpSqrt, OpRsqrt, OpExp, OpExp2, OpLog, OpLog2, OpLog1p, OpExpm1, OpSin, OpCos, OpTan, OpTanh, OpSinh, OpCosh, OpAsin, OpAcos, OpAtan,
	OpErf, OpErfc, OpAtan2, OpFloor, OpCeil, OpRound, OpTrunc, OpIsNaN, OpIsInf, OpExp2Fast, OpRsqrtFast, OpDivFast,
	OpEq, OpNe, OpLt, OpLe, OpGt, OpGe, OpAnd, OpOr, OpNot, OpIf, OpSelect,
	OpCast, OpWiden, OpBitcast, OpBitAnd, OpBitOr, OpBitXor, OpShl, OpShr, OpPopcount, OpRand,
}

// opIndex maps names to rows; levels add theirs through Register.
var opIndex = map[string]*Op{}

func init() {
	for _, o := range []*Op{OpDiv, OpRem, OpFloorDiv, OpMod} { // here, since the conditions are made of operations themselves
		o.Fault = zeroDivisor
	}
	OpShl.Fault, OpShr.Fault = badShift, badShift
	OpIPow.Fault = func(a []*Expr) *Expr { return Lt(a[1], ZeroOf(a[1].Type)) }
	for _, o := range Ops {
		opIndex[o.Name] = o
	}
}

// OpByName finds an operation; nil if there is none of that name.
func OpByName(name string) *Op { return opIndex[name] }

// Register adds a level's own operations to those that IR text may name. It is called from package initialisation only.
func Register(ops ...*Op) {
	for _, o := range ops {
		if opIndex[o.Name] != nil {
			panic("ir: operation " + o.Name + " is registered twice")
		}
		opIndex[o.Name] = o
		Ops = append(Ops, o)
	}
}

func floatFunc(name string, cost Cost, f func(float64) float64) *Op {
	return &Op{Name: name, Arity: 1, Rule: ruleFloat, Cost: cost, Where: Anywhere, Mean: Mean{F1: f}}
}

func fastFunc(name string, f func(float64) float64) *Op {
	return &Op{Name: name, Arity: 1, Rule: ruleFloat, Cost: CostMUFU, Where: BelowOnly, Mean: Mean{F1: f}}
}

// wholeFunc is a rounding to whole numbers: the identity on integers.
func wholeFunc(name string, f func(float64) float64) *Op {
	return &Op{Name: name, Arity: 1, Rule: ruleNumber, Cost: CostALU, Where: Anywhere,
		Mean: Mean{F1: f, I1: func(_ *DType, a int64) int64 { return a }}}
}

func compare(name, infix string, laws Laws, f func(a, b float64) bool, i func(a, b int64) bool) *Op {
	return &Op{Name: name, Arity: 2, Infix: infix, Prec: 3, Rule: ruleTest(ruleOrder), Cost: CostALU, Laws: laws, Where: Anywhere, Mean: Mean{PF2: f, PI2: i}}
}
