package lang

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
)

// ringRead is a use of a name that recurs: in each subscript an index of the statement around it, and how far off.
type ringRead struct {
	from, to *stmt
	term     *term
	at       []place
}

type place struct {
	axis  int // of the statement around; -1: something else
	shift int
}

// lookInside notes a use of a name that is being defined.
func (w *inference) lookInside(t *term) {
	if w.inFrom {
		w.mistake(t.pos, "recurrence", "the value before the first step cannot use %s", t.of.name)
		return
	}
	i := slices.IndexFunc(w.ring, func(s *stmt) bool { return s.v == t.of })
	r := ringRead{from: w.stmt, to: w.ring[i], term: t, at: make([]place, len(t.args))}
	for d, a := range t.args {
		r.at[d] = w.placeOf(a)
	}
	w.inside = append(w.inside, r)
}

func (w *inference) placeOf(a *term) place {
	shift := 0
	if a.kind == applyTerm && (a.op == ir.OpAdd || a.op == ir.OpSub) {
		x, y := a.args[0], a.args[1]
		if a.op == ir.OpAdd && x.isNumber() {
			x, y = y, x
		}
		n, ok := y.isInteger()
		if !ok || n < -1 || n > 1 {
			return place{-1, 0}
		}
		if shift = int(n); a.op == ir.OpSub {
			shift = -shift
		}
		a = x
	}
	if a.kind != indexTerm {
		return place{-1, 0}
	}
	r := w.env[a.level]
	return place{slices.IndexFunc(w.stmt.axes, func(x *axis) bool { return x.r == r }), shift}
}

// stepping is a choice of the axes along which names recur together.
type stepping struct {
	members []*stmt // within a step, each behind those that it reads at the same step
	dims    map[*stmt]int
	shift   int // -1: the step before is t-1; 1: t+1
	before  map[*stmt]bool
}

// chooser looks for all choices that agree with every use.
type chooser struct {
	order []*stmt
	reads []ringRead
	shift int
	dims  map[*stmt]int
	tries int
	found []*stepping
}

// step finds the one way in which the names recur; nil after a mistake.
func (k *kernel) step(ring []*stmt, w *inference) *stepping {
	c := &chooser{order: connected(ring, w.inside), reads: w.inside, dims: map[*stmt]int{}}
	for _, c.shift = range []int{-1, 1} {
		c.choose(0)
	}
	var clean, startless, spoiled, cyclic []*stepping
	for _, f := range c.found {
		f.members = inOrder(ring, f, w.inside)
		switch {
		case f.members == nil:
			cyclic = append(cyclic, f)
		case f.missing() != nil:
			startless = append(startless, f)
		case f.spoiled() != nil:
			spoiled = append(spoiled, f)
		default:
			clean = append(clean, f)
		}
	}
	switch {
	case c.tries > maxTries:
		k.fail(ring[0].ast.Pos, "limit", "%s: too many ways in which they could recur", ringNames(ring))
	case len(clean) == 1:
		k.stepTogether(ring, clean[0])
		return clean[0]
	case len(clean) > 1:
		a, b := clean[0].axisOf(ring[0]), clean[1].axisOf(ring[0])
		k.fail(ring[0].ast.Pos, "recurrence", "%s could step along %s or along %s: the value behind from must use one of them", ringNames(ring), a, b)
	case len(spoiled) > 0:
		s := spoiled[0].spoiled()
		k.fail(s.ast.From.Pos, "recurrence", "the value before the first step cannot use the stepping index %s", spoiled[0].axisOf(s))
	case len(startless) > 0:
		s := startless[0].missing()
		k.fail(s.ast.Pos, "recurrence", "%s is read at the step before, and needs from: its value before the first step", s.ast.Text)
	case len(cyclic) > 0:
		k.sameStep(ring, cyclic[0], w.inside)
	case len(w.inside) == 0: // the only uses are in what is never computed, as the range of a parameter that a macro ignores
		k.fail(ring[0].ast.Pos, "cycle", "%s is used in its own definition, but not as the value of a step", ringNames(ring))
	default:
		r := culprit(w.inside)
		k.fail(r.term.pos, "recurrence", "%s: a recurrence reads itself at exactly one step before (t-1), or everywhere one after (t+1), along one index; %s does not",
			ringNames(ring), show(r.term.node))
	}
	return nil
}

