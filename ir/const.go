package ir

import (
	"math"
	"strconv"
	"strings"
)

// Const is a value of some type, which is known from where the Const stands. Floats of every width are held as the
// bits of the float64 of the same value (NaNs are all one), integers as two's complement, bools as 0 or 1.
// Packed words are held as their 32 bits. Consts are comparable.
type Const struct{ Bits uint64 }

// FloatConst makes a floating-point value.
func FloatConst(x float64) Const {
	if x != x {
		x = math.NaN()
	}
	return Const{math.Float64bits(x)}
}

// IntConst makes an integer value.
func IntConst(x int64) Const { return Const{uint64(x)} }

// BoolConst makes a truth value.
func BoolConst(x bool) Const {
	if x {
		return Const{1}
	}
	return Const{}
}

// Float reads a floating-point value.
func (c Const) Float() float64 { return math.Float64frombits(c.Bits) }

// Int reads an integer value.
func (c Const) Int() int64 { return int64(c.Bits) }

// Bool reads a truth value.
func (c Const) Bool() bool { return c.Bits != 0 }

// Text writes the value so that the reader of IR text gets it back, given the type: 1.5 inf nan -0.0 12 true.
func (c Const) Text(t Type) string {
	switch {
	case t.IsFloat():
		x := c.Float()
		switch {
		case math.IsInf(x, 1):
			return "inf"
		case math.IsInf(x, -1):
			return "-inf"
		case x != x:
			return "nan"
		}
		s := shortest(t.Elem, x)
		if strings.ContainsAny(s, ".e") {
			return s
		}
		return s + ".0"
	case t.IsBool():
		return strconv.FormatBool(c.Bool())
	case t.IsInt() && t.Elem.Kind == Uint:
		return strconv.FormatUint(c.Bits, 10)
	case t.IsInt():
		return strconv.FormatInt(c.Int(), 10)
	}
	return "0x" + strconv.FormatUint(c.Bits, 16)
}

// shortest writes x with the digits that it takes to be read back as the same value of dtype t.
func shortest(t *DType, x float64) string {
	if t != f64 {
		s := strconv.FormatFloat(x, 'g', -1, 32)
		if v, err := strconv.ParseFloat(s, 64); err == nil && RoundTo(t, v) == x {
			return s
		}
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
