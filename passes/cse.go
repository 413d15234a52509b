package passes

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// cse computes once what several statements compute, where that is worth a register: in front of the first of them, in the
// innermost list of statements that holds them all. Only values that nothing changes are looked at, so nothing that happens in
// between matters; sums with a constant stay, as they are part of an address.
//
//	if row < N {
//	  load x <- X[row * K + k]
//	}
//	if row + 1 < N {
//	  load y <- X[row * K + k + 1]
//	}
//
// becomes
//
//	let at.1: i64 = row * K + k
//	if row < N {
//	  load x <- X[at.1]
//	}
//	if row + 1 < N {
//	  load y <- X[at.1 + 1]
//	}
func cse(u *Unit) error {
	eachKernel(u, func(k *simt.Kernel) []simt.Stmt {
		c := &sharer{names: kernelNames(k), canon: ir.Unifier(), nodes: map[*ir.Expr]*node{}, alias: map[ir.Ref]*ir.Expr{}}
		c.rewriter.Pre = c.named
		top := &stretch{}
		c.collect(top, k.Body)
		c.decide()
		return c.write(top)
	})
	return nil
}

// sharer is the work on one kernel: collect makes equal expressions one and notes where each is used, decide says which get a
// register and where, write puts that down.
type sharer struct {
	names    map[string]bool
	count    int
	canon    *ir.Rewriter
	nodes    map[*ir.Expr]*node
	order    []*node
	rewriter ir.Rewriter
	alias    map[ir.Ref]*ir.Expr // registers that would name a value once more
}

// stretch is a list of statements.
type stretch struct {
	up    *stretch
	at    int // the statement of up that holds it
	depth int
	arm   *stretch // of roles, around it
	body  []simt.Stmt
	inner [][]*stretch // of each statement
	lets  [][]*node    // in front of each statement
}

// place is in front of a statement of a list.
type place struct {
	in    *stretch
	index int
}

// node is an expression that may get a register.
type node struct {
	of     *ir.Expr
	height int
	weight int
	fixed  bool // nothing changes it
	warp   bool // it names the warp, which counts from another start in an arm of roles
	slow   bool
	uses   []place
	lets   []letAt // that declare it already
	reg    *simt.Reg
}

type letAt struct {
	place
	reg *simt.Reg
}

func (c *sharer) collect(b *stretch, body []simt.Stmt) {
	b.body, b.inner, b.lets = make([]simt.Stmt, len(body)), make([][]*stretch, len(body)), make([][]*node, len(body)+1)
	for i, s := range body {
		at := place{b, i}
		if w, ok := s.(*simt.While); ok {
			at = c.while(at, w)
		}
		note := func(e *ir.Expr) *ir.Expr {
			e = c.canon.Rewrite(e)
			c.use(e, at)
			return e
		}
		s = exprMap{note, same}.stmt(s)
		b.body[i] = s
		if let, ok := s.(*simt.Let); ok && let.Value != nil && !let.Reg.Mutable {
			if n := c.nodes[let.Value]; n != nil {
				n.lets = append(n.lets, letAt{at, let.Reg})
			}
		}
		if b.inner[i] != nil {
			continue
		}
		_, roles := s.(*simt.Roles)
		for _, list := range simt.Blocks(s) {
			b.inner[i] = append(b.inner[i], c.stretch(at, list, roles))
		}
	}
}

func same(e *ir.Expr) *ir.Expr { return e }

func (c *sharer) stretch(at place, body []simt.Stmt, arm bool) *stretch {
	b := &stretch{up: at.in, at: at.index, depth: at.in.depth + 1, arm: at.in.arm}
	if arm {
		b.arm = b
	}
	c.collect(b, body)
	return b
}

// while: the part in front of the condition declares what the condition and the body read, so they count as inside of it.
func (c *sharer) while(at place, w *simt.While) place {
	pre := c.stretch(at, w.Pre, false)
	behind := place{pre, len(w.Pre)}
	at.in.inner[at.index] = []*stretch{pre, c.stretch(behind, w.Body, false)}
	return behind
}

// use notes where an expression stands.
func (c *sharer) use(e *ir.Expr, at place) {
	if n := c.node(e); n != nil && (len(n.uses) == 0 || n.uses[len(n.uses)-1] != at) {
		n.uses = append(n.uses, at)
	}
}

// node is the entry of an expression with operands.
func (c *sharer) node(e *ir.Expr) *node {
	if len(e.Args) == 0 || e.Op == simt.OpElem {
		return nil
	}
	if n := c.nodes[e]; n != nil {
		return n
	}
	n := &node{of: e, fixed: pure(e.Op), weight: ownWeight(e), slow: e.Op.Cost == ir.CostSlow}
	c.nodes[e] = n
	for _, a := range e.Args {
		if m := c.node(a); m != nil {
			n.height = max(n.height, m.height+1)
			n.weight = min(n.weight+m.weight, 1<<20)
			n.fixed, n.warp, n.slow = n.fixed && m.fixed, n.warp || m.warp, n.slow || m.slow
			continue
		}
		warp := a.Ref == simt.Warp || a.Ref == simt.Group
		n.warp = n.warp || warp
		n.fixed = n.fixed && (warp || a.IsConst() || a.Op == ir.OpName && fixedName(a.Ref))
	}
	c.order = append(c.order, n)
	return n
}

