package passes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// against lists programs that combine what the corpus has one by one. Integers are drawn from -1..5, so that accesses through
// data fail now and then.
var against = []string{
	`kernel a(x: f32[N, C], k: i32[T], w: f32[C, C]) -> h: f32[T, C] { h[t, d] = tanh(sum[e](w[d, e] * h[t-1, e])) + x[k[t], d] from 0 }`,
	`kernel b(x: f32[N], k: i32[T], h0: f32[C]) -> (h: f32[C, T], g: f32[T]) { h[c, t] = 0.5 * h[c, t+1] + x[k[t]] from h0[c]; g[t] = sum[c where c > 0](h[c, t]) }`,
	`kernel c(x: f32[N, C], k: i32[N]) -> (y: f32[N, C], z: f32[C]) { y[i, j] = if k[i] >= 0 && k[i] < N { x[k[i], j] } else { cumsum[j exclusive](x[i, j]) }; z[j] = max[i where k[i] > 0](x[k[i], j]) }`,
	`kernel d(x: i32[N], k: i32[N]) -> (y: i32[N], s: i64) { y[i] = x[i] / k[i] + x[i] % 3; s = sum[i where k[i] != 0](x[i] / k[i]) }`,
	`kernel e(x: f32[N, C], k: i32[N]) -> y: f32[N, C] { y@clamp[k[i], c] += softmax[c where c != k[i]](x[i, c]) }`,
	`kernel f(x: f32[N, C], k: i32[N]) -> (y: f32[C], z: i32[C]) where N > 0 { y[j] = sum[i where argmax[j](x[i, j]) == j](x[i, j]); z[j] = argmin[i](x[i, j]) + k[0] }`,
	`kernel g(x: f32[N, C], w: f32[C, C]) -> (h: f32[N, C], s: f32[N]) { h[t, d] = s[t-1] * x[t, d] + sum[e](w[d, e] * h[t-1, e]) from 0; s[t] = tanh(sum[e](h[t, e])) from 1 }`,
	`kernel h(x: f32[N, N], k: i32[N]) -> y: f32[N] { s[i, j] = sum[l in 0..j + 1](x[i, l]) for j in 0..N; y[i] = sum[j in max(k[i], 0)..N where j > i](s[i, j] / x@mirror[j - 3, i + 2]) }`,
	`kernel i(x: f32[N, C], k: i32[N]) -> (x: f32[N, C], n: i64[N]) { x[k[i], c] max= x[i, c] + 1; n[i] = count[c](x[i, c] > 0 && x@wrap[i - 1, c + 1] < 0) }`,
	`kernel j(x: f16[N, C], k: i32[N]) -> y: f16[N, C] { m[i] = cummax[i where k[i] > 0](sum[c](x[i, c])); y[i, c] = m[i] - (if any[q in 0..C](x[i, q] > 1 || k[i] > q) { x@zero[k[i], c] } else { 3 }) }`,
}

// TestAgainstTheEvaluator: what threads compute is what the program means, errors included.
func TestAgainstTheEvaluator(t *testing.T) {
	dev, err := device.Find("h200")
	require.NoError(t, err)
	for n, src := range against {
		unit, errs := lang.Compile("k.gk", src, nil)
		if !assert.NoError(t, errs.Err(), src) {
			continue
		}
		p := unit.Programs[0]
		u := &passes.Unit{Level: passes.Tensor, Tensor: p}
		require.NoError(t, passes.Run(u, passes.Options{To: passes.Simt, Verify: true}), src)
		failed := 0
		for seed := range uint64(12) {
			call := draw(t, p, rand.New(rand.NewPCG(seed, uint64(n))))
			want, wantErr := tensor.Eval(p, call, tensor.EvalOptions{})
			got, gotErr := sim.Run(context.Background(), u.Simt, dev, call, sim.Options{})
			if !assert.Equal(t, wantErr == nil, gotErr == nil, "%s: %v, %v", src, wantErr, gotErr) {
				break
			}
			if wantErr != nil {
				failed++
				continue
			}
			for name, w := range want {
				agree(t, fmt.Sprintf("%s: %s", src, name), got.Outputs[name], w)
			}
		}
		assert.Less(t, failed, 12, "%s never succeeds", src)
	}
}

func draw(t *testing.T, p *tensor.Program, r *rand.Rand) *data.Call { return drawUpTo(t, p, r, 6) }

// drawUpTo draws a call with sizes of at most so many.
func drawUpTo(t *testing.T, p *tensor.Program, r *rand.Rand, most int64) *data.Call {
	return drawCall(t, p.Signature(), r, most)
}

// drawCall draws a call with sizes up to most, as far as their conditions go.
func drawCall(t *testing.T, sig *data.Signature, r *rand.Rand, most int64) *data.Call {
	t.Helper()
	given := data.Given{Set: map[string]int64{}, Values: map[string]ir.Const{}}
	for _, s := range sig.Scalars {
		if s.IsSize && s.Fixed == nil {
			step := max(s.Multiple, 1)
			given.Set[s.Name] = step * (1 + r.Int64N((most+step-1)/step))
		}
	}
	whole := r.IntN(2) == 0 // indices that are all inside
	given.Fill = func(p data.Tensor, shape []int) *data.Array {
		a := data.New(p.Type, shape...)
		for i := range a.Len() {
			v := ir.IntConst(r.Int64N(7) - 1)
			if whole {
				v = ir.IntConst(0)
			}
			if p.Type.IsFloat() {
				v = ir.FloatConst(ir.RoundTo(p.Type.Elem, r.NormFloat64()))
			}
			a.Set(i, v)
		}
		return a
	}
	call, err := data.Bind(sig, given)
	require.NoError(t, err)
	return call
}

func agree(t *testing.T, what string, got, want *data.Array) {
	t.Helper()
	require.Equal(t, len(want.Shape), len(got.Shape), what)
	require.Equal(t, want.Len(), got.Len(), what)
	tolerance := 1e-4
	if want.Type == ir.F16 {
		tolerance = 5e-3
	}
	for i := range want.Len() {
		x, y := got.Float(i), want.Float(i)
		if x == y || x != x && y != y {
			continue
		}
		require.InDelta(t, y, x, tolerance*(1+max(y, -y)), "%s[%d]", what, i)
	}
}
