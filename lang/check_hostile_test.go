package lang

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gkc-lang/gkc/ir/tensor"
)

// TestHostileMeanings: a wrong program, or one that is too large, is told so soon.
func TestHostileMeanings(t *testing.T) {
	repeat := func(n int, f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i))
		}
		return b.String()
	}
	kernel := func(body string) string { return "kernel k(x: f32[N]) -> r: f32[N] { " + body + " }" }
	for name, src := range map[string]string{
		"exponential funcs": "func f0(x) = x + x " + repeat(60, func(i int) string { return fmt.Sprintf("func f%d(x) = f%d(x) + f%d(x) ", i+1001, i+1000, i+1000) }) +
			"func f1000(x) = x " + kernel("r[a] = f1060(x[a])"),
		"literals in funcs": "func f(x) = if x > 0 { x } else { x } kernel k(u: u32[N], n: i32) -> r: u32[N] { r[a] = max(u[a], " + strings.Repeat("f(", 50) + "if n > 0 { 1 } else { 2 }" + strings.Repeat(")", 50) + ") }",
		"nested arguments":  "func f(x) = x + x + x " + kernel("r[a] = "+strings.Repeat("f(", 60)+"x[a]"+strings.Repeat(")", 60)),
		"nested binders":    kernel("r[a] = " + strings.Repeat("layernorm[a](", 40) + "x[a]" + strings.Repeat(", 1)", 40)),
		"other binders":     kernel("r[a] = " + repeat(40, func(i int) string { return fmt.Sprintf("softmax[b%d in 0..3](", i) }) + "x[a]" + strings.Repeat(")", 40)),
		"chain of funcs":    repeat(20000, func(i int) string { return fmt.Sprintf("func g%d(x) = g%d(x) ", i, i+1) }) + "func g20000(x) = x",
		"ring of funcs":     repeat(20000, func(i int) string { return fmt.Sprintf("func g%d(x) = g%d(x) ", i, (i+1)%20000) }),
		"long chain":        kernel(repeat(9000, func(i int) string { return fmt.Sprintf("t%d = t%d + 1; ", i, i+1) }) + "t9000 = 1; r[a] = t0"),
		"long ring":         kernel(repeat(9000, func(i int) string { return fmt.Sprintf("t%d = t%d + 1; ", i, (i+1)%9000) }) + "r[a] = t0"),
		"recurring ring":    kernel(repeat(900, func(i int) string { return fmt.Sprintf("t%d[a] = t%d[a-1] + x[a] from 0; ", i, (i+1)%900) }) + "r[a] = t0[a]"),
		"many statements":   kernel(repeat(30000, func(i int) string { return fmt.Sprintf("t%d = 1; ", i) }) + "r[a] = 1"),
		"many indices":      kernel("t[" + repeat(500, func(i int) string { return fmt.Sprintf("i%d, ", i) }) + "] = 1; r[a] = x[a]"),
		"many unknown":      kernel("r[a] = x[a]" + repeat(3000, func(i int) string { return fmt.Sprintf(" + unknown%d", i) })),
		"unknown of many":   kernel(repeat(9000, func(i int) string { return fmt.Sprintf("a%d[i] = b%d[i]; ", i, i) }) + "r[a] = x[a]"),
		"power tower":       "const c = " + strings.Repeat("2 ** ", 90) + "2",
		"long constants":    repeat(9000, func(i int) string { return fmt.Sprintf("const c%d = c%d + 1 ", i, i+1) }) + "const c9000 = 1",
		"many locals":       "func f(x) { " + repeat(9000, func(i int) string { return fmt.Sprintf("a%d = x + 1; ", i) }) + " return x }",
		"deep by funcs":     "func f(x) = x" + strings.Repeat(" + 1", 3000) + " " + kernel("r[a] = "+strings.Repeat("f(", 40)+"x[a]"+strings.Repeat(")", 40)),
		"many recurrences":  kernel("r[a] = x[a]; q[a, b, c, d, e, f, g, h] = q[a-1, b-1, c-1, d-1, e-1, f-1, g-1, h-1] from 0 for a in 0..2, b in 0..2, c in 0..2, d in 0..2, e in 0..2, f in 0..2, g in 0..2, h in 0..2"),
		"scatter of no end": kernel("r[" + strings.Repeat("a + ", 3000) + "a] += x[a]"),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			unit, errs := Compile("", src, nil)
			assert.Less(t, time.Since(start), 20*time.Second) // far above what it takes, for machines that are busy
			for _, p := range unit.Programs {
				assert.NoError(t, tensor.Verify(p))
			}
			t.Log(len(errs), time.Since(start))
		})
	}
}
