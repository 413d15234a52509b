package simt

import (
	"math/bits"

	"github.com/gkc-lang/gkc/ir"
)

// alignment finds powers of two that divide whole numbers. They divide them also where arithmetic wraps.
type alignment struct {
	known map[*ir.Expr]int // number of low bits that are zero
	lets  map[*Reg]*ir.Expr
	vars  map[*Reg]*For
}

func alignmentOf(k *Kernel) *alignment {
	a := &alignment{known: map[*ir.Expr]int{}, lets: map[*Reg]*ir.Expr{}, vars: map[*Reg]*For{}}
	Walk(k.Body, func(s Stmt) {
		switch s := s.(type) {
		case *Let:
			if !s.Reg.Mutable && s.Value != nil {
				a.lets[s.Reg] = s.Value
			}
		case *For:
			a.vars[s.Var] = s
		}
	})
	return a
}

const allZero = 63

func trailing(n int64) int {
	if n == 0 {
		return allZero
	}
	return bits.TrailingZeros64(uint64(n))
}

// zeros is the number of low bits of e that are certainly zero.
func (a *alignment) zeros(e *ir.Expr) int {
	if n, ok := a.known[e]; ok {
		return n
	}
	a.known[e] = 0 // where a register depends on itself nothing is known
	n := a.compute(e)
	a.known[e] = n
	return n
}

func (a *alignment) compute(e *ir.Expr) int {
	if !e.Type.IsInt() {
		return 0
	}
	arg := func(i int) int { return a.zeros(e.Args[i]) }
	switch e.Op {
	case ir.OpConst:
		return trailing(e.Val.Int())
	case ir.OpName:
		return a.name(e.Ref)
	case ir.OpAdd, ir.OpSub, ir.OpBitOr, ir.OpBitXor, ir.OpMin, ir.OpMax, ir.OpRem, ir.OpMod:
		return min(arg(0), arg(1))
	case ir.OpMul:
		return min(arg(0)+arg(1), allZero)
	case ir.OpBitAnd:
		return max(arg(0), arg(1))
	case ir.OpShl:
		if n, ok := e.Args[1].IntValue(); ok && n >= 0 {
			return int(min(int64(arg(0))+n, allZero))
		}
		return arg(0)
	case ir.OpShr:
		if n, ok := e.Args[1].IntValue(); ok && n >= 0 && arg(0) < allZero {
			return int(max(int64(arg(0))-n, 0))
		}
		return 0
	case ir.OpNeg, OpPin:
		return arg(0)
	case ir.OpIf, ir.OpSelect:
		return min(arg(1), arg(2))
	case ir.OpFMA:
		return min(arg(0)+arg(1), arg(2))
	case ir.OpCast, ir.OpWiden:
		if from := e.Args[0].Type; from.IsInt() && from.Bits() <= e.Type.Bits() && (from.Elem.Kind == ir.Uint) == (e.Type.Elem.Kind == ir.Uint) {
			return arg(0)
		}
	}
	return 0
}

func (a *alignment) name(ref ir.Ref) int {
	switch r := ref.(type) {
	case *Reg:
		if e := a.lets[r]; e != nil {
			return a.zeros(e)
		}
		if loop := a.vars[r]; loop != nil {
			return min(a.zeros(loop.Lo), trailing(loop.Step))
		}
	case *Value:
		return a.zeros(r.Expr)
	case *ir.Scalar:
		if r.Fixed != nil {
			return trailing(r.Fixed.Int())
		}
		return trailing(max(r.Multiple, 1))
	}
	return 0
}
