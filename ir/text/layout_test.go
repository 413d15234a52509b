package text_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/text"
)

func readLayout(s string) (l *ir.Layout, err error) {
	p, _ := syntax.New(s, syntax.IR)
	if d := p.Catch(func() { l = (&text.Lines{Parser: p}).Layout() }); d != nil {
		return nil, d
	}
	return l, nil
}

func TestLayoutsPrintAndReadBack(t *testing.T) {
	for _, s := range []string{
		"m n [reg n1 m8 n8 | lane n2 n4 m1 m2 m4 | warp m16 m32 | group m64]",
		"m n [reg n1 m8+n16 | lane n2 = ~ | grid m64]",
		"m n [reg n1 | rep n3]",
		"j1 k [reg k1 j1:4+k2 | lane = j1:1 | rep j1:5 k3]",
		"[]",
		"m []",
	} {
		l, err := readLayout(s)
		require.NoError(t, err, s)
		assert.Equal(t, s, text.Layout(l))
	}
}

func TestWrongLayouts(t *testing.T) {
	for s, want := range map[string]string{
		"m m [reg m1]":                      "axis m twice",
		"m [regs m1]":                       "unknown place regs",
		"m [reg n1]":                        "n1 is no axis",
		"m [reg m0]":                        "m0 is no axis",
		"m [reg m1+m2]":                     "axis m twice in a bit",
		"m [reg m1 | rep m2]":               "odd number of times",
		"m [reg m1 | rep m3 m5]":            "repeats of m twice",
		"m [rep m3 | rep m3]":               "repeats twice",
		"m1 [reg m1]":                       "m1 is no axis",
		"m1 [reg m1:x]":                     "m1 is no axis",
		"m [reg m99999999999999]":           "is no axis",
		"m n [reg m2147483648 n2147483648]": "more elements than can be counted",
		"m [reg m1":                         "']'",
	} {
		_, err := readLayout(s)
		assert.ErrorContains(t, err, want, s)
	}
}
