package simt

import (
	"fmt"

	"github.com/gkc-lang/gkc/ir"
)

// How CUDA C and Go write the operations of this level; see ir.Spell. Elements, addresses and conversions are the printers' own.
func init() {
	spell := func(op *ir.Op, c, golang string) {
		op.C, op.Go = ir.Spell{"*": c}, ir.Spell{"*": golang}
	}
	// What only a graphics processor has, Go cannot say.
	OpDescK.C, OpDescMN.C, OpClock.C = ir.Spell{"*": "desc_k($0)"}, ir.Spell{"*": "desc_mn($0, $1)"}, ir.Spell{"*": "clock_cycles()"}
	spell(OpPackF16, "pack_f16x2($0, $1)", "simt.PackF16($0, $1)")
	spell(OpPackBF16, "pack_bf16x2($0, $1)", "simt.PackBF16($0, $1)")
	spell(OpPackE4M3, "pack_f8e4m3x4($0, $1, $2, $3)", "simt.PackF8E4M3($0, $1, $2, $3)")
	spell(OpPackE5M2, "pack_f8e5m2x4($0, $1, $2, $3)", "simt.PackF8E5M2($0, $1, $2, $3)")
	spell(OpPackI8, "pack_i8x4($0, $1, $2, $3)", "simt.PackI8($0, $1, $2, $3)")
	spell(OpPackU8, "pack_u8x4($0, $1, $2, $3)", "simt.PackU8($0, $1, $2, $3)")
	for i, op := range []*ir.Op{OpLo, OpHi} {
		spellPart(op, i)
	}
	for i, op := range OpPart {
		spellPart(op, i)
	}
	spell(OpPin, "pin($0)", "simt.Value($0)")
	spell(OpPow2Floor, "pow2_floor($0)", "simt.Pow2Floor($0)")
	spell(OpPow2Ceil, "pow2_ceil($0)", "simt.Pow2Ceil($0)")
	spell(OpShfl, "__shfl_sync($m, $0, $1)", "simt.Shfl($r, $0, $1)")
	spell(OpShflXor, "__shfl_xor_sync($m, $0, $1)", "simt.ShflXor($r, $0, $1)")
	spell(OpShflUp, "__shfl_up_sync($m, $0, $1)", "simt.ShflUp($r, $0, $1)")
	spell(OpShflDown, "__shfl_down_sync($m, $0, $1)", "simt.ShflDown($r, $0, $1)")
	spell(OpElect, "elect($m)", "simt.Elect($r)")
	spell(OpAny, "__any_sync($m, $0) != 0", "simt.Any($r, $0)")
	spell(OpAll, "__all_sync($m, $0) != 0", "simt.All($r, $0)")
	spell(OpBallot, "__ballot_sync($m, $0)", "simt.Ballot($r, $0)")
	spell(OpMatch, "__match_any_sync($m, $0)", "simt.Match($r, $0)")
	spell(OpReduxAdd, "__reduce_add_sync($m, $0)", "simt.ReduxAdd($r, $0)")
	spell(OpReduxMin, "__reduce_min_sync($m, $0)", "simt.ReduxMin($r, $0)")
	spell(OpReduxMax, "__reduce_max_sync($m, $0)", "simt.ReduxMax($r, $0)")
	for op, name := range map[*ir.Op]string{OpReduxAnd: "and", OpReduxOr: "or", OpReduxXor: "xor"} {
		op.C = ir.Spell{"u32": "__reduce_" + name + "_sync($m, $0)", "i32": "(i32)__reduce_" + name + "_sync($m, (u32)$0)"}
	}
	OpReduxAnd.Go, OpReduxOr.Go, OpReduxXor.Go = ir.Spell{"*": "simt.ReduxAnd($r, $0)"}, ir.Spell{"*": "simt.ReduxOr($r, $0)"}, ir.Spell{"*": "simt.ReduxXor($r, $0)"}
}

func spellPart(op *ir.Op, i int) {
	op.C, op.Go = ir.Spell{}, ir.Spell{}
	for _, row := range []struct {
		elem ir.Type
		name string
	}{{ir.F16, "F16"}, {ir.BF16, "BF16"}, {ir.F8E4M3, "F8E4M3"}, {ir.F8E5M2, "F8E5M2"}, {ir.I8, "I8"}, {ir.U8, "U8"}} {
		word := ir.Packed(row.elem.Elem).String()
		op.C[word] = fmt.Sprintf("part_%s($0, %d)", word, i)
		op.Go[word] = fmt.Sprintf("simt.Part%s($0, %d)", row.name, i)
	}
}
