package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tile"
)

// need is a tile where it is needed: in a layout over its axes, and perhaps more.
func (a *assigner) need(v *tile.Value, l *ir.Layout) *tile.Value {
	if len(v.Axes) == 0 {
		l = nil
	} else {
		l = a.over(l, v.Axes)
	}
	if a.whole[v] && l == a.own[v] {
		return v
	}
	for _, w := range a.wanted[v] {
		if w.Layout == l {
			return w
		}
	}
	w := v
	if a.whole[v] || len(a.wanted[v]) > 0 {
		w = &tile.Value{Name: a.names.fresh(v.Name), Type: v.Type, Axes: v.Axes}
	}
	puts(w, l)
	a.wanted[v] = append(a.wanted[v], w)
	return w
}

// expr is an expression at the points of a layout.
func (a *assigner) expr(x *ir.Expr, l *ir.Layout) *ir.Expr {
	r := ir.Rewriter{Post: func(y *ir.Expr) *ir.Expr {
		if v, ok := y.Ref.(*tile.Value); ok {
			if w := a.need(v, l); w != v {
				return ir.Name(w)
			}
		}
		return y
	}}
	return r.Rewrite(x)
}

func (a *assigner) exprs(list []*ir.Expr, l *ir.Layout) []*ir.Expr {
	out := make([]*ir.Expr, len(list))
	for i, x := range list {
		out[i] = a.expr(x, l)
	}
	return out
}

// at is the layout of the points at which a statement over axes happens that names these expressions.
func (a *assigner) at(axes []*ir.Axis, list ...*ir.Expr) *ir.Layout {
	if len(axes) == 0 {
		return nil
	}
	if l := a.ownForm(axes, list...); l != nil {
		return l
	}
	return a.rest(axes)
}

// list decides the layouts of statements, the last first.
func (a *assigner) list(list []tile.Stmt) []tile.Stmt {
	var out []tile.Stmt // backwards
	for _, s := range slices.Backward(list) {
		for _, v := range tile.Defined(s) {
			out = append(out, a.settle(v)...)
		}
		out = append(out, a.stmt(s)...)
	}
	slices.Reverse(out)
	return out
}

// settle gives a tile that is computed once its layout. What it returns, backwards, takes it to the other layouts in which it is
// needed, through shared memory.
func (a *assigner) settle(v *tile.Value) (out []tile.Stmt) {
	if !a.whole[v] {
		return nil
	}
	puts(v, a.own[v])
	if len(a.wanted[v]) == 0 {
		return nil
	}
	t := &tile.Value{Name: a.names.fresh(v.Name), Type: v.Type, Axes: v.Axes, Space: tile.Shared}
	if a.turned(v) {
		t.Axes = slices.Clone(v.Axes)
		slices.Reverse(t.Axes)
	}
	for _, w := range a.wanted[v] {
		out = append(out, &tile.Move{Out: w, In: t})
	}
	return append(out, &tile.Move{Out: t, In: v})
}

// turned reports whether threads that take a tile from its layout to others meet less in shared memory with its axes the other
// way round.
func (a *assigner) turned(v *tile.Value) bool {
	conflicts := func(axes []*ir.Axis) int {
		u := sharedUse{of: &tile.Value{Type: v.Type, Axes: axes}, moves: []*ir.Layout{v.Layout}}
		for _, w := range a.wanted[v] {
			u.moves = append(u.moves, w.Layout)
		}
		_, n := u.solve()
		return n
	}
	back := slices.Clone(v.Axes)
	slices.Reverse(back)
	n := conflicts(v.Axes)
	return n > 0 && conflicts(back) < n
}

