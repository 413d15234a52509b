// Package lang turns gk source text into checked tensor programs: tokens and statements, names and macros, types and ranges,
// proofs of bounds, diagnostics, and the formatter.
package lang

import (
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// File is a source file as it is written: everything that could be read of it.
type File struct {
	Name  string
	Items []Item          // in source order
	Lost  map[string]bool // names of declarations that could not be read: their uses are no mistakes
}

// Item is a declaration: *Const, *Func, *Kernel or *Example.
type Item interface{ Place() diag.Pos }

// Const is const NAME = expr.
type Const struct {
	Name string
	Pos  diag.Pos // of the name
	Expr *syntax.Node
}

// Func is a macro over expressions.
type Func struct {
	Name    string
	Pos     diag.Pos
	Binders []Word
	Params  []Word
	Lets    []Let // empty where the body is a single expression
	Result  *syntax.Node
}

// Word is a name with its place.
type Word struct {
	Text string
	Pos  diag.Pos
}

// Let is a local name of a macro.
type Let struct {
	Word
	Expr *syntax.Node
}

// Kernel is a kernel.
type Kernel struct {
	Name    string
	Pos     diag.Pos
	Params  []*Param
	Results []*Param
	Where   []*syntax.Node
	Body    []*Stmt
	Lost    map[string]bool // names of statements and parameters that could not be read: their uses are no mistakes
}

// Param is a parameter, a result, or an intermediate that is declared because it is scattered into.
type Param struct {
	Word
	Type    Word
	Extents []*syntax.Node // nil: a scalar
	Edge    *syntax.Edge
	Default *syntax.Node
}

// Stmt is a statement of a kernel's body. Declare is set for a declaration NAME: dtype[extents], and nothing else then.
type Stmt struct {
	Declare *Param
	Word                   // the name it defines
	Edge    *syntax.Edge   // of a scatter
	Indices []*syntax.Node // nil: a scalar
	Type    Word           // empty: none
	Op      string         // = += max= min=
	OpPos   diag.Pos
	Expr    *syntax.Node
	From    *syntax.Node
	Ranges  []syntax.Binder // behind for
}

// Example names sizes and scalar values for a kernel.
type Example struct {
	Kernel Word
	Values []Let
}

func (c *Const) Place() diag.Pos   { return c.Pos }
func (f *Func) Place() diag.Pos    { return f.Pos }
func (k *Kernel) Place() diag.Pos  { return k.Pos }
func (e *Example) Place() diag.Pos { return e.Kernel.Pos }
