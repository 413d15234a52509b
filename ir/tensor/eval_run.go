package tensor

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
)

// region is a box of elements of a tensor, and how to run over it.
type region struct {
	slots  []int
	lo, n  []int64
	stride []int64 // of the tensor
	total  int64
}

// region is the box of spans, which has to be all of v.
func (c *compiler) region(free []ir.Span, v *values, name string, pos diag.Pos) (*region, error) {
	r := &region{total: 1}
	for d, s := range free {
		lo, err := c.ev.size(s.Lo)
		if err != nil {
			return nil, err
		}
		hi, err := c.ev.size(s.Hi)
		if err != nil {
			return nil, err
		}
		n := max(hi-lo, 0)
		if v != nil && n != v.shape[d] {
			return nil, diag.Errorf(pos, "ir", "axis %s of %s ranges over %d..%d, but the extent is %d", s.Axis.Name, name, lo, hi, v.shape[d])
		}
		stride := int64(0)
		if v != nil {
			stride = v.stride[d]
		}
		if n > 0 && r.total > MaxElements/n {
			return nil, diag.Errorf(pos, "limit", "%s runs over more than %d elements", name, MaxElements)
		}
		r.add(c.slots[s.Axis], lo, n, stride)
	}
	return r, nil
}

func (r *region) add(slot int, lo, n, stride int64) {
	r.slots, r.lo, r.n, r.stride = append(r.slots, slot), append(r.lo, lo), append(r.n, n), append(r.stride, stride)
	r.total *= n
}

// seek puts f's axes on element i, counted row-major, and returns its offset.
func (r *region) seek(f *frame, i int64) int64 {
	at := int64(0)
	for d := len(r.slots) - 1; d >= 0; d-- {
		x := i % r.n[d]
		i /= r.n[d]
		f.axis[r.slots[d]] = r.lo[d] + x
		at += x * r.stride[d]
	}
	return at
}

// next goes to the element after; at is the offset of the current one.
func (r *region) next(f *frame, at int64) int64 {
	for d := len(r.slots) - 1; d >= 0; d-- {
		slot := r.slots[d]
		f.axis[slot]++
		at += r.stride[d]
		if f.axis[slot] < r.lo[d]+r.n[d] {
			return at
		}
		f.axis[slot] = r.lo[d]
		at -= r.n[d] * r.stride[d]
	}
	return at
}

// grain is the work, in operations or so, that is worth a goroutine.
const grain = 1 << 14

// each calls body for all elements of r, from several goroutines if cost, the work for one, makes that worthwhile. frames are
// those of the goroutines, which it makes as it needs them and keeps.
func (ev *evaluator) each(c *compiler, frames *[]*frame, r *region, cost int64, start func(f *frame), body func(f *frame, at int64)) {
	if r.total == 0 {
		return
	}
	chunk := max(1, grain/cost, min(r.total/int64(8*ev.workers), math.MaxInt32))
	workers := int(min(int64(ev.workers), (r.total+chunk-1)/chunk))
	for len(*frames) < workers {
		*frames = append(*frames, c.frame())
	}
	var taken atomic.Int64
	work := func(f *frame) {
		start(f)
		for {
			from := taken.Add(chunk) - chunk
			if from >= r.total || ev.stopped.Load() != nil {
				return
			}
			ev.part(f, r, from, min(from+chunk, r.total), body)
		}
	}
	if workers == 1 {
		work((*frames)[0])
		return
	}
	var wg sync.WaitGroup
	for _, f := range (*frames)[:workers] {
		wg.Go(func() { work(f) })
	}
	wg.Wait()
}

func (ev *evaluator) part(f *frame, r *region, from, to int64, body func(f *frame, at int64)) {
	at := r.seek(f, from)
	for i := from; i < to; i++ {
		f.fault = fault{}
		body(f, at)
		if ev.stopped.Load() != nil {
			return
		}
		at = r.next(f, at)
	}
}

func noStart(*frame) {}

// put stores the element that k computes.
func (v *values) put(k code) func(f *frame, at int64) {
	store := func(f *frame, at int64) { v.f[at] = k.f(f) }
	if k.i != nil {
		store = func(f *frame, at int64) { v.i[at] = k.i(f) }
	}
	return func(f *frame, at int64) {
		store(f, at)
		if v.err != nil {
			v.err[at] = f.err
		}
		if f.fault.at != nil {
			v.spoil(at, f.fault)
		}
	}
}

func (ev *evaluator) evalMap(m *Map) error {
	out, err := ev.allocate(m.Out)
	if err != nil {
		return err
	}
	c := ev.compiler(m.Free, m.Body)
	r, err := c.region(m.Free, out, m.Out.Name, m.Pos)
	if err != nil {
		return err
	}
	c.enter(m.Free)
	k := c.code(m.Body)
	var frames []*frame
	ev.each(c, &frames, r, c.cost(m.Body), noStart, out.put(k))
	return nil
}

