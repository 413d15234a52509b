package sim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
)

func softmax(x *data.Array) []float64 {
	rows, n := x.Shape[0], x.Shape[1]
	out := make([]float64, rows*n)
	for r := range rows {
		m, sum := math.Inf(-1), 0.0
		for i := range n {
			m = max(m, x.Float(r*n+i))
		}
		for i := range n {
			out[r*n+i] = math.Exp(x.Float(r*n+i) - m)
			sum += out[r*n+i]
		}
		for i := range n {
			out[r*n+i] /= sum
		}
	}
	return out
}

func TestGoldenSoftmax(t *testing.T) {
	for _, c := range []struct {
		name    string
		rows, n int
	}{
		{"rowreduce", 3, 4104},
		{"rowreduce", 1, 8},
		{"rowreduce_cluster", 2, 9000},
		{"rowreduce_ring", 5, 5000},
		{"rowreduce_any", 3, 777},
	} {
		t.Run(fmt.Sprintf("%s_%dx%d", c.name, c.rows, c.n), func(t *testing.T) {
			x := random(rand.New(rand.NewPCG(5, 6)), ir.F16, c.rows, c.n)
			call := &data.Call{Scalars: sizes("R", c.rows, "N", c.n), Inputs: map[string]*data.Array{"x": x}}
			everyMoment(t, golden(t, c.name), call, "y", softmax(x), 1e-4)
		})
	}
}

func TestGoldenNorm(t *testing.T) {
	const rows, n, eps = 3, 1000, 1e-5
	r := rand.New(rand.NewPCG(7, 8))
	x, res, w := random(r, ir.F16, rows, n), random(r, ir.F16, rows, n), random(r, ir.F16, n)
	h, y := make([]float64, rows*n), make([]float64, rows*n)
	for row := range rows {
		sum := 0.0
		for i := row * n; i < (row+1)*n; i++ {
			h[i] = ir.RoundTo(ir.F16.Elem, x.Float(i)+res.Float(i))
			sum += h[i] * h[i]
		}
		for i := range n {
			y[row*n+i] = h[row*n+i] / math.Sqrt(sum/n+eps) * w.Float(i)
		}
	}
	call := &data.Call{Scalars: sizes("R", rows, "N", n), Inputs: map[string]*data.Array{"x": x, "r": res, "w": w}}
	call.Scalars["eps"] = ir.FloatConst(ir.RoundTo(ir.F32.Elem, eps))
	everyMoment(t, golden(t, "rowreduce_rms"), call, "h", h, 0)
	everyMoment(t, golden(t, "rowreduce_rms"), call, "y", y, 2e-3)
}
