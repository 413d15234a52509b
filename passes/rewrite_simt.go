package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// eachKernel makes a unit whose device kernels have other bodies. What f is given stays as it is.
func eachKernel(u *Unit, f func(*simt.Kernel) []simt.Stmt) {
	out := &simt.Module{Header: u.Simt.Header, Kernels: make([]*simt.Kernel, len(u.Simt.Kernels))}
	atOnce(len(out.Kernels), func(i int) {
		c := *u.Simt.Kernels[i]
		c.Body = f(u.Simt.Kernels[i])
		out.Kernels[i] = &c
	})
	u.Simt = out
}

// withBlocks is a copy of a statement whose inner lists are replaced; a statement without any is returned itself.
func withBlocks(s simt.Stmt, f func([]simt.Stmt) []simt.Stmt) simt.Stmt {
	switch s := s.(type) {
	case *simt.For:
		c := *s
		c.Body = f(s.Body)
		return &c
	case *simt.While:
		c := *s
		c.Pre, c.Body = f(s.Pre), f(s.Body)
		return &c
	case *simt.If:
		c := *s
		c.Then, c.Else = f(s.Then), f(s.Else)
		return &c
	case *simt.Roles:
		c := *s
		c.Arms = make([]*simt.Arm, len(s.Arms))
		for i, a := range s.Arms {
			arm := *a
			arm.Body = f(a.Body)
			c.Arms[i] = &arm
		}
		return &c
	}
	return s
}

// pure reports whether an operation is its value and nothing else: it may be left out, moved, and done once instead of twice.
func pure(op *ir.Op) bool { return op.Effect == ir.NoEffect && op.Where&ir.WarpWide == 0 }

// written lists the registers that a statement itself gives values, besides those that it declares.
func written(s simt.Stmt) []*simt.Reg {
	switch s := s.(type) {
	case *simt.Set:
		return []*simt.Reg{s.Reg}
	case *simt.Load:
		return []*simt.Reg{s.To.Reg}
	case *simt.Store:
		if s.Old != nil {
			return []*simt.Reg{s.Old}
		}
	case *simt.Mma:
		return []*simt.Reg{s.D.Reg}
	}
	return nil
}

// declared is the register that a statement declares; nil if it declares none.
func declared(s simt.Stmt) *simt.Reg {
	switch s := s.(type) {
	case *simt.Let:
		return s.Reg
	case *simt.For:
		return s.Var
	}
	return nil
}

// readWhole lists registers that a statement reads as such, not by an expression.
func readWhole(s simt.Stmt) []*simt.Reg {
	var out []*simt.Reg
	if m, ok := s.(*simt.Mma); ok {
		for _, o := range []simt.Operand{m.A, m.B} {
			if o.Slice != nil {
				out = append(out, o.Slice.Reg)
			}
		}
	}
	return out
}
