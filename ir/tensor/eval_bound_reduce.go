package tensor

import (
	"math"

	"github.com/gkc-lang/gkc/ir"
)

// growth is the bound of an accumulator that elements go into in any order.
type growth struct {
	err      float64 // what the elements bring in
	absolute float64 // the sum of their absolute values
	n        int64
	unit     float64
	product  float64 // of a product: the value so far
	// What partial results may reach on the way, in some order: of a product in powers of 2, up by the factors above 1 and down
	// by those below.
	up, down float64
	infinite bool    // a factor is
	acc      ir.Type // of floats; none of integers
}

// total is the bound of a sum of n terms: in any order a term takes part in at most n roundings. Where a partial result may leave
// the accumulator's range, anything may come out.
func (g *growth) total() float64 {
	err := g.err + float64(g.n)*g.unit*g.absolute
	if !g.acc.IsValid() {
		return err
	}
	_, tiny := unit(g.acc)
	switch highest := largest(g.acc); {
	case g.absolute > highest || g.up >= math.Log2(highest):
		return anything
	case g.down < -math.Log2(tiny):
		return err
	case g.infinite:
		return anything
	}
	return err + tiny*math.Exp2(g.up)
}

// factor notes what a factor does to partial products.
func (g *growth) factor(x, err float64) {
	switch a := math.Abs(x); {
	case math.IsInf(a, 0):
		g.infinite = true
	case a+err > 1:
		g.up += math.Log2(a + err)
	case a > 0:
		g.down -= math.Log2(a)
	}
}

// grower is how one more element x, whose bound is in the frame, adds to the bound.
func grower(m *ir.Monoid, acc ir.Type) func(f *frame, g *growth, x float64) {
	u, float := 0.0, ir.Type{}
	if acc.IsFloat() {
		u, _ = unit(acc)
		float = acc
	}
	switch m {
	case ir.Sum:
		return func(f *frame, g *growth, x float64) {
			g.unit, g.acc, g.n = u, float, g.n+1
			g.err += f.err
			if a := math.Abs(x) + f.err; !math.IsInf(a, 0) && a == a {
				g.absolute += a
			}
		}
	case ir.Prod:
		return func(f *frame, g *growth, x float64) {
			if g.n++; g.n == 1 && g.product == 0 {
				g.product = 1
			}
			if g.acc = float; float.IsValid() {
				g.factor(x, f.err)
			}
			a, b := math.Abs(g.product), math.Abs(x)
			g.product *= x
			g.err = times(a, f.err) + times(b, g.err) + times(g.err, f.err) + u*math.Abs(g.product)
		}
	}
	return func(f *frame, g *growth, _ float64) { g.err = math.Max(g.err, f.err) }
}

// boundReducer is a reduction whose bound is asked for.
type boundReducer[T number] struct {
	reducer[T]
	op   *ir.Monoid
	grow func(f *frame, g *growth, x float64)
}

// reduced is what a reduction has seen.
type reduced[T number] struct {
	acc     T // of the elements that the guard let in
	sure    T // of those that it let in for sure
	reach   T // of all that it may let in
	doubts  bool
	growth  growth
	unknown bool // the ranges themselves are uncertain
}

func boundReduce(r *Reduction, loops []loop, guard fn[int64], body code) code {
	floats, ints := combiner(r.Op, r.Acc)
	identity := r.Op.Identity(r.Acc)
	grow := grower(r.Op, r.Acc)
	if body.f != nil {
		red := &boundReducer[float64]{reducer[float64]{loops: loops, guard: guard, body: body.f, identity: identity.Float(), combine: floats}, r.Op, grow}
		return code{f: red.run}
	}
	red := &boundReducer[int64]{reducer[int64]{loops: loops, guard: guard, body: body.i, identity: identity.Int(), combine: ints}, r.Op, grow}
	return code{i: red.run}
}

func (r *boundReducer[T]) run(f *frame) T {
	s := reduced[T]{acc: r.identity, sure: r.identity, reach: r.identity}
	r.nest(f, 0, &s)
	f.err = r.finish(&s)
	return s.acc
}

