package lang

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// binder collects what the brackets of a reduction, a scan or a macro bind.
type binder struct {
	*expander
	outer, inner context
	node         *syntax.Node
	macro        *macro
	groups       [][]span // one for every binder that is written: a macro's own binder can stand for several indices
	conds        []*term
	handed       []*given // whose conditions are in conds already
	fresh        uint64   // levels that mean nothing outside
	ok           bool
}

// binding resolves NAME[binders where cond](args).
func (x *expander) binding(c context, n *syntax.Node) *term {
	b := &binder{expander: x, outer: c, inner: c, node: n, macro: x.findMacro(c, n.Name), ok: true}
	known := b.macro != nil || isReduction(n.Name) || isScan(n.Name)
	if !known && !x.file.Lost[n.Name] {
		x.suggestOf(x.fail(c, n.Pos, "name", "unknown reduction or func %s", n.Name), n.Name, x.functionNames)
	}
	if len(n.Binders) == 0 && known {
		x.fail(c, n.Pos, "binder", "%s needs a binder, %s[j](…)", n.Name, n.Name)
		b.ok = false
	}
	for i := range n.Binders {
		b.bind(&n.Binders[i])
	}
	if n.Where != nil {
		cond := x.expr(b.inner, n.Where)
		x.needBool(b.inner, cond, "a bool condition behind where")
		b.conds = append(b.conds, cond)
	}
	args := b.arguments()
	switch {
	case !known || !b.ok:
		return x.lost(n, args...)
	case b.macro != nil:
		return b.callMacro(args)
	}
	return b.reduce(args)
}

// arguments resolves the arguments inside of the binders, but the rank of argtop outside.
func (b *binder) arguments() []*term {
	args := make([]*term, len(b.node.Args))
	for i, n := range b.node.Args {
		c := b.inner
		if b.macro == nil && b.node.Name == "argtop" && i == 1 {
			c = b.outer
		}
		args[i] = b.expr(c, n)
	}
	return args
}

func (b *binder) fail(pos diag.Pos, code, format string, args ...any) *diag.Diag {
	b.ok = false
	return b.expander.fail(b.outer, pos, code, format, args...)
}

// bind resolves one binder.
func (b *binder) bind(w *syntax.Binder) {
	var s span
	if w.Lo != nil {
		s.lo, s.hi = b.expr(b.inner, w.Lo), b.expr(b.inner, w.Hi)
		for _, end := range []*term{s.lo, s.hi} {
			b.needInteger(b.inner, end, "an integer as an end of "+w.Name+"'s range")
		}
	}
	for i := range b.node.Binders {
		if o := &b.node.Binders[i]; o == w {
			break
		} else if o.Name == w.Name {
			b.fail(w.Pos, "binder", "index %s is bound twice", w.Name)
		}
	}
	if len(w.Flags) > 0 && !(b.macro == nil && isScan(b.node.Name)) {
		b.fail(w.Pos, "binder", "%s belongs to scans, not to %s", w.Flags[0], b.node.Name)
	}
	at := b.inner.find(w.Name)
	switch {
	case at != nil && at.given != nil:
		b.bindGiven(w, s, at.given)
	case at != nil && at.value != nil && b.inner.frame == nil: // lost on the left-hand side
		b.failed = true
		b.bindNew(w, s, nil)
	case at != nil && at.value != nil:
		b.fail(w.Pos, "binder", "index %s hides the name %s of func %s", w.Name, w.Name, b.inner.frame.macro.Name)
	case b.macro == nil && isScan(b.node.Name):
		b.bindScanned(w, s, at)
	default:
		b.bindNew(w, s, at)
	}
}

