package main

import (
	"fmt"
	"math"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// verdict is how far a result is from the evaluator's.
type verdict struct {
	Result  string  `json:"result"`
	Wrong   int     `json:"wrong"`    // elements beyond the bound
	Largest float64 `json:"largest"`  // the largest difference
	OfBound float64 `json:"of_bound"` // the largest difference in units of the bound
	At      []int   `json:"at,omitempty"`
}

// verify compares results with the evaluator's; strict allows no rounding of intermediates. What differs by more than rounding explains is a bug of ours.
func (o *outcome) verify(a *app, p *tensor.Program, call *data.Call, strict bool) error {
	if p == nil {
		return usage("--verify needs a gk file or tensor IR: what lies below does not say what it means")
	}
	bounds := map[string]*data.Array{}
	want, err := tensor.Eval(p, call, tensor.EvalOptions{Context: a.ctx, Bound: bounds, Strict: strict})
	if err != nil {
		return fmt.Errorf("the evaluator: %w", err)
	}
	for _, r := range p.Results {
		v := judge(o.outputs[r.Name], want[r.Name], bounds[r.Name])
		v.Result = r.Name
		o.checked = append(o.checked, v)
		if v.Wrong > 0 {
			return &bugError{err: fmt.Errorf("kernel %s: %d elements of %s are wrong, the worst at %v by %g, which is %.3g times what rounding explains", p.Name, v.Wrong, r.Name, v.At, v.Largest, v.OfBound)}
		}
	}
	return nil
}

// slack covers what a first-order bound leaves out: higher orders, and functions that a device computes to a few units in
// the last place.
const slack = 4

func judge(got, want, bound *data.Array) verdict {
	var v verdict
	for i := range want.Len() {
		diff, allowed := difference(got, want, bound, i)
		if diff > v.Largest {
			v.Largest = diff
		}
		if diff == 0 || diff <= allowed {
			if allowed > 0 {
				v.OfBound = max(v.OfBound, diff/allowed)
			}
			continue
		}
		if v.Wrong++; v.Wrong == 1 {
			v.At = data.Subscripts(want.Shape, i)
		}
		if allowed > 0 {
			v.OfBound = max(v.OfBound, diff/allowed)
		} else {
			v.OfBound = math.Inf(1)
		}
	}
	return v
}

// difference is how far element i is off, and how far it may be: the bound, and one rounding to the result's type.
func difference(got, want, bound *data.Array, i int) (diff, allowed float64) {
	b := bound.Float(i)
	if !want.Type.IsFloat() {
		if got.At(i) == want.At(i) {
			return 0, 0
		}
		return math.Abs(got.Float(i) - want.Float(i)), slack*b + math.Ceil(min(b, 1))
	}
	x, y := got.Float(i), want.Float(i)
	if x == y || x != x && y != y {
		return 0, 0
	}
	if math.IsInf(b, 1) {
		return 0, 0 // the evaluator cannot say
	}
	diff = math.Abs(x - y)
	if diff != diff {
		diff = math.Inf(1)
	}
	return diff, slack*b + ulp(want.Type, y)
}

// ulp is the spacing of type t's values around y.
func ulp(t ir.Type, y float64) float64 {
	_, e := math.Frexp(y)
	least := 2 - 1<<(t.Elem.Exp-1)
	return math.Ldexp(1, max(e-1, least)-t.Elem.Mant)
}
