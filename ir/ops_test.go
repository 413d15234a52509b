package ir

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/diag"
)

// samples are values of a type, with the difficult ones.
func samples(t Type) []Const {
	switch {
	case t.IsFloat():
		out := []Const{}
		for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -2.5, 3, 1e30, -1e30, 1e-30, math.Inf(1), math.Inf(-1), math.NaN()} {
			out = append(out, FloatConst(RoundTo(t.Elem, x)))
		}
		return out
	case t.IsBool():
		return []Const{BoolConst(false), BoolConst(true)}
	}
	lo, hi := IntRange(t.Elem)
	out := []Const{}
	for _, x := range []int64{0, 1, 2, 5, -1, -7, 31, 32, 63, 64, lo, hi} {
		out = append(out, IntConst(Wrap(t.Elem, x)))
	}
	return out
}

// holds reports whether c is a value of type t.
func holds(t Type, c Const) bool {
	switch {
	case t.IsFloat():
		x := c.Float()
		return c == FloatConst(x) && (x != x || RoundTo(t.Elem, x) == x)
	case t.IsBool():
		return c.Bits <= 1
	}
	return Wrap(t.Elem, c.Int()) == c.Int()
}

// Every operation has a value, of its result's type, for all operands of the types that its rule takes.
func TestEveryOperationOnEveryType(t *testing.T) {
	for _, op := range Ops {
		if op.Arity < 0 || op == OpConst || op == OpName || op == OpRead || op.Effect != NoEffect {
			continue
		}
		accepted := 0
		for _, types := range operandTypes(op) {
			to, err := op.ResultType(types)
			if err != nil {
				continue
			}
			targets := []Type{to}
			if op.Free {
				targets = freeTargets(op, types[0])
			}
			for _, to := range targets {
				accepted++
				each(types, func(args []Const) {
					got, ok := EvalOp(op, to, types, args)
					require.True(t, ok, "%s of %v has no meaning", op.Name, types)
					require.True(t, holds(to, got) || op == OpWiden, "%s of %v %v is %#x, which %s cannot hold", op.Name, types, args, got.Bits, to)
				})
			}
		}
		require.Positive(t, accepted, "%s takes no type", op.Name)
	}
}

// operandTypes are tuples of types that an operation may be tried with.
func operandTypes(op *Op) (out [][]Type) {
	for _, d := range DTypes {
		t := Type{d, 1}
		for _, first := range []Type{t, Bool_, I32, I64} {
			list := make([]Type, op.Arity)
			for i := range list {
				list[i] = t
			}
			if op.Arity > 0 {
				list[0] = first
			}
			out = append(out, list)
		}
	}
	return out
}

func freeTargets(op *Op, from Type) (out []Type) {
	for _, d := range DTypes {
		to := Type{d, 1}
		switch op {
		case OpCast:
			out = append(out, to)
		case OpWiden:
			if !from.IsBool() && !to.IsBool() && (to.IsFloat() && (from.IsInt() || to.Bits() > from.Bits()) || from.IsInt() && to.IsInt()) {
				out = append(out, to)
			}
		case OpBitcast:
			if to.Bits() == from.Bits() && !to.IsBool() && !from.IsBool() {
				out = append(out, to)
			}
		}
	}
	return out
}

func each(types []Type, f func([]Const)) {
	args := make([]Const, len(types))
	var fill func(k int)
	fill = func(k int) {
		if k == len(types) {
			f(args)
			return
		}
		for _, v := range samples(types[k]) {
			args[k] = v
			fill(k + 1)
		}
	}
	fill(0)
}

