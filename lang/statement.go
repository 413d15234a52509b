package lang

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// stmt is a statement that is being checked.
type stmt struct {
	ast   *Stmt
	v     *variable // what it defines
	typ   ir.Type   // that :dtype names; the zero Type if there is none
	axes  []*axis
	left  []*term // the subscripts of a scatter
	edge  tensor.Edge
	value *term
	from  *term
	uses  []*stmt // the statements whose names it reads
	step  int     // of a recurrence: the axis along which it steps
	temps []*tensor.Tensor
	order tarjan
}

// axis is an index of the left-hand side, or another one over which a scatter runs.
type axis struct {
	span
	pos diag.Pos
}

func (s *stmt) scatters() bool { return s.ast.Op != "=" }

// define takes the first look at the statements: what they define, so that all can use it. It reports whether to go on.
func (k *kernel) define() bool {
	if len(k.ast.Body) > maxStatements {
		k.fail(k.ast.Pos, "limit", "kernel %s has more than %d statements", k.ast.Name, maxStatements)
		return false
	}
	declared := map[string]*variable{}
	for _, s := range k.ast.Body {
		if s.Declare == nil {
			continue
		}
		v, ok := k.variable(s.Declare, tensor.Temp)
		if k.declare(s.Declare.Word, &symbol{tensor: v}) {
			declared[s.Declare.Text] = v
		}
		if ok {
			k.prog.Temps = append(k.prog.Temps, v.tensor)
		}
	}
	first := map[string]*Stmt{}
	for _, s := range k.ast.Body {
		if s.Declare != nil {
			continue
		}
		if old := first[s.Text]; old != nil {
			k.fail(s.Pos, "twice", "%s is defined twice", s.Text).WithNote(old.Pos, "first defined here")
			continue
		}
		first[s.Text] = s
		var t ir.Type
		if s.Type.Text != "" {
			t, _ = k.dtype(s.Type)
		}
		if v := k.target(s, t, declared); v != nil {
			k.stmts = append(k.stmts, &stmt{ast: s, v: v, typ: t})
		} else {
			k.broken = true
		}
	}
	for name, v := range declared {
		if first[name] == nil && !k.ast.Lost[name] {
			k.fail(v.pos, "scatter", "%s is declared, but nothing is scattered into it", name).WithFix("remove the declaration, or write %s[…] += …", name)
		}
	}
	return true
}

// target finds or makes the variable that a statement defines; nil after a mistake.
func (k *kernel) target(s *Stmt, t ir.Type, declared map[string]*variable) *variable {
	v := k.results[s.Text]
	if v == nil {
		v = declared[s.Text]
		if v != nil && s.Op == "=" {
			k.fail(s.Pos, "scatter", "%s is declared, so that += max= or min= scatters into it; a definition needs no declaration", s.Text)
			return nil
		}
	}
	if v != nil {
		if v.rank != len(s.Indices) {
			k.fail(s.Pos, "rank", "%s has %s, not %d", s.Text, dimensions(v.rank), len(s.Indices))
			return nil
		}
		return v
	}
	if sym := k.names[s.Text]; sym != nil && (sym.scalar != nil || sym.tensor != nil) {
		k.fail(s.Pos, "twice", "%s is a size or a parameter, and cannot be defined", s.Text).WithNote(sym.pos, "declared here")
		return nil
	}
	v = &variable{name: s.Text, pos: s.Pos, rank: len(s.Indices), typ: t, rounds: s.Type.Text != ""}
	if !k.declare(s.Word, &symbol{tensor: v}) {
		return nil
	}
	if s.Op != "=" {
		k.fail(s.OpPos, "scatter", "%s needs a result or a declared intermediate on its left; %s has no declared extents", s.Op, s.Text).
			WithFix("declare it: %s: f32[…]", s.Text)
		return nil
	}
	return v
}

