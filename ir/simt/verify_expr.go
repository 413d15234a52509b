package simt

import (
	"fmt"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/text"
)

func show(e *ir.Expr) string {
	w := text.Printer{Special: special}
	w.Expr(e, e.Type)
	return w.String()
}

// root checks the value of a Let or a Set, where warp-wide and opaque operations may stand.
func (v *verifier) root(e *ir.Expr, want ir.Type, what string) {
	if !v.require(e != nil, "%s is missing", what) {
		return
	}
	v.expr(e, want, what)
	for _, a := range e.Args {
		v.plain(a)
	}
}

// operand checks an expression anywhere else.
func (v *verifier) operand(e *ir.Expr, want ir.Type, what string) {
	if !v.require(e != nil, "%s is missing", what) {
		return
	}
	v.expr(e, want, what)
	v.plain(e)
}

// index checks a subscript of memory.
func (v *verifier) index(e *ir.Expr, what string) {
	if !v.require(e != nil, "%s has no subscript", what) {
		return
	}
	v.operand(e, e.Type, what)
	v.require(e.Type == ir.I32 || e.Type == ir.I64 || e.Type == ir.U32 || e.Type == ir.U64, "%s: a subscript of type %s", what, e.Type)
}

// plain: an operation whose moment matters is a statement of its own.
func (v *verifier) plain(e *ir.Expr) {
	ir.Walk(e, func(x *ir.Expr) {
		if x.Op.Where&ir.WarpWide != 0 || x.Op.Effect != ir.NoEffect {
			v.fail("%s may stand only as the whole value of a let or an assignment", x.Op.Name)
		}
	})
}

// expr checks types, and that all names are visible and have values.
func (v *verifier) expr(e *ir.Expr, want ir.Type, what string) {
	old := v.pos
	if e.Pos.IsValid() {
		v.pos = e.Pos
	}
	defer func() { v.pos = old }()
	ir.Walk(e, func(x *ir.Expr) {
		v.ref(x)
		if !v.typed[x] {
			v.typed[x] = true
			if err := checkType(x); err != nil {
				v.fail("%s: %v", what, err)
			}
		}
	})
	v.require(e.Type == want, "%s: %s is %s, expected %s", what, show(e), e.Type, want)
}

// ref checks what an expression names.
func (v *verifier) ref(x *ir.Expr) {
	if x.Op != ir.OpName && x.Op != OpElem && x.Op != OpAddr {
		return
	}
	if !v.require(x.Ref != nil && v.visible[x.Ref], "%s is not declared here", refName(x.Ref)) {
		return
	}
	r, isReg := x.Ref.(*Reg)
	switch {
	case x.Op == OpAddr:
		b, ok := x.Ref.(*Buffer)
		v.require(ok && b.Space == Shared, "addr of %s, which is not in shared memory", refName(x.Ref))
	case x.Op == OpElem:
		if v.require(isReg && r.Len > 0 && len(x.Args) == 1, "%s is no array", refName(x.Ref)) {
			v.subscript(r, x.Args[0], 1)
		}
	case isReg:
		v.require(r.Len == 0, "the array %s stands for a value", r.Name)
		v.require(!v.unset[r], "%s is used before it has a value", r.Name)
	}
	if _, isBuffer := x.Ref.(*Buffer); isBuffer && x.Op == ir.OpName {
		v.fail("the buffer %s stands for a value", refName(x.Ref))
	}
}

func refName(r ir.Ref) string {
	if r == nil {
		return "a name"
	}
	return r.RefName()
}

// subscript checks that n elements of an array from at on are there, and constants once loops are unrolled.
func (v *verifier) subscript(r *Reg, at *ir.Expr, n int) {
	if !at.Type.IsInt() {
		v.fail("the subscript of %s is of type %s", r.Name, at.Type)
		return
	}
	lo, hi, ok := span(at, v.loops, &v.fuel)
	if !v.require(v.fuel > 0, "the loops marked unroll make more subscripts than can be looked at") {
		return
	}
	if !v.require(ok, "the subscript %s of %s is no constant, even with the loops marked unroll written out", show(at), r.Name) {
		return
	}
	v.require(lo >= 0 && hi+int64(n) <= int64(r.Len), "subscripts %d..%d of %s, which has %d elements", lo, hi+int64(n), r.Name, r.Len)
}

// checkType checks one operation, given that its operands are what they say.
func checkType(e *ir.Expr) error {
	if !e.Type.IsValid() {
		return fmt.Errorf("%s has no type", e.Op.Name)
	}
	if e.Op.Where&ir.AtSimt == 0 {
		return fmt.Errorf("%s has no meaning at this level", e.Op.Name)
	}
	switch e.Op {
	case ir.OpConst:
		return checkConst(e)
	case ir.OpName, OpElem:
		if e.Ref == nil || e.Type != e.Ref.RefType() {
			return fmt.Errorf("%s is said to be %s", refName(e.Ref), e.Type)
		}
		return nil
	case OpAddr:
		if e.Type != ir.U32 || len(e.Args) != 1 || !e.Args[0].Type.IsInt() {
			return fmt.Errorf("addr of type %s", e.Type)
		}
		return nil
	}
	types := make([]ir.Type, len(e.Args))
	for i, a := range e.Args {
		types[i] = a.Type
		if a.Type.IsPacked() && e.Type.IsBool() {
			return fmt.Errorf("%s compares packed words", e.Op.Name)
		}
	}
	t, err := e.Op.ResultType(types)
	switch {
	case err != nil:
		return err
	case e.Op.Free:
		return checkConversion(e, types[0])
	case t != e.Type:
		return fmt.Errorf("%s is said to be %s, and is %s", e.Op.Name, e.Type, t)
	case e.Op == ir.OpRand:
		for _, a := range types {
			if a != ir.I64 {
				return fmt.Errorf("rand of %s, expected i64", a)
			}
		}
	}
	return nil
}

func checkConst(e *ir.Expr) error {
	ok := true
	switch {
	case e.Type.IsPacked():
		ok = e.Val.Bits>>32 == 0
	case e.Type.IsBool():
		ok = e.Val.Bits <= 1
	case e.Type.IsInt():
		ok = ir.Wrap(e.Type.Elem, e.Val.Int()) == e.Val.Int()
	default:
		x := e.Val.Float()
		ok = x != x || ir.RoundTo(e.Type.Elem, x) == x
	}
	if !ok {
		return fmt.Errorf("the constant %s is no value of type %s", e.Val.Text(e.Type), e.Type)
	}
	return nil
}

func checkConversion(e *ir.Expr, from ir.Type) error {
	to := e.Type
	ok := !from.IsPacked() && !to.IsPacked()
	switch e.Op {
	case ir.OpWiden:
		ok = ok && !from.IsBool() && !to.IsBool() && (!from.IsFloat() || to.IsFloat() && to.Bits() >= from.Bits())
	case ir.OpBitcast:
		ok = from.Bits() == to.Bits() && !from.IsBool() && !to.IsBool()
	}
	if !ok {
		return fmt.Errorf("no %s from %s to %s", e.Op.Name, from, to)
	}
	return nil
}
