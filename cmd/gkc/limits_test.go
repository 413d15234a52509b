package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What would take more memory than a run may hold is refused before anything is allocated.
func TestHugeRunsAreRefused(t *testing.T) {
	const (
		fill  = "kernel fill(N: i64) -> Y: f32[N] { Y[i] = 1 }"
		outer = "kernel outer(x: f32[N]) -> y: f32[N] { t[i, j] = x[i] * x[j]; y[i] = sum[j](t[i, j]) }"
	)
	for _, c := range []struct {
		source, give, mention string
	}{
		{saxpy, "--set=N=10000000000", "too large to be made up"},
		{saxpy, "--set=N=1000000000000000000", "larger than 1024 GiB"},
		{fill, "--in=N=100000000000", "limit"},
		{outer, "--set=N=300000 --no-fuse", "limit"},
	} {
		for _, device := range []string{"ref", "sim", "go"} {
			args := append([]string{"run", "k.gk", "--device", device}, strings.Fields(c.give)...)
			code, _, errOut := fresh(t, map[string]string{"k.gk": c.source}, args...)
			assert.Equal(t, exitWrong, code, "%s %s: %s", c.give, device, errOut)
			assert.Contains(t, errOut, c.mention)
		}
	}
}

// A size that --set gives is fixed while the kernel is compiled: what holds for it is proven.
func TestSettingsAreKnownToTheCompiler(t *testing.T) {
	const shifted = "kernel k(X: f32[N]) -> Z: f32[4] { Z[i] = X[i + 4] }"
	code, _, errOut := fresh(t, map[string]string{"k.gk": shifted}, "run", "k.gk", "--set", "N=8")
	assert.Equal(t, exitRight, code, errOut)
	code, _, errOut = again("run", "k.gk", "--set", "N=7")
	assert.Equal(t, exitWrong, code)
	assert.Contains(t, errOut, "may lie above")
}

// What is given in the wrong way is told with the right one.
func TestSizesAndParameters(t *testing.T) {
	for _, c := range []struct{ give, mention string }{
		{"--in=N=3", "--set N=3"},
		{"--in=X=3", "--in X=FILE.npy"},
		{"--set=a=3", "no kernel has a size a"},
	} {
		code, _, errOut := fresh(t, map[string]string{"saxpy.gk": saxpy}, "run", "saxpy.gk", c.give)
		assert.Equal(t, exitWrong, code, c.give)
		assert.Contains(t, errOut, c.mention)
	}
}

func TestManyKernels(t *testing.T) {
	var file strings.Builder
	for i := range 100 {
		fmt.Fprintf(&file, "kernel k%d(X: f32[N]) -> Z: f32[N] { Z[i] = %d * X[i] }\n", i, i)
	}
	code, _, errOut := fresh(t, map[string]string{"many.gk": file.String()}, "run", "many.gk")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errOut, "k19 and 80 more")
	code, out, errOut := again("opt", "many.gk", "--kernel", "k7", "--to", "tensor")
	assert.Equal(t, exitRight, code, errOut)
	assert.Contains(t, out, "7.0 * X[i]")
}

// Without checks an index outside is no stack of the emitted program.
func TestTrustAsGo(t *testing.T) {
	const gather = "kernel g(x: f32[N], at: i32) -> y: f32[1] { y[i] = x[at + i] }"
	code, _, errOut := fresh(t, map[string]string{"g.gk": gather}, "run", "g.gk", "--set", "N=2", "--in", "at=7", "--device", "go", "--bounds", "trust")
	assert.Equal(t, exitWrong, code)
	assert.Contains(t, errOut, "out of range")
	assert.NotContains(t, errOut, "goroutine")
}