// bindGiven binds the indices that the macro around was called with, over the ranges and conditions that came with them.
func (b *binder) bindGiven(w *syntax.Binder, s span, g *given) {
	if s.lo != nil && len(g.spans) != 1 {
		b.fail(w.Pos, "binder", "%s stands for %d indices and cannot take one range", w.Name, len(g.spans))
		return
	}
	group := make([]span, len(g.spans))
	copy(group, g.spans)
	if s.lo != nil {
		group[0].lo, group[0].hi = s.lo, s.hi
		group[0].r = &extent{name: w.Name, pos: b.inner.pos(w.Pos)}
	}
	b.groups = append(b.groups, group)
	for _, h := range b.handed {
		if h == g {
			return
		}
	}
	b.handed = append(b.handed, g)
	if g.where != nil {
		b.conds = append(b.conds, g.where)
	}
}

// bindScanned takes the index of the left-hand side that a scan runs along.
func (b *binder) bindScanned(w *syntax.Binder, s span, at *scope) {
	index := b.outside(w.Name, at)
	if index == nil {
		b.fail(w.Pos, "range", "%s[%s]: %s is no index of the left-hand side", b.node.Name, w.Name, w.Name)
		b.bindNew(w, s, nil) // so that its uses are no mistakes
		return
	}
	s.level, s.r = index.level, index.r
	b.groups = append(b.groups, []span{s})
}

// bindNew binds a new index. A macro's index that has the name of one outside has its level, so that the macro's result, where
// it depends on the index, is one for the index outside.
func (b *binder) bindNew(w *syntax.Binder, s span, at *scope) {
	b.hides(w)
	s.r = &extent{name: w.Name, pos: b.inner.pos(w.Pos)}
	if outside := b.outside(w.Name, at); b.macro != nil && outside != nil {
		s.level = outside.level
		if s.lo != nil && (s.lo.free|s.hi.free)&levelBit(s.level) != 0 {
			b.fail(w.Pos, "range", "the range of %s uses another %s, and %s may depend on both", w.Name, w.Name, b.node.Name)
			return
		}
	} else if !b.newLevel(w, &s) {
		return
	}
	b.inner = b.inner.with(scope{name: w.Name, index: &s})
	b.groups = append(b.groups, []span{s})
}

// outside finds the index of this name in scope.
func (b *binder) outside(name string, at *scope) *span {
	if at != nil {
		return at.index
	}
	if b.outer.frame == nil {
		return b.autos[name]
	}
	return nil
}

func (b *binder) newLevel(w *syntax.Binder, s *span) bool {
	if b.inner.depth+len(b.autos) >= maxIndices {
		b.fail(w.Pos, "limit", "more than %d indices in scope", maxIndices)
		return false
	}
	s.level = uint8(b.inner.depth)
	b.fresh |= levelBit(s.level)
	b.inner.depth++
	return true
}

// hides reports an index that takes the name of something visible.
func (b *binder) hides(w *syntax.Binder) {
	if what := b.taken(b.inner, w.Name); what != "" {
		b.fail(w.Pos, "binder", "index %s hides %s", w.Name, what)
	}
}

// taken says what a name means already, other than an index.
func (x *expander) taken(c context, name string) string {
	switch {
	case isBuiltin(name):
		return "something built in"
	case c.frame == nil && x.names[name] != nil && x.names[name].scalar != nil:
		return "a size or parameter"
	case c.frame == nil && x.names[name] != nil:
		return "a tensor"
	case x.visibleConst(c, name) != nil:
		return "a const"
	case (c.frame == nil || c.frame.macro.file) && x.funcs[name] != nil:
		return "a func"
	}
	return ""
}

func (b *binder) spans() []span {
	if len(b.groups) == 1 {
		return b.groups[0]
	}
	var all []span
	for _, g := range b.groups {
		all = append(all, g...)
	}
	return all
}

// where is the conjunction of the conditions, or nil.
func (b *binder) where() *term {
	var out *term
	for _, c := range b.conds {
		out = b.and(out, c)
	}
	return out
}

func (b *binder) and(a, c *term) *term {
	if a == nil {
		return c
	}
	return b.operation(b.inner, c.node, ir.OpAnd, ir.Bool_, ir.Bool_, a, c)
}

