package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
)

// A recurrence runs step by step. Dimensions at which every use of its names stands at the element's own index are independent
// of each other and make the grid. If all are, a point carries its elements from step to step. Otherwise the others are tile
// axes of one block, and the steps meet: they read from memory what other points stored the step before.

// recurrence is what is known of a Recur while it is lowered.
type recurrence struct {
	*tensor.Recur
	index map[*tensor.Tensor]int
	uses  []recurUse
	grid  [][]int // grid[g][k] is the dimension of Outs[k] that belongs to grid axis g
}

// recurUse is a read of Outs[of] in the body of Outs[in].
type recurUse struct {
	in, of int
	at     []*ir.Expr
	before bool // at the step before
}

func newRecurrence(d *tensor.Recur) *recurrence {
	r := &recurrence{Recur: d, index: map[*tensor.Tensor]int{}}
	for k, t := range d.Tensors {
		r.index[t] = k
	}
	for k, body := range d.Bodies {
		ir.Walk(body, func(x *ir.Expr) {
			if of, ok := r.own(x); ok {
				r.uses = append(r.uses, recurUse{k, of, x.Args, r.before(k, of, x)})
			}
		})
	}
	r.findGrid()
	return r
}

// own reports which of the names that are defined here x reads.
func (r *recurrence) own(x *ir.Expr) (of int, ok bool) {
	if x.Op != ir.OpRead {
		return 0, false
	}
	of, ok = r.index[x.Ref.(tensor.Read).Of]
	return of, ok
}

// before reports whether a read in the body of Outs[in] stands at the step before; otherwise it stands at this step. There is
// nothing else, so trying one step tells.
func (r *recurrence) before(in, of int, x *ir.Expr) bool {
	step := r.Free[in][r.Step[in]]
	lo := r.Free[of][r.Step[of]].Lo
	const now = 1 << 20
	values := map[ir.Ref]ir.Const{step.Axis: ir.IntConst(now)}
	at := sample(x.Args[r.Step[of]], values)
	return at != now-sample(lo, values)
}

// sample computes an integer expression with made-up values for the names that it uses.
func sample(x *ir.Expr, values map[ir.Ref]ir.Const) int64 {
	if x.Op == ir.OpName {
		v, ok := values[x.Ref]
		if !ok {
			v = ir.IntConst(int64(len(values))*7 + 11)
			values[x.Ref] = v
		}
		return v.Int()
	}
	if x.IsConst() {
		return x.Val.Int()
	}
	args := make([]ir.Const, len(x.Args))
	types := make([]ir.Type, len(x.Args))
	for i, a := range x.Args {
		args[i], types[i] = ir.IntConst(sample(a, values)), a.Type
	}
	v, ok := ir.EvalOp(x.Op, x.Type, types, args)
	if !ok {
		panic("passes: the subscript of a step uses " + x.Op.Name)
	}
	return v.Int()
}

// findGrid looks for dimensions, one of each name, that every use carries over unchanged.
func (r *recurrence) findGrid() {
	taken := make([]map[int]bool, len(r.Tensors))
	for k := range taken {
		taken[k] = map[int]bool{r.Step[k]: true}
	}
	for dim := range r.Free[0] {
		if taken[0][dim] {
			continue
		}
		if group := r.spread(dim, taken); group != nil {
			for k, d := range group {
				taken[k][d] = true
			}
			r.grid = append(r.grid, group)
		}
	}
}

// spread starts with a dimension of Outs[0] and follows the uses to a dimension of every other name; nil if some use disagrees.
func (r *recurrence) spread(dim int, taken []map[int]bool) []int {
	group := make([]int, len(r.Tensors))
	for k := range group {
		group[k] = -1
	}
	group[0] = dim
	for changed := true; changed; {
		changed = false
		for _, u := range r.uses {
			switch {
			case group[u.in] >= 0:
				d := r.dimensionAt(u, group[u.in])
				if d < 0 || taken[u.of][d] || group[u.of] >= 0 && group[u.of] != d {
					return nil
				}
				changed = changed || group[u.of] < 0
				group[u.of] = d
			case group[u.of] >= 0:
				if d := r.axisAt(u, group[u.of]); d >= 0 && !taken[u.in][d] {
					group[u.in], changed = d, true
				}
			}
		}
	}
	for k, d := range group {
		if d < 0 {
			d = r.alike(dim, k, taken[k])
			group[k] = d
		}
		if d < 0 || !ir.Equal(r.Tensors[k].Extents[d], r.Tensors[0].Extents[dim]) {
			return nil
		}
	}
	for _, u := range r.uses { // also those of names that no use connected
		if r.dimensionAt(u, group[u.in]) != group[u.of] {
			return nil
		}
	}
	return group
}

