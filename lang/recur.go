package lang

import (
	"slices"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// Limits of what recurs together.
const (
	maxRing  = 64
	maxTries = 20_000 // choices of stepping indices
)

// recurrence checks statements that use each other or themselves at the step before, and emits their definition.
func (k *kernel) recurrence(ring []*stmt) bool {
	names := ringNames(ring)
	if len(ring) > maxRing {
		k.fail(ring[0].ast.Pos, "limit", "more than %d names recur together", maxRing)
		return false
	}
	for _, s := range ring {
		if s.scatters() {
			k.fail(s.ast.Pos, "cycle", "%s: defined in terms of each other, and %s is scattered into", names, s.ast.Text)
			return false
		}
	}
	k.carry(ring)
	ok := true
	for _, s := range ring {
		ok = k.expand(s, false) && ok
	}
	if !ok {
		return false
	}
	for _, s := range ring {
		s.v.recurs, s.v.axes = true, s.axes
	}
	w := k.inference(ring)
	for _, s := range ring {
		w.lookStatement(s)
	}
	if w.failed {
		return false
	}
	r := k.step(ring, w)
	if r == nil {
		return false
	}
	w.resolve()
	if w.failed || !k.oneStep(r.members) {
		return false
	}
	for _, s := range r.members {
		if !k.covered(s) {
			return false
		}
	}
	k.emitRecur(r)
	return true
}

func ringNames(ring []*stmt) string {
	names := make([]string, len(ring))
	for i, s := range ring {
		names[i] = s.ast.Text
	}
	return strings.Join(names, ", ")
}

// carry finds the types of undeclared names that recur: those in which their first values and their steps are computed.
func (k *kernel) carry(ring []*stmt) {
	open := slices.DeleteFunc(slices.Clone(ring), func(s *stmt) bool { return s.v.typ != lostType })
	for range len(open) + 2 {
		changed := false
		for _, s := range open {
			k.expand(s, true)
			t := s.v.typ
			if s.from != nil {
				t = joined(t, s.from.typ)
			}
			if t = joined(t, s.value.typ); t != s.v.typ {
				s.v.typ, changed = t, true
			}
		}
		if !changed {
			break
		}
	}
	for _, s := range open {
		if s.v.typ = settled(s.v.typ); s.v.typ == lostType {
			s.v.typ = ir.F32 // whatever is wrong is said elsewhere
		}
	}
}

// joined is the type that holds both, where one may be unknown still.
func joined(a, b ir.Type) ir.Type {
	switch {
	case b == lostType:
		return a
	case a == lostType:
		return computed(b)
	}
	return computed(widen(a, b))
}

// oneStep checks that all step over one range.
func (k *kernel) oneStep(members []*stmt) bool {
	a := members[0].axes[members[0].step].r
	for _, s := range members[1:] {
		b := s.axes[s.step].r
		if !k.same(a.lo, b.lo) || !k.same(a.hi, b.hi) {
			k.fail(b.pos, "extent", "%s and %s recur together, but %s ranges over %s and %s over %s", members[0].ast.Text, s.ast.Text,
				a.name, rangeText(a.lo, a.hi), b.name, rangeText(b.lo, b.hi)).WithNote(a.pos, "%s steps along %s", members[0].ast.Text, a.name)
			return false
		}
	}
	return true
}

func (k *kernel) emitRecur(f *stepping) {
	for _, s := range f.members {
		k.shape(s)
	}
	d := &tensor.Recur{Back: f.shift > 0, Pos: f.members[0].ast.Pos}
	for _, s := range f.members {
		var from *tensor.Tensor
		if f.before[s] {
			from = k.emitFrom(s)
		}
		d.From = append(d.From, from)
	}
	for _, s := range f.members {
		l := &k.low
		d.Tensors = append(d.Tensors, s.v.tensor)
		d.Free = append(d.Free, l.box(s.axes, -1))
		d.Step = append(d.Step, s.step)
		d.Bodies = append(d.Bodies, l.stored(s.value, s))
	}
	k.emit(d)
}

// emitFrom defines the values before the first step.
func (k *kernel) emitFrom(s *stmt) *tensor.Tensor {
	l := &k.low
	free := l.box(s.axes, s.step)
	t := &tensor.Tensor{Name: s.ast.Text + ".from", Type: s.v.typ, Role: tensor.Temp, Pos: s.ast.From.Pos}
	for i, e := range s.v.tensor.Extents {
		if i != s.step {
			t.Extents = append(t.Extents, e)
		}
	}
	k.addTemp(s, t)
	k.emit(&tensor.Map{Out: t, Free: free, Body: l.stored(s.from, s), Pos: s.ast.From.Pos})
	return t
}