func (r *boundReducer[T]) finish(s *reduced[T]) float64 {
	err := s.growth.total()
	if s.doubts && r.op != ir.Sum {
		err += math.Max(distance(s.acc, s.sure), distance(s.acc, s.reach))
	}
	if s.unknown || err != err {
		return anything
	}
	return err
}

func distance[T number](a, b T) float64 {
	if a == b {
		return 0
	}
	return math.Abs(float64(a) - float64(b))
}

func (r *boundReducer[T]) nest(f *frame, depth int, s *reduced[T]) {
	l := &r.loops[depth]
	lo, hi, uncertain := l.ends(f)
	s.unknown = s.unknown || uncertain
	for x := lo; x < hi; x++ {
		if x%pieceSize == 0 && f.ev.stopped.Load() != nil {
			return
		}
		f.axis[l.slot] = x
		if depth+1 < len(r.loops) {
			r.nest(f, depth+1, s)
		} else {
			r.element(f, s)
		}
	}
}

func (r *boundReducer[T]) element(f *frame, s *reduced[T]) {
	in, sure := true, true
	if r.guard != nil {
		in = r.guard(f) != 0
		sure = f.err == 0
	}
	if !in && sure {
		return
	}
	outer := f.fault
	x := r.body(f)
	if sure {
		s.acc, s.sure, s.reach = r.combine(s.acc, x), r.combine(s.sure, x), r.combine(s.reach, x)
		r.grow(f, &s.growth, float64(x))
		return
	}
	s.doubts = true
	if f.fault != outer {
		s.unknown = true
		if !in {
			f.fault = outer
		}
	}
	s.reach = r.combine(s.reach, x)
	if in {
		s.acc = r.combine(s.acc, x)
	}
	switch r.op {
	case ir.Sum:
		s.growth.err += math.Abs(float64(x))
	case ir.Prod:
		s.unknown = true
	}
	r.grow(f, &s.growth, float64(x))
}

// contraction is the code of a product under a sum. Where one operand is stored in 16 or 8 bits and the other is an
// intermediate, a device may round the intermediate to the stored type.
func (c *compiler) contraction(e *ir.Expr, k code) code {
	if e.Op != ir.OpMul || e.Type != ir.F32 {
		return k
	}
	a, b := c.code(e.Args[0]), c.code(e.Args[1])
	ta, tb := storedNarrow(e.Args[0]), storedNarrow(e.Args[1])
	switch {
	case ta.IsValid() && intermediate(e.Args[1]):
		b.f = roundable(ta, b.f)
	case tb.IsValid() && intermediate(e.Args[0]):
		a.f = roundable(tb, a.f)
	default:
		return k
	}
	return boundOperation(e, []code{a, b})
}

// storedNarrow is the type of a read of a narrow float, widened; the zero Type for anything else.
func storedNarrow(e *ir.Expr) ir.Type {
	if e.Op == ir.OpWiden && e.Args[0].Op == ir.OpRead && e.Args[0].Type.IsFloat() && e.Args[0].Type.Bits() < 32 {
		return e.Args[0].Type
	}
	return ir.Type{}
}

// intermediate reports whether e is neither data nor made of constants alone.
func intermediate(e *ir.Expr) bool {
	if r, ok := e.Ref.(Read); ok {
		return r.Of.Role != Param
	}
	return !e.IsConst() && e.Op != ir.OpName && !storedNarrow(e).IsValid()
}

// roundable adds the error of a rounding to type t.
func roundable(t ir.Type, x fn[float64]) fn[float64] {
	return func(f *frame) float64 {
		v := x(f)
		d := math.Max(distance(ir.RoundTo(t.Elem, v+f.err), v), distance(ir.RoundTo(t.Elem, v-f.err), v))
		if f.err = math.Max(f.err, d); d != d {
			f.err = anythingIf(v == v)
		}
		return v
	}
}
