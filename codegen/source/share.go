package source

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// maxDepth bounds the nesting of a written expression: what is deeper is computed in steps.
const maxDepth = 24

// Merged makes equal parts of expressions one, so that what is shared does not depend on how they were built.
func Merged(list []*ir.Expr) []*ir.Expr {
	one := ir.Unifier()
	out := make([]*ir.Expr, len(list))
	for i, e := range list {
		if out[i] = e; e != nil && !isLeaf(e) {
			out[i] = one.Rewrite(e)
		}
	}
	return out
}

// Shared lists the expressions in roots that get a name of their own, operands first: those that are used more than once, and
// the roots of what nests too deep. Expressions are graphs, and written as trees they could grow exponentially. All operations
// of simt are total, so computing one where nobody asks for it does no harm.
func Shared(roots ...*ir.Expr) []*ir.Expr {
	s := sharing{uses: map[*ir.Expr]int{}, depth: map[*ir.Expr]int{}}
	for _, r := range roots {
		s.count(r)
	}
	for _, r := range roots {
		s.visit(r)
	}
	return s.list
}

type sharing struct {
	uses  map[*ir.Expr]int
	depth map[*ir.Expr]int
	list  []*ir.Expr
}

func (s *sharing) count(e *ir.Expr) {
	if e == nil || isLeaf(e) {
		return
	}
	s.uses[e]++
	if s.uses[e] > 1 {
		return
	}
	for _, a := range e.Args {
		s.count(a)
	}
}

// isLeaf tells what is never named: most of what is written.
func isLeaf(e *ir.Expr) bool { return e.Op == ir.OpConst || e.Op == ir.OpName }

func (s *sharing) visit(e *ir.Expr) int {
	if e == nil {
		return 0
	}
	if isLeaf(e) {
		return 1
	}
	if d, ok := s.depth[e]; ok {
		return d
	}
	d := 0
	for _, a := range e.Args {
		d = max(d, s.visit(a))
	}
	d++
	if !cheap(e) && e.Op.Where&ir.WarpWide == 0 && (s.uses[e] > 1 || d > maxDepth) {
		s.list = append(s.list, e)
		d = 0
	}
	s.depth[e] = d
	return d
}

// cheap expressions are written again wherever they are used.
func cheap(e *ir.Expr) bool {
	switch e.Op {
	case ir.OpConst, ir.OpName, simt.OpAddr:
		return true
	case ir.OpWiden, ir.OpCast, simt.OpElem:
		return cheap(e.Args[0])
	}
	return false
}

// Elementwise rewrites arithmetic on packed words as arithmetic on their elements, but for what the target has a way to say.
func Elementwise(says func(op *ir.Op, t ir.Type) bool) *ir.Rewriter {
	return &ir.Rewriter{Post: func(e *ir.Expr) *ir.Expr {
		if !e.Type.IsPacked() || e.Op.Mean.Any != nil || len(e.Args) == 0 || e.Op.Free || e.Op.Where&ir.WarpWide != 0 || says(e.Op, e.Type) {
			return e
		}
		parts := make([]*ir.Expr, e.Type.Pack)
		for i := range parts {
			args := make([]*ir.Expr, len(e.Args))
			for j, a := range e.Args {
				args[j] = ir.Apply(partOp(e.Type, i), a)
			}
			parts[i] = ir.Apply(e.Op, args...)
		}
		return ir.NewExpr(simt.PackOf(e.Type), e.Type, nil, e.Pos, parts...)
	}}
}

func partOp(t ir.Type, i int) *ir.Op {
	if t.Pack == 4 {
		return simt.OpPart[i]
	}
	return []*ir.Op{simt.OpLo, simt.OpHi}[i]
}
