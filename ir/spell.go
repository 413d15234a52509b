package ir

// How CUDA C and Go write the operations. In C a template that begins with ~ is arithmetic that wraps, which C promises only of
// unsigned integers: the printer makes an operand unsigned. $m is the mask of a warp, $r where an operation of a warp puts its
// result, $* all operands. Names in templates that are not the language's own are helpers: codegen/cuda prints those that a file
// uses, runtime/simt has Go's. Conversions depend on two types and are the printers' own.

type spelling struct {
	op        *Op
	c, golang Spell
}

func init() {
	for _, s := range spellings() {
		s.op.C, s.op.Go = s.c, s.golang
	}
	for _, w := range []string{"f16x2", "bf16x2"} { // words, where the machine does what arithmetic on the elements does
		OpMin.C[w], OpMax.C[w] = "min_"+w+"($0, $1)", "max_"+w+"($0, $1)"
		OpMinNum.C[w], OpMaxNum.C[w] = "min_num_"+w+"($0, $1)", "max_num_"+w+"($0, $1)"
	}
}

// any_ is a spelling that does for all types.
func any_(text string) Spell { return Spell{"*": text} }

// byWidth is a spelling of floats, for f32 and f64, and of integers.
func byWidth(f32, f64, integer string) Spell {
	s := Spell{"f32": f32, "f64": f64}
	if integer != "" {
		s["int"] = integer
	}
	return s
}

func spellings() []spelling {
	arithmetic := []spelling{
		{OpAdd, Spell{"float": "$0 + $1", "int": "~$0 + $1"}, any_("$0 + $1")},
		{OpSub, Spell{"float": "$0 - $1", "int": "~$0 - $1"}, any_("$0 - $1")},
		// The products are calls, and conversions, that no compiler may fuse with a sum.
		{OpMul, byWidth("__fmul_rn($0, $1)", "__dmul_rn($0, $1)", "~$0 * $1"), Spell{"float": "$t($0 * $1)", "int": "$0 * $1"}},
		{OpDiv, byWidth("__fdiv_rn($0, $1)", "__ddiv_rn($0, $1)", "int_div($0, $1)"), Spell{"float": "$0 / $1", "int": "simt.Div($0, $1)"}},
		{OpRem, byWidth("fmodf($0, $1)", "fmod($0, $1)", "int_rem($0, $1)"), Spell{"float": "simt.RemFloat($0, $1)", "int": "simt.Rem($0, $1)"}},
		{OpNeg, Spell{"float": "-$0", "int": "~-$0"}, any_("-$0")},
		{OpFloorDiv, Spell{"float": "float_floordiv($0, $1)", "int": "int_floordiv($0, $1)"}, Spell{"float": "simt.FloorDivFloat($0, $1)", "int": "simt.FloorDiv($0, $1)"}},
		{OpMod, Spell{"float": "float_mod($0, $1)", "int": "int_mod($0, $1)"}, Spell{"float": "simt.ModFloat($0, $1)", "int": "simt.Mod($0, $1)"}},
		{OpPow, byWidth("powf($0, $1)", "pow($0, $1)", ""), any_("simt.PowFloat($0, $1)")},
		{OpIPow, any_("int_pow($0, $1)"), any_("simt.Pow($0, $1)")},
		{OpFMA, byWidth("fmaf($0, $1, $2)", "fma($0, $1, $2)", "~$0 * $1 + $2"), Spell{"f32": "simt.FMA32($0, $1, $2)", "f64": "simt.FMA64($0, $1, $2)", "int": "$0 * $1 + $2"}},
		{OpAbs, byWidth("fabsf($0)", "fabs($0)", "int_abs($0)"), Spell{"float": "simt.AbsFloat($0)", "int": "simt.AbsInt($0)"}},
		{OpSign, Spell{"float": "float_sign($0)", "int": "int_sign($0)"}, Spell{"float": "simt.SignFloat($0)", "int": "simt.SignInt($0)"}},
		{OpMin, Spell{"float": "float_min($0, $1)", "int": "int_min($0, $1)", "bool": "$0 && $1"}, Spell{"*": "min($0, $1)", "bool": "$0 && $1"}},
		{OpMax, Spell{"float": "float_max($0, $1)", "int": "int_max($0, $1)", "bool": "$0 || $1"}, Spell{"*": "max($0, $1)", "bool": "$0 || $1"}},
		{OpMinNum, byWidth("fminf($0, $1)", "fmin($0, $1)", ""), any_("simt.MinNum($0, $1)")},
		{OpMaxNum, byWidth("fmaxf($0, $1)", "fmax($0, $1)", ""), any_("simt.MaxNum($0, $1)")},
		{OpAtan2, byWidth("atan2f($0, $1)", "atan2($0, $1)", ""), any_("simt.Atan2($0, $1)")},
		{OpSqrt, byWidth("__fsqrt_rn($0)", "__dsqrt_rn($0)", ""), any_("simt.Sqrt($0)")},
		{OpRsqrt, byWidth("rsqrtf($0)", "rsqrt($0)", ""), any_("simt.Rsqrt($0)")},
		{OpExp2Fast, byWidth("exp2_fast($0)", "exp2($0)", ""), any_("simt.Exp2($0)")},
		{OpRsqrtFast, byWidth("rsqrt_fast($0)", "rsqrt($0)", ""), any_("simt.Rsqrt($0)")},
		{OpDivFast, byWidth("__fdividef($0, $1)", "__ddiv_rn($0, $1)", ""), any_("$0 / $1")},
		{OpIsNaN, Spell{"float": "is_nan($0)"}, Spell{"float": "simt.IsNaN($0)"}},
		{OpIsInf, Spell{"float": "is_inf($0)"}, Spell{"float": "simt.IsInf($0)"}},
		{OpRand, any_("philox_rand($*)"), any_("simt.Rand($*)")},
	}
	return append(append(arithmetic, functions()...), logic()...)
}

