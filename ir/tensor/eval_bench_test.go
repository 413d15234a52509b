package tensor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
)

func benchmark(b *testing.B, src string, s sizes, shapes map[string][]int, work float64) {
	p := parse(b, src)
	in := map[string]*data.Array{}
	for _, t := range p.Params {
		a := data.New(t.Type, shapes[t.Name]...)
		for i := range a.Len() {
			a.Set(i, ir.FloatConst(ir.RoundTo(t.Type.Elem, float64(i%17)/16)))
		}
		in[t.Name] = a
	}
	for b.Loop() {
		_, err := Eval(p, callOf(s, in), EvalOptions{})
		require.NoError(b, err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/work, "ns/term")
}

func BenchmarkMatmul(b *testing.B) {
	benchmark(b, `tensor matmul(A: f16[M, K], B: f16[K, N]) -> (C: f16[M, N])
size M: i64
size K: i64
size N: i64
def C[m in 0..M, n in 0..N] = f16(sum[k in 0..K: f32](widen.f32(A[m, k]) * widen.f32(B[k, n])))`,
		sizes{"M": 128, "N": 128, "K": 128}, map[string][]int{"A": {128, 128}, "B": {128, 128}}, 128*128*128)
}

func BenchmarkAttention(b *testing.B) {
	src := `tensor attention(Q: f16[S, D], K: f16[T, D], V: f16[T, D]) -> (O: f16[S, D])
size S: i64
size T: i64
size D: i64
temp s: f32[S, T]
temp p: f32[S, T]
def s[i in 0..S, j in 0..T] = sum[d in 0..D: f32](widen.f32(Q[i, d]) * widen.f32(K[j, d])) / sqrt(widen.f32(D))
let e: f32 = max[k in 0..T: f32 where k <= i + T - S](s[i, k])
def p[i in 0..S, j in 0..T] = if j <= i + T - S { exp(s[i, j] - e) / sum[l in 0..T: f32 where l <= i + T - S](exp(s[i, l] - e)) } else { 0.0 }
def O[i in 0..S, d in 0..D] = f16(sum[j in 0..T: f32](p[i, j] * widen.f32(V[j, d])))`
	benchmark(b, src, sizes{"S": 128, "T": 128, "D": 64}, map[string][]int{"Q": {128, 64}, "K": {128, 64}, "V": {128, 64}}, 2*128*128*64)
}
