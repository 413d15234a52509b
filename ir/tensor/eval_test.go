package tensor

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
)

func parse(t testing.TB, src string) *Program {
	t.Helper()
	p, errs := Parse(src)
	require.NoError(t, errs.Err(), src)
	return p
}

// floats makes an array of a float type.
func floats(ty ir.Type, shape []int, v ...float64) *data.Array {
	a := data.New(ty, shape...)
	for i, x := range v {
		a.Set(i, ir.FloatConst(x))
	}
	return a
}

// ints makes an array of an integer type or bool.
func ints(ty ir.Type, shape []int, v ...int64) *data.Array {
	a := data.New(ty, shape...)
	for i, x := range v {
		a.Set(i, ir.IntConst(x))
	}
	return a
}

func f32s(v ...float64) *data.Array { return floats(ir.F32, []int{len(v)}, v...) }
func i32s(v ...int64) *data.Array   { return ints(ir.I32, []int{len(v)}, v...) }

// listOf is what an array holds.
func listOf(a *data.Array) []float64 {
	out := make([]float64, a.Len())
	for i := range out {
		out[i] = a.Float(i)
	}
	return out
}

type sizes map[string]int64

func callOf(s sizes, in map[string]*data.Array) *data.Call {
	c := &data.Call{Scalars: map[string]ir.Const{}, Inputs: in}
	for name, v := range s {
		c.Scalars[name] = ir.IntConst(v)
	}
	return c
}

func eval(t testing.TB, src string, s sizes, in map[string]*data.Array) (map[string]*data.Array, error) {
	t.Helper()
	return Eval(parse(t, src), callOf(s, in), EvalOptions{})
}

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

// equalFloats compares with NaN equal to NaN.
func equalFloats(t *testing.T, want, got []float64, msg string) {
	t.Helper()
	require.Len(t, got, len(want), msg)
	for i := range want {
		if want[i] != got[i] && !(want[i] != want[i] && got[i] != got[i]) {
			t.Fatalf("%s: element %d is %v, expected %v", msg, i, got[i], want[i])
		}
	}
}