// undefined reports results that no statement defines.
func (k *kernel) undefined() {
	defined := map[string]bool{}
	var names []string
	for _, s := range k.ast.Body {
		if s.Declare == nil {
			defined[s.Text] = true
			names = append(names, s.Text)
		}
	}
	for _, p := range k.ast.Results {
		if !defined[p.Text] && !k.ast.Lost[p.Text] {
			d := k.fail(p.Pos, "result", "result %s is never defined", p.Text)
			var spare []string
			for _, n := range names {
				if k.results[n] == nil {
					spare = append(spare, n)
				}
			}
			k.expander().suggest(d, p.Text, spare)
		}
	}
}

// expand resolves the names of a statement. It reports whether that went without mistakes.
func (k *kernel) expand(s *stmt, quiet bool) bool {
	x := k.expander()
	x.quiet = quiet
	c := context{}
	s.axes, s.left, s.value, s.from = nil, nil, nil, nil
	if s.scatters() {
		k.expandScatter(x, s)
		return !x.failed
	}
	if s.ast.Edge != nil {
		x.fail(c, s.ast.Edge.Pos, "boundary", "a definition has no boundary; an access has, or a scatter")
	}
	if len(s.ast.Indices) > maxIndices/2 {
		x.fail(c, s.ast.Pos, "limit", "more than %d indices on the left-hand side", maxIndices/2)
		return false
	}
	for _, n := range s.ast.Indices {
		c = x.leftIndex(c, s, n)
	}
	for i := range s.ast.Ranges {
		k.leftRange(x, c, s, &s.ast.Ranges[i])
	}
	s.value = x.expr(c, s.ast.Expr)
	if s.ast.From != nil {
		s.from = x.expr(c, s.ast.From)
	}
	return !x.failed
}

// leftIndex declares an index of the left-hand side of a definition.
func (x *expander) leftIndex(c context, s *stmt, n *syntax.Node) context {
	what := ""
	switch {
	case n.Kind != syntax.Name:
		x.fail(c, n.Pos, "index", "the left-hand side of '=' takes plain indices, not %s", show(n)).WithFix("+= scatters")
		return x.lostIndices(c, n)
	case c.find(n.Name) != nil:
		x.fail(c, n.Pos, "index", "index %s stands twice on the left-hand side", n.Name)
	default:
		if what = x.taken(c, n.Name); what != "" {
			x.fail(c, n.Pos, "index", "index %s hides %s", n.Name, what)
		}
	}
	a := &axis{pos: n.Pos, span: span{level: uint8(c.depth), r: &extent{name: n.Name, pos: n.Pos, own: true}}}
	s.axes = append(s.axes, a)
	c = c.with(scope{name: n.Name, index: &a.span})
	c.depth++
	return c
}

// lostIndices makes the names in a subscript that cannot be an index known, so that their uses are no mistakes.
func (x *expander) lostIndices(c context, n *syntax.Node) context {
	if n.Kind == syntax.Name && c.find(n.Name) == nil && x.names[n.Name] == nil {
		c = c.with(scope{name: n.Name, value: &term{node: n, pos: n.Pos}})
	}
	children(n, func(k *syntax.Node) { c = x.lostIndices(c, k) })
	return c
}

// leftRange gives an index of the left-hand side its explicit range. The left-hand side is a box: no range uses another index.
func (k *kernel) leftRange(x *expander, c context, s *stmt, r *syntax.Binder) {
	i := slices.IndexFunc(s.axes, func(a *axis) bool { return a.r.name == r.Name })
	if i < 0 {
		x.fail(c, r.Pos, "range", "for %s: %s is no index of this statement", r.Name, r.Name)
		return
	}
	a := s.axes[i]
	if a.r.explicit {
		x.fail(c, r.Pos, "range", "index %s has two ranges", r.Name)
		return
	}
	a.r.explicit = true
	failed := x.failed
	x.failed = false
	lo, hi := x.end(c, r, r.Lo), x.end(c, r, r.Hi)
	ok := !x.failed
	x.failed = failed || x.failed
	if !ok {
		return
	}
	if free := lo.free | hi.free; free != 0 {
		x.fail(c, r.Pos, "range", "the range of %s uses another index of the left-hand side", r.Name)
		return
	}
	a.r.lo, a.r.hi = k.leftEnd(x, r, lo), k.leftEnd(x, r, hi)
}

