package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/internal/npy"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/passes"
)

const saxpy = `kernel saxpy(X: f32[N], Y: f32[N], a: f32 = 2) -> Z: f32[N] {
    Z[i] = a * X[i] + Y[i]
}

example saxpy(N = 5)
`

// fresh runs a command line in a folder that holds the given files.
func fresh(t *testing.T, files map[string]string, args ...string) (code int, out, errOut string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	return again(args...)
}

// again runs a command line in the folder of the one before.
func again(args ...string) (code int, out, errOut string) {
	var o, e bytes.Buffer
	code = execute(context.Background(), args, &o, &e)
	return code, o.String(), e.String()
}

func TestRunDevicesAgree(t *testing.T) {
	_, want, _ := fresh(t, map[string]string{"saxpy.gk": saxpy}, "run", "saxpy.gk", "--device", "ref")
	require.Contains(t, want, "Z: f32[5]")
	for _, device := range []string{"sim", "sim:a100", "go"} {
		code, out, errOut := again("run", "saxpy.gk", "--device", device, "--verify")
		assert.Equal(t, exitRight, code, errOut)
		assert.Contains(t, out, strings.TrimSpace(want), device)
	}
}

func TestRunTakesInputsAndWritesResults(t *testing.T) {
	fresh(t, map[string]string{"saxpy.gk": saxpy}, "version")
	x := data.New(ir.F32, 3)
	for i := range 3 {
		x.Set(i, ir.FloatConst(float64(i)))
	}
	require.NoError(t, npy.WriteFile("x.npy", x))
	code, _, errOut := again("run", "saxpy.gk", "--in", "X=x.npy", "--in", "Y=x.npy", "--in", "a=0.5", "--out", "results")
	require.Equal(t, exitRight, code, errOut)
	z, err := npy.ReadFile(filepath.Join("results", "Z.npy"))
	require.NoError(t, err)
	assert.Equal(t, []float64{0, 1.5, 3}, []float64{z.Float(0), z.Float(1), z.Float(2)})
}

func TestNumpyReadsResults(t *testing.T) {
	python := os.Getenv("GKC_PYTHON")
	if python == "" {
		t.Skip("GKC_PYTHON names no python3 with numpy; go run ./internal/test sets it")
	}
	code, _, errOut := fresh(t, map[string]string{"saxpy.gk": saxpy}, "run", "saxpy.gk", "--device", "ref", "--out", ".")
	require.Equal(t, exitRight, code, errOut)
	out, err := exec.Command(python, "-c", "import numpy as n; z = n.load('Z.npy'); print(z.dtype, z.shape)").CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "float32 (5,)\n", string(out))
}

func TestRunJSON(t *testing.T) {
	code, out, errOut := fresh(t, map[string]string{"saxpy.gk": saxpy}, "run", "saxpy.gk", "--set", "N=1000", "--json", "--verify")
	require.Equal(t, exitRight, code, errOut)
	var j jsonRun
	require.NoError(t, json.Unmarshal([]byte(out), &j))
	assert.Equal(t, []int{1000}, j.Outputs["Z"].Shape)
	require.Len(t, j.Kernels, 1)
	k := j.Kernels[0]
	assert.Equal(t, []int{2}, k.Statements)
	assert.Equal(t, int64(8000), k.Counts["load_bytes"])
	assert.Equal(t, int64(4000), k.Counts["store_bytes"])
	assert.Positive(t, j.Estimate)
	assert.Zero(t, j.Workspace)
}