// functions are those of C's library that Go has under a similar name.
func functions() (out []spelling) {
	for _, f := range []struct {
		op       *Op
		c, goFn  string
		integers bool
	}{
		{OpExp, "exp", "Exp", false}, {OpExp2, "exp2", "Exp2", false}, {OpLog, "log", "Log", false}, {OpLog2, "log2", "Log2", false},
		{OpLog1p, "log1p", "Log1p", false}, {OpExpm1, "expm1", "Expm1", false}, {OpSin, "sin", "Sin", false}, {OpCos, "cos", "Cos", false},
		{OpTan, "tan", "Tan", false}, {OpTanh, "tanh", "Tanh", false}, {OpSinh, "sinh", "Sinh", false}, {OpCosh, "cosh", "Cosh", false},
		{OpAsin, "asin", "Asin", false}, {OpAcos, "acos", "Acos", false}, {OpAtan, "atan", "Atan", false}, {OpErf, "erf", "Erf", false},
		{OpErfc, "erfc", "Erfc", false}, {OpFloor, "floor", "Floor", true}, {OpCeil, "ceil", "Ceil", true}, {OpRound, "rint", "Round", true},
		{OpTrunc, "trunc", "Trunc", true},
	} {
		s := spelling{f.op, byWidth(f.c+"f($0)", f.c+"($0)", ""), Spell{"float": "simt." + f.goFn + "($0)"}}
		if f.integers {
			s.c["int"], s.golang["int"] = "$0", "$0"
		}
		out = append(out, s)
	}
	return out
}

// comparison compares numbers, and truth values where boolean is not empty by that.
func comparison(infix, boolean string) Spell {
	text := "$0 " + infix + " $1"
	s := Spell{"float": text, "int": text, "bool": text}
	if boolean != "" {
		s["bool"] = boolean
	}
	return s
}

func logic() []spelling {
	return []spelling{
		{OpEq, comparison("==", ""), comparison("==", "")},
		{OpNe, comparison("!=", ""), comparison("!=", "")},
		{OpLt, comparison("<", ""), comparison("<", "simt.Less($0, $1)")},
		{OpLe, comparison("<=", ""), comparison("<=", "!simt.Less($1, $0)")},
		{OpGt, comparison(">", ""), comparison(">", "simt.Less($1, $0)")},
		{OpGe, comparison(">=", ""), comparison(">=", "!simt.Less($0, $1)")},
		{OpAnd, any_("$0 && $1"), any_("$0 && $1")},
		{OpOr, any_("$0 || $1"), any_("$0 || $1")},
		{OpNot, any_("!$0"), any_("!$0")},
		{OpIf, any_("$0 ? $1 : $2"), any_("simt.Pick($0, $1, $2)")},
		{OpSelect, any_("$0 ? $1 : $2"), any_("simt.Pick($0, $1, $2)")},
		{OpBitAnd, any_("$0 & $1"), any_("$0 & $1")},
		{OpBitOr, any_("$0 | $1"), any_("$0 | $1")},
		{OpBitXor, any_("$0 ^ $1"), any_("$0 ^ $1")},
		{OpShl, any_("int_shl($0, $1)"), any_("simt.Shl($0, $1)")},
		{OpShr, any_("int_shr($0, $1)"), any_("simt.Shr($0, $1)")},
		{OpPopcount, any_("int_popcount($0)"), any_("simt.Popcount($0)")},
	}
}
