package passes

import (
	"fmt"
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/tile"
)

// assignLayouts decides which thread holds which element of every tile in registers, and swizzles tiles in shared memory.
//
// Some tiles have a layout of their own: the result of a dot is where the matrix operation leaves it, and what goes to shared
// memory is loaded in pieces beside each other. All others are where they are needed: a tile is computed in the layout of what is
// computed from it, once for every such layout. A tile with a layout of its own that is needed in another one goes there through
// shared memory.
func assignLayouts(u *Unit) error {
	m := *u.Tile
	m.Kernels = slices.Clone(m.Kernels)
	for i, k := range m.Kernels {
		if k.Threads == 0 {
			continue
		}
		k = k.Copy()
		done, err := placeRows(k)
		if err != nil {
			return err
		}
		if !done {
			newAssigner(&m, k).kernelBody()
		}
		m.Kernels[i] = k
	}
	u.Tile = &m
	return nil
}

// assigner decides the layouts of a kernel. It goes backwards, so that where a tile is needed is known when it comes to where it
// is computed.
type assigner struct {
	*sources
	kernel *tile.Kernel
	names  *tileNames
	titles *tileNames // of layouts
	root   *ir.Layout // of whatever nothing else decides
	forms  []*ir.Layout
	parts  map[part]*ir.Layout
	reads  map[*tile.Value][]ir.Access // of dots
	own    map[*tile.Value]*ir.Layout  // of tiles with a layout of their own, and of what is computed of them point by point
	whole  map[*tile.Value]bool        // those that are computed once, in their own layout
	wanted map[*tile.Value][]*tile.Value
}

// part is a layout without some of its axes.
type part struct {
	of   *ir.Layout
	axes string
}

func newAssigner(m *tile.Module, k *tile.Kernel) *assigner {
	return &assigner{
		sources: newSources(m, k), kernel: k, names: newTileNames(m, k), titles: &tileNames{map[string]bool{}}, parts: map[part]*ir.Layout{}, reads: readsOfDots(k),
		own: map[*tile.Value]*ir.Layout{}, whole: map[*tile.Value]bool{}, wanted: map[*tile.Value][]*tile.Value{},
	}
}

func (a *assigner) kernelBody() {
	for n := -1; n != len(a.own); {
		n = len(a.own)
		a.owners(a.kernel.Body)
	}
	for v := range a.whole {
		if len(v.Axes) > 0 && a.own[v] == nil {
			a.own[v] = a.rest(v.Axes)
		}
	}
	grid := a.kernel.Body[0].(*tile.Loop)
	grid.Body = a.list(grid.Body)
	a.swizzle()
}

// unsupported ends the pass at what has no layout.
func (a *assigner) unsupported(pos diag.Pos, format string, args ...any) {
	panic(diag.Errorf(pos, "limit", "kernel %s: %s", a.kernel.Name, fmt.Sprintf(format, args...)))
}

// form is the one layout that is equal to l, so that equal layouts are one.
func (a *assigner) form(l *ir.Layout, hint string) *ir.Layout {
	for _, f := range a.forms {
		if f.Equal(l) {
			return f
		}
	}
	named := *l
	named.Name = a.titles.fresh(hint)
	a.forms = append(a.forms, &named)
	return &named
}

// over is a layout over some of its axes, in its order.
func (a *assigner) over(l *ir.Layout, axes []*ir.Axis) *ir.Layout {
	if len(l.Axes) == len(axes) {
		return l
	}
	names := axisNames(axes)
	p := part{of: l}
	for _, n := range l.Axes {
		if slices.Contains(names, n) {
			p.axes += "." + n
		}
	}
	out := a.parts[p]
	if out == nil {
		out = l
		for _, n := range l.Axes {
			if !slices.Contains(names, n) {
				out = out.Slice(n)
			}
		}
		out = a.form(out, l.Name+p.axes)
		a.parts[p] = out
	}
	return out
}

