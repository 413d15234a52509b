package lang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/lang/std"
)

// placesOf checks a program and lists what is wrong, as "line:column code".
func placesOf(src string, set map[string]int64) []string {
	_, errs := Compile("", src, set)
	out := []string{}
	for _, d := range errs {
		out = append(out, fmt.Sprintf("%s %s", d.Pos, d.Code))
	}
	return out
}

// place is where a marked text, ‹like this›, begins in the program without the marks.
func unmark(t *testing.T, marked string) (src string, columns []int) {
	t.Helper()
	require.NotContains(t, marked, "\n")
	for _, r := range marked {
		if r == '‹' {
			columns = append(columns, len([]rune(src))+1)
			continue
		}
		src += string(r)
	}
	return src, columns
}

// A wrong program marks the place of each mistake with ‹, and says the codes in order.
type wrong struct{ src, codes string }

func checkWrong(t *testing.T, cases []wrong) {
	t.Helper()
	for _, c := range cases {
		src, columns := unmark(t, c.src)
		codes := strings.Fields(c.codes)
		require.Len(t, codes, len(columns), c.src)
		want := []string{}
		for i, code := range codes {
			want = append(want, fmt.Sprintf("1:%d %s", columns[i], code))
		}
		_, errs := Compile("", src, nil)
		assert.Equal(t, want, placesOf(src, nil), "%s\n%v", src, errs)
	}
}

// in wraps statements into a kernel with parameters x: f32[N], y: f32[N, M], i: i32[N] and a result r: f32[N].
func in(cases []wrong) []wrong {
	out := make([]wrong, len(cases))
	for k, c := range cases {
		out[k] = wrong{"kernel k(x: f32[N], y: f32[N, M], i: i32[N]) -> r: f32[N] { " + c.src + " }", c.codes}
	}
	return out
}

func TestNames(t *testing.T) {
	checkWrong(t, in([]wrong{
		{"r[a] = ‹q", "name"},
		{"r[a] = ‹q[a]", "name"},
		{"r[a] = ‹foo(x[a])", "name"},
		{"r[a] = ‹foo[b](x[b])", "name"},
		{"r[a] = ‹x", "name"},
		{"r[a] = ‹a[0]", "name"},
		{"r[a] = ‹N[a]", "name"},
		{"r[a] = x[‹b]", "name"},
		{"r[a] = sum[b](x[b]) + x[‹b]", "name"},
		{"r[a] = ‹q + x[‹p]", "name name"},
		{"r[a] = ‹sum(x[a])", "name"},
		{"r[a] = sum[‹N](x[N])", "binder"},
		{"r[a] = sum[‹exp](x[exp])", "binder"},
		{"r[‹N] = 1", "index"},
		{"r[a] = t[a]; t[‹x] = 1", "index"},
		{"r[a] = 1; ‹exp[a] = x[a]", "name"},
		{"r[a] = x[a]; ‹r[b] = x[b]", "twice"},
		{"r[a] = x[a]; ‹x[b] = 1", "twice"},
		{"r[a] = sum[b, ‹b](x[b])", "binder"},
	}))
	checkWrong(t, []wrong{
		{"const ‹sum = 1", "twice"},
		{"func ‹f32(a) = a", "twice"},
		{"const c = 1 const ‹c = 2", "twice"},
		{"const c = 1 func ‹c(a) = a", "twice"},
		{"const c = 1 kernel k(‹c: f32[N]) -> r: f32[N] { r[a] = 1 }", "twice"},
		{"func f(a) = a kernel k(‹f: f32[N]) -> r: f32[N] { r[a] = 1 }", "twice"},
		{"kernel k(‹exp: f32[N]) -> r: f32[N] { r[a] = 1 }", "name"},
		{"kernel k(x: f32[N], ‹x: f32[N]) -> r: f32[N] { r[a] = 1 }", "twice"},
		{"kernel k(x: f32[N]) -> r: f32[N] { r[a] = x[a] } kernel ‹k(x: f32[N]) -> r: f32[N] { r[a] = x[a] }", "twice"},
		{"const c = ‹d", "name"},
		{"const ‹c = d const d = c", "cycle"},
	})
}

