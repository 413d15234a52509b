package simt

import "github.com/gkc-lang/gkc/ir"

// Subscripts of register arrays must be constants once the loops marked Unroll are written out.

// maxUnrolled bounds how many copies of its body a nest of unrolled loops makes.
const maxUnrolled = 1 << 13

// unrolled is an unrolled loop around a statement, with its constant ends.
type unrolled struct {
	reg          *Reg
	lo, hi, step int64
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
// is no constant then.
func span(e *ir.Expr, loops []unrolled) (lo, hi int64, ok bool) {
	used := loops[:0:0]
	for _, l := range loops {
		if ir.Uses(e, l.reg) {
			used = append(used, l)
		}
	}
	env, first := map[ir.Ref]int64{}, true
	ok = true
	var run func(i int)
	run = func(i int) {
		if !ok {
			return
		}
		if i < len(used) {
			for n := used[i].lo; n < used[i].hi && ok; n += used[i].step {
				env[used[i].reg] = n
				run(i + 1)
			}
			return
		}
		v, fine := constant(e, env, map[*ir.Expr]ir.Const{})
		if ok = fine; !ok {
			return
		}
		if n := v.Int(); first {
			lo, hi, first = n, n, false
		} else {
			lo, hi = min(lo, n), max(hi, n)
		}
	}
	run(0)
	return lo, hi, ok
}
