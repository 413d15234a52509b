package randgk

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/ir"
)

// expr is an expression: its text (an operand as it stands), its type as far as that matters, and whether every path computes
// the same bits.
type expr struct {
	text    string
	typ     ir.Type
	literal bool
	exact   bool
}

// mostNodes bounds the operations of a statement.
const mostNodes = 60

type kind uint8

const (
	floating kind = iota
	integer
)

func (g *gen) exactly(f func() expr) expr {
	old := g.strict
	g.strict = !g.loose
	defer func() { g.strict = old }()
	return f()
}

func (g *gen) exactInt(depth int) string {
	return g.exactly(func() expr { return g.number(integer, depth) }).text
}

func computed(t ir.Type) ir.Type {
	if t.IsBool() {
		return ir.I32
	}
	return ir.Type{Elem: t.Elem.Computed(), Pack: 1}
}

// widened is the type of arithmetic on a and b.
func widened(a, b expr) ir.Type {
	x, y := computed(a.typ), computed(b.typ)
	switch {
	case a.literal && !b.literal && (a.typ.IsInt() || y.IsFloat()):
		return y
	case b.literal && !a.literal && (b.typ.IsInt() || x.IsFloat()):
		return x
	case x.IsFloat() && y.IsFloat() && (x == ir.F64 || y == ir.F64):
		return ir.F64
	case x.IsFloat() && y.IsInt():
		return x
	case y.IsFloat():
		return y
	case x.IsFloat() || x == y:
		return x
	}
	return ir.I64
}

// number makes an expression of integers or of floats.
func (g *gen) number(k kind, depth int) expr {
	if g.nodes++; depth <= 0 || g.depth > 6 || g.nodes > mostNodes || g.chance(8) {
		return g.leaf(k)
	}
	if k == integer {
		return g.integer(depth)
	}
	return g.float(depth)
}

func (g *gen) leaf(k kind) expr {
	for range 4 {
		if e, ok := g.tryLeaf(k); ok {
			return e
		}
	}
	if k == integer {
		return expr{text: pick(g, []string{"1", "2", "3", "5", "0"}), typ: ir.I32, literal: true, exact: true}
	}
	if !g.strict && g.chance(20) {
		return expr{text: pick(g, []string{"0.1", "1e-3", "pi", "3.7"}), typ: ir.F32, literal: true}
	}
	return expr{text: pick(g, []string{"0.5", "1.5", "2.0", "0.25", "-1.0", "0.0"}), typ: ir.F32, literal: true, exact: true}
}

func (g *gen) fits(t ir.Type, exact bool, k kind) bool {
	return (exact || !g.strict) && (k == integer && t.IsInt() || k == floating && t.IsFloat())
}

func (g *gen) tryLeaf(k kind) (expr, bool) {
	c := g.IntN(100)
	switch {
	case len(g.selfs) > 0 && c < 30:
		i := g.IntN(len(g.selfs))
		if s := g.selfs[i]; g.fits(s.typ, false, k) {
			if text, ok := g.readSelf(s, i < g.behind); ok {
				return expr{text: text, typ: s.typ}, true
			}
		}
	case c < 78:
		t := pick(g, g.tensors)
		if g.nodes++; g.nodes > 2*mostNodes && k == integer {
			break
		}
		if g.fits(t.typ, t.exact, k) {
			return expr{text: g.read(t, true), typ: t.typ, exact: t.exact}, true
		}
	case c < 86 && len(g.scalars) > 0:
		if s := pick(g, g.scalars); g.fits(s.typ, true, k) {
			return expr{text: s.name, typ: s.typ, exact: true}, true
		}
	case c < 92 && k == integer && len(g.scope) > 0:
		return expr{text: pick(g, g.scope).name, typ: ir.I64, exact: true}, true
	case c < 95 && k == integer:
		return expr{text: pick(g, g.names), typ: ir.I64, exact: true}, true
	case c < 98 && len(g.consts) > 0:
		for _, text := range g.consts {
			if strings.HasPrefix(text, "const CI") && k == integer {
				return expr{text: "CI", typ: ir.I32, literal: true, exact: true}, true
			}
			if strings.HasPrefix(text, "const CF") && k == floating && !g.strict {
				return expr{text: "CF", typ: ir.F32, literal: true}, true
			}
		}
	}
	return expr{}, false
}

