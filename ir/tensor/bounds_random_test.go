package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
)

// Whatever is proven is inside: random programs, run with random sizes on the total semantics that devices have.

type boundsGen struct {
	r      *rand.Rand
	sizes  []*ir.Scalar
	params []*ir.Scalar // i32 and i64, of any value
	data   *Tensor      // i32
	axes   []*ir.Axis
	axis   int
}

func (g *boundsGen) pick(list ...*ir.Expr) *ir.Expr { return list[g.r.IntN(len(list))] }

func (g *boundsGen) size() *ir.Expr { return ir.Name(g.sizes[g.r.IntN(len(g.sizes))]) }

// extent is an expression of sizes.
func (g *boundsGen) extent() *ir.Expr {
	a, b := g.size(), g.size()
	n := ir.Int64(int64(1 + g.r.IntN(4)))
	switch g.r.IntN(10) {
	case 0:
		return ir.Mul(a, b)
	case 1:
		return ir.Div(a, n)
	case 2:
		return ir.CeilDiv(a, n)
	case 3:
		return ir.Add(ir.Sub(a, b), n)
	case 4:
		return ir.Sub(ir.Mul(a, n), ir.Int64(1))
	case 5:
		return ir.Div(a, b)
	case 6:
		return n
	}
	return a
}

func (g *boundsGen) leaf() *ir.Expr {
	switch n := g.r.IntN(20); {
	case n < 11 && len(g.axes) > 0:
		return ir.Name(g.axes[g.r.IntN(len(g.axes))])
	case n < 14:
		return g.size()
	case n == 14:
		p := g.params[g.r.IntN(len(g.params))]
		return ir.Widen(ir.I64, ir.Name(p))
	case n == 15 && len(g.axes) > 0:
		return ir.Widen(ir.I64, ReadOf(g.data, Edge{Kind: Clamp}, ir.Name(g.axes[0])))
	}
	return ir.Int64(int64(g.r.IntN(8) - 3))
}

func (g *boundsGen) index(depth int) *ir.Expr {
	if depth == 0 || g.r.IntN(5) == 0 {
		return g.leaf()
	}
	a, b := g.index(depth-1), g.index(depth-1)
	d := g.pick(ir.Int64(int64(1+g.r.IntN(4))), g.size(), ir.Div(g.size(), g.size()), ir.Int64(-2), b)
	switch g.r.IntN(16) {
	case 0, 1, 2:
		return ir.Add(a, b)
	case 3, 4:
		return ir.Sub(a, b)
	case 5, 6:
		return ir.Mul(a, g.pick(ir.Int64(2), ir.Int64(-1), ir.Int64(3), g.size()))
	case 7:
		return ir.Div(a, d)
	case 8:
		return ir.Rem(a, d)
	case 9:
		return ir.FloorDiv(a, d)
	case 10:
		return ir.Mod(a, d)
	case 11:
		return ir.Min(a, b)
	case 12:
		return ir.Max(a, b)
	case 13:
		return ir.If(g.guard(0), a, b)
	case 14:
		return ir.Apply(ir.OpAbs, a)
	}
	narrow := func(e *ir.Expr) *ir.Expr { return ir.Cast(ir.I32, e) }
	return ir.Widen(ir.I64, ir.Add(narrow(a), narrow(b)))
}

func (g *boundsGen) guard(depth int) *ir.Expr {
	if depth > 0 {
		switch g.r.IntN(4) {
		case 0:
			return ir.And(g.guard(depth-1), g.guard(depth-1))
		case 1:
			return ir.Or(g.guard(depth-1), g.guard(depth-1))
		case 2:
			return ir.Not(g.guard(depth - 1))
		}
	}
	return g.compare(g.index(1), g.index(1))
}

func (g *boundsGen) compare(a, b *ir.Expr) *ir.Expr {
	ops := []*ir.Op{ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe, ir.OpEq, ir.OpNe}
	return ir.Apply(ops[g.r.IntN(len(ops))], a, b)
}

// read is a read of a tensor, often behind a guard that asks for just that.
func (g *boundsGen) read(t *Tensor) *ir.Expr {
	at := make([]*ir.Expr, len(t.Extents))
	guard := ir.True
	for k, e := range t.Extents {
		at[k] = g.index(g.r.IntN(4))
		if g.r.IntN(3) == 0 {
			guard = ir.And(guard, ir.And(ir.Ge(at[k], ir.Int64(int64(g.r.IntN(2)-g.r.IntN(2)))), ir.Le(at[k], ir.Sub(e, ir.Int64(int64(g.r.IntN(3)))))))
		}
	}
	if g.r.IntN(3) == 0 {
		guard = ir.And(guard, g.guard(1))
	}
	return ir.If(guard, ReadOf(t, Edge{}, at...), ir.ZeroOf(ir.F32))
}