// One vector in, one vector out.
func TestEvalVectors(t *testing.T) {
	const head = "tensor k(X: f32[N], I: i32[N]) -> (Y: f32[M])\nsize N: i64\nsize M: i64\n"
	x, i := []float64{1, -2, 3, nan, 5}, []int64{0, 4, -1, 7, 2}
	for _, c := range []struct {
		body string
		want []float64
	}{
		{"X[m]", x},
		{"X@zero[m - 2]", []float64{0, 0, 1, -2, 3}},
		{"X@const(7.5)[m + 3]", []float64{nan, 5, 7.5, 7.5, 7.5}},
		{"X@clamp[2 * m - 3]", []float64{1, 1, -2, nan, 5}},
		{"X@wrap[m - 7]", []float64{nan, 5, 1, -2, 3}},
		{"X@mirror[m - 3]", []float64{nan, 3, -2, 1, -2}},
		{"X@mirror[m + 4]", []float64{5, nan, 3, -2, 1}},
		{"X@mirror[m - 9]", []float64{-2, 1, -2, 3, nan}},
		{"X@clamp[widen.i64(I[m])]", []float64{1, 5, 1, 5, 3}},
		{"if I[m] >= 0 && I[m] < 5 { X@checked[widen.i64(I[m])] } else { 0.0 }", []float64{1, 5, 0, 0, 3}},
		{"if I[m] < 0 || widen.i64(I[m]) >= N { 9.0 } else { X@checked[widen.i64(I[m])] }", []float64{1, 5, 9, 9, 3}},
		{"sum[j in 0..m: f32](X[j])", []float64{0, 1, -1, 2, nan}},
		{"sum[j in 0..N: f32 where j >= m && !isnan(X[j])](X[j])", []float64{7, 6, 8, 5, 5}},
		{"prod[j in 0..m: f32](X[j])", []float64{1, 1, -2, -6, nan}},
		{"max[j in 0..m: f32](X[j])", []float64{-inf, 1, 1, 3, nan}},
		{"min[j in m..N: f32 where !isnan(X[j])](X[j])", []float64{-2, -2, 3, 5, 5}},
		{"widen.f32(max[j in 0..m: i32](I[j]))", []float64{math.MinInt32, 0, 4, 4, 7}},
		{"widen.f32(min[j in 5..m: i64](j))", []float64{math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64}},
		{"if any[j in 0..m: bool](X[j] < 0.0) { 1.0 } else { 0.0 }", []float64{0, 0, 1, 1, 1}},
		{"if all[j in 0..m: bool](X[j] > 0.0) { 1.0 } else { 0.0 }", []float64{1, 1, 0, 0, 0}},
		{"widen.f32(sum[j in 0..N: i64, k in j..N where I[k] > I[j]](1))", []float64{6, 6, 6, 6, 6}},
		{"cumsum[m in 0..N: f32](X[m])", []float64{1, -1, 2, nan, nan}},
		{"cumsum[m in 0..N: f32 reverse](X@zero[m - 1])", []float64{nan, nan, nan, nan, nan}},
		{"cumsum[m in 0..N: f32 reverse exclusive where m < 3](X[m])", []float64{1, 3, 0, 0, 0}},
		{"cumprod[m in 0..N: f32 exclusive where !isnan(X[m])](X[m])", []float64{1, 1, -2, -6, -6}},
		{"widen.f32(cummax[m in 0..N: i32](I[m]))", []float64{0, 4, 4, 7, 7}},
		{"cummin[m in 0..N: f32](X[m])", []float64{1, -2, -2, nan, nan}},
		{"widen.f32(I[m] / 2)", []float64{0, 2, 0, 3, 1}},
		{"widen.f32(I[m] % 2)", []float64{0, 0, -1, 1, 0}},
		{"widen.f32(floordiv(I[m], 2))", []float64{0, 2, -1, 3, 1}},
		{"widen.f32(mod(I[m], 2))", []float64{0, 0, 1, 1, 0}},
		{"widen.f32(I[m] * 1073741824)", []float64{0, 0, -1 << 30, -1 << 30, -1 << 31}},
		{"widen.f32(i8(I[m] * 50))", []float64{0, 127, -50, 127, 100}},
		{"f32(widen.f32(16777217))", []float64{16777216, 16777216, 16777216, 16777216, 16777216}},
		{"widen.f32(f16(X[m] * 0.1))", []float64{0.0999755859375, -0.199951171875, 0.300048828125, nan, 0.5}},
		{"widen.f32(i32(X[m] * 1e10))", []float64{1 << 31, -1 << 31, 1 << 31, 0, 1 << 31}},
		{"select(isnan(X[m]), -1.0, X[m])", []float64{1, -2, 3, -1, 5}},
		{"bitcast.f32(bitcast.i32(f32(X[m])))", x},
		{"rand(m, 3)", []float64{ir.Rand(0, 3), ir.Rand(1, 3), ir.Rand(2, 3), ir.Rand(3, 3), ir.Rand(4, 3)}},
		{"max(X[m], 0.0 - inf)", x},
		{"max(X[m], inf)", []float64{inf, inf, inf, nan, inf}},
	} {
		got, err := eval(t, head+"def Y[m in 0..M] = "+c.body, sizes{"N": 5, "M": 5}, map[string]*data.Array{"X": f32s(x...), "I": i32s(i...)})
		require.NoError(t, err, c.body)
		equalFloats(t, c.want, listOf(got["Y"]), c.body)
	}
}

func TestEvalEmptyTensorsReadZero(t *testing.T) {
	for _, edge := range []string{"zero", "clamp", "wrap", "mirror"} {
		got, err := eval(t, "tensor k(X: f32[N]) -> (Y: f32[3])\nsize N: i64\ndef Y[i in 0..3] = X@"+edge+"[i - 1] + 1.0", sizes{"N": 0}, map[string]*data.Array{"X": f32s()})
		require.NoError(t, err)
		require.Equal(t, []float64{1, 1, 1}, listOf(got["Y"]), edge)
		got, err = eval(t, "tensor k(X: f32[N]) -> (Y: f32[3])\nsize N: i64\ndef Y[i in 0..3] = X@"+edge+"[i - 1]", sizes{"N": 1}, map[string]*data.Array{"X": f32s(4)})
		require.NoError(t, err)
		want := []float64{4, 4, 4}
		if edge == "zero" {
			want = []float64{0, 4, 0}
		}
		require.Equal(t, want, listOf(got["Y"]), edge)
	}
}

