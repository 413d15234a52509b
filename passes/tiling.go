package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// makeTiles is make_loops with block kernels: a definition that contracts tensors becomes one whose blocks compute tiles of the
// result. What it cannot cut so becomes the kernel that make_loops makes.
func makeTiles(u *Unit) error {
	m := newModuleMaker(u.Tensor)
	m.tiles = &tiling{unit: u}
	m.program(u.Tensor)
	u.Tile = m.out
	return m.tiles.err
}

// tiling is how the definitions of a program are cut.
type tiling struct {
	unit *Unit
	err  error // what is wrong with the schedule that the user asks for
}

// tiled makes a block kernel of a definition, if it can be one.
func (m *moduleMaker) tiled(d *tensor.Map) bool {
	if m.tiles == nil {
		return false
	}
	c := contractionOf(d)
	if c == nil {
		return false
	}
	space := contractionSpace(c.shapes(), m.tiles.unit.Device)
	if err := space.Legal(m.tiles.unit.Sched); err != nil {
		if m.tiles.err == nil {
			m.tiles.err = diag.Errorf(d.Pos, "limit", "the schedule of %s: %v", d.Out.Name, err)
		}
		return false
	}
	m.contraction(d, c, space.Complete(m.tiles.unit.Sched))
	return true
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
