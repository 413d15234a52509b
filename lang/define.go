package lang

import (
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// single checks a statement that does not use itself, and emits its definition.
func (k *kernel) single(s *stmt) bool {
	before := k.count
	ok := k.expand(s, false)
	if !ok && k.count > before {
		return false
	}
	w := k.inference(nil)
	for _, a := range s.axes {
		a.r.lost = k.ast.Lost[s.ast.Text] // whose declaration could not be read
	}
	w.lookStatement(s)
	w.resolve()
	if !ok || w.failed || !k.covered(s) {
		return false
	}
	if s.scatters() {
		k.emitScatter(s)
	} else {
		k.shape(s)
		k.emitMap(s)
	}
	return true
}

// covered reports whether every element of a result gets a value.
func (k *kernel) covered(s *stmt) bool {
	if s.v.hi == nil {
		return true
	}
	if s.v.tensor == nil {
		return false // its declaration has a mistake
	}
	if s.scatters() {
		return true
	}
	for i, a := range s.axes {
		if !k.same(a.r.lo, s.v.lo[i]) || !k.same(a.r.hi, s.v.hi[i]) {
			k.fail(a.pos, "extent", "%s has extent %s in dimension %d, but %s ranges over %s..%s: every element of a result needs a value",
				s.ast.Text, show(s.v.written[i]), i+1, a.r.name, rangeText(zero, a.r.lo), rangeText(zero, a.r.hi))
			return false
		}
	}
	return true
}

// shape gives an intermediate the type of its value and the box of its indices.
func (k *kernel) shape(s *stmt) {
	v := s.v
	if v.tensor != nil {
		return
	}
	if v.typ == lostType {
		v.typ = settled(s.value.typ)
	}
	extents := make([]*ir.Expr, len(s.axes))
	v.lo, v.hi = make([]*ir.Expr, len(s.axes)), make([]*ir.Expr, len(s.axes))
	for i, a := range s.axes {
		v.lo[i], v.hi[i] = a.r.lo, a.r.hi
		extents[i] = k.length(a.r.lo, a.r.hi)
	}
	v.tensor = &tensor.Tensor{Name: v.name, Type: v.typ, Extents: extents, Role: tensor.Temp, Pos: v.pos}
	k.addTemp(s, v.tensor)
}

// length is how many elements a range has: none where its end is not behind its start. Declared extents are never negative.
func (k *kernel) length(lo, hi *ir.Expr) *ir.Expr {
	n := minus(hi, lo)
	if k.extents[n] {
		return n
	}
	facts := ir.NewFacts(k.where...)
	defer facts.Forget()
	if facts.Holds(ir.Ge(n, zero)) {
		return n
	}
	return ir.Max(n, zero)
}

func (k *kernel) addTemp(s *stmt, t *tensor.Tensor) {
	k.prog.Temps = append(k.prog.Temps, t)
	s.temps = append(s.temps, t)
}

func (k *kernel) emit(d tensor.Def) { k.prog.Defs = append(k.prog.Defs, d) }

// box opens the axes of a definition, but the one that is left out (-1: none).
func (l *lowering) box(axes []*axis, without int) []ir.Span {
	out := make([]ir.Span, 0, len(axes))
	for i, a := range axes {
		if i == without {
			continue
		}
		lo, hi := a.r.lo, a.r.hi
		if a.lo != nil {
			lo, hi = l.as(a.lo, ir.I64), l.as(a.hi, ir.I64)
		}
		axis, _ := l.open(a.level, a.r.name)
		out = append(out, ir.Span{Axis: axis, Lo: lo, Hi: hi})
	}
	l.own = out
	return out
}

// stored is t as an element of v is stored by statement s.
func (l *lowering) stored(t *term, s *stmt) *ir.Expr {
	v := s.v
	switch {
	case s.typ.IsValid() && s.typ != v.typ:
		return ir.Fold(ir.NewExpr(ir.OpCast, v.typ, nil, t.pos, l.cast(t, s.typ, t.pos)))
	case v.rounds:
		return l.cast(t, v.typ, t.pos)
	}
	return l.as(t, v.typ)
}

func (k *kernel) emitMap(s *stmt) {
	l := &k.low
	free := l.box(s.axes, -1)
	k.emit(&tensor.Map{Out: s.v.tensor, Free: free, Body: l.stored(s.value, s), Pos: s.ast.Pos})
}

var scatterOps = map[string]*ir.Monoid{"+=": ir.Sum, "max=": ir.Max_, "min=": ir.Min_}

// emitScatter combines in the type of the arithmetic between target and value. A :dtype is rounded to before the target's type.
func (k *kernel) emitScatter(s *stmt) {
	l := &k.low
	d := &tensor.Scatter{Out: s.v.tensor, Op: scatterOps[s.ast.Op], Edge: s.edge, Pos: s.ast.Pos}
	d.Free = l.box(s.axes, -1)
	d.Acc = settled(widen(s.v.typ, s.value.typ))
	if !s.v.typ.IsBool() || !s.value.typ.IsBool() {
		d.Acc = settled(computed(d.Acc))
	}
	for _, t := range s.left {
		d.At = append(d.At, l.as(t, ir.I64))
	}
	d.Body = l.as(s.value, d.Acc)
	k.emit(d)
	switch sym := k.names[s.ast.Text]; {
	case sym.scalar != nil:
		k.emitVia(s, d, d.Acc, sym.scalar)
	case sym.tensor != s.v:
		d.Init = sym.tensor.tensor
	}
	if s.typ.IsValid() && s.typ != s.v.typ && d.Out == s.v.tensor {
		k.emitVia(s, d, s.typ, nil)
	}
}

// emitVia makes a scatter combine in an intermediate of another type first. A scalar parameter that is updated in place joins
// behind it.
func (k *kernel) emitVia(s *stmt, d *tensor.Scatter, t ir.Type, start *ir.Scalar) {
	d.Out = &tensor.Tensor{Name: s.ast.Text + ".sum", Type: t, Extents: s.v.tensor.Extents, Role: tensor.Temp, Pos: s.ast.Pos}
	k.addTemp(s, d.Out)
	m := &tensor.Map{Out: s.v.tensor, Pos: s.ast.Pos}
	var at []*ir.Expr
	for i, hi := range s.v.hi {
		axis := &ir.Axis{Name: "i" + itoa(i)}
		m.Free = append(m.Free, ir.Span{Axis: axis, Lo: zero, Hi: hi})
		at = append(at, ir.Name(axis))
	}
	m.Body = tensor.ReadOf(d.Out, tensor.Edge{}, at...).At(s.ast.Pos)
	if start != nil {
		m.Body = ir.NewExpr(d.Op.Op, t, nil, s.ast.Pos, convert(ir.Name(start), t, s.ast.Pos), m.Body)
	}
	if s.typ.IsValid() {
		m.Body = ir.Cast(s.typ, m.Body).At(s.ast.Pos)
	}
	m.Body = ir.Cast(s.v.typ, m.Body).At(s.ast.Pos)
	k.emit(m)
}

// prove reports the accesses that may leave their tensors.
func (k *kernel) prove() {
	var last *diag.Diag
	var access diag.Pos
	for _, f := range tensor.ProveBounds(k.prog) {
		index, pos := rangeText(zero, f.Index), f.Pos
		if n := k.access(f); n != nil {
			index, pos = show(n), n.Pos
		}
		message := k.outside(f, index)
		if last != nil && access == f.Pos { // another subscript of the same access, or the same one again in a macro
			if !strings.Contains(last.Message, message) {
				last.Message += "; " + message
			}
			continue
		}
		last = k.fail(pos, "bounds", "%s", message).WithFix("guard it with if or where, or give it a boundary: %s@zero[…]", f.Of.Name)
		access = f.Pos
	}
}

// outside says which subscript may leave its tensor, and on which side.
func (k *kernel) outside(f tensor.Failure, index string) string {
	extent, name := "", f.Of.Name
	v := k.variableOf(f.Of)
	switch {
	case v != nil && v.written != nil:
		extent = "0.." + show(v.written[f.Dim])
	case v != nil && f.Dim < len(v.hi):
		extent = rangeText(zero, v.lo[f.Dim]) + ".." + rangeText(zero, v.hi[f.Dim])
	}
	side := "may lie outside"
	switch {
	case f.Below && !f.Above:
		side = "may lie below"
	case f.Above && !f.Below:
		side = "may lie above"
	}
	return "index " + index + " of " + name + " " + side + " " + extent + " (dimension " + itoa(f.Dim+1) + ")"
}

func (k *kernel) variableOf(t *tensor.Tensor) *variable {
	if v := k.results[t.Name]; v != nil && v.tensor == t {
		return v
	}
	if sym := k.names[t.Name]; sym != nil {
		return sym.tensor
	}
	return nil
}

// access finds the subscript that failed, as it is written.
func (k *kernel) access(f tensor.Failure) (found *syntax.Node) {
	var search func(n *syntax.Node)
	search = func(n *syntax.Node) {
		if n.Kind == syntax.Index && n.Pos == f.Pos && n.Name == f.Of.Name && f.Dim < len(n.Args) {
			found = n.Args[f.Dim]
		}
		children(n, search)
	}
	for _, s := range k.ast.Body {
		if s.Declare != nil {
			continue
		}
		if s.Pos == f.Pos && s.Text == f.Of.Name && f.Dim < len(s.Indices) {
			return s.Indices[f.Dim]
		}
		for _, n := range statementNodes(s) {
			search(n)
		}
	}
	return found
}

// statementNodes lists the expressions of a statement.
func statementNodes(s *Stmt) []*syntax.Node {
	nodes := append([]*syntax.Node{s.Expr}, s.Indices...)
	if s.From != nil {
		nodes = append(nodes, s.From)
	}
	for i := range s.Ranges {
		nodes = append(nodes, s.Ranges[i].Lo, s.Ranges[i].Hi)
	}
	return nodes
}

// dropUnused removes what no result needs: an error in its elements does not count.
func (k *kernel) dropUnused() {
	needed := map[*tensor.Tensor]bool{}
	var need func(s *stmt)
	need = func(s *stmt) {
		if needed[s.v.tensor] {
			return
		}
		needed[s.v.tensor] = true
		for _, t := range s.temps {
			needed[t] = true
		}
		for _, t := range s.uses {
			need(t)
		}
	}
	for _, s := range k.stmts {
		if k.results[s.ast.Text] == s.v {
			need(s)
		}
	}
	temps, defs := k.prog.Temps[:0], k.prog.Defs[:0]
	for _, t := range k.prog.Temps {
		if needed[t] {
			temps = append(temps, t)
		}
	}
	for _, d := range k.prog.Defs {
		if needed[d.Outs()[0]] {
			defs = append(defs, d)
		}
	}
	k.prog.Temps, k.prog.Defs = temps, defs
}
