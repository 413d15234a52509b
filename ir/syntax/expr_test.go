package syntax

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/diag"
)

// sexpr writes a tree so that its shape can be seen.
func sexpr(n *Node) string {
	if n == nil {
		return "nil"
	}
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch n.Kind {
	case Number, Name:
		return n.Name
	case Index:
		add("at %s", n.Name)
		if n.Edge != nil {
			add("@%s", n.Edge.Kind)
			if n.Edge.Value != nil {
				add("%s", sexpr(n.Edge.Value))
			}
		}
	case Call:
		add("call %s", n.Name)
	case Bind:
		add("bind %s", n.Name)
		for _, b := range n.Binders {
			s := b.Name
			if b.Lo != nil {
				s += " " + sexpr(b.Lo) + ".." + sexpr(b.Hi)
			}
			if b.Type != "" {
				s += ":" + b.Type
			}
			add("<%s>", strings.Join(append([]string{s}, b.Flags...), " "))
		}
		if n.Where != nil {
			add("where %s", sexpr(n.Where))
		}
	case Unary, Binary, If:
		add("%s", n.Name)
	}
	for _, a := range n.Args {
		add("%s", sexpr(a))
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// parseExpr reads a text that is one expression.
func parseExpr(src string, mode Mode) (n *Node, errs diag.List) {
	p, errs := New(src, mode)
	errs.Add(p.Catch(func() {
		n = p.Expr()
		if p.Peek().Kind != End {
			p.Expected("the end")
		}
	}))
	return n, errs.Sorted()
}

func TestExpr(t *testing.T) {
	for _, c := range []struct {
		mode      Mode
		src, want string
	}{
		{Gk, "x", "x"},
		{Gk, "0x1f", "0x1f"},
		{Gk, "((x))", "x"},
		{Gk, "a + b * c - d", "(- (+ a (* b c)) d)"},
		{Gk, "a - b - c", "(- (- a b) c)"},
		{Gk, "(a + b) * c", "(* (+ a b) c)"},
		{Gk, "a / b % c", "(% (/ a b) c)"},
		{Gk, "-a * b", "(* (- a) b)"},
		{Gk, "-a ** b", "(- (** a b))"},
		{Gk, "a ** -b ** c", "(** a (- (** b c)))"},
		{Gk, "a ** b ** c", "(** a (** b c))"},
		{Gk, "!a && b || c && !d", "(|| (&& (! a) b) (&& c (! d)))"},
		{Gk, "a < b && c >= d + 1", "(&& (< a b) (>= c (+ d 1)))"},
		{Gk, "- - !x", "(- (- (! x)))"},
		{Gk, "a == -1", "(== a (- 1))"},
		{Gk, "if a { b } else { c }", "(if a b c)"},
		{Gk, "if a { b } else if c { d } else { e }", "(if a b (if c d e))"},
		{Gk, "1 + if a { b } else { c } + 2", "(+ (+ 1 (if a b c)) 2)"},
		{Gk, "f()", "(call f)"},
		{Gk, "f(x, y + 1,)", "(call f x (+ y 1))"},
		{Gk, "x[i, 2 * j]", "(at x i (* 2 j))"},
		{Gk, "x[i,]", "(at x i)"},
		{Gk, "x@zero[i - 1]", "(at x @zero (- i 1))"},
		{Gk, "x@const(-inf)[i]", "(at x @const (- inf) i)"},
		{Gk, "x[i][j]", ""},
		{Gk, "x[k](i)", "(bind x <k> i)"},
		{Gk, "x[i]\n(j)", "(bind x <i> j)"},
		{Gk, "sum[j](x[j])", "(bind sum <j> (at x j))"},
		{Gk, "sum[j, k in 0..n where j < k,](x)", "(bind sum <j> <k 0..n> where (< j k) x)"},
		{Gk, "sum[k: f64](x)", "(bind sum <k:f64> x)"},
		{Gk, "sum[k in 0..\nn: f64](x)", "(bind sum <k 0..n:f64> x)"},
		{Gk, "sum[k in rp[i]..rp[i + 1]](x)", "(bind sum <k (at rp i)..(at rp (+ i 1))> x)"},
		{Gk, "cumsum[j reverse exclusive where c](x)", "(bind cumsum <j reverse exclusive> where c x)"},
		{Gk, "argtop[j](x[j], r)", "(bind argtop <j> (at x j) r)"},
		{Gk, "max(a, min[i](b))", "(call max a (bind min <i> b))"},
		{Gk, "sum[i](x[i]) / sum[j](1)", "(/ (bind sum <i> (at x i)) (bind sum <j> 1))"},
		{Gk, "true && inf > nan || pi == false", "(|| (&& true (> inf nan)) (== pi false))"},
		{IR, "a | b ^ c & d << 2 + e", "(| a (^ b (& c (<< d (+ 2 e)))))"},
		{IR, "a & b == c", "(== (& a b) c)"},
		{IR, "widen.f32(a')", "(call widen.f32 a')"},
	} {
		n, errs := parseExpr(c.src, c.mode)
		if c.want == "" {
			assert.NotEmpty(t, errs, c.src)
			continue
		}
		if assert.Empty(t, errs, c.src) {
			assert.Equal(t, c.want, sexpr(n), c.src)
		}
	}
}

func TestExprMistakes(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", "1:1: error: expected an expression, found the end of the text [syntax]"},
		{"a +", "1:4: error: expected an expression, found the end of the text [syntax]"},
		{"a << 2", "1:4: error: expected an expression, found '<' [syntax]"},
		{"(a", "1:3: error: expected ')', found the end of the text [syntax]"},
		{"a)", "1:2: error: expected the end, found ')' [syntax]"},
		{"x[i)", "1:4: error: expected ',' or ']', found ')' [syntax]"},
		{"f(a b)", "1:5: error: expected ',' or ')', found 'b' [syntax]"},
		{"f(,)", "1:3: error: expected an expression, found ',' [syntax]"},
		{"a < b < c", "1:7: error: comparisons do not chain: write a < b && b < c [syntax]"},
		{"if a { b }", "1:11: error: expected 'else': an if is an expression and needs both values, found the end of the text [syntax]"},
		{"if a b", "1:6: error: expected '{' after the condition, found 'b' [syntax]"},
		{"if a { b } else c", "1:17: error: expected '{' or 'if', found 'c' [syntax]"},
		{"a + return", "1:5: error: expected an expression, found the keyword 'return' [syntax]"},
		{"x@[i]", "1:3: error: expected a boundary: zero, clamp, wrap, mirror or const(value), found '[' [syntax]"},
		{"x@zero(i)", "1:7: error: expected '[' after the boundary, found '(' [syntax]"},
		{"x@const[i]", "1:8: error: expected '(' and a value, found '[' [syntax]"},
		{"sum[j in 0..](x)", "1:13: error: expected an expression, found ']' [syntax]"},
		{"sum[j in 4](x)", "1:11: error: expected '..', found ']' [syntax]"},
		{"sum[3](x)", "1:5: error: expected an index, found '3' [syntax]"},
		{"sum[j k](x)", "1:7: error: expected ',', 'where' or ']', found 'k' [syntax]"},
		{"sum[j: 3](x)", "1:8: error: expected a dtype, found '3' [syntax]"},
		{"9223372036854775808", "1:1: error: the integer 9223372036854775808 does not fit 64 bits [limit]"},
		{"0x1_0000_0000_0000_0000", "1:1: error: the integer 0x1_0000_0000_0000_0000 does not fit 64 bits [limit]"},
		{"1e999", "1:1: error: the number 1e999 is too large for 64 bits [limit]"},
		{"a + $ b", "1:5: error: unexpected character '$' [syntax]"},
		{"f(a § b)", "1:5: error: unexpected character '§' [syntax]"},
		{"f(a /* b)", "1:5: error: comment without an end: */ is missing [syntax]"},
		{"a + 12abc", "1:5: error: malformed number \"12abc\" [syntax]"},
		{"0x", "1:1: error: malformed number \"0x\" [syntax]"},
	} {
		_, errs := parseExpr(c.src, Gk)
		assert.Equal(t, c.want, errs.Error(), c.src)
	}
}

func TestSpans(t *testing.T) {
	for _, src := range []string{"(a + b) * (c)", "-(x)", "(a) ** (b)", "if (a) { b } else { (c) }", "x@const((1))[(i)]", "sum[j in (0)..(n) where (c)]((x))", "f((a), b)"} {
		n, errs := parseExpr(src, Gk)
		require.Empty(t, errs)
		assert.Equal(t, src, src[n.Pos.Offset:n.End.Offset])
	}
	n, _ := parseExpr("2 * (z) + (a - b)", Gk)
	assert.EqualValues(t, 9, n.OpPos.Col, "the operator")
	assert.EqualValues(t, 6, n.Args[0].Args[1].Pos.Col, "the name, not its parenthesis")
	assert.True(t, n.Args[1].Paren)
	assert.EqualValues(t, 14, n.Args[1].OpPos.Col)
}

func TestNumbers(t *testing.T) {
	for src, want := range map[string]Node{
		"9223372036854775807": {NumKind: IntNum, Int: 1<<63 - 1, Float: 1 << 63},
		"0x7fffffffffffffff":  {NumKind: IntNum, Int: 1<<63 - 1, Float: 1 << 63},
		"1_000":               {NumKind: IntNum, Int: 1000, Float: 1000},
		"0x_":                 {},
		"007":                 {NumKind: IntNum, Int: 7, Float: 7},
		"1_0.5e-1":            {NumKind: FloatNum, Float: 1.05},
		"5e-324":              {NumKind: FloatNum, Float: 5e-324},
		"1e-999":              {NumKind: FloatNum},
		"true":                {NumKind: BoolNum, Int: 1},
		"false":               {NumKind: BoolNum},
	} {
		n, errs := parseExpr(src, Gk)
		if src == "0x_" {
			assert.NotEmpty(t, errs)
			continue
		}
		require.Empty(t, errs, src)
		assert.Equal(t, [3]any{want.NumKind, want.Int, want.Float}, [3]any{n.NumKind, n.Int, n.Float}, src)
	}
	n, errs := parseExpr("18446744073709551615", IR)
	require.Empty(t, errs)
	assert.EqualValues(t, uint64(1<<64-1), n.Int)
}

func TestMatch(t *testing.T) {
	for src, want := range map[string][]int32{
		"( [ ] )":     {3, 2, 1, 0},
		"( [ )":       {2, -1, 0},
		") ( ]":       {-1, -1, -1},
		"{ ( [ } ) ]": {3, -1, -1, 0, -1, -1},
		"[ ( ] [ )":   {2, -1, 0, -1, -1},
		"( ( x )":     {-1, 3, -1, 1},
	} {
		p, _ := New(src, Gk)
		assert.Equal(t, want, p.match[:len(want)], src)
	}
}

func TestHostileExpressions(t *testing.T) {
	long := func(s string, n int) string { return strings.Repeat(s, n) }
	for name, c := range map[string]struct{ src, want string }{
		"parentheses":        {long("(", 100_000) + "x" + long(")", 100_000), "1:201: error: nesting deeper than 200 [limit]"},
		"open parentheses":   {long("(", 1_000_000), "1:201: error: nesting deeper than 200 [limit]"},
		"minus":              {long("-", 1_000_000), "1:201: error: nesting deeper than 200 [limit]"},
		"not":                {long("!", 1_000_000) + "x", "1:201: error: nesting deeper than 200 [limit]"},
		"powers":             {long("x**", 300_000) + "x", "1:601: error: nesting deeper than 200 [limit]"},
		"sum":                {"x" + long("+x", 200_000), "1:8002: error: an expression with more than 4000 operators in a row; give a part of it a name [limit]"},
		"subscripts":         {long("x[", 500_000), "1:401: error: nesting deeper than 200 [limit]"},
		"closed subscripts":  {long("x[", 100_000) + "0" + long("]", 100_000), "1:401: error: nesting deeper than 200 [limit]"},
		"subscripts abreast": {"f(" + long("x[i],", 200_000) + ")", ""},
		"calls":              {long("f(", 500_000), "1:401: error: nesting deeper than 200 [limit]"},
		"binders":            {long("s[j](", 200_000), "1:1001: error: nesting deeper than 200 [limit]"},
		"ranges":             {long("s[j in ", 50_000) + "0" + long("..1](x)", 50_000), "1:1401: error: nesting deeper than 200 [limit]"},
		"if":                 {long("if ", 300_000), "1:601: error: nesting deeper than 200 [limit]"},
		"if in branches":     {long("if c { ", 150_000), "1:1397: error: nesting deeper than 200 [limit]"},
		"arms":               {long("if c { 1 } else ", 60_000) + "{ 2 }", "1:64001: error: an if with more than 4000 arms [limit]"},
		"3000 arms":          {long("if c { 1 } else ", 3000) + "{ 2 }", ""},
		"edges":              {long("x@const(", 100_000), "1:1601: error: nesting deeper than 200 [limit]"},
		"nest of chains":     {long("(", 190) + "a" + long(long("+a", 100)+")", 190), "an expression with more than 4000 operators"},
		"where of chains":    {long("s[j where ", 190) + "a" + long(long("+a", 100)+"](x)", 190), "an expression with more than 4000 operators"},
	} {
		start := time.Now()
		_, errs := parseExpr(c.src, Gk)
		assert.Less(t, time.Since(start), 5*time.Second, name) // a walk of square cost takes minutes
		if c.want == "" {
			assert.Empty(t, errs, name)
			continue
		}
		assert.Contains(t, errs.Error(), c.want, name)
		assert.Len(t, errs, 1, name)
	}
}

func FuzzExpr(f *testing.F) {
	for _, s := range []string{"a + b * -c ** 2", "if a < 1 { x[i] } else { sum[j in 0..n where c](y@zero[j]) }", "f(1.5e3, 0x1f, inf) && !b", "x@const(-inf)[i, j]"} {
		f.Add(s, false)
	}
	f.Add("a' | widen.f32(b) << 2", true)
	f.Fuzz(func(t *testing.T, src string, ir bool) {
		mode := Gk
		if ir {
			mode = IR
		}
		n, errs := parseExpr(src, mode)
		for _, d := range errs {
			require.True(t, d.Pos.IsValid())
			require.LessOrEqual(t, int(d.Pos.Offset), len(src))
		}
		if len(errs) == 0 {
			again, errs := parseExpr(src[n.Pos.Offset:n.End.Offset], mode) // without what surrounds it
			require.Empty(t, errs)
			require.Equal(t, sexpr(n), sexpr(again))
		}
	})
}

func BenchmarkExpr(b *testing.B) {
	src := "f(" + strings.Repeat("Sum[r, c] * rsqrt(mean[c](Sum[r, c] ** 2) + eps) * w[c],\n", 2000) + ")"
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		parseExpr(src, Gk)
	}
}
