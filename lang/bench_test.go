package lang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const benchKernels = `
// Causal grouped-query attention number %[1]d.
kernel attention%[1]d(
    Q: f16[B, H, S, D],
    K: f16[B, G, T, D],
    V: f16[B, G, T, D],
) -> O: f16[B, H, S, D]
where H %% G == 0
{
    s[b, h, i, j] = sum[d](Q[b, h, i, d] * K[b, h / (H / G), j, d]) / sqrt(D)
    p[b, h, i, j] = softmax[j where j <= i + T - S](s[b, h, i, j])
    O[b, h, i, d] = sum[j](p[b, h, i, j] * V[b, h / (H / G), j, d])
}

kernel add_rmsnorm%[1]d(X: bf16[R, C], Res: bf16[R, C], w: bf16[C], eps: f32 = 1e-6) -> (Y: bf16[R, C], Sum: bf16[R, C]) {
    Sum[r, c] = X[r, c] + Res[r, c]
    Y[r, c] = Sum[r, c] * rsqrt(mean[c](Sum[r, c] ** 2) + eps) * w[c]
}

kernel maxpool%[1]d(X: f32[N, C, H, W]) -> Y: f32[N, C, H / 2, W / 2] {
    Y[n, c, h, w] = max[r in 0..3, s in 0..3](X@const(-inf)[n, c, 2 * h + r - 1, 2 * w + s - 1])
}

kernel gated_recurrence%[1]d(A: f32[B, T, D], X: f32[B, T, D], h0: f32[B, D]) -> H: f32[B, T, D] {
    H[b, t, d] = A[b, t, d] * H[b, t-1, d] + X[b, t, d] from h0[b, d]
}

example add_rmsnorm%[1]d(R = 128, C = 4096)
`

// benchProgram is a program of about size bytes.
func benchProgram(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, benchKernels, i)
	}
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	for _, size := range []int{1 << 10, 512 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			src := benchProgram(size)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				_, errs := Parse("bench.gk", src)
				require.Empty(b, errs)
			}
		})
	}
}

// BenchmarkGrammar is what the first call of Parse pays on top.
func BenchmarkGrammar(b *testing.B) {
	for b.Loop() {
		newGrammar()
	}
}
