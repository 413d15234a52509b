package tensor

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
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
		{"X: f32[A * B], Y: f32[A, B]", "", "def Y[i in 0..A, j in 0..B] = X[i * j]", true},
		{"X: f32[A * B], Y: f32[A, B]", "", "def Y[i in 0..A, j in 0..B] = X[(i + 1) * j + 1]", false},
		{"X: f32[C], Z: f32[G], Y: f32[C]", "C % G == 0", "def Y[c in 0..C] = X[c % G * (C / G) + c / G]", true},
		{"X: f32[C], Z: f32[G], Y: f32[C]", "C % G == 0", "def Y[c in 0..C] = X[c % (C / G) * G + c / (C / G)]", true},
		{"X: f32[C], Z: f32[G], Y: f32[C]", "C % G == 0", "def Y[c in 0..C] = X[c % G * (C / G) + c / G + 1]", false},
		{"X: f32[4 * C, H, W], Y: f32[C, 2 * H, 2 * W]", "", "def Y[c in 0..C, h in 0..2 * H, w in 0..2 * W] = X[c * 4 + h % 2 * 2 + w % 2, h / 2, w / 2]", true},
		{"X: f32[C, 2 * H, 2 * W], Y: f32[4 * C, H, W]", "", "def Y[c in 0..4 * C, h in 0..H, w in 0..W] = X[c / 4, 2 * h + c / 2 % 2, 2 * w + c % 2]", true},
		{"X: f32[C, 2 * H, 2 * W], Y: f32[4 * C, H, W]", "", "def Y[c in 0..4 * C, h in 0..H, w in 0..W] = X[c / 4, 2 * h + c % 3, 2 * w + c % 2]", false},
		{"X: f32[N * (N + 1) / 2], Z: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[j in 0..i + 1: f32](X[i * (i + 1) / 2 + j])", true},
		{"X: f32[N * (N + 1) / 2], Z: f32[N], Y: f32[N]", "", "def Y[i in 0..N] = sum[j in 0..i + 2: f32](X[i * (i + 1) / 2 + j])", false},
		{"X: f32[N], Y: f32[N]", "", "def Y[t in 0..N] = sum[k in 0..N: f32](X[(t - k + N) % N])", true},
		{"X: f32[N], Y: f32[N]", "", "def Y[t in 0..N] = sum[k in 0..N + 2: f32](X[(t - k + N) % N])", false},
		{"X: f32[N], Y: f32[N]", "N != 0", "def Y[t in 0..N] = X[N - 1]", true},

		// Scalar parameters, which are checked as they run where nothing is known.
		{"X: f32[C], Y: f32[C]", "scalar G: i32; G > 0; widen.i32(C) % 2 == G", "def Y[c in 0..C] = X[c]", true},
	} {
		src := boundsProgram(c.tensors, c.given, c.body)
		p, failures := proveText(t, src)
		assert.Equal(t, c.ok, len(failures) == 0, "%s%v", src, failures)
		assert.Len(t, Unproven(p), len(failures), src)
	}
}

