package sim

import "github.com/gkc-lang/gkc/ir"

// isNothing reports whether a conversion leaves the representation as it is: to a wider type of the same kind.
func isNothing(op *ir.Op, to, from ir.Type) bool {
	if to.IsPacked() || from.IsPacked() {
		return false
	}
	switch {
	case to == from:
		return true
	case to.IsFloat() && from.IsFloat():
		return op == ir.OpWiden || to == ir.F64 || to == ir.F32 && from.Bits() < 32
	case to.IsInt() && from.IsInt():
		return to.Bits() > from.Bits() && (to.Elem.Kind == from.Elem.Kind || from.Elem.Kind == ir.Uint)
	}
	return false
}

// convert makes the step of a cast or a widening that does something. A device's registers are as wide as their type, so an
// integer that is widened to a float is rounded to it.
func convert(op *ir.Op, to, from ir.Type, a operand, dst int) step {
	switch {
	case op == ir.OpWiden && to.IsInt() && from.IsInt():
		return widenInt(to, a, dst)
	case to == ir.F32 && from == ir.F64:
		return func(w *warp) {
			x, d := a.of(w), &w.r[dst]
			for i := range d {
				d[i] = asF32(num(x[i]))
			}
		}
	case to.IsFloat() && to.Bits() < 32 && from.IsFloat():
		n := narrowOf(to)
		return func(w *warp) {
			x, d := a.of(w), &w.r[dst]
			for m := w.mask; m != 0; m &= m - 1 {
				i := lowest(m)
				d[i] = asF64(n.round(num(x[i])))
			}
		}
	case to == ir.F32 && from.IsInt() && from != ir.U64:
		return func(w *warp) {
			x, d := a.of(w), &w.r[dst]
			for i := range d {
				d[i] = asF64(float64(float32(x[i].Int())))
			}
		}
	case to == ir.Bool_ && from.IsInt():
		return func(w *warp) {
			x, d := a.of(w), &w.r[dst]
			for i := range d {
				d[i] = asBool(x[i].Bits != 0)
			}
		}
	}
	return func(w *warp) {
		x, d := a.of(w), &w.r[dst]
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			d[i] = ir.Convert(to, from, x[i])
		}
	}
}

// widenInt wraps an integer into a type that is not wider, as a widening between integers does.
func widenInt(to ir.Type, a operand, dst int) step {
	return func(w *warp) {
		x, d := a.of(w), &w.r[dst]
		for i := range d {
			d[i] = asInt(ir.Wrap(to.Elem, x[i].Int()))
		}
	}
}
