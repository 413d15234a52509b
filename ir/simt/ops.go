package simt

import (
	"fmt"
	"math/bits"

	"github.com/gkc-lang/gkc/ir"
)

// OpElem is an element of a register array: Ref is the *Reg, Args[0] the subscript.
var OpElem = &ir.Op{Name: "elem", Arity: 1, Free: true, Where: ir.AtSimt}

// OpAddr is the 32-bit shared-memory address of element Args[0] of the *Buffer in Ref.
var OpAddr = &ir.Op{Name: "addr", Arity: 1, Free: true, Where: ir.AtSimt}

// Packed words. Arithmetic on them (add, max, fma …) happens element by element: Eval.
var (
	OpPackF16  = pack(ir.F16)
	OpPackBF16 = pack(ir.BF16)
	OpPackE4M3 = pack(ir.F8E4M3)
	OpPackE5M2 = pack(ir.F8E5M2)
	OpPackI8   = pack(ir.I8)
	OpPackU8   = pack(ir.U8)
	// Lo and Hi are the elements of a pair, OpPart those of a word of four, in the type that computes with them.
	OpLo   = part("lo", 2, 0)
	OpHi   = part("hi", 2, 1)
	OpPart = [4]*ir.Op{part("part.0", 4, 0), part("part.1", 4, 1), part("part.2", 4, 2), part("part.3", 4, 3)}
)

// Addresses, clocks, and whole numbers that only launches compute with.
var (
	// DescK describes a shared tile of 128-byte rows of K, swizzled, to the matrix unit; DescMN one of 128-byte rows along M or N,
	// whose next 64 elements begin Args[1] bytes on. Both take addresses, as Addr gives them.
	OpDescK  = &ir.Op{Name: "desc.k", Arity: 1, Rule: ruleU32(ir.U64), Cost: ir.CostALU, Where: ir.AtSimt, Mean: ir.Mean{Any: descK}}
	OpDescMN = &ir.Op{Name: "desc.mn", Arity: 2, Rule: ruleU32(ir.U64), Cost: ir.CostALU, Where: ir.AtSimt, Mean: ir.Mean{Any: descMN}}
	// Pin is its operand, hidden from the target's compiler, which can move no computation across it.
	OpPin = &ir.Op{Name: "pin", Arity: 1, Rule: ruleFirst, Cost: ir.CostFree, Where: ir.AtSimt, Effect: ir.Opaque, Mean: ir.Mean{Any: first}}
	// Clock counts cycles of the multiprocessor.
	OpClock = &ir.Op{Name: "clock", Arity: 0, Rule: ruleResult(ir.U32), Cost: ir.CostALU, Where: ir.AtSimt, Effect: ir.Clock}
	// Pow2Floor is the largest power of two that is not above its operand, Pow2Ceil the smallest that is not below; both are at
	// least 1.
	OpPow2Floor = &ir.Op{Name: "pow2floor", Arity: 1, Rule: ruleInteger, Cost: ir.CostALU, Where: ir.AtSimt, Mean: ir.Mean{I1: pow2Floor}}
	OpPow2Ceil  = &ir.Op{Name: "pow2ceil", Arity: 1, Rule: ruleInteger, Cost: ir.CostALU, Where: ir.AtSimt, Mean: ir.Mean{I1: pow2Ceil}}
)

// Operations of a warp: all its active lanes take part. They stand only as the root of a Let or a Set. EvalWarp is their meaning.
var (
	OpShfl     = warpOp("shfl", 2, ruleShuffle)
	OpShflXor  = warpOp("shfl.xor", 2, ruleShuffle)
	OpShflUp   = warpOp("shfl.up", 2, ruleShuffle)
	OpShflDown = warpOp("shfl.down", 2, ruleShuffle)
	OpElect    = warpOp("elect", 0, ruleResult(ir.Bool_))
	OpAny      = warpOp("any", 1, ruleVote(ir.Bool_))
	OpAll      = warpOp("all", 1, ruleVote(ir.Bool_))
	OpBallot   = warpOp("ballot", 1, ruleVote(ir.U32))
	OpMatch    = warpOp("match", 1, ruleMatch)
	OpReduxAdd = warpOp("redux.add", 1, ruleRedux)
	OpReduxMin = warpOp("redux.min", 1, ruleRedux)
	OpReduxMax = warpOp("redux.max", 1, ruleRedux)
	OpReduxAnd = warpOp("redux.and", 1, ruleRedux)
	OpReduxOr  = warpOp("redux.or", 1, ruleRedux)
	OpReduxXor = warpOp("redux.xor", 1, ruleRedux)
)

// WarpOps lists the operations of a warp.
var WarpOps = []*ir.Op{OpShfl, OpShflXor, OpShflUp, OpShflDown, OpElect, OpAny, OpAll, OpBallot, OpMatch,
	OpReduxAdd, OpReduxMin, OpReduxMax, OpReduxAnd, OpReduxOr, OpReduxXor}

func init() {
	ir.Register(OpPackF16, OpPackBF16, OpPackE4M3, OpPackE5M2, OpPackI8, OpPackU8, OpLo, OpHi,
		OpAddr, OpDescK, OpDescMN, OpPin, OpClock, OpPow2Floor, OpPow2Ceil)
	ir.Register(OpPart[:]...)
	ir.Register(WarpOps...)
}

// PackOf is the operation that packs numbers into words of type t; nil if there is none.
func PackOf(t ir.Type) *ir.Op { return ir.OpByName("pack." + t.String()) }