// Accesses through data are marked where they are not proven; the edge of the first read of X in the body shows it.
func TestDataIsChecked(t *testing.T) {
	for _, c := range []struct {
		tensors, given, body string
		want                 EdgeKind
	}{
		{"I: i32[M], X: f32[N], Y: f32[M]", "", "def Y[i in 0..M] = X[widen.i64(I[i])]", Checked},
		{"I: i32[M], X: f32[N], Y: f32[M]", "", "def Y[i in 0..M] = if I[i] >= 0 && widen.i64(I[i]) < N { X[widen.i64(I[i])] } else { 0.0 }", Inside},
		{"I: i32[M], X: f32[N], Y: f32[M]", "", "def Y[i in 0..M] = if I[i] >= 0 && widen.i64(I[i]) < N { X[widen.i64(I[i]) + 1] } else { 0.0 }", Checked},
		{"I: i32[M], X: f32[N], Y: f32[M]", "", "def Y[i in 0..M] = if I[i] >= 0 && widen.i64(I[i] + 1) < N { X[widen.i64(I[i] + 1)] } else { 0.0 }", Checked}, // may wrap
		{"I: u8[M], X: f32[256], Y: f32[M]", "", "def Y[i in 0..M] = X[widen.i64(I[i])]", Inside},
		{"I: u8[M], X: f32[255], Y: f32[M]", "", "def Y[i in 0..M] = X[widen.i64(I[i])]", Checked},
		{"I: u8[M], X: f32[257], Y: f32[M]", "", "def Y[i in 0..M] = X[widen.i64(widen.i32(I[i]) + 1)]", Inside},
		{"I: i32[M], X: f32[16], Y: f32[M]", "", "def Y[i in 0..M] = X[widen.i64(I[i] & 15)]", Inside},
		{"I: i32[M], X: f32[16], Y: f32[M]", "", "def Y[i in 0..M] = X[widen.i64(I[i] & 15 | 16)]", Checked},
		{"I: i32[M], X: f32[N], Y: f32[M]", "N >= 1", "def Y[i in 0..M] = X[mod(widen.i64(I[i]), N)]", Inside},
		{"I: i32[M], X: f32[N], Y: f32[M]", "", "def Y[i in 0..M] = X[mod(widen.i64(I[i]), N)]", Checked}, // N may be 0
		{"I: f32[M], X: f32[N], Y: f32[M]", "", "def Y[i in 0..M] = X[min(max(i64(I[i]), 0), N - 1)]", Checked},
		{"I: f32[M], X: f32[N], Y: f32[M]", "N > 0", "def Y[i in 0..M] = X[min(max(i64(I[i]), 0), N - 1)]", Inside},
		{"I: f32[M], X: f32[256], Y: f32[M]", "", "def Y[i in 0..M] = X[widen.i64(u8(I[i]))]", Inside},
		{"I: i64[M], X: f32[N], Y: f32[M]", "", "def Y[i in 0..M] = if I[i] >= 0 && I[i] < N { X[I[i]] } else { 0.0 }", Inside},
		{"I: i64[M], X: f32[N], Y: f32[M]", "", "def Y[i in 0..M] = if I[i] >= 0 && I[i] + 1 <= N { X[I[i]] } else { 0.0 }", Checked}, // may wrap
		{"R: i32[M + 1], X: f32[E], Y: f32[M]", "", "def Y[i in 0..M] = sum[k in widen.i64(R[i])..widen.i64(R[i + 1]): f32](X[k])", Checked},
		{"R: i32[M + 1], X: f32[E], Y: f32[M]", "", "def Y[i in 0..M] = sum[k in widen.i64(R[i])..widen.i64(R[i + 1]): f32 where k >= 0 && k < E](X[k])", Inside},
		{"S: i32[B], X: f32[B, T], Y: f32[B]", "", "def Y[b in 0..B] = sum[t in 0..widen.i64(S[b]): f32](X[b, t])", Checked},
		{"X: f32[C], Y: f32[C]", "scalar G: i32", "def Y[c in 0..C] = X[widen.i64(G)]", Checked},
		{"X: f32[C], Y: f32[C]", "scalar G: i32; G >= 0", "def Y[c in 0..C] = if widen.i64(G) < C { X[widen.i64(G)] } else { 0.0 }", Inside},
		{"X: f32[C], Y: f32[R]", "scalar G: i32; C % widen.i64(G) == 0", "def Y[r in 0..R] = sum[q in 0..widen.i64(G): f32, c in 0..C / widen.i64(G)](X[q * (C / widen.i64(G)) + c])", Inside},
		{"X: f32[C], Y: f32[R]", "scalar G: i32", "def Y[r in 0..R] = sum[q in 0..widen.i64(G): f32, c in 0..C / widen.i64(G)](X[q * (C / widen.i64(G)) + c])", Inside},
		{"X: f32[C], Y: f32[R]", "scalar G: i32", "def Y[r in 0..R] = sum[q in 0..widen.i64(G): f32, c in 0..C / widen.i64(G) + 1](X[q * (C / widen.i64(G)) + c])", Checked},
		{"X: f32[C], Y: f32[C]", "scalar G: i64", "def Y[c in 0..C] = X[c + G - G]", Inside},
		{"X: f32[C], Y: f32[C]", "scalar G: i64", "def Y[c in 0..C] = if 0 <= c + G && c + G < C { X[c + G] } else { 0.0 }", Checked},
	} {
		src := boundsProgram(c.tensors, c.given, c.body)
		p, failures := proveText(t, src)
		assert.Empty(t, failures, src)
		assert.Empty(t, Unproven(p), src)
		found := false
		ir.Walk(p.Defs[0].(*Map).Body, func(e *ir.Expr) {
			if r, ok := e.Ref.(Read); ok && r.Of.Name == "X" {
				assert.Equal(t, c.want, r.Edge.Kind, src)
				found = true
			}
		})
		assert.True(t, found, src)
	}
}