func (x *expander) end(c context, r *syntax.Binder, n *syntax.Node) *term {
	t := x.expr(c, n)
	x.needInteger(c, t, "an integer as an end of "+r.Name+"'s range")
	return t
}

func (k *kernel) leftEnd(x *expander, r *syntax.Binder, t *term) *ir.Expr {
	e := k.low.as(t, ir.I64)
	if read := readIn(e); read != nil {
		x.fail(context{}, t.pos, "range", "the range of %s comes from data (%s); on the left-hand side it is made of sizes and scalar parameters",
			r.Name, show(t.node))
		return nil
	}
	return e
}

// expandScatter resolves a scatter. Every unknown name is an index of it.
func (k *kernel) expandScatter(x *expander, s *stmt) {
	c := context{}
	x.autos = map[string]*span{}
	if s.ast.From != nil {
		x.fail(c, s.ast.From.Pos, "recurrence", "from belongs to '=', not to a scatter")
	}
	var listed []*axis
	for i := range s.ast.Ranges {
		r := &s.ast.Ranges[i]
		a := &axis{pos: r.Pos, span: span{level: uint8(c.depth), r: &extent{name: r.Name, pos: r.Pos, own: true, explicit: true}}}
		switch what := x.taken(c, r.Name); {
		case c.find(r.Name) != nil:
			x.fail(c, r.Pos, "range", "index %s has two ranges", r.Name)
		case what != "":
			x.fail(c, r.Pos, "index", "index %s hides %s", r.Name, what)
		case c.depth >= maxIndices/2:
			x.fail(c, r.Pos, "limit", "more than %d ranges", maxIndices/2)
			return
		}
		listed = append(listed, a)
		c = c.with(scope{name: r.Name, index: &a.span})
		c.depth++
	}
	s.left = x.exprs(c, s.ast.Indices)
	for _, t := range s.left {
		x.needInteger(c, t, "an integer index of "+s.ast.Text)
	}
	if s.ast.Edge != nil {
		s.edge = x.edge(c, s.ast.Edge, s.v.typ)
	}
	s.value = x.expr(c, s.ast.Expr)
	for i, a := range listed {
		r := &s.ast.Ranges[i]
		a.lo, a.hi = x.end(c, r, r.Lo), x.end(c, r, r.Hi)
	}
	if x.failed {
		return
	}
	s.axes = scatterAxes(x.autos)
	s.axes = append(s.axes, listed...)
	x.checkScatterRanges(c, s, listed)
}

// scatterAxes lists the indices that need no explicit range, in the order in which they were met.
func scatterAxes(autos map[string]*span) []*axis {
	var out []*axis
	for _, s := range autos {
		s.r.own = true
		out = append(out, &axis{span: *s, pos: s.r.pos})
	}
	slices.SortFunc(out, func(a, b *axis) int { return int(b.level) - int(a.level) })
	return out
}

// checkScatterRanges: a range uses only indices that stand before it, and every index is used.
func (x *expander) checkScatterRanges(c context, s *stmt, listed []*axis) {
	used := s.value.free
	for _, t := range s.left {
		used |= t.free
	}
	for _, a := range listed {
		used |= a.lo.free | a.hi.free
	}
	later := uint64(0)
	for i := len(listed) - 1; i >= 0; i-- {
		a := listed[i]
		later |= levelBit(a.level)
		if (a.lo.free|a.hi.free)&later != 0 {
			x.fail(c, a.pos, "range", "the range of %s uses an index whose range does not stand before it", a.r.name)
		}
		if used&levelBit(a.level) == 0 {
			x.fail(c, a.pos, "range", "for %s: %s is no index of this statement", a.r.name, a.r.name)
		}
	}
	if x.scatterType(c, s); s.v.typ.IsBool() && s.ast.Op == "+=" {
		x.fail(c, s.ast.OpPos, "type", "%s is bool, into which nothing can be added", s.ast.Text)
	}
}

// scatterType checks that what is added is a number.
func (x *expander) scatterType(c context, s *stmt) {
	if s.ast.Op == "+=" {
		x.counts(c, s.value)
	}
}