func TestEveryLevelRuns(t *testing.T) {
	code, _, errOut := fresh(t, map[string]string{"saxpy.gk": saxpy}, "build", "saxpy.gk", "--emit", "tensor,tile,simt")
	require.Equal(t, exitRight, code, errOut)
	_, want, _ := again("run", "saxpy.gk", "--set", "N=7", "--device", "ref")
	for _, args := range [][]string{
		{"run", "saxpy.tensor", "--set", "N=7", "--in", "a=2", "--device", "ref"},
		{"run", "saxpy.tensor", "--set", "N=7"},
		{"run", "saxpy.tile", "--set", "N=7", "--device", "ref"},
		{"run", "saxpy.tile", "--set", "N=7"},
		{"run", "saxpy.simt", "--set", "N=7"},
	} {
		code, out, errOut := again(args...)
		assert.Equal(t, exitRight, code, errOut)
		assert.Contains(t, out, strings.TrimSpace(want), args)
	}
}

func TestOptRunsSinglePasses(t *testing.T) {
	fresh(t, map[string]string{"saxpy.gk": saxpy}, "build", "saxpy.gk", "--emit", "tensor")
	code, out, errOut := again("opt", "saxpy.tensor", "--passes", "explicit_faults", "--to", "tensor")
	require.Equal(t, exitRight, code, errOut)
	assert.Contains(t, out, "tensor saxpy")
	code, _, errOut = again("opt", "saxpy.tensor", "--passes", "nothing")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errOut, "nothing")
}

func TestWrongUse(t *testing.T) {
	files := map[string]string{"saxpy.gk": saxpy, "two.gk": saxpy + strings.ReplaceAll(saxpy, "saxpy", "other"), "bad.gk": "kernel k(X: f32[N]) -> Y: f32[N] { Y[i] = Z[i] }", "bad.simt": "nothing"}
	for _, c := range []struct {
		code    int
		mention string
		args    []string
	}{
		{exitUsage, "frobnicate", []string{"frobnicate"}},
		{exitUsage, "nowhere.gk", []string{"run", "nowhere.gk"}},
		{exitUsage, "--kernel", []string{"run", "two.gk"}},
		{exitUsage, "abacus", []string{"run", "saxpy.gk", "--device", "abacus"}},
		{exitUsage, "pdp11", []string{"run", "saxpy.gk", "--device", "sim:pdp11"}},
		{exitUsage, "cuda:N", []string{"run", "saxpy.gk", "--device", "cuda:first"}},
		{exitUsage, "CUDA", []string{"run", "saxpy.gk", "--device", "cuda:99"}},
		{exitUsage, "NAME=NUMBER", []string{"run", "saxpy.gk", "--set", "N"}},
		{exitUsage, "ptx", []string{"build", "saxpy.gk", "--emit", "ptx"}},
		{exitWrong, "Q", []string{"run", "saxpy.gk", "--set", "Q=3"}},
		{exitWrong, "X", []string{"run", "saxpy.gk", "--in", "X=3"}},
		{exitWrong, "nothere.npy", []string{"run", "saxpy.gk", "--in", "X=nothere.npy"}},
		{exitWrong, "other", []string{"run", "saxpy.gk", "--kernel", "other"}},
		{exitWrong, "bad.gk:1:43", []string{"run", "bad.gk"}},
		{exitWrong, "bad.gk:1:43", []string{"check", "bad.gk"}},
		{exitWrong, "bad.simt:1:1", []string{"check", "bad.simt"}},
		{exitWrong, "tile", []string{"run", "saxpy.gk", "--schedule", "tile=3"}},
		{exitWrong, "no code for a device", []string{"build", "saxpy.gk", "--emit", "go", "--schedule", "m=8"}},
		{exitWrong, "evaluator", []string{"run", "saxpy.gk", "--device", "ref", "--schedule", "m=8"}},
	} {
		code, out, errOut := fresh(t, files, c.args...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, errOut)
		assert.Contains(t, out+errOut, c.mention, c.args)
	}
}

