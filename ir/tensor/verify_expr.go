package tensor

import "github.com/gkc-lang/gkc/ir"

// outside verifies an expression over scalars alone.
func (v *verifier) outside(e *ir.Expr, t ir.Type) {
	done, scope := v.done, v.inScope
	v.done, v.inScope = newChecked(nil), map[*ir.Axis]bool{}
	v.typed(e, t)
	for x := range v.done.here {
		switch x.Ref.(type) {
		case Read, *Reduction, *Scan:
			v.fail("%s where only sizes and scalar parameters count", ExprText(x))
		}
	}
	v.done, v.inScope = done, scope
}

func (v *verifier) typed(e *ir.Expr, t ir.Type) {
	v.expr(e)
	v.need(e.Type == t, "%s is %s, expected %s", ExprText(e), e.Type, t)
}

// expr verifies an expression in the scope at hand.
func (v *verifier) expr(e *ir.Expr) {
	v.need(e != nil && e.Op != nil, "an expression is missing")
	if v.done.has(e) {
		return
	}
	v.need(e.Type.IsValid() && !e.Type.IsPacked(), "%s of type %s", e.Op.Name, e.Type)
	switch e.Op {
	case ir.OpConst:
		v.need(len(e.Args) == 0 && e.Ref == nil && holds(e.Type, e.Val), "a constant that %s cannot hold", e.Type)
	case ir.OpName:
		v.name(e)
	case ir.OpRead:
		v.read(e)
	case OpReduce:
		v.reduce(e)
	case OpScan:
		v.scan(e)
	default:
		v.operation(e)
	}
	v.done.here[e] = true
}

func (v *verifier) name(e *ir.Expr) {
	v.need(len(e.Args) == 0 && e.Ref != nil && e.Ref.RefType() == e.Type, "a name of another type than what it names")
	switch ref := e.Ref.(type) {
	case *ir.Axis:
		v.need(v.inScope[ref], "the axis %s outside its scope", ref.Name)
	case *ir.Scalar:
		v.need(v.scalars[ref], "the scalar %s is not declared", ref.Name)
	default:
		v.fail("%s is neither an axis nor a scalar", e.Ref.RefName())
	}
}

func (v *verifier) read(e *ir.Expr) {
	ref, ok := e.Ref.(Read)
	v.need(ok && ref.Of != nil, "a read of nothing")
	v.need(v.known[ref.Of] != 0, "a read of %s, which is not declared", ref.Of.Name)
	v.need(e.Type == ref.Of.Type, "a read of %s as %s", ref.Of.Name, e.Type)
	v.need(len(e.Args) == len(ref.Of.Extents), "%d subscripts for %s, which has %d axes", len(e.Args), ref.Of.Name, len(ref.Of.Extents))
	v.edge(ref.Edge, e.Type)
	for _, a := range e.Args {
		v.typed(a, ir.I64)
	}
	if v.known[ref.Of] == stepping {
		v.stepRead(ref.Of, e)
		return
	}
	v.need(v.known[ref.Of] == ready, "a read of %s in front of its definition", ref.Of.Name)
}

// within runs f in a scope with more axes. What f finds right counts only there, if it uses them.
func (v *verifier) within(spans []ir.Span, f func()) {
	outer := v.done
	v.done = newChecked(outer)
	for _, s := range spans {
		v.typed(s.Lo, ir.I64)
		v.typed(s.Hi, ir.I64)
		v.open(s.Axis)
	}
	f()
	v.close(spans)
	v.done = outer
}

func (v *verifier) reduce(e *ir.Expr) {
	r, ok := e.Ref.(*Reduction)
	v.need(ok && len(e.Args) == 1, "a reduction without its ranges")
	v.need(len(r.Over) > 0, "a reduction over no axis")
	v.monoid(r.Op, r.Acc)
	v.need(e.Type == r.Acc, "a reduction in %s of type %s", r.Acc, e.Type)
	v.within(r.Over, func() {
		if r.Guard != nil {
			v.typed(r.Guard, ir.Bool_)
		}
		v.typed(e.Args[0], r.Acc)
	})
}

func (v *verifier) scan(e *ir.Expr) {
	s, ok := e.Ref.(*Scan)
	v.need(ok && len(e.Args) == 1, "a scan without its range")
	v.monoid(s.Op, s.Acc)
	v.need(e.Type == s.Acc, "a scan in %s of type %s", s.Acc, e.Type)
	v.need(s.Over.Axis != nil && v.inScope[s.Over.Axis], "a scan along an axis that is not in scope")
	for _, end := range []*ir.Expr{s.Over.Lo, s.Over.Hi} {
		v.typed(end, ir.I64)
		v.need(!usesAxis(end, s.Over.Axis), "a scan whose range depends on its own axis %s", s.Over.Axis.Name)
	}
	if s.Guard != nil {
		v.typed(s.Guard, ir.Bool_)
	}
	v.typed(e.Args[0], s.Acc)
}

func usesAxis(e *ir.Expr, a *ir.Axis) bool {
	for _, x := range freeAxes(e) {
		if x == a {
			return true
		}
	}
	return false
}

func (v *verifier) operation(e *ir.Expr) {
	v.need(e.Op.Where&ir.AtTensor != 0 && e.Op.Effect == ir.NoEffect, "%s has no meaning at this level", e.Op.Name)
	v.need(e.Ref == nil, "%s with a reference", e.Op.Name)
	types := make([]ir.Type, len(e.Args))
	for i, a := range e.Args {
		v.expr(a)
		types[i] = a.Type
	}
	t, err := e.Op.ResultType(types)
	v.need(err == nil, "%v", err)
	if !e.Op.Free {
		v.need(t == e.Type, "%s of type %s, expected %s", e.Op.Name, e.Type, t)
	}
	switch e.Op {
	case ir.OpWiden:
		v.need(widens(types[0], e.Type), "widening %s to %s", types[0], e.Type)
	case ir.OpBitcast:
		v.need(types[0].Bits() == e.Type.Bits() && !types[0].IsBool() && !e.Type.IsBool(), "bitcast from %s to %s", types[0], e.Type)
	case ir.OpRand:
		v.need(len(types) > 0, "rand without a seed")
		for _, t := range types {
			v.need(t == ir.I64, "rand of %s, expected i64", t)
		}
	}
}

// widens reports whether values of type from may be taken as values of type to: only digits of large integers can be lost.
// Between integers this is what literals do, which take the type of what they meet.
func widens(from, to ir.Type) bool {
	switch {
	case from.IsBool() || to.IsBool():
		return false
	case to.IsFloat():
		return from.IsInt() || to.Bits() > from.Bits()
	}
	return from.IsInt()
}