func TestProofOfDefinitions(t *testing.T) {
	header := "tensor t(X: f32[N, M], I: i32[N]) -> (Y: f32[N, M], Z: f32[N])\nsize N: i64\nsize M: i64\n"
	for _, c := range []struct {
		body, want string // the failures
	}{
		{"scatter Y[i + 1, j] sum: f32 = X[i, j] for i in 0..N, j in 0..M", "Y.0 above"},
		{"scatter Y[i, j - 1] sum: f32 = X[i, j] for i in 0..N, j in 0..M where j > 0", ""},
		{"scatter Y@zero[i + 1, j] sum: f32 = X[i, j + 1] for i in 0..N, j in 0..M", "X.1 above"},
		{"scatter Y[widen.i64(I[i]), j] sum: f32 = X[i, j] for i in 0..N, j in 0..M", ""},
		{"scatter Y[i, j] sum: f32 = 1.0 for i in 0..N, j in widen.i64(I[i])..M", ""},
		{"temp h0: f32[M]\ntemp h: f32[N, M]\ndef h0[c in 0..M] = 0.0\nrecur {\n h[t in 0..N step, c in 0..M] = f32(h[t - 1, c] * X[t, c]) from h0\n} at 1:1", ""},
		{"temp h0: f32[M]\ntemp h: f32[N, M]\ndef h0[c in 0..M] = 0.0\nrecur {\n h[t in 0..N step, c in 0..M] = f32(h[t - 1, c + 1] * X[t - 1, c]) from h0\n} at 1:1", "h.1 above X.0 below"},
		{"temp w: i64[]\ndef w[] = N / 2\ndef Y[i in 0..N, j in 0..M] = if i < w[] { X[i + w[], j] } else { 0.0 }", ""},
		{"temp d: f32[N - 1 - 1]\ndef d[x in 1..N - 1] = X[x + 1, 0] - X[x - 1, 0]\ndef Z[i in 0..N] = if i > 0 && i < N - 1 { d[i - 1] } else { 0.0 }", "X.1 above X.1 above"},
		{"temp d: f32[N - 1 - 1]\ndef d[x in 1..N - 1] = X[x + 1, M - 1] - X[x - 1, 0]\ndef Z[i in 0..N] = if i > 0 && i < N - 1 { d[i] } else { 0.0 }", "X.1 below X.1 above d.0 above"},
	} {
		_, failures := proveText(t, header+c.body)
		var got []string
		for _, f := range failures {
			s := fmt.Sprintf("%s.%d", f.Of.Name, f.Dim)
			if f.Below {
				s += " below"
			}
			if f.Above {
				s += " above"
			}
			got = append(got, s)
		}
		assert.Equal(t, c.want, strings.Join(got, " "), c.body)
	}
}