// connected orders the names so that each is used by, or uses, one before it.
func connected(ring []*stmt, reads []ringRead) []*stmt {
	order, in := []*stmt{ring[0]}, map[*stmt]bool{ring[0]: true}
	for i := 0; i < len(order); i++ {
		for _, r := range reads {
			for _, s := range []*stmt{r.from, r.to} {
				if (r.from == order[i] || r.to == order[i]) && !in[s] {
					in[s] = true
					order = append(order, s)
				}
			}
		}
	}
	for _, s := range ring { // uses that a macro dropped
		if !in[s] {
			order = append(order, s)
		}
	}
	return order
}

func (c *chooser) choose(i int) {
	if i == len(c.order) {
		c.accept()
		return
	}
	s := c.order[i]
	for d := range s.axes {
		if c.tries++; c.tries > maxTries {
			return
		}
		c.dims[s] = d
		if c.fits(s) {
			c.choose(i + 1)
		}
	}
	delete(c.dims, s)
}

// fits reports whether the uses between s and what is chosen already stand at the step, or at the one before.
func (c *chooser) fits(s *stmt) bool {
	for i := range c.reads {
		r := &c.reads[i]
		from, ok1 := c.dims[r.from]
		to, ok2 := c.dims[r.to]
		if !ok1 || !ok2 || r.from != s && r.to != s {
			continue
		}
		if p := r.at[to]; p.axis != from || p.shift != 0 && p.shift != c.shift {
			return false
		}
	}
	return true
}

func (c *chooser) accept() {
	f := &stepping{dims: map[*stmt]int{}, shift: c.shift, before: map[*stmt]bool{}}
	for s, d := range c.dims {
		f.dims[s] = d
	}
	for _, r := range c.reads {
		if r.at[f.dims[r.to]].shift != 0 {
			f.before[r.to] = true
		}
	}
	if len(f.before) > 0 {
		c.found = append(c.found, f)
	}
}

// missing is a name that is read at the step before and has no value there at the first step.
func (f *stepping) missing() *stmt {
	for _, s := range f.members {
		if f.before[s] && s.from == nil {
			return s
		}
	}
	return nil
}

// spoiled is a name whose value before the first step depends on the step.
func (f *stepping) spoiled() *stmt {
	for _, s := range f.members {
		if s.from != nil && s.from.free&levelBit(s.axes[f.dims[s]].level) != 0 {
			return s
		}
	}
	return nil
}

func (f *stepping) axisOf(s *stmt) string { return s.axes[f.dims[s]].r.name }

// culprit is the use that fits least: one that is nowhere one step off.
func culprit(reads []ringRead) ringRead {
	for _, r := range reads {
		if !slices.ContainsFunc(r.at, func(p place) bool { return p.axis >= 0 && p.shift != 0 }) {
			return r
		}
	}
	return reads[len(reads)-1]
}

// inOrder lists the names so that each stands behind those that it reads at the same step; nil if there is no such order.
func inOrder(ring []*stmt, f *stepping, reads []ringRead) []*stmt {
	now := map[*stmt][]*stmt{}
	for _, r := range reads {
		if r.at[f.dims[r.to]].shift == 0 {
			now[r.from] = append(now[r.from], r.to)
		}
	}
	var out []*stmt
	done := map[*stmt]bool{}
	for len(out) < len(ring) {
		i := slices.IndexFunc(ring, func(s *stmt) bool {
			return !done[s] && !slices.ContainsFunc(now[s], func(t *stmt) bool { return !done[t] })
		})
		if i < 0 {
			return nil
		}
		done[ring[i]] = true
		out = append(out, ring[i])
	}
	return out
}

// sameStep reports names that need each other at the same step.
func (k *kernel) sameStep(ring []*stmt, f *stepping, reads []ringRead) {
	for _, r := range reads {
		if len(ring) == 1 && r.at[f.dims[r.to]].shift == 0 {
			k.fail(r.term.pos, "recurrence", "%s reads itself at the step that defines it; a recurrence reads the step before", show(r.term.node))
			return
		}
	}
	k.fail(ring[0].ast.Pos, "cycle", "%s read each other at the same step in a cycle", ringNames(ring))
}

// stepTogether makes all names step over one range.
func (k *kernel) stepTogether(ring []*stmt, f *stepping) {
	for _, s := range ring {
		s.step = f.dims[s]
	}
	for i, s := range ring[1:] {
		a, b := ring[i].axes[ring[i].step].r, s.axes[s.step].r
		a.uses = append(a.uses, use{like: b, pos: b.pos})
		b.uses = append(b.uses, use{like: a, pos: a.pos})
	}
}
