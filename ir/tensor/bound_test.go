package tensor_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/internal/conformance"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/tensor"
)

const patience = 40_000 // expressions that the naive evaluator may visit in a run

// equal64 reports whether two floats are the same, NaN included.
func equal64(a, b float64) bool { return a == b || a != a && b != b }

// number is a value of a result as a float64.
func number(t ir.Type, c ir.Const) float64 {
	if t.IsFloat() {
		return ir.RoundTo(t.Elem, c.Float())
	}
	return float64(c.Int())
}

// Two implementations of the language's meaning agree to the last bit.
func TestEvalAgreesWithTheBook(t *testing.T) {
	var mu sync.Mutex
	ran, all := 0, 0
	t.Run("corpus", func(t *testing.T) {
		eachRun(t, func(t *testing.T, p *tensor.Program, call *data.Call, r conformance.Run) {
			n := &naive{left: patience}
			want, done := n.run(p, call)
			mu.Lock()
			all++
			if done {
				ran++
			}
			mu.Unlock()
			if !done {
				return
			}
			got, err := tensor.Eval(p, call, tensor.EvalOptions{})
			require.Equal(t, r.Fails, err != nil)
			for _, res := range p.Results {
				for i, v := range want[res.Name].vals {
					if !r.Fails {
						require.True(t, v.ok, "%s[%d]", res.Name, i)
						require.True(t, equal64(number(res.Type, v.c), got[res.Name].Float(i)), "%s[%d]: %v and %v", res.Name, i, number(res.Type, v.c), got[res.Name].Float(i))
					}
				}
			}
		})
	})
	require.Greater(t, ran*10, all*5, "the naive evaluator had patience for %d of %d runs", ran, all)
}

// What a device computes, in its own types and in any order, lies within the bounds; and the bounds are of use.
func TestBoundsHold(t *testing.T) {
	var mu sync.Mutex
	var relative []float64
	all, anything := 0, 0
	t.Run("corpus", func(t *testing.T) {
		eachRun(t, func(t *testing.T, p *tensor.Program, call *data.Call, r conformance.Run) {
			if r.Fails {
				return
			}
			n := &naive{left: patience, device: rand.New(rand.NewPCG(7, 7))}
			got, done := n.run(p, call)
			if !done {
				return
			}
			bounds := map[string]*data.Array{}
			want, err := tensor.Eval(p, call, tensor.EvalOptions{Bound: bounds})
			require.NoError(t, err)
			for _, res := range p.Results {
				for i, v := range got[res.Name].vals {
					x, y, bound := number(res.Type, v.c), want[res.Name].Float(i), bounds[res.Name].Float(i)
					require.False(t, bound != bound || bound < 0, "%s[%d]: a bound of %v", res.Name, i, bound)
					if !equal64(x, y) && !(math.Abs(x-y) <= bound) && bound != math.Inf(1) {
						t.Errorf("%s[%d]: a device may give %v, but the bound is %v around %v", res.Name, i, x, bound, y)
						return
					}
					mu.Lock()
					all++
					if bound == math.Inf(1) {
						anything++
					} else if res.Type == ir.F32 && y != 0 && !math.IsInf(y, 0) && y == y {
						relative = append(relative, bound/math.Abs(y))
					}
					mu.Unlock()
				}
			}
		})
	})
	slices.Sort(relative)
	require.NotEmpty(t, relative)
	t.Logf("%d elements, %d of them may be anything; relative bounds of f32: median %.2g, 90%% %.2g, 99%% %.2g", all, anything,
		relative[len(relative)/2], relative[len(relative)*9/10], relative[len(relative)*99/100])
	require.Less(t, anything*50, all, "one in fifty may be anything")
	require.Less(t, relative[len(relative)/2], 1e-4)
	require.Less(t, relative[len(relative)*9/10], 1e-2)
}
