package passes

import (
	"slices"
	"strconv"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/tile"
)

// tileForm says which bits of the hardware select the row and the column of an element, low bit first.
type tileForm struct {
	rows, cols int // of the tile
	bits       [3][]formBit
	taken      [2]int // rows and columns that the bits so far select
}

// formBit selects a row (0) or a column (1).
type formBit struct {
	along int
	step  int
}

// The axes of a form.
const (
	alongRows = iota
	alongCols
)

// take lets the next bits of a place select n rows or columns.
func (f *tileForm) take(place, along, n int) {
	for end := f.taken[along] * n; f.taken[along] < end; f.taken[along] *= 2 {
		f.bits[place] = append(f.bits[place], formBit{along, f.taken[along]})
	}
}

func newForm(rows, cols int) *tileForm { return &tileForm{rows: rows, cols: cols, taken: [2]int{1, 1}} }

// rest gives what no thread has yet to registers, columns before rows.
func (f *tileForm) rest() *tileForm {
	f.take(ir.RegBits, alongCols, f.cols/f.taken[alongCols])
	f.take(ir.RegBits, alongRows, f.rows/f.taken[alongRows])
	return f
}

// form is how the threads of a block share a tile of a reduction: vectors along the axis on which memory is contiguous, beside
// them the lanes along it and then along the other axis, then warps.
func (c rowChoice) form() *tileForm {
	f := newForm(c.rows, c.cols)
	if c.across == 1 {
		f.take(ir.RegBits, alongRows, c.vec)
		f.take(ir.LaneBits, alongRows, 32/c.lanes)
		f.take(ir.LaneBits, alongCols, c.lanes)
	} else {
		f.take(ir.RegBits, alongCols, c.vec)
		f.take(ir.LaneBits, alongCols, c.lanes)
		f.take(ir.LaneBits, alongRows, 32/c.lanes)
	}
	f.take(ir.WarpBits, alongCols, c.warpsR)
	f.take(ir.WarpBits, alongRows, c.warps)
	return f.rest()
}

// form is how the threads of a block share a run of elements.
func (c eachChoice) form() *tileForm {
	f := newForm(c.size(), 1)
	f.take(ir.RegBits, alongRows, c.vec)
	f.take(ir.LaneBits, alongRows, 32)
	f.take(ir.WarpBits, alongRows, c.warps)
	return f.rest()
}

// layout is the part of a form for some axes, of which the kernel's first is that of the rows; threads that differ along the other
// axis only have the same.
func (f *tileForm) layout(rows *ir.Axis, axes []*ir.Axis) *ir.Layout {
	l := &ir.Layout{Axes: axisNames(axes)}
	for place, list := range f.bits {
		for _, b := range list {
			at := slices.IndexFunc(axes, func(a *ir.Axis) bool { return (a == rows) == (b.along == alongRows) })
			bit := ir.LayoutBit{To: make([]uint32, len(axes))}
			if at < 0 {
				if place == ir.RegBits {
					continue
				}
				bit.Free = '='
			} else {
				bit.To[at] = uint32(b.step)
			}
			l.Bits[place] = append(l.Bits[place], bit)
		}
	}
	return l
}

// formOfKernel is the form that the schedule of a reduction or an elementwise kernel says; nil for other kernels.
func formOfKernel(k *tile.Kernel) *tileForm {
	if _, rows := k.Sched.Get("rows"); rows {
		return rowChoiceOf(k.Sched).form()
	}
	if _, each := k.Sched.Get("each"); each {
		return eachChoiceOf(k.Sched).form()
	}
	return nil
}

// placeRows gives every tile of a reduction or an elementwise kernel its layout. It returns false for other kernels.
func placeRows(k *tile.Kernel) (bool, error) {
	form := formOfKernel(k)
	if form == nil || len(k.Axes) == 0 {
		return false, nil
	}
	for i, a := range k.Axes {
		if n := [2]int{form.rows, form.cols}[min(i, 1)]; !a.Extent.IsInt(int64(n)) {
			return false, diag.Errorf(k.Body[0].Place(), "schedule", "the axis %s of %s does not have the %d elements of its schedule", a.Name, k.Name, n)
		}
	}
	made := map[string]*ir.Layout{}
	eachValue(k.Body, func(v *tile.Value) {
		v.Space = tile.Reg
		if len(v.Axes) == 0 {
			return
		}
		key := ""
		for _, a := range v.Axes {
			key += " " + a.Name
		}
		if made[key] == nil {
			made[key] = form.layout(k.Axes[0], v.Axes)
			made[key].Name = "form"
			if n := len(made); n > 1 {
				made[key].Name += strconv.Itoa(n)
			}
		}
		v.Layout = made[key]
	})
	return true, nil
}

// eachValue calls f for every value of statements.
func eachValue(list []tile.Stmt, f func(*tile.Value)) {
	for _, s := range list {
		switch s := s.(type) {
		case *tile.Loop:
			for _, c := range s.Carry {
				f(c.In)
			}
			eachValue(s.Body, f)
		case *tile.If:
			eachValue(s.Then, f)
			eachValue(s.Else, f)
		}
		for _, v := range tile.Defined(s) {
			f(v)
		}
	}
}
