package passes

import (
	"hash/fnv"
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
)

// makeTiles is make_loops with block kernels: a definition that contracts tensors becomes one whose blocks compute tiles of the
// result, one that reduces one whose blocks compute several rows, one without loops one whose blocks compute runs of elements. What
// it cannot cut so becomes the kernel that make_loops makes: recurrences, scans, scatters, checks, a single element, reductions
// inside others, behind equalities, over ranges that are no box, and what would be too large.
func makeTiles(u *Unit) error {
	m := newModuleMaker(u.Tensor)
	m.tiles = &tiling{unit: u}
	if err := m.tiles.known(); err != nil {
		return err
	}
	m.tiles.box(u.Tensor, m.conditions())
	m.program(u.Tensor)
	m.out.Arrays = touched(m.out)
	u.Tile = m.out
	return m.tiles.err
}

// tiling is how the definitions of a program are cut.
type tiling struct {
	unit   *Unit
	boxed  map[*tensor.Map]*tensor.Map // definitions with their reductions over boxes
	plain  map[*tensor.Map]*tensor.Map // what those were
	groups map[*tensor.Map]*rowKernel  // by each of their definitions
	err    error                       // what is wrong with the schedule that the user asks for
}

// box makes the definitions of a program with reductions over boxes, and finds those that go together.
func (t *tiling) box(p *tensor.Program, conditions []*ir.Expr) {
	t.boxed, t.plain = map[*tensor.Map]*tensor.Map{}, map[*tensor.Map]*tensor.Map{}
	boxes := copyProgram(p)
	for i, d := range p.Defs {
		if d, ok := d.(*tensor.Map); ok {
			b := boxed(d, conditions)
			boxes.Defs[i], t.boxed[d], t.plain[b] = b, b, d
		}
	}
	t.groups = rowGroups(boxes, conditions)
}

// touched lists the arrays of a module without workspace that no kernel needs any more.
func touched(m *tile.Module) (out []*tile.Array) {
	used := map[*tile.Array]bool{}
	var visit func(list []tile.Stmt)
	visit = func(list []tile.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *tile.Loop:
				visit(s.Body)
			case *tile.If:
				visit(s.Then)
				visit(s.Else)
			case *tile.Load:
				used[s.From] = true
			case *tile.Store:
				used[s.To] = true
			case *tile.Check:
				used[s.Of] = true
			}
		}
	}
	for _, k := range m.Kernels {
		visit(k.Body)
	}
	for _, a := range m.Arrays {
		if a.Role != tile.Work || used[a] {
			out = append(out, a)
		}
	}
	return out
}

// blockForm is a way in which the blocks of a kernel compute a definition.
type blockForm interface {
	// space is what may be chosen on a device (nil: any).
	space(d *device.Device) *schedule.Space
	// kernel adds the kernel.
	kernel(m *moduleMaker, d *tensor.Map, sched schedule.Choice)
}

// formOf finds the form of a definition; nil if it has none.
func (m *moduleMaker) formOf(d *tensor.Map) blockForm {
	if c := contractionOf(d); c != nil {
		return c
	}
	if k := rowsOf(d, m.conditions()); k != nil {
		return k
	}
	if e := eachOf(d, m.conditions()); e != nil {
		return e
	}
	return nil
}

// tiled makes a block kernel of a definition, if it can be one.
func (m *moduleMaker) tiled(d *tensor.Map) bool {
	if m.tiles == nil {
		return false
	}
	d = m.tiles.boxed[d]
	if g := m.tiles.groups[d]; g != nil {
		if d == g.last() && !m.blockKernel(d, g) {
			for _, r := range g.members {
				m.pointwise(m.tiles.plain[r.def])
			}
		}
		return true
	}
	one := *d
	one.Body = ir.Unifier().Rewrite(d.Body)
	d = &one
	form := m.formOf(d)
	return form != nil && m.blockKernel(d, form)
}

