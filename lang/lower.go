package lang

import (
	"encoding/binary"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// lowering turns the terms of one definition, whose ranges are known, into expressions.
type lowering struct {
	env  [maxIndices]*ir.Expr // the axes that the levels mean
	ids  [maxIndices]int32    // a number for each
	axes int32
	own  []ir.Span // the box of the definition
	memo map[string]*ir.Expr
	key  []byte
}

// open binds a level to a new axis, and returns what it meant before.
func (l *lowering) open(level uint8, name string) (axis *ir.Axis, restore func()) {
	e, id := l.env[level], l.ids[level]
	axis = &ir.Axis{Name: name}
	l.axes++
	l.env[level], l.ids[level] = ir.Name(axis), l.axes
	return axis, func() { l.env[level], l.ids[level] = e, id }
}

// settled is the value of t in its own type; literals become i64 or f32.
func (l *lowering) settled(t *term) *ir.Expr { return l.as(t, settled(t.typ)) }

// as is the value of t where an operation happens in type want.
func (l *lowering) as(t *term, want ir.Type) *ir.Expr {
	switch {
	case t.isNumber():
		return numberAs(t, want)
	case t.typ == intLit && want.IsInt():
		return l.value(t, want)
	case t.typ == intLit:
		return convert(l.value(t, ir.I64), want, t.pos)
	case t.typ == floatLit:
		return convert(l.value(t, floatOr32(want)), want, t.pos)
	}
	return convert(l.value(t, t.typ), want, t.pos)
}

// numberAs is a number in the type of the other side. Integers wrap, as arithmetic does.
func numberAs(t *term, want ir.Type) *ir.Expr {
	v := t.num
	switch {
	case want.IsInt() && t.typ.IsInt():
		v = ir.IntConst(ir.Wrap(want.Elem, v.Int()))
	case want != t.typ:
		v = castConst(want, t)
	}
	return constAt(want, v, t.pos)
}

func constAt(t ir.Type, v ir.Const, pos diag.Pos) *ir.Expr {
	e := ir.NewConst(t, v)
	e.Pos = pos
	return e
}

// convert widens a value to the type in which an operation happens.
func convert(e *ir.Expr, want ir.Type, pos diag.Pos) *ir.Expr {
	switch {
	case e.Type == want:
		return e
	case e.Type.IsBool():
		return ir.Fold(ir.NewExpr(ir.OpCast, want, nil, pos, e))
	}
	return ir.Fold(ir.NewExpr(ir.OpWiden, want, nil, pos, e))
}

// cast is the value of t rounded to a type as the program asks for it.
func (l *lowering) cast(t *term, to ir.Type, pos diag.Pos) *ir.Expr {
	var e *ir.Expr
	switch {
	case t.isNumber():
		return constAt(to, castConst(to, t), t.pos)
	case t.typ == floatLit && to == ir.F64:
		e = l.as(t, ir.F64)
	default:
		e = l.settled(t)
	}
	return ir.Fold(ir.NewExpr(ir.OpCast, to, nil, pos, e))
}

// value is t in type at, which is its own unless it is made of literals.
func (l *lowering) value(t *term, at ir.Type) *ir.Expr {
	if !t.shared {
		return l.compute(t, at)
	}
	l.key = binary.LittleEndian.AppendUint32(l.key[:0], uint32(t.serial))
	l.key = append(l.key, at.String()...)
	levelsOf(t.free, func(level uint8) {
		l.key = binary.LittleEndian.AppendUint32(l.key, uint32(l.ids[level]))
	})
	if e, ok := l.memo[string(l.key)]; ok {
		return e
	}
	key := string(l.key)
	e := l.compute(t, at)
	if l.memo == nil {
		l.memo = map[string]*ir.Expr{}
	}
	l.memo[key] = e
	return e
}

func (l *lowering) compute(t *term, at ir.Type) *ir.Expr {
	switch t.kind {
	case numberTerm:
		return numberAs(t, at)
	case indexTerm:
		return l.env[t.level]
	case scalarTerm:
		return t.value
	case readTerm:
		return l.read(t)
	case applyTerm:
		return l.apply(t, at)
	case castTerm:
		return l.conversion(t)
	case bindTerm:
		return l.binding(t)
	}
	panic("lang: a lost term is lowered")
}

// read makes an access; subscripts of tensors count from 0.
func (l *lowering) read(t *term) *ir.Expr {
	at := make([]*ir.Expr, len(t.args))
	for k, a := range t.args {
		at[k] = minus(l.as(a, ir.I64), t.of.lo[k])
	}
	return ir.NewExpr(ir.OpRead, t.typ, tensor.Read{Of: t.of.tensor, Edge: t.edge}, t.pos, at...)
}

// minus is e - lo, where most ranges begin at 0.
func minus(e, lo *ir.Expr) *ir.Expr {
	if lo.IsInt(0) {
		return e
	}
	return ir.Fold(ir.NewExpr(ir.OpSub, ir.I64, nil, e.Pos, e, lo))
}

func (l *lowering) apply(t *term, at ir.Type) *ir.Expr {
	in := t.in
	switch {
	case in != intLit && in != floatLit:
	case t.isLiteral():
		in = at
	default:
		in = settled(in)
	}
	args := make([]*ir.Expr, len(t.args))
	for i, a := range t.args {
		args[i] = l.as(a, operandType(t, i, in))
	}
	out := in
	switch t.op {
	case ir.OpRand:
		out = ir.F32
	default:
		if t.typ.IsBool() {
			out = ir.Bool_
		}
	}
	return ir.Fold(ir.NewExpr(t.op, out, nil, t.pos, args...))
}

// operandType is the type of operand i of an operation in type in.
func operandType(t *term, i int, in ir.Type) ir.Type {
	switch {
	case i == 0 && (t.op == ir.OpIf || t.op == ir.OpSelect):
		return ir.Bool_
	case i == 1 && (t.op == ir.OpShl || t.op == ir.OpShr):
		if a := t.args[1]; !a.isLiteral() {
			return computed(a.typ)
		}
	}
	return in
}

// conversion makes a cast or a bitcast. What is computed is rounded to its type before its bits are taken.
func (l *lowering) conversion(t *term) *ir.Expr {
	a := t.args[0]
	if t.op == ir.OpCast {
		return l.cast(a, t.typ, t.pos)
	}
	e := l.as(a, t.in)
	if a.kind == applyTerm || a.kind == bindTerm {
		e = ir.Fold(ir.NewExpr(ir.OpCast, t.in, nil, t.pos, e))
	}
	return ir.Fold(ir.NewExpr(ir.OpBitcast, t.typ, nil, t.pos, e))
}
