package simt

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Texts that would be slow if effort grew faster than their size.
func TestHostileTextsEnd(t *testing.T) {
	repeat := func(n int, f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i))
		}
		return b.String()
	}
	for name, c := range map[string]struct{ declarations, body string }{
		"many unrolled subscripts": {"", "var a: i32[8]\nfor i in 0..90 unroll { for j in 0..90 unroll {\n" +
			repeat(3000, func(int) string { return "a[(i + j) & 7] = i\n" }) + "} }"},
		"many buffers": {repeat(20000, func(i int) string { return fmt.Sprintf("shared s%d: i32[4096] at 0\n", i) }), ""},
		"a chain round a loop": {"", repeat(5000, func(i int) string { return fmt.Sprintf("var v%d: i32 = 0\n", i) }) + "for i in 0..n {\n" +
			repeat(4999, func(i int) string { return fmt.Sprintf("v%d = v%d + 1\n", i, i+1) }) + "v4999 = tid\n}"},
		"deep loops of matrix operations": {"shared s: f16[8192] at 0 align 1024", "var d: f32[64]\n" +
			repeat(150, func(i int) string { return fmt.Sprintf("for i%d in 0..n { ", i) }) +
			"fence wgmma; mma wgmma.m64n128k16.f32.f16 d += (u64(0)) of s[0] * (u64(0)) of s[0] acc true; commit wgmma" + strings.Repeat(" }", 150)},
		"deep branches": {"", repeat(150, func(i int) string { return fmt.Sprintf("if tid < %d {\n", i) }) +
			repeat(5000, func(i int) string {
				return fmt.Sprintf("var v%d: i32\nif n > 1 { v%d = 1 } else { v%d = 2 }\n", i, i, i)
			}) + strings.Repeat("}", 150)},
		"a long expression": {"", "let a: i32 = " + repeat(3000, func(int) string { return "tid + " }) + "1"},
		"many statements": {"", repeat(30000, func(i int) string {
			return fmt.Sprintf("let v%d: i32 = tid + %d\nstore gw[i64(v%d)] <- v%d\n", i, i, i, i)
		})},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			m, err := Parse(frame("", c.declarations, c.body))
			if assert.NoError(t, err) {
				_ = Verify(m)
			}
			assert.Less(t, time.Since(start), 20*time.Second)
			t.Log(time.Since(start))
		})
	}
}
