package text_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/text"
)

// types are all there are, packed words too.
var types = func() (out []ir.Type) {
	for _, d := range ir.DTypes {
		t, _ := ir.TypeByName(d.Name)
		out = append(out, t)
		if d.Bits < 32 && t != ir.Bool_ {
			out = append(out, ir.Packed(d))
		}
	}
	return out
}()

// names holds a scalar of each type: x_f32, x_f16x2, …
var names = func() map[string]*ir.Expr {
	out := map[string]*ir.Expr{}
	for _, t := range types {
		s := &ir.Scalar{Name: "x_" + t.String(), Type: t}
		out[s.Name] = ir.Name(s)
	}
	return out
}()

func write(e *ir.Expr, want ir.Type) string {
	var p text.Printer
	p.Expr(e, want)
	return p.String()
}

func read(src string, want ir.Type) (e *ir.Expr, errs diag.List) {
	p, errs := syntax.New(src, syntax.IR)
	r := &text.Reader{Name: func(name string) *ir.Expr { return names[name] }}
	errs.Add(p.Catch(func() {
		n := p.Expr()
		if p.Peek().Kind != syntax.End {
			p.Expected("the end")
		}
		e = r.Expr(n, want)
	}))
	return e, errs
}

// maker makes random expressions.
type maker struct{ *rand.Rand }

// shape is an operation with the types of its operands.
type shape struct {
	op   *ir.Op
	args []ir.Type
}

// shapes lists, by result type, what an expression can be made of.
var shapes = func() map[ir.Type][]shape {
	out := map[ir.Type][]shape{}
	add := func(op *ir.Op, args ...ir.Type) {
		if t, err := op.ResultType(args); err == nil {
			out[t] = append(out[t], shape{op, args})
		}
	}
	for _, op := range ir.Ops {
		for _, t := range types {
			switch {
			case op == ir.OpRand:
				add(op, t, ir.I64, ir.I64)
			case op.Free: // the result's type is free: see conversion
			case op == ir.OpShl || op == ir.OpShr:
				add(op, t, ir.I32)
				add(op, t, ir.I64)
				add(op, t, ir.U32)
			case op == ir.OpIf || op == ir.OpSelect:
				add(op, ir.Bool_, t, t)
			default:
				add(op, []ir.Type{t, t, t}[:op.Arity]...)
			}
		}
	}
	return out
}()

func (m maker) expr(t ir.Type, depth int) *ir.Expr {
	switch {
	case depth == 0 || m.IntN(8) == 0:
		return m.leaf(t)
	case m.IntN(5) == 0 || len(shapes[t]) == 0:
		return m.conversion(t, depth)
	}
	s := shapes[t][m.IntN(len(shapes[t]))]
	args := make([]*ir.Expr, len(s.args))
	for i, a := range s.args {
		args[i] = m.expr(a, depth-1)
	}
	return ir.Fold(ir.NewExpr(s.op, t, nil, diag.Pos{}, args...))
}

func (m maker) conversion(t ir.Type, depth int) *ir.Expr {
	from := types[m.IntN(len(types))]
	x := m.expr(from, depth-1)
	switch {
	case !from.IsBool() && !t.IsBool() && from.Bits() == t.Bits() && m.IntN(2) == 0:
		return ir.Bitcast(t, x)
	case from.IsPacked() || t.IsPacked():
		return m.leaf(t)
	case !from.IsBool() && !t.IsBool() && (t.IsFloat() || !from.IsFloat()) && m.IntN(2) == 0:
		return ir.Widen(t, x)
	}
	return ir.Cast(t, x)
}

func (m maker) leaf(t ir.Type) *ir.Expr {
	if m.IntN(2) == 0 {
		return names["x_"+t.String()]
	}
	return ir.NewConst(t, m.constant(t))
}

