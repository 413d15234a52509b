package tensor

import "github.com/gkc-lang/gkc/ir"

// address finds the place of an element: base + the terms. Subscripts that are certain to stay inside are folded into base,
// axes and others; each of the rest is a dim, which is looked at every time.
type address struct {
	of     *values
	edge   EdgeKind
	base   int64
	axes   []axisTerm
	others []otherTerm
	dims   []dimTerm
}

type axisTerm struct {
	slot   int
	stride int64
}

type otherTerm struct {
	index  fn[int64]
	stride int64
	free   []uint64 // the axes that it depends on
}

type dimTerm struct {
	index          fn[int64]
	stride, extent int64
	at             *place
}

// subscript adds one subscript.
func (a *address) subscript(c *compiler, e *ir.Expr, d int) {
	extent, stride := a.of.shape[d], a.of.stride[d]
	r := c.interval(e)
	if !r.ok || r.lo < 0 || r.hi >= extent {
		at := &place{tensor: a.of.of.Name, dim: d, extent: extent, pos: e.Pos}
		a.dims = append(a.dims, dimTerm{c.int(e), stride, extent, at})
		return
	}
	a.linear(c, e, stride)
}

// linear adds stride times the value of e. What is long is one term: written out, it may be longer than the memory holds.
func (a *address) linear(c *compiler, e *ir.Expr, stride int64) {
	if k := c.code(e); k.known {
		a.base += stride * k.value.Int()
		return
	}
	switch axis, isAxis := e.Ref.(*ir.Axis); {
	case c.info[e].size > 100:
		a.others = append(a.others, otherTerm{c.int(e), stride, c.info[e].free})
	case isAxis:
		a.axis(c.slots[axis], stride)
	case e.Op == ir.OpAdd:
		a.linear(c, e.Args[0], stride)
		a.linear(c, e.Args[1], stride)
	case e.Op == ir.OpSub:
		a.linear(c, e.Args[0], stride)
		a.linear(c, e.Args[1], -stride)
	case e.Op == ir.OpMul && c.code(e.Args[0]).known:
		a.linear(c, e.Args[1], stride*c.code(e.Args[0]).value.Int())
	case e.Op == ir.OpMul && c.code(e.Args[1]).known:
		a.linear(c, e.Args[0], stride*c.code(e.Args[1]).value.Int())
	default:
		a.others = append(a.others, otherTerm{c.int(e), stride, c.info[e].free})
	}
}

func (a *address) axis(slot int, stride int64) {
	for i := range a.axes {
		if a.axes[i].slot == slot {
			a.axes[i].stride += stride
			return
		}
	}
	a.axes = append(a.axes, axisTerm{slot, stride})
}

// at is the place of the element; inside is false if there is none. f.err is not 0 if a subscript is uncertain.
func (a *address) at(f *frame) (at int64, inside bool) {
	at, inside = a.base, true
	for _, t := range a.axes {
		at += t.stride * f.axis[t.slot]
	}
	uncertain := false
	for i := range a.others {
		at += a.others[i].stride * a.others[i].index(f)
		uncertain = uncertain || f.err != 0
	}
	for i := range a.dims {
		d := &a.dims[i]
		x := d.index(f)
		uncertain = uncertain || f.err != 0
		if uint64(x) >= uint64(d.extent) {
			if x, inside = a.beyond(f, d, x, inside); !inside {
				continue
			}
		}
		at += d.stride * x
	}
	f.err = anythingIf(uncertain)
	return at, inside
}

// beyond is what a subscript outside the tensor means.
func (a *address) beyond(f *frame, d *dimTerm, x int64, inside bool) (int64, bool) {
	n := d.extent
	switch a.edge {
	case Zero, Const:
		return 0, false
	case Clamp:
		if n > 0 {
			return max(0, min(x, n-1)), inside
		}
		return 0, false
	case Wrap:
		return wrapIndex(x, n), inside && n > 0
	case Mirror:
		if n <= 1 {
			return 0, inside && n > 0
		}
		x = wrapIndex(x, 2*n-2)
		return min(x, 2*n-2-x), inside
	}
	f.fail(d.at, x)
	return 0, false
}

// wrapIndex is x modulo n, not negative; 0 where n is 0.
func wrapIndex(x, n int64) int64 {
	if n == 0 {
		return 0
	}
	if x %= n; x < 0 {
		x += n
	}
	return x
}

