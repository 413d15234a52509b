package lang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/internal/golden"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/lang/std"
)

// checkFormat verifies what holds for every program: formatting is idempotent, changes no meaning and keeps all comments.
func checkFormat(t *testing.T, name, src string) string {
	before, errs := Parse(name, src)
	out, formatErrs := Format(src)
	if errs.HasErrors() {
		require.NotEmpty(t, formatErrs, name)
		return ""
	}
	require.Empty(t, formatErrs, name)
	after, errs := Parse(name, out)
	require.Empty(t, errs, "%s\n%s", name, out)
	require.Equal(t, describe(before), describe(after), "%s\n%s", name, out)
	require.Equal(t, comments(src), comments(out), name)
	again, _ := Format(out)
	require.Equal(t, out, again, name)
	for _, l := range strings.Split(out, "\n") {
		if !strings.Contains(src, "/*") {
			require.Equal(t, strings.TrimRight(l, " \t"), l, name)
		}
	}
	return out
}

// comments lists the comments of a program, without the space around them.
func comments(src string) []string {
	_, list, _ := syntax.Lex(src, syntax.Gk)
	var out []string
	for _, c := range list {
		out = append(out, strings.TrimRight(strings.ReplaceAll(c.Text, "\r\n", "\n"), " \t\r\n"))
	}
	return out
}

func TestFormatGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/format/*.gk")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		if strings.HasSuffix(f, ".golden.gk") {
			continue
		}
		src, err := os.ReadFile(f)
		require.NoError(t, err)
		out := checkFormat(t, f, string(src))
		golden.Equal(t, strings.TrimSuffix(f, ".gk")+".golden.gk", out)
	}
}

func TestFormatCorpus(t *testing.T) {
	for name, src := range corpus(t) {
		checkFormat(t, name, src)
	}
	assert.Equal(t, std.Source, checkFormat(t, "std.gk", std.Source), "the library is laid out so")
}

func TestFormatLine(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"x[ i -1,j+ 1, 2*i+1, i-j, i/2, (i-1), i-x[j-1] ]", "x[i-1, j+1, 2 * i + 1, i-j, i / 2, (i-1), i - x[j-1]]"},
		{"sum[ k in g * W..(g + 1) * W ,c in -1..rp[i + 1]+n%2 where k<2](x[k])", "sum[k in g*W..(g+1)*W, c in -1..rp[i+1]+n%2 where k < 2](x[k])"},
		{"sum [k:f64] (x [k])", "sum[k: f64](x[k])"},
		{"x @ zero [i]+y@const ( - inf ) [i]", "x@zero[i] + y@const(-inf)[i]"},
		{"- a** -b+!c", "-a ** -b + !c"},
		{"f( (a+b)*c , - 1,)", "f((a + b) * c, -1)"},
		{"if a<b{1}else if(c){2}else{3}", "if a < b { 1 } else if (c) { 2 } else { 3 }"},
		{"cumsum[j reverse exclusive](x)", "cumsum[j reverse exclusive](x)"},
		{"x[i] from h0[b-1] for t in 0..T-1,b in 0 .. 4,", "x[i] from h0[b-1] for t in 0..T-1, b in 0..4"},
	} {
		src := "kernel f() -> y: f32 {\n  y=" + c.src + "}"
		want := "kernel f() -> y: f32 {\n    y = " + c.want + "\n}\n"
		assert.Equal(t, want, checkFormat(t, c.src, src))
	}
}

func TestFormatRefuses(t *testing.T) {
	out, errs := Format("kernel f(x: f32[N]) -> y: f32[N] { y[i] = x[i }")
	assert.Empty(t, out)
	assert.Equal(t, "1:47: error: expected ',' or ']', found '}' [syntax]", errs.Error())
}

func FuzzFormat(f *testing.F) {
	files, _ := filepath.Glob("testdata/format/*.gk")
	for _, name := range files {
		src, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(string(src))
	}
	f.Add("//a\nconst/*b*/A=1;/*c*/example f(N=/*d*/2,/*e*/)//f")
	f.Fuzz(func(t *testing.T, src string) { checkFormat(t, "", src) })
}

func BenchmarkFormat(b *testing.B) {
	src := benchProgram(256 << 10)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Format(src)
	}
}
