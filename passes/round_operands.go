package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// roundOperands rounds intermediates that are contracted with what is stored in few bits, so that matrix operations take both, as
// the language allows where arithmetic need not be strict. It comes first: what is an intermediate is a question to the program as
// it is written.
//
//	def y[i in 0..M, j in 0..N] = sum[k in 0..K: f32](exp(x[i, k]) * widen.f32(w[k, j]))
//
// becomes, where w is f16,
//
//	def y[i in 0..M, j in 0..N] = sum[k in 0..K: f32](widen.f32(f16(exp(x[i, k]))) * widen.f32(w[k, j]))
func roundOperands(u *Unit) error {
	if u.Strict {
		return nil
	}
	p := copyProgram(u.Tensor)
	for i, d := range p.Defs {
		if d, ok := d.(*tensor.Map); ok {
			r := &rounder{device: u.Device, free: axisSet{}}
			for _, s := range d.Free {
				r.free[s.Axis] = true
			}
			rewriter := ir.Rewriter{Post: r.sum}
			p.Defs[i] = rewriteDef(d, rewriter.Rewrite)
		}
	}
	u.Tensor = p
	return nil
}

// rounder rounds the operands of a definition's sums.
type rounder struct {
	device *device.Device
	free   axisSet
}

// sum rounds the operands of a sum of products.
func (r *rounder) sum(x *ir.Expr) *ir.Expr {
	s, ok := x.Ref.(*tensor.Reduction)
	if !ok || s.Op != ir.Sum || s.Acc != ir.F32 || x.Args[0].Op != ir.OpMul || x.Args[0].Type != ir.F32 {
		return x
	}
	product := x.Args[0]
	for i := range 2 {
		a, b := product.Args[i], product.Args[1-i]
		t := r.narrow(b)
		if !t.IsValid() || !intermediate(a) || !r.contracted(a, b) || holdsAll(t, a, map[*ir.Expr]bool{}) {
			continue
		}
		args := []*ir.Expr{b, b}
		args[i] = ir.Widen(ir.F32, ir.Cast(t, a)).At(a.Pos)
		product = ir.NewExpr(ir.OpMul, ir.F32, nil, product.Pos, args...)
		return ir.NewExpr(x.Op, x.Type, x.Ref, x.Pos, product)
	}
	return x
}

// narrow is the type to which an intermediate is rounded that meets an operand: that in which the operand is stored, if the device
// has matrix operations for it. Numbers of 8 bits are numbers of 16 bits, too.
func (r *rounder) narrow(x *ir.Expr) ir.Type {
	if x.Op != ir.OpWiden || x.Args[0].Op != ir.OpRead || !x.Args[0].Type.IsFloat() || x.Args[0].Type.Bits() > 16 {
		return ir.Type{}
	}
	t := x.Args[0].Type
	if t.Bits() < 16 {
		t = ir.F16
	}
	if !onTensorCores([]dotShape{{t, t, ir.F32}}, r.device) {
		return ir.Type{}
	}
	return t
}

// intermediate reports whether a factor is neither data nor made of constants alone.
func intermediate(x *ir.Expr) bool {
	if r, ok := x.Ref.(tensor.Read); ok {
		return r.Of.Role != tensor.Param
	}
	return !x.IsConst() && x.Op != ir.OpName && !(x.Op == ir.OpWiden && x.Args[0].Op == ir.OpRead)
}

// contracted reports whether each of two factors depends on an axis of the definition on which the other does not, as those of a
// product of matrices do.
func (r *rounder) contracted(a, b *ir.Expr) bool {
	on := func(x *ir.Expr) axisSet {
		out := axisSet{}
		ir.Walk(x, func(y *ir.Expr) {
			if axis, ok := y.Ref.(*ir.Axis); ok && r.free[axis] {
				out[axis] = true
			}
		})
		return out
	}
	onA, onB := on(a), on(b)
	return len(difference(onA, onB)) > 0 && len(difference(onB, onA)) > 0
}
