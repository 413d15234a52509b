package tensor

import "github.com/gkc-lang/gkc/ir"

// RefName is the monoid's name.
func (r *Reduction) RefName() string { return r.Op.Name }

// RefType is the accumulator's type.
func (r *Reduction) RefType() ir.Type { return r.Acc }

// Exprs lists the ends of the ranges and the guard.
func (r *Reduction) Exprs() []*ir.Expr {
	out := make([]*ir.Expr, 0, 2*len(r.Over)+1)
	for _, s := range r.Over {
		out = append(out, s.Lo, s.Hi)
	}
	return append(out, r.Guard)
}

// WithExprs returns a copy with other ends and guard.
func (r *Reduction) WithExprs(e []*ir.Expr) ir.Scope {
	out := *r
	out.Over = make([]ir.Span, len(r.Over))
	for i, s := range r.Over {
		out.Over[i] = ir.Span{Axis: s.Axis, Lo: e[2*i], Hi: e[2*i+1]}
	}
	out.Guard = e[len(e)-1]
	return &out
}

// RefName is the monoid's name.
func (s *Scan) RefName() string { return s.Op.Name }

// RefType is the accumulator's type.
func (s *Scan) RefType() ir.Type { return s.Acc }

// Exprs lists the ends of the range and the guard.
func (s *Scan) Exprs() []*ir.Expr { return []*ir.Expr{s.Over.Lo, s.Over.Hi, s.Guard} }

// WithExprs returns a copy with other ends and guard.
func (s *Scan) WithExprs(e []*ir.Expr) ir.Scope {
	out := *s
	out.Over.Lo, out.Over.Hi, out.Guard = e[0], e[1], e[2]
	return &out
}

// Reduce makes a reduction of body.
func Reduce(r *Reduction, body *ir.Expr) *ir.Expr {
	return ir.NewExpr(OpReduce, r.Acc, r, body.Pos, body)
}

// ReadOf makes the read of an element.
func ReadOf(t *Tensor, edge Edge, at ...*ir.Expr) *ir.Expr {
	return ir.NewExpr(ir.OpRead, t.Type, Read{t, edge}, t.Pos, at...)
}
