package passes_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/passes"
)

// fusions lists programs with what becomes of each tensor between two definitions.
var fusions = []struct{ name, src, want string }{
	{"epilogue", `kernel k(X: f16[M, K], W: f16[K, N], b: f16[N]) -> Y: f16[M, N] {
		h[m, n] = sum[k](X[m, k] * W[k, n]); Y[m, n] = max(h[m, n] + b[n], 0) }`, "h -> Y"},
	{"epilogue with another order of axes", `kernel k(X: f16[M, K], W: f16[K, N]) -> Y: f16[N, M] {
		h[m, n] = sum[k](X[m, k] * W[k, n]); Y[n, m] = tanh(h[m, n]) }`, "h -> Y"},
	{"prologue once", `kernel k(x: f32[R, C]) -> y: f32[R] { e[r, c] = exp(x[r, c]); y[r] = sum[c](e[r, c]) }`, "e -> y"},
	{"prologue that is cheap", `kernel k(X: f16[M, K], W: f16[K, N]) -> Y: f16[M, N] {
		t[k, m] = 2 * X[m, k]; Y[m, n] = sum[k](t[k, m] * W[k, n]) }`, "t -> Y"},
	{"cheap for several", `kernel k(x: f32[N]) -> (y: f32[N], z: f32[N]) { t[i] = x[i] * 2; y[i] = exp(t[i]); z[i] = t[i] + t[N - 1 - i] }`, "t -> y\nt -> z"},
	{"prologue that is dear", `kernel k(X: f16[M, K], W: f16[K, N]) -> Y: f16[M, N] {
		t[m, k] = exp(X[m, k]); Y[m, n] = sum[k](t[m, k] * W[k, n]) }`, "t -> Y: it would be computed again and again"},
	{"prologue of many bytes", `kernel k(X: f32[M, K], Z: f32[M, K], W: f32[K, N]) -> Y: f16[M, N] {
		t[m, k] = X[m, k] + Z[m, k]; Y[m, n] = sum[k](t[m, k] * W[k, n]) }`, "t -> Y: it would be computed again and again"},
	{"a stencil of what is dear", `kernel k(x: f32[N]) -> y: f32[N] { t[i] = exp(x[i]); y[i] = t[i] + t[N - 1 - i] }`, "t -> y: it is read several times"},
	{"a reduction for more axes", `kernel k(x: f32[R, C]) -> y: f32[R, C] { s[r] = sum[c](x[r, c]); y[r, c] = x[r, c] / s[r] }`,
		"s -> y: its reduction would be computed again and again"},
	{"a reduction under a reduction", `kernel k(a: f32[I, K], b: f32[K, J]) -> y: f32[I] { s[i, j] = sum[k](a[i, k] * b[k, j]); y[i] = max[j](s[i, j]) }`,
		"s -> y: its reduction would be computed again and again"},
	{"a reduction for fewer points", `kernel k(a: f32[I, K], b: f32[K, I]) -> y: f32[I] { s[i, j] = sum[k](a[i, k] * b[k, j]); y[i] = s[i, i] }`,
		"s -> y: its reduction would be computed again and again"},
	{"a reduction for several", `kernel k(x: f32[R, C]) -> (y: f32[R], z: f32[R]) { s[r] = sum[c](x[r, c]); y[r] = s[r] + 1; z[r] = 2 * s[r] }`,
		"s -> y: its reduction would be computed several times\ns -> z: its reduction would be computed several times"},
	{"a reduction behind a condition", `kernel k(x: f32[R, C], n: i32[R]) -> y: f32[R] { s[r] = sum[c](x[r, c]); y[r] = if n[r] > 0 { s[r] } else { 0 } }`,
		"s -> y: its reduction would stand behind a condition"},
	{"a reduction that decides", `kernel k(x: f32[R, C]) -> y: f32[R] { s[r] = sum[c](x[r, c]); y[r] = if s[r] > 0 { s[r] } else { 0 } }`, "s -> y"},
	{"two reductions", `kernel k(x: f32[R, C], z: f32[R, C]) -> y: f32[R] { s[r] = sum[c](x[r, c]); t[r] = max[c](z[r, c]); y[r] = s[r] * t[r] }`,
		"s -> y\nt -> y: there is another reduction in the kernel"},
	{"results", `kernel k(x: f32[N]) -> (t: f32[N], y: f32[N]) { t[i] = x[i] * 2; y[i] = t[i] + 1 }`, "t -> y: it is a result"},
	{"scans", `kernel k(x: f32[N]) -> y: f32[N] { t[i] = cumsum[i](x[i]); y[i] = t[i] + 1 }`, "t -> y: its elements are not computed one by one"},
	{"recurrences", `kernel k(x: f32[N]) -> h: f32[N] { t[i] = x[i] * 2; h[i] = t[i] + h[i-1] from 0 }`, "t -> h: a recurrence waits for each step\nh.from -> h: a recurrence waits for each step"},
	{"contributions", `kernel k(x: f32[N], k: i32[N], m: f32[M]) -> y: f32[M] { t[i] = exp(x[i]); y@zero[k[i]] += t[i] }`, "t -> y"},
}