// read is an access to a tensor: inside, through data, guarded, or with a boundary.
func (g *gen) read(t *array, edges bool) string {
	if len(t.axes) == 0 {
		return t.name
	}
	list, edge := make([]string, len(t.axes)), ""
	boundary, fixed := t.edge || edges && g.chance(8), g.fixed()
	for d, a := range t.axes {
		text, ok := g.place(a)
		switch {
		case boundary && g.chance(50) && g.depth < 4:
			g.depth++
			text = g.exactInt(1)
			if len(g.scope) > 0 && g.chance(60) {
				text = pick(g, g.scope).name + pick(g, []string{" - 1", " + 1", " * 2 - 1", " + 2"})
			}
			g.depth--
		case !ok:
			boundary = true
			text = fmt.Sprintf("%d", g.IntN(3))
		}
		list[d] = text
	}
	if boundary {
		g.unfix(fixed)
	}
	if boundary && !(t.edge && g.chance(70)) {
		edge = "@" + g.edge(t.typ)
	}
	return fmt.Sprintf("%s%s[%s]", t.name, edge, strings.Join(list, ", "))
}

// readSelf reads a recurring name at the step before, or at this one.
func (g *gen) readSelf(s *array, now bool) (string, bool) {
	if len(g.scope) <= s.step {
		return "", false
	}
	fixed := g.fixed()
	list := make([]string, len(s.axes))
	for d, a := range s.axes {
		text, ok := g.place(a)
		if !ok || strings.Contains(text, "[") {
			text = g.scope[d].name
		}
		list[d] = text
	}
	g.unfix(fixed) // what recurs gives no ranges
	list[s.step] = shifted(g.scope[s.step].name, s.shift)
	if now && g.chance(50) {
		list[s.step] = g.scope[s.step].name
	}
	edge := ""
	if len(list) > 1 && g.chance(15) { // a boundary of the other dimensions
		edge = "@" + g.edge(s.typ)
		for d := range list {
			if d != s.step {
				list[d] = g.scope[d].name + pick(g, []string{" - 1", " + 1", ""})
			}
		}
	}
	return s.name + edge + "[" + strings.Join(list, ", ") + "]", true
}

func (g *gen) binaryExpr(op string, a, b expr, exact bool) expr {
	return expr{text: fmt.Sprintf("(%s %s %s)", a.text, op, b.text), typ: widened(a, b), literal: a.literal && b.literal, exact: exact}
}

// operands makes two operands that are not both literals.
func (g *gen) operands(k kind, depth int) (a, b expr) {
	a, b = g.number(k, depth-1), g.number(k, depth-1)
	for n := 0; a.literal && b.literal && n < 8; n++ {
		a = g.number(k, depth-1)
	}
	if a.literal && b.literal {
		a = g.cast(pick(g, map[kind][]ir.Type{integer: {ir.I32, ir.I64}, floating: {ir.F32}}[k]), a)
	}
	return a, b
}

func (g *gen) cast(t ir.Type, e expr) expr {
	return expr{text: fmt.Sprintf("%s(%s)", t, e.text), typ: t, exact: e.exact}
}

