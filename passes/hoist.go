package passes

import (
	"strconv"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// hoist moves arithmetic on integers that is the same in every turn of a loop in front of it. Only what is cheap is moved out of
// branches, as it may be computed in vain there; floats stay where they are, as a product that is apart from its sum is
// rounded.
//
//	for k: i64 in 0..K {
//	  load x <- X[row * K + k]
//	}
//
// becomes
//
//	let at: i64 = row * K
//	for k: i64 in 0..K {
//	  load x <- X[at + k]
//	}
func hoist(u *Unit) error {
	eachKernel(u, func(k *simt.Kernel) []simt.Stmt {
		h := &hoister{names: kernelNames(k)}
		return h.list(k.Body)
	})
	return nil
}

// kernelNames collects the names that a kernel gives.
func kernelNames(k *simt.Kernel) map[string]bool {
	out := map[string]bool{}
	for _, v := range k.Params {
		out[v.Name] = true
	}
	for _, b := range append(append([]*simt.Buffer{}, k.Global...), k.Shared...) {
		out[b.Name] = true
	}
	for _, m := range k.Maps {
		out[m.Name] = true
	}
	for _, b := range k.Bars {
		out[b.Name] = true
	}
	simt.Walk(k.Body, func(s simt.Stmt) {
		if r := declared(s); r != nil {
			out[r.Name] = true
		}
	})
	return out
}

type hoister struct {
	names map[string]bool
	count int
}

// list treats outer loops first: what no loop around it changes goes out of all of them at once.
func (h *hoister) list(body []simt.Stmt) []simt.Stmt {
	var out []simt.Stmt
	for _, s := range body {
		if f, ok := s.(*simt.For); ok {
			l := newLoopHoist(h, f)
			c := *f
			c.Body = l.list(f.Body, true)
			out = append(out, l.front...)
			s = &c
		}
		out = append(out, withBlocks(s, h.list))
	}
	return out
}

func (h *hoister) fresh() string {
	for {
		h.count++
		if name := "at." + strconv.Itoa(h.count); !h.names[name] {
			h.names[name] = true
			return name
		}
	}
}

// loopHoist is the work on one loop.
type loopHoist struct {
	*hoister
	front  []simt.Stmt
	varies map[*simt.Reg]bool
	roles  bool // some are in the loop
	facts  map[*ir.Expr]invariance
	moved  map[uint64][]movedExpr
}

type movedExpr struct{ of, name *ir.Expr }

// invariance says of an expression whether it is the same in every turn, and what it costs.
type invariance struct{ fixed, work, slow bool }

func newLoopHoist(h *hoister, f *simt.For) *loopHoist {
	l := &loopHoist{hoister: h, varies: map[*simt.Reg]bool{f.Var: true}, facts: map[*ir.Expr]invariance{}, moved: map[uint64][]movedExpr{}}
	simt.Walk(f.Body, func(s simt.Stmt) {
		if r := declared(s); r != nil {
			l.varies[r] = true
		}
		if _, ok := s.(*simt.Roles); ok {
			l.roles = true
		}
	})
	return l
}

// list rewrites statements of the loop; always says that they run in every turn.
func (l *loopHoist) list(body []simt.Stmt, always bool) []simt.Stmt {
	var out []simt.Stmt
	for _, s := range body {
		if let, ok := s.(*simt.Let); ok && l.movesLet(let, always) {
			l.front = append(l.front, let)
			delete(l.varies, let.Reg)
			continue
		}
		out = append(out, withBlocks(l.stmt(s, always), func(b []simt.Stmt) []simt.Stmt { return l.list(b, false) }))
	}
	return out
}

// stmt rewrites the expressions of a statement. Subscripts of register arrays stay: they have to be constants where loops are
// written out.
func (l *loopHoist) stmt(s simt.Stmt, always bool) simt.Stmt {
	r := ir.Rewriter{Pre: func(e *ir.Expr) *ir.Expr { return l.replace(e, always) }}
	return exprMap{value: r.Rewrite, at: same}.stmt(s)
}

// replace gives the register that holds an expression in front of the loop; the expression itself where its operands stay too,
// and nil where they are to be looked at.
func (l *loopHoist) replace(e *ir.Expr, always bool) *ir.Expr {
	switch {
	case len(e.Args) == 0 || e.Op == simt.OpElem || !pure(e.Op):
		return e
	case always && e.Op.Is(ir.Lazy):
		return l.lazy(e)
	case !l.moves(e, always) || offset(e):
		return nil
	}
	for _, m := range l.moved[e.Hash()] {
		if ir.Equal(m.of, e) {
			return m.name
		}
	}
	reg := &simt.Reg{Name: l.fresh(), Type: e.Type}
	l.front = append(l.front, &simt.Let{Head: simt.Head{Pos: e.Pos}, Reg: reg, Value: e})
	name := ir.Name(reg)
	l.moved[e.Hash()] = append(l.moved[e.Hash()], movedExpr{e, name})
	return name
}

// offset reports whether a value is another one and a constant, which is part of an address or of a comparison.
func offset(e *ir.Expr) bool {
	return (e.Op == ir.OpAdd || e.Op == ir.OpSub) && e.Type.IsInt() && (e.Args[0].IsConst() || e.Args[1].IsConst())
}

// lazy rewrites an operation that may leave out operands: those are as good as in a branch.
func (l *loopHoist) lazy(e *ir.Expr) *ir.Expr {
	if l.moves(e, false) {
		return l.replace(e, false)
	}
	args := make([]*ir.Expr, len(e.Args))
	for i, a := range e.Args {
		r := ir.Rewriter{Pre: func(x *ir.Expr) *ir.Expr { return l.replace(x, i == 0) }}
		args[i] = r.Rewrite(a)
	}
	return ir.NewExpr(e.Op, e.Type, e.Ref, e.Pos, args...)
}

// moves reports whether an expression goes in front of the loop.
func (l *loopHoist) moves(e *ir.Expr, always bool) bool {
	if !e.Type.IsInt() {
		return false
	}
	f := l.look(e)
	return f.fixed && f.work && (always || !f.slow)
}

// movesLet reports whether a declaration goes in front of the loop. What names a value that is already at hand goes too, so that
// what is made of it can follow.
func (l *loopHoist) movesLet(s *simt.Let, always bool) bool {
	if s.Reg.Mutable || s.Value == nil || !(s.Reg.Type.IsInt() || s.Reg.Type.IsBool()) {
		return false
	}
	f := l.look(s.Value)
	return f.fixed && (always || !f.slow)
}

// ofSize reports whether e is a number times a host value. There can be many that differ in the number, and a machine multiplies
// as it adds, so a register for each would cost more than it saves.
func ofSize(e *ir.Expr) bool {
	if e.Op != ir.OpMul {
		return false
	}
	_, a := e.Args[0].Ref.(*simt.Value)
	_, b := e.Args[1].Ref.(*simt.Value)
	return a && e.Args[1].IsConst() || b && e.Args[0].IsConst()
}

func (l *loopHoist) look(e *ir.Expr) invariance {
	if f, ok := l.facts[e]; ok {
		return f
	}
	f := invariance{fixed: pure(e.Op)}
	switch r := e.Ref.(type) {
	case nil:
	case *simt.Reg: // a variable may have no value yet in front of the loop
		f.fixed = e.Op == ir.OpName && !r.Mutable && !l.varies[r]
	case *simt.Builtin: // warps and groups count from another start in an arm of roles
		f.fixed = !l.roles || r != simt.Warp && r != simt.Group
	case *simt.Value:
	default:
		f.fixed = false
	}
	switch e.Op.Cost {
	case ir.CostFree, ir.CostConvert: // as cheap as keeping the value
	case ir.CostALU, ir.CostFMA:
		f.work = true
	default:
		f.work, f.slow = true, true
	}
	if ofSize(e) {
		f.work = false
	}
	for _, a := range e.Args {
		g := l.look(a)
		f.fixed, f.work, f.slow = f.fixed && g.fixed, f.work || g.work, f.slow || g.slow
	}
	l.facts[e] = f
	return f
}