func TestEvalScatter(t *testing.T) {
	const head = "tensor k(I: i32[N], X: f32[N]%s) -> (Y: %s[M])\nsize N: i64\nsize M: i64\n"
	i, x := i32s(0, 2, 2, 5, -1), f32s(1, 2, 3.5, 4, -9)
	for _, c := range []struct {
		elem, body string
		want       []float64
	}{
		{"f32", "scatter Y@zero[widen.i64(I[n])] sum: f32 = X[n] for n in 0..N", []float64{1, 0, 5.5}},
		{"f32", "scatter Y@clamp[widen.i64(I[n])] sum: f32 = X[n] for n in 0..N", []float64{-8, 0, 9.5}},
		{"f32", "scatter Y@wrap[widen.i64(I[n])] max: f32 = X[n] for n in 0..N", []float64{1, -inf, 4}},
		{"i32", "scatter Y@zero[widen.i64(I[n])] sum: f32 = X[n] for n in 0..N", []float64{1, 0, 5}},
		{"i8", "scatter Y@zero[widen.i64(I[n])] sum: i32 = 100 for n in 0..N, k in 0..n + 1", []float64{100, 0, 127}},
		{"i64", "scatter Y[0] min: i64 = n for n in 2..N", []float64{2, math.MaxInt64, math.MaxInt64}},
		{"f32", "scatter Y@checked[widen.i64(I[n])] sum: f32 = X[n] for n in 0..N where I[n] >= 0 && I[n] < 3", []float64{1, 0, 5.5}},
		{"f16", "scatter Y[1] sum: f32 = 2049.0 for n in 0..1", []float64{0, 2048, 0}},
		{"f32", "scatter Y@zero[widen.i64(I[n])] sum: f32 = X@checked[widen.i64(I[n]) - 3] for n in 3..N", []float64{0, 0, 0}},
	} {
		src := strings.NewReplacer("%s) ->", ") ->", "%s[M]", c.elem+"[M]").Replace(head)
		got, err := eval(t, src+c.body, sizes{"N": 5, "M": 3}, map[string]*data.Array{"I": i, "X": x})
		require.NoError(t, err, c.body)
		equalFloats(t, c.want, listOf(got["Y"]), c.body)
	}
}

func TestEvalInPlace(t *testing.T) {
	src := `tensor k(Y: f32[N]) -> (Y: f32[N], Z: f32[N])
size N: i64
scatter Y[0] sum: f32 = Y[n] for n in 0..N from Y
def Z[n in 0..N] = Y[n] + 1.0`
	in := map[string]*data.Array{"Y": f32s(1, 2, 3)}
	got, err := eval(t, src, sizes{"N": 3}, in)
	require.NoError(t, err)
	require.Equal(t, []float64{7, 2, 3}, listOf(got["Y"]))
	require.Equal(t, []float64{2, 3, 4}, listOf(got["Z"]), "reads are of the parameter")
	require.Equal(t, []float64{1, 2, 3}, listOf(in["Y"]), "the caller's array is not touched")
}