func TestMeanings(t *testing.T) {
	inf, nan, minus0 := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		op   *Op
		t    Type
		args []any
		want any
	}{
		{OpMin, F32, []any{inf, nan}, nan}, {OpMin, F32, []any{-inf, nan}, nan}, {OpMin, F32, []any{nan, -inf}, nan},
		{OpMax, F32, []any{inf, nan}, nan}, {OpMax, F64, []any{nan, inf}, nan}, {OpMax, F32, []any{minus0, 0.0}, 0.0},
		{OpMin, F32, []any{0.0, minus0}, minus0}, {OpMaxNum, F32, []any{nan, 3.0}, 3.0}, {OpMinNum, F32, []any{3.0, nan}, 3.0}, {OpMaxNum, F32, []any{nan, nan}, nan},
		{OpPow, F64, []any{2.0, 0.5}, math.Sqrt2}, {OpPow, F32, []any{nan, 0.0}, 1.0}, {OpPow, F32, []any{1.0, nan}, 1.0}, {OpPow, F32, []any{-8.0, 1.0 / 3}, nan},
		{OpPow, F32, []any{0.0, -1.0}, inf}, {OpPow, F32, []any{-2.0, 3.0}, -8.0}, {OpPow, F32, []any{-1.0, inf}, 1.0},
		{OpRem, F32, []any{-7.5, 2.0}, -1.5}, {OpRem, F32, []any{7.5, -2.0}, 1.5}, {OpRem, F32, []any{1.0, 0.0}, nan}, {OpRem, F32, []any{5.0, inf}, 5.0},
		{OpMod, F32, []any{-7.5, 2.0}, 0.5}, {OpMod, F32, []any{7.5, -2.0}, -0.5}, {OpMod, F32, []any{-1.0, inf}, inf}, {OpMod, F32, []any{1.0, 0.0}, nan}, {OpMod, F32, []any{-4.0, 2.0}, 0.0},
		{OpFloorDiv, F32, []any{-7.5, 2.0}, -4.0}, {OpFloorDiv, F32, []any{7.5, 2.0}, 3.0},
		{OpRound, F32, []any{0.5}, 0.0}, {OpRound, F32, []any{1.5}, 2.0}, {OpRound, F32, []any{2.5}, 2.0}, {OpRound, F32, []any{-0.5}, minus0}, {OpRound, F32, []any{nan}, nan},
		{OpTrunc, F32, []any{-1.9}, -1.0}, {OpFloor, F32, []any{-1.1}, -2.0}, {OpCeil, F32, []any{-1.1}, -1.0},
		{OpSign, F32, []any{-3.0}, -1.0}, {OpSign, F32, []any{minus0}, 0.0}, {OpSign, F32, []any{nan}, nan}, {OpSign, F32, []any{inf}, 1.0},
		{OpAtan2, F64, []any{1.0, -1.0}, 3 * math.Pi / 4}, {OpAtan2, F64, []any{0.0, -1.0}, math.Pi}, {OpAtan2, F64, []any{minus0, -1.0}, -math.Pi}, {OpAtan2, F64, []any{0.0, 0.0}, 0.0},
		{OpSqrt, F32, []any{-1.0}, nan}, {OpRsqrt, F32, []any{0.0}, inf}, {OpRsqrt, F32, []any{4.0}, 0.5}, {OpLog, F32, []any{0.0}, -inf}, {OpLog1p, F64, []any{1e-20}, 1e-20}, {OpExpm1, F64, []any{1e-20}, 1e-20},
		{OpExp, F32, []any{-inf}, 0.0}, {OpTanh, F32, []any{inf}, 1.0}, {OpErf, F32, []any{-inf}, -1.0}, {OpErfc, F32, []any{inf}, 0.0},
		{OpDiv, F32, []any{1.0, 0.0}, inf}, {OpDiv, F32, []any{0.0, 0.0}, nan}, {OpAdd, F32, []any{inf, -inf}, nan}, {OpAdd, F32, []any{1.0, 0x1p-25}, 1.0},
		{OpIsNaN, F32, []any{nan}, true}, {OpIsNaN, F32, []any{inf}, false}, {OpIsInf, F32, []any{-inf}, true},
		{OpEq, F32, []any{nan, nan}, false}, {OpNe, F32, []any{nan, nan}, true}, {OpLt, F32, []any{nan, 1.0}, false}, {OpEq, F32, []any{minus0, 0.0}, true},
		{OpDiv, I32, []any{-7, 2}, -3}, {OpRem, I32, []any{-7, 2}, -1}, {OpFloorDiv, I32, []any{-7, 2}, -4}, {OpMod, I32, []any{-7, 2}, 1}, {OpMod, I32, []any{7, -2}, -1}, {OpMod, I32, []any{-6, 2}, 0},
		{OpDiv, I32, []any{1, 0}, 0}, {OpRem, I32, []any{1, 0}, 0}, {OpMod, I32, []any{1, 0}, 0}, {OpDiv, I32, []any{math.MinInt32, -1}, math.MinInt32}, {OpRem, I64, []any{math.MinInt64, -1}, 0}, {OpDiv, I64, []any{math.MinInt64, -1}, math.MinInt64},
		{OpDiv, U32, []any{0xFFFFFFFF, 2}, 0x7FFFFFFF}, {OpSub, U32, []any{0, 1}, 0xFFFFFFFF}, {OpNeg, I32, []any{math.MinInt32}, math.MinInt32}, {OpAbs, I32, []any{math.MinInt32}, math.MinInt32}, {OpAbs, U32, []any{0xFFFFFFFF}, 0xFFFFFFFF},
		{OpMul, I32, []any{1 << 30, 4}, 0}, {OpAdd, I64, []any{math.MaxInt64, 1}, math.MinInt64}, {OpSign, I32, []any{-5}, -1}, {OpSign, U32, []any{0xFFFFFFFF}, 1},
		{OpIPow, I32, []any{3, 4}, 81}, {OpIPow, I32, []any{0, 0}, 1}, {OpIPow, I32, []any{2, 32}, 0}, {OpIPow, I32, []any{-3, 3}, -27}, {OpIPow, I32, []any{2, -1}, 0},
		{OpMin, U64, []any{-1, 1}, 1}, {OpMax, I64, []any{-1, 1}, 1}, {OpLt, U64, []any{-1, 1}, false}, {OpLt, I64, []any{-1, 1}, true}, {OpFMA, I32, []any{1 << 16, 1 << 16, 5}, 5},
		{OpShl, I32, []any{1, 31}, math.MinInt32}, {OpShl, I32, []any{1, 32}, 0}, {OpShr, I32, []any{-8, 1}, -4}, {OpShr, U32, []any{0xFFFFFFFF, 4}, 0x0FFFFFFF}, {OpShr, I32, []any{-8, 40}, 0},
		{OpPopcount, I32, []any{-1}, 32}, {OpPopcount, I64, []any{-1}, 64}, {OpBitXor, I32, []any{-1, 5}, -6}, {OpBitAnd, U32, []any{0xF0F0F0F0, 0xFF}, 0xF0}, {OpBitOr, I64, []any{1, 2}, 3},
		{OpFloor, I32, []any{-3}, -3}, {OpAnd, Bool_, []any{true, false}, false}, {OpOr, Bool_, []any{true, false}, true}, {OpNot, Bool_, []any{false}, true}, {OpMax, Bool_, []any{true, false}, true},
	} {
		args, types := make([]Const, len(c.args)), make([]Type, len(c.args))
		for i, a := range c.args {
			args[i], types[i] = valueOf(a), c.t
		}
		to, err := c.op.ResultType(types)
		require.NoError(t, err)
		got, ok := EvalOp(c.op, to, types, args)
		require.True(t, ok)
		require.Equal(t, valueOf(c.want), got, "%s of %v is %s, expected %v", c.op.Name, c.args, got.Text(to), c.want)
	}
}

