package tensor

import (
	"math"

	"github.com/gkc-lang/gkc/ir"
)

// Bounds of errors. With every value goes the distance that a computation in the program's own types, in any order of its
// reductions, may be away from it: what the operands bring in, through the operation, and a rounding of its own. Frames carry
// it in err. It is first order in the roundings, sound rather than tight, and anything where a step may be crossed that is no
// small change: a comparison that decides between branches, an index.

// anything is the bound of a value that nothing is known of.
var anything = math.Inf(1)

func anythingIf(c bool) float64 {
	if c {
		return anything
	}
	return 0
}

// unit is half the distance from 1 to the next value of a float type, tiny what the smallest values may lose.
func unit(t ir.Type) (unit, tiny float64) {
	if t == ir.F64 {
		return 0x1p-53, 0x1p-1022
	}
	return 0x1p-24, 0x1p-126
}

func largest(t ir.Type) float64 {
	if t == ir.F64 {
		return math.MaxFloat64
	}
	return math.MaxFloat32
}

// rounded adds the roundings of an operation of type t, in units, to what its operands brought in.
func rounded(t ir.Type, y, brought, units float64) float64 {
	switch {
	case brought != brought:
		return anything
	case math.IsInf(y, 0) || y != y:
		return anythingIf(brought != 0)
	case units == 0:
		return brought
	}
	u, tiny := unit(t)
	err := brought + units*u*(math.Abs(y)+brought) + tiny
	if math.Abs(y)+err > largest(t) {
		return anything
	}
	return err
}

// units is how many roundings an implementation of an operation may be off.
func units(op *ir.Op) float64 {
	switch op {
	case ir.OpNeg, ir.OpAbs, ir.OpSign, ir.OpMin, ir.OpMax, ir.OpFloor, ir.OpCeil, ir.OpRound, ir.OpTrunc:
		return 0
	case ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpFMA:
		return 1
	case ir.OpDiv, ir.OpSqrt, ir.OpRsqrt:
		return 4
	}
	return 16
}

// operands are the values and the bounds of an operation's operands.
type operands struct{ v, e [3]float64 }

func boundOperation(e *ir.Expr, args []code) code {
	if args[0].f == nil {
		return boundInt(e, args)
	}
	m, t, op := &e.Op.Mean, e.Type, e.Op
	gather := func(f *frame) (x operands) {
		for i := range args {
			x.v[i] = args[i].f(f)
			x.e[i] = f.err
		}
		return x
	}
	switch {
	case m.PF2 != nil:
		return code{i: func(f *frame) int64 {
			x := gather(f)
			f.err = anythingIf(undecided(x.v[0], x.v[1], x.e[0]+x.e[1]))
			return truth(m.PF2(x.v[0], x.v[1]))
		}}
	case m.P1 != nil:
		return code{i: func(f *frame) int64 {
			x := gather(f)
			f.err = anythingIf(x.e[0] == anything)
			return truth(m.P1(x.v[0]))
		}}
	}
	mean := func(v [3]float64) float64 {
		switch {
		case m.F1 != nil && len(args) == 1:
			return m.F1(v[0])
		case m.F2 != nil:
			return m.F2(v[0], v[1])
		}
		return m.F3(v[0], v[1], v[2])
	}
	n := units(op)
	return code{f: func(f *frame) float64 {
		x := gather(f)
		y := mean(x.v)
		brought := 0.0
		if x.e != [3]float64{} {
			brought = bring(op, mean, x, y)
		}
		f.err = rounded(t, y, brought, n)
		return y
	}}
}

// undecided reports whether a comparison may come out differently if the operands are off by err in all.
func undecided(a, b, err float64) bool {
	switch {
	case err == 0 || a != a || b != b:
		return err == anything
	case a == b && math.IsInf(a, 0):
		return err == anything
	}
	return !(math.Abs(a-b) > err)
}