func (m maker) constant(t ir.Type) ir.Const {
	switch {
	case t.IsPacked():
		return ir.Const{Bits: uint64(m.Uint32())}
	case t.IsBool():
		return ir.BoolConst(m.IntN(2) == 0)
	case t.IsFloat():
		special := []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1e-45, -5e-324, 1e300, 65504, 448, math.Inf(1), math.Inf(-1), math.NaN(), m.NormFloat64()}
		return ir.FloatConst(ir.RoundTo(t.Elem, special[m.IntN(len(special))]))
	}
	special := []int64{0, 1, -1, 2, 7, 127, -128, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, int64(m.Uint64())}
	return ir.IntConst(ir.Wrap(t.Elem, special[m.IntN(len(special))]))
}

func survives(e *ir.Expr, want ir.Type) bool {
	back, errs := read(write(e, want), want)
	return len(errs) == 0 && ir.Equal(e, back)
}

// culprit is the first expression inside e that does not survive, and what it is read for.
func culprit(e *ir.Expr, want ir.Type) (*ir.Expr, ir.Type) {
	found := false
	out := e
	ir.Walk(e, func(x *ir.Expr) {
		for _, w := range []ir.Type{{}, x.Type} {
			if !found && !survives(x, w) {
				out, want, found = x, w, true
			}
		}
	})
	return out, want
}

// TestRoundTrip reads back what was written: every operation, on every type, with numbers and names at every place.
func TestRoundTrip(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(1, 2))}
	used := map[*ir.Op]bool{}
	for range 20_000 {
		ty := types[m.IntN(len(types))]
		e := m.expr(ty, 1+m.IntN(5))
		ir.Walk(e, func(x *ir.Expr) { used[x.Op] = true })
		for _, want := range []ir.Type{ty, {}} {
			if !survives(e, want) {
				e, want := culprit(e, want)
				src := write(e, want)
				back, errs := read(src, want)
				require.Empty(t, errs, src)
				require.Fail(t, "reads back as another expression", "%s\n%s", src, write(back, want))
			}
		}
	}
	for _, op := range ir.Ops {
		assert.True(t, used[op], "%s is never made", op)
	}
}

func TestWrite(t *testing.T) {
	x, y, b, n := names["x_f32"], names["x_f32"], names["x_bool"], names["x_i64"]
	c := func(t ir.Type, v int64) *ir.Expr { return ir.NewConst(t, ir.IntConst(v)) }
	f := func(v float64) *ir.Expr { return ir.NewConst(ir.F32, ir.FloatConst(v)) }
	for _, k := range []struct {
		e    *ir.Expr
		want string
	}{
		{ir.Add(x, ir.Mul(y, f(2))), "x_f32 + x_f32 * 2.0"},
		{ir.Mul(ir.Add(x, y), f(-2)), "(x_f32 + x_f32) * (-2.0)"},
		{ir.Sub(x, ir.Sub(y, x)), "x_f32 - (x_f32 - x_f32)"},
		{ir.Neg(ir.Neg(x)), "--x_f32"},
		{ir.Not(ir.And(b, b)), "!(x_bool && x_bool)"},
		{ir.If(ir.Lt(n, c(ir.I64, 3)), x, f(0)), "if x_i64 < 3 { x_f32 } else { 0.0 }"},
		{ir.Div(c(ir.I64, 1), c(ir.I64, 0)), "1 / 0"},
		{ir.Eq(ir.Eq(n, n), b), "(x_i64 == x_i64) == x_bool"},
		{ir.Widen(ir.F32, names["x_f16"]), "widen.f32(x_f16)"},
		{ir.Cast(ir.F16, x), "f16(x_f32)"},
		{ir.Apply(ir.OpMax, x, f(math.Inf(-1))), "max(x_f32, -inf)"},
		{ir.Apply(ir.OpShl, n, c(ir.I32, 2)), "x_i64 << i32(2)"},
	} {
		assert.Equal(t, k.want, write(k.e, k.e.Type))
	}
	assert.Equal(t, "i64(1) / i64(0)", write(ir.Div(c(ir.I64, 1), c(ir.I64, 0)), ir.Type{}))
}

