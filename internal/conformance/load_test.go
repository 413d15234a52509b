package conformance

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
			for _, a := range got {
				if a.Len() > 0 {
					a.SetBits(0, a.Bits(0)^1<<(a.Type.Bits()-2))
					if a.Type.Bits() > 8 {
						assert.NotEmpty(t, r.Compare(got), c.ID())
					}
					break
				}
			}
		}
	}
}
