package lang

import (
	"encoding/binary"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/text"
)

// extent is the range of an index: explicit, or inferred from the places where the index stands alone.
type extent struct {
	name     string
	pos      diag.Pos
	id       int32    // while a statement is looked at; 0: not met yet
	own      bool     // of an index of the left-hand side
	explicit bool     // its ends are written
	lost     bool     // it stands in something that a mistake has lost
	lo, hi   *ir.Expr // nil until they are known; over scalars
	uses     []use
	state    macroState
}

// use is a place where an index stands alone as a subscript, or must have the range of another index.
type use struct {
	of     *variable
	dim    int
	like   *extent // an index of the left-hand side, instead of a dimension
	lo, hi *ir.Expr
	pos    diag.Pos
	weak   bool // an access with a boundary counts only if nothing else fixes the range
}

// inference finds the ranges of a statement's indices, or of those of statements that recur together.
type inference struct {
	*kernel
	stmt   *stmt   // whose terms are looked at
	ring   []*stmt // that is being defined
	inFrom bool    // at its value before the first step
	env    [maxIndices]*extent
	seen   map[string]bool
	met    []*extent
	inside []ringRead // reads of the names that are being defined
	failed bool
	key    []byte
}

// inference prepares for another statement, or for some that recur together.
func (k *kernel) inference(ring []*stmt) *inference {
	k.inferred = inference{kernel: k, ring: ring, key: k.inferred.key, met: k.inferred.met[:0]}
	return &k.inferred
}

func (w *inference) mistake(pos diag.Pos, code, format string, args ...any) *diag.Diag {
	w.failed = true
	return w.fail(pos, code, format, args...)
}

func (w *inference) meet(r *extent) {
	if r.id == 0 {
		w.met = append(w.met, r)
		r.id = int32(len(w.met))
	}
}

