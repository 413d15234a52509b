package passes

import (
	"fmt"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// elementwise is a definition whose elements are computed from elements, without a loop.
type elementwise struct {
	all    fused
	points int // about how many there are
	vec    int // that may be taken at once
	taken  int // vectors included
}

// eachOf recognises a definition of several elements without reductions and scans; nil if it is none.
func eachOf(d *tensor.Map, conditions []*ir.Expr) blockForm {
	if len(d.Free) == 0 || !flat(d.Body) {
		return nil
	}
	a := newAccesses(conditions, d.Free)
	defer a.facts.Forget()
	if p := a.plane(d); p != nil {
		return p
	}
	e := &elementwise{all: d.Free, points: a.points(d.Free)}
	v := vectors{a.vector(d.Out, stored(d), d.Free): float64(d.Out.Type.Bytes() * e.points)}
	for _, x := range looked(d.Body) {
		if follows(x.Args, d.Free) {
			v[a.vector(x.Ref.(tensor.Read).Of, x.Args, d.Free)] += a.weight(x, nil)
		}
	}
	e.taken = taken(d.Body)
	e.vec = min(v.most(), e.taken)
	return e
}

// stored are the subscripts of the element that a definition defines.
func stored(d *tensor.Map) []*ir.Expr {
	out := make([]*ir.Expr, len(d.Free))
	for i, s := range d.Free {
		out[i] = ir.Sub(ir.Name(s.Axis), s.Lo)
	}
	return out
}

// kernel makes a kernel whose blocks compute several elements in a row, all axes as one:
//
//	def y[i, j]: f32 = x[i, j] + b[j]
//
// becomes
//
//	axis ei: 512
//	grid em in 0..(R * C + 511) / 512 {
//	  x[ei]: f32 = load x[(em * 512 + ei) / C, (em * 512 + ei) % C] where … else 0.0
//	  b[ei]: f32 = load b[(em * 512 + ei) % C] where … else 0.0
//	  y[ei]: f32 = map x + b
//	  store[ei] y[(em * 512 + ei) / C, (em * 512 + ei) % C] <- y where …
//	}
func (e *elementwise) kernel(m *moduleMaker, d *tensor.Map, sched schedule.Choice) {
	c := eachChoiceOf(sched)
	b := m.block(d.Out.Name, d, sched, 32*c.warps, []*ir.Expr{d.Body})
	b.inOrder = true
	all := b.cut("e", c.size(), e.all)
	b.across(all)
	b.finish(all.at)
}

// eachChoice is the schedule of an elementwise kernel: a thread takes vectors of vec elements, each of them.
type eachChoice struct{ vec, each, warps int }

func eachChoiceOf(c schedule.Choice) eachChoice {
	return eachChoice{c.Of("vec", 1), c.Of("each", 1), c.Of("warps", 1)}
}

func (c eachChoice) size() int { return 32 * c.warps * c.vec * c.each }

// eachSpace are the knobs of an elementwise kernel.
func eachSpace(d *device.Device, c eachChoice) *schedule.Space {
	l := limitsOf(d)
	return &schedule.Space{
		Limit: func(c schedule.Choice) error { return l.each(eachChoiceOf(c)) },
		Knobs: []schedule.Knob{
			{Name: "vec", Values: powers(1, 16), Default: c.vec},
			{Name: "each", Values: powers(1, 16), Default: c.each},
			{Name: "warps", Values: powers(1, 32), Default: c.warps},
		},
	}
}

// each says which limit a choice exceeds.
func (l limits) each(c eachChoice) error {
	if 32*c.warps > l.threads {
		return fmt.Errorf("warps %d need %d threads; a block of %s has %d", c.warps, 32*c.warps, l.name, l.threads)
	}
	if most := l.perThread / 4; c.vec*c.each > most {
		return fmt.Errorf("vec %d, each %d give a thread %d elements; the %d registers of %s hold %d", c.vec, c.each, c.vec*c.each, l.perThread, l.name, most)
	}
	return nil
}

// space: a thread has two vectors or eight elements under way where there are enough for all threads of the device.
func (e *elementwise) space(d *device.Device) *schedule.Space {
	c := eachChoice{vec: e.vec, each: 1, warps: warpsOfBlock}
	for c.each < max(2, 8/c.vec) && 2*c.vec*c.each <= e.taken && e.points >= 2*c.size()*smsOf(d)*warpsOfSM/warpsOfBlock {
		c.each *= 2
	}
	for c.warps > 1 && c.size() >= 2*e.points {
		c.warps /= 2
	}
	return eachSpace(d, c)
}