func (g *gen) integer(depth int) expr {
	switch c := g.IntN(100); {
	case c < 28:
		a, b := g.operands(integer, depth)
		return g.binaryExpr(pick(g, []string{"+", "-", "*"}), a, b, a.exact && b.exact)
	case c < 38:
		return g.division(depth)
	case c < 46:
		a, b := g.operands(integer, depth)
		f := pick(g, []string{"min", "max", "bitand", "bitor", "bitxor"})
		return expr{text: fmt.Sprintf("%s(%s, %s)", f, a.text, b.text), typ: widened(a, b), exact: a.exact && b.exact}
	case c < 52:
		a := g.cast(pick(g, intTypes), g.number(integer, depth-1))
		f := pick(g, []string{"abs(%s)", "sign(%s)", "-%s", "popcount(%s)", "clamp(%s, 1, 3)", "shl(%s, 3)", "shr(%s, 1)", "(%s ** 2)", "(%s ** 3)", "floor(%s)"})
		return expr{text: fmt.Sprintf(f, a.text), typ: computed(a.typ), exact: a.exact}
	case c < 56:
		a := g.number(integer, depth-1)
		b := g.exactInt(1)
		if a.literal {
			a = g.cast(ir.I32, a)
		}
		return expr{text: fmt.Sprintf("%s(%s, bitand(%s, 7))", pick(g, []string{"shl", "shr"}), a.text, b), typ: computed(a.typ), exact: a.exact}
	case c < 64:
		return g.choice(integer, depth)
	case c < 72:
		e := g.exactly(func() expr { return g.number(pick(g, []kind{integer, floating}), depth-1) })
		return g.cast(pick(g, intTypes), e)
	case c < 74:
		e := g.cast(ir.F32, g.exactly(func() expr { return g.number(floating, 1) }))
		return expr{text: fmt.Sprintf("bitcast(%s, %s)", pick(g, []string{"i32", "u32"}), g.noNaN(e)), typ: ir.I32, exact: true}
	case c < 78:
		e := g.exactly(func() expr { return g.truth(depth - 1) })
		return g.cast(pick(g, intTypes), e)
	case c < 81 && len(g.unary) > 0:
		a := g.number(integer, depth-1)
		return expr{text: fmt.Sprintf("%s(%s)", pick(g, g.unary), g.cast(ir.I32, a).text), typ: ir.I32, exact: a.exact}
	case c < 94:
		return g.reduction(integer, depth)
	case c < 97 && len(g.left) > 0:
		return g.scan(integer, depth)
	}
	return g.leaf(integer)
}

// noNaN replaces NaN, whose payload is nobody's business.
func (g *gen) noNaN(e expr) string {
	return fmt.Sprintf("select(isnan(%s), f32(0), %s)", e.text, e.text)
}

var intTypes = []ir.Type{ir.I32, ir.I32, ir.I64, ir.I16, ir.I8, ir.U8, ir.U32}

// division divides by what is mostly not zero: a number, something guarded, or now and then whatever comes.
func (g *gen) division(depth int) expr {
	a := g.number(integer, depth-1)
	for a.literal {
		a = g.cast(ir.I32, a)
	}
	form := pick(g, []string{"(%s / %s)", "(%s %% %s)", "floordiv(%s, %s)", "mod(%s, %s)"})
	b := expr{text: pick(g, []string{"2", "3", "7"}), typ: ir.I32, literal: true, exact: true}
	guard := ""
	switch c := g.IntN(100); {
	case c < 40:
	case c < 65:
		b = g.exactly(func() expr { return g.number(integer, depth-1) })
		b.text = fmt.Sprintf("max(%s, 1)", b.text)
	case c < 92:
		b = g.exactly(func() expr { return g.number(integer, depth-1) })
		if guard = b.text; b.literal {
			b.text, guard = "3", ""
		}
	default:
		b = g.exactly(func() expr { return g.leaf(integer) })
		if b.literal {
			b.text = "3"
		}
	}
	text := fmt.Sprintf(form, a.text, b.text)
	if guard != "" {
		text = fmt.Sprintf("(if %s != 0 { %s } else { 0 })", guard, text)
	}
	return expr{text: text, typ: widened(a, b), exact: a.exact && b.exact}
}

func (g *gen) choice(k kind, depth int) expr {
	c := g.exactly(func() expr { return g.truth(depth - 1) })
	a, b := g.operands(k, depth)
	form := pick(g, []string{"(if %s { %s } else { %s })", "(if %s { %s } else { %s })", "select(%s, %s, %s)"})
	return expr{text: fmt.Sprintf(form, c.text, a.text, b.text), typ: widened(a, b), exact: a.exact && b.exact && a.typ == b.typ}
}