// reduce makes a reduction or a scan.
func (b *binder) reduce(args []*term) *term {
	n, name := b.node, b.node.Name
	spans := b.spans()
	takes := 1
	if name == "argtop" {
		takes = 2
	}
	if len(args) != takes {
		what := "1 expression"
		if takes == 2 {
			what = "an expression and a rank"
		}
		b.fail(n.Pos, "arity", "%s[…] takes %s, not %d", name, what, len(args))
		return b.lost(n, args...)
	}
	if len(spans) > 1 && (isScan(name) || reductions[name] == nil) {
		b.fail(n.Pos, "binder", "%s takes one binder, not %d", name, len(spans))
		return b.lost(n, args...)
	}
	bind := &binding{name: name, spans: spans, where: b.where()}
	for i := range n.Binders {
		for _, flag := range n.Binders[i].Flags {
			bind.reverse = bind.reverse || flag == "reverse"
			bind.exclusive = bind.exclusive || flag == "exclusive"
		}
	}
	if takes == 2 {
		bind.rank = args[1]
		b.needInteger(b.outer, bind.rank, "an integer rank")
	}
	typ := b.accumulator(bind, args[0])
	t := b.newTerm(b.outer, term{kind: bindTerm, node: n, pos: b.outer.pos(n.Pos), typ: typ, bind: bind, args: args[:1]})
	if t.kind == bindTerm {
		b.close(t)
		b.share(t) // a macro's local that depends on no index is one reduction, wherever it stands
	}
	return t
}

// close computes what a binding term reads from outside. A later range may use an earlier index; a scan reads its own.
func (b *binder) close(t *term) {
	bind := t.bind
	if bind.where != nil {
		t.free |= bind.where.free
		t.depth = max(t.depth, bind.where.depth+1)
	}
	for i := len(bind.spans) - 1; i >= 0; i-- {
		s := &bind.spans[i]
		if isScan(bind.name) {
			t.free |= levelBit(s.level)
		} else {
			t.free &^= levelBit(s.level)
		}
		if s.lo != nil {
			t.free |= s.lo.free | s.hi.free
			t.depth = max(t.depth, s.lo.depth+1, s.hi.depth+1)
		}
	}
	if bind.rank != nil {
		t.free |= bind.rank.free
	}
}

// accumulator finds the type in which the elements are combined, and returns that of the whole.
func (b *binder) accumulator(bind *binding, body *term) ir.Type {
	named := b.namedType(bind.name)
	switch bind.name {
	case "any", "all", "count":
		b.needBool(b.inner, body, "bool, as "+bind.name+" takes")
		bind.acc = ir.Bool_
		if bind.name == "count" {
			bind.acc = ir.I64
		}
		return bind.acc
	case "argmax", "argmin", "argtop":
		bind.acc = settled(computed(body.typ))
		return ir.I64
	case "sum", "prod", "cumsum", "cumprod":
		if b.counts(b.inner, body) == lostType {
			return lostType
		}
	}
	bind.acc = settled(computed(body.typ))
	if named.IsValid() && bind.acc.IsValid() {
		if bind.acc.IsFloat() && !named.IsFloat() {
			b.fail(b.node.Pos, "type", "%s is %s, which cannot be accumulated in %s", show(body.node), body.typ, named)
			return lostType
		}
		bind.acc = computed(named)
	}
	return bind.acc
}

// namedType is the accumulator's type that a binder names, as in sum[k: f64].
func (b *binder) namedType(name string) ir.Type {
	for i := range b.node.Binders {
		w := &b.node.Binders[i]
		if w.Type == "" {
			continue
		}
		d := dtypeNamed(w.Type)
		switch {
		case d == nil:
			b.suggest(b.fail(w.TypePos, "dtype", "unknown dtype %s", w.Type), w.Type, dtypeNames())
		case d.Kind == ir.Bool || reductions[name] == nil && !isScan(name) || name == "any" || name == "all" || name == "count":
			b.fail(w.TypePos, "type", "%s does not accumulate in %s", name, w.Type)
		default:
			return ir.Type{Elem: d, Pack: 1}
		}
	}
	return ir.Type{}
}