func TestEvalRecurrences(t *testing.T) {
	for name, c := range map[string]struct {
		src  string
		want []float64
	}{
		"forward": {"recur {\n h[t in 0..N step] = 2.0 * h[t - 1] + X[t] from h0\n}\ndef Y[t in 0..N] = h[t]", []float64{21, 44, 91, 186}},
		"back":    {"recur back {\n h[t in 0..N step] = 2.0 * h[t + 1] + X[t] from h0\n}\ndef Y[t in 0..N] = h[t]", []float64{209, 104, 51, 24}},
		"range":   {"recur {\n h[t in 5..N + 5 step] = h[t - 1 - 5] + X[t - 5] from h0\n}\ndef Y[t in 0..N] = h[t]", []float64{11, 13, 16, 20}},
		"two": {"recur {\n h[t in 0..N step] = g[t - 1] + X[t] from h0\n g[s in 0..N step] = h[s] * 2.0 from h0\n}\ndef Y[t in 0..N] = h[t] + g[t]",
			[]float64{33, 72, 153, 318}},
		"both directions of time see the steps before": {
			"recur {\n h[t in 0..N step] = sum[j in 0..2: f32](h[t - 1]) + X[t] from h0\n}\ndef Y[t in 0..N] = h[t]", []float64{21, 44, 91, 186}},
	} {
		src := "tensor k(X: f32[N]) -> (Y: f32[N])\nsize N: i64\ntemp h0: f32[]\ntemp h: f32[N]\n"
		if strings.Contains(c.src, "g[") {
			src += "temp g: f32[N]\n"
		}
		got, err := eval(t, src+"def h0[] = 10.0\n"+c.src, sizes{"N": 4}, map[string]*data.Array{"X": f32s(1, 2, 3, 4)})
		require.NoError(t, err, name)
		require.Equal(t, c.want, listOf(got["Y"]), name)
	}
}

// A step that reads other elements of the step before, and is computed by several goroutines.
func TestEvalWideRecurrence(t *testing.T) {
	src := `tensor k(W: f32[D, D], h0: f32[D]) -> (H: f32[T, D])
size T: i64
size D: i64
recur {
  H[t in 0..T step, d in 0..D] = f32(sum[e in 0..D: f32](W[d, e] * H[t - 1, e])) from h0
}`
	const d, steps = 300, 4
	w, h := data.New(ir.F32, d, d), data.New(ir.F32, d)
	for i := range d {
		h.Set(i, ir.FloatConst(float64(i%7)))
		w.Set(i*d+(i+1)%d, ir.FloatConst(1)) // shifts by one
	}
	got, err := eval(t, src, sizes{"T": steps, "D": d}, map[string]*data.Array{"W": w, "h0": h})
	require.NoError(t, err)
	for s := range steps {
		for i := range d {
			require.Equal(t, float64((i+s+1)%d%7), got["H"].Float(s*d+i))
		}
	}
}

