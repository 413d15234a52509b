package simt

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
)

// complete reports whether no part of a statement that the walks rely on is missing.
func (v *verifier) complete(body []Stmt) bool {
	ok := true
	Walk(body, func(s Stmt) {
		fine := true
		switch s := s.(type) {
		case *Let:
			fine = s.Reg != nil
		case *Set:
			fine = s.Reg != nil && s.Value != nil
		case *For:
			fine = s.Var != nil && s.Lo != nil && s.Hi != nil
		case *While:
			fine = s.Cond != nil
		case *If:
			fine = s.Cond != nil
		case *Load:
			fine = s.To.Reg != nil && s.From.Buf != nil && s.From.At != nil
		case *Store:
			fine = s.To.Buf != nil && s.To.At != nil && len(s.From) > 0 && !slices.Contains(s.From, nil)
		case *Copy:
			fine = s.Form != nil
		case *Mma:
			fine = s.Atom != nil && s.D.Reg != nil && s.Acc != nil && (s.A.Slice == nil || s.A.Slice.Reg != nil) && (s.B.Slice == nil || s.B.Slice.Reg != nil)
		case *Sync:
			fine = s.Verb != nil && len(s.Args) == len(s.Verb.Args) && !slices.Contains(s.Args, nil)
		case *Check:
			fine = s.Cond != nil
		}
		v.pos = s.Place()
		ok = v.require(fine, "a part of a %T is missing", s) && ok
	})
	return ok
}

// block checks statements in a scope of their own: what they declare is gone behind them.
func (v *verifier) block(body []Stmt) {
	var declared []*Reg
	for _, s := range body {
		v.pos = s.Place()
		v.stmt(s)
		if l, ok := s.(*Let); ok {
			declared = append(declared, l.Reg)
		}
	}
	v.forget(declared...)
}

func (v *verifier) forget(regs ...*Reg) {
	for _, r := range regs {
		delete(v.visible, r)
		delete(v.names, r.Name)
		delete(v.unset, r)
	}
}

func (v *verifier) declare(r *Reg) {
	v.take(r.Name)
	v.require(!v.visible[r], "register %s is declared twice", r.Name)
	v.require(r.Type.IsValid() && r.Len >= 0, "register %s has no type or a negative length", r.Name)
	v.visible[r] = true
}

// assigned notes that a register has a value from here on.
func (v *verifier) assigned(r *Reg) {
	if v.unset[r] {
		delete(v.unset, r)
		v.trail = append(v.trail, r)
	}
}

// maybe runs f, whose statements may not run: what they assign counts as unset again behind it. It returns those registers.
func (v *verifier) maybe(f func()) []*Reg {
	mark := len(v.trail)
	f()
	got := slices.Clone(v.trail[mark:])
	v.trail = v.trail[:mark]
	for _, r := range got {
		if v.visible[r] {
			v.unset[r] = true
		}
	}
	return got
}

func (v *verifier) stmt(s Stmt) {
	switch s := s.(type) {
	case *Let:
		v.let(s)
	case *Set:
		v.root(s.Value, s.Reg.Type, "the value of "+s.Reg.Name)
		v.warpRoot(s, s.Value)
		v.target(s.Reg, s.At, 1)
	case *For:
		v.forLoop(s)
	case *While:
		v.while(s)
	case *If:
		v.branch(s)
	case *Load:
		v.load(s)
	case *Store:
		v.store(s)
	case *Copy:
		v.copy(s)
	case *Mma:
		v.mma(s)
	case *Sync:
		v.sync(s)
	case *Roles:
		v.roles(s)
	case *Check:
		v.check(s)
	default:
		v.fail("unknown kind of statement %T", s)
	}
}

func (v *verifier) let(s *Let) {
	r := s.Reg
	if s.Value != nil {
		v.require(r.Len == 0, "the array %s begins with a value", r.Name)
		v.root(s.Value, r.Type, "the value of "+r.Name)
		v.warpRoot(s, s.Value)
	} else {
		v.require(r.Mutable || r.Len > 0, "%s never gets a value", r.Name)
	}
	v.declare(r)
	if s.Value == nil && r.Len == 0 {
		v.unset[r] = true
	}
}