func TestCheckJSON(t *testing.T) {
	code, out, _ := fresh(t, map[string]string{"bad.gk": "kernel k(X: f32[N]) -> Y: f32[N] {\n    Y[i] = Z[i]\n}\n"}, "check", "--json", "bad.gk")
	assert.Equal(t, exitWrong, code)
	var d jsonDiag
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	assert.Equal(t, "bad.gk", d.File)
	assert.Equal(t, int32(2), d.Line)
	assert.Equal(t, int32(12), d.Column)
	assert.Equal(t, "error", d.Severity)
	assert.NotEmpty(t, d.Code)
	assert.Contains(t, d.Message, "Z")
}

func TestFmt(t *testing.T) {
	code, out, _ := fresh(t, map[string]string{"ugly.gk": "kernel k(X:f32[N])->Y:f32[N]{Y[i]=X[i]*2 // twice\n}"}, "fmt", "--check", "ugly.gk")
	assert.Equal(t, exitWrong, code)
	assert.Contains(t, out, "ugly.gk")
	code, _, errOut := again("fmt", "ugly.gk")
	require.Equal(t, exitRight, code, errOut)
	text, err := os.ReadFile("ugly.gk")
	require.NoError(t, err)
	assert.Contains(t, string(text), "// twice")
	code, _, _ = again("fmt", "--check", "ugly.gk")
	assert.Equal(t, exitRight, code)
}

func TestBuildCheckFindsStaleArtifacts(t *testing.T) {
	fresh(t, map[string]string{"saxpy.gk": saxpy}, "version")
	code, out, _ := again("build", "--check", "saxpy.gk")
	assert.Equal(t, exitWrong, code)
	assert.Contains(t, out, "gkc build saxpy.gk")
	code, _, errOut := again("build", "saxpy.gk")
	require.Equal(t, exitRight, code, errOut)
	code, out, _ = again("build", "--check", "saxpy.gk")
	assert.Equal(t, exitRight, code, out)
}

func TestInformation(t *testing.T) {
	for _, c := range []struct{ command, mention string }{
		{"version", "gkc"}, {"devices", "h200"}, {"passes", "make_loops"}, {"--help", "check"},
	} {
		code, out, errOut := fresh(t, nil, c.command)
		assert.Equal(t, exitRight, code, errOut)
		assert.Contains(t, out, c.mention)
	}
	code, out, errOut := fresh(t, map[string]string{"saxpy.gk": saxpy}, "explain", "saxpy.gk")
	assert.Equal(t, exitRight, code, errOut)
	assert.Contains(t, out, "line 2: Z[i] = a * X[i] + Y[i]")
}

func TestExplainSaysWhatIsFused(t *testing.T) {
	const src = "kernel k(x: f32[R, C]) -> y: f32[R, C] {\nt[r, c] = exp(x[r, c])\nu[r, c] = t[r, c] + 1\ny[r, c] = u[r, c] / sum[c](u[r, c])\n}\n"
	code, out, errOut := fresh(t, map[string]string{"k.gk": src}, "explain", "k.gk", "--set=R=4", "--set=C=8")
	assert.Equal(t, exitRight, code, errOut)
	assert.Contains(t, out, "t -> u: fused\n")
	assert.Contains(t, out, "u -> y: not fused: it is read several times\n")
	assert.Contains(t, out, "3 device kernels")
	code, out, errOut = fresh(t, map[string]string{"k.gk": src}, "explain", "k.gk", "--no-fuse", "--set=R=4", "--set=C=8")
	assert.Equal(t, exitRight, code, errOut)
	assert.NotContains(t, out, "fused")
	assert.Contains(t, out, "4 device kernels")
}

const product = "kernel mm(X: f16[M, K], W: f16[K, N]) -> Y: f32[M, N] { Y[m, n] = sum[k](X[m, k] * W[k, n]) }\nexample mm(M = 16, N = 16, K = 32)\n"