func TestMacros(t *testing.T) {
	checkWrong(t, []wrong{
		{"kernel k(x: f32[N]) -> ‹() {}", "syntax"},
		{"func f(a) = a + ‹b", "name"},
		{"func f(a) = a kernel k(x: f32[N]) -> r: f32[N] { r[b] = ‹f(x[b], 1) }", "arity"},
		{"func ‹f(a) = f(a)", "cycle"},
		{"func ‹f(a) = g(a) func g(a) = h(a) func h(a) = f(a)", "cycle"},
		{"func ‹f(a) = f(a) func g(a) = f(a) kernel k(x: f32[N]) -> r: f32[N] { r[b] = g(x[b]) }", "cycle"},
		{"func f(a, ‹a) = a", "twice"},
		{"func f(a) { a1 = a ‹a1 = 2 return a1 }", "twice"},
		{"func f[j](a) = sum[j](a) kernel k(x: f32[N]) -> r: f32[N] { r[b] = ‹f(x[b]) }", "arity"},
		{"func f(a) = a kernel k(x: f32[N]) -> r: f32[N] { r[b] = ‹f[c](x[c]) }", "arity"},
		{"func f[j](a) = a * j kernel k(y: f32[N, M]) -> r: f32[N] { r[b] = ‹f[c, d](y[c, d]) }", "binder"},
		{"kernel k(y: f32[N, M]) -> r: f32[N] { r[b] = ‹softmax[c](y[b, c]) }", "name"},
		{"kernel k(y: f32[N, M]) -> r: f32[N] { r[b] = ‹mean[c](y[b, c] > 0) }", "type"},
		{"func f(a) = (‹1 && true) kernel k(x: f32[N]) -> r: f32[N] { r[b] = f(x[b]) }", "type"},
		{"func f[j](a) = sum[‹a](1)", "binder"},
	})
	right := []string{
		// A macro's own indices and names meet nobody else's.
		"func f(a) = sum[k in 0..2](a + k) kernel k(x: f32[N]) -> r: f32[N] { r[k] = f(x[k]) }",
		"func f[a, b](v) = sum[a, b](v) func g[j](v) = f[j, k in 0..2](v * k) kernel k(x: f32[N]) -> r: f32[N] { r[i] = g[j](x[j]) + f[j, k in 0..2](x[j]) }",
		// The file's own hide those of the library, but not inside of it.
		"func mean(a) = a kernel k(x: f32[N, M]) -> r: f32[N] { r[b] = var[c](x[b, c]) + mean(1) }",
		"const mean = 2 kernel k(x: f32[N]) -> r: f32[N] { r[mean1] = x[mean1] * mean }",
		// Tensors and kernels may have names of the library.
		"kernel softmax(x: f32[N, M]) -> mean: f32[N] { mean[b] = mean[c](x[b, c]) }",
		// One binder stands for a list.
		"kernel k(x: f32[N, M]) -> r: f32 { r = mean[a, b where a != b](x[a, b]) }",
		"kernel k(x: f32[N, M]) -> r: f32[N, M] { r[a, b] = softmax[b where b <= a](softmax[b](softmax[a](x[a, b]))) }",
	}
	for _, src := range right {
		assert.Empty(t, placesOf(src, nil), src)
	}
}

func TestLibrary(t *testing.T) {
	assert.Empty(t, placesOf(std.Source, nil))
	assert.NotEmpty(t, library())
}

