package syntax

import "github.com/gkc-lang/gkc/ir/diag"

// NodeKind classifies an expression as it is written.
type NodeKind uint8

// The kinds of expressions.
const (
	Number NodeKind = iota // 12 1.5 inf nan pi true false
	Name                   // x
	Index                  // x[i, j], x@zero[i - 1]
	Call                   // f(x, y)
	Bind                   // sum[j in lo..hi where c](x)
	Unary                  // -x !x
	Binary                 // x + y
	If                     // if c { x } else { y }
)

// Node is an expression as it is written.
type Node struct {
	Kind     NodeKind
	NumKind  NumKind
	Paren    bool // it stood in parentheses of its own
	Pos, End diag.Pos
	OpPos    diag.Pos // of the operator of a Binary
	Name     string   // of Name, Index, Call, Bind; the operator of Unary and Binary; the text of a Number
	Int      uint64
	Float    float64
	Args     []*Node // operands; condition, then and else of an If; subscripts of an Index
	Edge     *Edge   // of an Index
	Binders  []Binder
	Where    *Node // of a Bind
	height   int32 // of the tree of operators below
}

// NumKind classifies a Number.
type NumKind uint8

// The kinds of numbers.
const (
	IntNum NumKind = iota
	FloatNum
	BoolNum // Int is 0 or 1
)

// Edge is a boundary: what a subscript outside the tensor reads.
type Edge struct {
	Kind  string // zero clamp wrap mirror const, and what IR text adds
	Value *Node  // of const
	Pos   diag.Pos
}

// Binder is an index that a reduction, a scan or a macro binds, or the range of a statement.
type Binder struct {
	Name    string
	Pos     diag.Pos
	Lo, Hi  *Node // nil: inferred
	Type    string
	TypePos diag.Pos
	Flags   []string // reverse exclusive
}
