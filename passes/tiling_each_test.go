package passes_test

import "testing"

// elementwise lists programs without loops, with the number of block kernels that they become and the largest size of a call.
var elementwise = []blockProgram{
	{"add", `kernel add(x: f32[R, C], b: f16[C]) -> y: f32[R, C] { y[i, j] = x[i, j] + b[j] }`, 1, 60},
	{"transpose", `kernel transpose(x: f16[R, C]) -> y: f16[C, R] { y[j, i] = x[i, j] }`, 1, 60},
	{"permuted", `kernel permuted(x: f32[A, B, C], s: f32[B]) -> y: f32[C, B, A] { y[c, b, a] = x[a, b, c] * s[b] }`, 1, 9},
	{"fixed turn", `kernel turn(x: f16[4, 33, 40]) -> y: f16[4, 40, 33] { y[b, j, i] = x[b, i, j] }`, 1, 9},
	{"stencil", `kernel stencil(x: f32[N, M]) -> y: f32[N, M] { y[i, j] = x@zero[i - 1, j] + x@clamp[i, j + 1] - 2 * x@wrap[i + 1, j] }`, 1, 60},
	{"gather", `kernel gather(x: f32[N, M], at: i32[L]) -> y: f32[L, M] { y[l, j] = x[at[l], j] }`, 2, 60},
	{"choice", `kernel choice(x: f32[N], k: i32[N]) -> y: f32[N] { y[i] = if k[i] > 0 { x[i] * 2 } else { if k[i] == 0 { 3 } else { x@zero[i + k[i]] / 7 } } }`, 1, 900},
	{"index", `kernel index(x: i32[N, 3]) -> y: i32[N, 3] { y[i, j] = x[i, 2 - j] + i32(i * 3 + j) }`, 1, 300},
	{"filled", `kernel filled(n: f32[N]) -> y: f32[N, 4] { y[i, j] = 0.5 }`, 1, 300},
	{"single", `kernel single(x: f32[4]) -> y: f32 { y = x[0] + x[3] }`, 0, 4},
	{"running", `kernel running(x: f32[N]) -> y: f32[N] { y[i] = cumsum[i](x[i]) }`, 0, 4},
}

func TestElementwiseAgreesWithTheEvaluator(t *testing.T) {
	for n, c := range elementwise {
		t.Run(c.name, func(t *testing.T) { c.agrees(t, n) })
	}
}