func TestEvalFaults(t *testing.T) {
	const head = "tensor k(X: f32[N], I: i32[N]) -> (Y: f32[N])\nsize N: i64\n"
	const temp = "temp d: f32[N]\ntemp s: f32[]\n"
	for _, c := range []struct{ body, want string }{
		{"def Y[i in 0..N] = X@checked[widen.i64(I[i])]", "index 7 of X is outside 0..4 (dimension 1) while computing Y[i=2]"},
		{"def Y[i in 0..N] = X[i + 1]", "index 4 of X is outside 0..4 (dimension 1) while computing Y[i=3]"},
		{"def Y[i in 0..N] = if I[i] < 4 { X@checked[widen.i64(I[i])] } else { 0.0 }", "index -1 of X is outside 0..4 (dimension 1) while computing Y[i=3]"},
		{"def Y[i in 0..N] = if I[i] >= 0 && I[i] < 4 { X@checked[widen.i64(I[i])] } else { 0.0 }", ""},
		{"def Y[i in 0..N] = select(I[i] >= 0 && I[i] < 4, X@checked[widen.i64(I[i])], 0.0)", "index 7 of X"},
		{"def Y[i in 0..N] = widen.f32(6 / I[i])", "division by zero in 6 / I[i] while computing Y[i=0]"},
		{"def Y[i in 0..N] = widen.f32(6 % I[i])", "division by zero"},
		{"def Y[i in 0..N] = widen.f32(mod(6, I[i]))", "division by zero"},
		{"def Y[i in 0..N] = widen.f32(i32(3) << I[i])", "shift by less than 0 or by the width or more in 3 << I[i] while computing Y[i=3]"},
		{"def Y[i in 0..N] = widen.f32(ipow(3, I[i]))", "integer to a negative power"},
		{"def Y[i in 0..N] = 1.0 / widen.f32(I[i])", ""},
		{"def Y[i in 0..N] = sum[j in 0..N: f32 where I[j] >= 0](X@checked[widen.i64(I[j])])", "index 7 of X"},
		{"def Y[i in 0..N] = sum[j in 0..N: f32 where I[j] >= 0 && I[j] < 4](X@checked[widen.i64(I[j])])", ""},
		{"def Y[i in 0..N] = sum[j in widen.i64(6 / I[i])..3: f32](1.0)", "division by zero"},
		{"def Y[i in 0..N] = cumsum[i in 0..N: f32](X@checked[widen.i64(I[i])])", "index 7 of X is outside 0..4 (dimension 1) while computing Y[i=2]"},
		{"def Y[i in 0..N] = cumsum[i in 0..2: f32](X[i])", "a position outside the range of the scan"},
		{temp + "def d[i in 0..N] = X@checked[widen.i64(I[i])]\ndef s[] = 1.0\ndef Y[i in 0..N] = if i < 2 { d[i] } else { s[] }", ""},
		{temp + "def d[i in 0..N] = X@checked[widen.i64(I[i])]\ndef s[] = d[3]\ndef Y[i in 0..N] = if i < 3 { 0.0 } else { s[] }", "index -1 of X is outside 0..4 (dimension 1) while computing Y[i=3]"},
		{temp + "def d[i in 0..N] = 1.0\ndef s[] = sum[i in 0..N: f32](d@zero[widen.i64(1 / I[i])])\ndef Y[i in 0..N] = s[]", "division by zero"},
		{temp + "scatter d@checked[widen.i64(I[i])] sum: f32 = X[i] for i in 0..N\ndef s[] = 1.0\ndef Y[i in 0..N] = if i < 3 { 0.0 } else { d[0] }", "index 7 of d is outside 0..4 (dimension 1) while computing Y[i=3]"},
		{temp + "scatter d@checked[widen.i64(I[i])] sum: f32 = X[i] for i in 0..N\ndef s[] = 1.0\ndef Y[i in 0..N] = if i < 9 { 0.0 } else { d[0] }", ""},
		{"scatter Y[i] sum: f32 = X@checked[widen.i64(I[i])] for i in 0..N", "index 7 of X is outside 0..4 (dimension 1) while computing Y[0]"},
		{temp + "def s[] = 0.0\nrecur {\n d[i in 0..N step] = d[i - 1] + X@checked[widen.i64(I[i])] from s\n}\ndef Y[i in 0..N] = if i < 2 { d[i] } else { 0.0 }", ""},
		{temp + "def s[] = 0.0\nrecur {\n d[i in 0..N step] = d[i - 1] + X@checked[widen.i64(I[i])] from s\n}\ndef Y[i in 0..N] = d[i]", "while computing Y[i=2]"},
		{"site \"index\" of X 0 \"X[I[i]]\" at 3:4\ncheck Y[i in 0..N] = if I[i] > 4 { 281474976710656 + widen.i64(I[i]) } else { 0 }\ndef Y[i in 0..N] = 0.0", "3:4: error: index 7 of X is outside 0..4 (dimension 1) while computing Y[i=2]"},
		{"site \"division by zero\" \"1 / I[i]\" at 3:4\ncheck Y[i in 0..N] = if I[i] == 0 { 281474976710656 } else { 0 }\ndef Y[i in 0..N] = 0.0", "3:4: error: division by zero in 1 / I[i] while computing Y[i=0]"},
		{"check Y[i in 0..N] = if I[i] < 0 { widen.i64(I[i]) } else { 0 }\ndef Y[i in 0..N] = 0.0", "a fault without a place"},
		{"check Y[i in 0..N] = 0\ndef Y[i in 0..N] = 0.0", ""},
		{"def Y[i in 1..N] = 0.0", "ranges over 1..4, but the extent is 4"},
	} {
		_, err := eval(t, head+c.body, sizes{"N": 4}, map[string]*data.Array{"X": f32s(1, 2, 3, 4), "I": i32s(0, 3, 7, -1)})
		if c.want == "" {
			require.NoError(t, err, c.body)
			continue
		}
		require.ErrorContains(t, err, c.want, c.body)
	}
}