// bring is how far the result of an operation moves if its operands move by their bounds.
func bring(op *ir.Op, mean func([3]float64) float64, x operands, y float64) float64 {
	a, b := math.Abs(x.v[0]), math.Abs(x.v[1])
	ea, eb, ec := x.e[0], x.e[1], x.e[2]
	switch op {
	case ir.OpAdd, ir.OpSub:
		return ea + eb
	case ir.OpMul:
		return times(a, eb) + times(b, ea) + times(ea, eb)
	case ir.OpFMA:
		return times(a, eb) + times(b, ea) + times(ea, eb) + ec
	case ir.OpDiv:
		if b <= eb {
			return anything
		}
		return (ea + times(math.Abs(y), eb)) / (b - eb)
	case ir.OpNeg, ir.OpAbs:
		return ea
	case ir.OpMin, ir.OpMax:
		return math.Max(ea, eb)
	case ir.OpSin, ir.OpCos:
		if ea == anything { // an infinity, too
			return anything
		}
		return math.Min(ea, 2)
	case ir.OpRem, ir.OpMod:
		return bringMod(op, x)
	case ir.OpTan:
		if math.Floor((x.v[0]-ea)/math.Pi+0.5) != math.Floor((x.v[0]+ea)/math.Pi+0.5) {
			return anything
		}
		return ends(mean, x, y)
	case ir.OpAtan2:
		if r := math.Hypot(x.v[0], x.v[1]); r > 2*(ea+eb) && (x.v[1] > eb || a > ea) {
			return 2 * (ea + eb) / r
		}
		return anything
	case ir.OpPow:
		return bringPow(mean, x, y)
	}
	if monotone[op] {
		return ends(mean, x, y)
	}
	return anything
}

// times is a product in which 0 times anything is 0: an exact zero does not care.
func times(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return a * b
}

// monotone lists operations whose greatest distances lie at the ends of the operands' ranges.
var monotone = map[*ir.Op]bool{}

func init() {
	for _, op := range []*ir.Op{
		ir.OpSqrt, ir.OpRsqrt, ir.OpExp, ir.OpExp2, ir.OpLog, ir.OpLog2, ir.OpLog1p, ir.OpExpm1, ir.OpTanh, ir.OpSinh, ir.OpCosh,
		ir.OpAsin, ir.OpAcos, ir.OpAtan, ir.OpErf, ir.OpErfc, ir.OpFloor, ir.OpCeil, ir.OpRound, ir.OpTrunc, ir.OpSign, ir.OpFloorDiv,
	} {
		monotone[op] = true
	}
}

// ends is the greatest distance at the corners of the operands' ranges.
func ends(mean func([3]float64) float64, x operands, y float64) float64 {
	if x.e[0] == anything || x.e[1] == anything || x.v[1] != 0 && math.Abs(x.v[1]) <= x.e[1] {
		return anything
	}
	far := 0.0
	for corner := range 4 {
		v := x.v
		for i := range 2 {
			if corner>>i&1 == 0 {
				v[i] -= x.e[i]
			} else {
				v[i] += x.e[i]
			}
		}
		d := math.Abs(mean(v) - y)
		if d != d {
			return anything
		}
		far = math.Max(far, d)
	}
	return far
}

func bringMod(op *ir.Op, x operands) float64 {
	round := math.Floor
	if op == ir.OpRem {
		round = math.Trunc
	}
	quotient := func(v [3]float64) float64 { return v[0] / v[1] }
	q := quotient(x.v)
	d := ends(quotient, x, q)
	if d == anything || round(q-d) != round(q+d) {
		return anything
	}
	return x.e[0] + times(math.Abs(round(q)), x.e[1])
}

func bringPow(mean func([3]float64) float64, x operands, y float64) float64 {
	if x.v[0]-x.e[0] > 0 {
		return powEnds(mean, x, y)
	}
	if n := x.v[1]; x.e[1] == 0 && n == math.Trunc(n) && n > 0 { // a polynomial: steepest at the far end
		far := math.Abs(x.v[0]) + x.e[0]
		return n * math.Pow(far, n-1) * x.e[0]
	}
	return anything
}

// powEnds is ends for a power, whose exponent may be near 0.
func powEnds(mean func([3]float64) float64, x operands, y float64) float64 {
	shifted := func(v [3]float64) float64 { v[1] -= shift(x); return mean(v) }
	x.v[1] += shift(x)
	return ends(shifted, x, y)
}

// shift moves an exponent away from 0, where ends sees a change of sign.
func shift(x operands) float64 { return math.Abs(x.v[1]) + 2*x.e[1] + 1 }

