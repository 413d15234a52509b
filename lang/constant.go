package lang

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// constant is a const of the file; its value is a literal.
type constant struct {
	*Const
	state macroState
	value *term // nil: a mistake is reported already
}

// visibleConst finds a const of the file; the library sees none.
func (x *expander) visibleConst(c context, name string) *constant {
	if c.frame != nil && !c.frame.macro.file {
		return nil
	}
	return x.consts[name]
}

// constant computes a const, once.
func (c *checker) constant(k *constant) (*term, bool) {
	switch k.state {
	case visiting:
		c.fail(k.Pos, "cycle", "const %s is defined in terms of itself", k.Name)
		return nil, false
	case unseen:
		k.state = visiting
		k.value, _ = c.constantExpr(k.Expr)
		k.state = seen
	}
	return k.value, k.value != nil
}

// constantExpr computes an expression of literals and constants.
func (c *checker) constantExpr(n *syntax.Node) (*term, bool) {
	x := &expander{checker: c}
	t := x.expr(context{}, n)
	if x.failed || t.typ == lostType {
		return nil, false
	}
	if !t.isNumber() {
		l := lowering{}
		e := l.settled(t)
		v, err := ir.EvalExpr(e, func(ir.Ref) (ir.Const, bool) { return ir.Const{}, false })
		if err != nil {
			c.fail(n.Pos, "type", "%s is not a constant: %v", show(n), err)
			return nil, false
		}
		t = &term{kind: numberTerm, node: n, pos: n.Pos, typ: e.Type, num: v}
	}
	return asLiteral(t), true
}

// asLiteral forgets the type of a number, so that it takes that of the other side.
func asLiteral(t *term) *term {
	out := *t
	switch {
	case t.typ.IsInt():
		out.typ = intLit
	case t.typ.IsFloat():
		out.typ = floatLit
	}
	return &out
}
