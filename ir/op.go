package ir

import "fmt"

// Op is a scalar operation: one row of the table in ops.go. Adding an operation is adding a row; the readers, verifiers,
// evaluators and emitters have no knowledge of their own. Rows are compared by pointer.
//
// Operand types are exact: nothing converts by itself. Lowering from the language inserts OpWiden where the language
// widens, so that an f32 product of two f16 values is mul(widen.f32(a), widen.f32(b)).
type Op struct {
	Name  string
	Arity int    // number of operands; -1: any
	Infix string // how IR text spells it between its operands; empty: NAME(args)
	Prec  int    // precedence of the infix form, larger binds tighter
	// Rule gives the result's type from the operands', or says what is wrong. Ops whose result type is free (cast, widen,
	// bitcast, rand) have Free set instead, and the type stands in the Expr.
	Rule func(args []Type) (Type, error)
	Free bool
	Mean Mean
	// Fault builds the condition under which the operation has no value (a division by zero); nil: it always has one.
	// All of Mean are total, and give 0 there.
	Fault     func(args []*Expr) *Expr
	FaultText string // "division by zero"
	Cost      Cost
	Laws      Laws
	Where     Levels
	Effect    Effect
	C, Go     Spell
}

// Mean is the meaning of an operation: the function that fits its operands' kind and number is set. Floats are float64;
// an evaluator that imitates a device rounds the result to the result's type. Integers are int64 and are wrapped to the
// result's type by the caller; t is the operands' dtype.
type Mean struct {
	F1 func(a float64) float64
	F2 func(a, b float64) float64
	F3 func(a, b, c float64) float64
	I1 func(t *DType, a int64) int64
	I2 func(t *DType, a, b int64) int64
	I3 func(t *DType, a, b, c int64) int64
	// Predicates over floats and integers.
	P1  func(a float64) bool
	PF2 func(a, b float64) bool
	PI2 func(a, b int64) bool
	// Any is the meaning of operations that fit none of the above: from and to are the operand and result types.
	Any func(to Type, from []Type, args []Const) Const
}

// Cost is the class of hardware unit that an operation keeps busy.
type Cost uint8

// The cost classes.
const (
	CostFree Cost = iota
	CostALU
	CostFMA
	CostMUFU
	CostConvert
	CostShared
	CostSlow // a sequence of some tens of instructions
)

func (c Cost) String() string {
	return [...]string{"free", "alu", "fma", "mufu", "convert", "shared", "slow"}[c]
}

// Laws are algebraic facts that rewrites may use.
type Laws uint8

// The laws. Commutes and Associates hold up to rounding for floats.
const (
	Commutes Laws = 1 << iota
	Associates
	Idempotent
	Lazy // operands behind the first are evaluated only where the first asks for them: if && ||
)

// Levels says where an operation may stand.
type Levels uint8

// The levels.
const (
	AtTensor Levels = 1 << iota
	AtTile
	AtSimt
	WarpWide  // all lanes of the warp that are active take part
	Anywhere  = AtTensor | AtTile | AtSimt
	BelowOnly = AtTile | AtSimt
)

// Effect keeps rewrites away from operations that are more than their value.
type Effect uint8

// The effects.
const (
	NoEffect Effect = iota
	Opaque          // a copy that nobody may look through
	Clock           // differs from call to call
)

// Spell is how a target language writes an operation: by operand type name ("f32"), or by class ("float", "int", "packed",
// "bool"), or "*"; the most exact entry wins. $0 $1 … are the operands, $t the result's type, $s the first operand's.
type Spell map[string]string

// For finds the spelling for operands of type t; ok is false if the target cannot say it.
func (s Spell) For(t Type) (text string, ok bool) {
	keys := []string{t.String(), "*"}
	switch {
	case t.IsPacked():
		keys = []string{t.String(), "packed", "*"}
	case t.IsBool():
		keys = []string{t.String(), "*"}
	case t.IsFloat():
		keys = []string{t.String(), "float", "*"}
	case t.IsInt():
		keys = []string{t.String(), "int", "*"}
	}
	for _, k := range keys {
		if text, ok = s[k]; ok {
			return text, true
		}
	}
	return "", false
}

// Is reports whether the operation has a law.
func (o *Op) Is(law Laws) bool { return o.Laws&law != 0 }

func (o *Op) String() string { return o.Name }

// Type rules.

func ruleSame(ok func(Type) bool, what string) func([]Type) (Type, error) {
	return func(args []Type) (Type, error) {
		for _, t := range args {
			if t != args[0] {
				return Type{}, fmt.Errorf("operands of different types %s and %s", args[0], t)
			}
			if !ok(t) {
				return Type{}, fmt.Errorf("operand of type %s, expected %s", t, what)
			}
		}
		return args[0], nil
	}
}

// computes reports whether arithmetic happens in t: narrow types are widened before.
func computes(t Type) bool {
	return t.IsPacked() || (t.IsFloat() || t.IsInt()) && t.Bits() >= 32
}

func computesFloat(t Type) bool { return computes(t) && t.Elem.IsFloat() }
func computesInt(t Type) bool   { return computes(t) && t.Elem.IsInt() && !t.IsPacked() }
func computesOrBool(t Type) bool {
	return computes(t) || t.IsBool()
}
func anyType(Type) bool { return true }

var (
	ruleNumber = ruleSame(computes, "a number of at least 32 bits")
	ruleOrder  = ruleSame(computesOrBool, "a number of at least 32 bits or bool")
	ruleFloat  = ruleSame(computesFloat, "f32 or f64")
	ruleInt    = ruleSame(computesInt, "i32, u32, i64 or u64")
	ruleBool   = ruleSame(Type.IsBool, "bool")
	ruleCopy   = ruleSame(anyType, "any")
)

func ruleTest(rule func([]Type) (Type, error)) func([]Type) (Type, error) {
	return func(args []Type) (Type, error) {
		if _, err := rule(args); err != nil {
			return Type{}, err
		}
		return Bool_, nil
	}
}

// ruleShift: the count has no say in the type.
func ruleShift(args []Type) (Type, error) {
	for _, t := range args {
		if !computesInt(t) {
			return Type{}, fmt.Errorf("operand of type %s, expected i32, u32, i64 or u64", t)
		}
	}
	return args[0], nil
}

func ruleChoose(args []Type) (Type, error) {
	if !args[0].IsBool() {
		return Type{}, fmt.Errorf("condition of type %s, expected bool", args[0])
	}
	if args[1] != args[2] {
		return Type{}, fmt.Errorf("branches of different types %s and %s", args[1], args[2])
	}
	return args[1], nil
}

func ruleFixed(t Type) func([]Type) (Type, error) {
	return func([]Type) (Type, error) { return t, nil }
}

// ResultType applies the operation's rule. For ops with a free result type it returns the zero Type.
func (o *Op) ResultType(args []Type) (Type, error) {
	if o.Arity >= 0 && len(args) != o.Arity {
		return Type{}, fmt.Errorf("%s takes %d operands, not %d", o.Name, o.Arity, len(args))
	}
	if o.Free {
		return Type{}, nil
	}
	t, err := o.Rule(args)
	if err != nil {
		return Type{}, fmt.Errorf("%s: %w", o.Name, err)
	}
	return t, nil
}
