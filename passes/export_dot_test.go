package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tile"
)

// PlaceDots gives the results of a kernel's dots their layouts and its operands, which are in shared memory, swizzles. It returns
// the number of conflicts that are left.
func PlaceDots(k *tile.Kernel) (conflicts int) {
	layouts := map[string]*ir.Layout{}
	var dots []*tile.Dot
	var walk func([]tile.Stmt)
	walk = func(list []tile.Stmt) {
		for _, s := range list {
			if d, ok := s.(*tile.Dot); ok {
				dots = append(dots, d)
				l := dotLayout(d, k)
				l.Name = "out"
				layouts[axesKey(d.Out.Axes)] = l
			}
			for _, inner := range nested(s) {
				walk(inner)
			}
		}
	}
	walk(k.Body)
	place := func(v *tile.Value) {
		if l := layouts[axesKey(v.Axes)]; l != nil {
			v.Space, v.Layout = tile.Reg, l
		}
	}
	walk = func(list []tile.Stmt) {
		for _, s := range list {
			if l, ok := s.(*tile.Loop); ok {
				for _, c := range l.Carry {
					place(c.In)
				}
			}
			for _, v := range tile.Defined(s) {
				place(v)
			}
			for _, inner := range nested(s) {
				walk(inner)
			}
		}
	}
	walk(k.Body)
	b := &block{threads: &threads{in: k}}
	for _, d := range dots {
		for _, v := range []*tile.Value{d.A, d.B} {
			extents := make([]int, len(v.Axes))
			for i, a := range v.Axes {
				n, _ := a.Extent.IntValue()
				extents[i] = int(n)
			}
			m, err := ir.RowMajor(axisNames(v.Axes), extents)
			if err != nil {
				panic(err)
			}
			bytes := v.Type.Bytes()
			n := min(vectorBytes/bytes, extents[len(extents)-1])
			writes := ir.Access{Layout: b.copyLayout(v, n), Width: n * bytes}
			s, left := ir.SolveSwizzle(m, bytes, append(dotReads(d, k, v), writes))
			v.Swizzle = s
			conflicts += left
		}
	}
	return conflicts
}