func (g *boundsGen) span() ir.Span {
	g.axis++
	s := ir.Span{Axis: &ir.Axis{Name: "a" + strconv.Itoa(g.axis)}, Lo: ir.Int64(0), Hi: g.extent()}
	if len(g.axes) > 0 && g.r.IntN(3) == 0 {
		s.Lo = g.index(1)
	}
	if len(g.axes) > 0 && g.r.IntN(3) == 0 {
		s.Hi = g.index(1)
	}
	return s
}

func (g *boundsGen) program() *Program {
	n := func(name string) *ir.Scalar { return &ir.Scalar{Name: name, Type: ir.I64, IsSize: true} }
	g.sizes = []*ir.Scalar{n("A"), n("B"), n("C")}
	g.params = []*ir.Scalar{{Name: "g", Type: ir.I32}, {Name: "h", Type: ir.I64}}
	g.data = &Tensor{Name: "D", Type: ir.I32, Extents: []*ir.Expr{ir.Name(g.sizes[0])}}
	p := &Program{Name: "t", Scalars: append(append([]*ir.Scalar{}, g.sizes...), g.params...), Params: []*Tensor{g.data}}
	for k := range 2 {
		x := &Tensor{Name: "X" + strconv.Itoa(k), Type: ir.F32, Extents: []*ir.Expr{g.extent()}}
		if k == 1 {
			x.Extents = append(x.Extents, g.extent())
		}
		p.Params = append(p.Params, x)
	}
	for range g.r.IntN(3) {
		a, b := g.size(), g.pick(g.size(), ir.Int64(2), ir.Int64(4), ir.Int64(3))
		c := g.pick(ir.Eq(ir.Rem(a, b), ir.Int64(0)), ir.Eq(ir.Rem(a, b), ir.Int64(0)), ir.Le(a, b), ir.Ge(a, b), ir.Eq(a, b), ir.Gt(ir.Div(a, b), ir.Int64(1)),
			ir.Gt(ir.Name(g.params[1]), ir.Int64(0)), ir.Eq(ir.Rem(a, ir.Widen(ir.I64, ir.Name(g.params[0]))), ir.Int64(0)))
		p.Where = append(p.Where, ir.Condition{Expr: c})
	}
	out := &Tensor{Name: "Y", Type: ir.F32, Role: Result, Extents: []*ir.Expr{g.extent()}}
	p.Results = []*Tensor{out}
	free := ir.Span{Axis: &ir.Axis{Name: "i"}, Lo: ir.Int64(0), Hi: out.Extents[0]}
	g.axes = append(g.axes, free.Axis)
	body := g.read(p.Params[1])
	for range g.r.IntN(3) {
		s := g.span()
		g.axes = append(g.axes, s.Axis)
		r := &Reduction{Op: ir.Sum, Acc: ir.F32, Over: []ir.Span{s}}
		if g.r.IntN(2) == 0 {
			r.Guard = g.guard(2)
		}
		body = ir.Add(body, Reduce(r, g.read(p.Params[1+g.r.IntN(2)])))
		if g.r.IntN(2) == 0 {
			g.axes = g.axes[:len(g.axes)-1]
			continue
		}
		inner := g.span()
		g.axes = append(g.axes, inner.Axis)
		deep := Reduce(&Reduction{Op: ir.Sum, Acc: ir.F32, Over: []ir.Span{inner}}, g.read(p.Params[1+g.r.IntN(2)]))
		body = ir.Add(body, Reduce(&Reduction{Op: ir.Sum, Acc: ir.F32, Over: []ir.Span{s}}, deep))
		g.axes = g.axes[:len(g.axes)-2]
	}
	p.Defs = []Def{&Map{Out: out, Free: []ir.Span{free}, Body: body}}
	return p
}

// total runs a definition as a device would, where nothing fails, and reports the first read that is proven and outside.
type total struct {
	env   map[ir.Ref]ir.Const
	steps int
	bad   string
}

func (m *total) int(e *ir.Expr) int64 { return m.eval(e).Int() }

