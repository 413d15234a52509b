package lang

import (
	"strings"
	"sync"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/lang/std"
)

// Limits of macros.
const (
	maxFrames = 64  // macros inside macros
	maxLocals = 500 // parameters and local names of one
)

// macro is a func of the file or of the library.
type macro struct {
	*Func
	file   bool // not of the library
	state  macroState
	broken bool // a mistake in it is reported already
}

type macroState uint8

const (
	unseen macroState = iota
	visiting
	seen
)

// library is the standard library, parsed once.
var library = sync.OnceValue(func() map[string]*macro {
	file, errs := Parse("std.gk", std.Source)
	if len(errs) > 0 {
		panic("lang: the standard library: " + errs.Error())
	}
	out := map[string]*macro{}
	for _, item := range file.Items {
		if f, ok := item.(*Func); ok {
			out[f.Name] = &macro{Func: f}
		}
	}
	return out
})

// findMacro finds a func that is visible: inside the library only its own are.
func (x *expander) findMacro(c context, name string) *macro {
	if c.frame == nil || c.frame.macro.file {
		if m := x.funcs[name]; m != nil {
			return m
		}
	}
	if isBuiltin(name) {
		return nil
	}
	return library()[name]
}

// checkMacro checks a func where it is declared, and before it those that it uses: its arguments are unknown, so only what is
// wrong for all of them is a mistake.
func (c *checker) checkMacro(m *macro) {
	if m.state != unseen || !m.file {
		return
	}
	c.checkCallees(m)
	if m.broken {
		return
	}
	x := &expander{checker: c}
	frame := &frame{macro: m, depth: 1}
	ctx := context{frame: frame}
	if d := repeatedName(m.Func); d != nil {
		m.broken = true
		c.report(d)
		return
	}
	for i, b := range m.Binders {
		s := span{level: uint8(min(i, maxIndices-1)), r: &extent{name: b.Text, pos: b.Pos}}
		ctx = ctx.with(scope{name: b.Text, given: &given{spans: []span{s}}})
		ctx.depth++
	}
	for _, p := range m.Params {
		ctx = ctx.with(scope{name: p.Text, value: &term{pos: p.Pos}})
	}
	x.macroBody(ctx, m)
	m.broken = x.failed
}

// checkCallees visits the funcs that m uses, and finds those that use themselves.
func (c *checker) checkCallees(m *macro) {
	m.state = visiting
	visit := func(name string) {
		callee := c.funcs[name]
		switch {
		case callee == nil:
		case callee.state == visiting:
			if !callee.broken {
				c.fail(callee.Pos, "cycle", "func %s uses itself: %s", callee.Name, c.cycleFrom(callee))
			}
			callee.broken, m.broken = true, true
		default:
			c.checkMacro(callee)
			m.broken = m.broken || callee.broken
		}
	}
	for _, l := range m.Lets {
		callees(l.Expr, visit)
	}
	callees(m.Result, visit)
	m.state = seen
}

// cycleFrom names the funcs by which m uses itself.
func (c *checker) cycleFrom(m *macro) string {
	path, at := []string{m.Name}, m
	for {
		var next *macro
		follow := func(name string) {
			if f := c.funcs[name]; f != nil && f.state == visiting && (next == nil || f == m) {
				next = f
			}
		}
		for _, l := range at.Lets {
			callees(l.Expr, follow)
		}
		callees(at.Result, follow)
		if next == nil || len(path) > maxFrames {
			return strings.Join(path, " -> ")
		}
		path = append(path, next.Name)
		if next == m {
			return strings.Join(path, " -> ")
		}
		at = next
	}
}

// callees calls f for the names that n calls.
func callees(n *syntax.Node, f func(name string)) {
	if n.Kind == syntax.Call || n.Kind == syntax.Bind {
		f(n.Name)
	}
	children(n, func(k *syntax.Node) { callees(k, f) })
}

// children calls f for the expressions directly inside n.
func children(n *syntax.Node, f func(*syntax.Node)) {
	for _, a := range n.Args {
		f(a)
	}
	for i := range n.Binders {
		if b := &n.Binders[i]; b.Lo != nil {
			f(b.Lo)
			f(b.Hi)
		}
	}
	if n.Where != nil {
		f(n.Where)
	}
}

// repeatedName reports a func that uses one name for two things.
func repeatedName(f *Func) *diag.Diag {
	seen := map[string]bool{}
	words := append(append([]Word{}, f.Binders...), f.Params...)
	for _, l := range f.Lets {
		words = append(words, l.Word)
	}
	if len(words) > maxLocals {
		return diag.Errorf(f.Pos, "limit", "func %s has more than %d names", f.Name, maxLocals)
	}
	for _, w := range words {
		if seen[w.Text] {
			return diag.Errorf(w.Pos, "twice", "%s is defined twice in func %s", w.Text, f.Name)
		}
		seen[w.Text] = true
	}
	return nil
}

