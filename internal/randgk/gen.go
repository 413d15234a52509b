package randgk

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/gkc-lang/gkc/ir"
)

// array is a tensor that expressions may read.
type array struct {
	name    string
	typ     ir.Type
	axes    []axis
	edge    bool // it has a boundary
	exact   bool // every path computes the same bits
	indexOf axis // its elements are mostly indices of this
	step    int  // of a recurrence: the axis that steps, and where the step before is
	shift   int64
}

type scalar struct {
	name string
	typ  ir.Type
}

// gen makes one program.
type gen struct {
	*rand.Rand
	sizes   map[string]int64
	names   []string          // sizes
	halves  map[string]string // "A / 2" -> A
	even    map[string]bool   // sizes with a condition that makes them even
	indices map[string]int64
	loose   bool // inexact values may decide what is computed
	strict  bool // what is being made must be exact
	depth   int  // of nested index expressions and reductions
	cost    int64
	nodes   int // operations of the statement at hand

	consts, funcs            []string
	params, results, body    []string
	where                    []string
	scalars                  []scalar
	tensors                  []*array
	selfs                    []*array // what a recurrence may read at the step before
	behind                   int      // and how many of them at its own step
	scope                    []*index
	left                     []*index // those of the left-hand side that a scan may bind
	unary, binary, binderFns []string
	serial                   int
}

// Generate makes the program of a seed.
func Generate(seed uint64) *Program {
	g := &gen{Rand: rand.New(rand.NewPCG(seed, 1)), sizes: map[string]int64{}, halves: map[string]string{}, even: map[string]bool{}, indices: map[string]int64{}}
	g.loose = g.chance(5)
	g.makeSizes()
	g.makeConsts()
	g.makeFuncs()
	g.makeParams()
	for n := 1 + g.IntN(4); n > 0; n-- {
		g.statement()
	}
	for len(g.results) == 0 {
		g.define(true)
	}
	return &Program{Seed: seed, Source: g.text(), Sizes: g.sizes, Indices: g.indices}
}

func (g *gen) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *gen, list []T) T { return list[g.IntN(len(list))] }

func (g *gen) fresh(prefix string) string {
	g.serial++
	return fmt.Sprintf("%s%d", prefix, g.serial)
}

func (g *gen) text() string {
	g.Shuffle(len(g.body), func(i, j int) { g.body[i], g.body[j] = g.body[j], g.body[i] })
	var b strings.Builder
	for _, s := range append(g.consts, g.funcs...) {
		b.WriteString(s + "\n")
	}
	fmt.Fprintf(&b, "kernel k(\n%s) -> (\n%s)\n", lines(g.params, ","), lines(g.results, ","))
	if len(g.where) > 0 {
		fmt.Fprintf(&b, "where %s\n", strings.Join(g.where, ", "))
	}
	fmt.Fprintf(&b, "{\n%s}\n", lines(g.body, ""))
	return b.String()
}

func lines(list []string, end string) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString("    " + s + end + "\n")
	}
	return b.String()
}

func (g *gen) makeSizes() {
	for i := range 1 + g.IntN(3) {
		n := g.Int64N(6)
		switch k := g.IntN(40); {
		case k < 3:
			n = 0
		case k < 6:
			n = 1
		case k < 8:
			n = 30 + g.Int64N(40)
		case k < 9 && i == 0:
			n = 100 + g.Int64N(300)
		}
		name := string(rune('A' + i))
		g.names = append(g.names, name)
		g.sizes[name] = n
		if g.chance(20) {
			g.halves[name+" / 2"] = name
			if g.chance(60) {
				g.even[name] = true
				g.sizes[name] = n / 2 * 2
				g.where = append(g.where, name+" % 2 == 0")
			}
		}
	}
	if g.chance(12) {
		g.sizes["W"] = g.Int64N(5)
		t := pick(g, []ir.Type{ir.I32, ir.I64})
		g.params = append(g.params, "W: "+t.String())
		g.names = append(g.names, "W")
		g.scalars = append(g.scalars, scalar{"W", t})
	}
}

func (g *gen) makeConsts() {
	if g.chance(15) {
		g.consts = append(g.consts, "const CF = "+pick(g, []string{"1.5", "-0.25", "inf", "0.1", "2.0 * 3"}))
	}
	if g.chance(15) {
		g.consts = append(g.consts, "const CI = "+pick(g, []string{"3", "2 + 2", "-7", "0x1f"}))
	}
}

