package source_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gkc-lang/gkc/codegen/source"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

func TestNames(t *testing.T) {
	n := source.NewNames("for", "x")
	for wants, got := range map[string]string{"for": "for_2", "x": "x_2", "α1": "u3b11", "1a": "x1a", "a.b": "a_b", "": "x_3", "_": "x_", "a__b": "a_ub"} {
		in := n.Inner()
		if wants == "" {
			in.New("x")
		}
		assert.Equal(t, got, in.New(wants), wants)
	}
	a, b := new(int), new(int)
	assert.Equal(t, "y", n.Of(a, "y"))
	assert.Equal(t, "y_2", n.Of(b, "y"))
	assert.Equal(t, "y", n.Of(a, "z"), "a thing keeps its name")
}

func TestFill(t *testing.T) {
	a, b := source.Atom("a"), source.Atom("b")
	op := func(template string, operands ...source.Text) source.Text {
		return source.Fill(template, operands, map[byte]string{'t': "T"})
	}
	sum, product, less := op("$0 + $1", a, b), op("$0 * $1", a, b), op("$0 < $1", a, b)
	for _, c := range []struct{ got, want string }{
		{op("$0 + $1", sum, b).String, "a + b + b"},
		{op("$0 - $1", a, sum).String, "a - (a + b)"},
		{op("$0 - $1", sum, product).String, "a + b - a * b"},
		{op("$0 * $1", sum, b).String, "(a + b) * b"},
		{op("$0 / $1", a, product).String, "a / (a * b)"},
		{op("f($0, $1)", sum, less).String, "f(a + b, a < b)"},
		{op("-$0", sum).String, "-(a + b)"},
		{op("-$0", op("-$0", a)).String, "-(-a)"},
		{op("!$0", less).String, "!(a < b)"},
		{op("$0 < $1", less, a).String, "(a < b) < a"},
		{op("$0 && $1", less, op("$0 || $1", less, less)).String, "a < b && (a < b || a < b)"},
		{op("$0 & $1", sum, b).String, "(a + b) & b"},
		{op("$0 + $1", op("$0 & $1", a, b), b).String, "(a & b) + b"},
		{op("$0 ? $1 : $2", less, sum, b).String, "(a < b) ? (a + b) : b"},
		{op("$0 + $1", op("$0 ? $1 : $2", less, a, b), b).String, "((a < b) ? a : b) + b"},
		{op("$t($0 * $1)", sum, b).String, "T((a + b) * b)"},
		{op("f($*)", sum, b).String, "f(a + b, b)"},
		{op("$0 + $1", source.Loose("-1"), source.Unary("(T)x")).String, "(-1) + (T)x"},
		{op("f($0) != 0", sum).Paren(), "(f(a + b) != 0)"},
	} {
		assert.Equal(t, c.want, c.got)
	}
}

func TestSharedExpressionsAreNamedOnce(t *testing.T) {
	r := &simt.Reg{Name: "r", Type: ir.F32}
	e := ir.Name(r)
	for range 100 { // as a tree this has 2^100 leaves
		e = ir.Add(e, e)
	}
	shared := source.Shared(e)
	assert.Len(t, shared, 99)
	assert.Equal(t, e.Args[0], shared[98], "operands come first")
	deep := ir.Name(r)
	for range 1000 {
		deep = ir.Add(deep, ir.Name(r))
	}
	assert.NotEmpty(t, source.Shared(deep), "deep nesting is cut")
	assert.Empty(t, source.Shared(ir.Add(ir.Name(r), ir.Name(r))))
}

func TestElementwise(t *testing.T) {
	word := ir.Packed(ir.F16.Elem)
	r := &simt.Reg{Name: "r", Type: word}
	e := ir.Apply(ir.OpMax, ir.Name(r), ir.Name(r))
	kept := source.Elementwise(func(op *ir.Op, t ir.Type) bool { return op == ir.OpMax && t == word }).Rewrite(e)
	assert.Equal(t, e, kept)
	flat := source.Elementwise(func(*ir.Op, ir.Type) bool { return false }).Rewrite(e)
	assert.Equal(t, simt.PackOf(word), flat.Op)
	assert.Equal(t, ir.OpMax, flat.Args[1].Op)
	assert.Equal(t, simt.OpHi, flat.Args[1].Args[0].Op)
}