// ownWeight is what an operation costs besides its operands, in instructions.
func ownWeight(e *ir.Expr) int {
	switch {
	case e.Op.Cost == ir.CostSlow:
		return 10
	case e.Op == ir.OpMul:
		return 2
	case e.Op.Cost == ir.CostFree || e.Op.Cost == ir.CostConvert && e.Type.IsInt():
		return 0
	}
	return 1
}

// leastWeight is what a value has to cost for a register.
const leastWeight = 3

// worth reports whether a value is better kept than computed again. Sums and products of floats stay together: where one is apart
// from the other, it is rounded.
func (n *node) worth() bool {
	e := n.of
	switch {
	case !n.fixed:
		return false
	case e.Type.IsFloat():
		return e.Op.Cost == ir.CostSlow || e.Op.Cost == ir.CostMUFU
	case !e.Type.IsInt() && !e.Type.IsBool() || n.weight < leastWeight:
		return false
	}
	return !offset(e) && e.Op != ir.OpWiden
}

// decide gives registers to what is worth it, users before their operands: those of what gets a register are used there only.
func (c *sharer) decide() {
	slices.SortStableFunc(c.order, func(a, b *node) int { return cmp.Compare(b.height, a.height) })
	for _, n := range c.order {
		places := n.uses
		if at, ok := n.meets(); ok {
			c.declare(n, at)
			places = []place{at}
		}
		for _, a := range n.of.Args {
			for _, at := range places {
				c.use(a, at)
			}
		}
	}
}

// meets is where a value is computed for all its uses.
func (n *node) meets() (place, bool) {
	if len(n.uses) < 2 || !n.worth() {
		return place{}, false
	}
	at := n.uses[0]
	for _, u := range n.uses[1:] {
		if n.warp && u.in.arm != at.in.arm {
			return place{}, false
		}
		at = common(at, u)
	}
	direct := func(u place) bool { return u.in == at.in }
	return at, !n.slow || slices.ContainsFunc(n.uses, direct)
}

// common is the last place from which both are reached.
func common(a, b place) place {
	for a.in != b.in {
		if a.in.depth < b.in.depth {
			a, b = b, a
		}
		a = place{a.in.up, a.in.at}
	}
	a.index = min(a.index, b.index)
	return a
}

func (c *sharer) declare(n *node, at place) {
	for _, l := range n.lets {
		if l.place == at {
			n.reg = l.reg
			return
		}
	}
	for at.index > 0 && onlyDeclares(at.in.body[at.index-1]) { // a variable and the load into it are one line in most targets
		at.index--
	}
	n.reg = &simt.Reg{Name: c.fresh(n.of.Type), Type: n.of.Type}
	at.in.lets[at.index] = append(at.in.lets[at.index], n)
}

// onlyDeclares reports whether a statement declares a variable that gets its value later.
func onlyDeclares(s simt.Stmt) bool {
	let, ok := s.(*simt.Let)
	return ok && let.Value == nil
}

func (c *sharer) fresh(t ir.Type) string {
	hint := "at."
	switch {
	case t.IsBool():
		hint = "is."
	case t.IsFloat():
		hint = "of."
	}
	for {
		c.count++
		if name := hint + strconv.Itoa(c.count); !c.names[name] {
			c.names[name] = true
			return name
		}
	}
}

func (c *sharer) write(b *stretch) []simt.Stmt {
	var out []simt.Stmt
	lets := func(i int) {
		for _, n := range slices.Backward(b.lets[i]) { // operands come first
			out = append(out, &simt.Let{Head: simt.Head{Pos: n.of.Pos}, Reg: n.reg, Value: c.definition(n.of)})
		}
	}
	for i, s := range b.body {
		lets(i)
		if c.renames(s) {
			continue
		}
		j := 0
		s = withBlocks(c.statement(s), func([]simt.Stmt) []simt.Stmt {
			j++
			return c.write(b.inner[i][j-1])
		})
		out = append(out, s)
	}
	lets(len(b.body))
	return out
}

// renames reports whether a statement only gives another name to a value that has a register.
func (c *sharer) renames(s simt.Stmt) bool {
	let, ok := s.(*simt.Let)
	if !ok || let.Value == nil || let.Reg.Mutable {
		return false
	}
	n := c.nodes[let.Value]
	if n == nil || n.reg == nil || n.reg == let.Reg {
		return false
	}
	c.alias[let.Reg] = ir.Name(n.reg)
	return true
}

func (c *sharer) statement(s simt.Stmt) simt.Stmt {
	if let, ok := s.(*simt.Let); ok && let.Value != nil {
		if n := c.nodes[let.Value]; n != nil && n.reg == let.Reg {
			copied := *let
			copied.Value = c.definition(let.Value)
			return &copied
		}
	}
	return exprMap{c.rewriter.Rewrite, same}.stmt(s)
}

// definition is an expression whose operands are taken from registers.
func (c *sharer) definition(e *ir.Expr) *ir.Expr {
	args := make([]*ir.Expr, len(e.Args))
	for i, a := range e.Args {
		args[i] = c.rewriter.Rewrite(a)
	}
	return ir.NewExpr(e.Op, e.Type, e.Ref, e.Pos, args...)
}

// named is the register of an expression; nil where its operands are to be looked at.
func (c *sharer) named(e *ir.Expr) *ir.Expr {
	if e.Op == simt.OpElem {
		return e
	}
	if to := c.alias[e.Ref]; to != nil && e.Op == ir.OpName {
		return to
	}
	if n := c.nodes[e]; n != nil && n.reg != nil {
		return ir.Name(n.reg)
	}
	return nil
}
