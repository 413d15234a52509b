package passes

import (
	"slices"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

// set gives the array of a tile, or the register of a value, what an expression is at every point.
type set struct {
	tile.Head
	to    *tile.Value
	value *ir.Expr
}

// list lowers statements: those that happen point by point together, as long as their tiles have one layout.
func (b *block) list(list []tile.Stmt) {
	var run []tile.Stmt
	var form *ir.Layout
	flush := func() {
		if len(run) > 0 {
			b.run(form, run)
		}
		run = nil
	}
	for _, s := range list {
		l, ok := b.pointwise(s)
		if !ok {
			flush()
			b.whole(s)
			continue
		}
		if l != form || b.meets(run, s) {
			flush()
		}
		form = l
		run = append(run, s)
	}
	flush()
}

// pointwise reports whether a statement happens point by point, and for the points of which layout; nil: for a single one.
func (b *block) pointwise(s tile.Stmt) (*ir.Layout, bool) {
	switch s := s.(type) {
	case *tile.Map:
		return b.formOf(s.Out), true
	case *tile.Load:
		if s.Out.Space == tile.Shared {
			return nil, false
		}
		return b.formOf(s.Out), true
	case *set:
		return b.formOf(s.to), true
	case *tile.Store:
		return b.formOver(s.Axes, s), true
	case *tile.Check:
		return b.formOver(s.Axes, s), true
	case *tile.Move:
		if s.Out.Space == tile.Shared {
			return b.formOf(s.In), true
		}
		return b.formOf(s.Out), true
	case *tile.Loop:
		axes := tileAxes(s.Over[0].Lo, s.Over[0].Hi)
		return b.formOver(axes, s), len(axes) > 0
	case *tile.If:
		axes := tileAxes(s.Cond)
		return b.formOver(axes, s), len(axes) > 0
	}
	return nil, false
}

// tileAxes are the axes of tiles on which expressions depend.
func tileAxes(list ...*ir.Expr) (out []*ir.Axis) {
	for v := range valuesIn(list...) {
		out = append(out, v.Axes...)
	}
	return out
}

// formOf is the layout of a tile; nil for a value without axes.
func (b *block) formOf(v *tile.Value) *ir.Layout {
	if len(v.Axes) == 0 {
		return nil
	}
	l := b.layoutOf(v)
	b.forms[axesKey(v.Axes)] = l
	return l
}

// formOver is the layout in which a statement without a tile of its own happens: that of a tile over its axes which it names, or
// else of the last one over them.
func (b *block) formOver(axes []*ir.Axis, s tile.Stmt) *ir.Layout {
	if len(axes) == 0 {
		return nil
	}
	key := axesKey(axes)
	var own []*ir.Layout
	for v := range valuesIn(ownExprs(s)...) {
		if v.Layout != nil && axesKey(v.Axes) == key {
			own = append(own, v.Layout)
		}
	}
	if len(own) > 0 {
		return slices.MinFunc(own, func(x, y *ir.Layout) int { return strings.Compare(x.Name, y.Name) })
	}
	if l := b.forms[key]; l != nil {
		return l
	}
	b.unsupported("a statement over %v, for which no tile has a layout", axisNames(axes))
	return nil
}

// axesKey is the same for the same axes in any order.
func axesKey(axes []*ir.Axis) string {
	names := axisNames(axes)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

// meets reports whether a statement reads from shared memory what the statements in front of it write, or the other way round.
func (b *block) meets(run []tile.Stmt, s tile.Stmt) bool {
	m, ok := s.(*tile.Move)
	return ok && slices.ContainsFunc(run, func(t tile.Stmt) bool {
		n, ok := t.(*tile.Move)
		return ok && (n.Out == m.In || n.In == m.Out)
	})
}

// run is statements that happen point by point for the tiles of one layout.
type run struct {
	*block
	*places
	values map[*tile.Value][]*ir.Expr // those that live in the run only: what each register holds
	index  map[*ir.Layout][]int       // of tiles of other layouts: the register that holds the same point
	keep   map[*tile.Value]bool       // those that are needed behind it
	reg    int                        // whose point is being computed
}

// run lowers a run.
func (b *block) run(l *ir.Layout, list []tile.Stmt) {
	for _, s := range list {
		b.touches(s)
	}
	if l == nil {
		b.single = true
		for _, s := range list {
			b.alone(s)
		}
		b.single = false
		return
	}
	r := &run{block: b, places: b.placesOf(l), values: map[*tile.Value][]*ir.Expr{}, index: map[*ir.Layout][]int{}, keep: b.kept(list)}
	outer := b.tileAt
	b.tileAt, b.onlyIf = r.value, r.one
	chunk, steps := r.steps(list)
	for reg := 0; reg < l.Regs(); reg += chunk {
		for i, s := range list {
			for at := reg; at < reg+chunk; at += steps[i] {
				r.points(s, at, steps[i])
			}
		}
	}
	b.tileAt, b.onlyIf = outer, nil
	for a := range l.Axes {
		delete(b.rename, r.axis(list, a))
	}
}

// alone lowers a statement without points: all threads do it, one has its effects.
func (b *block) alone(s tile.Stmt) {
	if s, ok := s.(*set); ok {
		b.add(&simt.Set{Reg: b.rename[s.to].Ref.(*simt.Reg), Value: b.expr(s.value)})
		return
	}
	b.stmt(s)
}

// kept are the values of a run that something else names.
func (b *block) kept(list []tile.Stmt) map[*tile.Value]bool {
	inside := usesIn(list)
	out := map[*tile.Value]bool{}
	for _, s := range list {
		for _, v := range tile.Defined(s) {
			out[v] = b.uses[v] > inside[v]
		}
	}
	return out
}

// most is how many registers are computed statement by statement before the next ones: enough for loads to be under way
// together.
const most = 8

// steps are how many registers of each statement are one access, and how many registers go through all statements before the
// next ones do.
func (r *run) steps(list []tile.Stmt) (chunk int, steps []int) {
	regs := powerOfTwo(r.layout.Regs())
	chunk = min(most, regs)
	for _, s := range list {
		n := min(r.vector(s), regs)
		chunk = max(chunk, n)
		steps = append(steps, n)
	}
	if slices.ContainsFunc(list, func(s tile.Stmt) bool { return nested(s) != nil }) {
		chunk = slices.Max(steps)
	}
	return chunk, steps
}

// points lowers a statement for n registers.
func (r *run) points(s tile.Stmt, reg, n int) {
	r.bind(s, reg)
	switch s := s.(type) {
	case *set:
		r.add(&simt.Set{Reg: r.array(s.to), At: number(reg), Value: r.expr(s.value)})
		return
	case *tile.Move:
		r.move(s, reg, n)
		return
	case *tile.Map:
		if r.keep[s.Out] {
			r.define(s.Out, reg, r.expr(s.Body))
			return
		}
	case *tile.Load:
		if n > 1 || r.keep[s.Out] {
			r.loadVector(s, reg, n)
			return
		}
	case *tile.Store:
		if n > 1 {
			r.storeVector(s, reg, n)
			return
		}
	}
	r.stmt(s)
	for _, v := range tile.Defined(s) {
		r.define(v, reg, r.rename[v])
		delete(r.rename, v)
	}
}

// number is an i32 constant.
func number(n int) *ir.Expr { return ir.NewConst(ir.I32, ir.IntConst(int64(n))) }

// bind gives the axes of a statement the place of a register.
func (r *run) bind(s tile.Stmt, reg int) {
	r.reg = reg
	for _, a := range pointAxes(s) {
		if i := slices.Index(r.layout.Axes, a.Name); i >= 0 {
			r.rename[a] = r.at(i, reg)
		}
	}
}

// define says what a register of a tile holds.
func (r *run) define(v *tile.Value, reg int, x *ir.Expr) {
	if r.keep[v] {
		r.add(&simt.Set{Reg: r.array(v), At: number(reg), Value: x})
		return
	}
	if r.values[v] == nil {
		r.values[v] = make([]*ir.Expr, r.layout.Regs())
	}
	r.values[v][reg] = x
}

// value is what the register that is being computed holds of a tile.
func (r *run) value(v *tile.Value) *ir.Expr {
	if list := r.values[v]; list != nil && list[r.reg] != nil {
		return list[r.reg]
	}
	array := r.arrays[v]
	if array == nil || v.Layout == nil {
		return nil
	}
	return simt.Elem(array, number(r.same(v)[r.reg]))
}

// same finds, for every register of the run, the one of a tile which holds the same point.
func (r *run) same(v *tile.Value) []int {
	if out := r.index[v.Layout]; out != nil {
		return out
	}
	out := make([]int, r.layout.Regs())
	if v.Layout == r.layout {
		for i := range out {
			out[i] = i
		}
	} else if !r.found(v.Layout, out) {
		r.unsupported("the tile %s is needed by other threads than those that hold it", v.Name)
	}
	r.index[v.Layout] = out
	return out
}

// found fills in the registers of layout l; false where other threads hold them.
func (r *run) found(l *ir.Layout, out []int) bool {
	if !subset(l.Axes, r.layout.Axes) || !threadsAgree(l, r.layout) {
		return false
	}
	where := registersOf(l)
	for reg := range out {
		other, ok := where[placeKey(projected(r.layout, l, r.regs[reg]))]
		if !ok {
			return false
		}
		out[reg] = other
	}
	return true
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(a string) bool { return !slices.Contains(all, a) })
}

// threadsAgree reports whether lanes and warps go the same way along the axes of layout l, all of which layout m has.
func threadsAgree(l, m *ir.Layout) bool {
	for _, place := range []int{ir.LaneBits, ir.WarpBits} {
		if len(l.Bits[place]) != len(m.Bits[place]) {
			return false
		}
		for k, bit := range l.Bits[place] {
			for i, name := range l.Axes {
				if step(bit, i) != step(m.Bits[place][k], slices.Index(m.Axes, name)) {
					return false
				}
			}
		}
	}
	return true
}

// registersOf finds the register of a thread that holds a point, less what the thread adds to it.
func registersOf(l *ir.Layout) map[string]int {
	out := map[string]int{}
	for reg := l.Regs() - 1; reg >= 0; reg-- {
		out[placeKey(l.At(reg, 0, 0))] = reg
	}
	return out
}

// registersAgree reports whether registers hold the same points in two layouts over the same axes.
func registersAgree(l, m *ir.Layout) bool {
	if !slices.Equal(l.Axes, m.Axes) {
		return false
	}
	for reg := range l.Regs() {
		if !slices.Equal(l.At(reg, 0, 0), m.At(reg, 0, 0)) {
			return false
		}
	}
	return true
}

// projected keeps of subscripts along the axes of layout l those of the axes of layout m.
func projected(l, m *ir.Layout, at []int) []int {
	out := make([]int, len(m.Axes))
	for i, name := range m.Axes {
		out[i] = at[slices.Index(l.Axes, name)]
	}
	return out
}

func placeKey(at []int) string {
	b := make([]byte, 0, 4*len(at))
	for _, x := range at {
		b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return string(b)
}

// step is what a bit adds along an axis.
func step(b ir.LayoutBit, axis int) uint32 {
	if b.Free != 0 {
		return 0
	}
	return b.To[axis]
}

// pointAxes are the axes over whose points a statement happens.
func pointAxes(s tile.Stmt) []*ir.Axis {
	switch s := s.(type) {
	case *set:
		return s.to.Axes
	case *tile.Move:
		return s.Out.Axes
	}
	return axesOf(s)
}

// axis is the axis of the statements that a layout calls by number a.
func (r *run) axis(list []tile.Stmt, a int) *ir.Axis {
	for _, s := range list {
		for _, x := range pointAxes(s) {
			if x.Name == r.layout.Axes[a] {
				return x
			}
		}
	}
	return nil
}