// own subscript of dimension dim of Outs[k].
func (r *recurrence) subscript(k, dim int) *ir.Expr {
	s := r.Free[k][dim]
	return ir.Sub(ir.Name(s.Axis), s.Lo)
}

// dimensionAt is the only dimension of the name that is read whose subscript is that of dimension dim of the reader.
func (r *recurrence) dimensionAt(u recurUse, dim int) int {
	found := -1
	for d, x := range u.at {
		if ir.Equal(x, r.subscript(u.in, dim)) {
			if found >= 0 {
				return -1
			}
			found = d
		}
	}
	return found
}

// axisAt is the dimension of the reader whose index stands at dimension dim of the name that is read.
func (r *recurrence) axisAt(u recurUse, dim int) int {
	for d := range r.Free[u.in] {
		if ir.Equal(u.at[dim], r.subscript(u.in, d)) {
			return d
		}
	}
	return -1
}

// alike is a dimension of Outs[k] with the extent of dimension dim of Outs[0], for names that no use connects.
func (r *recurrence) alike(dim, k int, taken map[int]bool) int {
	for d, x := range r.Tensors[k].Extents {
		if !taken[d] && ir.Equal(x, r.Tensors[0].Extents[dim]) {
			return d
		}
	}
	return -1
}

// coupled lists the dimensions of Outs[k] that are neither the step nor part of the grid.
func (r *recurrence) coupled(k int) (out []int) {
	for d := range r.Free[k] {
		if d != r.Step[k] && !r.inGrid(k, d) {
			out = append(out, d)
		}
	}
	return out
}

func (r *recurrence) inGrid(k, d int) bool {
	for _, g := range r.grid {
		if g[k] == d {
			return true
		}
	}
	return false
}

func (r *recurrence) independent() bool {
	for k := range r.Tensors {
		if len(r.coupled(k)) > 0 {
			return false
		}
	}
	return true
}

func (m *moduleMaker) recur(d *tensor.Recur) {
	r := newRecurrence(d)
	name := d.Tensors[0].Name
	k := m.kernel(name, d.Pos)
	b := &recurBuilder{recurrence: r, kernel: k, main: k.emitter()}
	for _, g := range r.grid {
		s := r.Free[0][g[0]]
		b.axes = append(b.axes, ir.Span{Axis: b.main.bind(s.Axis), Lo: s.Lo, Hi: s.Hi})
	}
	step := r.Free[0][r.Step[0]]
	b.step = &ir.Axis{Name: k.fresh(step.Axis.Name)}
	b.loop = &tile.Loop{Head: tile.Head{Pos: d.Pos}, Kind: tile.Serial, Down: d.Back, Over: []ir.Span{{Axis: b.step, Lo: step.Lo, Hi: step.Hi}}}
	if r.independent() {
		b.carried()
	} else {
		b.meeting()
	}
	k.grid(b.axes, b.main)
}

type recurBuilder struct {
	*recurrence
	kernel *kernelMaker
	main   *emitter  // outside of the loop over the steps
	axes   []ir.Span // of the grid
	step   *ir.Axis
	loop   *tile.Loop
}

// arm makes an emitter for the body of Outs[k]: its axes stand for those of the grid, for the step, and for tile axes.
func (b *recurBuilder) arm(k int, axes []*ir.Axis) *emitter {
	e := b.kernel.emitter(b.Bodies[k])
	e.axes = axes
	for i, g := range b.grid {
		mine, first := b.Free[k][g[k]], b.axes[i]
		e.rename[mine.Axis] = ir.Add(ir.Sub(ir.Name(first.Axis), first.Lo), mine.Lo)
		if ir.Equal(mine.Lo, first.Lo) {
			e.rename[mine.Axis] = ir.Name(first.Axis)
		}
	}
	for i, d := range b.coupled(k) {
		e.rename[b.Free[k][d].Axis] = ir.Add(ir.Name(axes[i]), b.Free[k][d].Lo)
	}
	e.rename[b.Free[k][b.Step[k]].Axis] = ir.Name(b.step)
	return e
}

