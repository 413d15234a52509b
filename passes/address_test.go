package passes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
)

// TestJoinedDimensions: the number of an element is the same, in as few dimensions as fused axes leave.
func TestJoinedDimensions(t *testing.T) {
	size := func(name string) *ir.Expr { return ir.Name(&ir.Scalar{Name: name, Type: ir.I64, IsSize: true}) }
	a, b, c := size("A"), size("B"), size("C")
	n, k := ir.Name(&ir.Axis{Name: "n"}), ir.Name(&ir.Axis{Name: "k"})
	span := func(n *ir.Expr) ir.Span { return ir.Span{Axis: &ir.Axis{}, Lo: ir.Int64(0), Hi: n} }
	all := fused{span(a), span(b), span(c)}.places(n)
	known := fused{span(ir.Int64(2)), span(ir.Int64(3)), span(ir.Int64(4))}.places(n)
	for _, x := range []struct {
		extents, at []*ir.Expr
		dims        int
	}{
		{[]*ir.Expr{a, b, c}, all, 1},
		{[]*ir.Expr{b, c}, all[1:], 1},
		{[]*ir.Expr{a, b}, all[:2], 1},
		{[]*ir.Expr{k, a, b, c}, append([]*ir.Expr{k}, all...), 2},
		{[]*ir.Expr{a, b, c, c}, append(all[:3:3], k), 2},
		{[]*ir.Expr{c, b, a}, []*ir.Expr{all[2], all[1], all[0]}, 3},
		{[]*ir.Expr{a, c}, []*ir.Expr{all[0], all[2]}, 2},
		{[]*ir.Expr{a, b, c}, []*ir.Expr{all[0], ir.Add(all[1], k), all[2]}, 3},
		{[]*ir.Expr{a, ir.Add(b, k), c}, all, 2},
		{[]*ir.Expr{ir.Add(a, k), ir.Sub(c, k)}, fused{span(ir.Max(ir.Add(a, k), ir.Int64(0))), span(ir.Max(ir.Sub(c, k), ir.Int64(0)))}.places(n), 1},
		{[]*ir.Expr{ir.Int64(2), ir.Int64(3), ir.Int64(4)}, known, 1},
		{[]*ir.Expr{ir.Int64(3), ir.Int64(4)}, known[1:], 1},
		{[]*ir.Expr{ir.Int64(2), ir.Int64(3), ir.Int64(5)}, known, 2},
	} {
		extents, at := joined(x.extents, x.at)
		require.Len(t, at, x.dims)
		for number := range int64(24) {
			values := map[string]int64{"A": 2, "B": 3, "C": 4, "n": number, "k": 1}
			require.Equal(t, numberOf(t, x.extents, x.at, values), numberOf(t, extents, at, values))
		}
	}
}

func numberOf(t *testing.T, extents, at []*ir.Expr, values map[string]int64) int64 {
	linear := ir.Int64(0)
	for i, x := range at {
		linear = ir.Add(ir.Mul(linear, extents[i]), x)
	}
	v, err := ir.EvalExpr(linear, func(r ir.Ref) (ir.Const, bool) { return ir.IntConst(values[r.RefName()]), true })
	require.NoError(t, err)
	return v.Int()
}
