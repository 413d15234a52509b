package simt

import "github.com/gkc-lang/gkc/ir"

// Scope says within which set of threads something is the same. Larger is wider.
type Scope uint8

// The scopes.
const (
	SameLane  Scope = iota // it may differ from lane to lane
	SameWarp               // one value in a warp
	SameGroup              // one value in the warps of a group
	SameCta                // one value in a block; in an arm of Roles, in the warps of the arm
	SameGrid               // one value in the launch
)

func (s Scope) String() string {
	return [...]string{"lane", "warp", "group", "block", "launch"}[s]
}

// Fact is what is known of a value wherever it is computed: of the threads that compute it together.
type Fact struct {
	Same   Scope
	Linear bool  // the value in lane l of a warp is that in lane 0 plus Stride*l
	Stride int64 // of Linear; 0 where Same is SameWarp or wider
	Max    int64 // bound of the magnitude of an integer; negative: none is known
}

// noBound is the Max of values of which nothing is known.
const noBound = -1

var (
	anything = Fact{Same: SameLane, Max: noBound}
	nothing  = Fact{Same: SameGrid, Linear: true, Max: 0} // of a register before its first assignment: what helps most
)

// meet is what holds of a value that is one of two.
func meet(a, b Fact) Fact {
	out := Fact{Same: min(a.Same, b.Same), Max: larger(a.Max, b.Max)}
	if a.Linear && b.Linear && a.Stride == b.Stride {
		out.Linear, out.Stride = true, a.Stride
	}
	return out
}

func larger(a, b int64) int64 {
	if a < 0 || b < 0 {
		return noBound
	}
	return max(a, b)
}

// within limits a fact to what holds when only some threads took part.
func (f Fact) within(s Scope) Fact {
	if s < SameWarp {
		f.Linear, f.Stride = false, 0
	}
	f.Same = min(f.Same, s)
	return f
}

// Facts says of every register and every statement of a kernel how uniform it is.
type Facts struct {
	kernel  *Kernel
	regs    map[*Reg]Fact
	control map[Stmt]*control
	users   map[*Reg][]*assignment
	queue   []*assignment
	rest    Fact // of registers that have no assignment yet, or none at all
}

// control is a condition that decides which threads run what stands under it.
type control struct {
	parent *control
	cond   []*ir.Expr // whose values decide
	limit  Scope      // that of what decides besides the conditions
	whole  Scope      // with all parents, once the registers are known
	solved bool
}

// assignment gives a register a value.
type assignment struct {
	reg    *Reg
	value  []*ir.Expr // the result is as uniform as all of these
	bound  []*ir.Expr // and not larger than these
	plain  bool       // it is value[0], or that and something uniform; otherwise only as uniform
	limit  Scope      // and not more uniform than this
	under  *control   // where it happens
	home   *control   // where the register is declared: what lies between matters
	queued bool
}

// FactsOf analyses a kernel. It does not depend on the order of statements: a register has one fact, which holds after each of
// its assignments.
func FactsOf(k *Kernel) *Facts {
	f := &Facts{kernel: k, regs: map[*Reg]Fact{}, control: map[Stmt]*control{}, users: map[*Reg][]*assignment{}, rest: nothing}
	w := factWalk{Facts: f, home: map[*Reg]*control{}}
	w.stmts(k.Body, nil)
	w.link()
	f.solve()
	f.rest = anything
	return f
}

// Reg is the fact of a register; of an array, what holds of each element.
func (f *Facts) Reg(r *Reg) Fact {
	if fact, ok := f.regs[r]; ok {
		return fact
	}
	return f.rest
}

// Expr is the fact of an expression.
func (f *Facts) Expr(e *ir.Expr) Fact { return f.expr(e, map[*ir.Expr]Fact{}) }

// Control is the widest scope whose threads all come to the statement, or none of them.
func (f *Facts) Control(s Stmt) Scope { return f.whole(f.control[s]) }

func (f *Facts) whole(c *control) Scope {
	if c == nil {
		return SameGrid
	}
	if !c.solved {
		c.whole, c.solved = min(f.own(c), f.whole(c.parent)), true
	}
	return c.whole
}

func (f *Facts) own(c *control) Scope {
	s := c.limit
	for _, e := range c.cond {
		s = min(s, f.Expr(e).Same)
	}
	return s
}

// between is the uniformity of the controls from c up to, and without, top.
func (f *Facts) between(c, top *control) Scope {
	s := SameGrid
	for ; c != top && c != nil; c = c.parent {
		s = min(s, f.own(c))
	}
	return s
}

// factWalk collects assignments and controls.
type factWalk struct {
	*Facts
	all  []*assignment
	home map[*Reg]*control // where a register is declared
}

func (w *factWalk) stmts(body []Stmt, c *control) {
	for _, s := range body {
		w.control[s] = c
		w.stmt(s, c)
	}
}

