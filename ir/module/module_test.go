package module

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
)

const whole = `level rows
size N: i64 >= 1 multiple 8 fixed 64
scalar eps: f32 default 0.5
scalar low: i32 >= -4
param x: f16[N, 2 * N]
result y: f32[N]
param y.in: f32[N] as y
work t: u32[] zero each
work u: u32[N] zero once
order x y eps low
where N % 8 == 0 "N % 8 == 0" at 2:7
site "index" of x 1 "x[i, \"k\"]" at 3:9
site "division by zero" "1 / k"
`

func read(src string) (h Header, d *diag.Diag) {
	p, errs := syntax.New(src, syntax.IR)
	if len(errs) > 0 {
		return h, errs[0]
	}
	d = p.Catch(func() {
		r := NewReader(p)
		h = r.Header("level")
		r.Kernel()
	})
	return h, d
}

func header(t *testing.T) Header {
	h, d := read(whole)
	require.Nil(t, d)
	return h
}

func TestText(t *testing.T) {
	h := header(t)
	assert.Equal(t, whole, h.Text("level"))
}

func TestMistakesInText(t *testing.T) {
	for src, want := range map[string]string{
		"":                                          "expected 'level'",
		"level":                                     "the name of the module",
		"level a\nnothing":                          "expected size, scalar, param",
		"level a\nsize N: i64\nscalar N: i32":       "N is declared twice",
		"level a\nwork x: f32[]\nparam x: f32[]":    "x is declared twice",
		"level a\nparam x: f32[N]":                  "unknown name N",
		"level a\nparam x: f32":                     "expected '['",
		"level a\nscalar x: f16x2":                  "cannot be of type f16x2",
		"level a\nsize N: i64 >= M":                 "unknown name M",
		"level a\nsize N: i64\nsize M: i64 >= N":    "expected a number",
		"level a\nsize N: i64\nsize M: i64 fixed N": "N is no constant",
		"level a\nwork x: f32[] zero never":         "expected each or once",
		"level a\nsite \"index\" of x":              "expected",
		"level a\nwhere true":                       "the condition in quotes",
	} {
		_, d := read(src)
		if assert.NotNil(t, d, src) {
			assert.Contains(t, d.Error(), want, src)
		}
	}
}

func TestVerify(t *testing.T) {
	for _, c := range []struct {
		name, want string
		spoil      func(h *Header)
	}{
		{"right", "", func(*Header) {}},
		{"module", "no name", func(h *Header) { h.Name = "for" }},
		{"scalar", "the scalar's name \"eps\" is taken", func(h *Header) { h.Scalars[2].Name = "eps" }},
		{"size", "size N of type i32", func(h *Header) { h.Scalars[0].Type = ir.I32 }},
		{"multiple", "a multiple of -1", func(h *Header) { h.Scalars[0].Multiple = -1 }},
		{"array", "the array's name \"x\" is taken", func(h *Header) { h.Arrays[1].Name = "x" }},
		{"caller's name", "the caller's name \"a b\" is no name", func(h *Header) { h.Arrays[0].As = "a b" }},
		{"cleared", "is no workspace", func(h *Header) { h.Arrays[0].Zero = ZeroEach }},
		{"order", "names t, which is no parameter", func(h *Header) { h.Order = []string{"t"} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := header(t)
			c.spoil(&h)
			var found []string
			h.Verify(Verifier{
				Fail: func(text string) { found = append(found, text) },
				Expr: func(e *ir.Expr, want ir.Type, _ string) { assert.Equal(t, want, e.Type) },
			})
			if c.want == "" {
				assert.Empty(t, found)
				return
			}
			require.NotEmpty(t, found)
			assert.Contains(t, found[0], c.want)
		})
	}
}

func TestSignature(t *testing.T) {
	h := header(t)
	sig := h.Signature()
	require.Len(t, sig.Params, 2)
	assert.Equal(t, "y", sig.Params[1].Name)
	require.Len(t, sig.Results, 1)
	assert.Equal(t, h.Order, sig.Order)
}

func TestExplain(t *testing.T) {
	h := header(t)
	shape := func(a *Array) []int { return map[string][]int{"x": {4, 8}, "y": {4}, "t": {}}[a.Name] }
	for want, f := range map[string]Fault{
		"3:9: error: index 9 of x is outside 0..8 (dimension 2) while computing y[2]": {Code: 0, Args: []int64{9, 2}, Of: h.Arrays[1]},
		"3:9: error: index 9 of x is outside 0..8 (dimension 2) while computing y":    {Code: 0, Args: []int64{9, 4}, Of: h.Arrays[1]},
		"division by zero in 1 / k while computing x[1, 3]":                           {Code: 1, Args: []int64{0, 11}, Of: h.Arrays[0]},
		"division by zero in 1 / k while computing t":                                 {Code: 1, Args: []int64{0, 0}, Of: h.Arrays[3]},
		"division by zero in 1 / k while computing kernel k":                          {Code: 1, Kernel: "k"},
	} {
		assert.Contains(t, h.Explain(f, shape).Error(), want)
	}
}