func TestReadMistakes(t *testing.T) {
	for _, c := range []struct {
		src  string
		want ir.Type
		text string
	}{
		{"x_f32 + x_i64", ir.Type{}, "1:1: error: add: operands of different types f32 and i64 [ir]"},
		{"x_f16 + x_f16", ir.Type{}, "1:1: error: add: operand of type f16, expected a number of at least 32 bits [ir]"},
		{"x_f32", ir.I64, "1:1: error: x_f32 is f32, expected i64 [ir]"},
		{"y", ir.Type{}, "1:1: error: unknown name y [ir]"},
		{"frob(x_f32)", ir.Type{}, "1:1: error: unknown operation frob [ir]"},
		{"cast(x_f32)", ir.Type{}, "1:1: error: unknown operation cast [ir]"},
		{"fma(x_f32, x_f32)", ir.Type{}, "1:1: error: fma takes 3 operands, not 2 [ir]"},
		{"f32(x_f32, x_f32)", ir.Type{}, "1:1: error: f32 takes one operand, not 2 [ir]"},
		{"bitcast.f32(x_f16)", ir.Type{}, "1:1: error: no bitcast from f16 to f32 [ir]"},
		{"x_f32[x_i64]", ir.Type{}, "1:1: error: x_f32[…] has no meaning here [ir]"},
		{"300", ir.U8, "1:1: error: 300 does not fit u8 [ir]"},
		{"-1", ir.U64, "1:1: error: -1 does not fit u64 [ir]"},
		{"9223372036854775808", ir.I64, "1:1: error: 9223372036854775808 does not fit i64 [ir]"},
		{"1.5", ir.I64, "1:1: error: the number 1.5 where a value of type i64 is expected [ir]"},
		{"true", ir.I64, "1:1: error: true where a value of type i64 is expected [ir]"},
		{"1", ir.Bool_, "1:1: error: 1 where a value of type bool is expected [ir]"},
		{"x_f32 ** x_f32", ir.Type{}, "1:1: error: unknown operator ** [ir]"},
		{"x_f32 +", ir.Type{}, "1:8: error: expected an expression, found the end of the text [syntax]"},
		{"if x_f32 { 1 } else { 2 }", ir.I64, "1:1: error: if: condition of type f32, expected bool [ir]"},
		{"0x1ffffffff", ir.Packed(ir.F16.Elem), "1:1: error: 0x1ffffffff does not fit f16x2 [ir]"},
		{"widen.f16x2(x_f32)", ir.Type{}, "1:1: error: no widen from f32 to f16x2 [ir]"},
		{"widen.i32(x_f32)", ir.Type{}, "1:1: error: no widen from f32 to i32 [ir]"},
		{"bitcast.bool(x_i8)", ir.Type{}, "1:1: error: no bitcast from i8 to bool [ir]"},
		{"f16x2(x_f32)", ir.Type{}, "1:1: error: no cast from f32 to f16x2 [ir]"},
	} {
		_, errs := read(c.src, c.want)
		assert.Equal(t, c.text, errs.Error(), c.src)
	}
}

func FuzzReadExpr(f *testing.F) {
	m := maker{rand.New(rand.NewPCG(3, 4))}
	for range 50 {
		f.Add(write(m.expr(types[m.IntN(len(types))], 4), ir.Type{}))
	}
	f.Fuzz(func(t *testing.T, src string) {
		e, errs := read(src, ir.Type{})
		if len(errs) > 0 {
			return
		}
		out := write(e, ir.Type{})
		back, errs := read(out, ir.Type{})
		require.Empty(t, errs, "%s\n%s", src, out)
		require.True(t, ir.Equal(e, back), "%s\n%s\n%s", src, out, write(back, ir.Type{}))
	})
}

func BenchmarkRead(b *testing.B) {
	m := maker{rand.New(rand.NewPCG(5, 6))}
	var list []string
	size := 0
	for range 200 {
		s := write(m.expr(ir.F32, 5), ir.F32)
		list = append(list, s)
		size += len(s)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, s := range list {
			_, errs := read(s, ir.F32)
			require.Empty(b, errs, strings.TrimSpace(s))
		}
	}
}