func under(c *control, limit Scope, cond ...*ir.Expr) *control {
	return &control{parent: c, cond: cond, limit: limit}
}

func (w *factWalk) assign(a *assignment, c *control) {
	a.under, a.home = c, w.home[a.reg]
	w.all = append(w.all, a)
}

func (w *factWalk) stmt(s Stmt, c *control) {
	switch s := s.(type) {
	case *Let:
		w.home[s.Reg] = c
		if s.Value != nil {
			w.assign(&assignment{reg: s.Reg, value: []*ir.Expr{s.Value}, plain: true, limit: SameGrid}, c)
		}
	case *Set:
		a := &assignment{reg: s.Reg, value: []*ir.Expr{s.Value}, plain: true, limit: SameGrid}
		if s.At != nil {
			a.value = append(a.value, s.At)
		}
		w.assign(a, c)
	case *For:
		inner := under(c, SameGrid, s.Lo, s.Hi)
		w.home[s.Var] = inner
		a := &assignment{reg: s.Var, value: []*ir.Expr{s.Lo}, bound: []*ir.Expr{s.Hi}, plain: true, limit: SameGrid}
		if s.Down {
			a.value = append(a.value, s.Hi)
		}
		w.assign(a, inner)
		w.stmts(s.Body, inner)
	case *While:
		inner := under(c, SameGrid, s.Cond)
		w.stmts(s.Pre, inner)
		w.stmts(s.Body, inner)
	case *If:
		inner := under(c, SameGrid, s.Cond)
		w.stmts(s.Then, inner)
		w.stmts(s.Else, inner)
	case *Load:
		w.load(s, c)
	case *Store:
		if s.Old != nil {
			w.assign(&assignment{reg: s.Old, limit: SameLane}, c)
		}
	case *Mma:
		w.assign(&assignment{reg: s.D.Reg, limit: SameLane}, c)
	case *Roles:
		for _, a := range s.Arms {
			w.stmts(a.Body, under(c, SameWarp))
		}
	}
}

// load: one instruction reads one value from one address; what nobody writes is the same wherever it is read.
func (w *factWalk) load(s *Load, c *control) {
	a := &assignment{reg: s.To.Reg, value: []*ir.Expr{s.From.At}, limit: SameWarp}
	if s.From.Rank != nil {
		a.value = append(a.value, s.From.Rank)
	}
	switch {
	case s.Form == Matrix || s.Form == MatrixTrans:
		a.limit = SameLane
	case s.From.Buf.ReadOnly && s.From.Buf.Space == Global:
		a.limit = SameGrid
	}
	w.assign(a, c)
}

// link finds out whose facts each assignment depends on.
func (w *factWalk) link() {
	refs := map[*ir.Expr][]*Reg{}
	uses := func(e *ir.Expr) []*Reg {
		if list, known := refs[e]; known {
			return list
		}
		var list []*Reg
		ir.Walk(e, func(x *ir.Expr) {
			if r, ok := x.Ref.(*Reg); ok {
				list = append(list, r)
			}
		})
		refs[e] = list
		return list
	}
	for _, a := range w.all {
		add := func(e *ir.Expr) {
			for _, r := range uses(e) {
				w.users[r] = append(w.users[r], a)
			}
		}
		for _, e := range a.value {
			add(e)
		}
		for c := a.under; c != a.home && c != nil; c = c.parent {
			for _, e := range c.cond {
				add(e)
			}
		}
		w.push(a)
	}
}

func (f *Facts) push(a *assignment) {
	if !a.queued {
		a.queued = true
		f.queue = append(f.queue, a)
	}
}

// solve lowers facts until every assignment agrees. A register can be lowered a few times only, since bounds are given up
// when they grow.
func (f *Facts) solve() {
	for len(f.queue) > 0 {
		a := f.queue[0]
		f.queue = f.queue[1:]
		a.queued = false
		old, assigned := f.regs[a.reg]
		now := f.result(a)
		if assigned {
			if now = meet(old, now); now.Max > old.Max {
				now.Max = noBound
			}
		}
		if now != old || !assigned {
			f.regs[a.reg] = now
			for _, u := range f.users[a.reg] {
				f.push(u)
			}
		}
	}
}

// result is what an assignment gives its register.
func (f *Facts) result(a *assignment) Fact {
	memo := map[*ir.Expr]Fact{}
	fact := Fact{Same: a.limit, Max: noBound}
	for i, e := range a.value {
		x := f.expr(e, memo)
		if i == 0 && a.plain {
			fact = x
			continue
		}
		fact.Same = min(fact.Same, x.Same)
		if x.Same < SameWarp {
			fact.Linear = fact.Linear && x.Linear && x.Stride == fact.Stride
		}
	}
	for _, e := range a.bound {
		fact.Max = larger(fact.Max, f.expr(e, memo).Max)
	}
	if fact.Same >= SameWarp {
		fact.Linear, fact.Stride = true, 0
	}
	return fact.within(f.between(a.under, a.home))
}
