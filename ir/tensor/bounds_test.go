package tensor

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var sizeName = regexp.MustCompile(`\b[A-Z]\b`)

// boundsProgram writes out what the tables below shorten: the tensors "X: f32[N], Y: f32[N]" (the last is the result), scalars and
// conditions, and the body of the last one. Capital letters are sizes, unless they are scalars.
func boundsProgram(tensors, given, body string) string {
	var b strings.Builder
	list := regexp.MustCompile(`[A-Z][a-z0-9]*: \w+\[[^\]]*\]`).FindAllString(tensors, -1)
	last := len(list) - 1
	fmt.Fprintf(&b, "tensor t(%s) -> (%s)\n", strings.Join(list[:last], ", "), list[last])
	scalars := map[string]bool{}
	var where []string
	for _, g := range strings.Split(given, ";") {
		g = strings.TrimSpace(g)
		if name, ok := strings.CutPrefix(g, "scalar "); ok {
			scalars[name[:1]] = true
		} else if g != "" {
			where = append(where, fmt.Sprintf("where %s %q\n", g, g))
		}
	}
	extents := regexp.MustCompile(`\[[^\]]*\]`).FindAllString(tensors, -1)
	for _, n := range sizeName.FindAllString(strings.Join(extents, " "), -1) {
		if !scalars[n] {
			fmt.Fprintf(&b, "size %s: i64\n", n)
			scalars[n] = true
		}
	}
	for _, g := range strings.Split(given, ";") {
		if g = strings.TrimSpace(g); strings.HasPrefix(g, "scalar ") {
			b.WriteString(g + "\n")
		}
	}
	b.WriteString(strings.Join(where, ""))
	b.WriteString(body + "\n")
	return b.String()
}

func proveText(t testing.TB, src string) (*Program, []Failure) {
	p, errs := Parse(src)
	require.NoError(t, errs.Err(), src)
	return p, ProveBounds(p)
}

