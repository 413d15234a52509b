package sim_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// evaluate computes an operation on n operand tuples on the device.
func evaluate(t *testing.T, op *ir.Op, to ir.Type, from []ir.Type, args [][]ir.Const) []ir.Const {
	n := len(args[0])
	b := newBuilder(int64(n+63)/64, 64)
	inputs := map[string]*data.Array{}
	i, letI := b.let("i", global(64))
	at := wide(ir.Name(i))
	var operands []*ir.Expr
	var body []simt.Stmt
	for k, f := range from {
		name := fmt.Sprint("A", k)
		buf := b.array(name, f, simt.Param, int64(n))
		in := data.New(f, n)
		for j, v := range args[k] {
			in.Set(j, v)
		}
		inputs[name] = in
		r, let := b.variable(fmt.Sprint("a", k), f, nil)
		body = append(body, let, b.load(r, buf, at))
		operands = append(operands, ir.Name(r))
	}
	out := b.array("Z", to, simt.Result, int64(n))
	body = append(body, b.store(out, at, ir.NewExpr(op, to, nil, diag.Pos{}, operands...)))
	b.add(letI, b.when(ir.Lt(at, ir.Int64(int64(n))), body...))
	res, err := b.run(t, inputs, sim.Options{})
	require.NoError(t, err, "%s %v", op.Name, from)
	got := make([]ir.Const, n)
	for j := range got {
		got[j] = res.Outputs["Z"].At(j)
	}
	return got
}

var interesting = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, 3, -7.5, 1e-40, 1e-45, 3.4e38, -3.4e38, 65504, 65520, 6e-8, 448, 464, 57344, 61440,
	math.Inf(1), math.Inf(-1), math.NaN(), 2147483647, 2147483648, -2147483649, 9.3e18, 1.0 / 3, 16777217}

// sample draws a value of type t, often a special one.
func sample(r *rand.Rand, t ir.Type) ir.Const {
	switch {
	case t.IsBool():
		return ir.BoolConst(r.IntN(2) == 1)
	case t.IsPacked():
		e := ir.Type{Elem: t.Elem, Pack: 1}
		var w uint64
		for i := range int(t.Pack) {
			w |= ir.ToBits(e, sample(r, e)) << (i * t.Elem.Bits)
		}
		return ir.Const{Bits: w}
	case t.IsFloat():
		x := interesting[r.IntN(len(interesting))]
		if r.IntN(2) == 0 {
			x = r.NormFloat64() * math.Exp(10*r.NormFloat64())
		}
		return ir.FloatConst(ir.RoundTo(t.Elem, x))
	}
	lo, hi := ir.IntRange(t.Elem)
	switch r.IntN(5) {
	case 0:
		return ir.IntConst(lo)
	case 1:
		return ir.IntConst(hi)
	case 2:
		return ir.IntConst(ir.Wrap(t.Elem, int64(r.Uint64())))
	}
	return ir.IntConst(ir.Wrap(t.Elem, int64(r.IntN(80)-40)))
}

// stored is what memory keeps of a value: NaNs are one.
func stored(t ir.Type, c ir.Const) ir.Const { return ir.FromBits(t, ir.ToBits(t, c)) }

var numbers = []ir.Type{ir.F64, ir.F32, ir.I64, ir.I32, ir.U64, ir.U32, ir.Bool_, ir.Packed(ir.F16.Elem), ir.Packed(ir.BF16.Elem)}

// Every operation gives on the device what the table of operations says.
func TestEveryOperationMeansWhatTheTableSays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	done := 0
	for _, op := range ir.Ops {
		if op.Free || op.Rule == nil || op.Where&ir.AtSimt == 0 || op.Where&ir.WarpWide != 0 || op.Arity < 1 || op.Effect != ir.NoEffect {
			continue
		}
		for _, first := range append(numbers, ir.Packed(ir.F8E4M3.Elem), ir.Packed(ir.I8.Elem)) {
			from := make([]ir.Type, op.Arity)
			for i := range from {
				from[i] = first
			}
			if op == ir.OpIf || op == ir.OpSelect {
				from[0] = ir.Bool_
			}
			to, err := op.ResultType(from)
			if err != nil {
				continue
			}
			if _, ok := simt.Eval(op, to, from, make([]ir.Const, len(from))); !ok {
				continue
			}
			done++
			compareWithTable(t, r, op, to, from)
		}
	}
	require.Greater(t, done, 150)
}

func TestEveryConversionMeansWhatTheTableSays(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, from := range ir.DTypes {
		for _, to := range ir.DTypes {
			if from == to && to.Kind == ir.Uint {
				continue // the table saturates as if the highest u64 were that of i64
			}
			compareWithTable(t, r, ir.OpCast, ir.Type{Elem: to, Pack: 1}, []ir.Type{{Elem: from, Pack: 1}})
		}
	}
	for _, c := range [][2]ir.Type{{ir.F32, ir.F16}, {ir.F32, ir.I32}, {ir.F32, ir.I64}, {ir.I64, ir.I32}, {ir.I32, ir.I64}, {ir.U32, ir.I32}, {ir.F64, ir.F32}} {
		compareWithTable(t, r, ir.OpWiden, c[0], []ir.Type{c[1]})
	}
	for _, c := range [][2]ir.Type{{ir.F32, ir.I32}, {ir.U32, ir.F32}, {ir.I64, ir.F64}, {ir.F16, ir.I16}, {ir.Packed(ir.F16.Elem), ir.U32}} {
		compareWithTable(t, r, ir.OpBitcast, c[0], []ir.Type{c[1]})
	}
}