// boundInt is the code of an operation on integers or bools.
func boundInt(e *ir.Expr, args []code) code {
	held := make([]code, len(args))
	for i := range args {
		held[i] = code{i: func(f *frame) int64 { return f.held[i] }}
	}
	plain := intTable(e, held)
	if k := intFast(e, held); k.i != nil {
		plain = k
	}
	op := e.Op
	return code{i: func(f *frame) int64 {
		var x operands
		var v [3]int64
		exact := true
		for i := range args {
			v[i] = args[i].i(f)
			x.v[i], x.e[i] = float64(v[i]), f.err
			exact = exact && f.err == 0
		}
		f.held = v // operands are computed once: twice at every level is exponential
		y := plain.i(f)
		if f.err = 0; !exact {
			f.err = bringInt(op, x)
		}
		return y
	}}
}

func bringInt(op *ir.Op, x operands) float64 {
	switch op {
	case ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpNeg, ir.OpAbs, ir.OpMin, ir.OpMax:
		return bring(op, nil, x, 0)
	case ir.OpEq, ir.OpNe, ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
		return anythingIf(undecided(x.v[0], x.v[1], x.e[0]+x.e[1]))
	}
	return anything
}

func boundLogic(a, b fn[int64], decides int64) fn[int64] {
	return func(f *frame) int64 {
		x := a(f)
		sure := f.err == 0
		if x == decides && sure {
			return x
		}
		outer := f.fault
		y := b(f)
		switch {
		case f.err == 0 && y == decides && f.fault == outer: // decides whatever the first is
			return y
		case !sure:
			if x == decides {
				f.fault, y = outer, x // the second does not count
			}
			f.err = anything
		}
		return y
	}
}

func boundBranch[T number](both bool, cond fn[int64], x, y fn[T]) fn[T] {
	return func(f *frame) T {
		c := cond(f)
		sure := f.err == 0
		taken, other := x, y
		if c == 0 {
			taken, other = y, x
		}
		v := taken(f)
		if sure && !both {
			return v
		}
		err, outer := f.err, f.fault
		w := other(f)
		if sure {
			f.err = err
			return v
		}
		if f.fault != outer && !both {
			f.fault, f.err = outer, anything
			return v
		}
		d := distance(v, w)
		if v != v && w != w {
			d = 0
		}
		if f.err = math.Max(err, f.err+d); f.err != f.err {
			f.err = anything
		}
		return v
	}
}

// boundConvert is a conversion. Roundings never change order, so that the ends of a value's range become the ends of the
// result's.
func boundConvert(op *ir.Op, from, to ir.Type, x code) code {
	plain := convertPlain(op, from, to, code{i: func(f *frame) int64 { return f.held[0] }})
	if x.f != nil {
		plain = convertPlain(op, from, to, code{f: func(f *frame) float64 { return f.heldFloat }})
	}
	one := func(v float64) float64 {
		var c ir.Const
		if from.IsFloat() {
			c = ir.FloatConst(v)
		} else {
			c = ir.IntConst(ir.SaturateInt(from.Elem, ir.Saturate(ir.I64.Elem, v)))
		}
		c = op.Mean.Any(to, []ir.Type{from}, []ir.Const{c})
		if to.IsFloat() {
			return c.Float()
		}
		return float64(c.Int())
	}
	bound := func(v, y, err float64) float64 {
		inexact := 0.0
		if to == ir.F32 && from.IsInt() && math.Abs(v) > 1<<24 {
			inexact = math.Abs(v) * 0x1p-24
		}
		switch {
		case err == 0 || op == ir.OpWiden:
			return err + inexact
		case op == ir.OpBitcast || err == anything || from.IsBool():
			return anything
		}
		d := math.Max(math.Abs(one(v+err)-y), math.Abs(y-one(v-err)))
		if d != d {
			return anything
		}
		return d + inexact
	}
	value := func(f *frame) (v, err float64) {
		if x.f != nil {
			v = x.f(f)
			f.heldFloat = v
		} else {
			n := x.i(f)
			v, f.held[0] = float64(n), n
		}
		return v, f.err
	}
	if plain.f != nil {
		return code{f: func(f *frame) float64 {
			v, err := value(f)
			y := plain.f(f)
			f.err = bound(v, y, err)
			return y
		}}
	}
	return code{i: func(f *frame) int64 {
		v, err := value(f)
		y := plain.i(f)
		f.err = bound(v, float64(y), err)
		return y
	}}
}
