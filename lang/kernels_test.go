package lang

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// compiled is everything that compiling a text says, on so many processors.
func compiled(processors int, src string) string {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	unit, errs := Compile("many.gk", src, map[string]int64{"C": 64})
	var out strings.Builder
	for _, p := range unit.Programs {
		out.WriteString(p.String())
	}
	for _, e := range unit.Examples {
		fmt.Fprintln(&out, e.Kernel, e.Values, e.Pos)
	}
	return out.String() + "\n" + errs.Error()
}

// What is said does not depend on the number of processors.
func TestKernelsSideBySide(t *testing.T) {
	many := benchProgram(64 << 10) // of several parts
	deep := "func f0(x) = x + x\n"
	for i := 1; i < 16; i++ {
		deep += fmt.Sprintf("func f%[1]d(x) = f%[2]d(x) + f%[2]d(x)\n", i, i-1)
	}
	for i := range 8 {
		deep += fmt.Sprintf("kernel k%d(X: f32[N]) -> Y: f32[N] { Y[i] = f15(X[i]) }\n", i)
	}
	for _, c := range []struct{ name, src, says string }{
		{"right", many, ""},
		{"a mistake", strings.Replace(many, "Res[r, c]\n", "Rest[r, c]\n", 1), "unknown tensor Rest"},
		{"many mistakes", strings.ReplaceAll(many, "h / (H / G)", "h"), "index h ranges over G"},
		{"a syntax error", strings.Replace(many, "sum[d](Q", "sum[d](", 1), "expected"},
		{"declared twice", many + "kernel attention0(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }\n", "declared twice"},
		{"a wrong example", many + "example attention3(Z = 4)\n", "no size and no scalar parameter Z"},
		{"too many macros", deep, "expand to too many operations"},
	} {
		t.Run(c.name, func(t *testing.T) {
			one := compiled(1, c.src)
			assert.Contains(t, one, c.says)
			assert.Equal(t, one, compiled(4, c.src))
		})
	}
}
