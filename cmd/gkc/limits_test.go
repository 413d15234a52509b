package main

import (
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
		{outer, "--set=N=300000", "limit"},
	} {
		for _, device := range []string{"ref", "sim", "go"} {
			code, _, errOut := fresh(t, map[string]string{"k.gk": c.source}, "run", "k.gk", c.give, "--device", device)
			assert.Equal(t, exitWrong, code, "%s %s: %s", c.give, device, errOut)
			assert.Contains(t, errOut, c.mention)
		}
	}
}