func TestEvalCalls(t *testing.T) {
	p := parse(t, "tensor k(X: f32[N], a: f32) -> (Y: f32[N - 1])\nsize N: i64\nscalar a: f32\nwhere N < 9 \"N < 9\"\ndef Y[i in 0..N - 1] = X[i] * a")
	scalars := func(n int64) map[string]ir.Const {
		return map[string]ir.Const{"N": ir.IntConst(n), "a": ir.FloatConst(2)}
	}
	for name, c := range map[string]struct {
		call *data.Call
		want string
	}{
		"fine":      {&data.Call{Scalars: scalars(2), Inputs: map[string]*data.Array{"X": f32s(1, 2)}}, ""},
		"size":      {&data.Call{Inputs: map[string]*data.Array{"X": f32s(1, 2)}}, "N has no value"},
		"input":     {&data.Call{Scalars: scalars(2)}, "the parameter X has no value"},
		"type":      {&data.Call{Scalars: scalars(2), Inputs: map[string]*data.Array{"X": i32s(1, 2)}}, "X is an array of i32, expected f32"},
		"shape":     {&data.Call{Scalars: scalars(3), Inputs: map[string]*data.Array{"X": f32s(1, 2)}}, "X has the shape [2], expected [3]"},
		"condition": {&data.Call{Scalars: scalars(9), Inputs: map[string]*data.Array{"X": f32s(1, 2)}}, "the condition N < 9 of k does not hold"},
		"negative":  {&data.Call{Scalars: scalars(0), Inputs: map[string]*data.Array{"X": f32s()}}, "extent 1 of Y is -1"},
	} {
		_, err := Eval(p, c.call, EvalOptions{})
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.want, name)
	}
}

func TestEvalLimits(t *testing.T) {
	run := func(src string, opt EvalOptions) error {
		_, err := Eval(parse(t, "tensor k() -> (Y: f32[N])\nsize N: i64\n"+src), callOf(sizes{"N": 1000}, nil), opt)
		return err
	}
	require.ErrorContains(t, run("temp d: f32[N, N, N, N]\ndef d[a in 0..N, b in 0..N, c in 0..N, d in 0..N] = 1.0\ndef Y[i in 0..N] = 1.0", EvalOptions{}), "more than 2147483648 elements")
	require.ErrorContains(t, run("def Y[i in 0..N] = 1.0", EvalOptions{MaxBytes: 7999}), "more memory than it may take")
	require.NoError(t, run("def Y[i in 0..N] = 1.0", EvalOptions{MaxBytes: 8000}))
	require.ErrorContains(t, run("def Y[i in 0..N] = sum[j in 0..N * 1000000000000: f32](1.0)", EvalOptions{}), "ranges over more than")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	begin := time.Now()
	require.ErrorContains(t, run("def Y[i in 0..N] = sum[j in 0..N * 1000000000: f32](sin(widen.f32(j)))", EvalOptions{Context: ctx}), "interrupted")
	require.Less(t, time.Since(begin), 5*time.Second)
}

// What depends on fewer indices than the element is computed once for each of them: written out, each of these would take
// hours.
func TestEvalKeeps(t *testing.T) {
	const n = 1200
	x := data.New(ir.F32, n)
	for i := range n {
		x.Set(i, ir.FloatConst(float64(i%13)))
	}
	in := map[string]*data.Array{"X": x}
	head := "tensor k(X: f32[N]) -> (Y: f32[N])\nsize N: i64\n"
	for _, body := range []string{
		"def Y[i in 0..N] = sum[j in 0..N: f32](X[j] - max[k in 0..N: f32](X[k] + sum[l in 0..N: f32](X[l])))",
		"def Y[i in 0..N] = sum[j in 0..N: f32](sum[k in 0..N: f32](X[k] * X[j]))",
		"def Y[i in 0..N] = sum[j in 0..N: f32](cumsum[i in 0..N: f32](X[i] + cumsum[j in 0..N: f32](X[j])))",
		"def Y[i in 0..N] = sum[j in 0..N: f32](if j > 3 { cumsum[j in 0..N: f32](X[j]) } else { 0.0 })",
	} {
		begin := time.Now()
		_, err := eval(t, head+body, sizes{"N": n}, in)
		require.NoError(t, err)
		require.Less(t, time.Since(begin), 20*time.Second, body)
	}
	e := ReadOf(&Tensor{Name: "X", Type: ir.F32, Role: Param}, Edge{})
	p := &Program{Name: "squares", Params: []*Tensor{e.Ref.(Read).Of}, Results: []*Tensor{{Name: "Y", Type: ir.F32, Role: Result}}, Order: []string{"X"}}
	for range 60 {
		e = ir.Mul(e, e)
	}
	p.Defs = []Def{&Map{Out: p.Results[0], Body: e}}
	got, err := Eval(p, callOf(nil, map[string]*data.Array{"X": floats(ir.F32, nil, 1)}), EvalOptions{})
	require.NoError(t, err)
	require.Equal(t, 1.0, got["Y"].Float(0))
	var lets strings.Builder
	lets.WriteString("let e.0: i64 = i * 2\n")
	for k := range 60 {
		fmt.Fprintf(&lets, "let e.%d: i64 = e.%d + e.%d\n", k+1, k, k)
	}
	_, err = eval(t, head+lets.String()+"def Y[i in 0..N] = X@wrap[e.60]", sizes{"N": n}, in)
	require.NoError(t, err, "a subscript of 2^60 terms")
}