// tilePasses are those that end in kernels whose blocks compute tiles.
const tilePasses = "explicit_faults,expand_edges,split_reductions,fuse,drop_unused,merge_equal,make_tiles"

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		code           int
		mention, sched string
	}{
		{exitRight, "schedule m 16, n 32, k 16,", "m=16,n=32,k=16"},
		{exitRight, "schedule m 16, n 32, k 16,", "m 16, n 32, k 16"},
		{exitWrong, "m is 24; it can be one of [8 16 32", "m=24"},
		{exitWrong, "stages 6 of m 256, n 256, k 128 need 786432 bytes of shared memory; a block of every device has 49152", "m=256,n=256,k=128,stages=6"},
		{exitWrong, "there is no knob tile", "tile=3"},
		{exitWrong, "no device kernel has that choice", "rows=1"},
		{exitUsage, "expected a knob and its value", "m"},
		{exitUsage, "m is chosen twice", "m=8,m=16"},
		{exitUsage, "random:SEED", "random:x"},
	} {
		code, out, errOut := fresh(t, map[string]string{"mm.gk": product}, "opt", "mm.gk", "--passes", tilePasses, "--schedule", c.sched)
		assert.Equal(t, c.code, code, "%s: %s", c.sched, errOut)
		assert.Contains(t, out+errOut, c.mention, c.sched)
	}
	drawn := map[string]bool{}
	for _, seed := range []string{"1", "2", "3", "3"} {
		code, out, errOut := again("opt", "mm.gk", "--passes", tilePasses, "--schedule", "random:"+seed)
		require.Equal(t, exitRight, code, errOut)
		drawn[out] = true
	}
	assert.Len(t, drawn, 3, "other seeds draw other schedules, the same seed the same")
}

// TestForcedSchedulesTakeEffect: a command that runs all passes obeys a schedule or refuses it; it never leaves it out.
func TestForcedSchedulesTakeEffect(t *testing.T) {
	_, choices, _ := fresh(t, map[string]string{"mm.gk": product}, "explain", "mm.gk", "--json")
	tiles := strings.Contains(choices, `"default":`)
	for _, args := range [][]string{{"run", "mm.gk", "--json"}, {"explain", "mm.gk", "--json"}, {"build", "mm.gk", "--emit", "tile"}} {
		code, out, errOut := fresh(t, map[string]string{"mm.gk": product}, append(args, "--schedule", "m=16,n=16")...)
		if !tiles {
			assert.Equal(t, exitWrong, code, args)
			assert.Contains(t, errOut, "no device kernel has that choice", args)
			continue
		}
		require.Equal(t, exitRight, code, errOut)
		if args[0] == "build" {
			text, err := os.ReadFile("mm.tile")
			require.NoError(t, err)
			assert.Contains(t, string(text), "schedule m 16, n 16,")
			continue
		}
		assert.Regexp(t, `"schedule": \{\s*"m": 16,\s*"n": 16,`, out)
	}
}

func TestExplainJSON(t *testing.T) {
	code, out, errOut := fresh(t, map[string]string{"mm.gk": product}, "explain", "mm.gk", "--json")
	require.Equal(t, exitRight, code, errOut)
	var j jsonExplain
	require.NoError(t, json.Unmarshal([]byte(out), &j))
	require.Len(t, j.Kernels, 1)
	assert.Equal(t, "mm.Y", j.Kernels[0].Name)
	assert.NotEmpty(t, j.Kernels[0].Bound)
	assert.NotNil(t, j.Kernels[0].Knobs)
}

func TestKnobs(t *testing.T) {
	kernels, errs := gkc.Compile("mm.gk", product, nil)
	require.Empty(t, errs)
	u := &passes.Unit{Level: passes.Tensor, Tensor: kernels[0].Program}
	require.NoError(t, passes.Run(u, passes.Options{To: passes.Tile, Only: strings.Split(tilePasses, ",")}))
	list := knobs(u, "mm.Y")
	require.NotEmpty(t, list)
	for _, k := range list {
		assert.Contains(t, k.Legal, k.Value, k.Name)
		assert.Contains(t, k.Legal, k.Default, k.Name)
	}
	assert.Empty(t, knobs(u, "another"))
}
