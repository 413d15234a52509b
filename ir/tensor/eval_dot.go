package tensor

import "github.com/gkc-lang/gkc/ir"

// stream is a float read whose place moves by a fixed stride along an axis.
type stream struct {
	at     *address
	stride int64
}

// streamAlong is the read as a stream along an axis; ok is false where a subscript depends on the axis in another way.
func (a *address) streamAlong(slot int) (s stream, ok bool) {
	for i := range a.others {
		if hasBit(a.others[i].free, slot) {
			return stream{}, false
		}
	}
	s.at = a
	for _, t := range a.axes {
		if t.slot == slot {
			s.stride = t.stride
		}
	}
	return s, true
}

// dot is a sum of products of two streams along the innermost axis, or of one stream and nothing else: most of the time that
// programs take goes into these, so they do without a call for every element.
func (c *compiler) dot(e *ir.Expr, slot int) func(f *frame, lo, hi int64, acc float64) float64 {
	factors := []*ir.Expr{e}
	if e.Op == ir.OpMul {
		factors = e.Args
	}
	var streams []stream
	for _, x := range factors {
		k := c.code(x)
		if k.plain == nil {
			return nil
		}
		s, ok := k.plain.streamAlong(slot)
		if !ok {
			return nil
		}
		streams = append(streams, s)
	}
	a := streams[0]
	if len(streams) == 1 {
		return func(f *frame, lo, hi int64, acc float64) float64 {
			f.axis[slot] = lo
			p, _ := a.at.at(f)
			data := a.at.of.f
			for range hi - lo {
				acc += data[p]
				p += a.stride
			}
			return acc
		}
	}
	b := streams[1]
	return func(f *frame, lo, hi int64, acc float64) float64 {
		f.axis[slot] = lo
		p, _ := a.at.at(f)
		q, _ := b.at.at(f)
		x, y := a.at.of.f, b.at.of.f
		for range hi - lo {
			acc += x[p] * y[q]
			p += a.stride
			q += b.stride
		}
		return acc
	}
}