// target checks that n elements of a register from at on can be assigned, and counts them as assigned.
func (v *verifier) target(r *Reg, at *ir.Expr, n int) {
	if !v.require(v.visible[r], "register %s is not declared here", r.Name) {
		return
	}
	v.require(r.Mutable || r.Len > 0, "%s has its value from its declaration and cannot be assigned", r.Name)
	if r.Len == 0 {
		v.require(at == nil && n == 1, "%s is no array", r.Name)
		v.assigned(r)
		return
	}
	if v.require(at != nil, "the array %s is assigned as a whole", r.Name) {
		v.operand(at, at.Type, "the subscript of "+r.Name)
		v.subscript(r, at, n)
	}
}

// slice checks registers that are read.
func (v *verifier) slice(s *Slice, what string) {
	if !v.require(s.Reg != nil && v.visible[s.Reg], "%s is not declared here", what) {
		return
	}
	if s.Reg.Len == 0 {
		v.require(s.From == nil && s.Len == 1, "%s: %s is no array", what, s.Reg.Name)
		v.require(!v.unset[s.Reg], "%s is used before it has a value", s.Reg.Name)
		return
	}
	if v.require(s.From != nil && s.Len >= 1, "%s: an empty piece of %s", what, s.Reg.Name) {
		v.operand(s.From, s.From.Type, what)
		v.subscript(s.Reg, s.From, s.Len)
	}
}

// meets checks that all threads of a scope come to a statement together, or none.
func (v *verifier) meets(s Stmt, scope Scope, what string) {
	if scope == SameLane {
		return
	}
	v.require(v.facts.Control(s) >= scope, "%s concerns all threads of the %s, but stands under a condition that can differ between them", what, scope)
	if scope == SameWarp {
		v.require(v.k.Launch.Threads%WarpSize == 0, "%s needs whole warps, and a block has %d threads", what, v.k.Launch.Threads)
	}
	v.require(scope < SameCta || v.arms == 0, "%s concerns all threads of the block, but stands in a role", what)
}

// warpRoot: all lanes of a warp come to a warp-wide operation.
func (v *verifier) warpRoot(s Stmt, value *ir.Expr) {
	if value != nil && value.Op.Where&ir.WarpWide != 0 {
		v.meets(s, SameWarp, value.Op.Name)
	}
}

func (v *verifier) forLoop(s *For) {
	v.operand(s.Lo, s.Var.Type, "the lower end of "+s.Var.Name)
	v.operand(s.Hi, s.Var.Type, "the upper end of "+s.Var.Name)
	v.require(s.Var.Type.IsInt() && s.Var.Type.Bits() >= 32, "the loop variable %s is of type %s", s.Var.Name, s.Var.Type)
	v.require(s.Step >= 1, "the step of %s is %d", s.Var.Name, s.Step)
	v.require(s.Var.Len == 0 && !s.Var.Mutable, "the loop variable %s is an array, or can be assigned", s.Var.Name)
	loops, copies := v.loops, v.copies
	if s.Unroll {
		v.unroll(s)
	}
	v.declare(s.Var)
	v.maybe(func() { v.block(s.Body) })
	v.forget(s.Var)
	v.loops, v.copies = loops, copies
}

// unroll enters a loop that the printers write out.
func (v *verifier) unroll(s *For) {
	lo, _, okLo := span(s.Lo, v.loops, &v.fuel)
	_, hi, okHi := span(s.Hi, v.loops, &v.fuel)
	if !v.require(okLo && okHi, "the loop over %s is marked unroll, but its ends are no constants", s.Var.Name) || s.Step < 1 {
		return
	}
	trips := max(1, (float64(hi)-float64(lo))/float64(s.Step))
	if v.copies *= trips; v.copies > maxUnrolled {
		v.fail("unrolled loops make more than %d copies of what is in them", maxUnrolled)
		return
	}
	v.loops = append(slices.Clip(v.loops), unrolled{s.Var, s.Lo, s.Hi, s.Step})
}

