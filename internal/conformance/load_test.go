package conformance

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
)

func TestLoad(t *testing.T) {
	cases, err := Load()
	require.NoError(t, err)
	assert.Greater(t, len(cases), 400)
	runs := 0
	for _, c := range cases {
		runs += len(c.Runs)
		for _, r := range c.Runs {
			assert.True(t, r.Fails != (len(r.Outputs) > 0), c.ID())
		}
	}
	assert.Greater(t, runs, 1300)
	mistakes, err := LoadMistakes()
	require.NoError(t, err)
	assert.Greater(t, len(mistakes), 100)
}

func TestCompareFindsDifferences(t *testing.T) {
	cases, err := Load("rows")
	require.NoError(t, err)
	for _, c := range cases {
		for _, r := range c.Runs {
			got := map[string]*data.Array{}
			for name, want := range r.Outputs {
				a := data.New(want.Type, want.Shape...)
				for i := range a.Len() {
					a.Set(i, rounded(want, i))
				}
				got[name] = a
			}
			assert.Empty(t, r.Compare(got), c.ID())
			for name, a := range got {
				if a.Len() == 0 {
					continue
				}
				right := a.Bits(0)
				a.Set(0, wrong(a))
				assert.NotEmpty(t, r.Compare(got), "%s: %s", c.ID(), name)
				a.SetBits(0, right)
			}
		}
	}
}

// wrong is a value that is not what stands in the first element.
func wrong(a *data.Array) ir.Const {
	v := a.At(0)
	switch {
	case a.Type.IsFloat() && (v.Float() != v.Float() || math.Abs(v.Float()) > 1):
		return ir.FloatConst(0)
	case a.Type.IsFloat():
		return ir.FloatConst(4)
	case a.Type.IsBool():
		return ir.BoolConst(!v.Bool())
	}
	return ir.IntConst(v.Int() ^ 1)
}
