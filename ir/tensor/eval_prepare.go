package tensor

import (
	"math"
	"slices"

	"github.com/gkc-lang/gkc/ir"
)

// info is what the compiler knows of an expression before it makes code.
type info struct {
	uses  int      // places where it stands
	size  int      // operations, written out, up to a bound
	free  []uint64 // slots of the axes that its value depends on, as bits
	fault *ir.Expr // the condition under which the operation has no value; nil: it always has one
}

func (c *compiler) prepare(free []ir.Span, exprs []*ir.Expr) {
	for _, s := range free {
		c.bindAxis(s)
	}
	for _, e := range exprs {
		c.collect(e)
	}
	for _, e := range exprs {
		c.depends(e)
	}
}

func (c *compiler) bindAxis(s ir.Span) {
	if _, ok := c.slots[s.Axis]; !ok {
		c.slots[s.Axis] = len(c.slots)
		c.axes = append(c.axes, s.Axis)
	}
	c.binds[s.Axis] = append(c.binds[s.Axis], s)
}

// collect counts uses, and gives every axis a slot.
func (c *compiler) collect(e *ir.Expr) {
	if e == nil {
		return
	}
	if n := c.info[e]; n != nil {
		n.uses++
		return
	}
	n := &info{uses: 1}
	c.info[e] = n
	switch ref := e.Ref.(type) {
	case *Reduction:
		for _, s := range ref.Over {
			c.bindAxis(s)
		}
	case *Scan:
		c.bindAxis(ref.Over)
	}
	for _, a := range children(e) {
		c.collect(a)
	}
	if e.Op.Fault != nil {
		n.fault = e.Op.Fault(e.Args)
		c.collect(n.fault)
	}
}

// depends finds the axes that e depends on, and its size.
func (c *compiler) depends(e *ir.Expr) []uint64 {
	if e == nil {
		return nil
	}
	n := c.info[e]
	if n.size > 0 {
		return n.free
	}
	n.size = 1
	if a, ok := e.Ref.(*ir.Axis); ok {
		n.free = withBit(nil, c.slots[a])
		return n.free
	}
	kids := children(e)
	if n.fault != nil {
		kids = append(slices.Clone(kids), n.fault)
	}
	for _, a := range kids {
		n.free = union(n.free, c.depends(a))
		if a != nil && a != n.fault {
			n.size = min(n.size+c.info[a].size, 1<<30)
		}
	}
	switch ref := e.Ref.(type) {
	case *Reduction:
		n.free = slices.Clone(n.free)
		for _, s := range ref.Over {
			clearBit(n.free, c.slots[s.Axis])
		}
	case *Scan:
		n.free = withBit(n.free, c.slots[ref.Over.Axis])
	}
	return n.free
}

// Sets of slots. They are never changed once they are shared.

func withBit(s []uint64, bit int) []uint64 {
	out := make([]uint64, max(len(s), bit/64+1))
	copy(out, s)
	out[bit/64] |= 1 << (bit % 64)
	return out
}

func clearBit(s []uint64, bit int) {
	if bit/64 < len(s) {
		s[bit/64] &^= 1 << (bit % 64)
	}
}

func hasBit(s []uint64, bit int) bool { return bit/64 < len(s) && s[bit/64]>>(bit%64)&1 != 0 }

func union(a, b []uint64) []uint64 {
	if len(b) > len(a) {
		a, b = b, a
	}
	same := true
	for i, w := range b {
		same = same && w&^a[i] == 0
	}
	if same {
		return a
	}
	out := slices.Clone(a)
	for i, w := range b {
		out[i] |= w
	}
	return out
}

// interval is a range of integers, both ends included. ok is false where nothing is known.
type interval struct {
	lo, hi int64
	ok     bool
}

const boundless = 1 << 40 // beyond which an interval is not known, so that its arithmetic cannot overflow

func known(lo, hi int64) interval {
	if lo < -boundless || hi > boundless {
		return interval{}
	}
	return interval{lo, hi, true}
}

