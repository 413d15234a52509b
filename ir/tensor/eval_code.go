package tensor

import (
	"math"

	"github.com/gkc-lang/gkc/ir"
)

// An expression is compiled to closures over a frame. What is known as a run begins (scalars, extents, strides, the ranges of
// most axes) is built into them.

// number is how values are held: floats as float64, integers and bools as int64.
type number interface{ float64 | int64 }

type fn[T number] func(f *frame) T

// code computes an expression: f is set for floats, i for integers and bools.
type code struct {
	f     fn[float64]
	i     fn[int64]
	known bool     // the value is the same for all elements, and exact:
	value ir.Const // this
	plain *address // of a read of floats that is certain to be inside, and of what was read without fault
}

// frame is what one goroutine computes with.
type frame struct {
	ev        *evaluator
	axis      []int64  // the current index of every axis, by slot
	fault     fault    // of the element at hand: the first
	err       float64  // when bounds are asked for: the bound of the value that was computed last
	held      [3]int64 // then also: operands that were computed already
	heldFloat float64
	floats    []cell[float64]
	ints      []cell[int64]
	rows      []cell[*row]
	worst     worst // of a Check
}

// fail marks the element at hand as one that cannot be computed.
func (f *frame) fail(at *place, value int64) {
	if f.fault.at == nil {
		f.fault = fault{at, value}
	}
}

func (f *frame) raise(x fault) {
	if x.at != nil && f.fault.at == nil {
		f.fault = x
	}
}

// compiler makes the code of one equation.
type compiler struct {
	ev     *evaluator
	slots  map[*ir.Axis]int
	axes   []*ir.Axis             // by slot
	binds  map[*ir.Axis][]ir.Span // every range that an axis has somewhere
	ranges map[*ir.Axis]interval
	scope  []int // slots of the axes in scope, outermost first
	info   map[*ir.Expr]*info
	codes  map[*ir.Expr]code
	known  map[*ir.Expr]interval
	step   *steps
	cells  [3][][]int // keys of the cells of floats, integers and rows
}

func (ev *evaluator) compiler(free []ir.Span, exprs ...*ir.Expr) *compiler {
	c := &compiler{
		ev: ev, slots: map[*ir.Axis]int{}, binds: map[*ir.Axis][]ir.Span{}, ranges: map[*ir.Axis]interval{},
		info: map[*ir.Expr]*info{}, codes: map[*ir.Expr]code{}, known: map[*ir.Expr]interval{},
	}
	c.prepare(free, exprs)
	return c
}

func (c *compiler) frame() *frame {
	f := &frame{ev: c.ev, axis: make([]int64, len(c.slots))}
	f.floats, f.ints, f.rows = newCells[float64](c.cells[0]), newCells[int64](c.cells[1]), newCells[*row](c.cells[2])
	return f
}

// enter and leave say which axes are in scope while what stands inside is compiled.
func (c *compiler) enter(spans []ir.Span) {
	for _, s := range spans {
		c.scope = append(c.scope, c.slots[s.Axis])
	}
}

func (c *compiler) leave(spans []ir.Span) { c.scope = c.scope[:len(c.scope)-len(spans)] }

func (c *compiler) int(e *ir.Expr) fn[int64] { return c.code(e).i }

func (c *compiler) code(e *ir.Expr) code {
	if k, ok := c.codes[e]; ok {
		return k
	}
	k := c.fixed(e, c.build(e))
	if !k.known {
		k = c.kept(e, k)
	}
	c.codes[e] = k
	return k
}

func (c *compiler) build(e *ir.Expr) code {
	switch e.Op {
	case ir.OpConst:
		return constant(e.Type, e.Val)
	case ir.OpName:
		if a, ok := e.Ref.(*ir.Axis); ok {
			slot := c.slots[a]
			return code{i: func(f *frame) int64 { f.err = 0; return f.axis[slot] }}
		}
		return constant(e.Type, c.ev.scalars[e.Ref])
	case ir.OpRead:
		return c.read(e)
	case OpReduce:
		return c.reduce(e)
	case OpScan:
		return c.scan(e)
	case ir.OpAnd, ir.OpOr:
		return c.logic(e)
	case ir.OpIf, ir.OpSelect:
		return c.choose(e)
	case ir.OpCast, ir.OpWiden, ir.OpBitcast:
		return c.convert(e)
	case ir.OpRand:
		return c.rand(e)
	}
	return c.guarded(e, c.operation(e))
}

func constant(t ir.Type, v ir.Const) code {
	if t.IsFloat() {
		x := v.Float()
		return code{f: func(f *frame) float64 { f.err = 0; return x }, known: true, value: v}
	}
	x := v.Int()
	return code{i: func(f *frame) int64 { f.err = 0; return x }, known: true, value: v}
}

// fixed computes here what depends on nothing that changes.
func (c *compiler) fixed(e *ir.Expr, k code) code {
	if k.known || len(e.Args) == 0 || e.Ref != nil {
		return k
	}
	for _, a := range e.Args {
		if !c.code(a).known {
			return k
		}
	}
	f := c.frame()
	var v ir.Const
	if k.f != nil {
		v = ir.FloatConst(k.f(f))
	} else {
		v = ir.IntConst(k.i(f))
	}
	if f.fault.at != nil || f.err != 0 {
		return k
	}
	return constant(e.Type, v)
}