// blockKernel makes the kernel of a form with the schedule that is asked for. It returns false where there can be none.
func (m *moduleMaker) blockKernel(d *tensor.Map, form blockForm) bool {
	space := form.space(m.tiles.unit.Device)
	own := m.tiles.choice(d, space)
	if err := space.Legal(own); err != nil {
		if m.tiles.err == nil {
			m.tiles.err = diag.Errorf(d.Pos, "limit", "the schedule of %s: %v", d.Out.Name, err)
		}
		return false
	}
	sched, before := space.Complete(own), len(m.out.Kernels)
	if !m.fits(func() { form.kernel(m, d, sched) }) {
		return false
	}
	cut := Cut{Of: d.Out.Name, Space: space, Sched: sched}
	for _, k := range m.out.Kernels[before:] {
		cut.Kernels = append(cut.Kernels, k.Name)
	}
	m.tiles.unit.Cut = append(m.tiles.unit.Cut, cut)
	return true
}

// fits reports whether a kernel can be made that stays below the limit of statements; otherwise there is none.
func (m *moduleMaker) fits(build func()) (ok bool) {
	kernels := len(m.out.Kernels)
	defer func() {
		if r := recover(); r != nil {
			if d, limit := r.(*diag.Diag); !limit || d.Code != "limit" {
				panic(r)
			}
			for _, k := range m.out.Kernels[kernels:] {
				delete(m.kernels, k.Name)
			}
			m.out.Kernels, ok = m.out.Kernels[:kernels], false
		}
	}()
	build()
	return true
}

// choice is what a definition's kernel gets that is no default: its own, drawn at random, other draws for other definitions, or as
// the user wants it.
func (t *tiling) choice(d *tensor.Map, space *schedule.Space) schedule.Choice {
	if own, ok := t.unit.Own[d.Out.Name]; ok {
		return own
	}
	if t.unit.Draw == nil {
		return asked(t.unit.Sched, space)
	}
	h := fnv.New64a()
	h.Write([]byte(d.Out.Name))
	return space.Random(*t.unit.Draw ^ h.Sum64())
}

// asked is what the user chooses of a space.
func asked(of schedule.Choice, space *schedule.Space) (out schedule.Choice) {
	for _, p := range of {
		if hasKnob(space, p.Knob) {
			out = append(out, p)
		}
	}
	return out
}

func hasKnob(s *schedule.Space, name string) bool {
	return slices.ContainsFunc(s.Knobs, func(k schedule.Knob) bool { return k.Name == name })
}

// known reports a knob that kernels of no form have: one that a kernel lacks is for others.
func (t *tiling) known() error {
	spaces := []*schedule.Space{contractionSpace(nil, dotSizes{}, nil), rowSpace(0, nil, rowChoice{split: 1}), eachSpace(nil, eachChoice{})}
	for _, p := range t.unit.Sched {
		if slices.ContainsFunc(spaces, func(s *schedule.Space) bool { return hasKnob(s, p.Knob) }) {
			continue
		}
		var names []string
		for _, s := range spaces {
			for _, k := range s.Knobs {
				if !slices.Contains(names, k.Name) {
					names = append(names, k.Name)
				}
			}
		}
		return diag.Errorf(t.unit.Tensor.Pos, "schedule", "there is no knob %s; there are %v", p.Knob, names)
	}
	return nil
}

// fused are axes that are walked as one, the last of them fastest.
type fused []ir.Span

// total is the number of points.
func (f fused) total() *ir.Expr {
	n := ir.Int64(1)
	for _, s := range f {
		n = ir.Mul(n, extent(s))
	}
	return n
}

// places are the places on each axis, counted from 0, of the point with a number.
func (f fused) places(number *ir.Expr) []*ir.Expr {
	out := make([]*ir.Expr, len(f))
	stride := ir.Int64(1)
	for i := len(f) - 1; i >= 0; i-- {
		n := extent(f[i])
		out[i] = ir.Div(number, stride)
		if i > 0 {
			out[i] = ir.Rem(out[i], n)
		}
		stride = ir.Mul(n, stride)
	}
	return out
}

// in lists the axes of spans that are in a set.
func (f fused) in(set axisSet) (out fused) {
	for _, s := range f {
		if set[s.Axis] {
			out = append(out, s)
		}
	}
	return out
}