func TestTypes(t *testing.T) {
	checkWrong(t, in([]wrong{
		{"r[a] = (‹x[a] > 0) * 2", "type"},
		{"r[a] = -(‹x[a] > 0)", "type"},
		{"r[a] = sum[b](‹x[b] > 0)", "type"},
		{"r[a] = sqrt(‹x[a] > 0)", "type"},
		{"r[a] = if ‹x[a] { 1 } else { 2 }", "type"},
		{"r[a] = select(‹x[a], 1, 2)", "type"},
		{"r[a] = if ‹x[a] && ‹i[a] { 1 } else { 2 }", "type type"},
		{"r[a] = if !‹x[a] { 1 } else { 2 }", "type"},
		{"r[a] = x[‹x[a]]", "type"},
		{"r[a] = x[‹a * 0.5]", "type"},
		{"r[a] = bitand(‹x[a], 1)", "type"},
		{"r[a] = popcount(‹true)", "type"},
		{"r[a] = rand(‹x[a], 1)", "type"},
		{"r[a] = bitcast(i64, ‹x[a])", "type"},
		{"r[a] = bitcast(‹bool, x[a])", "dtype"},
		{"r[a] = count[b](‹x[b])", "type"},
		{"r[a] = ‹sum[b: i32](x[b])", "type"},
		{"r[a] = sum[b: ‹half](x[b])", "dtype"},
		{"r[a] = any[b: ‹f32](x[b] > 0)", "type"},
		{"r[a]: ‹half = x[a]", "dtype"},
		{"r[a] = sum[b where ‹x[b]](x[b])", "type"},
		{"r[a] = argtop[b](x[b], ‹0.5)", "type"},
		{"r[a] = 1 / ‹0", "type"},
		{"r[a] = i[a] % ‹0", "type"},
		{"r[a] = 2 ** ‹-1", "type"},
		{"r[a] = ‹9223372036854775807 + 1", "limit"},
		{"r[a] = max(i[a], ‹3000000000)", "type"},
		{"r[a] = min(u32(a), ‹if a > 0 { -1 } else { 2 })", "type"},
		{"r[a] = ‹exp(x[a], 2)", "arity"},
		{"r[a] = ‹clamp(x[a], 2)", "arity"},
		{"r[a] = ‹min(x[a])", "arity"},
		{"r[a] = ‹f16(x[a], 1)", "arity"},
		{"r[a] = ‹sum[b](x[b], 1)", "arity"},
		{"r[a] = ‹argmax[b, c](y[b, c])", "binder"},
		{"r[a] = sum[‹b reverse](x[b])", "binder"},
	}))
}

func TestTypesOfResults(t *testing.T) {
	for expr, want := range map[string]ir.Type{
		"h * h": ir.F32, "h": ir.F16, "f16(h * h)": ir.F16, "h + d": ir.F64, "b * b": ir.I32, "n * u": ir.I64, "n * h": ir.F32, "n + 1": ir.I32,
		"n + 0.5": ir.F32, "d * 0.5": ir.F64, "1": ir.I64, "0.5": ir.F32, "1 / 2": ir.I64, "sqrt(2)": ir.F32, "sqrt(n)": ir.F32, "n ** 2": ir.I32, "h ** 2": ir.F32,
		"n < u": ir.Bool_, "if n > 0 { h } else { h }": ir.F16, "if n > 0 { 1 } else { h }": ir.F32, "select(n > 0, 1, u)": ir.U32, "max(h, n)": ir.F32,
		"isnan(h)": ir.Bool_, "shl(u, n)": ir.U32, "shr(1, n)": ir.I32, "bitand(b, 1)": ir.I32, "popcount(b)": ir.I32, "bitcast(i16, h)": ir.I16, "rand(1, n)": ir.F32,
		"sum[j in 0..3](h)": ir.F32, "sum[j in 0..3](b)": ir.I32, "sum[j: f64 in 0..3](h)": ir.F64, "max[j in 0..3](b)": ir.I32, "count[j in 0..3](true)": ir.I64,
		"argmax[j in 0..3](h)": ir.I64, "any[j in 0..3](n > j)": ir.Bool_, "floor(h)": ir.F32, "abs(n)": ir.I32, "fma(h, 2, 1)": ir.F32, "clamp(n, 0, 1)": ir.I32,
		"floordiv(n, 2)": ir.I32, "mod(d, 2)": ir.F64, "atan2(h, 1)": ir.F32, "min(n > 0, n > 1)": ir.Bool_, "N": ir.I64, "softmax[j in 0..3](h * j)": lostType,
	} {
		if want == lostType {
			continue
		}
		expr = strings.ReplaceAll(expr, "[j: f64 in 0..3]", "[j in 0..3: f64]")
		src := fmt.Sprintf("kernel k(h: f16, d: f64, b: i8, n: i32, u: u32, x: f32[N]) -> r: f64 { t = %s; r = if isnan(f32(t)) { 1 } else { 0 } }", expr)
		unit, errs := Compile("", src, nil)
		if assert.Empty(t, errs, expr) {
			assert.Equal(t, want, unit.Programs[0].Temps[0].Type, expr)
			assert.NoError(t, tensor.Verify(unit.Programs[0]), expr)
		}
	}
}

