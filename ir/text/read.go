package text

import (
	"fmt"
	"strings"
	"sync"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// Reader turns written expressions into ir.Expr. Its methods panic with a *diag.Diag on a mistake, as syntax.Parser does;
// run them inside Parser.Catch.
type Reader struct {
	// Name finds the value of a name; nil if there is none.
	Name func(name string) *ir.Expr
	// Special reads what only the level has, and returns nil for what it does not know. It is asked first, for subscripts,
	// calls and binders.
	Special func(r *Reader, n *syntax.Node, want ir.Type) *ir.Expr
}

// Fail stops reading with a mistake.
func (r *Reader) Fail(pos diag.Pos, format string, args ...any) {
	panic(diag.Errorf(pos, "ir", format, args...))
}

// Expr reads n where a value of type want is expected; the zero want expects nothing. Bare numbers take their type from it,
// or from the other operands. A result of another type is a mistake.
func (r *Reader) Expr(n *syntax.Node, want ir.Type) *ir.Expr {
	e := r.expr(n, want)
	if want.IsValid() && e.Type != want {
		r.Fail(n.Pos, "%s is %s, expected %s", String(e), e.Type, want)
	}
	return e
}

// Hint reads n where any type may stand; only bare numbers take theirs from hint.
func (r *Reader) Hint(n *syntax.Node, hint ir.Type) *ir.Expr { return r.expr(n, hint) }

// Index reads an expression of type i64.
func (r *Reader) Index(n *syntax.Node) *ir.Expr { return r.Expr(n, ir.I64) }

func (r *Reader) expr(n *syntax.Node, want ir.Type) *ir.Expr {
	if v, ok := number(n); ok {
		return r.number(n, v, want)
	}
	if n.Kind == syntax.Index || n.Kind == syntax.Call || n.Kind == syntax.Bind {
		if r.Special != nil {
			if e := r.Special(r, n, want); e != nil {
				return placed(e, n.Pos)
			}
		}
	}
	switch n.Kind {
	case syntax.Name:
		if e := r.Name(n.Name); e != nil {
			return placed(e, n.Pos)
		}
		r.Fail(n.Pos, "unknown name %s", n.Name)
	case syntax.Unary:
		return r.apply(n, map[string]*ir.Op{"-": ir.OpNeg, "!": ir.OpNot}[n.Name], want)
	case syntax.Binary:
		return r.apply(n, infixOps()[n.Name], want)
	case syntax.If:
		return r.apply(n, ir.OpIf, want)
	case syntax.Call:
		return r.call(n, want)
	}
	r.Fail(n.Pos, "%s[…] has no meaning here", n.Name)
	return nil
}

// placed gives an expression a position if it has none: what the level shares stays shared.
func placed(e *ir.Expr, pos diag.Pos) *ir.Expr {
	if e.Pos.IsValid() {
		return e
	}
	return e.At(pos)
}

// infixOps are the operations that stand between their operands, by symbol. Levels register theirs while packages are
// initialised, so the table is built when the first text is read.
var infixOps = sync.OnceValue(func() map[string]*ir.Op {
	table := map[string]*ir.Op{}
	for _, o := range ir.Ops {
		if o.Infix != "" {
			table[o.Infix] = o
		}
	}
	return table
})

// literal is a bare number.
type literal struct {
	kind  syntax.NumKind
	bits  uint64
	float float64
	minus bool
	text  string
}

// fits reports whether an integer is a value of t, or the 32 bits of a packed word.
func (v literal) fits(t ir.Type) bool {
	x := int64(v.bits)
	switch {
	case t.IsPacked():
		return !v.minus && v.bits>>32 == 0
	case t.Elem.Kind == ir.Uint && v.minus:
		return x == 0
	case t.Bits() == 64 && t.Elem.Kind == ir.Int:
		return x == 0 || x < 0 == v.minus
	}
	return ir.Wrap(t.Elem, x) == x
}

func number(n *syntax.Node) (literal, bool) {
	switch {
	case n.Kind == syntax.Number:
		return literal{n.NumKind, n.Int, n.Float, false, n.Name}, true
	case n.Kind == syntax.Unary && n.Name == "-" && n.Args[0].Kind == syntax.Number && n.Args[0].NumKind != syntax.BoolNum:
		x := n.Args[0]
		return literal{x.NumKind, -x.Int, -x.Float, true, "-" + x.Name}, true
	}
	return literal{}, false
}

func (r *Reader) number(n *syntax.Node, v literal, want ir.Type) *ir.Expr {
	if !want.IsValid() {
		want = map[syntax.NumKind]ir.Type{syntax.IntNum: ir.I64, syntax.FloatNum: ir.F32, syntax.BoolNum: ir.Bool_}[v.kind]
	}
	var c ir.Const
	switch {
	case v.kind == syntax.BoolNum && want.IsBool():
		c = ir.BoolConst(v.bits != 0)
	case v.kind == syntax.BoolNum || want.IsBool():
		r.Fail(n.Pos, "%s where a value of type %s is expected", v.text, want)
	case want.IsFloat():
		c = ir.FloatConst(ir.RoundTo(want.Elem, v.float))
	case v.kind == syntax.FloatNum:
		r.Fail(n.Pos, "the number %s where a value of type %s is expected", v.text, want)
	default:
		c = ir.Const{Bits: v.bits}
		if !v.fits(want) {
			r.Fail(n.Pos, "%s does not fit %s", v.text, want)
		}
	}
	return ir.NewConst(want, c).At(n.Pos)
}

// apply reads the operands of op and makes the operation.
func (r *Reader) apply(n *syntax.Node, op *ir.Op, want ir.Type) *ir.Expr {
	if op != nil && op.Infix == "" && n.Kind == syntax.Call { // NAME(args) prints its operands without expectation
		want = ir.Type{}
	}
	if op == nil {
		r.Fail(n.Pos, "unknown operator %s", n.Name)
	}
	if op.Arity >= 0 && len(n.Args) != op.Arity {
		r.Fail(n.Pos, "%s takes %d operands, not %d", op.Name, op.Arity, len(n.Args))
	}
	args := r.operands(n, op, want)
	types := make([]ir.Type, len(args))
	for i, a := range args {
		types[i] = a.Type
	}
	t, err := op.ResultType(types)
	if err != nil {
		r.Fail(n.Pos, "%v", err)
	}
	return ir.Fold(ir.NewExpr(op, t, nil, n.Pos, args...))
}

// operands reads those that are no bare numbers first, since they give the others their type.
func (r *Reader) operands(n *syntax.Node, op *ir.Op, want ir.Type) []*ir.Expr {
	args := make([]*ir.Expr, len(n.Args))
	for i, a := range n.Args {
		if _, bare := number(a); bare {
			continue
		}
		w := ir.Type{}
		if op == ir.OpNeg || op == ir.OpNot {
			w = want
		}
		args[i] = r.expr(a, w)
	}
	for i, a := range n.Args {
		v, bare := number(a)
		if !bare {
			continue
		}
		w := expected(op, i, want, func(j int) (ir.Type, bool) {
			_, isNumber := number(n.Args[j])
			if isNumber {
				return ir.Type{}, true
			}
			return args[j].Type, args[j].IsConst()
		}, len(n.Args))
		args[i] = r.number(a, v, w)
	}
	return args
}

// call reads casts, conversions and operations by name.
func (r *Reader) call(n *syntax.Node, want ir.Type) *ir.Expr {
	if t, ok := ir.TypeByName(n.Name); ok {
		x := r.one(n, t)
		if x.IsConst() && x.Type == t {
			return x // a number with its type
		}
		return r.convert(n, ir.OpCast, t, x)
	}
	if dot := strings.LastIndexByte(n.Name, '.'); dot > 0 {
		if t, ok := ir.TypeByName(n.Name[dot+1:]); ok {
			switch n.Name[:dot] {
			case "widen":
				return r.convert(n, ir.OpWiden, t, r.one(n, ir.Type{}))
			case "bitcast":
				return r.convert(n, ir.OpBitcast, t, r.one(n, ir.Type{}))
			}
		}
	}
	op := ir.OpByName(n.Name)
	if op == nil || op.Free {
		r.Fail(n.Pos, "unknown operation %s", n.Name)
	}
	return r.apply(n, op, want)
}

// convert makes a conversion. Those that have no meaning are refused here, since folding needs one.
func (r *Reader) convert(n *syntax.Node, op *ir.Op, t ir.Type, x *ir.Expr) *ir.Expr {
	bool_, packed := x.Type.IsBool() || t.IsBool(), x.Type.IsPacked() || t.IsPacked()
	ok := !packed
	switch op {
	case ir.OpWiden:
		ok = ok && !bool_ && (t.IsFloat() || !x.Type.IsFloat())
	case ir.OpBitcast:
		ok = !bool_ && x.Type.Bits() == t.Bits()
	}
	if !ok {
		r.Fail(n.Pos, "no %s from %s to %s", op.Name, x.Type, t)
	}
	return ir.Fold(ir.NewExpr(op, t, nil, n.Pos, x))
}

// one reads the only operand of a call; a bare number takes type t.
func (r *Reader) one(n *syntax.Node, t ir.Type) *ir.Expr {
	if len(n.Args) != 1 {
		r.Fail(n.Pos, "%s takes one operand, not %d", n.Name, len(n.Args))
	}
	if v, bare := number(n.Args[0]); bare {
		return r.number(n.Args[0], v, t)
	}
	return r.expr(n.Args[0], ir.Type{})
}

// Type reads a type's name.
func Type(p *syntax.Parser) ir.Type {
	t := p.Name("a type")
	ty, ok := ir.TypeByName(t.Text)
	if !ok {
		p.Fail(t.Pos, "ir", "%s", fmt.Sprintf("unknown type %s", t.Text))
	}
	return ty
}