func valueOf(v any) Const {
	switch v := v.(type) {
	case int:
		return IntConst(int64(v))
	case float64, bool:
		return constOf(v)
	}
	panic(fmt.Sprintf("%T", v))
}

// Where an operation says that it has no value, it says so for exactly these operands.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		op   *Op
		a, b *Expr
		want bool
	}{
		{OpDiv, Int64(1), Int64(0), true}, {OpDiv, Int64(1), Int64(2), false}, {OpRem, Int64(1), Int64(0), true}, {OpMod, Int64(1), Int64(0), true}, {OpFloorDiv, Int64(0), Int64(0), true},
		{OpShl, NewConst(I32, IntConst(1)), Int64(31), false}, {OpShl, NewConst(I32, IntConst(1)), Int64(32), true}, {OpShr, Int64(1), Int64(63), false}, {OpShr, Int64(1), Int64(-1), true},
		{OpIPow, Int64(2), Int64(-1), true}, {OpIPow, Int64(2), Int64(0), false},
	} {
		bad := c.op.Fault([]*Expr{c.a, c.b})
		require.True(t, bad.IsConst() && bad.Type.IsBool())
		require.Equal(t, c.want, bad.Val.Bool(), "%s of %s and %s", c.op.Name, c.a.Val.Text(I64), c.b.Val.Text(I64))
		require.Equal(t, !c.want, Fold(NewExpr(c.op, c.a.Type, nil, diag.Pos{}, c.a, c.b)).IsConst(), "what has no value is not folded")
	}
	require.Nil(t, OpDiv.Fault([]*Expr{ZeroOf(F32), ZeroOf(F32)}), "floats divide to infinities")
}

// The identity of a monoid changes nothing, in every type that it is used in.
func TestMonoids(t *testing.T) {
	for _, m := range Monoids {
		require.Same(t, m, MonoidByName(m.Name))
		used := 0
		for _, d := range DTypes {
			typ := Type{d, 1}
			if to, err := m.Op.ResultType([]Type{typ, typ}); err != nil || to != typ || typ == U64 {
				continue
			}
			used++
			for _, x := range samples(typ) {
				got, ok := EvalOp(m.Op, typ, []Type{typ, typ}, []Const{m.Identity(typ), x})
				require.True(t, ok)
				if x != FloatConst(math.Copysign(0, -1)) { // 0 + -0 is 0
					require.Equal(t, x, got, "%s in %s", m.Name, typ)
				}
			}
		}
		require.Positive(t, used)
	}
	require.Nil(t, MonoidByName("mean"))
}

func TestConstText(t *testing.T) {
	for _, c := range []struct {
		t    Type
		v    any
		want string
	}{
		{F32, 0.1, "0.1"}, {F64, 0.1, "0.1"}, {F64, float64(float32(0.1)), "0.10000000149011612"}, {F32, 1.0, "1.0"}, {F32, 1e30, "1e+30"}, {F32, math.Copysign(0, -1), "-0.0"},
		{F32, math.Inf(-1), "-inf"}, {F32, math.NaN(), "nan"}, {I32, -5, "-5"}, {U32, 5, "5"}, {Bool_, true, "true"},
	} {
		v := valueOf(c.v)
		if c.t == F32 && c.v == 0.1 {
			v = FloatConst(float64(float32(0.1)))
		}
		require.Equal(t, c.want, v.Text(c.t))
	}
}