func TestRanges(t *testing.T) {
	checkWrong(t, in([]wrong{
		{"r[a] = t[a]; t[‹b] = b", "range"},
		{"r[a] = sum[‹b](x[a])", "range"},
		{"r[a] = x[a] for ‹b in 0..3", "range"},
		{"r[‹a] = x[a] for a in 1..N", "extent"},
		{"r[a] = x[a] + y[a, ‹a]", "extent"},
		{"r[a] = x@zero[a] for a in 0..‹2.5", "type"},
	}))
	checkWrong(t, in([]wrong{
		{"r[a] = sum[b in 0..‹c, c in 0..2](1)", "name"},
		{"t[a, b] = 1 for a in 0..2, ‹b in 0..a; r[a] = x[a]", "range"},
		{"t[b] = 1 for b in 0..‹i[0]; r[a] = x[a]", "range"},
		{"r[a] = cumsum[‹b](x[b])", "range"},
		{"r[a] = max[b](‹cumsum[b](x[b]))", "range"},
		{"r[‹a + 1] = x[a]", "index"},
		{"t[a, ‹a] = 1; r[a] = x[a]", "index"},
		{"r[a] = ‹x[a, 0]", "rank"},
		{"‹r[a, b] = 1", "rank"},
	}))
	right := []string{
		"kernel k(x: f32[N, M]) -> r: f32[M, N] { r[a, b] = x[b, a] }",
		"kernel k(x: f32[N]) -> r: f32[N] { r[a] = x@clamp[a - 1] + x@zero[a] }", // the result fixes the range
		"kernel k(x: f32[N], n: i32) -> r: f32[n] { r[a] = x@zero[a] }",
		"kernel k(x: f32[N]) -> r: f32[N - 2] { t[b] = x[b - 1] + x[b + 1] for b in 1..N-1; r[a] = t[a + 1] }",
		"kernel k(x: f32[A], y: f32[B]) -> r: f32[A] where A == B { r[a] = x[a] + y[a] }",
		"kernel k(x: f32[M + 1]) -> r: f32[M] { r[a] = x[a + 1] - x[a] for a in 0..M }",
		"kernel k(A: f32[2 * N], B: f32[N]) -> r: f32[N] { r[a] = A[2 * a] + B[a] }",
		"kernel k(x: f32[N]) -> r: f32[N] { r[a] = sum[j in 0..a](x[j]) }",
		"kernel k(x: f32[B, T], n: i32[B]) -> r: f32[B] { r[b] = sum[t in 0..n[b]](x[b, t]) }",
	}
	for _, src := range right {
		assert.Empty(t, placesOf(src, nil), src)
	}
	assert.Empty(t, placesOf("kernel k(x: f32[A], y: f32[5]) -> r: f32[A] { r[a] = x[a] + y[a] }", map[string]int64{"A": 5}), "a size that is set is a number")
}