func (m *total) eval(e *ir.Expr) ir.Const {
	m.steps++
	switch ref := e.Ref.(type) {
	case Read:
		for k, a := range e.Args {
			x, n := m.int(a), m.int(ref.Of.Extents[k])
			if ref.Edge.Kind == Inside && (x < 0 || x >= n) && m.bad == "" {
				m.bad = fmt.Sprintf("index %d of %s is outside 0..%d", x, ref.Of.Name, n)
			}
		}
		if e.Type == ir.I32 {
			return ir.IntConst(m.int(e.Args[0])*7%5 - 1)
		}
		return ir.FloatConst(1)
	case *Reduction:
		m.loop(ref.Over, func() {
			if ref.Guard == nil || m.eval(ref.Guard).Bool() {
				m.eval(e.Args[0])
			}
		})
		return ir.FloatConst(1)
	}
	switch e.Op {
	case ir.OpConst:
		return e.Val
	case ir.OpName:
		return m.env[e.Ref]
	case ir.OpIf:
		if m.eval(e.Args[0]).Bool() {
			return m.eval(e.Args[1])
		}
		return m.eval(e.Args[2])
	case ir.OpAnd, ir.OpOr:
		if a := m.eval(e.Args[0]); a.Bool() == (e.Op == ir.OpOr) {
			return a
		}
		return m.eval(e.Args[1])
	}
	args, types := make([]ir.Const, len(e.Args)), make([]ir.Type, len(e.Args))
	for i, a := range e.Args {
		args[i], types[i] = m.eval(a), a.Type
	}
	v, ok := ir.EvalOp(e.Op, e.Type, types, args)
	if !ok {
		panic("no meaning of " + e.Op.Name)
	}
	return v
}

func (m *total) loop(spans []ir.Span, body func()) {
	if len(spans) == 0 {
		body()
		return
	}
	hi := m.int(spans[0].Hi)
	for x := m.int(spans[0].Lo); x < hi && m.steps < 20_000 && m.bad == ""; x++ {
		m.env[spans[0].Axis] = ir.IntConst(x)
		m.loop(spans[1:], body)
	}
}

// launchable reports whether the sizes satisfy what a launch checks.
func launchable(p *Program, env map[ir.Ref]ir.Const) bool {
	lookup := func(r ir.Ref) (ir.Const, bool) { v, ok := env[r]; return v, ok }
	for _, c := range p.Where {
		if v, err := ir.EvalExpr(c.Expr, lookup); err != nil || !v.Bool() {
			return false
		}
	}
	for _, list := range [][]*Tensor{p.Params, p.Results} {
		for _, t := range list {
			for _, e := range t.Extents {
				if v, err := ir.EvalExpr(e, lookup); err != nil || v.Int() < 0 {
					return false
				}
			}
		}
	}
	return true
}

func randomLaunch(r *rand.Rand, p *Program) map[ir.Ref]ir.Const {
	odd := []int64{0, 1, 2, 3, -1, -2, 5, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, math.MaxInt64 - 2}
	env := map[ir.Ref]ir.Const{}
	for _, s := range p.Scalars {
		v := int64(r.IntN(9))
		if !s.IsSize {
			v = odd[r.IntN(len(odd))]
		}
		env[s] = ir.IntConst(ir.Wrap(s.Type.Elem, v))
	}
	return env
}

func testSoundness(t *testing.T, seed uint64) (proven bool) {
	g := &boundsGen{r: rand.New(rand.NewPCG(seed, 7))}
	p := g.program()
	if len(ProveBounds(p)) > 0 {
		return false
	}
	require.Empty(t, Unproven(p), "seed %d", seed)
	for range 40 {
		env := randomLaunch(g.r, p)
		if !launchable(p, env) {
			continue
		}
		m := &total{env: env}
		d := p.Defs[0].(*Map)
		m.loop(d.Free, func() { m.eval(d.Body) })
		var sizes []string
		for _, s := range p.Scalars {
			sizes = append(sizes, fmt.Sprint(s.Name, "=", env[s].Int()))
		}
		require.Empty(t, m.bad, "seed %d, %v\n%s", seed, sizes, p)
	}
	return true
}

func TestProvenIsInside(t *testing.T) {
	rounds := 250
	if n, err := strconv.Atoi(os.Getenv("GKC_BOUNDS_ROUNDS")); err == nil {
		rounds = n
	}
	proven := 0
	for seed := range uint64(rounds) {
		if testSoundness(t, seed) {
			proven++
		}
	}
	require.Greater(t, proven, rounds/20, "the generator makes enough provable programs")
	t.Logf("%d of %d programs are proven", proven, rounds)
}

func FuzzProvenIsInside(f *testing.F) {
	f.Add(uint64(1 << 40))
	f.Fuzz(func(t *testing.T, seed uint64) { testSoundness(t, seed) })
}

// Whatever can be read and is well formed is proven or not, without a panic and soon.
func FuzzProveBounds(f *testing.F) {
	for _, src := range textFiles(f) {
		f.Add(src)
	}
	for _, body := range []string{"X[i / N % 3 * 2]", "X[min(abs(i - 5), N - 1)]", "X[if i > 0 && i != 7 || N == i { i - 1 } else { mod(i, N) }]"} {
		f.Add(boundsProgram("X: f32[N], Y: f32[N]", "N % 4 == 0", "def Y[i in 0..N] = "+body))
	}
	f.Fuzz(func(t *testing.T, src string) {
		p, errs := Parse(src)
		if errs.Err() != nil || Verify(p) != nil {
			return
		}
		ProveBounds(p)
	})
}
