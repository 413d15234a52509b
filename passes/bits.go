package passes

import (
	"github.com/gkc-lang/gkc/ir"
)

// word is a non-negative i32 of which at most the bits of mask are set.
type word struct {
	x    *ir.Expr
	mask uint32
}

func wordOf(n uint32) word { return word{ir.NewConst(ir.I32, ir.IntConst(int64(n))), n} }

// xor is a ^ b: a sum where no bit meets another, which addresses of machines take as it is.
func (a word) xor(b word) word {
	op := ir.OpBitXor
	if a.mask&b.mask == 0 {
		op = ir.OpAdd
	}
	return word{ir.Apply(op, a.x, b.x), a.mask | b.mask}
}

// linear is the XOR of cols[k] over the bits k of x that are set; x has no bits but those. Bits that move by the same distance
// move together.
func linear(x *ir.Expr, cols []uint32) word {
	out := wordOf(0)
	for d := 1 - len(cols); d < 32; d++ {
		var from uint32
		for k, c := range cols {
			if to := k + d; to >= 0 && to < 32 && c>>to&1 != 0 {
				from |= 1 << k
			}
		}
		if from != 0 {
			out = out.xor(shifted(x, from, len(cols), d))
		}
	}
	return out
}

// shifted takes some of the n bits of x d places up.
func shifted(x *ir.Expr, from uint32, n, d int) word {
	if out := from >> max(-d, 0); from != 1<<n-1 && (d >= 0 || out != (1<<n-1)>>-d) { // what falls out below needs no mask
		x = ir.Apply(ir.OpBitAnd, x, ir.NewConst(ir.I32, ir.IntConst(int64(from))))
	}
	by := ir.NewConst(ir.I32, ir.IntConst(int64(max(d, -d))))
	switch {
	case d < 0:
		return word{ir.Apply(ir.OpShr, x, by), from >> -d}
	case d > 0:
		return word{ir.Apply(ir.OpShl, x, by), from << d}
	}
	return word{x, from}
}