func TestDeclarations(t *testing.T) {
	checkWrong(t, []wrong{
		{"kernel k(x: ‹f23[N]) -> r: f32[N] { r[a] = x[a] }", "dtype"},
		{"kernel k(x: ‹u64[N]) -> r: f32[N] { r[a] = x[a] }", "dtype"},
		{"kernel k(x: f32[N]) -> r: f32[‹P] { r[a] = 1 }", "name"},
		{"kernel k(x: f32[‹Q * Q]) -> r: f32[Q] { r[a] = 1 }", "name"},
		{"kernel k(x: f32[‹2 - 5]) -> r: f32 { r = 1 }", "extent"},
		{"kernel k(x: f32[‹2.5]) -> r: f32 { r = 1 }", "type"},
		{"kernel k(x: f32[N], y: f32[N / ‹0]) -> r: f32 { r = 1 }", "type"},
		{"kernel k(x: f32[‹a], a: f32) -> r: f32 { r = 1 }", "type"},
		{"kernel k(x: i32[N]) -> r: f32[‹x[0]] { r[a] = 1 }", "extent"},
		{"kernel k(x: f32[N]) -> ‹r: f32[N] @zero { r[a] = 1 }", "result"},
		{"kernel k(x: f32[N] = ‹1) -> r: f32 { r = 1 }", "call"},
		{"kernel k(a: f32 @‹zero) -> r: f32 { r = a }", "boundary"},
		{"kernel k(x: f32[N] @‹zeros) -> r: f32 { r = 1 }", "boundary"},
		{"kernel k(a: i32 = ‹1.5) -> r: f32 { r = a }", "type"},
		{"kernel k(a: i8 = ‹200) -> r: f32 { r = a }", "type"},
		{"kernel k(x: f32[N]) -> ‹r: f32[N] { q[a] = x[a] }", "result"},
		{"kernel k(x: f32[N]) -> (r: f32, ‹r: f32) { r = 1 }", "twice"},
		{"kernel k(x: f32[N]) -> ‹x: f16[N] { x[a] = 1 }", "twice"},
		{"kernel k(x: f32[N], y: f32[M]) -> ‹x: f32[M] { x[a] = 1 }", "twice"},
		{"kernel k(x: f32[N]) -> r: f32[N] where ‹N { r[a] = x[a] }", "type"},
		{"kernel k(x: f32[N]) -> r: f32[N] where ‹x[0] > 1 { r[a] = x[a] }", "type"},
		{"kernel k(x: f32[N]) -> r: f32[N] { r@‹zero[a] = x[a] }", "boundary"},
	})
}

func TestScatters(t *testing.T) {
	head := "kernel k(x: f32[N], i: i32[N], off: i32[B + 1]) -> r: f32[N] { "
	var cases []wrong
	for _, c := range []wrong{
		{"t[i[a]] ‹+= 1; r[a] = 1", "scatter"},
		{"‹t: i32[N]; r[a] = 1", "scatter"},
		{"t: i32[N]; ‹t[a] = 1; r[a] = t[a]", "scatter"},
		{"t: i32[N]; ‹t: i32[N]; t[i[a]] += 1; r[a] = t[a]", "twice"},
		{"t: i32[N]; ‹t[a, a] += 1; r[a] = t[a]", "rank"},
		{"t: ‹i3[N]; t[i[a]] += 1; r[a] = 1", "dtype"},
		{"t: i32[N]; t[i[a]] += ‹t[a]; r[a] = t[a]", "cycle"},
		{"r[i[a]] += x[a] for ‹b in 0..B", "range"},
		{"r[u] += x[u] for ‹u in off[b]..off[b + 1], b in 0..B", "range"},
		{"r[u] += x[u] for ‹N in 0..B, u in 0..N", "index"},
		{"r[i[a]] += x[a] from ‹0", "recurrence"},
		{"r[‹a + 1] += x[a]", "bounds"},
		{"r[‹x[a]] += x[a]", "type"},
		{"t: bool[N]; t[i[a]] ‹+= 1; r[a] = if t[a] { 1 } else { 0 }", "type"},
		{"t: i32[N]; t[i[a]] += ‹x[a] > 0; r[a] = t[a]", "type"},
		{"r@‹near[i[a]] += x[a]", "boundary"},
	} {
		cases = append(cases, wrong{head + c.src + " }", c.codes})
	}
	checkWrong(t, cases)
	for _, body := range []string{
		"r[u] += x[u] for b in 0..B, u in off[b]..off[b + 1]", "r[i[a]] max= x[a]", "r@zero[a + 1] min= x[a]",
		"t: i32[4]; t@wrap[i[a]] += 1; r[a] = t[0]", "r[i[a]]: f16 += x[a]", "r[j] += x[a] for a in 0..N, j in 0..a",
	} {
		unit, errs := Compile("", head+body+" }", nil)
		if assert.Empty(t, errs, body) {
			assert.NoError(t, tensor.Verify(unit.Programs[0]), body)
		}
	}
}

