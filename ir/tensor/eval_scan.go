package tensor

import (
	"sync/atomic"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
)

// row holds what a scan gives at every position of its range, for one tuple of the other axes.
type row struct {
	lo     int64
	f      []float64 // of a scan of floats
	i      []int64   // of others
	errs   []float64
	faults []fault // nil: none
}

// scanner is the code of a scan. It computes a whole row at a time.
type scanner[T number] struct {
	loop               loop
	guard              fn[int64] // nil: all
	body               fn[T]
	identity           T
	combine            func(a, b T) T
	values             func(r *row) *[]T
	grow               func(f *frame, s *growth, x T) // how the bound of the error grows; nil: not asked for
	reverse, exclusive bool
	at                 *place
}

func (c *compiler) scan(e *ir.Expr) code {
	s := e.Ref.(*Scan)
	slot := c.slots[s.Over.Axis]
	lo, hi := c.int(s.Over.Lo), c.int(s.Over.Hi)
	scope := c.scope
	c.scope = append(append([]int{}, scope...), slot) // the scanned axis runs inside of all others
	var guard fn[int64]
	if s.Guard != nil {
		guard = c.int(s.Guard)
	}
	body := c.code(e.Args[0])
	c.scope = scope

	l := loop{slot, lo, hi, s.Over.Axis.Name, e.Pos}
	at := &place{kind: "a position outside the range of the scan", text: ExprText(e), pos: e.Pos}
	floats, ints := combiner(s.Op, s.Acc)
	identity := s.Op.Identity(s.Acc)
	var slots []int
	for _, other := range slotsOf(c.info[e].free) {
		if other != slot {
			slots = append(slots, other)
		}
	}
	if body.f != nil {
		sc := &scanner[float64]{l, guard, body.f, identity.Float(), floats, func(r *row) *[]float64 { return &r.f }, nil, s.Reverse, s.Exclusive, at}
		if c.ev.bound() {
			sc.grow = grower(s.Op, s.Acc)
		}
		return code{f: scanned(c, slots, sc)}
	}
	sc := &scanner[int64]{l, guard, body.i, identity.Int(), ints, func(r *row) *[]int64 { return &r.i }, nil, s.Reverse, s.Exclusive, at}
	if c.ev.bound() {
		grow := grower(s.Op, s.Acc)
		sc.grow = func(f *frame, g *growth, x int64) { grow(f, g, float64(x)) }
	}
	return code{i: scanned(c, slots, sc)}
}

// scanned keeps the rows of a scan: all of them where the other axes are a box, else the last one that was made.
func scanned[T number](c *compiler, slots []int, s *scanner[T]) fn[T] {
	b := c.boxOf(slots)
	if b == nil {
		id := c.newCell(2, slots)
		return func(f *frame) T {
			kept := &f.rows[id]
			if !kept.holds(f, slots) {
				kept.fill(f, slots, s.row)
			}
			return s.read(f, kept.value)
		}
	}
	rows := make([]atomic.Pointer[row], b.n)
	return func(f *frame) T {
		at := b.at(f)
		r := rows[at].Load()
		if r == nil {
			r = s.row(f)
			rows[at].Store(r)
		}
		return s.read(f, r)
	}
}

// read is the value of the row at the current position.
func (s *scanner[T]) read(f *frame, r *row) T {
	f.err = 0
	values := *s.values(r)
	i := f.axis[s.loop.slot] - r.lo
	if i < 0 || i >= int64(len(values)) {
		f.fail(s.at, 0)
		return s.identity
	}
	if r.faults != nil {
		f.raise(r.faults[i])
	}
	if r.errs != nil {
		f.err = r.errs[i]
	}
	return values[i]
}

// row computes all positions, for the current indices of the other axes. A fault counts at the positions that it went into.
func (s *scanner[T]) row(f *frame) *row {
	outer, here := f.fault, f.axis[s.loop.slot]
	f.fault = fault{}
	lo, hi, uncertain := s.loop.ends(f)
	r := &row{lo: lo}
	if hi > lo {
		if err := f.ev.lend(hi-lo, "the scan over "+s.loop.name, s.loop.pos); err != nil {
			f.ev.stop(err.(*diag.Diag))
			hi = lo
		}
		*s.values(r) = make([]T, hi-lo)
		s.fill(f, r, uncertain)
	}
	f.fault, f.axis[s.loop.slot] = outer, here
	return r
}

func (s *scanner[T]) fill(f *frame, r *row, uncertain bool) {
	n := int64(len(*s.values(r)))
	acc, g := s.identity, growth{err: anythingIf(uncertain)}
	if s.grow != nil {
		r.errs = make([]float64, n)
	}
	for k := range n {
		i := k
		if s.reverse {
			i = n - 1 - k
		}
		if k%pieceSize == 0 && f.ev.stopped.Load() != nil {
			return
		}
		f.axis[s.loop.slot] = r.lo + i
		if s.exclusive {
			s.put(f, r, i, acc, &g)
		}
		acc = s.take(f, acc, &g)
		if !s.exclusive {
			s.put(f, r, i, acc, &g)
		}
	}
}

// take combines the element at hand, if the guard lets it.
func (s *scanner[T]) take(f *frame, acc T, g *growth) T {
	if s.guard != nil {
		if s.guard(f) == 0 {
			if f.err != 0 {
				g.err = anything
			}
			return acc
		}
		if f.err != 0 {
			g.err = anything
		}
	}
	x := s.body(f)
	if s.grow != nil {
		s.grow(f, g, x)
	}
	return s.combine(acc, x)
}

// put stores the running value, and the fault of whatever went into it.
func (s *scanner[T]) put(f *frame, r *row, i int64, acc T, g *growth) {
	(*s.values(r))[i] = acc
	if r.errs != nil {
		r.errs[i] = g.total()
	}
	if f.fault.at != nil {
		if r.faults == nil {
			r.faults = make([]fault, len(*s.values(r)))
		}
		r.faults[i] = f.fault
	}
}
