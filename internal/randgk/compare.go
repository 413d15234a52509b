package randgk

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/diag"
)

// slack covers what a first-order bound leaves out.
const slack = 4

// Differs says how an outcome differs from the evaluator's by more than rounding explains; empty: it does not.
func Differs(got, want Outcome, bounds map[string]*data.Array) string {
	switch {
	case want.Err != nil && got.Err == nil:
		return "no error; the evaluator says: " + want.Err.Error()
	case want.Err != nil && code(got.Err) != code(want.Err):
		return fmt.Sprintf("another error: %v; the evaluator says: %v", got.Err, want.Err)
	case want.Err != nil:
		return ""
	case got.Err != nil:
		return "error: " + got.Err.Error()
	}
	for name, w := range want.Out {
		if d := arrayDiffers(got.Out[name], w, bounds[name]); d != "" {
			return name + d
		}
	}
	return ""
}

// code is the kind of an error: a device's own words are about running.
func code(err error) string {
	var d *diag.Diag
	if errors.As(err, &d) {
		return d.Code
	}
	if strings.HasPrefix(err.Error(), "panic") {
		return "panic"
	}
	return "runtime"
}

func arrayDiffers(got, want, bound *data.Array) string {
	if got == nil || got.Type != want.Type || got.Len() != want.Len() {
		return fmt.Sprintf(" is %v, expected %v", got, want)
	}
	for i := range want.Len() {
		if !near(got, want, bound, i) {
			return fmt.Sprintf("%v = %v, expected %v within %g", data.Subscripts(want.Shape, i), got.Float(i), want.Float(i), bound.Float(i))
		}
	}
	return ""
}

func near(got, want, bound *data.Array, i int) bool {
	b, x, y := bound.Float(i), got.Float(i), want.Float(i)
	switch {
	case math.IsInf(b, 1), x == y && want.Type.IsFloat(), x != x && y != y:
		return true
	case !want.Type.IsFloat():
		return got.At(i) == want.At(i) || math.Abs(x-y) <= slack*b+math.Ceil(min(b, 1))
	}
	return math.Abs(x-y) <= slack*b+spacing(want.Type, y)
}

// spacing is that of type t's values around y.
func spacing(t ir.Type, y float64) float64 {
	_, e := math.Frexp(y)
	return math.Ldexp(1, max(e-1, 2-1<<(t.Elem.Exp-1))-t.Elem.Mant)
}
