package passes

import (
	"cmp"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
)

// Space is what may be chosen for a block kernel on a device (nil: any); nil where nothing is to be chosen.
func Space(k *tile.Kernel, d *device.Device) *schedule.Space {
	if k.Threads == 0 {
		return nil
	}
	if _, rows := k.Sched.Get("rows"); rows {
		return spaceOfRows(k, d)
	}
	if _, each := k.Sched.Get("each"); each {
		return eachSpace(d, eachChoiceOf(k.Sched))
	}
	var shapes []dotShape
	var visit func(list []tile.Stmt)
	visit = func(list []tile.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *tile.Loop:
				visit(s.Body)
			case *tile.Dot:
				shapes = append(shapes, dotShape{s.A.Type, s.B.Type, s.Out.Type})
			}
		}
	}
	visit(k.Body)
	if len(shapes) == 0 {
		return nil
	}
	return contractionSpace(shapes, dotSizes{}, d)
}

// dotShape is what a dot multiplies, and in what it adds.
type dotShape struct{ a, b, acc ir.Type }

func (c *contraction) space(d *device.Device) *schedule.Space {
	return contractionSpace(c.shapes(), c.sizes(), d)
}

func (c *contraction) shapes() []dotShape {
	out := make([]dotShape, len(c.sums))
	for i, s := range c.sums {
		out[i] = dotShape{s.a.Type, s.b.Type, s.expr.Ref.(*tensor.Reduction).Acc}
	}
	return out
}

// limits are those of a device that matter to a block.
type limits struct {
	name                       string
	threads, shared, perThread int
	registers                  int            // of a block
	device                     *device.Device // nil: any
}

func limitsOf(d *device.Device) limits {
	if d == nil || d.BlockThreads == 0 || d.BlockShared == 0 || d.RegsPerThread == 0 || d.Registers == 0 {
		return limits{"every device", 1024, 48 << 10, 255, 64 << 10, nil}
	}
	return limits{d.Name, d.BlockThreads, d.BlockShared, d.RegsPerThread, cmp.Or(d.Registers, 64<<10), d}
}

func powers(from, to int) (out []int) {
	for n := from; n <= to; n *= 2 {
		out = append(out, n)
	}
	return out
}
