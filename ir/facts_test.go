package ir

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sizeNamed(name string) *Expr { return Name(&Scalar{Name: name, Type: I64, IsSize: true}) }

func TestSameExtent(t *testing.T) {
	a, b, c := sizeNamed("A"), sizeNamed("B"), sizeNamed("C")
	n := Int64
	zero := func(e *Expr, d *Expr) *Expr { return Eq(Rem(e, d), n(0)) }
	for _, test := range []struct {
		x, y  *Expr
		where []*Expr
		same  bool
	}{
		{a, a, nil, true},
		{a, b, nil, false},
		{Add(a, b), Add(b, a), nil, true},
		{Sub(Add(a, n(1)), n(1)), a, nil, true},
		{Mul(Add(a, b), n(2)), Add(Add(a, Mul(n(2), b)), a), nil, true},
		{Mul(Add(a, b), Sub(a, b)), Sub(Mul(a, a), Mul(b, b)), nil, true},
		{Div(Add(a, n(4)), n(2)), Add(Div(a, n(2)), n(2)), nil, true},
		{Div(Sub(a, n(4)), n(2)), Sub(Div(a, n(2)), n(2)), nil, false}, // toward zero
		{FloorDiv(Sub(a, n(4)), n(2)), Sub(FloorDiv(a, n(2)), n(2)), nil, true},
		{Mul(Div(a, n(2)), n(2)), a, nil, false},
		{Mul(Div(a, n(2)), n(2)), a, []*Expr{zero(a, n(4))}, true},
		{Div(Div(a, n(2)), n(2)), Div(a, n(4)), []*Expr{zero(a, n(8))}, true},
		{Mul(Div(a, b), b), a, []*Expr{zero(a, b)}, true},
		{Mul(Div(a, b), b), a, []*Expr{zero(b, a)}, false},
		{a, b, []*Expr{Eq(a, b)}, true},
		{a, c, []*Expr{Eq(a, b), Eq(c, b)}, true},
		{a, c, []*Expr{And(Eq(a, b), Eq(b, c))}, true},
		{Mul(a, c), Mul(c, b), []*Expr{Eq(b, a)}, true},
		{a, Mul(b, c), []*Expr{Eq(a, Mul(b, c))}, true},
		{a, n(1), []*Expr{Eq(n(1), a)}, true},
		{a, b, []*Expr{Le(a, b)}, false},
		{a, b, []*Expr{Or(Eq(a, b), Eq(a, c))}, false},
		{Rem(a, n(4)), n(0), []*Expr{zero(a, n(8))}, true},
		{Max(a, n(0)), a, nil, true},
		{Min(a, b), Min(b, a), nil, true},
		{Mul(a, n(1<<50)), Mul(a, n(1<<50)), nil, true},
		{Mul(Mul(a, n(1<<50)), n(1<<50)), Mul(a, n(0)), nil, false},
	} {
		assert.Equal(t, test.same, SameExtent(test.x, test.y, test.where...), "%v", test)
	}
}

func TestConstantExtent(t *testing.T) {
	a := sizeNamed("A")
	fixed := IntConst(6)
	d := Name(&Scalar{Name: "D", Type: I64, IsSize: true, Fixed: &fixed})
	for _, test := range []struct {
		e    *Expr
		want int64
		ok   bool
	}{
		{Int64(7), 7, true},
		{NewExpr(OpSub, I64, nil, a.Pos, Int64(2), Int64(5)), -3, true},
		{a, 0, false},
		{Sub(a, a), 0, true},
		{Div(Add(d, Int64(1)), Int64(2)), 3, true},
		{FloorDiv(Int64(-7), d), -2, true},
		{Div(Int64(-7), d), -1, true},
		{NewExpr(OpDiv, I64, nil, a.Pos, d, Int64(0)), 0, true},
	} {
		got, ok := ConstantExtent(test.e)
		assert.Equal(t, test.ok, ok)
		assert.Equal(t, test.want, got)
	}
}

func TestIntervalAndMultiple(t *testing.T) {
	a, b := sizeNamed("A"), sizeNamed("B")
	i := &Axis{Name: "i"}
	w := Name(&Scalar{Name: "w", Type: I32})
	f := NewFacts(Eq(Rem(a, Int64(16)), Int64(0)), Ge(b, Int64(3)))
	f.Bind(Span{Axis: i, Lo: Int64(2), Hi: Int64(10)})
	for _, test := range []struct {
		e                *Expr
		lo, hi, multiple int64
	}{
		{a, 0, noHigh, 16},
		{b, 3, noHigh, 1},
		{Add(Div(a, Int64(2)), Int64(4)), 4, noHigh, 4},
		{Name(i), 2, 9, 1},
		{Sub(Int64(1), Mul(Name(i), Int64(3))), -26, -5, 1},
		{Widen(I64, w), -1 << 31, 1<<31 - 1, 1},
		{Mul(Widen(I64, w), Int64(8)), -1 << 34, 1<<34 - 8, 8},
		{Max(Widen(I64, w), Int64(4)), 4, 1<<31 - 1, 1},
		{Int64(0), 0, 0, 0},
	} {
		lo, hi := f.Interval(test.e)
		assert.Equal(t, []int64{test.lo, test.hi}, []int64{lo, hi})
		assert.Equal(t, test.multiple, f.Multiple(test.e))
	}
}