func TestFusion(t *testing.T) {
	for _, c := range fusions {
		t.Run(c.name, func(t *testing.T) {
			u := unit(t, c.src)
			require.NoError(t, passes.Run(u, passes.Options{To: passes.Tile, Verify: true}))
			var got []string
			for _, e := range u.Edges {
				line := e.From + " -> " + e.To
				if e.Why != "" {
					line += ": " + e.Why
				}
				got = append(got, line)
			}
			assert.Equal(t, c.want, strings.Join(got, "\n"), u.Text())
		})
	}
}

// upToFuse are the passes in front of fuse.
func upToFuse() (names []string) {
	for _, p := range passes.Pipeline {
		if p.Name == "fuse" {
			return names
		}
		names = append(names, p.Name)
	}
	panic("no pass fuse")
}

// TestFusionChangesNoValue: to the evaluator, which rounds where the program does, a fused program has the same bits.
func TestFusionChangesNoValue(t *testing.T) {
	sources := append([]string{}, against...)
	for _, c := range fusions {
		sources = append(sources, c.src)
	}
	for n, src := range sources {
		u := unit(t, src)
		require.NoError(t, passes.Run(u, passes.Options{Only: upToFuse()}), src)
		before := u.Tensor
		require.NoError(t, passes.Run(u, passes.Options{Only: []string{"fuse", "drop_unused"}, Verify: true}), src)
		for seed := range uint64(6) {
			call := draw(t, before, rand.New(rand.NewPCG(seed, uint64(n))))
			want, wantErr := tensor.Eval(before, call, tensor.EvalOptions{})
			got, gotErr := tensor.Eval(u.Tensor, call, tensor.EvalOptions{})
			require.Equal(t, wantErr == nil, gotErr == nil, "%s: %v, %v", src, wantErr, gotErr)
			for name, w := range want {
				for i := range w.Len() {
					require.Equal(t, math.Float64bits(w.Float(i)), math.Float64bits(got[name].Float(i)), "%s: %s[%d]", src, name, i)
				}
			}
		}
	}
}

func TestNoFuse(t *testing.T) {
	for _, no := range []bool{false, true} {
		u := unit(t, fusions[0].src)
		u.NoFuse = no
		require.NoError(t, passes.Run(u, passes.Options{To: passes.Tile}))
		assert.Equal(t, no, len(u.Tile.Kernels) == 2, u.Text())
		assert.Equal(t, no, u.Edges == nil)
	}
}

// TestFusionIsBounded: long chains, and chains that double at every step, end in kernels that compilers can take.
func TestFusionIsBounded(t *testing.T) {
	for _, step := range []string{"T[i] + 1", "sin(T[i]) * x[i] + T[i]", "T[i] * T[i]", "if T[i] > 0 { T[i] + 1 } else { 2 * T[i] }",
		"T@clamp[i - 1] + T@clamp[i + 1] for i in 0..N"} {
		var src strings.Builder
		src.WriteString("kernel k(x: f32[N]) -> y: f32[N] {\n")
		last := "x"
		const steps = 150
		for i := range steps {
			name := fmt.Sprintf("t%d", i)
			fmt.Fprintf(&src, "%s[i] = %s\n", name, strings.ReplaceAll(step, "T", last))
			last = name
		}
		fmt.Fprintf(&src, "y[i] = %s[i]\n}", last)
		compiled, errs := lang.Compile("k.gk", src.String(), nil)
		require.NoError(t, errs.Err())
		u := &passes.Unit{Level: passes.Tensor, Tensor: compiled.Programs[0]}
		start := time.Now()
		require.NoError(t, passes.Run(u, passes.Options{To: passes.Simt, Verify: true}), step)
		assert.Less(t, time.Since(start), 10*time.Second, step)
		assert.Less(t, len(u.Simt.Kernels), steps+1, step)
	}
}