// puts gives a tile a layout, and its axes the order of the layout's.
func puts(v *tile.Value, l *ir.Layout) {
	v.Space, v.Layout = tile.Reg, l
	if l == nil {
		return
	}
	axes := make([]*ir.Axis, len(l.Axes))
	for i, n := range l.Axes {
		axes[i] = v.Axes[slices.IndexFunc(v.Axes, func(x *ir.Axis) bool { return x.Name == n })]
	}
	v.Axes = axes
}

// owners finds the tiles with a layout of their own, and those that are computed of them point by point.
func (a *assigner) owners(list []tile.Stmt) {
	for _, s := range list {
		for _, inner := range nested(s) {
			a.owners(inner)
		}
		switch s := s.(type) {
		case *tile.Dot:
			if a.own[s.Out] == nil {
				a.computed(s.Out, a.dotForm(s))
			}
		case *tile.Reduce:
			a.computed(s.Out, a.over(a.formOf(s.In), s.Out.Axes))
		case *tile.Scan:
			a.computed(s.Out, a.over(a.formOf(s.In), s.Out.Axes))
		case *tile.Loop:
			for _, c := range s.Carry {
				l := a.ownForm(c.In.Axes, c.Next, c.First)
				a.computed(c.In, l)
				a.computed(c.Out, l)
			}
		case *tile.If:
			for _, o := range s.Outs {
				a.computed(o.Out, a.ownForm(o.Out.Axes, o.Then, o.Else))
			}
		case *tile.Map:
			a.owns(s.Out, a.ownForm(s.Out.Axes, s.Body))
		case *tile.Load:
			if !s.Async {
				a.owns(s.Out, a.ownForm(s.Out.Axes, ownExprs(s)...))
			}
		}
	}
}

// computed notes a tile that is computed once.
func (a *assigner) computed(v *tile.Value, l *ir.Layout) {
	a.whole[v] = true
	a.owns(v, l)
}

func (a *assigner) owns(v *tile.Value, l *ir.Layout) {
	if l != nil && len(v.Axes) > 0 && a.own[v] == nil {
		a.own[v] = l
	}
}

// ownForm is the layout over some axes of a tile over all of them that expressions name; nil if none has one of its own.
func (a *assigner) ownForm(axes []*ir.Axis, list ...*ir.Expr) (out *ir.Layout) {
	if len(axes) == 0 {
		return nil
	}
	for _, x := range list {
		if x == nil {
			continue
		}
		ir.Walk(x, func(y *ir.Expr) {
			if v, ok := y.Ref.(*tile.Value); ok && out == nil && a.own[v] != nil && sameAxes(v.Axes, axes) {
				out = a.over(a.own[v], axes)
			}
		})
	}
	return out
}

// formOf is the layout in which a tile is taken whole: its own one, or else the kernel's.
func (a *assigner) formOf(v *tile.Value) *ir.Layout {
	if l := a.own[v]; l != nil {
		return l
	}
	return a.rest(v.Axes)
}

// rest is the layout of a tile for which nothing else says one.
func (a *assigner) rest(axes []*ir.Axis) *ir.Layout {
	if a.root == nil {
		a.root = a.rootForm()
	}
	for _, x := range axes {
		if !slices.Contains(a.root.Axes, x.Name) {
			return a.form(spread(axes, a.kernel.Threads, 1), "spread")
		}
	}
	return a.over(a.root, axes)
}

// dotForm is where a dot leaves its result.
func (a *assigner) dotForm(d *tile.Dot) *ir.Layout {
	l := dotLayout(d, a.kernel)
	if l == nil {
		a.unsupported(d.Pos, "the dot %s is no product of matrices", d.Out.Name)
	}
	return a.form(l, "acc")
}

// rootForm is the layout of the first result of a dot.
func (a *assigner) rootForm() *ir.Layout {
	var first *tile.Dot
	eachStmt(a.kernel.Body, func(s tile.Stmt) {
		if d, ok := s.(*tile.Dot); ok && first == nil {
			first = d
		}
	})
	if first == nil {
		a.unsupported(diag.Pos{}, "no layout for a block that multiplies nothing")
	}
	return a.dotForm(first)
}
