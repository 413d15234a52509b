package simt

import (
	"fmt"
	"math/bits"

	"github.com/gkc-lang/gkc/ir"
)

// WarpSize is the number of lanes of a warp.
const WarpSize = 32

// Lanes holds a value of every lane of a warp.
type Lanes [WarpSize]ir.Const

// EvalWarp computes a warp-wide operation for the lanes in active and leaves the others of out alone. t is the type of the first
// operand. A shuffle from a lane that is not active gives 0: it is a mistake that the simulator reports.
func EvalWarp(op *ir.Op, t ir.Type, active uint32, args []*Lanes, out *Lanes) {
	switch op {
	case OpShfl, OpShflXor, OpShflUp, OpShflDown:
		shuffle(op, active, args[0], args[1], out)
	case OpElect:
		each(active, out, func(lane int) ir.Const { return ir.BoolConst(lane == bits.TrailingZeros32(active)) })
	case OpAny:
		each(active, out, func(int) ir.Const { return ir.BoolConst(vote(active, args[0]) != 0) })
	case OpAll:
		each(active, out, func(int) ir.Const { return ir.BoolConst(vote(active, args[0]) == active) })
	case OpBallot:
		each(active, out, func(int) ir.Const { return ir.IntConst(int64(vote(active, args[0]))) })
	case OpMatch:
		each(active, out, func(lane int) ir.Const { return ir.IntConst(int64(equalLanes(t, active, args[0], lane))) })
	default:
		redux(op, t, active, args[0], out)
	}
}

// ShuffleSource is the lane whose value a shuffle brings to lane; by is its second operand there.
func ShuffleSource(op *ir.Op, lane int, by int64) int {
	at := int64(lane)
	switch op {
	case OpShflXor:
		at ^= by
	case OpShflUp:
		at -= by
	case OpShflDown:
		at += by
	default:
		return int(by & (WarpSize - 1))
	}
	if at < 0 || at >= WarpSize {
		return lane // beyond the warp a lane keeps its own value
	}
	return int(at)
}

func shuffle(op *ir.Op, active uint32, x, by, out *Lanes) {
	in := *x // out may be x
	each(active, out, func(lane int) ir.Const {
		from := ShuffleSource(op, lane, by[lane].Int())
		if active>>from&1 == 0 {
			return ir.Const{}
		}
		return in[from]
	})
}

func each(active uint32, out *Lanes, f func(lane int) ir.Const) {
	var all Lanes
	for m := active; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		all[lane] = f(lane)
	}
	for m := active; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		out[lane] = all[lane]
	}
}

func vote(active uint32, x *Lanes) uint32 {
	var mask uint32
	for lane := range x {
		if active>>lane&1 != 0 && x[lane].Bool() {
			mask |= 1 << lane
		}
	}
	return mask
}

// equalLanes compares patterns, as the instruction does.
func equalLanes(t ir.Type, active uint32, x *Lanes, lane int) uint32 {
	var mask uint32
	want := ir.ToBits(t, x[lane])
	for other := range x {
		if active>>other&1 != 0 && ir.ToBits(t, x[other]) == want {
			mask |= 1 << other
		}
	}
	return mask
}

var reduxOps = map[*ir.Op]*ir.Op{OpReduxAdd: ir.OpAdd, OpReduxMin: ir.OpMin, OpReduxMax: ir.OpMax,
	OpReduxAnd: ir.OpBitAnd, OpReduxOr: ir.OpBitOr, OpReduxXor: ir.OpBitXor}

func redux(op *ir.Op, t ir.Type, active uint32, x, out *Lanes) {
	with, started := reduxOps[op], false
	var acc ir.Const
	for lane := range x {
		switch {
		case active>>lane&1 == 0:
		case !started:
			acc, started = x[lane], true
		default:
			acc, _ = ir.EvalOp(with, t, []ir.Type{t, t}, []ir.Const{acc, x[lane]})
		}
	}
	each(active, out, func(int) ir.Const { return acc })
}

func warpOp(name string, arity int, rule func([]ir.Type) (ir.Type, error)) *ir.Op {
	return &ir.Op{Name: name, Arity: arity, Rule: rule, Cost: ir.CostShared, Where: ir.AtSimt | ir.WarpWide}
}

func ruleShuffle(args []ir.Type) (ir.Type, error) {
	if args[1] != ir.I32 {
		return ir.Type{}, fmt.Errorf("lane of type %s, expected i32", args[1])
	}
	return args[0], nil
}

func ruleVote(result ir.Type) func([]ir.Type) (ir.Type, error) {
	return func(args []ir.Type) (ir.Type, error) {
		if !args[0].IsBool() {
			return ir.Type{}, fmt.Errorf("operand of type %s, expected bool", args[0])
		}
		return result, nil
	}
}

func ruleMatch(args []ir.Type) (ir.Type, error) {
	if b := args[0].Bits(); b != 32 && b != 64 {
		return ir.Type{}, fmt.Errorf("operand of type %s, expected one of 32 or 64 bits", args[0])
	}
	return ir.U32, nil
}

func ruleRedux(args []ir.Type) (ir.Type, error) {
	if args[0] != ir.I32 && args[0] != ir.U32 {
		return ir.Type{}, fmt.Errorf("operand of type %s, expected i32 or u32", args[0])
	}
	return args[0], nil
}
