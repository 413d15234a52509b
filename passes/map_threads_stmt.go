package passes

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

func (t *threads) fresh(hint string) string {
	name := simt.Safe(hint)
	for t.names[name] {
		t.counts[hint]++
		name = simt.Safe(hint + "." + strconv.Itoa(t.counts[hint]))
	}
	t.names[name] = true
	return name
}

func (t *threads) add(s simt.Stmt) { t.body = append(t.body, s) }

// inner runs f and returns the statements that it added.
func (t *threads) inner(f func()) []simt.Stmt {
	outer := t.body
	t.body = nil
	f()
	out := t.body
	t.body = outer
	return out
}

// let declares a register with a value.
func (t *threads) let(hint string, value *ir.Expr) *ir.Expr {
	r := &simt.Reg{Name: t.fresh(hint), Type: value.Type}
	t.add(&simt.Let{Head: simt.Head{Pos: value.Pos}, Reg: r, Value: value})
	return ir.Name(r)
}

// variable declares a register that is assigned later, or again.
func (t *threads) variable(v *tile.Value, first *ir.Expr) *simt.Reg {
	r := &simt.Reg{Name: t.fresh(v.Name), Type: v.Type, Mutable: true}
	t.add(&simt.Let{Reg: r, Value: first})
	t.rename[v] = ir.Name(r)
	return r
}

func (t *threads) stmts(list []tile.Stmt) {
	for _, s := range list {
		t.stmt(s)
	}
}

func (t *threads) stmt(s tile.Stmt) {
	head := simt.Head{Pos: s.Place()}
	switch s := s.(type) {
	case *tile.Map:
		value := t.expr(s.Body)
		if value.Op == ir.OpName || value.IsConst() {
			t.rename[s.Out] = value
			return
		}
		t.rename[s.Out] = t.let(s.Out.Name, value)
	case *tile.Load:
		t.load(head, s)
	case *tile.Store:
		st := &simt.Store{Head: head, To: t.mem(s.To, s.At), From: []*ir.Expr{t.expr(s.Value)}, Op: s.Op}
		t.once(s.Where, st)
	case *tile.Check:
		t.once(nil, &simt.Check{Head: head, Cond: t.expr(s.Cond), Code: s.Code, Args: t.exprs(s.Args), Of: s.Of})
	case *tile.Loop:
		t.loop(s, t.stmts)
	case *tile.If:
		t.branch(s, t.stmts)
	default:
		t.unsupported("%s has no lowering to threads that do one element each", kindOf(s))
	}
}

// kindOf is what the text calls a kind of statement.
func kindOf(s tile.Stmt) string {
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", s), "*tile."))
}

// once adds a statement with effects, under a condition, in one thread only where all do the same.
func (t *threads) once(where *ir.Expr, s simt.Stmt) {
	cond := ir.True
	if where != nil {
		cond = t.expr(where)
	}
	switch {
	case t.single:
		cond = ir.And(ir.Eq(ir.Name(simt.Tid), ir.ZeroOf(ir.I32)), cond)
	case t.onlyIf != nil:
		cond = ir.And(t.onlyIf, cond)
	}
	if cond == ir.True {
		t.add(s)
		return
	}
	t.add(&simt.If{Head: simt.Head{Pos: s.Place()}, Cond: cond, Then: []simt.Stmt{s}})
}

func (t *threads) load(head simt.Head, s *tile.Load) {
	if s.Where == nil {
		r := t.variable(s.Out, nil)
		t.add(&simt.Load{Head: head, To: simt.Slice{Reg: r, Len: 1}, From: t.mem(s.From, s.At)})
		return
	}
	r := t.variable(s.Out, t.expr(s.Other))
	t.add(&simt.If{Head: head, Cond: t.expr(s.Where), Then: t.inner(func() {
		t.add(&simt.Load{Head: head, To: simt.Slice{Reg: r, Len: 1}, From: t.mem(s.From, s.At)})
	})})
}

// mem is the place of an element: rows one after the other.
func (t *threads) mem(a *tile.Array, at []*ir.Expr) simt.Mem {
	linear := ir.Int64(0)
	extents, at := joined(a.Extents, at)
	for i, x := range at {
		linear = ir.Add(ir.Mul(linear, t.expr(extents[i])), t.expr(x))
	}
	if t.address != nil {
		linear = t.address(linear)
	}
	return simt.Mem{Buf: t.buffer(a), At: linear}
}

func (t *threads) buffer(a *tile.Array) *simt.Buffer {
	b := t.buffers[a]
	if b == nil {
		b = &simt.Buffer{Name: t.fresh(a.Name), Type: a.Type, Space: simt.Global, Array: a}
		t.buffers[a] = b
		t.out.Global = append(t.out.Global, b)
	}
	return b
}

func (t *threads) loop(s *tile.Loop, body func([]tile.Stmt)) {
	regs := make([]*simt.Reg, len(s.Carry))
	firsts := make([]*ir.Expr, len(s.Carry))
	for i, c := range s.Carry {
		firsts[i] = t.expr(c.First)
	}
	for i, c := range s.Carry {
		regs[i] = t.variable(c.In, firsts[i])
	}
	o := s.Over[0]
	loop := &simt.For{Head: simt.Head{Pos: s.Pos}, Lo: t.expr(o.Lo), Hi: t.expr(o.Hi), Step: 1, Down: s.Down, Unroll: s.Kind == tile.Unroll}
	loop.Var = &simt.Reg{Name: t.fresh(o.Axis.Name), Type: ir.I64}
	t.rename[o.Axis] = ir.Name(loop.Var)
	loop.Body = t.inner(func() {
		body(s.Body)
		t.assign(regs, s.Carry)
	})
	t.add(loop)
	for i, c := range s.Carry {
		t.rename[c.Out] = ir.Name(regs[i])
	}
}

