package sim

import (
	"math"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
)

// tensorMap is a map with the values of a launch. Innermost dimension first.
type tensorMap struct {
	*simt.TensorMap
	global  *globalMemory
	dims    []int64
	strides []int64 // bytes; the first is the size of an element
	size    int     // of an element
	row     int     // bytes of a row of the box
	rows    int
	fill    []byte // 16 bytes
}

// bindMaps evaluates the tensor maps of the kernel and checks what the copy engine asks of them.
func (l *launch) bindMaps(h *host) error {
	l.maps = map[*simt.TensorMap]*tensorMap{}
	for _, m := range l.kernel.Maps {
		t, err := l.bindMap(h, m)
		if err != nil {
			return err
		}
		l.maps[m] = t
	}
	return nil
}

func (l *launch) bindMap(h *host, m *simt.TensorMap) (*tensorMap, error) {
	bad := func(format string, args ...any) error {
		return diag.Errorf(diag.Pos{}, "runtime", "tensor map "+m.Name+": "+format, args...)
	}
	g := l.memory[m.Of]
	rank := len(m.Dims)
	switch {
	case g == nil:
		return nil, bad("its array is not one of the module")
	case rank < 1 || rank > 5 || len(m.Strides) != rank-1 || len(m.Box) != rank:
		return nil, bad("%d dimensions, %d strides and a box of %d", rank, len(m.Strides), len(m.Box))
	}
	t := &tensorMap{TensorMap: m, global: g, size: g.size, strides: []int64{int64(g.size)}, rows: 1, fill: make([]byte, 16)}
	for _, e := range m.Dims {
		v, err := h.eval(e)
		if err != nil {
			return nil, err
		}
		if v.Int() < 1 {
			return nil, bad("a dimension of %d", v.Int())
		}
		t.dims = append(t.dims, v.Int())
	}
	for _, e := range m.Strides {
		v, err := h.eval(e)
		if err != nil {
			return nil, err
		}
		if v.Int()%16 != 0 || v.Int() < 0 {
			return nil, bad("a stride of %d bytes, which is no multiple of 16", v.Int())
		}
		t.strides = append(t.strides, v.Int())
	}
	for i, n := range m.Box {
		if n < 1 || n > 256 {
			return nil, bad("a box of %d", n)
		}
		if i > 0 {
			t.rows *= n
		}
	}
	t.row = m.Box[0] * t.size
	switch {
	case t.row%16 != 0:
		return nil, bad("rows of %d bytes, which is no multiple of 16", t.row)
	case m.Swizzle != 0 && t.row > m.Swizzle:
		return nil, bad("rows of %d bytes in a swizzle of %d", t.row, m.Swizzle)
	}
	if m.FillNaN && m.Of.Type.IsFloat() {
		for i := 0; i < 16; i += t.size {
			formatOf(m.Of.Type).write(t.fill[i:], ir.FloatConst(math.NaN()))
		}
	}
	return t, nil
}

// swizzled is where a 16-byte piece lies that the row-major order puts at addr.
func swizzled(addr, span int) int {
	switch span {
	case 128:
		return addr ^ addr>>7&7<<4
	case 64:
		return addr ^ addr>>7&3<<4
	case 32:
		return addr ^ addr>>7&1<<4
	}
	return addr
}

// eachRow calls f for every row of a box with its number and the byte offset of its first element in the array; inside is false
// where the row lies outside the tensor. The first element's own coordinate may be outside in any case.
func (t *tensorMap) eachRow(coords []int64, f func(row int, off int64, inside bool)) {
	for r := range t.rows {
		off, inside, rest := coords[0]*t.strides[0], true, r
		for d := 1; d < len(t.dims); d++ {
			x := coords[d] + int64(rest%t.Box[d])
			rest /= t.Box[d]
			inside = inside && x >= 0 && x < t.dims[d]
			off += x * t.strides[d]
		}
		f(r, off, inside)
	}
}

// columns is the range of a row of the box that lies inside the tensor.
func (t *tensorMap) columns(c0 int64) (from, to int64) {
	return min(max(0, -c0), int64(t.Box[0])), max(0, min(int64(t.Box[0]), t.dims[0]-c0))
}

