package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// worst is the greatest of faults; nil entries are none.
func worst(list ...*ir.Expr) *ir.Expr {
	var out *ir.Expr
	for _, g := range list {
		switch {
		case g == nil:
		case out == nil:
			out = g
		case !holds(out, g, worstLeaves):
			out = ir.Max(out, g)
		}
	}
	return out
}

// worstLeaves bounds the search for a fault among others.
const worstLeaves = 16

// holds reports whether g is among the faults of which all is the greatest.
func holds(all, g *ir.Expr, limit int) bool {
	for ; limit > 0; limit-- {
		if ir.Equal(all, g) {
			return true
		}
		if all.Op != ir.OpMax {
			return false
		}
		if ir.Equal(all.Args[1], g) {
			return true
		}
		all = all.Args[0]
	}
	return false
}

func orNone(g *ir.Expr) *ir.Expr {
	if g == nil {
		return noFault
	}
	return g
}

// behind is the fault a where cond holds and b elsewhere.
func (f *faults) behind(cond, a, b *ir.Expr) *ir.Expr {
	if a == nil && b == nil {
		return nil
	}
	return ir.If(f.values.Rewrite(cond), orNone(a), orNone(b))
}

// fault is the fault of an expression, nil where it has none.
func (f *faults) fault(x *ir.Expr) *ir.Expr {
	if x == nil {
		return nil
	}
	if g, ok := f.memo[x]; ok {
		return g
	}
	g := f.build(x)
	f.memo[x] = g
	return g
}

func (f *faults) build(x *ir.Expr) *ir.Expr {
	switch x.Op {
	case ir.OpConst, ir.OpName:
		return nil
	case ir.OpIf:
		return worst(f.fault(x.Args[0]), f.behind(x.Args[0], f.fault(x.Args[1]), f.fault(x.Args[2])))
	case ir.OpAnd:
		return worst(f.fault(x.Args[0]), f.behind(x.Args[0], f.fault(x.Args[1]), nil))
	case ir.OpOr:
		return worst(f.fault(x.Args[0]), f.behind(x.Args[0], nil, f.fault(x.Args[1])))
	case ir.OpRead:
		return f.read(x)
	case tensor.OpReduce:
		return f.reduction(x, x.Ref.(*tensor.Reduction))
	case tensor.OpScan:
		return f.scan(x, x.Ref.(*tensor.Scan))
	}
	var g *ir.Expr
	for _, a := range x.Args {
		g = worst(g, f.fault(a))
	}
	return worst(g, f.operation(x))
}

// operation is the fault that an operation adds to those of its operands.
func (f *faults) operation(x *ir.Expr) *ir.Expr {
	if x.Op.Fault == nil {
		return nil
	}
	cond := x.Op.Fault(mapAll(x.Args, f.values.Rewrite))
	if cond == nil || f.never(cond) {
		return nil
	}
	return ir.If(cond, f.code(ir.Site{Kind: x.Op.FaultText, Text: tensor.ExprText(x), Pos: x.Pos}, nil), noFault)
}

// never reports whether an operation's fault is ruled out by the launch conditions and the ranges of the definition.
func (f *faults) never(cond *ir.Expr) bool {
	if cond.IsConst() {
		return !cond.Val.Bool()
	}
	if cond.Op != ir.OpEq {
		return false
	}
	divisor, zero := cond.Args[0], cond.Args[1]
	return f.facts.Holds(ir.Gt(divisor, zero)) || f.facts.Holds(ir.Lt(divisor, zero))
}

// code adds a site and makes the fault that names it, with an index.
func (f *faults) code(s ir.Site, index *ir.Expr) *ir.Expr {
	if len(f.program.Sites) >= maxSites {
		panic(diag.Errorf(s.Pos, "limit", "more than %d places that may fail", maxSites))
	}
	f.program.Sites = append(f.program.Sites, s)
	code := ir.Int64(int64(len(f.program.Sites)) << faultShift)
	if index == nil {
		return code
	}
	return ir.Apply(ir.OpBitOr, code, ir.Apply(ir.OpBitAnd, index, ir.Int64(1<<faultShift-1)))
}

