package lang

import (
	"math/bits"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// symbol is what a name of a kernel means: a scalar, a tensor, or, if neither is set, something that a mistake has lost.
type symbol struct {
	scalar *ir.Scalar
	value  *ir.Expr // of the scalar
	tensor *variable
	pos    diag.Pos
}

// variable is a tensor of a kernel, while the kernel is checked.
type variable struct {
	name    string
	pos     diag.Pos
	typ     ir.Type // lostType where it is not known yet
	rank    int
	rounds  bool           // elements are converted to typ where they are defined
	lo, hi  []*ir.Expr     // nil where they are not known yet
	written []*syntax.Node // declared extents as they are written
	edge    tensor.Edge    // of accesses that have none of their own
	recurs  bool           // its definition, which uses it, is being checked
	axes    []*axis        // of that definition
	tensor  *tensor.Tensor // nil until it is defined without mistakes
}

// scope holds the names that an expression can see, innermost first. A macro's scope begins with nothing.
type scope struct {
	outer *scope
	name  string
	// One of these is set: an index, the value of a macro's parameter or local, or the indices that a macro's binder stands for.
	index *span
	value *term
	given *given
	used  bool // of a value
}

// given is what a macro's call hands down to the reductions inside it.
type given struct {
	spans []span
	where *term
}

// frame is a macro that is being expanded.
type frame struct {
	macro *macro
	call  diag.Pos // of the outermost call
	outer *frame
	depth int
}

// context is where an expression stands.
type context struct {
	scope *scope
	depth int // the next free level
	frame *frame
}

func (c context) find(name string) *scope {
	for s := c.scope; s != nil; s = s.outer {
		if s.name == name {
			return s
		}
	}
	return nil
}

func (c context) with(s scope) context {
	s.outer = c.scope
	c.scope = &s
	return c
}

// pos is where a term is said to come from: what a library macro makes comes from its call.
func (c context) pos(p diag.Pos) diag.Pos {
	if c.frame != nil && c.frame.call.IsValid() {
		return c.frame.call
	}
	return p
}

func levelBit(level uint8) uint64 { return 1 << level }

func levelsOf(free uint64, f func(level uint8)) {
	for ; free != 0; free &= free - 1 {
		f(uint8(bits.TrailingZeros64(free)))
	}
}
