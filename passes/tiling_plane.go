package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// plane is an elementwise definition whose blocks compute rectangles: columns are the last axis, along which the results lie one
// behind the other, rows all others. That is for what lies one behind the other along another axis, and for places in tensors
// that would be found by dividing by sizes that are not known.
type plane struct {
	rows, cols fused
	turned     bool // much of what is loaded lies one behind the other along the rows
	shape      rowShape
}

// partTurned is the part of the loaded bytes from which on it matters where they lie.
const partTurned = 0.25

// plane decides whether a definition is computed in rectangles; nil: it is not.
func (a *accesses) plane(d *tensor.Map) *plane {
	if len(d.Free) < 2 {
		return nil
	}
	last := len(d.Free) - 1
	p := &plane{rows: slices.Clone(fused(d.Free[:last])), cols: fused(d.Free[last:])}
	along := map[*ir.Axis]float64{}
	all, divides := 0.0, false
	v := vectors{a.vector(d.Out, stored(d), p.cols): a.weight(ir.NewExpr(ir.OpRead, d.Out.Type, tensor.Read{Of: d.Out}, d.Pos, stored(d)...), nil)}
	for _, x := range looked(d.Body) {
		w := a.weight(x, nil)
		all += w
		divides = divides || a.divides(x)
		for _, s := range d.Free {
			if follows(x.Args, fused{s}) {
				along[s.Axis] += w
			}
		}
		if follows(x.Args, p.cols) {
			v[a.vector(tensorOf(x), x.Args, p.cols)] += w
		}
	}
	best := 0
	for i, s := range p.rows {
		if along[s.Axis] >= along[p.rows[best].Axis] {
			best = i
		}
	}
	if p.turned = along[p.rows[best].Axis] > partTurned*all; p.turned {
		p.rows = append(slices.Delete(p.rows, best, best+1), d.Free[best])
	} else if !divides {
		return nil
	}
	p.shape = rowShape{rows: a.points(p.rows), cols: a.points(p.cols), taken: taken(d.Body)}
	p.shape.vec = min(v.most(), p.shape.taken)
	return p
}

// divides reports whether the place of an element would be found by dividing by a size that is not known, were all axes one.
func (a *accesses) divides(x *ir.Expr) bool {
	places := map[ir.Ref]*ir.Expr{}
	for i, p := range a.free.places(ir.Name(&ir.Axis{Name: "n"})) {
		places[a.free[i].Axis] = ir.Add(p, a.free[i].Lo)
	}
	moved := make([]*ir.Expr, len(x.Args))
	for i, y := range x.Args {
		moved[i] = ir.Substitute(y, places)
	}
	_, moved = joined(tensorOf(x).Extents, moved)
	found := false
	for _, y := range moved {
		ir.Walk(y, func(z *ir.Expr) {
			found = found || (z.Op == ir.OpDiv || z.Op == ir.OpRem) && !z.Args[1].IsConst()
		})
	}
	return found
}

// kernel makes a kernel whose blocks compute rectangles:
//
//	def y[i, j]: f32 = x[j, i]
//
// becomes
//
//	axis ri: 32
//	axis ci: 32
//	grid rm in 0..(R + 31) / 32, cm in 0..(C + 31) / 32 {
//	  x[ri, ci]: f32 = load x[cm * 32 + ci, rm * 32 + ri] where … else 0.0
//	  store[ri, ci] y[rm * 32 + ri, cm * 32 + ci] <- x where …
//	}
func (p *plane) kernel(m *moduleMaker, d *tensor.Map, sched schedule.Choice) {
	c := rowChoiceOf(sched)
	b := m.block(d.Out.Name, d, sched, c.threads(), []*ir.Expr{d.Body})
	b.inOrder = true
	row, col := b.cut("r", c.rows, p.rows), b.cut("c", c.cols, p.cols)
	b.across(row)
	b.across(col)
	b.finish(row.at, col.at)
}

// space: the lanes of a warp cover what memory moves at least along both axes, where both matter.
func (p *plane) space(d *device.Device) *schedule.Space {
	s := p.shape
	c := rowChoice{vec: s.vec, lanes: min(32, power(ceilDiv(s.cols, s.vec))), warps: warpsOfBlock, warpsR: 1}
	if p.turned {
		c.vec, c.lanes = 1, min(8, power(s.cols))
	}
	for c.warps > 1 && c.leastRows() >= 2*s.rows {
		c.warps /= 2
	}
	c.rows, c.cols = c.least()
	for taken := c.vec; taken < min(8, s.taken) && c.cols < s.cols && s.rows*s.cols >= 2*c.rows*c.cols*smsOf(d)*warpsOfSM/c.warps; taken *= 2 {
		c.cols *= 2
	}
	return rowSpace(planeBytes, d, c)
}

// planeBytes is taken for what a thread holds of one element.
const planeBytes = 8