// Elem makes an element of a register array.
func Elem(r *Reg, at *ir.Expr) *ir.Expr { return ir.NewExpr(OpElem, r.Type, r, at.Pos, at) }

// Addr makes the shared-memory address of an element of a buffer.
func Addr(b *Buffer, at *ir.Expr) *ir.Expr { return ir.NewExpr(OpAddr, ir.U32, b, at.Pos, at) }

// pack is pack.TYPE(e0, e1 …): numbers of the type that computes with the elements, lowest first, converted as a cast does.
func pack(elem ir.Type) *ir.Op {
	t := ir.Packed(elem.Elem)
	return &ir.Op{Name: "pack." + t.String(), Arity: int(t.Pack), Cost: ir.CostConvert, Where: ir.AtSimt,
		Rule: func(args []ir.Type) (ir.Type, error) {
			for _, a := range args {
				if a != computed(t) {
					return ir.Type{}, fmt.Errorf("operand of type %s, expected %s", a, computed(t))
				}
			}
			return t, nil
		},
		Mean: ir.Mean{Any: func(to ir.Type, from []ir.Type, args []ir.Const) ir.Const { return packParts(to, from[0], args) }}}
}

// computed is the type in which arithmetic on the elements of t happens.
func computed(t ir.Type) ir.Type { return ir.Type{Elem: t.Elem.Computed(), Pack: 1} }

func packParts(to, from ir.Type, parts []ir.Const) ir.Const {
	elem := ir.Type{Elem: to.Elem, Pack: 1}
	var w uint64
	for i, x := range parts {
		w |= ir.ToBits(elem, ir.Convert(elem, from, x)) << (i * to.Elem.Bits)
	}
	return ir.Const{Bits: w}
}

// partOf is element i of a packed word, as a value of the computed type: every narrow value is one.
func partOf(t ir.Type, w ir.Const, i int) ir.Const {
	mask := uint64(1)<<t.Elem.Bits - 1
	return ir.FromBits(ir.Type{Elem: t.Elem, Pack: 1}, w.Bits>>(i*t.Elem.Bits)&mask)
}

func part(name string, pack int8, i int) *ir.Op {
	return &ir.Op{Name: name, Arity: 1, Cost: ir.CostConvert, Where: ir.AtSimt,
		Rule: func(args []ir.Type) (ir.Type, error) {
			if args[0].Pack != pack {
				return ir.Type{}, fmt.Errorf("operand of type %s, expected a word of %d elements", args[0], pack)
			}
			return computed(args[0]), nil
		},
		Mean: ir.Mean{Any: func(_ ir.Type, from []ir.Type, args []ir.Const) ir.Const { return partOf(from[0], args[0], i) }}}
}

// Eval computes any operation that is not warp-wide: ir.EvalOp, and element by element on packed words.
func Eval(op *ir.Op, to ir.Type, from []ir.Type, args []ir.Const) (out ir.Const, ok bool) {
	if op.Mean.Any != nil || !to.IsPacked() {
		return ir.EvalOp(op, to, from, args)
	}
	t := computed(to)
	types, parts, result := make([]ir.Type, len(args)), make([]ir.Const, len(args)), make([]ir.Const, to.Pack)
	for i := range result {
		for j, a := range args {
			types[j], parts[j] = t, partOf(to, a, i)
		}
		if result[i], ok = ir.EvalOp(op, t, types, parts); !ok {
			return ir.Const{}, false
		}
	}
	return packParts(to, t, result), true
}

const (
	descKConst  = 0x4000004000010000 // swizzle 128, 1024 bytes from 8 rows to the next 8
	descMNConst = 0x4000004000000000
	descAddr    = 0x3FFFF
)

func descK(_ ir.Type, _ []ir.Type, args []ir.Const) ir.Const {
	return ir.Const{Bits: descKConst | args[0].Bits&descAddr>>4}
}

func descMN(_ ir.Type, _ []ir.Type, args []ir.Const) ir.Const {
	return ir.Const{Bits: descMNConst | args[1].Bits&descAddr>>4<<16 | args[0].Bits&descAddr>>4}
}

func first(_ ir.Type, _ []ir.Type, args []ir.Const) ir.Const { return args[0] }

func pow2Floor(_ *ir.DType, a int64) int64 { return 1 << (bits.Len64(uint64(max(a, 1))) - 1) }

func pow2Ceil(_ *ir.DType, a int64) int64 {
	return int64(uint64(1) << bits.Len64(uint64(max(a, 1))-1))
}

// Type rules.

func ruleResult(t ir.Type) func([]ir.Type) (ir.Type, error) {
	return func([]ir.Type) (ir.Type, error) { return t, nil }
}

func ruleFirst(args []ir.Type) (ir.Type, error) { return args[0], nil }

func ruleU32(result ir.Type) func([]ir.Type) (ir.Type, error) {
	return func(args []ir.Type) (ir.Type, error) {
		for _, t := range args {
			if t != ir.U32 {
				return ir.Type{}, fmt.Errorf("operand of type %s, expected u32", t)
			}
		}
		return result, nil
	}
}

func ruleInteger(args []ir.Type) (ir.Type, error) {
	if t := args[0]; t == ir.I32 || t == ir.I64 {
		return t, nil
	}
	return ir.Type{}, fmt.Errorf("operand of type %s, expected i32 or i64", args[0])
}
