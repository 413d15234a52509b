package ir

import "math"

// The monoids of the language.
var (
	Sum  = &Monoid{"sum", OpAdd, func(Type) Const { return Const{} }}
	Prod = &Monoid{"prod", OpMul, oneOf}
	Max_ = &Monoid{"max", OpMax, func(t Type) Const { return LowestOf(t) }}
	Min_ = &Monoid{"min", OpMin, func(t Type) Const { return HighestOf(t) }}
	Any  = &Monoid{"any", OpOr, func(Type) Const { return BoolConst(false) }}
	All  = &Monoid{"all", OpAnd, func(Type) Const { return BoolConst(true) }}
)

// Monoids lists them.
var Monoids = []*Monoid{Sum, Prod, Max_, Min_, Any, All}

// MonoidByName finds a monoid; nil if there is none of that name.
func MonoidByName(name string) *Monoid {
	for _, m := range Monoids {
		if m.Name == name {
			return m
		}
	}
	return nil
}

func oneOf(t Type) Const {
	if t.IsFloat() {
		return FloatConst(1)
	}
	return IntConst(1)
}

// LowestOf is the identity of max: -inf, false, or the lowest integer.
func LowestOf(t Type) Const {
	switch {
	case t.IsFloat():
		return FloatConst(math.Inf(-1))
	case t.IsBool():
		return BoolConst(false)
	}
	lo, _ := IntRange(t.Elem)
	return IntConst(lo)
}

// HighestOf is the identity of min: inf, true, or the highest integer.
func HighestOf(t Type) Const {
	switch {
	case t.IsFloat():
		return FloatConst(math.Inf(1))
	case t.IsBool():
		return BoolConst(true)
	}
	_, hi := IntRange(t.Elem)
	return IntConst(hi)
}
