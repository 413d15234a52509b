package tensor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// naive computes programs by the book: it walks expressions with an environment, one element at a time, and knows nothing of
// the evaluator's code. It computes with the evaluator's numbers, or as a device may: every operation rounded to its type, the
// elements of reductions in any order.
type naive struct {
	scalars map[ir.Ref]ir.Const
	store   map[*tensor.Tensor]*grid
	device  *rand.Rand // nil: float64, in order
	memo    map[string]value
	axes    map[*ir.Expr][]*ir.Axis
	recur   *tensor.Recur
	left    int // expressions that may still be visited
}

// value is a Const, or none.
type value struct {
	c  ir.Const
	ok bool
}

type grid struct {
	shape []int64
	vals  []value
}

type env map[*ir.Axis]int64

type tooSlow struct{}

// run returns the results, and whether it was patient enough.
func (n *naive) run(p *tensor.Program, call *data.Call) (out map[string]*grid, done bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(tooSlow); !ok {
				panic(r)
			}
		}
	}()
	n.memo, n.scalars, n.store, n.axes = map[string]value{}, map[ir.Ref]ir.Const{}, map[*tensor.Tensor]*grid{}, map[*ir.Expr][]*ir.Axis{}
	for _, s := range p.Scalars {
		n.scalars[s] = call.Scalars[s.Name]
	}
	for _, t := range p.Params {
		g := n.grid(t)
		for i := range g.vals {
			g.vals[i] = value{call.Inputs[t.Name].At(i), true}
		}
	}
	for _, d := range p.Defs {
		n.memo = map[string]value{}
		n.def(d)
	}
	out = map[string]*grid{}
	for _, t := range p.Results {
		out[t.Name] = n.store[t]
	}
	return out, true
}

func (n *naive) grid(t *tensor.Tensor) *grid {
	g, size := &grid{}, int64(1)
	for _, e := range t.Extents {
		x := n.eval(e, env{}).c.Int()
		g.shape = append(g.shape, x)
		size *= x
	}
	if n.left -= int(size); n.left < 0 {
		panic(tooSlow{})
	}
	g.vals = make([]value, size)
	n.store[t] = g
	return g
}

func (g *grid) at(index []int64) int64 {
	at := int64(0)
	for d, x := range index {
		at = at*g.shape[d] + x
	}
	return at
}

// nest calls f for all elements of a box.
func (n *naive) nest(spans []ir.Span, e env, f func()) (ok bool) {
	if len(spans) == 0 {
		f()
		return true
	}
	s := spans[0]
	lo, hi := n.eval(s.Lo, e), n.eval(s.Hi, e)
	ok = lo.ok && hi.ok
	for x := lo.c.Int(); ok && x < hi.c.Int(); x++ {
		e[s.Axis] = x
		ok = n.nest(spans[1:], e, f) && ok
	}
	delete(e, s.Axis)
	return ok
}

func (n *naive) def(d tensor.Def) {
	e := env{}
	switch d := d.(type) {
	case *tensor.Map:
		g, k := n.grid(d.Out), 0
		n.nest(d.Free, e, func() {
			g.vals[k] = n.eval(d.Body, e)
			k++
		})
	case *tensor.Recur:
		n.steps(d)
	case *tensor.Scatter:
		n.scatter(d)
	}
}

func (n *naive) steps(d *tensor.Recur) {
	for _, t := range d.Tensors {
		n.grid(t)
	}
	s := d.Free[0][d.Step[0]]
	lo, hi := n.eval(s.Lo, env{}).c.Int(), n.eval(s.Hi, env{}).c.Int()
	n.recur = d
	for k := range hi - lo {
		t := lo + k
		if d.Back {
			t = hi - 1 - k
		}
		for j, out := range d.Tensors {
			spans := slices.Clone(d.Free[j])
			spans[d.Step[j]] = ir.Span{Axis: spans[d.Step[j]].Axis, Lo: ir.Int64(t), Hi: ir.Int64(t + 1)}
			e := env{}
			n.nest(spans, e, func() {
				var index []int64
				for i, s := range d.Free[j] {
					index = append(index, e[s.Axis]-n.eval(d.Free[j][i].Lo, env{}).c.Int())
				}
				n.store[out].vals[n.store[out].at(index)] = n.eval(d.Bodies[j], e)
			})
		}
	}
	n.recur = nil
}

