package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

// vectorBytes is the widest access of a thread.
const vectorBytes = 16

// vector is how many registers a statement reads or writes as one access.
func (r *run) vector(s tile.Stmt) int {
	switch s := s.(type) {
	case *tile.Load:
		return r.globalVector(s.From, s.At, s.Where, s.Other)
	case *tile.Store:
		if s.Op == nil {
			return r.globalVector(s.To, s.At, s.Where, nil)
		}
	case *tile.Move:
		t := s.Out
		if t.Space != tile.Shared {
			t = s.In
		}
		return min(r.layout.Vector(r.sharedTile(t).place), vectorBytes/t.Type.Bytes())
	}
	return 1
}

// globalVector is how many of the lowest registers lie one behind the other in memory, under one condition.
func (r *run) globalVector(of *tile.Array, at []*ir.Expr, where, other *ir.Expr) int {
	if other != nil && len(valuesIn(other)) > 0 || of.Type.IsPacked() {
		return 1
	}
	for _, a := range r.in.Axes {
		if !slices.Contains(r.layout.Axes, a.Name) {
			continue
		}
		if n := r.layout.Run(a.Name); n > 1 {
			n = r.contigs.run(of, at, a, min(n, max(1, vectorBytes/of.Type.Bytes())))
			for n > 1 && !r.contigs.same(where, a, n) {
				n /= 2
			}
			return n
		}
	}
	return 1
}

// loadVector reads n registers of an array as one access.
func (r *run) loadVector(s *tile.Load, reg, n int) {
	to := simt.Slice{From: number(reg), Len: n}
	if r.keep[s.Out] {
		to.Reg = r.array(s.Out)
	} else {
		to.Reg, to.From = &simt.Reg{Name: r.fresh(s.Out.Name), Type: s.Out.Type, Len: n, Mutable: true}, number(0)
		r.add(&simt.Let{Head: simt.Head{Pos: s.Pos}, Reg: to.Reg})
		for i := range n {
			r.define(s.Out, reg+i, simt.Elem(to.Reg, number(i)))
		}
	}
	load := &simt.Load{Head: simt.Head{Pos: s.Pos}, To: to, From: r.mem(s.From, s.At), Form: formFor(n)}
	if s.Where == nil {
		r.add(load)
		return
	}
	other := r.expr(s.Other)
	first, _ := to.From.IntValue()
	for i := range n {
		r.add(&simt.Set{Reg: to.Reg, At: number(int(first) + i), Value: other})
	}
	r.add(&simt.If{Head: load.Head, Cond: r.expr(s.Where), Then: []simt.Stmt{load}})
}

// storeVector writes n registers as one access.
func (r *run) storeVector(s *tile.Store, reg, n int) {
	st := &simt.Store{Head: simt.Head{Pos: s.Pos}, To: r.mem(s.To, s.At), Form: simt.Vec}
	cond := s.Where
	for i := range n {
		r.bind(s, reg+i)
		st.From = append(st.From, r.expr(s.Value))
	}
	r.bind(s, reg)
	r.once(cond, st)
}

// formFor is how a thread touches n elements at once.
func formFor(n int) simt.Form {
	if n > 1 {
		return simt.Vec
	}
	return simt.One
}

// move copies n registers between the registers and shared memory.
func (r *run) move(s *tile.Move, reg, n int) {
	head := simt.Head{Pos: s.Pos}
	form := formFor(n)
	if s.Out.Space == tile.Shared {
		t := r.sharedTile(s.Out)
		st := &simt.Store{Head: head, To: simt.Mem{Buf: t.buf, At: r.addresses(t, r.layout)(reg)}, Form: form}
		for i := range n {
			r.reg = reg + i
			st.From = append(st.From, r.expr(ir.Name(s.In)))
		}
		r.once(nil, st)
		return
	}
	t := r.sharedTile(s.In)
	r.add(&simt.Load{Head: head, To: simt.Slice{Reg: r.array(s.Out), From: number(reg), Len: n}, From: simt.Mem{Buf: t.buf, At: r.addresses(t, r.layout)(reg)}, Form: form})
}
