package randgk

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
)

func TestShrink(t *testing.T) {
	p := &Program{Sizes: map[string]int64{"N": 5}, Source: `kernel k(
    X: f32[N],
    Z: f32[N],
) -> (
    Y: f32[N],
    V: f32[N],
)
{
    V[i] = Z[i] * 2
    Y[i] = if X[i] > 0.25 { sum[j](X[j] * tanh(Z[j] + X[i])) } else { (X[i] + 1) * Z[i] }
}
`}
	small := Shrink(p, 1000, func(q *Program) bool {
		c, err := Compile(q.Source)
		return err == nil && c.Tensor != nil && strings.Contains(q.Source, "tanh")
	})
	assert.NotContains(t, small.Source, "V")
	assert.NotContains(t, small.Source, "if")
	assert.Zero(t, small.Sizes["N"])
	assert.Less(t, len(small.Source), 100, small.Source)
}

// The same seed is the same program, and its elements do not depend on what else there is.
func TestSeeds(t *testing.T) {
	a, b := Generate(17), Generate(17)
	assert.Equal(t, a, b)
	assert.NotEqual(t, a.Source, Generate(18).Source)
	d := drawing{seed: 3}
	small := d.array(data.Tensor{Name: "X", Type: ir.F32}, []int{2, 2}, nil)
	large := d.array(data.Tensor{Name: "X", Type: ir.F32}, []int{3, 3}, nil)
	assert.Equal(t, small.At(3), large.At(4))
}

func TestDiffers(t *testing.T) {
	array := func(x float64) map[string]*data.Array {
		a := data.New(ir.F32, 1)
		a.Set(0, ir.FloatConst(x))
		return map[string]*data.Array{"Y": a}
	}
	bound := func(x float64) map[string]*data.Array {
		a := data.New(ir.F64, 1)
		a.Set(0, ir.FloatConst(x))
		return map[string]*data.Array{"Y": a}
	}
	fails := Outcome{Err: errors.New("no")}
	right := Outcome{Out: array(1)}
	require.Empty(t, Differs(right, right, bound(0)))
	assert.Empty(t, Differs(Outcome{Out: array(1.25)}, right, bound(0.1)))
	assert.NotEmpty(t, Differs(Outcome{Out: array(1.5)}, right, bound(0.1)))
	assert.NotEmpty(t, Differs(Outcome{Out: map[string]*data.Array{}}, right, bound(0)))
	assert.NotEmpty(t, Differs(fails, right, bound(0)))
	assert.NotEmpty(t, Differs(right, fails, nil))
	assert.Empty(t, Differs(fails, fails, nil))
	assert.NotEmpty(t, Differs(Outcome{Err: errors.New("panic: x")}, fails, nil))
}
