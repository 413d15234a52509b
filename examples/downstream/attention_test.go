package downstream

import (
	"context"
	"math"
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/gkc-lang/gkc/runtime"
)

// random makes a tensor of numbers between -1 and 1.
func random(t *testing.T, rnd *rand.Rand, shape ...int) *runtime.Tensor[runtime.F16] {
	t.Helper()
	x, err := runtime.Zeros[runtime.F16](shape...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Data() {
		x.Data()[i] = runtime.ToF16(2*rnd.Float64() - 1)
	}
	return x
}

// plain is causal grouped-query attention as one would write it in Go.
func plain(q, k, v *runtime.Tensor[runtime.F16]) []float64 {
	s, d := q.Shape(), k.Shape()
	B, H, S, D, G, T := s[0], s[1], s[2], s[3], d[1], d[2]
	at := func(x *runtime.Tensor[runtime.F16], heads, rows, b, h, i, e int) float64 {
		return float64(x.Data()[((b*heads+h)*rows+i)*D+e].F32())
	}
	out := make([]float64, B*H*S*D)
	for b := range B {
		for h := range H {
			for i := range S {
				var weights []float64
				total := 0.0
				for j := 0; j <= i+T-S && j < T; j++ {
					dot := 0.0
					for e := range D {
						dot += at(q, H, S, b, h, i, e) * at(k, G, T, b, h/(H/G), j, e)
					}
					weights = append(weights, math.Exp(dot/math.Sqrt(float64(D))))
					total += weights[j]
				}
				for j, w := range weights {
					for e := range D {
						out[((b*H+h)*S+i)*D+e] += w / total * at(v, G, T, b, h/(H/G), j, e)
					}
				}
			}
		}
	}
	return out
}

// TestAttention calls the kernel for all sizes, and its variant for those of the example.
func TestAttention(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []struct{ b, h, g, s, t, d int }{{2, 4, 2, 7, 9, 8}, {1, 4, 2, 64, 64, 32}} {
		q, k, v := random(t, rnd, n.b, n.h, n.s, n.d), random(t, rnd, n.b, n.g, n.t, n.d), random(t, rnd, n.b, n.g, n.t, n.d)
		o, err := Attention(context.Background(), runtime.CPU(), q, k, v)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range plain(q, k, v) {
			if got := float64(o.Data()[i].F32()); !(math.Abs(got-want) <= 2e-3) {
				t.Fatalf("%v: element %d is %v, expected %v", n, i, got, want)
			}
		}
	}
}

func TestGeneratedCodeIsFresh(t *testing.T) {
	if out, err := exec.Command("go", "tool", "gkc", "build", "--check", "attention.gk", "vectors.gk", "--emit", "go").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