func (g *gen) makeFuncs() {
	if g.chance(20) {
		g.funcs = append(g.funcs, "func fa(x) = "+pick(g, []string{"x * x - 1", "if x > 0 { x } else { -x / 2 }", "max(x, 0) + x", "clamp(x, -1, 2)", "abs(x) * 3"}))
		g.unary = append(g.unary, "fa")
	}
	if g.chance(20) {
		g.funcs = append(g.funcs, "func fb(x, y) "+pick(g, []string{"= x * y + x", "= if x > y { x - y } else { y }", "= min(x, y) * 2", "{ d = x - y return d * d }", "= select(x == y, x, y + 1)"}))
		g.binary = append(g.binary, "fb")
	}
	if g.chance(15) {
		g.funcs = append(g.funcs, "func ra[j](x) "+pick(g, []string{"{ m = max[j](x) return x - m }", "{ s = sum[j](x * x) e = x + 1 return e / (s + 1) }", "= x - sum[j](x)", "{ m = mean[j](x) return x - m * 2 }"}))
		g.binderFns = append(g.binderFns, "ra")
	}
}

var dtypes = []ir.Type{ir.F32, ir.F32, ir.F32, ir.F32, ir.F16, ir.BF16, ir.F64, ir.F8E4M3, ir.F8E5M2, ir.I32, ir.I32, ir.I64, ir.I16, ir.I8, ir.U8, ir.U32, ir.Bool_}

// anyAxis is a dimension of a parameter or a result; bound ones stand alone as a name that binds.
func (g *gen) anyAxis() axis {
	base := pick(g, g.names)
	switch k := g.IntN(100); {
	case k < 65:
		return axis{base: base}
	case k < 75:
		return axis{base: base, hi: 1 + g.Int64N(2)}
	case k < 80 && g.sizes[base] > 0:
		return axis{base: base, hi: -1}
	case k < 90 && len(g.halves) > 0:
		for _, name := range g.names {
			if half := name + " / 2"; g.halves[half] != "" {
				return axis{base: half}
			}
		}
	case k < 97:
		return axis{hi: 1 + g.Int64N(4)}
	}
	return axis{base: base}
}

func (g *gen) elements(axes []axis) int64 {
	n := int64(1)
	for _, a := range axes {
		n *= g.extent(a)
	}
	return n
}

// shape draws dimensions for a tensor of a moderate size.
func (g *gen) shape(most int) []axis {
	for {
		axes := make([]axis, pick(g, []int{1, 1, 2, 2, 2, 3, 3, 4}[:2+most*2]))
		for i := range axes {
			axes[i] = g.anyAxis()
		}
		if g.elements(axes) <= 2000 {
			return axes
		}
		most = 1
	}
}

func (g *gen) makeParams() {
	for _, name := range g.names { // every size is bound by somebody
		if name != "W" {
			axes := g.shape(3)
			axes[g.IntN(len(axes))] = axis{base: name}
			for g.elements(axes) > 2000 {
				axes = []axis{{base: name}}
			}
			g.param(axes, pick(g, dtypes))
		}
	}
	for range g.IntN(3) {
		g.param(g.shape(3), pick(g, dtypes))
	}
	if g.chance(45) {
		p := g.param(g.shape(2), pick(g, []ir.Type{ir.I32, ir.I32, ir.I64, ir.I16, ir.U8, ir.U32}))
		p.indexOf = pick(g, pick(g, g.tensors).axes)
		p.indexOf.lo = 0
		g.indices[p.name] = g.extent(p.indexOf)
	}
	for range g.IntN(3) {
		t := pick(g, dtypes)
		name := g.fresh("s")
		text := name + ": " + t.String()
		if t.IsFloat() && g.chance(20) {
			text += " = 0.5"
		}
		g.params = append(g.params, text)
		g.scalars = append(g.scalars, scalar{name, t})
	}
	g.Shuffle(len(g.params), func(i, j int) { g.params[i], g.params[j] = g.params[j], g.params[i] })
}

func (g *gen) param(axes []axis, t ir.Type) *array {
	p := &array{name: g.fresh("P"), typ: t, axes: axes, exact: true}
	text := fmt.Sprintf("%s: %s[%s]", p.name, t, extents(axes))
	if g.chance(12) {
		text += " @" + g.edge(t)
		p.edge = true
	}
	g.params = append(g.params, text)
	g.tensors = append(g.tensors, p)
	return p
}

func extents(axes []axis) string {
	list := make([]string, len(axes))
	for i, a := range axes {
		list[i] = a.end()
	}
	return strings.Join(list, ", ")
}

func (g *gen) edge(t ir.Type) string {
	value := "7"
	switch {
	case t.IsBool():
		value = "true"
	case t.IsFloat():
		value = pick(g, []string{"-inf", "0.5", "nan", "1"})
	}
	return pick(g, []string{"zero", "clamp", "wrap", "mirror", "const(" + value + ")"})
}
