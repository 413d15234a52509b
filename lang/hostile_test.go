package lang

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestHostilePrograms: what is made to break a parser gets one diagnosis, soon and in little memory.
func TestHostilePrograms(t *testing.T) {
	repeat := strings.Repeat
	in := func(body string) string { return "kernel f(x: f32[N]) -> y: f32[N] {\n" + body + "\n}" }
	bytes := make([]byte, 500_000)
	random := rand.NewChaCha8([32]byte{1})
	random.Read(bytes)
	for name, c := range map[string]struct{ src, want string }{
		"nothing":                {"", ""},
		"16 MB":                  {repeat("kernel f(x: f32) -> y: f32 { y = x }\n", 450_000), "the program is larger than 1048576 bytes"},
		"parentheses":            {in("y[i] = " + repeat("(", 100_000) + "x[i]" + repeat(")", 100_000)), "nesting deeper than 200"},
		"open parentheses":       {in("y[i] = " + repeat("(", 1_000_000)), "nesting deeper than 200"},
		"minus":                  {in("y[i] = " + repeat("-", 1_000_000) + "x[i]"), "nesting deeper than 200"},
		"long sum":               {in("y[i] = x[i]" + repeat("+x", 200_000)), "more than 4000 operators"},
		"power tower":            {"const A = 2" + repeat(" ** 2", 100_000), "nesting deeper than 200"},
		"subscripts":             {in("y[i] = " + repeat("x[", 100_000)), "nesting deeper than 200"},
		"subscripts on lines":    {in("y[i] = " + repeat("x[\n", 100_000)), "nesting deeper than 200"},
		"statements in brackets": {in(repeat("y[i] = x[\n", 100_000)), "the next statement, which defines y"},
		"if":                     {in("y[i] = " + repeat("if ", 330_000)), "nesting deeper than 200"},
		"if with a brace":        {in("y[i] = " + repeat("if a {", 150_000)), "nesting deeper than 200"},
		"arms":                   {in("y[i] = " + repeat("if a { b } else ", 60_000) + "{ c }"), "more than 4000 arms"},
		"braces":                 {repeat("{", 1_000_000), "expected const, func, kernel or example"},
		"closing braces":         {in(repeat("}", 500_000)), "expected const, func, kernel or example"},
		"brackets on the left":   {in("y" + repeat("[i", 300_000)), "nesting deeper than 200"},
		"names":                  {in(repeat("y ", 500_000)), "expected '=', '+=', 'max=' or 'min='"},
		"names on lines":         {in(repeat("y\n", 500_000)), "expected '=', '+=', 'max=' or 'min='"},
		"equals":                 {in(repeat("y\n=", 300_000)), "expected a statement"},
		"boundaries":             {in("y[i] = " + repeat("x@const(", 100_000)), "nesting deeper than 200"},
		"colons":                 {in(repeat("y:", 400_000)), "expected '=', '+=', 'max=' or 'min='"},
		"from":                   {in("y = 1" + repeat(" from 1", 100_000)), "y has one 'from'"},
		"ranges":                 {in("y = 1 for i in 0..1" + repeat(", i in 0..1", 90_000)), ""},
		"parameters":             {"kernel f(" + repeat("x: f32,", 140_000) + ") -> y: f32 { }", ""},
		"broken parameters":      {"kernel f(" + repeat("x f32,", 140_000) + ") -> y: f32 { }", "expected ':' and a dtype"},
		"open parameters":        {"kernel f(" + repeat("x: f32[N,", 100_000), "expected"},
		"kernels":                {repeat("kernel ", 140_000), "expected a name"},
		"kernel heads":           {repeat("kernel f(", 100_000), "expected a name"},
		"kernels without ends":   {repeat("kernel f() -> y: f32 { y = 1\n", 34_000), "expected a statement or '}'"},
		"funcs":                  {repeat("func f(x) {", 90_000), "expected 'return'"},
		"consts":                 {repeat("const a = ", 100_000), "expected an expression"},
		"semicolons":             {repeat(";", 1_000_000), ""},
		"semicolons inside":      {in(repeat(";", 1_000_000)), ""},
		"commas":                 {in("y[" + repeat(",", 1_000_000)), "expected an expression"},
		"long name":              {in("y = " + repeat("x", 1_000_000)), ""},
		"long number":            {in("y = " + repeat("9", 1_000_000)), "does not fit 64 bits"},
		"long fraction":          {in("y = 0." + repeat("9", 1_000_000)), ""},
		"points":                 {in("y = 1" + repeat(".1", 500_000)), "malformed number"},
		"open comment":           {in("y = 1 /*" + repeat("*", 1_000_000)), "comment without an end"},
		"comments":               {in(repeat("/**/", 250_000) + "y = 1"), ""},
		"comments in brackets":   {in("y = f(" + repeat("//\n", 300_000) + "1)"), ""},
		"zeros":                  {repeat("\x00", 1_000_000), "unexpected character"},
		"random bytes":           {string(bytes), ""},
		"lone quotes":            {repeat("\" ", 500_000), "unexpected character"},
		"marks":                  {in("y = x" + repeat("\u0301", 400_000)), "unexpected character"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, errs := Parse("hostile.gk", c.src)
		elapsed := time.Since(start)
		runtime.ReadMemStats(&after)
		assert.Less(t, elapsed, 5*time.Second, name) // a walk of square cost takes minutes
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<30), name)
		assert.LessOrEqual(t, len(errs), 2*51, name)
		for _, d := range errs {
			assert.Less(t, len(d.Message), 200, name)
		}
		switch {
		case c.want != "":
			if assert.NotEmpty(t, errs, name) {
				assert.Contains(t, errs.Error(), c.want, name)
			}
		case name != "random bytes":
			assert.Empty(t, errs, name)
		}
		t.Logf("%-24s %8s %6d MB %3d errors", name, elapsed.Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20, len(errs))
		if !errs.HasErrors() {
			out, errs := Format(c.src)
			assert.Empty(t, errs, name)
			if len(out) <= MaxSource {
				again, _ := Format(out)
				assert.True(t, again == out, name)
			}
		}
	}
}