func TestHolds(t *testing.T) {
	a, b := sizeNamed("A"), sizeNamed("B")
	x := Name(&Scalar{Name: "x", Type: F32})
	i := &Axis{Name: "i"}
	f := NewFacts(Le(a, b))
	outside := f.Mark()
	f.Bind(Span{Axis: i, Lo: Int64(0), Hi: a})
	small := Lt(x, NewConst(F32, FloatConst(1)))
	assert.True(t, f.Holds(Lt(Name(i), b)))
	assert.True(t, f.Holds(And(Lt(Name(i), b), Ge(Name(i), Int64(0)))))
	assert.True(t, f.Holds(Gt(a, Int64(0))), "the range is not empty")
	assert.False(t, f.Holds(Lt(b, a)))
	assert.False(t, f.Holds(small))
	assert.False(t, f.Holds(Not(Or(small, Lt(b, a)))), "a part that is not about integers")
	assert.False(t, f.Holds(And(small, Ge(Name(i), Int64(0)))))
	f.Assume(Gt(Name(i), Int64(4)), false)
	assert.True(t, f.Holds(Le(Name(i), Int64(4))))
	f.Release(outside)
	assert.False(t, f.Holds(Gt(a, Int64(0))), "nothing is known outside any more")
	assert.True(t, f.Holds(Ge(b, a)))
}

// valueOf computes a Poly from what its atoms are.
func (f *Facts) valueOf(p Poly, env map[Ref]Const) int64 {
	sum := int64(0)
	for _, t := range p {
		v := t.coef
		for _, x := range t.of[:t.of.degree()] {
			v *= f.atomValue(x, env)
		}
		sum += v
	}
	return sum
}

func (f *Facts) atomValue(x atom, env map[Ref]Const) int64 {
	r := f.atoms[x]
	args := make([]Const, len(r.args))
	types := make([]Type, len(r.args))
	for i, p := range r.args {
		args[i], types[i] = IntConst(f.valueOf(p, env)), I64
	}
	switch r.op {
	case OpName:
		return env[r.ref].Int() / max(1, r.val.Int())
	case OpConst:
		return r.val.Int()
	case opWrapped:
		return args[0].Int()
	case opExact:
		r.op = OpDiv
	case OpIf:
		types[0] = Bool_
	}
	v, ok := EvalOp(r.op, r.typ, types, args)
	if !ok {
		panic(r.op.Name)
	}
	return v.Int()
}

// A canonical form has the value of the expression that it was made of.
func TestValueIsTheValue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		names := []*Expr{sizeNamed("A"), sizeNamed("B"), sizeNamed("C"), Name(&Scalar{Name: "g", Type: I64})}
		var conditions []*Expr
		if a, b := names[r.IntN(3)], names[r.IntN(3)]; r.IntN(2) == 0 {
			conditions = append(conditions, []*Expr{Eq(Rem(a, b), Int64(0)), Eq(a, b), Eq(Rem(a, Int64(4)), Int64(0)), Eq(a, Mul(b, Int64(2)))}[r.IntN(4)])
		}
		e := randomIndex(r, names, 5)
		f := NewFacts(conditions...)
		p := f.Value(e)
		for range 20 {
			env := map[Ref]Const{}
			for i, n := range names {
				env[n.Ref] = IntConst(int64(r.IntN(7)))
				if i == 3 {
					env[n.Ref] = IntConst(int64(r.IntN(15) - 7))
				}
			}
			lookup := func(r Ref) (Const, bool) { v, ok := env[r]; return v, ok }
			met := true
			for _, c := range conditions {
				v, err := EvalExpr(c, lookup)
				met = met && err == nil && v.Bool()
			}
			if want := totalValue(e, env); met && p.known() {
				require.Equal(t, want, f.valueOf(p, env), "round %d", round)
			}
		}
	}
}

func randomIndex(r *rand.Rand, names []*Expr, depth int) *Expr {
	if depth == 0 || r.IntN(6) == 0 {
		if r.IntN(3) == 0 {
			return Int64(int64(r.IntN(12) - 4))
		}
		return names[r.IntN(len(names))]
	}
	ops := []*Op{OpAdd, OpAdd, OpSub, OpSub, OpMul, OpMul, OpDiv, OpRem, OpFloorDiv, OpMod, OpMin, OpMax}
	a, b := randomIndex(r, names, depth-1), randomIndex(r, names, depth-1)
	if r.IntN(8) == 0 {
		return If(Lt(a, b), b, randomIndex(r, names, depth-1))
	}
	op := ops[r.IntN(len(ops))]
	if (op == OpDiv || op == OpRem || op == OpFloorDiv || op == OpMod) && r.IntN(2) == 0 {
		b = Int64(int64(r.IntN(9) - 2))
	}
	return Apply(op, a, b)
}

// totalValue is the value with the meaning of devices, where division by zero gives 0.
func totalValue(e *Expr, env map[Ref]Const) int64 {
	if e.Op == OpName {
		return env[e.Ref].Int()
	}
	if e.Op == OpConst {
		return e.Val.Int()
	}
	args, types := make([]Const, len(e.Args)), make([]Type, len(e.Args))
	for i, a := range e.Args {
		args[i], types[i] = IntConst(totalValue(a, env)), a.Type
	}
	v, ok := EvalOp(e.Op, e.Type, types, args)
	if !ok {
		panic(fmt.Sprint("no meaning: ", e.Op))
	}
	return v.Int()
}
