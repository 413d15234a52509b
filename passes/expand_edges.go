package passes

import (
	"strconv"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/tensor"
)

func itoa(n int) string { return strconv.Itoa(n) }

// expandEdges turns reads with a boundary into plain ones: zero and const into a guard, the others into subscripts that stay
// inside. An empty tensor reads 0.
//
//	x@zero[i - 1]
//
// becomes
//
//	if i - 1 >= 0 && i - 1 < N { x@trusted[i - 1] } else { 0 }
func expandEdges(u *Unit) error {
	p := copyProgram(u.Tensor)
	for i, d := range p.Defs {
		known := rangesOf(d)
		r := ir.Rewriter{Post: func(x *ir.Expr) *ir.Expr {
			if x.Op != ir.OpRead {
				return x
			}
			return known.expandRead(x)
		}}
		d = rewriteDef(d, r.Rewrite)
		if s, ok := d.(*tensor.Scatter); ok {
			d = known.expandScatter(s)
		}
		p.Defs[i] = d
	}
	u.Tensor = p
	return nil
}

func (r ranges) expandRead(x *ir.Expr) *ir.Expr {
	read := x.Ref.(tensor.Read)
	of, other := read.Of, ir.ZeroOf(x.Type)
	var inside *ir.Expr
	at := x.Args
	switch read.Edge.Kind {
	case tensor.Inside, tensor.Trusted:
		return x
	case tensor.Checked:
		panic("passes: a checked read of " + of.Name + " where faults are explicit")
	case tensor.Zero:
		inside = r.inside(of, at)
	case tensor.Const:
		inside, other = r.inside(of, at), ir.NewConst(x.Type, read.Edge.Value)
	default:
		at, inside = r.fold(of, at, read.Edge.Kind), notEmpty(of)
	}
	plain := ir.NewExpr(ir.OpRead, x.Type, tensor.Read{Of: of, Edge: tensor.Edge{Kind: tensor.Trusted}}, x.Pos, at...)
	return ir.If(inside, plain, other).At(x.Pos)
}

// expandScatter drops what falls outside, or moves it to where the boundary says.
func (r ranges) expandScatter(d *tensor.Scatter) *tensor.Scatter {
	out := *d
	var inside *ir.Expr
	switch d.Edge.Kind {
	case tensor.Inside, tensor.Trusted:
		return d
	case tensor.Checked:
		panic("passes: a checked scatter into " + d.Out.Name + " where faults are explicit")
	case tensor.Zero, tensor.Const:
		inside = r.inside(d.Out, d.At)
	default:
		out.At, inside = r.fold(d.Out, d.At, d.Edge.Kind), notEmpty(d.Out)
	}
	out.Edge = tensor.Edge{Kind: tensor.Trusted}
	out.Guard = ir.AllOf(d.Guard, inside)
	return &out
}

// notEmpty is the condition that a tensor has elements.
func notEmpty(t *tensor.Tensor) *ir.Expr {
	out := ir.True
	for _, n := range t.Extents {
		if s, ok := n.Ref.(*ir.Scalar); ok && s.IsSize && s.Lo > 0 {
			continue
		}
		out = ir.AllOf(out, ir.Gt(n, ir.Int64(0)))
	}
	return out
}

// fold moves subscripts to the element that the boundary means.
func (r ranges) fold(t *tensor.Tensor, at []*ir.Expr, kind tensor.EdgeKind) []*ir.Expr {
	zero, one := ir.Int64(0), ir.Int64(1)
	out := make([]*ir.Expr, len(at))
	for i, x := range at {
		if r.insideDim(t, i, x) == ir.True {
			out[i] = x
			continue
		}
		n := t.Extents[i]
		last := ir.Sub(n, one)
		switch kind {
		case tensor.Clamp:
			out[i] = ir.Min(ir.Max(x, zero), last)
		case tensor.Wrap:
			out[i] = ir.Mod(x, n)
		case tensor.Mirror:
			period := ir.Max(ir.Mul(ir.Int64(2), last), one)
			m := ir.Mod(x, period)
			out[i] = ir.Min(m, ir.Sub(period, m))
		default:
			panic(diag.Errorf(t.Pos, "ir", "the boundary %s of %s has no subscripts", kind, t.Name))
		}
	}
	return out
}