// stmt decides the layouts of what a statement reads. The statements in its place come backwards: a tile in several layouts is
// computed several times, one that nothing needs not at all.
func (a *assigner) stmt(s tile.Stmt) (out []tile.Stmt) {
	switch s := s.(type) {
	case *tile.Map:
		for _, w := range a.wanted[s.Out] {
			out = append(out, &tile.Map{Head: s.Head, Out: w, Body: a.expr(s.Body, w.Layout)})
		}
		return out
	case *tile.Load:
		if s.Async {
			s.At, s.Where, s.Other = a.exprs(s.At, nil), a.expr(s.Where, nil), a.expr(s.Other, nil)
			break
		}
		for _, w := range a.wanted[s.Out] {
			l := *s
			l.Out, l.At, l.Where, l.Other = w, a.exprs(s.At, w.Layout), a.expr(s.Where, w.Layout), a.expr(s.Other, w.Layout)
			out = append(out, &l)
		}
		return out
	case *tile.Store:
		l := a.at(s.Axes, append(slices.Clone(s.At), s.Value, s.Where)...)
		s.At, s.Value, s.Where = a.exprs(s.At, l), a.expr(s.Value, l), a.expr(s.Where, l)
	case *tile.Check:
		l := a.at(s.Axes, append(slices.Clone(s.Args), s.Cond)...)
		s.Args, s.Cond = a.exprs(s.Args, l), a.expr(s.Cond, l)
	case *tile.Dot:
		if s.A.Space != tile.Shared || s.B.Space != tile.Shared {
			a.unsupported(s.Pos, "the operands of the dot %s are not in shared memory", s.Out.Name)
		}
		if s.Into != nil {
			s.Into = a.need(s.Into, a.own[s.Out])
		}
	case *tile.Reduce:
		s.In = a.need(s.In, a.formOf(s.In))
	case *tile.Scan:
		s.In = a.need(s.In, a.formOf(s.In))
	case *tile.Move:
		return a.move(s)
	case *tile.Loop:
		a.loop(s)
	case *tile.If:
		a.branch(s)
	}
	return []tile.Stmt{s}
}

// move takes what goes to shared memory in the order in which it lies there, if its layout is free.
func (a *assigner) move(s *tile.Move) (out []tile.Stmt) {
	if s.Out.Space != tile.Shared {
		for _, w := range a.wanted[s.Out] {
			out = append(out, &tile.Move{Head: s.Head, Out: w, In: s.In})
		}
		return out
	}
	l := a.own[s.In]
	if l == nil {
		l = a.form(a.copyForm(s.In, s.Out), "copy")
	}
	s.In = a.need(s.In, l)
	return []tile.Stmt{s}
}

// copyForm is the layout of what goes to a tile in shared memory: pieces as long as they come from memory, or shorter ones where
// dots read the tile so that long ones would meet them in a bank.
func (a *assigner) copyForm(from, to *tile.Value) (best *ir.Layout) {
	n := 1
	if l := a.of(from); l != nil {
		n = min(a.piece(l, to.Axes[len(to.Axes)-1]), max(1, vectorBytes/from.Type.Bytes()))
	}
	least := 0
	for n = fair(to.Axes, a.kernel.Threads, n); best == nil || least > 0 && n*from.Type.Bytes() >= 4; n /= 2 {
		u := sharedUse{of: to, accesses: a.reads[to], moves: []*ir.Layout{spread(to.Axes, a.kernel.Threads, n)}}
		if _, conflicts := u.solve(); best == nil || conflicts < least {
			best, least = u.moves[0], conflicts
		}
	}
	return best
}

func (a *assigner) loop(s *tile.Loop) {
	for i, c := range s.Carry {
		s.Carry[i].Next = a.expr(c.Next, a.own[c.In])
	}
	s.Body = a.list(s.Body)
	for i, c := range s.Carry {
		begin := a.settle(c.In)
		slices.Reverse(begin)
		s.Body = append(begin, s.Body...)
		s.Carry[i].First = a.expr(c.First, a.own[c.In])
	}
	for i, o := range s.Over {
		if axes := tileAxes(o.Lo, o.Hi); len(axes) > 0 {
			l := a.at(axes, o.Lo, o.Hi)
			s.Over[i].Lo, s.Over[i].Hi = a.expr(o.Lo, l), a.expr(o.Hi, l)
		} else {
			s.Over[i].Lo, s.Over[i].Hi = a.expr(o.Lo, nil), a.expr(o.Hi, nil)
		}
	}
}

func (a *assigner) branch(s *tile.If) {
	for i, o := range s.Outs {
		s.Outs[i].Then, s.Outs[i].Else = a.expr(o.Then, a.own[o.Out]), a.expr(o.Else, a.own[o.Out])
	}
	s.Then, s.Else = a.list(s.Then), a.list(s.Else)
	s.Cond = a.expr(s.Cond, a.at(tileAxes(s.Cond), s.Cond))
}
