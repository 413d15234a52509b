package simt

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
)

// Subscripts of register arrays must be constants once the loops marked Unroll are written out.

// maxUnrolled bounds how many copies of its body a nest of unrolled loops makes.
const maxUnrolled = 1 << 13

// unrolled is an unrolled loop around a statement. Its ends may depend on the unrolled loops around it.
type unrolled struct {
	reg    *Reg
	lo, hi *ir.Expr
	step   int64
}

// constant evaluates an expression over constants and the given values; ok is false where it needs more than those.
func constant(e *ir.Expr, env map[ir.Ref]int64, memo map[*ir.Expr]ir.Const) (ir.Const, bool) {
	switch e.Op {
	case ir.OpConst:
		return e.Val, true
	case ir.OpName:
		n, ok := env[e.Ref]
		return ir.IntConst(n), ok
	}
	if v, ok := memo[e]; ok {
		return v, true
	}
	if e.Op.Effect != ir.NoEffect || e.Ref != nil || e.Op.Where&ir.WarpWide != 0 {
		return ir.Const{}, false
	}
	types, args := make([]ir.Type, len(e.Args)), make([]ir.Const, len(e.Args))
	for i, a := range e.Args {
		v, ok := constant(a, env, memo)
		if !ok {
			return ir.Const{}, false
		}
		types[i], args[i] = a.Type, v
	}
	v, ok := Eval(e.Op, e.Type, types, args)
	if ok {
		memo[e] = v
	}
	return v, ok
}

// span finds the least and the greatest value of an integer expression as the unrolled loops around it run; ok is false where it
// is no constant then. Each value costs one of fuel; without fuel nothing is a constant.
func span(e *ir.Expr, loops []unrolled, fuel *int) (lo, hi int64, ok bool) {
	s := spanner{of: e, loops: needed(e, loops), env: map[ir.Ref]int64{}, ok: true, fuel: fuel}
	s.run(0)
	return s.lo, s.hi, s.ok
}

// needed lists those loops whose variables the value depends on.
func needed(e *ir.Expr, loops []unrolled) []unrolled {
	var out []unrolled
	exprs := []*ir.Expr{e}
	for _, l := range slices.Backward(loops) {
		if slices.ContainsFunc(exprs, func(x *ir.Expr) bool { return ir.Uses(x, l.reg) }) {
			out = append(out, l)
			exprs = append(exprs, l.lo, l.hi)
		}
	}
	slices.Reverse(out)
	return out
}

type spanner struct {
	of     *ir.Expr
	loops  []unrolled
	env    map[ir.Ref]int64
	lo, hi int64
	found  bool
	ok     bool
	fuel   *int
}

func (s *spanner) run(i int) {
	if i == len(s.loops) {
		s.meet(s.value(s.of))
		return
	}
	l := &s.loops[i]
	from, to := s.value(l.lo), s.value(l.hi)
	for n := from; n < to && s.ok; n += l.step {
		s.env[l.reg] = n
		s.run(i + 1)
	}
}

func (s *spanner) value(e *ir.Expr) int64 {
	v, ok := constant(e, s.env, map[*ir.Expr]ir.Const{})
	*s.fuel--
	s.ok = s.ok && ok && *s.fuel > 0
	return v.Int()
}

func (s *spanner) meet(n int64) {
	if !s.found {
		s.lo, s.hi, s.found = n, n, true
	}
	s.lo, s.hi = min(s.lo, n), max(s.hi, n)
}
