package passes_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/internal/conformance"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/passes"
)

const deepElements = 4000 // of all arrays of a run that is evaluated after every pass

// TestEveryPassKeepsTheAnswer evaluates programs after each pass whose result has an evaluator. The simulator, which runs what
// comes out at the end, has the whole corpus as its test.
func TestEveryPassKeepsTheAnswer(t *testing.T) {
	cases, err := conformance.Load("attention", "bugs", "calls", "gemm", "rows", "science")
	require.NoError(t, err)
	runs := 0
	for _, c := range cases {
		unit, errs := lang.Compile(c.Name+".gk", c.Source, nil)
		if errs.Err() != nil {
			continue // the corpus test judges refusals
		}
		p := unit.Kernel(c.Kernel)
		for i := range c.Runs {
			r := &c.Runs[i]
			if r.Fails || size(r) > deepElements {
				continue
			}
			call, err := r.Bind(p.Signature())
			require.NoError(t, err, "%s %d", c.ID(), i)
			u := &passes.Unit{Level: passes.Tensor, Tensor: p}
			run := passes.Options{To: passes.Tile, Dump: func(pass, _ string) {
				out, err := evaluate(u, call)
				require.NoError(t, err, "%s %d after %s", c.ID(), i, pass)
				require.Empty(t, r.Compare(out), "%s %d after %s", c.ID(), i, pass)
			}}
			require.NoError(t, passes.Run(u, run), "%s %d", c.ID(), i)
			runs++
		}
	}
	require.Greater(t, runs, 150)
}

func evaluate(u *passes.Unit, call *data.Call) (map[string]*data.Array, error) {
	if u.Level == passes.Tensor {
		return tensor.Eval(u.Tensor, call, tensor.EvalOptions{})
	}
	return tile.Eval(context.Background(), u.Tile, call)
}

func size(r *conformance.Run) int {
	n := 0
	for _, a := range r.Inputs {
		n += a.Len()
	}
	for _, o := range r.Outputs {
		n += o.Values.Len()
	}
	return n
}
