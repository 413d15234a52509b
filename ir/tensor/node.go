// Package tensor says what is computed: named axes, equations, guards and monoids; no memory and no order.
// Its evaluator (float64, one element at a time) defines the language.
package tensor

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
)

// Program is one kernel of a source file.
type Program struct {
	Name    string
	Scalars []*ir.Scalar   // sizes and scalar parameters, in the order of their first appearance
	Params  []*Tensor      // tensor parameters, in source order
	Results []*Tensor      // in source order; one that is also a parameter is another Tensor of the same name
	Temps   []*Tensor      // what is defined and is no result
	Where   []ir.Condition // what a launch must satisfy
	Defs    []Def          // every definition stands before its uses
	Sites   []ir.Site      // what Check numbers stand for
	Order   []string       // parameter names as the source lists them, scalars among tensors
	Pos     diag.Pos
}

// Tensor is a named array. Subscripts count from 0 on every axis.
type Tensor struct {
	Name    string
	Type    ir.Type
	Extents []*ir.Expr // over Scalars; none: a scalar that is computed
	Role    Role
	Pos     diag.Pos
}

// Role says where a tensor's elements come from.
type Role uint8

// The roles.
const (
	Param Role = iota
	Result
	Temp
)

// RefName is the tensor's name.
func (t *Tensor) RefName() string { return t.Name }

// RefType is the type of an element.
func (t *Tensor) RefType() ir.Type { return t.Type }

// EdgeKind says what a subscript outside the tensor means.
type EdgeKind uint8

// The edges.
const (
	Inside  EdgeKind = iota // proven inside
	Checked                 // through data: a fault where it is outside
	Zero                    // reads 0
	Clamp                   // reads the nearest element
	Wrap                    // is periodic
	Mirror                  // reflects without repeating the edge
	Const                   // reads a value
	Trusted                 // unproven and unchecked (--bounds trust)
)

var edgeNames = [...]string{"inside", "checked", "zero", "clamp", "wrap", "mirror", "const", "trusted"}

func (k EdgeKind) String() string { return edgeNames[k] }

// Edge is an edge kind and, for Const, the value. Empty tensors read 0 under clamp, wrap and mirror.
type Edge struct {
	Kind  EdgeKind
	Value ir.Const
}

// Read is the Ref of an ir.OpRead: one element of a tensor, at the subscripts in Args. It is a value, so that equal reads are
// equal expressions. Each subscript is an i64. A scalar tensor is read with no subscripts.
type Read struct {
	Of   *Tensor
	Edge Edge
}

// RefName is the tensor's name.
func (r Read) RefName() string { return r.Of.Name }

// RefType is the type of an element.
func (r Read) RefType() ir.Type { return r.Of.Type }

// OpReduce and OpScan are the binding operations: the Ref is a *Reduction or a *Scan, Args[0] the element.
var (
	OpReduce = &ir.Op{Name: "reduce", Arity: 1, Rule: func(t []ir.Type) (ir.Type, error) { return t[0], nil }, Where: ir.AtTensor}
	OpScan   = &ir.Op{Name: "scan", Arity: 1, Rule: func(t []ir.Type) (ir.Type, error) { return t[0], nil }, Where: ir.AtTensor}
)

// Reduction combines the elements of Args[0] over a box of axes, in any order. The element has the accumulator's type.
// Elements outside Guard do not take part, and nothing of them is evaluated. Of none the value is the identity.
type Reduction struct {
	Op    *ir.Monoid
	Acc   ir.Type
	Over  []ir.Span
	Guard *ir.Expr // nil: all
}

// Scan combines the elements up to and including (Exclusive: not including) the current one of Over.Axis, which is an axis of
// the definition around it; Reverse counts from the end. Inside Args[0] and Guard the axis means the element being combined.
// Elements outside Guard add nothing, but every position has a value.
type Scan struct {
	Op                 *ir.Monoid
	Acc                ir.Type
	Over               ir.Span
	Reverse, Exclusive bool
	Guard              *ir.Expr
}

// Def defines elements of tensors.
type Def interface {
	// Outs lists what is defined.
	Outs() []*Tensor
	// Where in the source the definition stands.
	Place() diag.Pos
	isDef()
}

// Map defines Out[free - lo] = Body for every element of the box Free, which is all of Out. Body has Out's type.
type Map struct {
	Out  *Tensor
	Free []ir.Span // outermost first; ends use scalars only
	Body *ir.Expr
	Pos  diag.Pos
}

// Scatter combines Body into Out at the subscripts At, for every element of Free, whose later ranges may use earlier axes and
// data. Elements of Out start at Init's elements (nil: the identity of Op), have the accumulator type Acc while they are
// combined in any order, and are converted to Out's type at the end: rounded, truncated, saturated.
type Scatter struct {
	Out   *Tensor
	Free  []ir.Span
	At    []*ir.Expr
	Op    *ir.Monoid
	Acc   ir.Type
	Edge  Edge
	Init  *Tensor  // the parameter that is updated in place
	Guard *ir.Expr // nil: all contribute
	Body  *ir.Expr // of type Acc
	Pos   diag.Pos
}

// Recur defines its Tensors together, step by step along one axis. Tensors[k] has the box Free[k], in which Free[k][Step[k]] is the
// stepping span, the same range for all. A read of one of the Tensors inside a body is one at the current step of a name earlier
// in the list, or one at the step before (subscript axis-1, or axis+1 if Back): at the first step that is From[k], a tensor
// without the stepping axis, read at the other subscripts.
type Recur struct {
	Tensors []*Tensor
	Free    [][]ir.Span
	Step    []int
	Back    bool
	Bodies  []*ir.Expr
	From    []*Tensor // nil where no body reads the step before
	Pos     diag.Pos
}

// Check demands that Fault is 0 for every element of Free. Otherwise the launch fails: the value is (site+1)<<48 plus the
// lower 48 bits of the offending index, of the greatest fault. Of names the result whose elements are at stake.
type Check struct {
	Of    *Tensor
	Free  []ir.Span
	Fault *ir.Expr // i64
	Pos   diag.Pos
}

func (m *Map) Outs() []*Tensor     { return []*Tensor{m.Out} }
func (s *Scatter) Outs() []*Tensor { return []*Tensor{s.Out} }
func (r *Recur) Outs() []*Tensor   { return r.Tensors }
func (c *Check) Outs() []*Tensor   { return nil }

func (m *Map) Place() diag.Pos     { return m.Pos }
func (s *Scatter) Place() diag.Pos { return s.Pos }
func (r *Recur) Place() diag.Pos   { return r.Pos }
func (c *Check) Place() diag.Pos   { return c.Pos }

func (*Map) isDef()     {}
func (*Scatter) isDef() {}
func (*Recur) isDef()   {}
func (*Check) isDef()   {}