// callMacro hands the binders down to the macro. What it returns outside of the reductions inside is 0 outside of the set.
func (b *binder) callMacro(args []*term) *term {
	m, n := b.macro, b.node
	groups, where := b.groups, b.where()
	switch {
	case len(m.Binders) == 0:
		b.fail(n.Pos, "arity", "%s takes no binder", n.Name)
		return b.lost(n, args...)
	case len(m.Binders) == 1:
		groups = [][]span{b.spans()}
	case len(groups) != len(m.Binders):
		b.fail(n.Pos, "arity", "%s takes %s, not %d", n.Name, counted(len(m.Binders), "binder"), len(groups))
		return b.lost(n, args...)
	}
	if i := b.typedBinder(); i >= 0 {
		b.fail(n.Binders[i].TypePos, "binder", "%s is a func, which names no accumulator", n.Name)
		return b.lost(n, args...)
	}
	hand := make([]*given, len(groups))
	for i, g := range groups {
		hand[i] = &given{g, where}
	}
	out := b.expander.macro(b.inner, n, m, hand, args)
	return b.guarded(out, where)
}

func (b *binder) typedBinder() int {
	for i := range b.node.Binders {
		if b.node.Binders[i].Type != "" {
			return i
		}
	}
	return -1
}

// guarded makes a macro's result 0 outside of the set, if it depends on the index at all.
func (b *binder) guarded(out, where *term) *term {
	n := b.node
	var bound uint64
	var guard *term
	for _, s := range b.spans() {
		bound |= levelBit(s.level)
		if s.lo != nil {
			j := b.index(b.inner, n, s.level)
			guard = b.and(guard, b.operation(b.inner, n, ir.OpLe, widen(ir.I64, s.lo.typ), ir.Bool_, s.lo, j))
			guard = b.and(guard, b.operation(b.inner, n, ir.OpLt, widen(ir.I64, s.hi.typ), ir.Bool_, j, s.hi))
		}
	}
	if out.free&b.fresh != 0 && out.typ != lostType {
		levelsOf(out.free&b.fresh, func(level uint8) {
			name := b.nameOf(level)
			b.fail(n.Pos, "name", "%s is a value for every %s, and there is no index %s here", show(n), name, name)
		})
		return b.lost(n, out)
	}
	if where != nil {
		guard = b.and(guard, where)
	}
	if guard == nil || out.free&bound == 0 {
		return out
	}
	zero := term{kind: numberTerm, node: n, pos: b.outer.pos(n.Pos), typ: intLit}
	if out.typ.IsBool() {
		zero.typ = ir.Bool_
	}
	t := widen(out.typ, zero.typ)
	return b.operation(b.outer, n, ir.OpIf, t, t, guard, out, b.newTerm(b.outer, zero))
}

func (b *binder) nameOf(level uint8) string {
	for _, s := range b.spans() {
		if s.level == level {
			return s.r.name
		}
	}
	return "index"
}

// macro expands a call with these arguments; hand is what each of its binders stands for.
func (x *expander) macro(c context, n *syntax.Node, m *macro, hand []*given, args []*term) *term {
	switch {
	case m.broken:
		return x.lost(n, args...)
	case len(m.Params) != len(args):
		x.fail(c, n.Pos, "arity", "%s takes %s (%s), not %d", n.Name, counted(len(m.Params), "argument"), wordList(m.Params), len(args))
		return x.lost(n, args...)
	case c.frame != nil && c.frame.depth >= maxFrames:
		x.fail(c, n.Pos, "limit", "more than %d funcs inside each other", maxFrames)
		return x.lost(n, args...)
	case x.budget <= 0:
		return x.exhausted(c, n)
	}
	f := &frame{macro: m, call: c.pos(n.Pos), outer: c.frame, depth: 1}
	if c.frame != nil {
		f.depth += c.frame.depth
	}
	body := context{depth: c.depth, frame: f}
	for i, b := range m.Binders {
		body = body.with(scope{name: b.Text, given: hand[i]})
	}
	for i, p := range m.Params {
		body = body.with(scope{name: p.Text, value: args[i]})
	}
	return x.macroBody(body, m)
}

// exhausted reports, once, that macros make more than a compiler should look at.
func (x *expander) exhausted(c context, n *syntax.Node) *term {
	if x.budget > exhaustedBudget {
		x.budget = exhaustedBudget
		x.fail(context{}, c.pos(n.Pos), "limit", "the funcs of this file expand to too many operations")
	}
	return x.lost(n)
}

const exhaustedBudget = -1 << 40

func (x *expander) macroBody(c context, m *macro) *term {
	for _, l := range m.Lets {
		c = c.with(scope{name: l.Text, value: x.expr(c, l.Expr)})
	}
	return x.expr(c, m.Result)
}

func wordList(words []Word) string {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = w.Text
	}
	return strings.Join(names, ", ")
}