// charge counts and checks the array's side of a box that begins at coords.
func (t *tensorMap) charge(w *warp, coords []int64, write bool) bool {
	from, to := t.columns(coords[0])
	ok := true
	t.eachRow(coords, func(_ int, off int64, inside bool) {
		if !inside || from >= to || !ok {
			return
		}
		start, n := off+from*int64(t.size), (to-from)*int64(t.size)
		if start < 0 || start+n > int64(len(t.global.data)) {
			w.report("bounds", t.Name, "map %s reaches byte %d of %s, which has %d", t.Name, start+n, t.global.Name, len(t.global.data))
			ok = false
			return
		}
		w.traffic(t.global, n, write, start)
	})
	return ok
}

// in copies a box to base of dst.
func (t *tensorMap) in(coords []int64, dst []byte, base int) {
	from, to := t.columns(coords[0])
	t.eachRow(coords, func(r int, off int64, inside bool) {
		for p := 0; p < t.row; p += 16 {
			at := swizzled(base+r*t.row+p, t.Swizzle)
			piece := dst[at : at+16]
			copy(piece, t.fill)
			if !inside {
				continue
			}
			first := int64(p / t.size)
			lo, hi := max(first, from), min(first+int64(16/t.size), to)
			if lo < hi {
				copy(piece[(lo-first)*int64(t.size):], t.global.data[off+lo*int64(t.size):off+hi*int64(t.size)])
			}
		}
	})
}

// out copies, or combines, a box from base of src to the array.
func (t *tensorMap) out(coords []int64, src []byte, base int, op *ir.Monoid) {
	from, to := t.columns(coords[0])
	t.eachRow(coords, func(r int, off int64, inside bool) {
		if !inside {
			return
		}
		for p := 0; p < t.row; p += 16 {
			at := swizzled(base+r*t.row+p, t.Swizzle)
			first := int64(p / t.size)
			lo, hi := max(first, from), min(first+int64(16/t.size), to)
			if lo < hi {
				combineBytes(op, t.global.Type, t.global.data[off+lo*int64(t.size):off+hi*int64(t.size)], src[at+int(lo-first)*t.size:at+int(hi-first)*t.size])
			}
		}
	})
}

// box compiles the map's end of a copy.
func (c *compiler) box(p simt.Place) (*tensorMap, []operand, bool) {
	t := c.l.maps[p.Map]
	if t == nil || len(p.Coords) != len(t.dims) {
		c.refuse("a copy through a map with the wrong number of coordinates")
		return nil, nil, false
	}
	coords := make([]operand, len(p.Coords))
	for i, e := range p.Coords {
		coords[i] = c.expr(e)
	}
	return t, coords, c.problem == nil
}

func coordsOf(w *warp, list []operand, lane int) []int64 {
	out := make([]int64, len(list))
	for i := range list {
		out[i] = list[i].of(w)[lane].Int()
	}
	return out
}

const boxAlign = 128

func (c *compiler) boxIn(s *simt.Copy) {
	t, coords, ok1 := c.box(s.From)
	to, ok2 := c.end(s, s.To)
	done, peers, ok3 := c.arrival(s)
	if !ok1 || !ok2 || !ok3 {
		return
	}
	n := t.row * t.rows
	c.emit(ir.CostShared, func(w *warp) {
		for m := w.mask; m != 0; m &= m - 1 {
			lane := lowest(m)
			at := coordsOf(w, coords, lane)
			off, ok := to.sharedRun(w, lane, int64(n), boxAlign)
			if !ok || !t.charge(w, at, false) {
				continue
			}
			w.receivers(&done, &peers, s.Peers != nil, lane, func(b *block, bar *barrier) {
				w.send(b, bar, to.buf.Name, off, n, func(dst []byte) { t.in(at, dst, off) })
			})
		}
	})
}

func (c *compiler) boxOut(s *simt.Copy) {
	from, ok1 := c.end(s, s.From)
	t, coords, ok2 := c.box(s.To)
	if !ok1 || !ok2 || !c.writable(t.global) {
		return
	}
	n := t.row * t.rows
	c.emit(ir.CostShared, func(w *warp) {
		for m := w.mask; m != 0; m &= m - 1 {
			lane := lowest(m)
			at := coordsOf(w, coords, lane)
			off, ok := from.sharedRun(w, lane, int64(n), boxAlign)
			if !ok || !t.charge(w, at, true) {
				continue
			}
			w.fetchOut(from.buf.Name, off, n, lane, func(data []byte) { t.out(at, data, off, s.Op) })
		}
	})
}