// from reads the value before the first step at the subscripts of an element of Outs[k].
func (b *recurBuilder) from(e *emitter, k int, at []*ir.Expr) *ir.Expr {
	return e.load(b.From[k], b.Pos, without(at, b.Step[k]))
}

func without[T any](list []T, at int) []T {
	out := append([]T(nil), list[:at]...)
	return append(out, list[at+1:]...)
}

// carried hands every element to the next step in a value.
func (b *recurBuilder) carried() {
	now := make([]*ir.Expr, len(b.Tensors))
	prior := make([]*ir.Expr, len(b.Tensors))
	for k, out := range b.Tensors {
		if b.From[k] == nil {
			continue
		}
		e := b.arm(k, nil)
		e.scope = b.main.scope
		first := b.from(e, k, e.subscripts(b.Free[k]))
		if first.Type != out.Type {
			panic("passes: " + b.From[k].Name + " is not of the type of " + out.Name)
		}
		c := tile.Carry{In: e.value(out.Name, out.Type), Out: e.value(out.Name, out.Type), First: first}
		prior[k] = ir.Name(c.In)
		b.loop.Carry = append(b.loop.Carry, c)
	}
	carry := 0
	for k, out := range b.Tensors {
		e := b.arm(k, nil)
		e.own = func(_ *emitter, x *ir.Expr) *ir.Expr {
			of, ok := b.own(x)
			switch {
			case !ok:
				return nil
			case b.before(k, of, x):
				return prior[of]
			}
			return now[of]
		}
		now[k] = e.named(out.Name, e.emit(b.Bodies[k]))
		e.store(b.Pos, b.kernel.module.array(out), e.subscripts(b.Free[k]), now[k])
		b.loop.Body = append(b.loop.Body, e.scope.body...)
		if b.From[k] != nil {
			b.loop.Carry[carry].Next = now[k]
			carry++
		}
	}
	b.main.add(b.loop)
}

// meeting computes a step for all points of the block, which then meet.
func (b *recurBuilder) meeting() {
	for k, out := range b.Tensors {
		e := b.arm(k, b.tileAxes(k))
		e.own = func(e *emitter, x *ir.Expr) *ir.Expr { return b.remember(e, k, x) }
		e.store(b.Pos, b.kernel.module.array(out), e.subscripts(b.Free[k]), e.emit(b.Bodies[k]))
		b.loop.Body = append(b.loop.Body, e.scope.body...)
		if k == len(b.Tensors)-1 || b.readNow(k) {
			b.loop.Body = append(b.loop.Body, &tile.Phase{Head: tile.Head{Pos: b.Pos}})
		}
	}
	b.main.add(b.loop)
}

func (b *recurBuilder) tileAxes(k int) (out []*ir.Axis) {
	for _, d := range b.coupled(k) {
		a := &ir.Axis{Name: b.kernel.fresh(b.Free[k][d].Axis.Name), Extent: b.Tensors[k].Extents[d]}
		b.kernel.out.Axes = append(b.kernel.out.Axes, a)
		out = append(out, a)
	}
	return out
}

// readNow reports whether Outs[k] is read at the step in which it is defined.
func (b *recurBuilder) readNow(k int) bool {
	for _, u := range b.uses {
		if u.of == k && !u.before {
			return true
		}
	}
	return false
}

// remember reads what a step before, or this one, stored.
func (b *recurBuilder) remember(e *emitter, in int, x *ir.Expr) *ir.Expr {
	of, ok := b.own(x)
	if !ok {
		return nil
	}
	at := e.all(x.Args)
	if !b.before(in, of, x) {
		return e.load(b.Tensors[of], x.Pos, at)
	}
	first := b.loop.Over[0].Lo
	if b.Back {
		first = ir.Sub(b.loop.Over[0].Hi, ir.Int64(1))
	}
	s := &tile.If{Head: tile.Head{Pos: x.Pos}, Cond: ir.Eq(ir.Name(b.step), first)}
	phi := tile.Phi{}
	s.Then = e.inner(func() { phi.Then = b.from(e, of, at) })
	s.Else = e.inner(func() { phi.Else = e.load(b.Tensors[of], x.Pos, at) })
	phi.Out = e.value(b.Tensors[of].Name, b.Tensors[of].Type)
	s.Outs = []tile.Phi{phi}
	e.add(s)
	return ir.Name(phi.Out)
}
