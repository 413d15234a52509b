package simt

import (
	"math/bits"

	"github.com/gkc-lang/gkc/ir"
)

// alignment finds powers of two that divide whole numbers. They divide them also where arithmetic wraps.
type alignment struct {
	known  map[*ir.Expr]int // number of low bits that are zero
	lets   map[*Reg]*ir.Expr
	vars   map[*Reg]*For
	looked int // registers of a sum that were looked into
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
	case ir.OpAdd, ir.OpSub:
		return a.sum(e)
	case ir.OpRem, ir.OpMod:
		if e.Args[1].IsInt(1) {
			return allZero
		}
		return min(arg(0), arg(1))
	case ir.OpBitOr, ir.OpBitXor, ir.OpMin, ir.OpMax:
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

// multiple is a number times a value, or a number where of is nil.
type multiple struct {
	coef int64
	of   *ir.Expr
}

// maxParts bounds the parts of a sum that are looked at one by one.
const maxParts = 24

// sum looks at the parts of a sum: quotient times divisor and remainder of one number are that number.
func (a *alignment) sum(e *ir.Expr) int {
	a.looked = 0
	parts := a.parts(nil, e, 1)
	for i := range parts {
		if r := &parts[i]; r.of != nil && (r.of.Op == ir.OpRem || r.of.Op == ir.OpMod) {
			rejoin(r, parts)
		}
	}
	n := allZero
	for _, p := range parts {
		z := trailing(p.coef)
		if p.of != nil {
			z = min(z+a.zeros(p.of), allZero)
		}
		n = min(n, z)
	}
	return n
}

// rejoin makes a remainder the number that was divided, where its quotient is at hand.
func rejoin(r *multiple, parts []multiple) {
	x, by := r.of.Args[0], r.of.Args[1]
	n, ok := by.IntValue()
	for i := range parts {
		q := &parts[i]
		if !ok || q.of == nil || q.coef != r.coef*n || (q.of.Op != ir.OpDiv || r.of.Op != ir.OpRem) && (q.of.Op != ir.OpFloorDiv || r.of.Op != ir.OpMod) {
			continue
		}
		if ir.Equal(q.of.Args[0], x) && ir.Equal(q.of.Args[1], by) {
			r.of, q.of, q.coef = x, nil, 0
			return
		}
	}
}

// parts adds those of coef * e.
func (a *alignment) parts(out []multiple, e *ir.Expr, coef int64) []multiple {
	if r, ok := e.Ref.(*Reg); ok && e.Op == ir.OpName && a.lets[r] != nil && a.looked < maxParts {
		a.looked++
		if x := a.lets[r]; x.Op == ir.OpAdd || x.Op == ir.OpSub || x.Op == ir.OpMul || x.Op == ir.OpRem || x.Op == ir.OpDiv {
			e = x
		}
	}
	if n, ok := e.IntValue(); ok {
		return append(out, multiple{coef * n, nil})
	}
	if len(out) >= maxParts {
		return append(out, multiple{coef, e})
	}
	switch e.Op {
	case ir.OpAdd:
		return a.parts(a.parts(out, e.Args[0], coef), e.Args[1], coef)
	case ir.OpSub:
		return a.parts(a.parts(out, e.Args[0], coef), e.Args[1], -coef)
	case ir.OpMul:
		for i := range 2 {
			if n, ok := e.Args[i].IntValue(); ok {
				return a.parts(out, e.Args[1-i], coef*n)
			}
		}
	}
	return append(out, multiple{coef, e})
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