func (g *gen) float(depth int) expr {
	if g.strict {
		return g.exactFloat(depth)
	}
	switch c := g.IntN(100); {
	case c < 26:
		a, b := g.mixed(depth)
		return g.binaryExpr(pick(g, []string{"+", "-", "*", "*"}), a, b, false)
	case c < 31:
		a, b := g.mixed(depth)
		if g.chance(70) {
			return expr{text: fmt.Sprintf("(%s / (abs(%s) + 1.0))", a.text, b.text), typ: widened(a, b)}
		}
		return g.binaryExpr(pick(g, []string{"/", "%"}), a, b, false)
	case c < 46:
		return g.function(depth)
	case c < 53:
		a, b := g.mixed(depth)
		f := pick(g, []string{"min(%s, %s)", "max(%s, %s)", "mod(%s, %s + 0.5)", "floordiv(%s, %s + 0.5)", "atan2(%s, %s)", "pow(abs(%s), clamp(%s, -2, 2))", "fma(%[1]s, %[2]s, %[1]s)", "clamp(%s, -1, max(%s, 0))", "min(%[1]s, %[2]s, 1)"})
		return expr{text: fmt.Sprintf(f, a.text, b.text), typ: widened(a, b)}
	case c < 57:
		a := g.number(floating, depth-1)
		return expr{text: fmt.Sprintf(pick(g, []string{"(%s ** 2)", "(%s ** -1)", "(%s ** 0.5)"}), g.noLiteral(a).text), typ: computed(a.typ)}
	case c < 64:
		return g.choice(floating, depth)
	case c < 70:
		e := g.number(pick(g, []kind{integer, floating}), depth-1)
		return g.cast(pick(g, floatTypes), e)
	case c < 72:
		args := []string{pick(g, []string{"7", g.exactInt(1)})}
		for range 1 + g.IntN(5) {
			args = append(args, g.exactInt(1))
		}
		return expr{text: fmt.Sprintf("rand(%s)", strings.Join(args, ", ")), typ: ir.F32, exact: true}
	case c < 73:
		e := g.exactly(func() expr { return g.number(integer, 1) })
		return expr{text: fmt.Sprintf("bitcast(f32, %s)", g.cast(ir.I32, e).text), typ: ir.F32, exact: true}
	case c < 76 && len(g.unary)+len(g.binary) > 0:
		a, b := g.operands(floating, depth)
		if len(g.binary) == 0 || len(g.unary) > 0 && g.chance(50) {
			return expr{text: fmt.Sprintf("%s(%s)", pick(g, g.unary), a.text), typ: computed(a.typ)}
		}
		return expr{text: fmt.Sprintf("%s(%s, %s)", pick(g, g.binary), a.text, b.text), typ: widened(a, b)}
	case c < 90:
		return g.reduction(floating, depth)
	case c < 96 && len(g.left) > 0:
		return g.scan(floating, depth)
	}
	return g.leaf(floating)
}

var floatTypes = []ir.Type{ir.F32, ir.F32, ir.F16, ir.BF16, ir.F64, ir.F8E4M3, ir.F8E5M2}

func (g *gen) noLiteral(e expr) expr {
	switch {
	case e.literal && e.typ.IsInt():
		return g.cast(ir.I32, e)
	case e.literal:
		return g.cast(ir.F32, e)
	}
	return e
}

// mixed makes operands of which one may be an integer.
func (g *gen) mixed(depth int) (a, b expr) {
	if g.chance(80) {
		return g.operands(floating, depth)
	}
	a, b = g.noLiteral(g.number(floating, depth-1)), g.number(integer, depth-1)
	if g.chance(50) {
		a, b = b, a
	}
	return a, b
}

var (
	tame = []string{"abs", "exp", "exp2", "expm1", "sin", "cos", "tanh", "atan", "erf", "erfc", "floor", "ceil", "round", "trunc", "sign", "-",
		"relu", "gelu", "gelu_tanh", "silu", "sigmoid", "softplus", "mish", "selu", "hardswish", "hardsigmoid", "hardtanh", "softsign", "logsigmoid"}
	partial = []string{"sqrt", "rsqrt", "log", "log2", "log1p", "asin", "acos", "tan", "sinh", "cosh"}
)

