package sim_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// The golden kernels use everything that the newest device has. They compute what they should, at whatever moment asynchronous
// operations take effect, and no checker has anything to say about them.

func golden(t testing.TB, name string) *simt.Module {
	text, err := os.ReadFile("../../ir/simt/testdata/golden/" + name + ".simt")
	require.NoError(t, err)
	m, err := simt.Parse(string(text))
	require.NoError(t, err)
	return m
}

// small is a device of two multiprocessors, so that persistent blocks compute several tiles each.
func small(t testing.TB) *device.Device {
	d := *h200(t)
	d.SMs = 2
	return &d
}

func random(r *rand.Rand, t ir.Type, shape ...int) *data.Array {
	a := data.New(t, shape...)
	for i := range a.Len() {
		a.Set(i, ir.FloatConst(ir.RoundTo(t.Elem, r.NormFloat64())))
	}
	return a
}

func sizes(list ...any) map[string]ir.Const {
	out := map[string]ir.Const{}
	for i := 0; i < len(list); i += 2 {
		out[list[i].(string)] = ir.IntConst(int64(list[i+1].(int)))
	}
	return out
}

// everyMoment runs a module with every choice of moments and compares the output with what it should be.
func everyMoment(t *testing.T, m *simt.Module, call *data.Call, output string, want []float64, tolerance float64) {
	for moment, name := range []string{"late", "early", "random"} {
		t.Run(name, func(t *testing.T) {
			res, err := sim.Run(context.Background(), m, small(t), call, sim.Options{Moment: sim.Moment(moment), Seed: 7, Steps: 1 << 26})
			require.NoError(t, err)
			got := res.Outputs[output]
			require.Equal(t, len(want), got.Len())
			for i, x := range want {
				if math.Abs(got.Float(i)-x) > tolerance*(1+math.Abs(x)) {
					require.Failf(t, "wrong", "element %v: %v, expected %v", data.Subscripts(got.Shape, i), got.Float(i), x)
				}
			}
		})
	}
}

func product(a, b *data.Array, finish func(x float64, col int) float64) []float64 {
	m, k, n := a.Shape[0], a.Shape[1], b.Shape[1]
	out := make([]float64, m*n)
	for i := range m {
		for p := range k {
			x := a.Float(i*k + p)
			for j := range n {
				out[i*n+j] += x * b.Float(p*n+j)
			}
		}
	}
	for i := range out {
		out[i] = finish(out[i], i%n)
	}
	return out
}

func TestGoldenProducts(t *testing.T) {
	gelu := func(bias *data.Array) func(float64, int) float64 {
		return func(x float64, col int) float64 {
			x += bias.Float(col)
			return 0.5 * x * (1 + math.Erf(x/math.Sqrt2))
		}
	}
	for _, c := range []struct {
		name    string
		bias    bool
		m, n, k int
	}{
		{"gemm", false, 129, 264, 136},
		{"gemm", false, 1, 8, 8},
		{"gemm_any", true, 65, 131, 77},
		{"gemm_cluster", true, 300, 264, 200},
	} {
		t.Run(fmt.Sprintf("%s_%dx%dx%d", c.name, c.m, c.n, c.k), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			a, b := random(r, ir.F16, c.m, c.k), random(r, ir.F16, c.k, c.n)
			call := &data.Call{Scalars: sizes("M", c.m, "N", c.n, "K", c.k), Inputs: map[string]*data.Array{"A": a, "B": b}}
			finish := func(x float64, _ int) float64 { return x }
			if c.bias {
				bias := random(r, ir.F32, c.n)
				call.Inputs["bias"] = bias
				finish = gelu(bias)
			}
			everyMoment(t, golden(t, c.name), call, "C", product(a, b, finish), 2e-3)
		})
	}
}

func TestGoldenAttention(t *testing.T) {
	const b, h, g, s, keys, d = 1, 2, 1, 200, 200, 128
	r := rand.New(rand.NewPCG(3, 4))
	q, k, v := random(r, ir.F16, b, h, s, d), random(r, ir.F16, b, g, keys, d), random(r, ir.F16, b, g, keys, d)
	want := make([]float64, b*h*s*d)
	for head := range h {
		for i := range s {
			var p [keys]float64
			sum := 0.0
			for j := 0; j <= i+keys-s; j++ {
				dot := 0.0
				for e := range d {
					dot += q.Float((head*s+i)*d+e) * k.Float(j*d+e)
				}
				p[j] = math.Exp(dot / math.Sqrt(d))
				sum += p[j]
			}
			for j := 0; j <= i+keys-s; j++ {
				for e := range d {
					want[(head*s+i)*d+e] += p[j] / sum * v.Float(j*d+e)
				}
			}
		}
	}
	call := &data.Call{Scalars: sizes("B", b, "H", h, "G", g, "S", s, "T", keys), Inputs: map[string]*data.Array{"Q": q, "K": k, "V": v}}
	everyMoment(t, golden(t, "attention"), call, "O", want, 4e-3)
}