// axisRange is where the values of an axis lie. An empty axis has no values: any interval holds.
func (c *compiler) axisRange(a *ir.Axis) interval {
	if r, ok := c.ranges[a]; ok {
		return r
	}
	c.ranges[a] = interval{} // where a range depends on itself
	var all interval
	for k, s := range c.binds[a] {
		lo, hi := c.end(s.Lo), c.end(s.Hi)
		if !lo.ok || !hi.ok {
			return interval{}
		}
		r := interval{lo.lo, max(hi.hi-1, lo.lo), true}
		if k > 0 {
			r = interval{min(r.lo, all.lo), max(r.hi, all.hi), true}
		}
		all = r
	}
	c.ranges[a] = all
	return all
}

// end bounds the end of a range, which is often an expression of scalars alone.
func (c *compiler) end(e *ir.Expr) interval {
	if v, err := c.ev.size(e); err == nil {
		return known(v, v)
	}
	return c.interval(e)
}

// interval bounds the values of an i64 expression.
func (c *compiler) interval(e *ir.Expr) interval {
	if r, ok := c.known[e]; ok {
		return r
	}
	r := c.findInterval(e)
	c.known[e] = r
	return r
}

func (c *compiler) findInterval(e *ir.Expr) interval {
	switch ref := e.Ref.(type) {
	case *ir.Axis:
		return c.axisRange(ref)
	case *ir.Scalar:
		if ref.Type.IsInt() {
			v := c.ev.scalars[ref].Int()
			return known(v, v)
		}
		return interval{}
	}
	if v, ok := e.IntValue(); ok {
		return known(v, v)
	}
	if !e.Type.IsInt() || e.Type.Bits() < 32 || e.Ref != nil || len(e.Args) == 0 {
		return interval{}
	}
	args := make([]interval, len(e.Args))
	for i, a := range e.Args {
		if args[i] = c.interval(a); !args[i].ok && (e.Op != ir.OpIf && e.Op != ir.OpSelect || i > 0) {
			return interval{}
		}
	}
	r := combine(e, args)
	if lo, hi := ir.IntRange(e.Type.Elem); r.ok && (r.lo < lo || r.hi > hi) {
		return interval{} // it may wrap
	}
	return r
}

func combine(e *ir.Expr, a []interval) interval {
	switch e.Op {
	case ir.OpAdd:
		return known(a[0].lo+a[1].lo, a[0].hi+a[1].hi)
	case ir.OpSub:
		return known(a[0].lo-a[1].hi, a[0].hi-a[1].lo)
	case ir.OpNeg:
		return known(-a[0].hi, -a[0].lo)
	case ir.OpMin:
		return known(min(a[0].lo, a[1].lo), min(a[0].hi, a[1].hi))
	case ir.OpMax:
		return known(max(a[0].lo, a[1].lo), max(a[0].hi, a[1].hi))
	case ir.OpWiden:
		return a[0]
	case ir.OpIf, ir.OpSelect:
		return known(min(a[1].lo, a[2].lo), max(a[1].hi, a[2].hi))
	case ir.OpMul:
		if mulFits(a[0]) && mulFits(a[1]) {
			return corners(a[0], a[1], func(x, y int64) int64 { return x * y })
		}
	case ir.OpDiv:
		if a[1].lo == a[1].hi && a[1].lo > 0 {
			return corners(a[0], a[1], func(x, y int64) int64 { return x / y })
		}
	case ir.OpRem:
		if a[1].lo == a[1].hi && a[1].lo > 0 && a[0].lo >= 0 {
			return known(0, min(a[0].hi, a[1].lo-1))
		}
	}
	return interval{}
}

func mulFits(r interval) bool { return r.lo >= math.MinInt32 && r.hi <= math.MaxInt32 }

func corners(a, b interval, f func(x, y int64) int64) interval {
	p, q, r, s := f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)
	return known(min(p, q, r, s), max(p, q, r, s))
}