// visited reports whether a shared term was looked at with the same extents before.
func (w *inference) visited(t *term) bool {
	if !t.shared {
		return false
	}
	w.key = binary.LittleEndian.AppendUint32(w.key[:0], uint32(t.serial))
	levelsOf(t.free, func(level uint8) {
		id := int32(0)
		if r := w.env[level]; r != nil {
			id = r.id
		}
		w.key = binary.LittleEndian.AppendUint32(w.key, uint32(id))
	})
	if w.seen[string(w.key)] {
		return true
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[string(w.key)] = true
	return false
}

// look notes every use of an index that stands alone in t.
func (w *inference) look(t *term) {
	if t == nil || t.kind <= scalarTerm && len(t.args) == 0 || w.visited(t) {
		return
	}
	if t.kind == bindTerm {
		w.lookBinding(t)
		return
	}
	for _, a := range t.args {
		w.look(a)
	}
	switch t.kind {
	case readTerm:
		w.lookRead(t)
	case lostTerm:
		levelsOf(t.free, func(level uint8) {
			if r := w.env[level]; r != nil {
				r.lost = true
			}
		})
	}
}

// lookStatement notes what the parts of a statement say about its indices.
func (w *inference) lookStatement(s *stmt) {
	w.stmt = s
	for _, a := range s.axes {
		w.env[a.level] = a.r
		w.meet(a.r)
	}
	w.look(s.value)
	w.inFrom = true
	w.look(s.from)
	w.inFrom = false
	for _, a := range s.axes {
		w.look(a.lo)
		w.look(a.hi)
	}
	if !s.scatters() {
		for k, a := range s.axes {
			if s.v.hi != nil {
				w.note(a.r, s.v, k, a.pos, false)
			}
		}
		return
	}
	for k, t := range s.left {
		w.look(t)
		if t.kind == indexTerm {
			w.note(w.env[t.level], s.v, k, t.pos, s.edge.Kind != tensor.Inside)
		}
	}
}

func (w *inference) lookRead(t *term) {
	v := t.of
	switch {
	case v.recurs:
		w.lookInside(t)
	case v.tensor == nil: // a mistake in its declaration or definition
		w.failed = true
	}
	for k, a := range t.args {
		if a.kind == indexTerm {
			w.note(w.env[a.level], v, k, a.pos, t.edge.Kind != tensor.Inside)
		}
	}
}

// note records that index r stands alone as subscript dim of v.
func (w *inference) note(r *extent, v *variable, dim int, pos diag.Pos, weak bool) {
	u := use{of: v, dim: dim, pos: pos, weak: weak}
	switch {
	case r == nil:
		return
	case v.hi != nil && v.hi[dim] != nil:
		u.lo, u.hi = v.lo[dim], v.hi[dim]
	case v.recurs:
		if u.like = v.axes[dim].r; u.like == r {
			return
		}
	default:
		r.lost = true
		return
	}
	if r.uses == nil {
		r.uses = make([]use, 0, 4)
	}
	r.uses = append(r.uses, u)
}

func (w *inference) lookBinding(t *term) {
	bind := t.bind
	if isScan(bind.name) {
		w.lookScan(t)
		return
	}
	w.look(bind.rank)
	saved := make([]*extent, len(bind.spans))
	for i := range bind.spans {
		s := &bind.spans[i]
		w.look(s.lo)
		w.look(s.hi)
		w.meet(s.r)
		s.r.explicit = s.lo != nil
		saved[i] = w.env[s.level]
		w.env[s.level] = s.r
	}
	w.look(bind.where)
	w.look(t.args[0])
	for i := len(saved) - 1; i >= 0; i-- {
		w.env[bind.spans[i].level] = saved[i]
	}
}

// lookScan checks that a scan runs along an index of the left-hand side, over that index's range.
func (w *inference) lookScan(t *term) {
	s := &t.bind.spans[0]
	r := w.env[s.level]
	if r == nil || !r.own {
		w.mistake(t.pos, "range", "%s: %s is no index of the left-hand side here", show(t.node), s.r.name)
		if r != nil {
			r.lost = true
		}
		return
	}
	if s.lo != nil {
		if s.lo.free|s.hi.free != 0 {
			w.mistake(s.lo.pos, "range", "%s: the range of a scan uses no index", show(t.node))
			return
		}
		r.uses = append(r.uses, use{lo: w.low.as(s.lo, ir.I64), hi: w.low.as(s.hi, ir.I64), pos: t.pos})
	}
	w.look(t.bind.where)
	w.look(t.args[0])
}

// resolve gives every index without explicit ends the one range that its uses agree on.
func (w *inference) resolve() {
	for _, r := range w.met {
		w.settle(r)
	}
	for _, r := range w.met {
		w.agree(r)
	}
	for _, r := range w.met {
		if r.hi == nil && !r.explicit {
			w.failed = true
			if !r.lost {
				w.rangeless(r)
			}
		}
	}
}

func (w *inference) rangeless(r *extent) {
	d := w.mistake(r.pos, "range", "index %s has no range: it stands alone as a subscript of no tensor", r.name)
	if w.stmt != nil && w.stmt.scatters() {
		x := w.expander()
		if best := nearest(r.name, x.valueNames(context{})); best != "" {
			d.WithFix("did you mean %s?", best)
			return
		}
	}
	if r.own {
		d.WithFix("write for %s in lo..hi behind the statement", r.name)
	} else {
		d.WithFix("write %s in lo..hi", r.name)
	}
}

// settle takes the range of the first use that counts. Uses that are like another index wait for that one.
func (w *inference) settle(r *extent) {
	if r.state != unseen || r.explicit || r.hi != nil {
		return
	}
	r.state = visiting
	var weak *use
	for i := range r.uses {
		u := &r.uses[i]
		if u.like != nil {
			w.settle(u.like)
			u.lo, u.hi = u.like.lo, u.like.hi
		}
		switch {
		case u.hi == nil:
		case !u.weak && r.hi == nil:
			r.lo, r.hi = u.lo, u.hi
		case u.weak && weak == nil:
			weak = u
		}
	}
	if r.hi == nil && weak != nil && !r.lost {
		r.lo, r.hi = weak.lo, weak.hi
	}
	r.state = seen
}

// agree reports uses over other ranges than the index has.
func (w *inference) agree(r *extent) {
	if r.explicit || r.hi == nil {
		return
	}
	var first *use
	strong := false
	for i := range r.uses {
		strong = strong || !r.uses[i].weak
	}
	for i := range r.uses {
		u := &r.uses[i]
		if u.like != nil {
			u.lo, u.hi = u.like.lo, u.like.hi
		}
		if u.hi == nil || strong && u.weak {
			continue
		}
		if first == nil {
			first = u
		}
		if !w.same(u.lo, r.lo) || !w.same(u.hi, r.hi) {
			d := w.mistake(u.pos, "extent", "index %s ranges over %s (%s) and over %s (%s)", r.name, first.text(), first.what(), u.text(), u.what())
			d.WithNote(first.pos, "%s ranges over %s here", r.name, first.text())
			return
		}
	}
}

func (u *use) what() string {
	switch {
	case u.of != nil:
		return "dimension " + itoa(u.dim+1) + " of " + u.of.name
	case u.like != nil:
		return "index " + u.like.name
	}
	return "a scan"
}

func (u *use) text() string {
	if u.of != nil && u.of.written != nil {
		return show(u.of.written[u.dim])
	}
	return rangeText(u.lo, u.hi)
}

// rangeText writes a range as an extent where it begins at 0.
func rangeText(lo, hi *ir.Expr) string {
	if lo.IsInt(0) {
		return text.String(hi)
	}
	return text.String(lo) + ".." + text.String(hi)
}
