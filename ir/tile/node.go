// Package tile says how a computation is cut: loops over blocks of elements, values that are tiles of elements over axes, and
// what is loaded and stored where. It knows no threads, no addresses and no barriers of a machine.
package tile

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/module"
	"github.com/gkc-lang/gkc/ir/schedule"
)

// Module is what one kernel of a source file becomes: device kernels in launch order, and the arrays between them.
type Module struct {
	Header
	Kernels []*Kernel
}

// What the level has in common with simt.
type (
	Header = module.Header
	Array  = module.Array
	Role   = module.Role
)

// The roles of arrays.
const (
	Param  = module.Param
	Result = module.Result
	Work   = module.Work
)

// Kernel is one device kernel: a grid loop whose points are independent of each other.
type Kernel struct {
	Name  string
	Lines []int      // lines of the source statements that it computes
	Axes  []*ir.Axis // the axes of tiles; each counts from 0 to its Extent, which uses scalars only
	Body  []Stmt     // one Loop of kind Grid

	Sched   schedule.Choice // what was chosen for the kernel
	Threads int             // of a block; 0: a thread computes an element
}

// Value is a tile: an element for every point of Axes. It is assigned once. Without axes it is one element.
type Value struct {
	Name  string
	Type  ir.Type
	Axes  []*ir.Axis
	Space Space

	Layout  *ir.Layout // of a tile in registers: which element is where; nil: not decided
	Swizzle ir.Swizzle // of a tile in shared memory: of the addresses of its elements, the last axis innermost
}

// RefName is the value's name.
func (v *Value) RefName() string { return v.Name }

// RefType is the type of an element.
func (v *Value) RefType() ir.Type { return v.Type }

// Space is where a tile lives.
type Space uint8

// The spaces.
const (
	Undecided Space = iota
	Reg
	Shared
)

var spaceNames = [...]string{"", "reg", "shared"}

func (s Space) String() string { return spaceNames[s] }

// Stmt is a statement: Loop, If, Load, Store, Map, Dot, Reduce, Scan, Move, Phase or Check. A statement happens for all points
// of its axes at once. Expressions name scalars, axes, and values, which are read at the point that is being computed.
type Stmt interface {
	Place() diag.Pos
	isStmt()
}

// Head is embedded in every statement: where it came from.
type Head struct{ Pos diag.Pos }

// Place is where the statement came from.
func (h Head) Place() diag.Pos { return h.Pos }
func (Head) isStmt()           {}

// LoopKind says how the trips of a loop relate.
type LoopKind uint8

// The kinds of loops.
const (
	Grid   LoopKind = iota // trips are independent blocks; the outermost statement of a kernel
	Serial                 // one after the other
	Unroll                 // one after the other, written out; the bounds are constant
)

var loopNames = [...]string{"grid", "loop", "unroll"}

func (k LoopKind) String() string { return loopNames[k] }

// Loop runs Body for every point of Over: a box for Grid, one span otherwise. Lo and Hi may read tiles: a point whose bounds
// are passed takes no part in the trip and keeps its carried values.
type Loop struct {
	Head
	Kind LoopKind
	Over []ir.Span
	Down bool // from Hi-1 to Lo

	Stages int // of a serial loop: slots of the shared tiles that its body fills, so that trips ahead are under way; 0 and 1: no overlap
	Raster int // of a grid: its last two axes are walked in groups of so many along the first of them; 0: row by row

	Carry []Carry
	Body  []Stmt
}

// Carry is a value that one trip hands to the next. In is First in the first trip and Next of the trip before in the others;
// Out is what the last trip left, or First.
type Carry struct {
	In, Out     *Value
	First, Next *ir.Expr
}

// If runs Then for the points where Cond holds and Else for the others.
type If struct {
	Head
	Cond       *ir.Expr
	Then, Else []Stmt
	Outs       []Phi
}

// Phi is a value that both branches of an If give.
type Phi struct {
	Out        *Value
	Then, Else *ir.Expr
}

// Load reads an element of From for every point. Where Where fails nothing is read and the value is Other.
type Load struct {
	Head
	Out   *Value
	From  *Array
	At    []*ir.Expr
	Where *ir.Expr // nil: always
	Other *ir.Expr // of Out's type; nil where Where is
	Async bool     // into shared memory, past the registers; Other is 0
}

// Store writes Value to an element of To for every point of Axes where Where holds; with Op it combines with what is there, in
// any order.
type Store struct {
	Head
	To    *Array
	At    []*ir.Expr
	Value *ir.Expr
	Axes  []*ir.Axis
	Where *ir.Expr // nil: always
	Op    *ir.Monoid
}

// Map computes Out point by point.
type Map struct {
	Head
	Out  *Value
	Body *ir.Expr
}

// Dot contracts A and B over axes that both have, in Out's type; Into, if set, is added.
type Dot struct {
	Head
	Out, A, B, Into *Value
	Over            []*ir.Axis
	Atom            string // the matrix operation that computes it; empty: multiply and add in registers
}

// Reduce combines In over axes.
type Reduce struct {
	Head
	Out, In *Value
	Over    []*ir.Axis
	Op      *ir.Monoid
}

// Scan combines In along an axis, up to and including (Exclusive: not including) each point.
type Scan struct {
	Head
	Out, In            *Value
	Over               *ir.Axis
	Op                 *ir.Monoid
	Reverse, Exclusive bool
}

// Move is In in another space.
type Move struct {
	Head
	Out, In *Value
}

// Phase separates the block's accesses to memory: what is in front of it happened for all points before anything behind it.
// Without one, a point may read what another point of the block stores neither before nor after.
type Phase struct{ Head }

// Check demands Cond for every point of Axes. Where it fails, the launch fails with Code and Args.
type Check struct {
	Head
	Axes []*ir.Axis
	Cond *ir.Expr
	Code int
	Args []*ir.Expr // i64: the offending index, then the linear index of the element being computed
	Of   *Array     // whose element that is; nil where it is no array of the module
}

// Defined lists the values that a statement defines for the statements behind it.
func Defined(s Stmt) []*Value {
	switch s := s.(type) {
	case *Loop:
		out := make([]*Value, len(s.Carry))
		for i, c := range s.Carry {
			out[i] = c.Out
		}
		return out
	case *If:
		out := make([]*Value, len(s.Outs))
		for i, p := range s.Outs {
			out[i] = p.Out
		}
		return out
	case *Load:
		return []*Value{s.Out}
	case *Map:
		return []*Value{s.Out}
	case *Dot:
		return []*Value{s.Out}
	case *Reduce:
		return []*Value{s.Out}
	case *Scan:
		return []*Value{s.Out}
	case *Move:
		return []*Value{s.Out}
	}
	return nil
}