func TestProvable(t *testing.T) {
	for _, c := range []struct {
		tensors, given, body string
		ok                   bool
	}{
		// One size.
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[i]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[0]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[N - 1 - i]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[i + 1]", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[i - 1]", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[2 * i]", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[N]", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[i % 4]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[i / 2]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[i / 2 * 2]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[i / 2 * 2 + 1]", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[(i + 5) % N]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[(i - 5) % N]", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[mod(i - 7, N)]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[floordiv(i - 7, N) + 1]", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[min(max(i + 3, 0), N - 1)]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[min(max(i - 3, 0), N - 1)]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[min(max(i - 3, 0), N)]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[min(max(i + 3, 0), N)]", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[min(i + 3, N - 1)]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[abs(i - N + 1)]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[abs(i - N)]", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[i - 5]", false},
		{"X: f32[N], Y: f32[N]", "N >= 1", "def Y[i in 0..N] = X[if i > 0 { i - 1 } else { 0 }]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[select(i > 0, i - 1, 0)]", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[select(i >= 0, i - 1, 0)]", false},
		{"X: f32[12], Y: f32[12]", "", "def Y[i in 0..12] = X[i % 20 / 2 * 2 % 4]", true},
		{"X: f32[4], Y: f32[12]", "", "def Y[i in 0..12] = X[i % 20 / 2 * 2 % 4]", true},
		{"X: f32[4], Y: f32[9]", "", "def Y[i in 0..9] = X[(i - 4) % 4]", false},

		// Guards.
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = if i > 0 { X[i - 1] } else { 0.0 }", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = if i != 0 { X[i - 1] } else { 0.0 }", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = if i == 0 { 0.0 } else { X[i - 1] }", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = if i > 0 { 0.0 } else { X[i - 1] }", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = if i < N - 1 { X[i - 1] } else { 0.0 }", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = if i > 0 { X[i - 2] } else { 0.0 }", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = if i + 1 >= N || i < 0 { 0.0 } else { X[i + 1] }", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = if !(i + 1 < N) { 0.0 } else { X[i + 1] }", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[j in 0..N: f32 where j <= i](X[i - j])", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[j in 0..N: f32 where j <= i](X[i - j - 1])", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[j in 0..N: f32 where i < j](X[i + 1])", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[j in 0..i: f32](X[j])", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[j in 0..N + 1: f32](X[j])", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[0] + sum[j in 0..5: f32](X[j])", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[j in 0..N: f32 where i + j < N && j > 3](X[i + j - 2])", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[j in 0..N: f32 where j > 0 && X[j - 1] > 0.0](1.0)", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[r in 0..3: f32 where i + r < N](X[i + r])", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[r in 0..3: f32 where i + r <= N](X[i + r])", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[r in 0..3: f32 where i + r < N || r == 0](X[i + r])", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[r in 0..3: f32 where i + r < N || r == 2](X[i + r])", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[r in 0..3: f32 where 2 * i + r < N](X[2 * i + r])", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[r in 0..9: f32 where abs(i - r) <= 2 && i > 2](X[min(r, N - 1)])", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[r in 0..9: f32 where max(i, r) < N && r / 2 >= 1](X[r - 2])", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[r in 0..9: f32 where max(i, r) < N && r / 2 >= 1](X[r - 3])", false},
		{"X: f32[N], Y: f32[M, N]", "", "def Y[i in 0..M, j in 0..N] = sum[k in i..j + 1: f32](X[k])", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = cumsum[i in 0..N: f32](if i > 0 { X[i - 1] } else { X[i] })", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = if i > 0 { cumsum[i in 0..N: f32](X[i - 1]) } else { 0.0 }", false},

		// Several sizes.
		{"X: f32[M, N], Y: f32[M, N]", "", "def Y[i in 0..M, j in 0..N] = X[j, i]", false},
		{"X: f32[M, N], Y: f32[M, N]", "M == N", "def Y[i in 0..M, j in 0..N] = X[j, i]", true},
		{"X: f32[A], Z: f32[B], Y: f32[A]", "A <= B", "def Y[i in 0..A] = sum[j in 0..A: f32](Z[j])", true},
		{"X: f32[A], Z: f32[B], Y: f32[A]", "A <= B + 1", "def Y[i in 0..A] = sum[j in 0..A: f32](Z[j])", false},
		{"X: f32[A, N], Z: f32[M, N], Y: f32[M, N]", "A == 1", "def Y[i in 0..M, j in 0..N] = X[0, j] * Z[i, j]", true},
		{"X: f32[A, B], Y: f32[A * B]", "", "def Y[i in 0..A * B] = X[i / B, i % B]", true},
		{"X: f32[A * B], Y: f32[A, B]", "", "def Y[i in 0..A, j in 0..B] = X[i * B + j]", true},
		{"X: f32[A * B], Y: f32[A, B]", "", "def Y[i in 0..A, j in 0..B] = X[j * A + i]", true},
		{"X: f32[A * B], Y: f32[A, B]", "", "def Y[i in 0..A, j in 0..B] = X[i * A + j]", false},
		{"X: f32[A * B * C], Y: f32[A, B, C]", "", "def Y[i in 0..A, j in 0..B, k in 0..C] = X[(i * B + j) * C + k]", true},
		{"X: f32[A, B, C], Y: f32[A * B * C]", "", "def Y[i in 0..A * B * C] = X[i / (B * C), i / C % B, i % C]", true},
		{"X: f32[N], W: f32[R], Y: f32[N - R + 1]", "", "def Y[i in 0..N - R + 1] = sum[r in 0..R: f32](X[i + r] * W[r])", true},
		{"X: f32[N], W: f32[R], Y: f32[N - R + 2]", "", "def Y[i in 0..N - R + 2] = sum[r in 0..R: f32](X[i + r] * W[r])", false},
		{"R: f32[2 * S - 1], Y: f32[S, S]", "", "def Y[i in 0..S, j in 0..S] = R[i - j + S - 1]", true},

		// Quotients of sizes.
		{"X: f32[N], Y: f32[(N + 1) / 2]", "", "def Y[i in 0..(N + 1) / 2] = X[2 * i]", true},
		{"X: f32[N], Y: f32[(N + 2) / 2]", "", "def Y[i in 0..(N + 2) / 2] = X[2 * i]", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[j in 0..N / 2: f32](X[2 * j + 1])", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[j in 0..N / 2 + 1: f32](X[2 * j])", false},
		{"X: f32[A], Y: f32[A / 2]", "A % 2 == 0", "def Y[i in 0..A / 2] = X[2 * i + 1]", true},
		{"X: f32[A / 2], Y: f32[A]", "A % 2 == 0", "def Y[i in 0..A] = X[i / 2]", true},
		{"X: f32[A / 2], Z: f32[A], Y: f32[A]", "", "def Y[i in 0..A] = X[i / 2]", false},
		{"X: f32[(N + 15) / 16], Y: f32[N]", "", "def Y[i in 0..N] = X[i / 16]", true},
		{"X: f32[(N + 14) / 16], Z: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = X[i / 16]", false},
		{"X: f32[N], Y: f32[(N - 2) / 3 + 1]", "", "def Y[i in 0..(N - 2) / 3 + 1] = X[3 * i + 1]", false},
		{"X: f32[N], Y: f32[(N - 2) / 3 + 1]", "N >= 2", "def Y[i in 0..(N - 2) / 3 + 1] = X[3 * i + 1]", true},
		{"X: f32[N], Y: f32[(N - 3 + 1) / 2]", "", "def Y[i in 0..(N - 3 + 1) / 2] = sum[r in 0..5: f32](X[2 * i + r])", false},
		{"X: f32[N], Y: f32[(N - 3 + 1) / 2]", "", "def Y[i in 0..(N - 3 + 1) / 2] = sum[r in 0..4: f32](X[2 * i + r])", true},
		{"X: f32[N], Y: f32[2 * N]", "", "def Y[i in 0..2 * N] = sum[r in 0..3: f32 where i + 1 - r >= 0 && (i + 1 - r) / 2 < N](X[(i + 1 - r) / 2])", true},
		{"X: f32[N], Y: f32[2 * N]", "", "def Y[i in 0..2 * N] = sum[r in 0..3: f32 where i + 1 - r >= 0 && (i + 1 - r) / 2 <= N](X[(i + 1 - r) / 2])", false},
		{"X: f32[N], Y: f32[2 * N]", "", "def Y[i in 0..2 * N] = sum[r in 0..3: f32 where i / 2 < r](sum[k in 0..9: f32](X[k / 2]))", false},
		{"X: f32[M], S: f32[K / 64], W: f32[K / 2], Z: f32[K], Y: f32[K]", "K % 128 == 0", "def Y[k in 0..K] = S[k / 64] * W[k / 2] * Z[k]", true},
		{"W: f32[K / 2], S: f32[K / 64], Y: f32[K]", "K % 2 == 0; K % 64 == 0", "def Y[k in 0..K] = S[k / 64] * W[k / 2]", true},
		{"W: f32[K / 6], S: f32[K / 4], Y: f32[K]", "K % 6 == 0 && K % 4 == 0", "def Y[k in 0..K] = S[k / 4] * W[k / 6]", true},
		{"W: f32[K / 2 / 2], S: f32[K / 4], Y: f32[K]", "K % 8 == 0", "def Y[k in 0..K] = S[k / 2 / 2] * W[k / 4]", true},
		{"X: f32[K], W: f32[K / 2], Y: f32[N]", "", "def Y[n in 0..N] = sum[g in 0..K / 64: f32, j in 0..64](X[g * 64 + j] * W[g * 32 + j / 2])", true},
		{"S: f32[K / 64], Y: f32[K]", "K % 32 == 0", "def Y[k in 0..K] = S[k / 64]", false},
		{"S: f32[K / 64], Y: f32[K]", "K % 64 == 1", "def Y[k in 0..K] = S[k / 64]", false},
		{"S: f32[K / 64], Y: f32[K]", "K >= 1", "def Y[k in 0..K] = S[k / 64]", false},
		{"S: f32[K / 64], Y: f32[K]", "K % 64 == 0", "def Y[k in 0..K] = S[k / 63]", false},
		{"S: f32[K / 64], Y: f32[K]", "K % 64 == 0", "def Y[k in 0..K] = S[k / 64 + 1]", false},
		{"K: f32[B, G], Y: f32[B, H]", "H % G == 0", "def Y[b in 0..B, h in 0..H] = K[b, h / (H / G)]", true},
		{"K: f32[B, G], Y: f32[B, H]", "", "def Y[b in 0..B, h in 0..H] = K[b, h / (H / G)]", false},
		{"Q: f32[G], Z: f32[P], Y: f32[H]", "H % G == 0; H % P == 0", "def Y[h in 0..H] = Q[h / (H / G)] * Z[h / (H / P)]", true},
		{"Q: f32[G], Z: f32[P], Y: f32[H]", "H % G == 0; H % P == 0", "def Y[h in 0..H] = Q[h / (H / P)]", false},
		{"X: f32[C], F: f32[P], Y: f32[4 * P]", "C % 4 == 0", "def Y[o in 0..4 * P] = sum[c in 0..C / 4: f32](X[o / P * (C / 4) + c] * F[o % P])", true},
		{"X: f32[C], F: f32[P], Y: f32[4 * P + 1]", "C % 4 == 0", "def Y[o in 0..4 * P + 1] = sum[c in 0..C / 4: f32](X[o / P * (C / 4) + c])", false},
		{"X: f32[H, D], C: f32[D / 2], Y: f32[H, D]", "D % 2 == 0", "def Y[h in 0..H, d in 0..D] = C[d % (D / 2)] + (if d < D / 2 { X[h, d + D / 2] } else { X[h, d - D / 2] })", true},
		{"X: f32[H, D], C: f32[D / 2], Y: f32[H, D]", "D % 2 == 0", "def Y[h in 0..H, d in 0..D] = if d <= D / 2 { X[h, d + D / 2] } else { X[h, d - D / 2] }", false},
		{"A: f32[M, K], S: f32[(N + 31) / 32, (K + 31) / 32], Y: f32[M, N]", "", "def Y[m in 0..M, n in 0..N] = sum[q in 0..(K + 31) / 32: f32](S[n / 32, q] * sum[k in q * 32..min((q + 1) * 32, K): f32](A[m, k]))", true},
		{"X: f32[R, C], Y: f32[R, C / 4]", "", "def Y[r in 0..R, b in 0..C / 4] = sum[j in 0..4: f32](X[r, 4 * b + j])", true},

		// Scalar parameters, which are checked as they run where nothing is known.
		{"X: f32[C], Y: f32[C]", "scalar G: i32; G > 0; widen.i32(C) % 2 == G", "def Y[c in 0..C] = X[c]", true},
	} {
		src := boundsProgram(c.tensors, c.given, c.body)
		_, failures := proveText(t, src)
		assert.Equal(t, c.ok, len(failures) == 0, "%s%v", src, failures)
	}
}