// assign gives the registers of carried values their next values, all at once.
func (t *threads) assign(regs []*simt.Reg, carry []tile.Carry) {
	next := make([]*ir.Expr, len(carry))
	for i, c := range carry {
		next[i] = t.expr(c.Next)
		if len(carry) > 1 && !next[i].IsConst() {
			next[i] = t.let(c.In.Name+".next", next[i])
		}
	}
	for i, r := range regs {
		t.add(&simt.Set{Reg: r, Value: next[i]})
	}
}

func (t *threads) branch(s *tile.If, body func([]tile.Stmt)) {
	out := &simt.If{Head: simt.Head{Pos: s.Pos}, Cond: t.expr(s.Cond)}
	regs := make([]*simt.Reg, len(s.Outs))
	for i, o := range s.Outs {
		regs[i] = &simt.Reg{Name: t.fresh(o.Out.Name), Type: o.Out.Type, Mutable: true}
		t.add(&simt.Let{Reg: regs[i]})
	}
	arm := func(list []tile.Stmt, of func(tile.Phi) *ir.Expr) []simt.Stmt {
		return t.inner(func() {
			body(list)
			for i, o := range s.Outs {
				t.add(&simt.Set{Reg: regs[i], Value: t.expr(of(o))})
			}
		})
	}
	out.Then = arm(s.Then, func(o tile.Phi) *ir.Expr { return o.Then })
	out.Else = arm(s.Else, func(o tile.Phi) *ir.Expr { return o.Else })
	t.add(out)
	for i, o := range s.Outs {
		t.rename[o.Out] = ir.Name(regs[i])
	}
}

// hosted is a value that the launcher computes.
type hosted struct {
	of    *ir.Expr // over the module's scalars
	value *simt.Value
}

// hostValue makes the launcher compute an expression over scalars, or over values that it computed.
func (t *threads) hostValue(hint string, x *ir.Expr) *ir.Expr {
	x = withFixed(x)
	if x.IsConst() {
		return x
	}
	if _, ok := x.Ref.(*simt.Value); ok {
		return x
	}
	for _, h := range t.hosted[x.Hash()] {
		if ir.Equal(h.of, x) {
			return ir.Name(h.value)
		}
	}
	if s, ok := x.Ref.(*ir.Scalar); ok {
		hint = s.Name
	}
	v := &simt.Value{Name: t.fresh(hint), Type: x.Type, Expr: x}
	t.hosted[x.Hash()] = append(t.hosted[x.Hash()], hosted{x, v})
	t.out.Params = append(t.out.Params, v)
	return ir.Name(v)
}

// withFixed puts in the scalars of which the value is known.
func withFixed(x *ir.Expr) *ir.Expr {
	r := ir.Rewriter{Post: func(e *ir.Expr) *ir.Expr {
		if s, ok := e.Ref.(*ir.Scalar); ok && e.Op == ir.OpName && s.Fixed != nil {
			return ir.NewConst(e.Type, *s.Fixed)
		}
		return ir.Fold(e)
	}}
	return r.Rewrite(x)
}

func (t *threads) exprs(list []*ir.Expr) []*ir.Expr {
	out := make([]*ir.Expr, len(list))
	for i, x := range list {
		out[i] = t.expr(x)
	}
	return out
}

// expr is an expression in the kernel's own names. Integers that depend on scalars alone are computed by the launcher, once.
func (t *threads) expr(x *ir.Expr) *ir.Expr {
	r := ir.Rewriter{
		Pre: func(e *ir.Expr) *ir.Expr {
			switch {
			case e.Op == ir.OpName:
				return t.name(e)
			case e.Op != ir.OpConst && e.Type == ir.I64 && t.scalarOnly(e):
				return t.hostValue("n", e)
			}
			return nil
		},
		Post: func(e *ir.Expr) *ir.Expr {
			if e.Op == ir.OpCast && e.Args[0].Type == e.Type {
				return e.Args[0] // registers hold rounded values
			}
			return ir.Fold(e)
		},
	}
	return r.Rewrite(x)
}

func (t *threads) name(e *ir.Expr) *ir.Expr {
	if s, ok := e.Ref.(*ir.Scalar); ok {
		return t.hostValue(s.Name, e)
	}
	if to := t.rename[e.Ref]; to != nil {
		return to
	}
	if v, ok := e.Ref.(*tile.Value); ok && t.tileAt != nil {
		if to := t.tileAt(v); to != nil {
			return to
		}
	}
	if _, ok := e.Ref.(*simt.Value); !ok {
		t.unsupported("the value %s is used by other threads than those that computed it", e.Ref.RefName())
	}
	return e
}

func (t *threads) scalarOnly(x *ir.Expr) bool {
	if ok, seen := t.known[x]; seen {
		return ok
	}
	ok := true
	switch x.Ref.(type) {
	case nil, *ir.Scalar:
		for _, a := range x.Args {
			ok = ok && t.scalarOnly(a)
		}
	default:
		ok = false
	}
	t.known[x] = ok
	return ok
}
