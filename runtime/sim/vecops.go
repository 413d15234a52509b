package sim

import (
	"math"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// step does one instruction for the active lanes of a warp. Steps that compute may also write the lanes that are not active: no
// lane can see a temporary that it did not compute itself.
type step func(w *warp)

// operand is where a step finds a value: a vector that is known at compile time, or a slot of the warp's registers.
type operand struct {
	con  *vec
	slot int
}

func (o *operand) of(w *warp) *vec {
	if o.con != nil {
		return o.con
	}
	return &w.r[o.slot]
}

// constant is the operand's value where it is known and the same in all lanes.
func (o *operand) constant() (ir.Const, bool) {
	if o.con == nil {
		return ir.Const{}, false
	}
	return o.con[0], true
}

// compute makes the step that computes op into slot dst.
func compute(op *ir.Op, to ir.Type, from []ir.Type, args []operand, dst int) step {
	var s step
	if len(from) > 0 && !to.IsPacked() && !from[0].IsPacked() {
		switch t := from[0]; {
		case len(args) == 3 && to == from[2] && (op == ir.OpIf || op == ir.OpSelect):
			s = choose(args[0], args[1], args[2], dst)
		case op == ir.OpCast || op == ir.OpWiden:
			s = convert(op, to, t, args[0], dst)
		case t == ir.F32 && len(args) == 2:
			s = floats(op, args[0], args[1], dst)
		case t.IsInt() && len(args) == 2:
			s = integers(op, t, args[0], args[1], dst)
		case t.IsBool() && len(args) == 2:
			s = truths(op, args[0], args[1], dst)
		case t == ir.F32 && len(args) == 3 && op == ir.OpFMA:
			s = fusedF32(args[0], args[1], args[2], dst)
		}
		if s == nil {
			s = byMeaning(op, to, from[0], args, dst)
		}
	}
	if s != nil {
		return s
	}
	return general(op, to, from, args, dst)
}

// general evaluates as the table of operations says, one lane at a time.
func general(op *ir.Op, to ir.Type, from []ir.Type, args []operand, dst int) step {
	return func(w *warp) {
		d := &w.r[dst]
		var buf [8]ir.Const
		vals := buf[:0]
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			vals = vals[:0]
			for k := range args {
				vals = append(vals, args[k].of(w)[i])
			}
			d[i], _ = simt.Eval(op, to, from, vals)
		}
	}
}

// byMeaning calls the function of the operation's row, without the detour over types.
func byMeaning(op *ir.Op, to, t ir.Type, args []operand, dst int) step {
	m := &op.Mean
	if m.Any != nil {
		return nil
	}
	switch {
	case t.IsFloat() && len(args) == 1 && m.F1 != nil:
		return mapFloat(to, args[0], dst, m.F1)
	case t.IsFloat() && len(args) == 2 && m.F2 != nil:
		return zipFloat(to, args[0], args[1], dst, m.F2)
	case t.IsFloat() && len(args) == 2 && m.PF2 != nil:
		return compareFloat(args[0], args[1], dst, m.PF2)
	case t.IsInt() && len(args) == 2 && m.I2 != nil:
		return zipInt(to, t, args[0], args[1], dst, m.I2)
	}
	return nil
}

func mapFloat(to ir.Type, a operand, dst int, f func(float64) float64) step {
	if to != ir.F32 && to != ir.F64 {
		return nil
	}
	return func(w *warp) {
		x, d := a.of(w), &w.r[dst]
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			y := f(num(x[i]))
			if to == ir.F32 {
				y = float64(float32(y))
			}
			d[i] = asF64(y)
		}
	}
}

func zipFloat(to ir.Type, a, b operand, dst int, f func(x, y float64) float64) step {
	if to != ir.F32 && to != ir.F64 {
		return nil
	}
	return func(w *warp) {
		x, y, d := a.of(w), b.of(w), &w.r[dst]
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			z := f(num(x[i]), num(y[i]))
			if to == ir.F32 {
				z = float64(float32(z))
			}
			d[i] = asF64(z)
		}
	}
}

func compareFloat(a, b operand, dst int, f func(x, y float64) bool) step {
	return func(w *warp) {
		x, y, d := a.of(w), b.of(w), &w.r[dst]
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			d[i] = asBool(f(num(x[i]), num(y[i])))
		}
	}
}

func zipInt(to, t ir.Type, a, b operand, dst int, f func(t *ir.DType, x, y int64) int64) step {
	return func(w *warp) {
		x, y, d := a.of(w), b.of(w), &w.r[dst]
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			d[i] = asInt(ir.Wrap(to.Elem, f(t.Elem, x[i].Int(), y[i].Int())))
		}
	}
}

func choose(c, a, b operand, dst int) step {
	return func(w *warp) {
		p, x, y, d := c.of(w), a.of(w), b.of(w), &w.r[dst]
		for i := range d {
			v := y[i]
			if p[i].Bits != 0 {
				v = x[i]
			}
			d[i] = v
		}
	}
}

func truths(op *ir.Op, a, b operand, dst int) step {
	switch op {
	case ir.OpAnd:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i].Bits = x[i].Bits & y[i].Bits
			}
		}
	case ir.OpOr:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i].Bits = x[i].Bits | y[i].Bits
			}
		}
	}
	return nil
}

// floats are the frequent operations on f32. A float64 result of two f32 operands, rounded to f32, is the correctly rounded one.
func floats(op *ir.Op, a, b operand, dst int) step {
	switch op {
	case ir.OpAdd:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = asF32(num(x[i]) + num(y[i]))
			}
		}
	case ir.OpSub:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = asF32(num(x[i]) - num(y[i]))
			}
		}
	case ir.OpMul:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = asF32(num(x[i]) * num(y[i]))
			}
		}
	case ir.OpDiv:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = asF32(num(x[i]) / num(y[i]))
			}
		}
	case ir.OpLt:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = asBool(num(x[i]) < num(y[i]))
			}
		}
	case ir.OpGt:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = asBool(num(x[i]) > num(y[i]))
			}
		}
	case ir.OpMax:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = asF64(max(num(x[i]), num(y[i])))
			}
		}
	case ir.OpMin:
		return func(w *warp) {
			x, y, d := a.of(w), b.of(w), &w.r[dst]
			for i := range d {
				d[i] = asF64(min(num(x[i]), num(y[i])))
			}
		}
	}
	return nil
}

// fusedF32 rounds a*b + c once: the product of two f32 is exact in float64; where the sum is not, its last bit is made odd, so
// that the rounding to f32 that follows cannot take an inexact half for an exact one.
func fusedF32(a, b, c operand, dst int) step {
	return func(w *warp) {
		x, y, z, d := a.of(w), b.of(w), c.of(w), &w.r[dst]
		for i := range d {
			d[i] = asF32(addToOdd(num(x[i])*num(y[i]), num(z[i])))
		}
	}
}

func addToOdd(p, c float64) float64 {
	s := p + c
	t := s - p
	e := (p - (s - t)) + (c - t) // what the sum lost, exactly
	if e == 0 || e != e || math.IsInf(s, 0) {
		return s
	}
	if b := math.Float64bits(s); b&1 == 0 {
		if (e > 0) == (s > 0) {
			return math.Float64frombits(b + 1)
		}
		return math.Float64frombits(b - 1)
	}
	return s
}