// guarded fails where an operation has no value.
func (c *compiler) guarded(e *ir.Expr, k code) code {
	bad := c.info[e].fault
	if bad == nil {
		return k
	}
	cond := c.code(bad)
	if cond.known && !cond.value.Bool() {
		return k
	}
	at := &place{kind: e.Op.FaultText, text: ExprText(e), pos: e.Pos}
	test, i := cond.i, k.i
	if i == nil {
		return k
	}
	return code{i: func(f *frame) int64 {
		if test(f) != 0 {
			f.fail(at, 0)
			return 0
		}
		return i(f)
	}}
}

// logic is && and ||, whose second operand counts only where the first does not decide.
func (c *compiler) logic(e *ir.Expr) code {
	a, b := c.int(e.Args[0]), c.int(e.Args[1])
	decides := int64(0)
	if e.Op == ir.OpOr {
		decides = 1
	}
	if c.ev.bound() {
		return code{i: boundLogic(a, b, decides)}
	}
	if decides == 0 {
		return code{i: func(f *frame) int64 {
			if a(f) == 0 {
				return 0
			}
			return b(f)
		}}
	}
	return code{i: func(f *frame) int64 {
		if a(f) != 0 {
			return 1
		}
		return b(f)
	}}
}

// choose is if, which computes one branch, and select, which computes both.
func (c *compiler) choose(e *ir.Expr) code {
	cond := c.int(e.Args[0])
	x, y := c.code(e.Args[1]), c.code(e.Args[2])
	both := e.Op == ir.OpSelect
	if x.f != nil {
		return code{f: branch(c.ev.bound(), both, cond, x.f, y.f)}
	}
	return code{i: branch(c.ev.bound(), both, cond, x.i, y.i)}
}

func branch[T number](bound, both bool, cond fn[int64], x, y fn[T]) fn[T] {
	if bound {
		return boundBranch(both, cond, x, y)
	}
	if both {
		return func(f *frame) T {
			c, a, b := cond(f), x(f), y(f)
			if c != 0 {
				return a
			}
			return b
		}
	}
	return func(f *frame) T {
		if cond(f) != 0 {
			return x(f)
		}
		return y(f)
	}
}

func (c *compiler) rand(e *ir.Expr) code {
	args := make([]fn[int64], len(e.Args))
	for i, a := range e.Args {
		args[i] = c.int(a)
	}
	return code{f: func(f *frame) float64 {
		var few [8]int64
		index := few[:0]
		seed, err := args[0](f), f.err
		for _, a := range args[1:] {
			index = append(index, a(f))
			err = math.Max(err, f.err)
		}
		f.err = anythingIf(err != 0)
		return ir.Rand(seed, index...)
	}}
}

// convert is the code of casts, widenings and bitcasts.
func (c *compiler) convert(e *ir.Expr) code {
	from, to := e.Args[0].Type, e.Type
	x := c.code(e.Args[0])
	if c.ev.bound() {
		return boundConvert(e.Op, from, to, x)
	}
	return convertPlain(e.Op, from, to, x)
}

func convertPlain(op *ir.Op, from, to ir.Type, x code) code {
	exact := op == ir.OpWiden
	switch {
	case x.f != nil && to.IsFloat() && (exact || op == ir.OpCast && to == ir.F64):
		return code{f: x.f, plain: x.plain}
	case x.f != nil && to == ir.F32 && op == ir.OpCast:
		v := x.f
		return code{f: func(f *frame) float64 { return float64(float32(v(f))) }}
	case x.f != nil && to.IsFloat() && op == ir.OpCast:
		v, elem := x.f, to.Elem
		return code{f: func(f *frame) float64 { return ir.RoundTo(elem, v(f)) }}
	case x.f != nil && to.IsInt() && op == ir.OpCast:
		v, elem := x.f, to.Elem
		return code{i: func(f *frame) int64 { return ir.Saturate(elem, v(f)) }}
	case x.i != nil && to.IsFloat() && exact && from.Elem.Kind == ir.Int:
		v := x.i
		return code{f: func(f *frame) float64 { return float64(v(f)) }}
	case x.i != nil && to == ir.I64 && exact:
		return code{i: x.i}
	}
	return convertAny(op, from, to, x)
}

// convertAny is the meaning of the operation itself, for what is rare.
func convertAny(op *ir.Op, from, to ir.Type, x code) code {
	mean := func(v ir.Const) ir.Const { return op.Mean.Any(to, []ir.Type{from}, []ir.Const{v}) }
	value := func(f *frame) ir.Const {
		if x.f != nil {
			return mean(ir.FloatConst(x.f(f)))
		}
		return mean(ir.IntConst(x.i(f)))
	}
	if to.IsFloat() {
		return code{f: func(f *frame) float64 { return value(f).Float() }}
	}
	return code{i: func(f *frame) int64 { return value(f).Int() }}
}
