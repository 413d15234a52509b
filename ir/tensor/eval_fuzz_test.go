package tensor

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
)

// anyCall makes a call with small sizes and random inputs; ok is false if the program's extents do not allow that.
func anyCall(p *Program, r *rand.Rand) (call *data.Call, ok bool) {
	call = &data.Call{Scalars: map[string]ir.Const{}, Inputs: map[string]*data.Array{}}
	for _, s := range p.Scalars {
		call.Scalars[s.Name] = anyValue(s.Type, r)
		if s.IsSize {
			call.Scalars[s.Name] = ir.IntConst(r.Int64N(5))
		}
	}
	for _, t := range p.Params {
		n, shape := 1, []int{}
		for _, e := range t.Extents {
			v, err := ir.EvalExpr(e, func(x ir.Ref) (ir.Const, bool) { c, ok := call.Scalars[x.RefName()]; return c, ok })
			if err != nil || v.Int() < 0 || v.Int() > 100 {
				return nil, false
			}
			if n *= int(v.Int()); n > 1000 {
				return nil, false
			}
			shape = append(shape, int(v.Int()))
		}
		a := data.New(t.Type, shape...)
		for i := range a.Len() {
			a.Set(i, anyValue(t.Type, r))
		}
		call.Inputs[t.Name] = a
	}
	return call, true
}

func anyValue(t ir.Type, r *rand.Rand) ir.Const {
	switch {
	case t.IsFloat():
		return ir.FloatConst(ir.RoundTo(t.Elem, r.NormFloat64()))
	case t.IsBool():
		return ir.BoolConst(r.IntN(2) == 0)
	}
	return ir.Convert(t, ir.I64, ir.IntConst(r.Int64N(9)-2))
}

// Whatever verifies can be evaluated, or fails with a diagnosis; asking for bounds does not change the values.
func FuzzEval(f *testing.F) {
	for _, src := range textFiles(f) {
		f.Add(src, uint64(1))
	}
	f.Fuzz(func(t *testing.T, src string, seed uint64) {
		p, errs := Parse(src)
		if len(errs) > 0 || Verify(p) != nil {
			return
		}
		call, ok := anyCall(p, rand.New(rand.NewPCG(seed, 1)))
		if !ok {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		got, err := Eval(p, call, EvalOptions{Context: ctx, MaxBytes: 1 << 20})
		again, err2 := Eval(p, call, EvalOptions{Context: ctx, MaxBytes: 1 << 22, Bound: map[string]*data.Array{}})
		if err == nil && err2 == nil {
			require.Equal(t, got, again)
		}
	})
}
