package passes

import (
	"strconv"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// unroll writes out loops that are marked so, as long as the kernel stays of a size that is quick to compile: the others stay
// loops, for the printers. Registers that are declared in the loop get a name for each turn.
//
//	for i: i32 in 0..2 unroll {
//	  let x: f32 = a[2 * i]
//	  s[i] = x * x
//	}
//
// becomes
//
//	let x: f32 = a[0]
//	s[0] = x * x
//	let x.1: f32 = a[2]
//	s[1] = x.1 * x.1
func unroll(u *Unit) error {
	eachKernel(u, func(k *simt.Kernel) []simt.Stmt {
		w := &unroller{names: kernelNames(k), declared: countNames(k.Body), left: maxUnrolled}
		return w.list(k.Body)
	})
	return nil
}

// maxUnrolled bounds the statements of a kernel that come from loops written out.
const maxUnrolled = 4096

type unroller struct {
	names    map[string]bool
	declared map[string]int
	left     int
}

func (w *unroller) list(body []simt.Stmt) []simt.Stmt {
	var out []simt.Stmt
	for _, s := range body {
		f, ok := s.(*simt.For)
		if lo, trips, counted := turns(f); ok && counted && w.affords(trips, f.Body) {
			for i := range trips {
				if f.Down {
					i = trips - 1 - i
				}
				out = append(out, w.list(w.turn(f, lo+i*f.Step))...)
			}
			continue
		}
		out = append(out, withBlocks(s, w.list))
	}
	return out
}

// turns is where a loop that is marked begins, and how often it runs, if both are certain.
func turns(f *simt.For) (lo, trips int64, ok bool) {
	if f == nil || !f.Unroll || f.Step < 1 {
		return 0, 0, false
	}
	lo, okLo := f.Lo.IntValue()
	hi, okHi := f.Hi.IntValue()
	if !okLo || !okHi || hi-lo > maxUnrolled*f.Step {
		return 0, 0, false
	}
	return lo, max(0, (hi-lo+f.Step-1)/f.Step), true
}

// affords takes what a loop needs from what is left.
func (w *unroller) affords(trips int64, body []simt.Stmt) bool {
	n := int64(0)
	simt.Walk(body, func(simt.Stmt) { n++ })
	if n *= trips; n > int64(w.left) {
		return false
	}
	w.left -= int(n)
	return true
}

// turn is the body of a loop for one value of its variable.
func (w *unroller) turn(f *simt.For, value int64) []simt.Stmt {
	c := &cloner{regs: map[*simt.Reg]*simt.Reg{}, values: map[ir.Ref]*ir.Expr{f.Var: ir.NewConst(f.Var.Type, ir.IntConst(value))}}
	c.rewriter.Post = c.expr
	for _, s := range f.Body {
		if let, ok := s.(*simt.Let); ok { // its name moves to the list around
			c.rename(let.Reg, w.fresh(let.Reg.Name))
		}
	}
	return c.list(f.Body)
}

// fresh is a name for a register that is declared once more. The first of them keeps its own, where no other has it.
func (w *unroller) fresh(name string) string {
	if w.declared[name] == 1 {
		w.declared[name] = 0
		return name
	}
	for i := 1; ; i++ {
		if next := name + "." + strconv.Itoa(i); !w.names[next] {
			w.names[next] = true
			return next
		}
	}
}

// cloner copies statements: registers that they declare are others, and names may stand for values.
type cloner struct {
	regs     map[*simt.Reg]*simt.Reg
	values   map[ir.Ref]*ir.Expr
	rewriter ir.Rewriter
}

func (c *cloner) rename(r *simt.Reg, name string) {
	reg := *r
	reg.Name = name
	c.regs[r] = &reg
}

func (c *cloner) list(body []simt.Stmt) []simt.Stmt {
	out := make([]simt.Stmt, len(body))
	m := exprMap{c.rewriter.Rewrite, c.rewriter.Rewrite}
	for i, s := range body {
		if r := declared(s); r != nil && c.regs[r] == nil {
			c.rename(r, r.Name)
		}
		out[i] = withBlocks(c.registers(m.stmt(s)), c.list)
	}
	return out
}

// registers replaces those that a statement names itself. It is given a copy.
func (c *cloner) registers(s simt.Stmt) simt.Stmt {
	switch s := s.(type) {
	case *simt.Let:
		s.Reg = c.reg(s.Reg)
	case *simt.Set:
		s.Reg = c.reg(s.Reg)
	case *simt.For:
		s.Var = c.reg(s.Var)
	case *simt.Load:
		s.To.Reg = c.reg(s.To.Reg)
	case *simt.Store:
		s.Old = c.reg(s.Old)
	case *simt.Mma:
		s.D.Reg = c.reg(s.D.Reg)
		for _, o := range []*simt.Operand{&s.A, &s.B} {
			if o.Slice != nil {
				o.Slice.Reg = c.reg(o.Slice.Reg)
			}
		}
	}
	return s
}

func (c *cloner) reg(r *simt.Reg) *simt.Reg {
	if to := c.regs[r]; to != nil {
		return to
	}
	return r
}

func (c *cloner) expr(e *ir.Expr) *ir.Expr {
	if e.Op == ir.OpName {
		if v := c.values[e.Ref]; v != nil {
			return v
		}
	}
	if r, ok := e.Ref.(*simt.Reg); ok && c.regs[r] != nil {
		return ir.NewExpr(e.Op, e.Type, c.regs[r], e.Pos, e.Args...)
	}
	if len(e.Args) == 0 {
		return e
	}
	return ir.Fold(e)
}
