package ir

import (
	"hash/maphash"
	"slices"

	"github.com/gkc-lang/gkc/ir/diag"
)

// Expr is an expression: an operation on operands, a constant, or the value of something a level can refer to.
// Expressions are immutable and may be shared, so a tree is really a graph: walk it with a memo (Walk, Rewrite).
type Expr struct {
	Op   *Op
	Type Type
	Args []*Expr
	Val  Const    // of OpConst
	Ref  Ref      // of OpName, OpRead, and of a level's binding operations (OpReduce, OpScan)
	Pos  diag.Pos // where it came from; no part of its identity
	hash uint64
}

// Ref is something an expression can name: an axis, a run-time scalar, or a level's tensor, value or register.
type Ref interface {
	RefName() string
	RefType() Type
}

// Scope is a Ref that holds expressions of its own, as a reduction holds its ranges and guard. Generic walks go into them.
type Scope interface {
	Ref
	// Exprs lists the expressions that the Ref holds.
	Exprs() []*Expr
	// WithExprs returns a copy that holds these instead, in the order of Exprs.
	WithExprs([]*Expr) Scope
}

// Axis is an index: a name with identity. Two axes are the same only if they are one pointer.
type Axis struct {
	Name   string
	Extent *Expr // nil where the span that binds the axis says it
	Of     *Axis // not nil: the inner part of a split of Of
	Factor int   // of a split: the inner extent
}

// RefName is the axis's name.
func (a *Axis) RefName() string { return a.Name }

// RefType is i64: indices are 64-bit values.
func (a *Axis) RefType() Type { return I64 }

// Span is a half-open range of an axis. Lo and Hi may use outer axes, and data.
type Span struct {
	Axis   *Axis
	Lo, Hi *Expr
}

// Scalar is a run-time value of a launch: a size that the shapes of tensors bind, or a scalar parameter.
type Scalar struct {
	Name     string
	Type     Type   // i64 for sizes
	IsSize   bool   // bound by an extent; otherwise a parameter that the caller passes
	Lo       int64  // a proven lower bound, of integers
	Multiple int64  // a proven divisor, 1 if nothing is known
	Fixed    *Const // set at compile time
	Default  *Const // of a parameter
	Pos      diag.Pos
}

// RefName is the scalar's name.
func (s *Scalar) RefName() string { return s.Name }

// RefType is the scalar's type.
func (s *Scalar) RefType() Type { return s.Type }

// Monoid is an associative operation with an identity: a reduction, a scan, an accumulation.
type Monoid struct {
	Name     string
	Op       *Op
	Identity func(Type) Const
}

var seed = maphash.MakeSeed()

// NewExpr makes an expression of an operation. t is the result's type; for ops that are not Free it must be what the rule
// says: the verifiers check it.
func NewExpr(op *Op, t Type, ref Ref, pos diag.Pos, args ...*Expr) *Expr {
	e := exprOf(args)
	e.Op, e.Type, e.Ref, e.Pos = op, t, ref, pos
	e.hash = e.computeHash()
	return e
}

// exprOf makes room for an expression and a copy of its operands at once, where those are as few as usual.
func exprOf(args []*Expr) *Expr {
	switch len(args) {
	case 0:
		return &Expr{}
	case 1:
		x := &struct {
			Expr
			args [1]*Expr
		}{args: [1]*Expr(args)}
		x.Args = x.args[:]
		return &x.Expr
	case 2:
		x := &struct {
			Expr
			args [2]*Expr
		}{args: [2]*Expr(args)}
		x.Args = x.args[:]
		return &x.Expr
	}
	return &Expr{Args: slices.Clone(args)}
}

// NewConst makes a constant of type t.
func NewConst(t Type, v Const) *Expr {
	e := &Expr{Op: OpConst, Type: t, Val: v}
	e.hash = e.computeHash()
	return e
}

// Name makes the value of a Ref.
func Name(r Ref) *Expr { return NewExpr(OpName, r.RefType(), r, diag.Pos{}) }

