package lang

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// mistakes writes the problems of a program without their severity, and the names that are lost.
func mistakes(src string) string {
	file, errs := Parse("", src)
	var out []string
	for _, d := range errs {
		out = append(out, d.Pos.String()+" "+d.Message)
	}
	lost := slices.Sorted(maps.Keys(file.Lost))
	for _, item := range file.Items {
		if k, ok := item.(*Kernel); ok {
			lost = append(lost, slices.Sorted(maps.Keys(k.Lost))...)
		}
	}
	if len(lost) > 0 {
		out = append(out, "lost "+strings.Join(lost, " "))
	}
	return strings.Join(out, "\n")
}

func TestMistakesInStatements(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"a[i] = x[i] +\nb[i] = 2 *\ny[i] = 1", "3:1 expected an expression, found the next statement, which defines b\n4:1 expected an expression, found the next statement, which defines y\nlost a b"},
		{"a[i] = (x[i] + 1\nb[i] = x[i]]\ny[i] = 3", "3:1 expected ')', found 'b'\n3:12 expected a statement or '}', found ']'\nlost a"},
		{"a[i] = f(x[i] 2)\nb = 3 $ 4; c = )", "2:15 expected ',' or ')', found '2'\n3:7 unexpected character '$'\n3:16 expected an expression, found ')'\nlost a c"},
		{"a[i] = ; b[i] = ; y = 1", "2:8 expected an expression, found ';'\n2:17 expected an expression, found ';'\nlost a b"},
		{"a[i] = + b[j] = 2", "2:8 expected an expression, found '+'\nlost a b"},
		{"a[i] == 2", "2:6 expected '=', '+=', 'max=' or 'min=' after a, found '=='\nlost a"},
		{"a[i] -= 2\nb[i] *= 3", "2:6 expected '=', '+=', 'max=' or 'min=' after a, found '-'\n3:6 expected '=', '+=', 'max=' or 'min=' after b, found '*'\nlost a b"},
		{"a[i] max 2", "2:6 expected '=', '+=', 'max=' or 'min=' after a, found 'max'\nlost a"},
		{"a: 3 = 2", "2:4 expected a dtype, found '3'\nlost a"},
		{"a: f32", "3:1 expected '=', '+=', 'max=' or 'min=' after a, found '}'\nlost a"},
		{"a: f32[N] = 2", "2:11 a declaration of a with extents has no value: '=' stands in a statement of its own\nlost a"},
		{"a[i]: f32[N]", "2:7 a has both indices and extents\nlost a"},
		{"a@zero[i] = 2", "2:3 a@zero: only a scatter takes a boundary on its left-hand side\nlost a"},
		{"a@[i] += 2", "2:3 expected a boundary: zero, clamp, wrap, mirror or const(value), found '['\nlost a"},
		{"a[i] = 2 for i", "3:1 expected 'in' and a range, found '}'\nlost a"},
		{"a[i] = 2 for i in 0...4", "2:22 unexpected character '.'\nlost a"},
		{"a[i] = 2 for i in 0..4, j in", "3:1 expected an expression, found '}'\nlost a"},
		{"a[i] = 2 for\nb[i] = 3", "3:2 expected 'in' and a range, found '['\nlost a"},
		{"h[t] = h[t-1] from 0 from 1", "2:22 h has one 'from', which stands in front of 'for'\nlost h"},
		{"= 3\na = 1", "2:1 expected a statement or '}', found '='"},
		{"for i in 0..4 { a[i] = 2 }", "2:1 expected a statement or '}', found the keyword 'for'\nlost a"},
		{"if a { b = 2 }", "2:1 expected a statement or '}', found the keyword 'if'\nlost b"},
		{"return 3", "2:1 expected a statement or '}', found the keyword 'return'"},
		{"a[i] = if x[i] > 0 { 1 + } else { 2 }\nb = 2 *", "2:26 expected an expression, found '}'\n4:1 expected an expression, found '}'\nlost a b"},
		{"a[i] = if x[i] > 0 { 1 else { 2 }\nb = 2 *", "2:24 expected '}', found the keyword 'else'\n4:1 expected an expression, found '}'\nlost a b"},
		{"a[i] = sum[k in 0..](x[k])\nb[i] = sum[3](x[i])\nc = sum[k](x[k]", "2:20 expected an expression, found ']'\n3:12 expected an index, found '3'\n5:1 expected ',' or ')', found '}'\nlost a b c"},
	} {
		assert.Equal(t, c.want, mistakes("kernel f(x: f32[N]) -> y: f32[N] {\n"+c.body+"\n}\nconst A = 1"), c.body)
	}
}

