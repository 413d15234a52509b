package tile

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
)

// expr checks an expression of type want at points of the given axes.
func (v *verifier) expr(e *ir.Expr, want ir.Type, axes []*ir.Axis) {
	if e == nil {
		v.fail("an expression is missing")
	}
	v.types(e)
	if e.Type != want {
		v.fail("a value of type %s where %s is expected", e.Type, want)
	}
	for _, a := range v.depends(e, nil) {
		if !slices.Contains(axes, a) {
			v.fail("%s depends on axis %s, which is not there", expr(e, want), a.Name)
		}
	}
}

// types checks every operation of e, and that it names only what is visible.
func (v *verifier) types(e *ir.Expr) {
	ir.Walk(e, func(x *ir.Expr) {
		switch {
		case x.Op == ir.OpConst:
			return
		case x.Op == ir.OpName:
			if v.sees[x.Ref] == nil {
				v.fail("%s is not visible here", x.Ref.RefName())
			}
			if x.Type != x.Ref.RefType() {
				v.fail("%s is %s, named as %s", x.Ref.RefName(), x.Ref.RefType(), x.Type)
			}
			if t, ok := x.Ref.(*Value); ok && t.Space == Shared {
				v.fail("%s is in shared memory, and read by an expression: a move takes it to registers", t.Name)
			}
			return
		case v.typed[x]:
			return
		}
		v.operation(x)
		v.typed[x] = true
	})
}

func (v *verifier) operation(x *ir.Expr) {
	if x.Op.Where&ir.AtTile == 0 || x.Op == ir.OpRead || x.Op.Where&ir.WarpWide != 0 || x.Op.Effect != ir.NoEffect {
		v.fail("%s has no meaning on tiles", x.Op.Name)
	}
	if x.Type.IsPacked() {
		v.fail("%s gives %s", x.Op.Name, x.Type)
	}
	types := make([]ir.Type, len(x.Args))
	for i, a := range x.Args {
		types[i] = a.Type
	}
	t, err := x.Op.ResultType(types)
	switch {
	case err != nil:
		v.fail("%v", err)
	case !x.Op.Free && t != x.Type:
		v.fail("%s gives %s, not %s", x.Op.Name, t, x.Type)
	case x.Op == ir.OpBitcast && types[0].Bits() != x.Type.Bits():
		v.fail("bitcast from %s to %s", types[0], x.Type)
	}
}

// depends adds to axes those on which the value of e depends.
func (v *verifier) depends(e *ir.Expr, axes []*ir.Axis) []*ir.Axis {
	ir.Walk(e, func(x *ir.Expr) {
		if i := v.sees[x.Ref]; x.Op == ir.OpName && i != nil {
			for _, a := range i.axes {
				if !slices.Contains(axes, a) {
					axes = append(axes, a)
				}
			}
		}
	})
	return axes
}

// operand checks that a statement over whole tiles may read a value.
func (v *verifier) operand(x *Value) {
	if x == nil || v.sees[x] == nil {
		v.fail("an operand that is not visible here")
	}
}

// meeting checks the statements in which the points of a block meet.
func (v *verifier) meeting(s Stmt) {
	switch s := s.(type) {
	case *Dot:
		v.dot(s)
	case *Reduce:
		v.operand(s.In)
		v.axes(s.Over)
		v.same(s.Out.Axes, without(s.In.Axes, s.Over), s.Out)
		if s.Out.Type != s.In.Type || !combines(s.Op, s.In.Type) || !contains(s.In.Axes, s.Over) {
			v.fail("reduce %s of %s over %s", s.Op.Name, s.In.Name, names(s.Over))
		}
		v.value(s.Out)
	case *Scan:
		v.operand(s.In)
		v.same(s.Out.Axes, s.In.Axes, s.Out)
		if s.Out.Type != s.In.Type || !combines(s.Op, s.In.Type) || !slices.Contains(s.In.Axes, s.Over) {
			v.fail("scan %s of %s over %s", s.Op.Name, s.In.Name, s.Over.Name)
		}
		v.value(s.Out)
	case *Move:
		v.operand(s.In)
		v.same(s.Out.Axes, s.In.Axes, s.Out)
		if s.Out.Type != s.In.Type {
			v.fail("move of %s, which is %s, to %s", s.In.Name, s.In.Type, s.Out.Type)
		}
		v.held(s.Out)
	}
}

func (v *verifier) dot(s *Dot) {
	v.operand(s.A)
	v.operand(s.B)
	v.axes(s.Over)
	if len(s.Over) == 0 || !contains(s.A.Axes, s.Over) || !contains(s.B.Axes, s.Over) {
		v.fail("dot over %s, which not both operands have", names(s.Over))
	}
	v.same(s.Out.Axes, without(append(slices.Clone(s.A.Axes), without(s.B.Axes, s.A.Axes)...), s.Over), s.Out)
	if s.Into != nil {
		v.operand(s.Into)
		v.same(s.Into.Axes, s.Out.Axes, s.Into)
		if s.Into.Type != s.Out.Type {
			v.fail("%s is added to %s", s.Into.Type, s.Out.Type)
		}
	}
	for _, t := range []ir.Type{s.A.Type, s.B.Type} {
		if !combines(ir.Sum, s.Out.Type) || t.IsFloat() != s.Out.Type.IsFloat() || t.IsBool() {
			v.fail("dot of %s in %s", t, s.Out.Type)
		}
	}
	v.value(s.Out)
}

// same demands that a value has these axes, in any order.
func (v *verifier) same(got, want []*ir.Axis, of *Value) {
	if len(got) != len(want) || !contains(got, want) {
		v.fail("%s has axes [%s], expected [%s]", of.Name, names(got), names(want))
	}
}

func contains(all, some []*ir.Axis) bool {
	for _, a := range some {
		if !slices.Contains(all, a) {
			return false
		}
	}
	return true
}

func without(list, drop []*ir.Axis) []*ir.Axis {
	var out []*ir.Axis
	for _, a := range list {
		if !slices.Contains(drop, a) {
			out = append(out, a)
		}
	}
	return out
}