func compareWithTable(t *testing.T, r *rand.Rand, op *ir.Op, to ir.Type, from []ir.Type) {
	const n = 200
	args := make([][]ir.Const, len(from))
	for k := range args {
		for range n {
			args[k] = append(args[k], sample(r, from[k]))
		}
	}
	got := evaluate(t, op, to, from, args)
	for j := range n {
		one := make([]ir.Const, len(from))
		for k := range one {
			one[k] = args[k][j]
		}
		want, ok := simt.Eval(op, to, from, one)
		require.True(t, ok)
		if to.IsFloat() { // widenings are exact in the table, and as wide as the type on a device
			want = ir.FloatConst(ir.RoundTo(to.Elem, want.Float()))
		}
		require.Equal(t, stored(to, want), got[j], "%s %v -> %s of %v", op.Name, from, to, one)
	}
}

// fma rounds once, and so not as the product and the sum of float64 would.
func TestFusedMultiplyAddRoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 2000
	args := make([][]ir.Const, 3)
	for range n {
		x, y := float32(1+r.Float64()), float32(1+r.Float64())
		z := -float32(float64(x)*float64(y)) * float32(math.Ldexp(1+r.Float64(), -r.IntN(60)))
		for k, v := range []float32{x, y, z} {
			args[k] = append(args[k], ir.FloatConst(float64(v)))
		}
	}
	got := evaluate(t, ir.OpFMA, ir.F32, []ir.Type{ir.F32, ir.F32, ir.F32}, args)
	for j := range n {
		exact := new(big.Float).SetPrec(200).Mul(big.NewFloat(args[0][j].Float()), big.NewFloat(args[1][j].Float()))
		exact.Add(exact, big.NewFloat(args[2][j].Float()))
		want, _ := exact.Float32()
		require.Equal(t, float64(want), got[j].Float())
	}
}

func TestStorageOfNarrowFloats(t *testing.T) {
	for _, typ := range []ir.Type{ir.F16, ir.BF16, ir.F8E4M3, ir.F8E5M2} {
		n := 1 << typ.Bits()
		b := newBuilder(int64(n+255)/256, 256)
		x, z := b.array("X", typ, simt.Param, int64(n)), b.array("Z", typ, simt.Result, int64(n))
		v, let := b.variable("v", typ, nil)
		b.add(let, b.load(v, x, wide(global(256))), b.store(z, wide(global(256)), ir.Name(v)))
		in := data.New(typ, n)
		for i := range n {
			in.SetBits(i, uint64(i))
		}
		res, err := b.run(t, map[string]*data.Array{"X": in}, sim.Options{})
		require.NoError(t, err)
		for i := range n {
			want := ir.ToBits(typ, ir.FromBits(typ, uint64(i)))
			require.Equal(t, want, res.Outputs["Z"].Bits(i), "%s pattern %x", typ, i)
		}
	}
}

// lanesPerSecond is the metric of the benchmarks: operations of lanes.
func lanesPerSecond(b *testing.B, k *builder, inputs map[string]*data.Array) {
	var lanes int64
	for b.Loop() {
		res, err := sim.Run(context.Background(), k.m, h200(b), &data.Call{Inputs: inputs}, sim.Options{Workers: 1})
		require.NoError(b, err)
		for _, report := range res.Kernels {
			for _, n := range report.Lanes {
				lanes += n
			}
		}
	}
	b.ReportMetric(float64(lanes)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
}

func BenchmarkVectorAdd(b *testing.B) {
	const n = 1 << 18
	lanesPerSecond(b, vectorAdd(n), map[string]*data.Array{"X": ramp(n), "Y": ramp(n)})
}

func BenchmarkSmall(b *testing.B) {
	lanesPerSecond(b, vectorAdd(64), map[string]*data.Array{"X": ramp(64), "Y": ramp(64)})
}

func BenchmarkBlockReduction(b *testing.B) {
	lanesPerSecond(b, blockSum(512, false), map[string]*data.Array{"X": ramp(256 * 512)})
}

// BenchmarkProduct is the inner loop of a plain matrix product.
func BenchmarkProduct(b *testing.B) {
	const n = 128
	k := newBuilder(n*n/256, 256)
	x, y, z := k.array("X", ir.F32, simt.Param, n*n), k.array("Y", ir.F32, simt.Param, n*n), k.array("Z", ir.F32, simt.Result, n*n)
	g, letG := k.let("g", wide(global(256)))
	row, letRow := k.let("row", ir.Div(ir.Name(g), ir.Int64(n)))
	col, letCol := k.let("col", ir.Rem(ir.Name(g), ir.Int64(n)))
	acc, letAcc := k.variable("acc", ir.F32, f32(0))
	p, letP := k.variable("p", ir.F32, nil)
	q, letQ := k.variable("q", ir.F32, nil)
	j := &simt.Reg{Name: "j", Type: ir.I64}
	k.add(letG, letRow, letCol, letAcc, letP, letQ, &simt.For{Head: k.head(), Var: j, Lo: ir.Int64(0), Hi: ir.Int64(n), Step: 1, Body: []simt.Stmt{
		k.load(p, x, ir.Add(ir.Mul(ir.Name(row), ir.Int64(n)), ir.Name(j))),
		k.load(q, y, ir.Add(ir.Mul(ir.Name(j), ir.Int64(n)), ir.Name(col))),
		k.set(acc, ir.Add(ir.Name(acc), ir.Mul(ir.Name(p), ir.Name(q))))}},
		k.store(z, ir.Name(g), ir.Name(acc)))
	lanesPerSecond(b, k, map[string]*data.Array{"X": ramp(n * n), "Y": ramp(n * n)})
}