func (n *naive) scatter(d *tensor.Scatter) {
	g := n.grid(d.Out)
	into := make([][]ir.Const, len(g.vals))
	for i := range g.vals {
		start := d.Op.Identity(d.Acc)
		if d.Init != nil {
			start = ir.Convert(d.Acc, d.Init.Type, n.store[d.Init].vals[i].c)
		}
		into[i] = []ir.Const{start}
	}
	spoiled, e := false, env{}
	ok := n.nest(d.Free, e, func() {
		if d.Guard != nil {
			c := n.eval(d.Guard, e)
			if spoiled = spoiled || !c.ok; !c.c.Bool() {
				return
			}
		}
		index := make([]value, len(d.At))
		for i, a := range d.At {
			index[i] = n.eval(a, e)
		}
		at, inside, ok := place(g, d.Edge.Kind, index)
		if spoiled = spoiled || !ok; !ok || !inside {
			return
		}
		x := n.eval(d.Body, e)
		spoiled = spoiled || !x.ok
		into[at] = append(into[at], x.c)
	})
	for i := range g.vals {
		sum := n.combine(d.Op, d.Acc, into[i])
		g.vals[i] = value{ir.Convert(d.Out.Type, d.Acc, sum), ok && !spoiled}
	}
}

// combine folds elements, on a device in any order.
func (n *naive) combine(m *ir.Monoid, t ir.Type, list []ir.Const) ir.Const {
	if n.device != nil {
		n.device.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	acc := m.Identity(t)
	for _, x := range list {
		acc = n.apply(m.Op, t, []ir.Type{t, t}, []ir.Const{acc, x})
	}
	return acc
}

// apply is an operation: on a device rounded to its type.
func (n *naive) apply(op *ir.Op, to ir.Type, types []ir.Type, args []ir.Const) ir.Const {
	m := &op.Mean
	if n.device == nil && to.IsFloat() && types[0].IsFloat() {
		switch {
		case m.F1 != nil && len(args) == 1:
			return ir.FloatConst(m.F1(args[0].Float()))
		case m.F2 != nil:
			return ir.FloatConst(m.F2(args[0].Float(), args[1].Float()))
		case m.F3 != nil:
			return ir.FloatConst(m.F3(args[0].Float(), args[1].Float(), args[2].Float()))
		}
	}
	v, ok := ir.EvalOp(op, to, types, args)
	if !ok {
		panic(fmt.Sprintf("%s of %v", op.Name, types))
	}
	if n.device != nil && op == ir.OpWiden && to.IsFloat() {
		return ir.FloatConst(ir.RoundTo(to.Elem, v.Float()))
	}
	return v
}

func (n *naive) eval(e *ir.Expr, in env) value {
	if n.left--; n.left < 0 {
		panic(tooSlow{})
	}
	switch e.Op {
	case ir.OpConst:
		return value{e.Val, true}
	case ir.OpName:
		if a, ok := e.Ref.(*ir.Axis); ok {
			return value{ir.IntConst(in[a]), true}
		}
		return value{n.scalars[e.Ref], true}
	}
	if len(e.Args) == 0 && e.Op != ir.OpRead {
		panic(e.Op.Name)
	}
	key := n.key(e, in)
	if v, ok := n.memo[key]; ok {
		return v
	}
	v := n.compute(e, in)
	n.memo[key] = v
	return v
}

// key names an expression and the indices that it depends on.
func (n *naive) key(e *ir.Expr, in env) string {
	axes, ok := n.axes[e]
	if !ok {
		ir.Walk(e, func(x *ir.Expr) {
			if a, ok := x.Ref.(*ir.Axis); ok && !slices.Contains(axes, a) {
				axes = append(axes, a)
			}
			if s, ok := x.Ref.(*tensor.Scan); ok && !slices.Contains(axes, s.Over.Axis) {
				axes = append(axes, s.Over.Axis)
			}
		})
		n.axes[e] = axes
	}
	key := fmt.Appendf(nil, "%p", e)
	for _, a := range axes {
		if x, ok := in[a]; ok {
			key = fmt.Appendf(key, " %d", x)
		}
	}
	return string(key)
}

func (n *naive) compute(e *ir.Expr, in env) value {
	switch e.Op {
	case ir.OpRead:
		return n.read(e, in)
	case tensor.OpReduce:
		r := e.Ref.(*tensor.Reduction)
		var list []ir.Const
		good := true
		ok := n.nest(r.Over, in, func() { good = n.element(r.Guard, e.Args[0], in, &list) && good })
		return value{n.combine(r.Op, r.Acc, list), ok && good}
	case tensor.OpScan:
		return n.scan(e, in)
	case ir.OpIf, ir.OpAnd, ir.OpOr:
		c := n.eval(e.Args[0], in)
		switch {
		case !c.ok || e.Op == ir.OpAnd && !c.c.Bool() || e.Op == ir.OpOr && c.c.Bool():
			return c
		case e.Op == ir.OpIf && !c.c.Bool():
			return n.eval(e.Args[2], in)
		}
		return n.eval(e.Args[1], in)
	}
	args, types, exprs, ok := make([]ir.Const, len(e.Args)), make([]ir.Type, len(e.Args)), make([]*ir.Expr, len(e.Args)), true
	for i, a := range e.Args {
		v := n.eval(a, in)
		args[i], types[i], ok = v.c, a.Type, ok && v.ok
		exprs[i] = ir.NewConst(a.Type, v.c)
	}
	if e.Op.Fault != nil {
		if bad := e.Op.Fault(exprs); bad != nil && bad.Val.Bool() {
			ok = false
		}
	}
	return value{n.apply(e.Op, e.Type, types, args), ok}
}

// element adds an element that a guard lets in.
func (n *naive) element(guard, body *ir.Expr, in env, list *[]ir.Const) bool {
	if guard != nil {
		if c := n.eval(guard, in); !c.ok || !c.c.Bool() {
			return c.ok
		}
	}
	x := n.eval(body, in)
	*list = append(*list, x.c)
	return x.ok
}

func (n *naive) scan(e *ir.Expr, in env) value {
	s := e.Ref.(*tensor.Scan)
	a := s.Over.Axis
	here := in[a]
	lo, hi := n.eval(s.Over.Lo, in), n.eval(s.Over.Hi, in)
	good := lo.ok && hi.ok && here >= lo.c.Int() && here < hi.c.Int()
	var list []ir.Const
	for x := lo.c.Int(); good && x < hi.c.Int(); x++ {
		before := x < here && !s.Reverse || x > here && s.Reverse
		if before || x == here && !s.Exclusive {
			in[a] = x
			good = n.element(s.Guard, e.Args[0], in, &list)
		}
	}
	in[a] = here
	return value{n.combine(s.Op, s.Acc, list), good}
}

func (n *naive) read(e *ir.Expr, in env) value {
	r := e.Ref.(tensor.Read)
	index := make([]value, len(e.Args))
	for i, a := range e.Args {
		index[i] = n.eval(a, in)
	}
	g := n.store[r.Of]
	if n.recur != nil {
		if j := slices.Index(n.recur.Tensors, r.Of); j >= 0 {
			d := n.recur.Step[j]
			if x := index[d].c.Int(); x == -1 || x == g.shape[d] {
				g = n.store[n.recur.From[j]]
				index = slices.Delete(index, d, d+1)
			}
		}
	}
	at, inside, ok := place(g, r.Edge.Kind, index)
	switch {
	case !ok:
		return value{}
	case inside:
		return g.vals[at]
	case r.Edge.Kind == tensor.Const:
		return value{r.Edge.Value, true}
	}
	return value{ir.Const{}, true}
}

// place is what an edge makes of subscripts.
func place(g *grid, edge tensor.EdgeKind, index []value) (at int64, inside, ok bool) {
	list := make([]int64, len(index))
	inside, ok = true, true
	for d, v := range index {
		x, n := v.c.Int(), g.shape[d]
		ok = ok && v.ok
		switch {
		case x >= 0 && x < n:
		case edge == tensor.Inside || edge == tensor.Checked || edge == tensor.Trusted:
			ok = false
		case edge == tensor.Zero || edge == tensor.Const || n == 0:
			inside = false
		case edge == tensor.Clamp:
			x = min(max(x, 0), n-1)
		case edge == tensor.Wrap:
			x = ((x % n) + n) % n
		case n == 1:
			x = 0
		default:
			period := 2*n - 2
			x = ((x % period) + period) % period
			x = min(x, period-x)
		}
		list[d] = x
	}
	if !ok || !inside {
		return 0, inside, ok
	}
	return g.at(list), true, true
}
