package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkCompile measures parsing and checking together: of a small file, which is what a command pays, and of a large one.
func BenchmarkCompile(b *testing.B) {
	for _, size := range []int{1 << 10, 512 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			src := benchProgram(size)
			benchCompile(b, src)
		})
	}
	b.Run("corpus", func(b *testing.B) { benchCompile(b, manyPrograms(b)) })
}

func benchCompile(b *testing.B, src string) {
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		_, errs := Compile("bench.gk", src, nil)
		require.Empty(b, errs)
	}
}

// manyPrograms are many different programs in one: the kernels of the conformance cases, whose names live in one file after all.
func manyPrograms(b *testing.B) string {
	files, err := filepath.Glob(cases + "/kernelbench?/*/kernel.gk")
	require.NoError(b, err)
	var out strings.Builder
	for _, file := range files {
		src, err := os.ReadFile(file)
		require.NoError(b, err)
		text := string(src)
		if strings.Contains(text, "\nfunc ") || strings.Contains(text, "\nconst ") || strings.HasPrefix(text, "func ") || strings.HasPrefix(text, "const ") {
			continue
		}
		out.WriteString(text)
	}
	src := out.String()
	require.NotEmpty(b, src)
	return src
}
