package simt

import (
	"math"

	"github.com/gkc-lang/gkc/ir"
)

// The facts of expressions, from those of the registers in them.

func (f *Facts) expr(e *ir.Expr, memo map[*ir.Expr]Fact) Fact {
	if fact, ok := memo[e]; ok {
		return fact
	}
	fact := f.compute(e, memo)
	if fact.Same >= SameWarp {
		fact.Linear, fact.Stride = true, 0
	}
	memo[e] = fact
	return fact
}

func (f *Facts) compute(e *ir.Expr, memo map[*ir.Expr]Fact) Fact {
	switch e.Op {
	case ir.OpConst:
		fact := Fact{Same: SameGrid, Max: noBound}
		if n, ok := e.IntValue(); ok && n > math.MinInt64 {
			fact.Max = max(n, -n)
		}
		return fact
	case ir.OpName:
		return f.name(e.Ref)
	case OpElem:
		fact := f.Reg(e.Ref.(*Reg))
		fact.Same = min(fact.Same, f.expr(e.Args[0], memo).Same)
		return fact
	}
	args := make([]Fact, len(e.Args))
	same := SameGrid
	for i, a := range e.Args {
		args[i] = f.expr(a, memo)
		same = min(same, args[i].Same)
	}
	fact := Fact{Same: warpScope(e.Op, same, args), Max: noBound}
	if countsWarps(e) {
		fact.Same = max(fact.Same, SameWarp)
	}
	linear(e, args, &fact)
	return fact
}

// countsWarps reports whether e divides the thread's number by a multiple of the warp size.
func countsWarps(e *ir.Expr) bool {
	if e.Op != ir.OpDiv && e.Op != ir.OpShr {
		return false
	}
	n, ok := e.Args[1].IntValue()
	if e.Op == ir.OpDiv {
		ok = ok && n > 0 && n%WarpSize == 0
	} else {
		ok = ok && n >= 5 && n < 31
	}
	x := e.Args[0]
	for x.Op == ir.OpWiden || x.Op == ir.OpCast {
		x = x.Args[0]
	}
	return ok && x.Op == ir.OpName && x.Ref == Tid && e.Args[0].Type.IsInt() && e.Args[0].Type.Bits() >= 32
}

// warpScope is the uniformity of an operation's result, given that of its operands.
func warpScope(op *ir.Op, same Scope, args []Fact) Scope {
	switch {
	case op.Effect == ir.Clock || op == OpElect:
		return SameLane
	case op.Where&ir.WarpWide == 0:
		return same
	case op == OpShfl && args[1].Same >= SameWarp:
		return max(same, SameWarp)
	case op == OpShfl || op == OpShflXor || op == OpShflUp || op == OpShflDown || op == OpMatch:
		return same
	}
	return max(same, SameWarp)
}

// name is the fact of a value that is not computed here.
func (f *Facts) name(ref ir.Ref) Fact {
	switch r := ref.(type) {
	case *Reg:
		return f.Reg(r)
	case *Value:
		return Fact{Same: SameGrid, Max: noBound}
	case *Builtin:
		return f.builtin(r)
	}
	return anything
}

func (f *Facts) builtin(b *Builtin) Fact {
	threads := int64(f.kernel.Launch.Threads)
	switch b {
	case Tid:
		return Fact{Same: SameLane, Linear: true, Stride: 1, Max: threads}
	case Lane:
		return Fact{Same: SameLane, Linear: true, Stride: 1, Max: WarpSize}
	case Warp:
		return Fact{Same: SameWarp, Max: threads / WarpSize}
	case Group:
		return Fact{Same: SameGroup, Max: threads / WarpSize}
	case Cta, Rank:
		return Fact{Same: SameCta, Max: math.MaxInt32}
	}
	return Fact{Same: SameGrid, Max: noBound}
}

// linear finds strides and bounds of whole numbers.
func linear(e *ir.Expr, a []Fact, out *Fact) {
	if !e.Type.IsInt() {
		return
	}
	set := func(ok bool, stride int64) {
		if ok && out.Same < SameWarp {
			out.Linear, out.Stride = true, stride
		}
	}
	switch e.Op {
	case ir.OpAdd:
		out.Max = bounded(e.Type, float64(a[0].Max)+float64(a[1].Max), a)
		set(a[0].Linear && a[1].Linear, a[0].Stride+a[1].Stride)
	case ir.OpSub:
		out.Max = bounded(e.Type, float64(a[0].Max)+float64(a[1].Max), a)
		set(a[0].Linear && a[1].Linear, a[0].Stride-a[1].Stride)
	case ir.OpNeg:
		out.Max = a[0].Max
		set(a[0].Linear, -a[0].Stride)
	case ir.OpMul:
		out.Max = bounded(e.Type, float64(a[0].Max)*float64(a[1].Max), a)
		for i := range 2 {
			if n, ok := e.Args[i].IntValue(); ok {
				set(a[1-i].Linear, n*a[1-i].Stride)
			}
		}
	case ir.OpCast, ir.OpWiden:
		from := e.Args[0].Type
		_, hi := ir.IntRange(e.Type.Elem)
		if from.IsInt() && a[0].Max >= 0 && a[0].Max <= hi && (e.Type.Elem.Kind == ir.Int || from.Elem.Kind == ir.Uint) {
			out.Max = a[0].Max
			set(a[0].Linear, a[0].Stride) // no value wraps or saturates on the way
		}
	case OpPin:
		out.Max = a[0].Max
		set(a[0].Linear, a[0].Stride)
	case ir.OpIf, ir.OpSelect:
		out.Max = larger(a[1].Max, a[2].Max)
		set(a[0].Same >= SameWarp && a[1].Linear && a[2].Linear && a[1].Stride == a[2].Stride, a[1].Stride)
	case ir.OpBitAnd:
		for i := range 2 {
			if n, ok := e.Args[i].IntValue(); ok && n >= 0 {
				out.Max = n
			}
		}
	case ir.OpDiv, ir.OpShr, ir.OpMin, ir.OpMax, ir.OpRem:
		out.Max = a[0].Max
		if e.Op == ir.OpMin || e.Op == ir.OpMax {
			out.Max = larger(a[0].Max, a[1].Max)
		}
	}
}

// bounded is x as a bound of a result, where the operands have bounds and x is certain not to wrap type t.
func bounded(t ir.Type, x float64, operands []Fact) int64 {
	_, hi := ir.IntRange(t.Elem)
	for _, o := range operands {
		if o.Max < 0 {
			return noBound
		}
	}
	if x >= float64(hi)/2 {
		return noBound
	}
	return int64(x)
}
