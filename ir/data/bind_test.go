package data

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
)

// product is a kernel of A[M, K] and B[K, N + 1], of a scalar s, with M % 2 == 0.
func product() *Signature {
	size := func(name string) *ir.Scalar { return &ir.Scalar{Name: name, Type: ir.I64, IsSize: true} }
	m, n, k := size("M"), size("N"), size("K")
	s := &ir.Scalar{Name: "s", Type: ir.F32}
	wider := ir.Add(ir.Name(n), ir.Int64(1))
	return &Signature{
		Name: "product", Order: []string{"A", "B", "s"}, Scalars: []*ir.Scalar{m, n, k, s},
		Params:  []Tensor{{"A", ir.F32, []*ir.Expr{ir.Name(m), ir.Name(k)}}, {"B", ir.F16, []*ir.Expr{ir.Name(k), wider}}},
		Results: []Tensor{{"C", ir.F32, []*ir.Expr{ir.Name(m), ir.Sub(ir.Name(n), ir.Int64(2))}}},
		Where:   []ir.Condition{{Expr: ir.Eq(ir.Rem(ir.Name(m), ir.Int64(2)), ir.Int64(0)), Text: "M % 2 == 0"}},
	}
}

func TestBindTakesSizesInOrder(t *testing.T) {
	one := map[string]ir.Const{"s": ir.FloatConst(1)}
	example := map[string]ir.Const{"M": ir.IntConst(8), "N": ir.IntConst(9), "K": ir.IntConst(10), "s": ir.FloatConst(2)}
	fill := func(t Tensor, shape []int) *Array { return New(t.Type, shape...) }
	for name, c := range map[string]struct {
		given Given
		want  [3]int64 // M, N, K
	}{
		"the example":        {Given{Example: example, Fill: fill}, [3]int64{8, 9, 10}},
		"inputs":             {Given{Values: one, Inputs: map[string]*Array{"A": New(ir.F32, 2, 3), "B": New(ir.F16, 3, 6)}}, [3]int64{2, 5, 3}},
		"inputs before it":   {Given{Example: example, Fill: fill, Inputs: map[string]*Array{"A": New(ir.F32, 2, 3)}}, [3]int64{2, 9, 3}},
		"a setting over it":  {Given{Example: example, Fill: fill, Set: map[string]int64{"M": 4}}, [3]int64{4, 9, 10}},
		"settings and shape": {Given{Values: one, Fill: fill, Set: map[string]int64{"N": 2}, Inputs: map[string]*Array{"A": New(ir.F32, 0, 0)}}, [3]int64{0, 2, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			call, err := Bind(product(), c.given)
			require.NoError(t, err)
			assert.Equal(t, c.want, [3]int64{call.Scalars["M"].Int(), call.Scalars["N"].Int(), call.Scalars["K"].Int()})
			assert.Equal(t, []int{int(c.want[2]), int(c.want[1]) + 1}, call.Inputs["B"].Shape)
		})
	}
}

func TestBindRefuses(t *testing.T) {
	one := map[string]ir.Const{"s": ir.FloatConst(1)}
	a, b := New(ir.F32, 2, 3), New(ir.F16, 3, 6)
	for name, c := range map[string]struct {
		given   Given
		mention []string
	}{
		"an unknown size":      {Given{Values: one, Set: map[string]int64{"Q": 1}}, []string{"Q", "M, N, K"}},
		"a negative size":      {Given{Values: one, Set: map[string]int64{"M": -1}}, []string{"M", "negative"}},
		"an unknown input":     {Given{Values: one, Inputs: map[string]*Array{"Z": a}}, []string{"Z", "A, B, s"}},
		"a missing scalar":     {Given{Inputs: map[string]*Array{"A": a, "B": b}}, []string{"s"}},
		"a missing input":      {Given{Values: one, Inputs: map[string]*Array{"A": a}}, []string{"B", "missing"}},
		"shapes that disagree": {Given{Values: one, Inputs: map[string]*Array{"A": a, "B": New(ir.F16, 4, 6)}}, []string{"K", "3", "4"}},
		"another setting":      {Given{Values: one, Set: map[string]int64{"K": 5}, Inputs: map[string]*Array{"A": a, "B": b}}, []string{"K", "5", "3"}},
		"another rank":         {Given{Values: one, Inputs: map[string]*Array{"A": New(ir.F32, 2), "B": b}}, []string{"A", "1", "2"}},
		"another dtype":        {Given{Values: one, Inputs: map[string]*Array{"A": New(ir.F64, 2, 3), "B": b}}, []string{"A", "f64", "f32"}},
		"a negative extent":    {Given{Values: one, Inputs: map[string]*Array{"A": a, "B": New(ir.F16, 3, 2)}}, []string{"C", "-1"}},
		"an extent too small":  {Given{Values: one, Inputs: map[string]*Array{"A": a, "B": New(ir.F16, 3, 0)}}, []string{"B", "N"}},
		"a condition":          {Given{Values: one, Inputs: map[string]*Array{"A": New(ir.F32, 3, 3), "B": b}}, []string{"M % 2 == 0", "M = 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Bind(product(), c.given)
			require.Error(t, err)
			for _, m := range c.mention {
				assert.Contains(t, err.Error(), m)
			}
		})
	}
}

func TestSubscripts(t *testing.T) {
	assert.Equal(t, []int{1, 0, 3}, Subscripts([]int{2, 3, 4}, 15))
	assert.Equal(t, []int{}, Subscripts(nil, 0))
	assert.Equal(t, []int{0, 0}, Subscripts([]int{0, 5}, 0))
}