func (v *verifier) while(s *While) {
	var declared []*Reg
	for _, p := range s.Pre {
		v.pos = p.Place()
		v.stmt(p)
		if l, ok := p.(*Let); ok {
			declared = append(declared, l.Reg)
		}
	}
	v.pos = s.Place()
	v.operand(s.Cond, ir.Bool_, "the condition of while")
	v.maybe(func() { v.block(s.Body) })
	v.forget(declared...)
}

func (v *verifier) branch(s *If) {
	v.operand(s.Cond, ir.Bool_, "the condition of if")
	then := v.maybe(func() { v.block(s.Then) })
	other := v.maybe(func() { v.block(s.Else) })
	if len(then) == 0 || len(other) == 0 {
		return
	}
	in := map[*Reg]bool{}
	for _, r := range then {
		in[r] = true
	}
	for _, r := range other {
		if in[r] && v.visible[r] {
			v.assigned(r)
		}
	}
}

func (v *verifier) load(s *Load) {
	r := s.To.Reg
	v.require(holds(r.Type, s.From.Buf.Type), "%s of type %s is loaded from %s of type %s", r.Name, r.Type, s.From.Buf.Name, s.From.Buf.Type)
	v.require(s.Order != Release, "a load cannot release")
	v.access(s, &s.From, s.Form, s.To.Len, r.Type, "a load")
	v.target(r, s.To.From, s.To.Len)
}

// access checks how n registers of a type move between a thread, or a warp, and memory.
func (v *verifier) access(s Stmt, m *Mem, form Form, n int, t ir.Type, what string) {
	switch form {
	case One:
		v.require(n == 1, "%s of %d registers has no form that says how", what, n)
		v.place(m, t.Bytes(), what)
	case Vec:
		size := n * t.Bytes()
		if v.require(size <= 16 && size&(size-1) == 0 && n >= 1, "%s of %d registers of type %s is no vector of 2, 4, 8 or 16 bytes", what, n, t) {
			v.place(m, size, what)
		}
	case Matrix, MatrixTrans:
		v.require(n == 1 || n == 2 || n == 4, "%s of %d matrix blocks, expected 1, 2 or 4", what, n)
		v.require(t.Bits() == 32 && m.Buf.Space == Shared, "%s of matrix blocks moves 32-bit registers and shared memory", what)
		v.place(m, 16, what)
		v.meets(s, SameWarp, what+" of matrix blocks")
	default:
		v.fail("unknown access form %d", form)
	}
}

func (v *verifier) store(s *Store) {
	b, t := s.To.Buf, s.From[0].Type
	for _, e := range s.From {
		v.operand(e, t, "a stored value")
	}
	v.require(holds(t, b.Type), "a value of type %s is stored to %s of type %s", t, b.Name, b.Type)
	v.require(!b.ReadOnly && (b.Array == nil || b.Array.Role != Param), "%s is stored to, but is read only", b.Name)
	v.require(s.Order != Acquire, "a store cannot acquire")
	v.access(s, &s.To, s.Form, len(s.From), t, "a store")
	if s.Op != nil {
		v.require(slices.Contains(ir.Monoids, s.Op) && s.Form <= Vec, "a store that combines is of one value or a vector, by a monoid of the language")
		want := t.IsBool() == (s.Op == ir.Any || s.Op == ir.All)
		v.require(want && !t.IsPacked(), "values of type %s are not combined by %s", t, s.Op.Name)
	}
	if s.Old != nil {
		v.require(s.Op != nil && len(s.From) == 1 && s.Old.Type == b.Type && s.Old.Len == 0, "what was there is fetched by a store of one value that combines, into a register of type %s", b.Type)
		v.target(s.Old, nil, 1)
	}
}

func (v *verifier) check(s *Check) {
	v.operand(s.Cond, ir.Bool_, "what is checked")
	if v.require(s.Code >= 0 && s.Code < len(v.m.Sites), "check %d of %d sites", s.Code, len(v.m.Sites)) && v.m.Sites[s.Code].Kind == "index" {
		v.require(len(s.Args) >= 1, "a check of an index must say the index")
	}
	v.require(len(s.Args) <= 2, "a check says at most an index and an element")
	for _, a := range s.Args {
		v.operand(a, ir.I64, "what a check says")
	}
}
