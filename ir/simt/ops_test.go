package simt

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
)

func f32(x float64) ir.Const { return ir.FloatConst(ir.RoundTo(ir.F32.Elem, x)) }

func eval(t *testing.T, op *ir.Op, args ...any) (ir.Const, ir.Type) {
	t.Helper()
	var types []ir.Type
	var vals []ir.Const
	for i := 0; i < len(args); i += 2 {
		types, vals = append(types, args[i].(ir.Type)), append(vals, args[i+1].(ir.Const))
	}
	to, err := op.ResultType(types)
	require.NoError(t, err)
	v, ok := Eval(op, to, types, vals)
	require.True(t, ok, op.Name)
	return v, to
}

func TestPackedWordsComeApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x, y := f32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30)), f32(rng.NormFloat64())
		for _, elem := range []ir.Type{ir.F16, ir.BF16} {
			pair := ir.Packed(elem.Elem)
			w, to := eval(t, PackOf(pair), ir.F32, x, ir.F32, y)
			assert.Equal(t, pair, to)
			lo, _ := eval(t, OpLo, pair, w)
			hi, _ := eval(t, OpHi, pair, w)
			assert.Equal(t, ir.Convert(elem, ir.F32, x), lo)
			assert.Equal(t, ir.Convert(elem, ir.F32, y), hi)
		}
		for _, elem := range []ir.Type{ir.F8E4M3, ir.F8E5M2} {
			quad := ir.Packed(elem.Elem)
			w, _ := eval(t, PackOf(quad), ir.F32, x, ir.F32, y, ir.F32, y, ir.F32, x)
			for i, want := range []ir.Const{x, y, y, x} {
				got, _ := eval(t, OpPart[i], quad, w)
				assert.Equal(t, ir.Convert(elem, ir.F32, want), got)
			}
		}
	}
	w, _ := eval(t, OpPackI8, ir.I32, ir.IntConst(-1), ir.I32, ir.IntConst(200), ir.I32, ir.IntConst(3), ir.I32, ir.IntConst(-200))
	assert.Equal(t, uint64(0x80037FFF), w.Bits)
}

func TestPackedArithmeticIsElementByElement(t *testing.T) {
	pair := ir.Packed(ir.F16.Elem)
	word := func(lo, hi float64) ir.Const { w, _ := eval(t, OpPackF16, ir.F32, f32(lo), ir.F32, f32(hi)); return w }
	for name, c := range map[string]struct {
		op   *ir.Op
		args []ir.Const
		want ir.Const
	}{
		"add":            {ir.OpAdd, []ir.Const{word(1, 2), word(3, -5)}, word(4, -3)},
		"add overflows":  {ir.OpAdd, []ir.Const{word(60000, 0), word(60000, 0)}, word(math.Inf(1), 0)},
		"max":            {ir.OpMaxNum, []ir.Const{word(1, math.NaN()), word(-3, 5)}, word(1, 5)},
		"fma":            {ir.OpFMA, []ir.Const{word(2, 3), word(4, 5), word(1, 1)}, word(9, 16)},
		"neg keeps zero": {ir.OpNeg, []ir.Const{word(0, 1)}, word(math.Copysign(0, -1), -1)},
	} {
		args := []any{}
		for _, a := range c.args {
			args = append(args, pair, a)
		}
		got, _ := eval(t, c.op, args...)
		assert.Equal(t, c.want, got, name)
	}
}

func TestDescriptors(t *testing.T) {
	d, to := eval(t, OpDescK, ir.U32, ir.IntConst(0x12340))
	assert.Equal(t, ir.U64, to)
	assert.Equal(t, uint64(0x4000004000011234), d.Bits)
	d, _ = eval(t, OpDescMN, ir.U32, ir.IntConst(0x12340), ir.U32, ir.IntConst(8192))
	assert.Equal(t, uint64(0x4000004002001234), d.Bits)
}

func TestPowersOfTwo(t *testing.T) {
	for n, want := range map[int64][2]int64{-5: {1, 1}, 0: {1, 1}, 1: {1, 1}, 2: {2, 2}, 3: {2, 4}, 4: {4, 4}, 1000: {512, 1024}} {
		floor, _ := eval(t, OpPow2Floor, ir.I32, ir.IntConst(n))
		ceil, _ := eval(t, OpPow2Ceil, ir.I64, ir.IntConst(n))
		assert.Equal(t, want, [2]int64{floor.Int(), ceil.Int()}, "%d", n)
	}
}

// The meaning of warp operations, said again lane by lane.
func TestWarpOperations(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		active := rng.Uint32() | 1<<rng.IntN(32)
		var x, by, out Lanes
		for i := range x {
			x[i], by[i], out[i] = ir.IntConst(int64(rng.IntN(7)-3)), ir.IntConst(int64(rng.IntN(32))), ir.IntConst(-99)
		}
		on := func(lane int) bool { return active>>lane&1 != 0 }
		for _, op := range WarpOps {
			in := x
			if op == OpAny || op == OpAll || op == OpBallot {
				for i := range in {
					in[i] = ir.BoolConst(x[i].Int() > 0)
				}
			}
			got := out
			EvalWarp(op, ir.I32, active, []*Lanes{&in, &by}, &got)
			for lane := range got {
				if !on(lane) {
					require.Equal(t, out[lane], got[lane], "%s changes a lane that takes no part", op.Name)
					continue
				}
				require.Equal(t, byHand(op, lane, &in, &by, on), got[lane].Int(), "%s in lane %d of %08x", op.Name, lane, active)
			}
		}
	}
}

func byHand(op *ir.Op, lane int, x, by *Lanes, on func(int) bool) int64 {
	fetch := func(from int, beyond bool) int64 {
		switch {
		case beyond:
			from = lane
		case !on(from):
			return 0
		}
		return x[from].Int()
	}
	n := int(by[lane].Int())
	switch op {
	case OpShfl:
		return fetch(n, false)
	case OpShflXor:
		return fetch(lane^n, false)
	case OpShflUp:
		return fetch(max(lane-n, 0), lane-n < 0)
	case OpShflDown:
		return fetch(min(lane+n, 31), lane+n > 31)
	}
	first, acc, started := -1, int64(0), false
	for other := range x {
		if !on(other) {
			continue
		}
		v, bit := x[other].Int(), int64(1)<<other
		switch {
		case op == OpElect && first < 0:
			first, acc = other, map[bool]int64{true: 1}[other == lane]
		case op == OpAny:
			acc |= v
		case op == OpAll:
			acc = map[bool]int64{true: 1}[(acc == 1 || !started) && v == 1]
		case op == OpBallot && v == 1, op == OpMatch && v == x[lane].Int():
			acc |= bit
		case op == OpReduxAdd:
			acc += v
		case op == OpReduxMin && (!started || v < acc), op == OpReduxMax && (!started || v > acc), op == OpReduxAnd && !started:
			acc = v
		case op == OpReduxAnd:
			acc &= v
		case op == OpReduxOr:
			acc |= v
		case op == OpReduxXor:
			acc ^= v
		}
		started = true
	}
	return acc
}
