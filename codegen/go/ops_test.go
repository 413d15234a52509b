package gogen

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/simt"
)

const samples = 512 // values that each operation is tried on

// trial is an operation on registers, with random values in them.
type trial struct {
	name   string
	op     *ir.Op
	result ir.Type
	from   []ir.Type
	inputs []*data.Array
}

// module loads the operands of a thread, applies the operation and stores the result.
func (c *trial) module() *simt.Module {
	m := &simt.Module{Header: simt.Header{Name: "trial"}}
	k := &simt.Kernel{Name: "trial", Launch: simt.Launch{Grid: ir.Int64(samples / 64), Threads: 64}}
	array := func(name string, t ir.Type, role simt.Role) *simt.Buffer {
		a := &simt.Array{Name: name, Type: t, Extents: []*ir.Expr{ir.Int64(samples)}, Role: role}
		m.Arrays = append(m.Arrays, a)
		b := &simt.Buffer{Name: name, Type: t, Array: a}
		k.Global = append(k.Global, b)
		return b
	}
	at := ir.Add(ir.Mul(ir.Widen(ir.I64, ir.Name(simt.Cta)), ir.Int64(64)), ir.Widen(ir.I64, ir.Name(simt.Tid)))
	var args []*ir.Expr
	for i, t := range c.from {
		r := &simt.Reg{Name: fmt.Sprintf("x%d", i), Type: t, Mutable: true}
		k.Body = append(k.Body, &simt.Let{Reg: r}, &simt.Load{To: simt.Slice{Reg: r, Len: 1}, From: simt.Mem{Buf: array(fmt.Sprintf("in%d", i), t, simt.Param), At: at}})
		args = append(args, ir.Name(r))
	}
	out := &simt.Reg{Name: "out", Type: c.result}
	value := ir.NewExpr(c.op, c.result, nil, ir.True.Pos, args...)
	k.Body = append(k.Body, &simt.Let{Reg: out, Value: value}, &simt.Store{To: simt.Mem{Buf: array("y", c.result, simt.Result), At: at}, From: []*ir.Expr{ir.Name(out)}})
	m.Kernels = []*simt.Kernel{k}
	return m
}

func (c *trial) call() *data.Call {
	call := &data.Call{Scalars: map[string]ir.Const{}, Inputs: map[string]*data.Array{}}
	for i, in := range c.inputs {
		call.Inputs[fmt.Sprintf("in%d", i)] = in
	}
	return call
}

// randomArray mixes ordinary values, special ones and random patterns.
func randomArray(r *rand.Rand, t ir.Type) *data.Array {
	a := data.New(t, samples)
	for i := range samples {
		switch pick := r.IntN(4); {
		case t.IsBool():
			a.Set(i, ir.BoolConst(pick&1 != 0))
		case t.IsPacked():
			a.SetBits(i, r.Uint64())
		case t.IsFloat() && pick == 0:
			special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, 0.5, 2.5, -3.5, 1e-40, 448, 65504, 3e38}
			a.Set(i, ir.FloatConst(ir.RoundTo(t.Elem, special[r.IntN(len(special))])))
		case t.IsFloat() && pick < 3:
			a.Set(i, ir.FloatConst(ir.RoundTo(t.Elem, r.NormFloat64()*8)))
		case t.IsInt() && pick < 2:
			a.Set(i, ir.IntConst(ir.Wrap(t.Elem, int64(r.IntN(80)-15))))
		default:
			a.Set(i, ir.FromBits(t, r.Uint64()>>(64-t.Bits()))) // NaN has one pattern
		}
	}
	return a
}

var everyType = func() (out []ir.Type) {
	for _, d := range ir.DTypes {
		out = append(out, ir.Type{Elem: d, Pack: 1})
	}
	for _, t := range []ir.Type{ir.F16, ir.BF16, ir.F8E4M3, ir.F8E5M2, ir.I8, ir.U8} {
		out = append(out, ir.Packed(t.Elem))
	}
	return out
}()

