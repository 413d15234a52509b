package ir

// EvalOp computes an operation on constants: exactly or correctly rounded, in the operands' types, and rounded or wrapped to
// the result's type. ok is false for operations without a meaning of their own (names, reads, warp-wide ones).
func EvalOp(op *Op, to Type, from []Type, args []Const) (out Const, ok bool) {
	m := &op.Mean
	if m.Any != nil {
		return m.Any(to, from, args), true
	}
	if len(from) == 0 || from[0].IsPacked() {
		return Const{}, false
	}
	t := from[0].Elem
	if t.IsFloat() {
		return evalFloat(op, to, args)
	}
	return evalInt(m, t, to, args)
}

func evalFloat(op *Op, to Type, args []Const) (Const, bool) {
	m := &op.Mean
	var x float64
	switch {
	case len(args) == 1 && m.F1 != nil:
		x = m.F1(args[0].Float())
	case len(args) == 2 && m.F2 != nil:
		x = m.F2(args[0].Float(), args[1].Float())
	case len(args) == 3 && m.F3 != nil:
		x = m.F3(args[0].Float(), args[1].Float(), args[2].Float())
		if op == OpFMA && to == F32 {
			return FloatConst(fma32(args[0].Float(), args[1].Float(), args[2].Float())), true
		}
	case len(args) == 1 && m.P1 != nil:
		return BoolConst(m.P1(args[0].Float())), true
	case len(args) == 2 && m.PF2 != nil:
		return BoolConst(m.PF2(args[0].Float(), args[1].Float())), true
	default:
		return Const{}, false
	}
	return FloatConst(RoundTo(to.Elem, x)), true
}

func evalInt(m *Mean, t *DType, to Type, args []Const) (Const, bool) {
	var x int64
	switch {
	case len(args) == 1 && m.I1 != nil:
		x = m.I1(t, args[0].Int())
	case len(args) == 2 && m.I2 != nil:
		x = m.I2(t, args[0].Int(), args[1].Int())
	case len(args) == 3 && m.I3 != nil:
		x = m.I3(t, args[0].Int(), args[1].Int(), args[2].Int())
	case len(args) == 2 && m.PI2 != nil:
		a, b := args[0].Int(), args[1].Int()
		if t == u64 { // flipping the top bit maps the unsigned order onto the signed one
			a, b = a^(-1<<63), b^(-1<<63)
		}
		return BoolConst(m.PI2(a, b)), true
	default:
		return Const{}, false
	}
	if to.IsBool() {
		return BoolConst(x != 0), true
	}
	return IntConst(Wrap(to.Elem, x)), true
}