// outside is the fault of a subscript that leaves its tensor.
func (f *faults) outside(of *tensor.Tensor, dim int, x *ir.Expr, pos diag.Pos) *ir.Expr {
	at := f.values.Rewrite(x)
	good := f.ranges.insideDim(of, dim, at)
	if good == ir.True {
		return nil
	}
	site := ir.Site{Kind: "index", Tensor: of.Name, Dim: dim, Text: tensor.ExprText(x), Pos: x.Pos}
	if !site.Pos.IsValid() {
		site.Pos = pos
	}
	return ir.If(good, noFault, f.code(site, at))
}

// read is the fault of the subscripts, of leaving the tensor, and of the element.
func (f *faults) read(x *ir.Expr) *ir.Expr {
	r := x.Ref.(tensor.Read)
	var g *ir.Expr
	for i, a := range x.Args {
		g = worst(g, f.fault(a))
		if r.Edge.Kind == tensor.Checked && !f.trust {
			g = worst(g, f.outside(r.Of, i, a, x.Pos))
		}
	}
	of := f.of[r.Of]
	if of == nil {
		return g
	}
	at := mapAll(x.Args, f.values.Rewrite)
	switch r.Edge.Kind {
	case tensor.Inside, tensor.Trusted:
		return worst(g, of.at(at, r.Edge.Kind))
	case tensor.Checked, tensor.Zero, tensor.Const:
		return worst(g, ir.If(f.ranges.inside(r.Of, at), of.at(at, tensor.Trusted), noFault))
	}
	return worst(g, ir.If(notEmpty(r.Of), of.at(at, r.Edge.Kind), noFault))
}

// reduction is the greatest fault of the ends of the ranges and of the elements that take part.
func (f *faults) reduction(x *ir.Expr, r *tensor.Reduction) *ir.Expr {
	var g *ir.Expr
	for i, s := range r.Over {
		g = worst(g, f.greatest(r.Over[:i], worst(f.fault(s.Lo), f.fault(s.Hi)), x))
	}
	element := f.fault(x.Args[0])
	if r.Guard != nil {
		element = worst(f.fault(r.Guard), f.behind(r.Guard, element, nil))
	}
	return worst(g, f.greatest(r.Over, element, x))
}

// greatest is the greatest fault over the points of spans.
func (f *faults) greatest(over []ir.Span, g, x *ir.Expr) *ir.Expr {
	if g == nil || len(over) == 0 {
		return g
	}
	if some, ok := f.nonEmpty(over, g); ok {
		return ir.If(some, g, noFault)
	}
	spans := make([]ir.Span, len(over))
	for i, s := range over {
		spans[i] = ir.Span{Axis: s.Axis, Lo: f.values.Rewrite(s.Lo), Hi: f.values.Rewrite(s.Hi)}
	}
	r := &tensor.Reduction{Op: ir.Max_, Acc: ir.I64, Over: spans}
	return ir.Max(tensor.Reduce(r, g).At(x.Pos), noFault)
}

// nonEmpty is the condition that a box has points, where the fault g is the same at all of them.
func (f *faults) nonEmpty(over []ir.Span, g *ir.Expr) (cond *ir.Expr, ok bool) {
	used := axesIn(g)
	cond = ir.True
	for _, s := range over {
		if !scalarOnly(s.Lo) || !scalarOnly(s.Hi) || used[s.Axis] {
			return nil, false
		}
		if !knownPositive(extent(s)) {
			cond = ir.And(cond, ir.Lt(s.Lo, s.Hi))
		}
	}
	return cond, true
}

// scan is the greatest fault of the elements that a prefix combines.
func (f *faults) scan(x *ir.Expr, s *tensor.Scan) *ir.Expr {
	g := worst(f.fault(s.Over.Lo), f.fault(s.Over.Hi))
	element := f.fault(x.Args[0])
	if s.Guard != nil {
		element = worst(f.fault(s.Guard), f.behind(s.Guard, element, nil))
	}
	if element == nil {
		return g
	}
	over := ir.Span{Axis: s.Over.Axis, Lo: f.values.Rewrite(s.Over.Lo), Hi: f.values.Rewrite(s.Over.Hi)}
	prefix := &tensor.Scan{Op: ir.Max_, Acc: ir.I64, Over: over, Reverse: s.Reverse, Exclusive: s.Exclusive}
	return worst(g, ir.Max(ir.NewExpr(tensor.OpScan, ir.I64, prefix, x.Pos, element), noFault))
}
