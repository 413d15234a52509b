package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// maxAhead bounds how far apart in the program the definitions of a kernel stand.
const maxAhead = 16

// rowGroups finds the definitions that one kernel computes row by row, so that what they read is loaded once or is still near, and
// what they tell each other stays in registers:
//
//	def m[i]: f32 = max[j: f32](x[i, j])
//	def s[i]: f32 = sum[j: f32](exp(x[i, j] - m[i]))
//	def y[i, j]: f32 = exp(x[i, j] - m[i]) / s[i]
//
// A group begins with a reduction. Further ones join that have the same rows and read its results in their own row, or what it
// reads; at last comes what has columns as well. The kernel stands where the last of them does, so nothing in between may read
// what they define.
func rowGroups(p *tensor.Program, conditions []*ir.Expr) map[*tensor.Map]*rowKernel {
	out := map[*tensor.Map]*rowKernel{}
	readers := map[*tensor.Tensor]int{}
	for _, d := range p.Defs {
		readsOf(d, func(t *tensor.Tensor) { readers[t]++ })
	}
	for i, d := range p.Defs {
		first, ok := d.(*tensor.Map)
		if !ok || out[first] != nil || len(first.Free) == 0 || contractionOf(first) != nil {
			continue
		}
		g := &rowGrouper{rows: first.Free, own: map[*tensor.Tensor]fused{}, inputs: map[*tensor.Tensor]bool{}, inside: map[*tensor.Tensor]int{}, one: ir.Unifier()}
		if !g.begin(first) {
			continue
		}
		for _, next := range p.Defs[i+1 : min(len(p.Defs), i+1+maxAhead)] {
			m, ok := next.(*tensor.Map)
			joined := ok && out[m] == nil && g.join(m)
			if !joined && g.reads(next) {
				break
			}
		}
		if k := g.kernel(readers, conditions); k != nil {
			for _, m := range k.members {
				out[m.def] = k
			}
		}
	}
	return out
}

// rowGrouper collects the members of a group.
type rowGrouper struct {
	rows    fused
	members []*rowMember
	own     map[*tensor.Tensor]fused // what members define a row, with the axes of the rows in the order of its dimensions
	inputs  map[*tensor.Tensor]bool  // what members read
	inside  map[*tensor.Tensor]int   // by how many of them
	columns bool                     // some member has them
	one     *ir.Rewriter
}

// begin makes a reduction the first member.
func (g *rowGrouper) begin(d *tensor.Map) bool {
	m := &rowMember{def: d, free: slices.Clone(fused(d.Free)), body: g.one.Rewrite(d.Body)}
	if !m.reduces() {
		return false
	}
	g.add(m)
	return true
}

func (g *rowGrouper) add(m *rowMember) {
	g.members = append(g.members, m)
	if len(m.cols) == 0 {
		g.own[m.def.Out] = m.free
	} else {
		g.columns = true
	}
	readsOf(m.def, func(t *tensor.Tensor) {
		g.inputs[t] = true
		g.inside[t]++
	})
}

// reads reports whether a definition reads what members define.
func (g *rowGrouper) reads(d tensor.Def) bool {
	found := false
	readsOf(d, func(t *tensor.Tensor) {
		found = found || slices.ContainsFunc(g.members, func(m *rowMember) bool { return m.def.Out == t })
	})
	return found
}

// join takes a definition in, if it goes along the rows.
func (g *rowGrouper) join(d *tensor.Map) bool {
	rows, depends := g.place(d)
	if rows == nil || contractionOf(d) != nil {
		return false
	}
	m := &rowMember{def: d, free: slices.Clone(fused(d.Free))}
	axes := map[ir.Ref]*ir.Expr{}
	for i, s := range m.free {
		if r := slices.Index(rows, s.Axis); r >= 0 {
			axes[s.Axis] = ir.Name(g.rows[r].Axis)
			m.free[i].Axis = g.rows[r].Axis
		} else {
			m.cols = append(m.cols, s)
		}
	}
	m.body = g.one.Rewrite(ir.Substitute(d.Body, axes))
	reduces := m.reduces()
	switch {
	case reduces && len(m.cols) > 0 || !reduces && !flat(m.body):
		return false
	case !depends && !reduces:
		return false
	case !depends && !slices.ContainsFunc(readsIn(m.body), func(x *ir.Expr) bool { return g.inputs[tensorOf(x)] }):
		return false
	}
	g.add(m)
	return true
}

// place finds the axes of a definition that are the rows, in their order; nil if they are not there, or if an element of one row
// reads what another one computes. depends says that it reads some of that at all.
func (g *rowGrouper) place(d *tensor.Map) (rows []*ir.Axis, depends bool) {
	rows = make([]*ir.Axis, len(g.rows))
	spans := map[*ir.Axis]ir.Span{}
	for _, s := range d.Free {
		spans[s.Axis] = s
	}
	for _, x := range readsIn(d.Body) {
		own, ours := g.own[tensorOf(x)]
		if !ours {
			if slices.ContainsFunc(g.members, func(m *rowMember) bool { return m.def.Out == tensorOf(x) }) {
				return nil, true // it has columns: other threads compute it
			}
			continue
		}
		depends = true
		for i, at := range x.Args {
			r := slices.IndexFunc(g.rows, func(s ir.Span) bool { return s.Axis == own[i].Axis })
			a := axisOf(at, spans)
			if a == nil || rows[r] != nil && rows[r] != a || !sameSpans(fused{spans[a]}, g.rows[r:r+1]) {
				return nil, true
			}
			rows[r] = a
		}
	}
	if !depends {
		if len(d.Free) != len(g.rows) || !sameSpans(d.Free, g.rows) {
			return nil, false
		}
		for i, s := range d.Free {
			rows[i] = s.Axis
		}
	}
	for i, a := range rows {
		if a == nil || slices.Contains(rows[:i], a) {
			return nil, depends
		}
	}
	return rows, depends
}

// axisOf is the axis of which a subscript is the place, counted from where its span begins; nil if it is none of the spans'.
func axisOf(at *ir.Expr, spans map[*ir.Axis]ir.Span) *ir.Axis {
	name := at
	if at.Op == ir.OpSub {
		name = at.Args[0]
	}
	a, ok := name.Ref.(*ir.Axis)
	if !ok {
		return nil
	}
	s, ok := spans[a]
	if !ok || !ir.Equal(at, ir.Sub(name, s.Lo)) {
		return nil
	}
	return a
}

// kernel is the kernel of a group of several; nil where members do better each with a kernel of its own: what has columns needs
// enough rows for all the blocks of a device.
func (g *rowGrouper) kernel(readers map[*tensor.Tensor]int, conditions []*ir.Expr) *rowKernel {
	if g.columns {
		a := newAccesses(conditions, g.rows)
		rows := a.points(g.rows)
		a.facts.Forget()
		if rows < leastRows {
			return nil
		}
	}
	if len(g.members) < 2 {
		return nil
	}
	for _, m := range g.members {
		t := m.def.Out
		m.keep = t.Role != tensor.Temp || readers[t] > g.inside[t]
	}
	k := &rowKernel{rows: g.rows, members: g.members}
	k.plan(conditions, g.one)
	return k
}

// leastRows is the number of rows from which on each may have a block of its own.
const leastRows = 32