func TestRecurrences(t *testing.T) {
	var cases []wrong
	for _, c := range []wrong{
		{"r[t] = ‹r[t] + 1", "cycle"},
		{"r[t] = ‹r[t-1] + 1", "cycle"},
		{"r[t] = x[t] from ‹0", "recurrence"},
		{"r[t] = ‹r[t-2] from 0", "recurrence"},
		{"r[t] = ‹r[t] + r[t-1] from 0", "recurrence"},
		{"r[t] = r[t-1] + ‹r[t+1] from 0", "recurrence"},
		{"r[t] = r[t-1] from ‹r[0]", "recurrence"},
		{"r[t] = r[t-1] from ‹t", "recurrence"},
		{"r[t] = sum[t in 0..2](‹r[t-1]) from 0", "recurrence"},
		{"r[t] = ‹r[t-1, 0] from 0", "rank"},
		{"r[a] = x[a]; ‹q[s, t] = q[s-1, t-1] + y@zero[s, t] from 0 for s in 0..N, t in 0..M", "recurrence"},
		{"r[a] = b[a]; ‹b[t] = c[t]; c[t] = b[t-1]", "cycle"},
		{"r[a] = b[a]; ‹b[t] = c[t] + b[t-1] + x[t] from 0; c[t] = b[t] + c[t-1] from 0", "cycle"},
		{"r[a] = b[a]; b[t] = c[t-1] + x[t] + b[t-1] from 0; ‹c[t] = b[t-1]", "recurrence"},
		{"r[a] = b[a]; b[t] = c[t-1] + x[t] from 0; c[t] = ‹b[t+1] from 0", "recurrence"},
		{"r[a] = b[a]; b[‹t] = c[t] from 0 for t in 0..N; c[t] = b[t-1] from 0 for t in 0..N - 1", "extent"},
	} {
		cases = append(cases, wrong{"kernel k(x: f32[N], y: f32[N, M]) -> r: f32[N] { " + c.src + " }", c.codes})
	}
	checkWrong(t, cases)
	for body, back := range map[string]bool{
		"r[t] = 0.5 * r[t-1] + x[t] from 2":                                               false,
		"r[t] = r[1 + t] + x[t] from 2":                                                   true,
		"r[t] = b[t]; b[t] = c[t-1] from 1; c[t] = b[t] / 3 + x[t] from 1":                false,
		"r[t] = b[t] + x[t]; b[t] = c[t]; c[t] = b[t+1] + x[t] from 0":                    true,
		"r[t] = q[t, 0]; q[t, u] = max[v](q[t-1, v]) * y@zero[t, u] from u for u in 0..3": false,
		"r[t] = if q[t] { 1 } else { 0 }; q[t] = q[t-1] || x[t] > 2 from false":           false,
	} {
		src := "kernel k(x: f32[N], y: f32[N, M]) -> r: f32[N] { " + body + " }"
		if strings.Contains(body, "b[t+1]") {
			src = strings.Replace(src, "c[t]; c", "c[t] from 0; c", 1)
		}
		unit, errs := Compile("", src, nil)
		if !assert.Empty(t, errs, body) {
			continue
		}
		p := unit.Programs[0]
		assert.NoError(t, tensor.Verify(p), body)
		found := false
		for _, d := range p.Defs {
			if r, ok := d.(*tensor.Recur); ok {
				found = true
				assert.Equal(t, back, r.Back, body)
			}
		}
		assert.True(t, found, body)
	}
}