// The outcome, failures included, does not depend on the number of goroutines.
func TestEvalDeterminism(t *testing.T) {
	src := `tensor k(X: f32[N], I: i32[N]) -> (Y: f32[N], Z: f32[N, N])
size N: i64
def Y[i in 0..N] = sum[j in 0..N: f32](X[j] * sin(X[i]) / cumsum[i in 0..N: f32](X[i] + 1.0)) + sum[k in 0..N: f32](max[l in 0..N: f32](X[k] * X[l]))
def Z[i in 0..N, j in 0..N] = X@checked[widen.i64(I[i]) + j - j]`
	const n = 400
	x, idx := data.New(ir.F32, n), data.New(ir.I32, n)
	for i := range n {
		x.Set(i, ir.FloatConst(float64(float32(math.Sin(float64(i))))))
		idx.Set(i, ir.IntConst(int64(i)))
	}
	in := map[string]*data.Array{"X": x, "I": idx}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one, err := eval(t, src, sizes{"N": n}, in)
	require.NoError(t, err)
	runtime.GOMAXPROCS(8)
	for range 3 {
		many, err := eval(t, src, sizes{"N": n}, in)
		require.NoError(t, err)
		require.Equal(t, one, many)
	}
	for _, bad := range []int{n - 1, 171, 90} {
		idx.Set(bad, ir.IntConst(n))
	}
	for range 5 {
		_, err = eval(t, src, sizes{"N": n}, in)
		require.ErrorContains(t, err, "while computing Z[i=90, j=0]")
	}
}

// An intermediate that meets stored f16 values under a sum may be rounded to f16; with Strict it may not.
func TestBoundsAllowForMatrixUnits(t *testing.T) {
	p := parse(t, `tensor k(P: f32[N], V: f16[N]) -> (Y: f32[], Z: f32[])
size N: i64
temp p: f32[N]
def p[i in 0..N] = P[i] * 0.5
def Y[] = sum[i in 0..N: f32](p[i] * widen.f32(V[i]))
def Z[] = sum[i in 0..N: f32](P[i] * widen.f32(V[i]))`)
	in := map[string]*data.Array{"P": f32s(float64(float32(0.1)), float64(float32(0.7))), "V": floats(ir.F16, []int{2}, 1, 2)}
	for _, strict := range []bool{false, true} {
		bound := map[string]*data.Array{}
		_, err := Eval(p, callOf(sizes{"N": 2}, in), EvalOptions{Bound: bound, Strict: strict})
		require.NoError(t, err)
		y, z := bound["Y"].Float(0), bound["Z"].Float(0)
		require.Less(t, z, 1e-6, "a parameter is data, which nobody rounds")
		if strict {
			require.Less(t, y, 1e-6)
			continue
		}
		rounded := math.Abs(ir.RoundTo(ir.F16.Elem, 0.05)-0.05) + 2*math.Abs(ir.RoundTo(ir.F16.Elem, 0.35)-0.35)
		require.Greater(t, y, rounded*0.999)
		require.Less(t, y, 1e-3)
	}
}