// trials lists every operation on every type that it takes, and every conversion.
func trials() (out []*trial) {
	add := func(op *ir.Op, result ir.Type, from ...ir.Type) {
		r := rand.New(rand.NewPCG(uint64(len(out)), 7))
		c := &trial{name: fmt.Sprintf("%s %v %s", op.Name, from, result), op: op, result: result, from: from}
		for _, t := range from {
			c.inputs = append(c.inputs, randomArray(r, t))
		}
		out = append(out, c)
	}
	for _, op := range ir.Ops {
		if op.Free || op.Rule == nil || op.Where&ir.WarpWide != 0 || len(op.Go) == 0 {
			continue
		}
		for _, t := range everyType {
			from := operandTypes(op, t)
			result, err := op.ResultType(from)
			zeros := make([]ir.Const, len(from))
			if err != nil {
				continue
			}
			if _, has := simt.Eval(op, result, from, zeros); has {
				add(op, result, from...)
			}
		}
	}
	for _, from := range everyType {
		for _, to := range everyType {
			if from.IsPacked() || to.IsPacked() {
				continue
			}
			add(ir.OpCast, to, from)
			if from.Bits() == to.Bits() && from != to {
				add(ir.OpBitcast, to, from)
			}
		}
	}
	return out
}

func operandTypes(op *ir.Op, t ir.Type) []ir.Type {
	n := op.Arity
	if op == ir.OpRand {
		n, t = 6, ir.I64
	}
	from := make([]ir.Type, n)
	for i := range from {
		from[i] = t
	}
	if op == ir.OpIf || op == ir.OpSelect {
		from[0] = ir.Bool_
	}
	if op == ir.OpShl || op == ir.OpShr {
		from[1] = ir.I32
	}
	return from
}

// TestEveryOperationMeansWhatTheTableSays runs each operation as Go on random values.
func TestEveryOperationMeansWhatTheTableSays(t *testing.T) {
	all := trials()
	require.Greater(t, len(all), 350)
	jobs := make([]Job, len(all))
	for i, c := range all {
		jobs[i] = Job{c.module(), c.call()}
	}
	outcomes, err := RunBatch(context.Background(), jobs)
	require.NoError(t, err)
	for i, c := range all {
		if assert.NoError(t, outcomes[i].Err, c.name) {
			c.compare(t, outcomes[i].Results["y"])
		}
	}
}

func (c *trial) compare(t *testing.T, got *data.Array) {
	var bad []string
	for i := range samples {
		args := make([]ir.Const, len(c.from))
		for j, in := range c.inputs {
			args[j] = in.At(i)
		}
		want, _ := simt.Eval(c.op, c.result, c.from, args)
		if g := got.At(i); !sameValue(c.result, g, want) {
			bad = append(bad, fmt.Sprintf("%v gives %s, expected %s", texts(c.from, args), g.Text(c.result), want.Text(c.result)))
		}
	}
	assert.Empty(t, bad, "%s: %d wrong\n%s", c.name, len(bad), strings.Join(bad[:min(3, len(bad))], "\n"))
}

func texts(types []ir.Type, list []ir.Const) (out []string) {
	for i, c := range list {
		out = append(out, c.Text(types[i]))
	}
	return out
}

// sameValue compares bits, all NaNs being one, also those in words.
func sameValue(t ir.Type, a, b ir.Const) bool {
	if t.IsPacked() {
		elem := ir.Type{Elem: t.Elem, Pack: 1}
		for i := range int(t.Pack) {
			if !sameValue(elem, ir.FromBits(elem, a.Bits>>(i*elem.Bits())&(1<<elem.Bits()-1)), ir.FromBits(elem, b.Bits>>(i*elem.Bits())&(1<<elem.Bits()-1))) {
				return false
			}
		}
		return true
	}
	if !t.IsFloat() {
		return a == b
	}
	x, y := a.Float(), b.Float()
	return a == b || x != x && y != y
}