func (e *Expr) computeHash() uint64 {
	h := maphash.Comparable(seed, struct {
		op  *Op
		t   Type
		val Const
		ref Ref
	}{e.Op, e.Type, e.Val, e.Ref})
	for _, a := range e.Args {
		h = (h ^ a.hash) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	return h
}

// Hash is equal for equal expressions.
func (e *Expr) Hash() uint64 { return e.hash }

// Equal reports whether two expressions are the same operation on equal operands. Refs are compared by identity.
func Equal(a, b *Expr) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.hash != b.hash || a.Op != b.Op || a.Type != b.Type || a.Val != b.Val || a.Ref != b.Ref || len(a.Args) != len(b.Args) {
		return false
	}
	for i := range a.Args {
		if !Equal(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return true
}

// At returns the expression with another position.
func (e *Expr) At(pos diag.Pos) *Expr {
	if e.Pos == pos {
		return e
	}
	out := *e
	out.Pos = pos
	return &out
}

// IsConst reports whether e is a constant.
func (e *Expr) IsConst() bool { return e.Op == OpConst }

// IntValue is the value of an integer constant.
func (e *Expr) IntValue() (int64, bool) {
	if e != nil && e.Op == OpConst && e.Type.IsInt() {
		return e.Val.Int(), true
	}
	return 0, false
}

// IsInt reports whether e is the integer constant n.
func (e *Expr) IsInt(n int64) bool {
	v, ok := e.IntValue()
	return ok && v == n
}

// Walk calls f once for every distinct expression in e, operands first, going into Scopes.
func Walk(e *Expr, f func(*Expr)) {
	walk(e, map[*Expr]bool{}, f)
}

func walk(e *Expr, seen map[*Expr]bool, f func(*Expr)) {
	if e == nil || seen[e] {
		return
	}
	seen[e] = true
	for _, a := range e.Args {
		walk(a, seen, f)
	}
	if s, ok := e.Ref.(Scope); ok {
		for _, a := range s.Exprs() {
			walk(a, seen, f)
		}
	}
	f(e)
}

// MaxTree bounds what TreeSize counts.
const MaxTree = 1 << 30

// TreeSize is the number of operations of an expression written out as a tree, what a Scope holds included, up to MaxTree. memo
// holds the sizes of expressions that were counted.
func TreeSize(e *Expr, memo map[*Expr]int) int {
	if e == nil {
		return 0
	}
	if n, ok := memo[e]; ok {
		return n
	}
	n := 1
	for _, a := range e.Args {
		n = min(n+TreeSize(a, memo), MaxTree)
	}
	if s, ok := e.Ref.(Scope); ok {
		for _, a := range s.Exprs() {
			n = min(n+TreeSize(a, memo), MaxTree)
		}
	}
	memo[e] = n
	return n
}

// Rewriter replaces expressions, each distinct one once. Its memo makes sharing survive.
type Rewriter struct {
	// Post returns the replacement of an expression whose operands were replaced already; the same pointer keeps it.
	Post func(*Expr) *Expr
	// Pre, where it is set and returns not nil, replaces an expression as a whole: its operands are not visited.
	Pre  func(*Expr) *Expr
	memo Memo[*Expr]
}

// Rewrite applies the rewriter to e, going into Scopes.
func (r *Rewriter) Rewrite(e *Expr) *Expr {
	if e == nil {
		return nil
	}
	if out, ok := r.memo.Get(e); ok {
		return out
	}
	out := r.rewrite(e)
	if out == e && len(e.Args) == 0 {
		return out // it costs less to see that it stays than to remember it
	}
	r.memo.Set(e, out)
	return out
}

func (r *Rewriter) rewrite(e *Expr) *Expr {
	if r.Pre != nil {
		if out := r.Pre(e); out != nil {
			return out
		}
	}
	args, changed := r.rewriteAll(e.Args)
	ref := e.Ref
	if s, ok := ref.(Scope); ok {
		if held, differs := r.rewriteAll(s.Exprs()); differs {
			ref, changed = s.WithExprs(held), true
		}
	}
	out := e
	if changed {
		out = &Expr{Op: e.Op, Type: e.Type, Args: args, Val: e.Val, Ref: ref, Pos: e.Pos}
		out.hash = out.computeHash()
	}
	if r.Post != nil {
		return r.Post(out)
	}
	return out
}

func (r *Rewriter) rewriteAll(in []*Expr) (out []*Expr, changed bool) {
	for i, a := range in {
		b := r.Rewrite(a)
		if b != a && !changed {
			out, changed = append(make([]*Expr, 0, len(in)), in[:i]...), true
		}
		if changed {
			out = append(out, b)
		}
	}
	if !changed {
		return in, false
	}
	return out, true
}

// Substitute replaces the value of each Ref that has an entry.
func Substitute(e *Expr, with map[Ref]*Expr) *Expr {
	r := Rewriter{Post: func(x *Expr) *Expr {
		if x.Op == OpName {
			if y, ok := with[x.Ref]; ok {
				return y
			}
		}
		return x
	}}
	return r.Rewrite(e)
}

// Uses reports whether e names r.
func Uses(e *Expr, r Ref) bool {
	found := false
	Walk(e, func(x *Expr) { found = found || x.Ref == r })
	return found
}