func (g *gen) function(depth int) expr {
	a := g.noLiteral(g.number(floating, depth-1))
	t := computed(a.typ)
	switch c := g.IntN(100); {
	case c < 65:
		return expr{text: fmt.Sprintf("%s(%s)", pick(g, tame), a.text), typ: t}
	case c < 80:
		return expr{text: fmt.Sprintf("%s(abs(%s) + 0.5)", pick(g, []string{"sqrt", "rsqrt", "log", "log2", "log1p"}), a.text), typ: t}
	case c < 85:
		return expr{text: fmt.Sprintf("%s(clamp(%s, -0.75, 0.75))", pick(g, []string{"asin", "acos", "tan", "sinh", "cosh"}), a.text), typ: t}
	case c < 90:
		return expr{text: fmt.Sprintf(pick(g, []string{"leaky_relu(%s, 0.1)", "elu(%s, 1.5)"}), a.text), typ: t}
	}
	return expr{text: fmt.Sprintf("%s(%s)", pick(g, partial), a.text), typ: t}
}

// exactFloat takes what rounds nowhere.
func (g *gen) exactFloat(depth int) expr {
	switch c := g.IntN(100); {
	case c < 30:
		a := g.noLiteral(g.number(floating, depth-1))
		return expr{text: fmt.Sprintf("%s(%s)", pick(g, []string{"abs", "floor", "ceil", "round", "trunc", "sign", "-", "relu"}), a.text), typ: computed(a.typ), exact: a.exact}
	case c < 50:
		a, b := g.operands(floating, depth)
		return expr{text: fmt.Sprintf("%s(%s, %s)", pick(g, []string{"min", "max"}), a.text, b.text), typ: widened(a, b), exact: a.exact && b.exact}
	case c < 65:
		return g.choice(floating, depth)
	case c < 80:
		return g.cast(pick(g, floatTypes), g.number(pick(g, []kind{integer, floating}), depth-1))
	case c < 90:
		return g.reduction(floating, depth)
	}
	return g.leaf(floating)
}

// truth makes a bool.
func (g *gen) truth(depth int) expr {
	if g.nodes++; depth <= 0 || g.depth > 6 || g.nodes > mostNodes {
		return g.simpleTruth()
	}
	switch c := g.IntN(100); {
	case c < 35:
		k := pick(g, []kind{integer, integer, floating})
		a, b := g.operands(k, min(depth, 2))
		return expr{text: fmt.Sprintf("(%s %s %s)", a.text, pick(g, []string{"<", "<=", ">", ">=", "==", "!="}), b.text), typ: ir.Bool_, exact: a.exact && b.exact}
	case c < 55:
		a, b := g.truth(depth-1), g.truth(depth-1)
		form := pick(g, []string{"(%s && %s)", "(%s || %s)", "(%s == %s)", "(%s != %s)"})
		return expr{text: fmt.Sprintf(form, a.text, b.text), typ: ir.Bool_, exact: a.exact && b.exact}
	case c < 62:
		a := g.truth(depth - 1)
		return expr{text: "!" + a.text, typ: ir.Bool_, exact: a.exact}
	case c < 70:
		a := g.noLiteral(g.number(floating, depth-1))
		return expr{text: fmt.Sprintf("%s(%s)", pick(g, []string{"isnan", "isinf"}), a.text), typ: ir.Bool_, exact: a.exact}
	case c < 75:
		a := g.noLiteral(g.number(pick(g, []kind{integer, floating}), depth-1))
		return expr{text: fmt.Sprintf("bool(%s)", a.text), typ: ir.Bool_, exact: a.exact}
	case c < 80:
		c, a, b := g.exactly(func() expr { return g.truth(depth - 1) }), g.truth(depth-1), g.truth(depth-1)
		return expr{text: fmt.Sprintf("(if %s { %s } else { %s })", c.text, a.text, b.text), typ: ir.Bool_, exact: a.exact && b.exact}
	case c < 90:
		return g.boolReduction(depth)
	}
	return g.simpleTruth()
}

func (g *gen) simpleTruth() expr {
	for range 4 {
		t := pick(g, g.tensors)
		if t.typ.IsBool() && (t.exact || !g.strict) {
			return expr{text: g.read(t, true), typ: ir.Bool_, exact: t.exact}
		}
	}
	if g.chance(5) {
		return expr{text: pick(g, []string{"true", "false"}), typ: ir.Bool_, exact: true}
	}
	a := g.leaf(pick(g, []kind{integer, floating}))
	return expr{text: fmt.Sprintf("(%s %s %s)", a.text, pick(g, []string{"<", ">", ">=", "!="}), pick(g, []string{"0", "1", "2"})), typ: ir.Bool_, exact: a.exact}
}