// Effort is bounded: programs that repeat themselves end soon, proven or not.
func TestHostileBounds(t *testing.T) {
	nested, chain, sums, facts := "X[i]", "i", "i", "i >= 0"
	for k := range 40 {
		nested = fmt.Sprintf("if X[i] > %d.0 { %s } else { X[i - %d] }", k, nested, k)
		chain = fmt.Sprintf("(%s + %d) / %d", chain, k%7, k%3+2)
		facts += fmt.Sprintf(" && i + %d < N * M + %d || i * N < M", k, k*k)
	}
	for k := range 60 {
		sums += fmt.Sprintf(" * (N + %d) - M * (i + %d)", k, k)
	}
	twice := ""
	for k := range 60 {
		was := "i + 1"
		if k > 0 {
			was = fmt.Sprintf("d.%d", k-1)
		}
		twice += fmt.Sprintf("let d.%d: i64 = %s * 2 - M %% (%s)\n", k, was, was)
	}
	var reads []string
	for k := range 500 {
		reads = append(reads, fmt.Sprintf("X[(i * N - %d) / (M + 1) %% (N * M + %d) + min(i * M, max(i - %d, M / (N + 2)))]", k, k, k))
	}
	guards := ""
	for k := range 60 {
		guards += fmt.Sprintf("let c.%d: bool = %s\n", k, []string{"i > 0", fmt.Sprintf("c.%d && c.%d", k-1, k-1), fmt.Sprintf("!(c.%d || c.%d)", k-1, k-1)}[min(k, 1+k%2)])
	}
	branches := "let e.0: f32 = X[i + 1]\n"
	for k := range 60 {
		branches += fmt.Sprintf("let e.%d: f32 = if X[i] > %d.0 { e.%d + 1.0 } else { e.%d }\n", k+1, k, k, k)
	}
	for _, body := range []string{
		"def Y[i in 0..N] = " + nested,
		"def Y[i in 0..N] = X[" + chain + "]",
		"def Y[i in 0..N] = X[" + sums + "]",
		"def Y[i in 0..N] = if " + facts + " { X[i + N * M - 7] } else { 0.0 }",
		guards + "def Y[i in 0..N] = if c.59 { X[i - 1] } else { X[i] }",
		guards + "def Y[i in 0..N] = X[if c.58 { i } else { 0 }]",
		twice + "def Y[i in 0..N] = X[d.59]",
		branches + "def Y[i in 0..N] = e.60",
		"def Y[i in 0..N] = " + strings.Join(reads, " + "),
	} {
		src := boundsProgram("X: f32[N], Z: f32[M], Y: f32[N]", "", body)
		p, errs := Parse(src)
		require.NoError(t, errs.Err(), "%.300s", src)
		start := time.Now()
		ProveBounds(p)
		assert.Less(t, time.Since(start), 3*time.Second, "%.300s", src)
		t.Logf("%v for %.70s", time.Since(start), body)
	}
}

func BenchmarkProveBounds(b *testing.B) {
	for name, src := range map[string]string{
		"attention": textFiles(b)["testdata/text/attention.tensor"],
		"gemm": boundsProgram("A: f16[M, K], B: f16[K, N], C: f16[M, N]", "",
			"def C[m in 0..M, n in 0..N] = f16(sum[k in 0..K: f32](widen.f32(A[m, k]) * widen.f32(B[k, n])))"),
		"convolution": boundsProgram("X: f32[N, H, W, C], F: f32[R, S, C, K], Y: f32[N, H - R + 1, W - S + 1, K]", "",
			"def Y[n in 0..N, h in 0..H - R + 1, w in 0..W - S + 1, k in 0..K] = sum[r in 0..R: f32, s in 0..S, c in 0..C](X[n, h + r, w + s, c] * F[r, s, c, k])"),
	} {
		b.Run(name, func(b *testing.B) {
			p, errs := Parse(src)
			require.NoError(b, errs.Err())
			b.ReportAllocs()
			for b.Loop() {
				if len(ProveBounds(p)) > 0 {
					b.Fatal("not proven")
				}
			}
		})
	}
}