func (ev *evaluator) evalRecur(r *Recur) error {
	st := &steps{of: map[*Tensor]*stepOut{}, before: -1}
	if r.Back {
		st.before = 1
	}
	for k, t := range r.Tensors {
		if _, err := ev.allocate(t); err != nil {
			return err
		}
		st.of[t] = &stepOut{dim: r.Step[k]}
		if r.From[k] != nil {
			st.of[t].from = ev.store[r.From[k]]
		}
	}
	var first, last int64
	run := make([]func(step int64), len(r.Tensors))
	for k, t := range r.Tensors {
		out := ev.store[t]
		c := ev.compiler(r.Free[k], r.Bodies[k])
		c.step = st
		whole, err := c.region(r.Free[k], out, t.Name, r.Pos)
		if err != nil {
			return err
		}
		c.enter(r.Free[k])
		body := out.put(c.code(r.Bodies[k]))
		s := r.Step[k]
		first, last = whole.lo[s], whole.lo[s]+whole.n[s]-1
		run[k] = ev.stepper(c, whole, s, out, c.cost(r.Bodies[k]), body)
	}
	if r.Back {
		for t := last; t >= first; t-- {
			runAll(run, t)
		}
		return nil
	}
	for t := first; t <= last; t++ {
		runAll(run, t)
	}
	return nil
}

func runAll(run []func(int64), step int64) {
	for _, f := range run {
		f(step)
	}
}

// stepper computes the elements of one step.
func (ev *evaluator) stepper(c *compiler, whole *region, s int, out *values, cost int64, body func(f *frame, at int64)) func(int64) {
	r := &region{total: 1}
	for d := range whole.slots {
		if d != s {
			r.add(whole.slots[d], whole.lo[d], whole.n[d], whole.stride[d])
		}
	}
	var frames []*frame
	slot, lo, stride := whole.slots[s], whole.lo[s], out.stride[s]
	return func(step int64) {
		base := (step - lo) * stride
		start := func(f *frame) { f.axis[slot] = step }
		ev.each(c, &frames, r, cost, start, func(f *frame, at int64) { body(f, base+at) })
	}
}

// evalCheck fails with the greatest fault, at the first element that has it.
func (ev *evaluator) evalCheck(ch *Check) error {
	c := ev.compiler(ch.Free, ch.Fault)
	r, err := c.region(ch.Free, nil, ch.Of.Name, ch.Pos)
	if err != nil {
		return err
	}
	r.stride = rowMajor(r.n)
	c.enter(ch.Free)
	value := c.int(ch.Fault)
	var frames []*frame
	ev.each(c, &frames, r, c.cost(ch.Fault), noStart, func(f *frame, at int64) {
		x := uint64(value(f))
		if f.fault.at != nil {
			x = math.MaxUint64
		}
		if w := &f.worst; x > w.value || x != 0 && x == w.value && at < w.at {
			*w = worst{x, at, f.fault}
		}
	})
	var all worst
	for _, f := range frames {
		if w := f.worst; w.value > all.value || w.value == all.value && w.at < all.at {
			all = w
		}
	}
	if all.value == 0 {
		return nil
	}
	bad := all.fault
	if bad.at == nil {
		bad = ev.site(int64(all.value))
	}
	return bad.diag(ch, ch.Of.Name+element(ch.Free, r.n, all.at))
}

// worst is the greatest value of a Check, and the first element that has it.
type worst struct {
	value uint64
	at    int64
	fault fault // of computing the value itself
}

func rowMajor(n []int64) []int64 {
	stride, all := make([]int64, len(n)), int64(1)
	for d := len(n) - 1; d >= 0; d-- {
		stride[d] = all
		all *= n[d]
	}
	return stride
}

// site is the fault that a value of a Check stands for.
func (ev *evaluator) site(value int64) fault {
	k := value>>48 - 1
	if k < 0 || k >= int64(len(ev.prog.Sites)) {
		return fault{at: &place{kind: "a fault without a place", text: "the program"}}
	}
	s := ev.prog.Sites[k]
	at := &place{text: s.Text, tensor: s.Tensor, dim: s.Dim, pos: s.Pos}
	if s.Kind != "index" {
		at.kind = s.Kind
	}
	for t, v := range ev.store {
		if t.Name == s.Tensor && s.Dim >= 0 && s.Dim < len(v.shape) {
			at.extent = v.shape[s.Dim]
		}
	}
	return fault{at, value << 16 >> 16}
}

// cost estimates the operations that one element takes.
func (c *compiler) cost(e *ir.Expr) int64 {
	const enough = 1 << 30
	memo := map[*ir.Expr]int64{}
	var visit func(e *ir.Expr) int64
	visit = func(e *ir.Expr) int64 {
		if e == nil {
			return 0
		}
		if n, ok := memo[e]; ok {
			return min(n, 2)
		}
		n := int64(1)
		for _, a := range children(e) {
			n += visit(a)
		}
		if r, ok := e.Ref.(*Reduction); ok {
			for _, s := range r.Over {
				trips := int64(8)
				if a := c.axisRange(s.Axis); a.ok {
					trips = max(a.hi-a.lo+1, 1)
				}
				n = min(n*min(trips, enough), enough)
			}
		}
		memo[e] = min(n, enough)
		return memo[e]
	}
	return max(visit(e), 1)
}
