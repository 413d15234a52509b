package torch_test

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// generator makes random expressions that a launch may have.
type generator struct {
	*rand.Rand
	scalars []*ir.Scalar
}

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

// value is a value of a type: small, at the edges, or any.
func (g *generator) value(t ir.Type) ir.Const {
	switch {
	case t.IsBool():
		return ir.BoolConst(g.IntN(2) == 0)
	case t.IsFloat():
		x := pick(g, []float64{0, math.Copysign(0, -1), 1, -1.5, 1e-30, 3e38, math.Inf(1), math.NaN(), g.NormFloat64(), 1e6 * g.NormFloat64()})
		return ir.FloatConst(ir.RoundTo(t.Elem, x))
	}
	lo, hi := ir.IntRange(t.Elem)
	return ir.IntConst(ir.Wrap(t.Elem, pick(g, []int64{0, 1, 2, -1, -7, lo, hi, g.Int64N(100), g.Int64N(1 << 20), int64(g.Uint64())})))
}

var (
	integerOps = []*ir.Op{ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpDiv, ir.OpRem, ir.OpFloorDiv, ir.OpMod, ir.OpMin, ir.OpMax, ir.OpBitAnd, ir.OpBitOr, ir.OpBitXor, ir.OpShl, ir.OpShr, ir.OpIPow}
	integerOne = []*ir.Op{ir.OpNeg, ir.OpAbs, ir.OpSign, ir.OpPopcount, simt.OpPow2Floor, simt.OpPow2Ceil}
	floatOps   = []*ir.Op{ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpDiv, ir.OpMin, ir.OpMax}
	floatOne   = []*ir.Op{ir.OpNeg, ir.OpAbs, ir.OpSqrt, ir.OpFloor, ir.OpCeil, ir.OpRound, ir.OpTrunc}
	compares   = []*ir.Op{ir.OpEq, ir.OpNe, ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe}
	hostTypes  = []ir.Type{ir.I64, ir.I32, ir.U32, ir.F32, ir.F64}
)

func (g *generator) expr(t ir.Type, depth int) *ir.Expr {
	if depth == 0 || g.IntN(8) == 0 {
		return g.leaf(t)
	}
	again := func() *ir.Expr { return g.expr(t, depth-1) }
	op := func(o *ir.Op, args ...*ir.Expr) *ir.Expr { return &ir.Expr{Op: o, Type: t, Args: args} }
	switch n := g.IntN(10); {
	case n == 0:
		return op(ir.OpSelect, g.expr(ir.Bool_, depth-1), again(), again())
	case n == 1 && !t.IsBool():
		return op(ir.OpCast, g.expr(pick(g, append(hostTypes, ir.Bool_)), depth-1))
	case n == 2 && t == ir.I64:
		return op(ir.OpWiden, g.expr(ir.I32, depth-1))
	case n == 2 && t == ir.F64:
		return op(ir.OpWiden, g.expr(pick(g, []ir.Type{ir.F32, ir.I64}), depth-1))
	case t.IsBool() && n < 4:
		return op(pick(g, []*ir.Op{ir.OpAnd, ir.OpOr}), again(), again())
	case t.IsBool() && n == 4:
		return op(ir.OpNot, again())
	case t.IsBool():
		from := pick(g, hostTypes)
		return op(pick(g, compares), g.expr(from, depth-1), g.expr(from, depth-1))
	case t.IsInt() && n < 5:
		return op(pick(g, integerOne), again())
	case t.IsInt():
		return op(pick(g, integerOps), again(), again())
	case n < 5:
		return op(pick(g, floatOne), again())
	}
	return op(pick(g, floatOps), again(), again())
}

func (g *generator) leaf(t ir.Type) *ir.Expr {
	var named []*ir.Scalar
	for _, s := range g.scalars {
		if s.Type == t {
			named = append(named, s)
		}
	}
	if len(named) > 0 && g.IntN(3) > 0 {
		return ir.Name(pick(g, named))
	}
	return ir.NewConst(t, g.value(t))
}

// total is the value of an expression whose operations are total, as those of simt are.
func total(e *ir.Expr, values map[ir.Ref]ir.Const) ir.Const {
	switch e.Op {
	case ir.OpConst:
		return e.Val
	case ir.OpName:
		return values[e.Ref]
	}
	args, types := make([]ir.Const, len(e.Args)), make([]ir.Type, len(e.Args))
	for i, a := range e.Args {
		args[i], types[i] = total(a, values), a.Type
	}
	v, ok := ir.EvalOp(e.Op, e.Type, types, args)
	if !ok {
		panic("no meaning of " + e.Op.Name)
	}
	return v
}

// shown is a value as the test's script prints it.
func shown(t ir.Type, v ir.Const) string {
	switch {
	case t.IsBool() && v.Bool():
		return "True"
	case t.IsBool():
		return "False"
	case t.IsInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.Float() != v.Float():
		return "nan"
	}
	return hex.EncodeToString(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v.Float())))
}
