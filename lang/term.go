package lang

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// A term is an expression whose names are resolved and whose macros are expanded. Terms are graphs: the argument of a macro is
// one term however often the macro uses it.
//
// Indices are levels: the number of indices in scope where they are bound. So a level is bound again where a reduction inside a
// macro binds the index that the macro was called with, and the same term means another element there.
type term struct {
	kind   termKind
	shared bool  // a macro can use it more than once
	level  uint8 // of an index
	serial int32 // of a shared term
	depth  int32
	free   uint64  // the levels that it reads from outside
	typ    ir.Type // the zero Type: unknown, because of a mistake that is reported already
	in     ir.Type // the type in which an operation happens
	pos    diag.Pos
	node   *syntax.Node // as it is written
	op     *ir.Op
	num    ir.Const
	args   []*term
	value  *ir.Expr // of a scalar
	of     *variable
	edge   tensor.Edge
	bind   *binding
}

type termKind uint8

const (
	lostTerm termKind = iota // a mistake that is reported already
	numberTerm
	indexTerm
	scalarTerm
	readTerm
	applyTerm // op of args
	castTerm  // OpCast or OpBitcast
	bindTerm  // a reduction, a scan, an extremum's place
)

// binding is what a bindTerm binds.
type binding struct {
	name      string
	spans     []span
	where     *term // nil: all elements take part
	rank      *term // of argtop
	acc       ir.Type
	reverse   bool
	exclusive bool
}

// span is a level that is bound, and the range that it takes: explicit ends, or those that are inferred for r.
type span struct {
	level  uint8
	r      *extent
	lo, hi *term
}

// maxIndices is how many indices may be in scope at once: a set of them is a word.
const maxIndices = 64

func (t *term) isNumber() bool  { return t.kind == numberTerm }
func (t *term) isLiteral() bool { return t.typ == intLit || t.typ == floatLit }

// isInteger reports whether the value is an integer literal, and which.
func (t *term) isInteger() (int64, bool) {
	return t.num.Int(), t.kind == numberTerm && t.typ.IsInt()
}

// Literals take their type from the other operand. Until they do, they have types of their own; the zero Type belongs to terms
// that are lost.
var (
	intLit   = ir.Type{Elem: &ir.DType{Name: "an integer", Bits: 64, Kind: ir.Int}, Pack: 1}
	floatLit = ir.Type{Elem: &ir.DType{Name: "a floating-point number", Bits: 64, Kind: ir.Float}, Pack: 1}
	lostType = ir.Type{}
)

// computed is the type in which arithmetic on values of type t happens.
func computed(t ir.Type) ir.Type {
	if !t.IsValid() {
		return t
	}
	return ir.Type{Elem: t.Elem.Computed(), Pack: 1}
}

// widen is the type of an operation on values of two types.
func widen(a, b ir.Type) ir.Type {
	if a == lostType || b == lostType {
		return lostType
	}
	if a == b && a.IsBool() {
		return a
	}
	a, b = numeric(computed(a)), numeric(computed(b))
	switch {
	case a == b:
		return a
	case a == intLit:
		return b
	case b == intLit:
		return a
	case a == floatLit:
		return floatOr32(b)
	case b == floatLit:
		return floatOr32(a)
	case a == ir.F64 || b == ir.F64:
		return ir.F64
	case a.IsFloat() || b.IsFloat():
		return ir.F32
	}
	return ir.I64 // i32 with u32, or anything with i64
}

// numeric is the type that a bool has among numbers.
func numeric(t ir.Type) ir.Type {
	if t.IsBool() {
		return ir.I32
	}
	return t
}

func floatOr32(t ir.Type) ir.Type {
	if t.IsFloat() {
		return t
	}
	return ir.F32
}

// settled is the type of a value whose literals meet no other type.
func settled(t ir.Type) ir.Type {
	switch t {
	case intLit:
		return ir.I64
	case floatLit:
		return ir.F32
	}
	return t
}
