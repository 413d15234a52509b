package lang

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", ""},
		{";;", ""},
		{"const A = 2 const B = A ** 2;", "const A = 2\nconst B = (** A 2)\n"},
		{"func f(x) = x + 1", "func f[][x]\n    return (+ x 1)\n"},
		{"func f[i, j,](x, y,) { a = x; b = a\nreturn b; }", "func f[i j][x y]\n    a = x\n    b = a\n    return b\n"},
		{"example f(N = 3, eps = -1e-5,)", "example f\n    N = 3\n    eps = (- 1e-5)\n"},
		{"kernel f() -> y: f32 {}", "kernel f\n    -> y: f32\n"},
		{"kernel f(x: f32[N, M + 1] @const(-inf), e: f32 = 1e-5,) -> (y: f32[N], z: i8[2 * N],) where N > 0, N % 2 == 0, {}",
			"kernel f\n    x: f32[N, (+ M 1)]@const((- inf))\n    e: f32 = 1e-5\n    -> y: f32[N]\n    -> z: i8[(* 2 N)]\n    where (> N 0)\n    where (== (% N 2) 0)\n"},
	} {
		file, errs := Parse("f.gk", c.src)
		assert.Empty(t, errs, c.src)
		assert.Equal(t, c.want, describe(file), c.src)
	}
}

func TestStatements(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"y = 1", "y = 1"},
		{"y[i, j] = x[i]", "y[i, j] = x[i]"},
		{"y[i]: f16 = x[i]", "y[i]: f16 = x[i]"},
		{"y: f16 = 2", "y: f16 = 2"},
		{"cnt: i32[NB]", "declare cnt: i32[NB]"},
		{"s: i32[]", "declare s: i32"},
		{"y[idx[i]] += 1", "y[idx[i]] += 1"},
		{"y@zero[i] max= x[i]", "y@zero[i] max= x[i]"},
		{"y@const(0)[i] min = x[i]", "y@const(0)[i] min= x[i]"},
		{"y\n[i]\n: f32\nmax\n=\nx[i]", "y[i]: f32 max= x[i]"},
		{"h[t] = h[t-1] + x[t] from 0", "h[t] = (+ h[(- t 1)] x[t]) from 0"},
		{"h[t] = h[t-1] from h0[b] for t in 0..4", "h[t] = h[(- t 1)] from h0[b] for t in 0..4"},
		{"a[i, j] = i for i in 0..4,\n j in i..2 * i,", "a[i, j] = i for i in 0..4, j in i..(* 2 i)"},
		{"a = 1; b = 2\nc = 3 d = 4", "a = 1\nb = 2\nc = 3\nd = 4"},
		{"a[i] = 1 for i in 0..n\nb[j] = 2", "a[i] = 1 for i in 0..n\nb[j] = 2"},
		{"a[i] = sum[k in 0..\nN: f64](x[k])\nb = 1", "a[i] = sum[k in 0..N: f64](x[k])\nb = 1"},
		{"a[i] = x[i]\n    + y[i]\n    - z", "a[i] = (- (+ x[i] y[i]) z)"},
		{"a = b -\nc", "a = (- b c)"},
		{"y[] = 1", "y = 1"},
		{"max[i] = 2", "max[i] = 2"},
	} {
		file, errs := Parse("f.gk", "kernel f() -> y: f32 {\n"+c.src+"\n}")
		assert.Empty(t, errs, c.src)
		body := strings.Split(strings.TrimSpace(describe(file)), "\n")[2:]
		for i := range body {
			body[i] = strings.TrimSpace(body[i])
		}
		assert.Equal(t, c.want, strings.Join(body, "\n"), c.src)
	}
}

func TestPlaces(t *testing.T) {
	file, errs := Parse("f.gk", "const A = 1\nkernel f(\n    x: f32[N] @clamp = 1,\n) -> y: f16 {\n    y@zero[i]: f16 max= x[i] from z for i in 0..N\n}\nexample f(N = 2)")
	require.Empty(t, errs)
	k := file.Items[1].(*Kernel)
	s := k.Body[0]
	assert.Equal(t, "1:7 2:8 3:5 3:8 3:16 4:6 4:9", strings.Join([]string{file.Items[0].Place().String(), k.Pos.String(), k.Params[0].Pos.String(),
		k.Params[0].Type.Pos.String(), k.Params[0].Edge.Pos.String(), k.Results[0].Pos.String(), k.Results[0].Type.Pos.String()}, " "))
	assert.Equal(t, "5:5 5:7 5:16 5:20 5:25 5:35 5:41", strings.Join([]string{s.Pos.String(), s.Edge.Pos.String(), s.Type.Pos.String(), s.OpPos.String(),
		s.Expr.Pos.String(), s.From.Pos.String(), s.Ranges[0].Pos.String()}, " "))
	assert.Equal(t, "7:9", file.Items[2].Place().String())
}

// corpus is every right program of the conformance cases, by file.
func corpus(t testing.TB) map[string]string {
	files, err := filepath.Glob("../internal/conformance/cases/*/*/kernel.gk")
	require.NoError(t, err)
	out := map[string]string{}
	for _, f := range files {
		src, err := os.ReadFile(f)
		require.NoError(t, err)
		if !strings.Contains(f, "/errors/") {
			out[f] = string(src)
		}
	}
	require.Greater(t, len(out), 300)
	return out
}

func TestCorpus(t *testing.T) {
	for name, src := range corpus(t) {
		_, errs := Parse(name, src)
		if strings.Contains(name, "b49_deep_sum") { // deeper than the limit, which it may be refused for
			assert.Contains(t, errs.Error(), "nesting deeper than 200 [limit]")
			continue
		}
		assert.Empty(t, errs, name)
	}
}

func TestParallel(t *testing.T) {
	src := benchProgram(8 << 10)
	file, _ := Parse("f.gk", src)
	want := describe(file)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			file, errs := Parse("f.gk", src)
			assert.Empty(t, errs)
			assert.Equal(t, want, describe(file))
		})
	}
	wait.Wait()
}

func FuzzParse(f *testing.F) {
	f.Add("kernel f(x: f32[N] @clamp) -> (y: f32[N]) where N > 1 { y[i] = x[i+1] from 0 for i in 0..N; c: i32[4] }")
	f.Add("func s[j](x) { m = max[j](x)\nreturn m }\nconst A = 1 example f(N = 3)")
	f.Add("kernel f(x: f32[N, -> { y = (1 \n z[i max= 2 } }")
	f.Fuzz(func(t *testing.T, src string) {
		file, errs := Parse("f.gk", src)
		for _, d := range errs {
			require.True(t, d.Pos.IsValid())
			require.LessOrEqual(t, int(d.Pos.Offset), len(src))
			require.NotContains(t, d.Message, "Syntax") // names of the grammar
		}
		describe(file)
	})
}
