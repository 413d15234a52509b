// Package text writes and reads the expressions of IR text. The three levels share it and add hooks for what only they have:
// reads of tensors, reductions, registers. What Printer writes, Reader reads back as an equal expression.
package text

import (
	"strings"

	"github.com/gkc-lang/gkc/ir"
)

// Printer writes expressions.
type Printer struct {
	strings.Builder
	// Special writes an expression that only the level knows, and reports whether it did. It is asked first, for every
	// expression but constants and names.
	Special func(p *Printer, e *ir.Expr) bool
	// NameOf, where it is set, says how the text calls a Ref that it names.
	NameOf func(r ir.Ref) string
}

// Expr writes e as it stands alone where a value of type want is expected; the zero want expects nothing.
func (p *Printer) Expr(e *ir.Expr, want ir.Type) { p.expr(e, want, 0) }

// String of an expression without level hooks, for messages.
func String(e *ir.Expr) string {
	p := Printer{Special: func(p *Printer, e *ir.Expr) bool {
		if e.Ref == nil || e.Op == ir.OpName {
			return false
		}
		p.WriteString(e.Ref.RefName())
		p.List("[", e.Args, "]")
		return true
	}}
	p.Expr(e, e.Type)
	return p.String()
}

// List writes expressions of index type between brackets.
func (p *Printer) List(opening string, list []*ir.Expr, closing string) {
	p.WriteString(opening)
	for i, e := range list {
		if i > 0 {
			p.WriteString(", ")
		}
		p.Expr(e, ir.I64)
	}
	p.WriteString(closing)
}

const (
	precUnary = 10
	precAtom  = 11
)

func (p *Printer) expr(e *ir.Expr, want ir.Type, prec int) {
	switch e.Op {
	case ir.OpConst:
		p.constant(e, want, prec)
		return
	case ir.OpName:
		if p.NameOf != nil {
			p.WriteString(p.NameOf(e.Ref))
			return
		}
		p.WriteString(e.Ref.RefName())
		return
	}
	if p.Special != nil && p.Special(p, e) {
		return
	}
	switch e.Op {
	case ir.OpNeg, ir.OpNot:
		p.open(prec > precUnary)
		p.WriteString(map[*ir.Op]string{ir.OpNeg: "-", ir.OpNot: "!"}[e.Op])
		if e.Args[0].IsConst() {
			want = ir.Type{} // a sign and a bare number would be one number
		}
		p.expr(e.Args[0], want, precUnary)
		p.close(prec > precUnary)
	case ir.OpIf:
		p.open(prec > 0)
		p.WriteString("if ")
		p.operand(e, 0, ir.Bool_, 0)
		p.WriteString(" { ")
		p.operand(e, 1, want, 0)
		p.WriteString(" } else { ")
		p.operand(e, 2, want, 0)
		p.WriteString(" }")
		p.close(prec > 0)
	case ir.OpCast:
		p.call(e.Type.String(), e)
	case ir.OpWiden, ir.OpBitcast:
		p.call(e.Op.Name+"."+e.Type.String(), e)
	default:
		if e.Op.Infix != "" && len(e.Args) == 2 {
			p.infix(e, want, prec)
			return
		}
		p.call(e.Op.Name, e)
	}
}

func (p *Printer) open(needed bool) {
	if needed {
		p.WriteByte('(')
	}
}

func (p *Printer) close(needed bool) {
	if needed {
		p.WriteByte(')')
	}
}

// constant writes a bare number where the reader would give it the same type, and TYPE(number) elsewhere.
func (p *Printer) constant(e *ir.Expr, want ir.Type, prec int) {
	s := e.Val.Text(e.Type)
	if e.Type != want && !e.Type.IsBool() {
		p.WriteString(e.Type.String() + "(" + s + ")")
		return
	}
	negative := s[0] == '-' && prec >= precUnary
	p.open(negative)
	p.WriteString(s)
	p.close(negative)
}

func (p *Printer) infix(e *ir.Expr, want ir.Type, prec int) {
	mine := e.Op.Prec
	right := mine + 1
	left := mine
	if mine == ir.OpEq.Prec {
		left++ // comparisons do not chain
	}
	p.open(prec > mine)
	p.operand(e, 0, want, left)
	p.WriteString(" " + e.Op.Infix + " ")
	p.operand(e, 1, want, right)
	p.close(prec > mine)
}

func (p *Printer) call(name string, e *ir.Expr) {
	p.WriteString(name + "(")
	for i := range e.Args {
		if i > 0 {
			p.WriteString(", ")
		}
		p.operand(e, i, ir.Type{}, 0)
	}
	p.WriteByte(')')
}

// operand writes operand i of e; what the reader expects there is what Reader.operands says, which this mirrors.
func (p *Printer) operand(e *ir.Expr, i int, want ir.Type, prec int) {
	if !e.Args[i].IsConst() {
		p.expr(e.Args[i], ir.Type{}, prec)
		return
	}
	p.expr(e.Args[i], expected(e.Op, i, want, func(j int) (ir.Type, bool) { return e.Args[j].Type, e.Args[j].IsConst() }, len(e.Args)), prec)
}

// expected gives the type that a bare number takes as operand i: that of the first operand that is no number; where there is
// none, what the whole is expected to be. Operands of free operations stand for themselves.
func expected(op *ir.Op, i int, want ir.Type, operand func(int) (t ir.Type, number bool), n int) ir.Type {
	first := 0
	switch {
	case op.Free || op == ir.OpRand:
		return ir.Type{}
	case op.Where&ir.WarpWide != 0: // the second operand is a lane
		if i == 0 {
			return ir.Type{}
		}
		return ir.I32
	case op == ir.OpShl || op == ir.OpShr:
		n = 1
		if i > 0 { // the count
			return ir.I64
		}
	case op == ir.OpIf || op == ir.OpSelect:
		if i == 0 {
			return ir.Bool_
		}
		first = 1
	}
	for j := first; j < n; j++ {
		if t, number := operand(j); !number {
			return t
		}
	}
	if op.Rule != nil && (op == ir.OpEq || op.Prec == ir.OpEq.Prec) {
		return ir.Type{}
	}
	return want
}