func TestMistakesInHeads(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"kernel f(x f32[N], y: [N], z: f32[M + ], w: f32[K]) -> o: f32[K] { o[i] = w[i] + }",
			"1:12 expected ':' and a dtype, found 'f32'\n1:23 expected a dtype, found '['\n1:39 expected an expression, found ']'\n1:82 expected an expression, found '}'\nlost M N f32 o x y z"},
		{"kernel f(x: f32[N] y: f32[M], z: f32[K]) -> o: f32[K] { }", "1:20 expected ',' or ')', found 'y'\nlost M N f32 x y"},
		{"kernel f(x: f32[N, M) -> y: f32[N] { y[i] = 2 * }", "1:21 expected ',' or ']', found ')'\n1:49 expected an expression, found '}'\nlost M N f32 x y"},
		{"kernel f(x: f32[N] -> y: f32[N] { y[i] = 2 * }", "1:20 expected ',' or ')', found '->'\n1:46 expected an expression, found '}'\nlost f"},
		{"kernel f(x: f32[N]) -> y: f32[N] where { y[i] = x[i] }", "1:40 expected a condition, found '{'\nlost f"},
		{"kernel f(x: f32[N]) y: f32[N] { y[i] = 2 * }\nexample f(N = )", "1:21 expected '->' and results, found 'y'\n1:44 expected an expression, found '}'\n2:15 expected an expression, found ')'\nlost f"},
		{"kernel f(x: f32[N]) -> y f32[N] { y[i] = 2 * }", "1:26 expected ':' and a dtype, found 'f32'\n1:46 expected an expression, found '}'\nlost N f32 y"},
		{"kernel f(x: f32[N]) -> (y: f32[N], z) { y[i] = 2 * }", "1:37 expected ':' and a dtype, found ')'\n1:52 expected an expression, found '}'\nlost y z"},
		{"kernel f(x: f32[N]) -> y: f32[N] where N > { y[i] = 2 }", "1:44 expected an expression, found '{'\nlost f"},
		{"kernel f(x: f32[N]) -> y: f32[N] y[i] = 2", "1:34 expected '{', found 'y'\nlost f"},
		{"kernel (x: f32) -> y: f32 { y = 2 * }\nconst B = 2 +", "1:8 expected a name, found '('\n1:37 expected an expression, found '}'\n2:14 expected an expression, found the end of the text\nlost B"},
		{"kernel for(x: f32) -> y: f32 { y = 2 }", "1:8 expected a name, found the keyword 'for'"},
		{"kernel f(x: f32@[N]) -> y: f32 { y = 1 }", "1:17 expected a boundary: zero, clamp, wrap, mirror or const(value), found '['\nlost N f32 x"},
		{"const = 2\nconst B 3\nconst C = \nfunc f x = 2\nfunc g(3) = 2\nfunc h(x = 2\nfunc k(x) { a = 2 + ; b 3\nreturn a }\nexample f N = 3\nexample f(N: 3)",
			"1:7 expected a name, found '='\n2:9 expected '=', found '3'\n4:1 expected an expression, found the keyword 'func'\n4:8 expected '(' and parameters, found 'x'\n5:8 expected a name, found '3'\n6:10 expected ',' or ')', found '='\n7:21 expected an expression, found ';'\n7:25 expected '=', found '3'\n9:11 expected '(' and sizes, found 'N'\n10:12 expected '=', found ':'\nlost B C f g h k"},
		{"func f(x) x + 1 func g(x) { a = x }", "1:11 expected '=' or '{', found 'x'\n1:35 expected 'return', found '}'\nlost f g"},
		{"func f(x) { return x + 1", "1:25 expected '}', found the end of the text\nlost f"},
		{"func f(x) { return x } }\nconst A = 2", "1:24 expected const, func, kernel or example, found '}'"},
		{"kernel f(x: f32) -> y: f32 { y = 1 }}\nkernel g(x: f32) -> y: f32 { y = 1", "1:37 expected const, func, kernel or example, found '}'\n2:35 expected a statement or '}', found the end of the text\nlost y"},
		{"kernel f(x: f32) -> y: f32 { y = 1\nkernel g(x: f32) -> y: f32 { y = 2 * }", "2:1 expected a statement or '}', found the keyword 'kernel'\n2:38 expected an expression, found '}'\nlost y y"},
		{"x[i] = 2\ny[i] = 3\nkernel f(x: f32) -> y: f32 { y = x@const(0)[2] }", "1:1 expected const, func, kernel or example, found 'x'"},
		{"kernel f(x: f32) -> y: f32 { /* y = 1 }\nconst A = 2", "1:30 comment without an end: */ is missing\nlost y"},
		{"kernel f(x: f32[N]) -> y: f32[N] { y[i] = \xff\xfe x[i] }", "1:43 unexpected byte 0xff: the text is not UTF-8\nlost y"},
	} {
		assert.Equal(t, c.want, mistakes(c.src), c.src)
	}
}
