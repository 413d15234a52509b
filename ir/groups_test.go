package ir

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func never(Ref) bool { return false }

func TestGroups(t *testing.T) {
	i, j := &Axis{Name: "i"}, &Axis{Name: "j"}
	x, y, c, d := Name(i), Name(j), sizeNamed("C"), sizeNamed("D")
	v := &Axis{Name: "v"} // stands for something that may differ
	f := NewFacts(Eq(Rem(c, Int64(8)), Int64(0)), Gt(c, Int64(0)), Gt(d, Int64(0)))
	f.Bind(Span{Axis: j, Lo: Int64(0), Hi: Int64(100)})
	f.Bind(Span{Axis: i, Lo: Int64(0), Hi: Int64(64)})
	k := Add(Mul(y, Int64(64)), x)
	for _, test := range []struct {
		e    *Expr
		n    int64 // of the largest groups along which it goes up by 1
		same int64 // of the largest along which it stays the same
	}{
		{x, 16, 1},
		{k, 16, 1},
		{Add(x, y), 1, 1},
		{Add(x, Mul(y, Int64(4))), 4, 1},
		{Add(x, Int64(2)), 2, 1},
		{Mul(x, Int64(2)), 1, 1},
		{Add(x, Mul(y, c)), 8, 1},
		{Add(Mul(Div(k, c), c), Rem(k, c)), 16, 1},
		{Add(Mul(Div(k, d), d), Rem(k, d)), 16, 1},
		{Rem(k, c), 8, 1},
		{Rem(k, d), 1, 1},
		{Div(k, c), 1, 8},
		{Div(k, d), 1, 1},
		{Rem(Div(k, c), d), 1, 8},
		{Div(Add(x, Int64(7)), Int64(8)), 1, 1},
		{Div(Add(Mul(x, Int64(2)), Int64(1)), Int64(8)), 1, 4},
		{Lt(k, c), 1, 8},
		{Le(k, c), 1, 1},
		{Le(k, Sub(c, Int64(1))), 1, 8},
		{Ge(k, Mul(y, d)), 1, 1},
		{Ge(Mul(c, y), k), 1, 1},
		{Lt(Mul(c, y), k), 1, 1},
		{Gt(Mul(c, y), k), 1, 8},
		{Ne(Add(Mul(x, Int64(2)), Int64(1)), c), 1, 4},
		{Eq(x, c), 1, 1},
		{And(Lt(k, c), Lt(y, d)), 1, 8},
		{Lt(y, d), 1, 16},
		{If(Lt(k, c), y, d), 1, 8},
		{Name(v), 1, 1},
		{Add(x, Name(v)), 1, 1},
		{Add(Mul(x, d), y), 1, 1},
		{Min(k, c), 1, 1},
	} {
		most := func(holds func(*Groups, *Expr) bool) int64 {
			n := int64(16)
			for n > 1 && !holds(f.Groups(i, n, func(r Ref) bool { return r == Ref(v) }), test.e) {
				n /= 2
			}
			return n
		}
		if test.e.Type == I64 {
			assert.Equal(t, test.n, most((*Groups).Consecutive), "%v", test)
		}
		assert.Equal(t, test.same, most((*Groups).Same), "%v", test)
	}
}

// TestGroupsAreRight: what is claimed of groups holds for all of them.
func TestGroupsAreRight(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	claims := 0
	for round := range 4000 {
		i, j := &Axis{Name: "i"}, &Axis{Name: "j"}
		a, b := sizeNamed("A"), sizeNamed("B")
		f := NewFacts(Eq(Rem(a, Int64(4)), Int64(0)))
		f.Bind(Span{Axis: j, Lo: Int64(0), Hi: Int64(5)})
		f.Bind(Span{Axis: i, Lo: Int64(0), Hi: Int64(16)})
		number := Add(Mul(Name(j), Int64(16)), Name(i))
		e := randomIndex(r, []*Expr{number, number, Name(i), a, b, Name(j)}, 4)
		if r.IntN(3) == 0 {
			e = Apply([]*Op{OpLt, OpLe, OpGt, OpGe, OpEq, OpNe}[r.IntN(6)], e, randomIndex(r, []*Expr{number, a, b}, 3))
		}
		n := int64(2 << r.IntN(3))
		g := f.Groups(i, n, never)
		up, same := e.Type == I64 && g.Consecutive(e), g.Same(e)
		if !up && !same {
			continue
		}
		if Uses(e, i) {
			claims++
		}
		for _, sizes := range [][2]int64{{0, 3}, {4, 1}, {8, 0}, {12, 5}} {
			for at := range int64(5) {
				first := int64(0)
				for x := range int64(16) {
					v := totalValue(e, map[Ref]Const{i: IntConst(x), j: IntConst(at), a.Ref: IntConst(sizes[0]), b.Ref: IntConst(sizes[1])})
					if x%n == 0 {
						first = v
						require.False(t, up && v%n != 0, "round %d", round)
					}
					require.False(t, up && v != first+x%n, "round %d", round)
					require.False(t, same && v != first, "round %d", round)
				}
			}
		}
	}
	require.Greater(t, claims, 100)
}