func TestExamples(t *testing.T) {
	head := "kernel k(x: f32[N], e: f32, w: i32) -> r: f32[N] { r[a] = x[a] * e * w } "
	checkWrong(t, []wrong{
		{head + "example ‹q(N = 2)", "name"},
		{head + "example k(‹Q = 2)", "name"},
		{head + "example k(‹x = 2)", "name"},
		{head + "example k(N = ‹-1)", "type"},
		{head + "example k(N = ‹2.5)", "type"},
		{head + "example k(w = ‹1.5, ‹w = 2)", "type twice"},
		{head + "example k(N = 1, ‹N = 2)", "twice"},
		{head + "example k(N = ‹M)", "name"},
	})
	unit, errs := Compile("", "const c = 2 "+head+"example k(N = c ** 3, e = 1, w = 3)", nil)
	require.Empty(t, errs)
	assert.Equal(t, map[string]ir.Const{"N": ir.IntConst(8), "e": ir.FloatConst(1), "w": ir.IntConst(3)}, unit.Examples[0].Values)
}

func TestSettings(t *testing.T) {
	src := "kernel k(x: f32[N]) -> r: f32[N] { r[a] = x[(a + 1) % 4] }"
	assert.Equal(t, []string{"1:45 bounds"}, placesOf(src, nil))
	assert.Empty(t, placesOf(src, map[string]int64{"N": 8}))
	assert.Contains(t, placesOf(src, map[string]int64{"N": 8, "Q": 1}), "0:0 call")
	assert.Contains(t, placesOf(src, map[string]int64{"N": -1}), "0:0 call")
	unit, _ := Compile("", src, map[string]int64{"N": 8})
	assert.Equal(t, ir.IntConst(8), *unit.Programs[0].Scalars[0].Fixed)
}

func TestSuggestions(t *testing.T) {
	for src, want := range map[string]string{
		"kernel k(alpha: f32, x: f32[N]) -> r: f32[N] { r[a] = x[a] * alhpa }": "alpha",
		"kernel k(x: f32[N]) -> r: f32[N] { r[a] = gelux(x[a]) }":              "gelu",
		"kernel k(x: f32[N]) -> r: f32[N] { r[a] = summ[b](x[b]) }":            "sum",
		"kernel k(x: f23[N]) -> r: f32[N] { r[a] = x[a] }":                     "f32",
		"kernel k(x: f32[N]) -> r: f32[N] { r[a] = x@zeros[a] }":               "zero",
		"kernel k(input: f32[N]) -> r: f32[N] { r[a] = inptu[a] }":             "input",
		"kernel k(x: f32[N]) -> output: f32[N] { ouput[a] = x[a] }":            "ouput",
	} {
		_, errs := Compile("", src, nil)
		if assert.Len(t, errs, 1, src) {
			assert.Contains(t, errs[0].Fix, want, src)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(benchProgram(1))
	f.Add("func f[j](x) = x / sum[j](x) kernel k(x: f32[N], i: i32[N]) -> (x: f32[N], r: f32[N]) { x[i[a]] += x[a]; r[t] = r[t-1] + f[u in 0..t where u > 1](x@wrap[u]) from 0 }")
	f.Add("kernel k(x: f32[N + 1]) -> r: i64[3] where N % 2 == 0 { r[q] = argtop[j](x[j], q) + cumsum[q reverse](q) }")
	f.Fuzz(func(t *testing.T, src string) {
		unit, errs := Compile("", src, nil)
		for _, d := range errs {
			require.NotEmpty(t, d.Message)
		}
		for _, p := range unit.Programs {
			require.NoError(t, tensor.Verify(p))
		}
	})
}
