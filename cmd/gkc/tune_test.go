package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/autotune"
)

func TestCombinations(t *testing.T) {
	got, err := combinations([]string{"S=1,2,D=8", "S=3,D=4,0x5"})
	require.NoError(t, err)
	require.Equal(t, []map[string]int64{{"S": 1, "D": 8}, {"S": 2, "D": 8}, {"S": 3, "D": 4}, {"S": 3, "D": 5}}, got)
	for text, want := range map[string]string{
		"5": "expected NAME", "=5": "expected NAME", "S=": "is no size", "S=-1": "is no size", "S=1,S=2": "set twice", "S=x": "is no size",
	} {
		_, err := combinations([]string{text})
		require.ErrorContains(t, err, want, text)
	}
}

// TestTune: the result names every kernel, device and set of sizes, in any order of work; parts join to the same.
func TestTune(t *testing.T) {
	tune := func(more ...string) (int, string) {
		code, _, errOut := again(append([]string{"tune", "saxpy.gk", "--device", "sim:h200,sim:a100", "--set", "N=64,4096"}, more...)...)
		return code, errOut
	}
	code, out, errOut := fresh(t, map[string]string{"saxpy.gk": saxpy}, "tune", "saxpy.gk", "--device", "sim:h200,sim:a100", "--set", "N=64,4096")
	require.Equal(t, exitRight, code, errOut)
	assert.Contains(t, out, "saxpy on h200, N=4096: Z simulated")
	assert.Contains(t, errOut, "best of")
	want, err := os.ReadFile("saxpy.tune.json")
	require.NoError(t, err)
	f, err := autotune.ReadFile("saxpy.tune.json")
	require.NoError(t, err)
	require.Len(t, f.Entries, 4)

	code, errOut = tune()
	require.Equal(t, exitRight, code, errOut)
	assert.Empty(t, errOut, "all is in the log")

	require.NoError(t, os.Remove("saxpy.tune.json"))
	require.NoError(t, os.Remove("saxpy.tune.jsonl"))
	for _, shard := range []string{"1/2", "2/2"} {
		code, errOut := tune("--shard", shard)
		require.Equal(t, exitRight, code, errOut)
	}
	assert.False(t, exists("saxpy.tune.json"))
	code, errOut = tune()
	require.Equal(t, exitRight, code, errOut)
	assert.Empty(t, errOut, "the parts tried all")
	got, err := os.ReadFile("saxpy.tune.json")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))

	for flag, want := range map[string]string{"--shard=3/2": "expected I/N", "--device=cuda": "expected sim:NAME", "--set=Q=4": "no kernel has a size Q"} {
		code, errOut := tune(flag)
		assert.NotEqual(t, exitRight, code)
		assert.Contains(t, errOut, want)
	}
}