func (c *compiler) address(v *values, edge EdgeKind, at []*ir.Expr) *address {
	a := &address{of: v, edge: edge}
	for d, e := range at {
		a.subscript(c, e, d)
	}
	return a
}

func (c *compiler) read(e *ir.Expr) code {
	ref := e.Ref.(Read)
	v := c.ev.store[ref.Of]
	outside := ir.Const{}
	if ref.Edge.Kind == Const {
		outside = ref.Edge.Value
	}
	k := c.element(c.address(v, ref.Edge.Kind, e.Args), outside)
	if c.step == nil || c.step.of[ref.Of] == nil {
		return k
	}
	return c.stepRead(e, ref, k, outside)
}

// element is the code of reading at an address.
func (c *compiler) element(a *address, outside ir.Const) code {
	v := a.of
	if c.ev.bound() || len(a.dims) > 0 || len(a.others) > 1 || len(a.axes) > 3 || c.mayBePoisoned(v) {
		if v.f != nil {
			return code{f: readAny(a, v.f, outside.Float())}
		}
		return code{i: readAny(a, v.i, outside.Int())}
	}
	if v.f != nil {
		return code{f: readPlain(a, v.f), plain: a}
	}
	return code{i: readPlain(a, v.i)}
}

// mayBePoisoned: tensors that are complete show it, those that the definition at hand computes do not.
func (c *compiler) mayBePoisoned(v *values) bool {
	return v.poison.Load() != nil || c.step != nil && c.step.of[v.of] != nil
}

// readPlain reads at an address of few terms that is certain to be inside.
func readPlain[T number](a *address, data []T) fn[T] {
	base := a.base
	if len(a.others) == 1 {
		index, stride := a.others[0].index, a.others[0].stride
		axes := a.axes
		return func(f *frame) T {
			at := base + stride*index(f)
			for _, t := range axes {
				at += t.stride * f.axis[t.slot]
			}
			return data[at]
		}
	}
	var s, k [3]int64
	for i, t := range a.axes {
		s[i], k[i] = int64(t.slot), t.stride
	}
	s0, s1, s2, k0, k1, k2 := s[0], s[1], s[2], k[0], k[1], k[2]
	switch len(a.axes) {
	case 0:
		return func(*frame) T { return data[base] }
	case 1:
		return func(f *frame) T { return data[base+k0*f.axis[s0]] }
	case 2:
		return func(f *frame) T { return data[base+k0*f.axis[s0]+k1*f.axis[s1]] }
	}
	return func(f *frame) T { return data[base+k0*f.axis[s0]+k1*f.axis[s1]+k2*f.axis[s2]] }
}

func readAny[T number](a *address, data []T, outside T) fn[T] {
	v := a.of
	return func(f *frame) T {
		at, inside := a.at(f)
		if !inside {
			return outside
		}
		if poison := v.poison.Load(); poison != nil {
			f.raise((*poison)[at])
		}
		if v.err != nil && f.err == 0 {
			f.err = v.err[at]
		}
		return data[at]
	}
}

// steps is what a recurrence knows of the names that it defines.
type steps struct {
	of     map[*Tensor]*stepOut
	before int64 // what the stepping subscript differs by at the step before: -1, or 1 where it runs backwards
}

type stepOut struct {
	dim  int
	from *values // nil: no body reads the step before
}

// stepRead reads the values before the first step where the subscript points there.
func (c *compiler) stepRead(e *ir.Expr, ref Read, main code, outside ir.Const) code {
	s := c.step.of[ref.Of]
	if s.from == nil {
		return main
	}
	first := int64(-1)
	if c.step.before > 0 {
		first = c.ev.store[ref.Of].shape[s.dim]
	}
	at := append(append([]*ir.Expr{}, e.Args[:s.dim]...), e.Args[s.dim+1:]...)
	from := c.element(c.address(s.from, ref.Edge.Kind, at), outside)
	index := c.int(e.Args[s.dim])
	if main.f != nil {
		return code{f: either(index, first, from.f, main.f)}
	}
	return code{i: either(index, first, from.i, main.i)}
}

func either[T number](index fn[int64], first int64, from, main fn[T]) fn[T] {
	return func(f *frame) T {
		if index(f) == first {
			return from(f)
		}
		return main(f)
	}
}
