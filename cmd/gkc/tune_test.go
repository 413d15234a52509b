package main

import (
	"encoding/json"
	"os"
	"strings"
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

// TestTunedSchedulesAreUsed: by run and build, for the sizes that were tuned, as long as the program is the same and nobody says
// anything else.
func TestTunedSchedulesAreUsed(t *testing.T) {
	code, _, errOut := fresh(t, map[string]string{"mm.gk": product}, "tune", "mm.gk", "--set", "M=32,N=32,K=64")
	require.Equal(t, exitRight, code, errOut)
	f, err := autotune.ReadFile("mm.tune.json")
	require.NoError(t, err)
	const chosen = "m 16, n 16, k 32, warps.m 1, warps.n 1, stages 2, raster 4, tensor 1"
	of := f.Entries[0].Schedules[0].Of
	f.Entries[0].Schedules[0].Schedule = chosen
	require.NoError(t, f.Write("mm.tune.json"))

	schedule := func(sizes string, more ...string) string {
		code, out, errOut := again(append([]string{"run", "mm.gk", "--json", "--verify", "--set", sizes}, more...)...)
		require.Equal(t, exitRight, code, errOut)
		var got jsonRun
		require.NoError(t, json.Unmarshal([]byte(out), &got))
		return strings.Join(strings.Fields(string(got.Kernels[0].Schedule)), "")
	}
	want := `{"m":16,"n":16,"k":32,"warps.m":1,"warps.n":1,"stages":2,"raster":4,"tensor":1}`
	assert.Equal(t, want, schedule("M=32,N=32,K=64"))
	assert.NotEqual(t, want, schedule("M=32,N=32,K=32"), "other sizes")
	assert.NotEqual(t, want, schedule("M=32,N=32,K=64", "--device", "sim:a100"), "another device")
	assert.Contains(t, schedule("M=32,N=32,K=64", "--schedule", "m=8"), `"m":8,`)

	code, _, errOut = again("build", "mm.gk", "--emit", "tile,plan")
	require.Equal(t, exitRight, code, errOut)
	text, err := os.ReadFile("mm__M32_K64_N32.tile")
	require.NoError(t, err, "a variant for what was tuned")
	assert.Contains(t, string(text), "schedule "+chosen)
	text, err = os.ReadFile("mm.tile")
	require.NoError(t, err)
	assert.NotContains(t, string(text), chosen, "the kernel for all")

	f.Entries[0].Schedules[0].Schedule = "m 7"
	require.NoError(t, f.Write("mm.tune.json"))
	for _, args := range [][]string{{"run", "mm.gk", "--set", "M=32,N=32,K=64"}, {"build", "mm.gk"}} {
		code, _, errOut = again(args...)
		assert.Equal(t, exitWrong, code)
		assert.Contains(t, errOut, "the schedule of "+of+": m is 7")
		assert.Contains(t, errOut, "it comes from mm.tune.json: run gkc tune again")
	}

	require.NoError(t, os.Remove("mm__M32_K64_N32.tile"))
	require.NoError(t, os.WriteFile("mm.gk", []byte(strings.Replace(product, "sum[", "2 * sum[", 1)), 0o666))
	code, _, errOut = again("build", "mm.gk", "--emit", "tile")
	require.Equal(t, exitRight, code, errOut)
	assert.False(t, exists("mm__M32_K64_N32.tile"), "another program")
}
