package tensor

import (
	"math"

	"github.com/gkc-lang/gkc/ir"
)

// scatterer is the code of a scatter. Contributions are combined one after the other, so that sums do not depend on the number
// of processors.
type scatterer struct {
	d     *Scatter
	loops []loop
	at    *address
	guard fn[int64] // nil: all contribute
	body  code
	float func(a, b float64) float64
	int   func(a, b int64) int64
	f     []float64 // accumulators
	i     []int64
	grow  []growth // when bounds are asked for
	bound func(f *frame, g *growth, x float64)
	fault fault // of any contribution: it spoils all elements
	any   bool  // which elements receive something depends on inexact values
}

func (ev *evaluator) evalScatter(d *Scatter) error {
	out, err := ev.allocate(d.Out)
	if err != nil {
		return err
	}
	s := &scatterer{d: d}
	if err := ev.lend(out.n, d.Out.Name, d.Pos); err != nil {
		return err
	}
	if ev.bound() {
		if err := ev.lend(4*out.n, d.Out.Name, d.Pos); err != nil {
			return err
		}
		s.grow = make([]growth, out.n)
		s.bound = grower(d.Op, d.Acc)
	}
	s.start(out, ev.store[d.Init])
	c := ev.compiler(d.Free, append(append([]*ir.Expr{}, d.At...), d.Guard, d.Body)...)
	for _, span := range d.Free {
		c.collect(span.Lo)
		c.collect(span.Hi)
		c.depends(span.Lo)
		c.depends(span.Hi)
	}
	s.loops = c.loops(d.Free, d.Pos)
	if d.Guard != nil {
		s.guard = c.int(d.Guard)
	}
	s.at = c.address(out, d.Edge.Kind, d.At)
	s.body = c.code(d.Body)
	s.float, s.int = combiner(d.Op, d.Acc)
	s.nest(c.frame(), 0)
	s.finish(out)
	return nil
}

// start sets the accumulators.
func (s *scatterer) start(out, init *values) {
	identity := s.d.Op.Identity(s.d.Acc)
	if s.d.Acc.IsFloat() {
		s.f = make([]float64, out.n)
		for k := range s.f {
			s.f[k] = identity.Float()
		}
	} else {
		s.i = make([]int64, out.n)
		for k := range s.i {
			s.i[k] = identity.Int()
		}
	}
	if init == nil {
		return
	}
	for k := range out.n {
		switch {
		case s.f != nil && init.f != nil:
			s.f[k] = init.f[k]
		case s.f != nil:
			s.f[k] = float64(init.i[k])
		case init.i != nil:
			s.i[k] = init.i[k]
		default:
			s.i[k] = ir.Saturate(s.d.Acc.Elem, init.f[k])
		}
		if s.grow != nil && s.f != nil {
			s.grow[k] = growth{absolute: math.Abs(s.f[k]), n: 1, product: s.f[k]}
		}
	}
}

func (s *scatterer) nest(f *frame, depth int) {
	if depth == len(s.loops) {
		s.contribute(f)
		return
	}
	l := &s.loops[depth]
	f.fault = fault{}
	lo, hi, uncertain := l.ends(f)
	s.note(f, uncertain)
	for x := lo; x < hi && f.ev.stopped.Load() == nil && s.fault.at == nil; x++ {
		f.axis[l.slot] = x
		s.nest(f, depth+1)
	}
}

// note takes the fault of what was computed last.
func (s *scatterer) note(f *frame, uncertain bool) bool {
	s.any = s.any || uncertain
	if f.fault.at != nil && s.fault.at == nil {
		s.fault = f.fault
	}
	return f.fault.at == nil
}

// contribute combines one element. What falls outside is dropped before it is computed.
func (s *scatterer) contribute(f *frame) {
	f.fault = fault{}
	if s.guard != nil {
		in := s.guard(f)
		if !s.note(f, f.err != 0) || in == 0 {
			return
		}
	}
	at, inside := s.at.at(f)
	if !s.note(f, f.err != 0) || !inside {
		return
	}
	if s.f != nil {
		x := s.body.f(f)
		if s.grow != nil {
			s.bound(f, &s.grow[at], x)
		}
		s.f[at] = s.float(s.f[at], x)
	} else {
		x := s.body.i(f)
		if s.grow != nil {
			s.bound(f, &s.grow[at], float64(x))
		}
		s.i[at] = s.int(s.i[at], x)
	}
	s.note(f, false)
}

// finish converts the accumulators to the elements' type.
func (s *scatterer) finish(out *values) {
	if s.fault.at != nil {
		for k := range out.n {
			out.spoil(k, s.fault)
		}
		return
	}
	acc := code{}
	var here int64
	if s.f != nil {
		acc.f = func(f *frame) float64 { return s.f[here] }
	} else {
		acc.i = func(f *frame) int64 { return s.i[here] }
	}
	final := convertPlain(ir.OpCast, s.d.Acc, out.of.Type, acc)
	if s.grow != nil {
		final = boundConvert(ir.OpCast, s.d.Acc, out.of.Type, s.withBound(acc, &here))
	}
	put := out.put(final)
	f := &frame{}
	for here = range out.n {
		put(f, here)
	}
}

// withBound gives the accumulators' values with the bounds that grew.
func (s *scatterer) withBound(acc code, here *int64) code {
	bound := func() float64 {
		if s.any {
			return anything
		}
		return s.grow[*here].total()
	}
	if acc.f != nil {
		x := acc.f
		return code{f: func(f *frame) float64 { f.err = bound(); return x(f) }}
	}
	x := acc.i
	return code{i: func(f *frame) int64 { f.err = bound(); return x(f) }}
}
