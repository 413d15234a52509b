package tensor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/internal/golden"
	"github.com/gkc-lang/gkc/ir"
)

func textFiles(t testing.TB) map[string]string {
	paths, err := filepath.Glob("testdata/text/*.tensor")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	out := map[string]string{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		require.NoError(t, err)
		out[p] = string(b)
	}
	return out
}

// The files are written as String writes them, so that reading and writing changes nothing.
func TestText(t *testing.T) {
	for path, src := range textFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			p, errs := Parse(src)
			require.NoError(t, errs.Err())
			got := p.String()
			golden.Equal(t, path, got)
			q, errs := Parse(got)
			require.NoError(t, errs.Err())
			require.NoError(t, same(p, q))
		})
	}
}

// A chain of squares is a tree of 2^60 operations, and 61 expressions.
func TestSharingSurvives(t *testing.T) {
	x := &Tensor{Name: "x", Type: ir.F32, Role: Param}
	y := &Tensor{Name: "y", Type: ir.F32, Role: Result}
	e := ReadOf(x, Edge{})
	for range 60 {
		e = ir.Mul(e, e)
	}
	p := &Program{Name: "squares", Params: []*Tensor{x}, Results: []*Tensor{y}, Order: []string{"x"}, Defs: []Def{&Map{Out: y, Body: e}}}
	q, errs := Parse(p.String())
	require.NoError(t, errs.Err())
	require.Equal(t, p.String(), q.String())
	n := 0
	ir.Walk(q.Defs[0].(*Map).Body, func(*ir.Expr) { n++ })
	require.Less(t, n, 80)
}

// What is nested or chained deeper than the reader allows is cut into lets.
func TestDeepExpressions(t *testing.T) {
	x := &Tensor{Name: "x", Type: ir.F32, Role: Param}
	y := &Tensor{Name: "y", Type: ir.F32, Role: Result}
	deep, chain, right := ReadOf(x, Edge{}), ReadOf(x, Edge{}), ReadOf(x, Edge{})
	for range 3000 {
		deep = ir.Apply(ir.OpSin, deep)
		chain = ir.Sub(chain, ReadOf(x, Edge{}))
		right = ir.Div(ReadOf(x, Edge{}), right)
	}
	body := ir.Add(deep, ir.Add(chain, right))
	p := &Program{Name: "deep", Params: []*Tensor{x}, Results: []*Tensor{y}, Order: []string{"x"}, Defs: []Def{&Map{Out: y, Body: body}}}
	q, errs := Parse(p.String())
	require.NoError(t, errs.Err())
	require.NoError(t, same(p, q))
	require.Equal(t, p.String(), q.String())
}

func TestParseErrors(t *testing.T) {
	head := "tensor k(X: f32[N], I: i32[N]) -> (Y: f32[N])\nsize N: i64 >= 1\n"
	for _, c := range []struct{ src, want string }{
		{"", "holds 0 programs"},
		{head + head, "holds 2 programs"},
		{"tensor", "expected the program's name"},
		{"tensor k(X: f7[]) -> ()", "unknown type f7"},
		{head + "def Z[i in 0..N] = 1.0", "unknown tensor Z"},
		{head + "def Y[i in 0..N] = X[j]", "unknown name j"},
		{head + "def Y[i in 0..N] = Q[i]", "unknown tensor Q"},
		{head + "def Y[i in 0..N] = X[i", "expected ',' or ']'"},
		{head + "def Y[i in 0..N] = I[i]", "is i32, expected f32"},
		{head + "def Y[i in 0..N] = X@left[i]", "unknown edge @left"},
		{head + "def Y[i in 0..N] = sum[j in 0..N](X[j])", "names its accumulator's type"},
		{head + "def Y[i in 0..N] = sum[i in 0..N: f32](X[i])", "the axis i has the name of something else"},
		{head + "def Y[i in 0..N] = cumsum[j in 0..N: f32](X[i])", "j is no axis in scope"},
		{head + "let a: f32 = a + 1.0\ndef Y[i in 0..N] = a", "in terms of itself"},
		{head + "temp Y: f32[N]", "Y is declared twice"},
		{head + "size N: i64", "N is declared twice"},
		{head + "stray", "expected where"},
		{head + "scatter Y[i] mean: f32 = 1.0 for i in 0..N", "unknown monoid mean"},
		{head + "recur { Y[i in 0..N] = 1.0 }", "is marked with step"},
		{head + "where N \"x\"", "is i64, expected bool"},
		{head + "where N > 0 x", "the condition in quotes"},
		{head + "def Y[i in 0..N] = X[i] at 1", "expected ':' and a column"},
		{"tensor k(X: f32[N]) -> (Y: f32[N])", "unknown name N"},
	} {
		_, errs := Parse(c.src)
		require.ErrorContains(t, errs.Err(), c.want, c.src)
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range textFiles(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		p, errs := Parse(src)
		if len(errs) > 0 {
			return
		}
		text := p.String()
		q, errs := Parse(text)
		require.NoError(t, errs.Err(), text)
		require.Equal(t, text, q.String())
	})
}
