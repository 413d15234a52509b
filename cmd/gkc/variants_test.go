package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/ir"
)

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// TestBuildMakesVariants: for each set of sizes, of --set before the examples, once; the plan says when.
func TestBuildMakesVariants(t *testing.T) {
	code, _, errOut := fresh(t, map[string]string{"mm.gk": product}, "build", "mm.gk", "--emit", "cuda,plan", "--set", "N=8,K=64", "--set", "M=16,N=16,K=32", "--set", "M=4")
	require.Equal(t, exitRight, code, errOut)
	text, err := os.ReadFile("mm.plan.json")
	require.NoError(t, err)
	p, err := plan.Read(text)
	require.NoError(t, err)
	var names []string
	for _, v := range p.Variants {
		names = append(names, v.Kernel)
		assert.True(t, exists(v.Kernel+".cu"), v.Kernel)
		assert.True(t, exists(v.Kernel+".plan.json"), v.Kernel)
	}
	assert.Equal(t, []string{"mm__K64_N8", "mm__M16_K32_N16", "mm__M4"}, names)
	assert.Equal(t, []plan.Condition{{Expr: "K == 64", Text: "K = 64"}, {Expr: "N == 8", Text: "N = 8"}}, p.Variants[0].When)
	for want, sizes := range map[string][3]int64{
		"mm__K64_N8": {4, 64, 8}, "mm__M16_K32_N16": {16, 32, 16}, "mm__M4": {4, 64, 9}, "mm": {5, 32, 16},
	} {
		got, err := p.Pick(map[string]ir.Const{"M": ir.IntConst(sizes[0]), "K": ir.IntConst(sizes[1]), "N": ir.IntConst(sizes[2])}, plan.Device{})
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

func TestVariantsOfSeveralKernels(t *testing.T) {
	files := map[string]string{"two.gk": strings.Replace(product, "example", "kernel id(X: f32[M]) -> Y: f32[M] { Y[m] = X[m] }\nexample", 1)}
	code, _, errOut := fresh(t, files, "build", "two.gk", "--emit", "plan", "--set", "M=3,K=5")
	require.Equal(t, exitRight, code, errOut)
	for name, want := range map[string]bool{"mm__M3_K5": true, "mm__M16_K32_N16": true, "id__M3": true, "id__M16": false} {
		assert.Equal(t, want, exists(name+".plan.json"), name)
	}
	for _, c := range []struct {
		code         int
		mention, set string
	}{
		{exitWrong, "no kernel has a size Q", "M=3,Q=5"},
		{exitWrong, "not negative", "M=-3"},
		{exitUsage, "set twice", "M=3,M=4"},
		{exitUsage, "NAME=NUMBER", "M=3,"},
	} {
		code, out, errOut := again("build", "two.gk", "--set", c.set)
		assert.Equal(t, c.code, code, c.set)
		assert.Contains(t, out+errOut, c.mention, c.set)
	}
}

// TestVariantThatCannotBe: sizes that contradict what a kernel demands are a mistake of who names them.
func TestVariantThatCannotBe(t *testing.T) {
	code, _, errOut := fresh(t, map[string]string{"k.gk": "kernel k(X: f32[N]) -> Y: f32[N] where N % 4 == 0 { Y[i] = X[i] }\n"}, "build", "k.gk", "--emit", "plan", "--set", "N=6")
	assert.Equal(t, exitWrong, code)
	assert.Contains(t, errOut, "N % 4 == 0")
	assert.False(t, exists("k.plan.json"), "nothing is written of a file with mistakes")
}

// TestFixedSizes: what is built is right for these alone; variants fix more.
func TestFixedSizes(t *testing.T) {
	const shifted = "kernel k(X: f32[N, M]) -> Z: f32[4, M] { Z[i, j] = X[i + 4, j] }\nexample k(N = 8, M = 3)\nexample k(N = 9, M = 4)\n"
	code, _, errOut := fresh(t, map[string]string{"k.gk": shifted}, "build", "k.gk", "--emit", "plan")
	assert.Equal(t, exitWrong, code)
	assert.Contains(t, errOut, "may lie above")
	code, out, errOut := again("build", "k.gk", "--emit", "plan,torch", "--fix", "N=8", "--check")
	assert.Equal(t, exitWrong, code, errOut)
	assert.Contains(t, out, "run gkc build k.gk --emit plan,torch --fix N=8\n")
	code, _, errOut = again("build", "k.gk", "--emit", "plan,torch", "--fix", "N=8")
	require.Equal(t, exitRight, code, errOut)
	text, err := os.ReadFile("k.plan.json")
	require.NoError(t, err)
	p, err := plan.Read(text)
	require.NoError(t, err)
	assert.Equal(t, []plan.Variant{{Kernel: "k__N8_M3", When: []plan.Condition{{Expr: "M == 3", Text: "M = 3"}}}}, p.Variants, "no call has N = 9")
	assert.Equal(t, "8", p.Scalars[0].Fixed)
	text, err = os.ReadFile("k_gk.py")
	require.NoError(t, err)
	assert.Contains(t, string(text), `N = c.fixed("N", 8)`)
}

// TestRunCompilesForTheCall: the kernel that runs is the one for the sizes of the call.
func TestRunCompilesForTheCall(t *testing.T) {
	code, out, errOut := fresh(t, map[string]string{"mm.gk": product}, "run", "mm.gk", "--json", "--verify", "--set", "M=3,K=0,N=7")
	require.Equal(t, exitRight, code, errOut)
	var j jsonRun
	require.NoError(t, json.Unmarshal([]byte(out), &j))
	assert.Equal(t, "mm__M3_K0_N7", j.Variant)
	assert.Equal(t, "mm.Y", j.Kernels[0].Name)
}

// TestTorchFile: it is written beside its source, and is the same with and without a compiler on the machine.
func TestTorchFile(t *testing.T) {
	code, _, errOut := fresh(t, map[string]string{"some mm.gk": product}, "build", "some mm.gk", "--emit", "torch")
	require.Equal(t, exitRight, code, errOut)
	text, err := os.ReadFile("someu20mm_gk.py")
	require.NoError(t, err)
	assert.Contains(t, string(text), "    if M == 16 and K == 32 and N == 16:\n        return _run_mm_uM16_K32_N16(c, X, W, M, K, N)\n    return _run_mm(c, X, W, M, K, N)\n")
	t.Setenv("GKC_NVRTC", "nowhere.so")
	code, _, errOut = again("build", "some mm.gk", "--emit", "torch", "--check")
	require.Equal(t, exitRight, code, errOut)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to read what is emitted")
	}
	out, err := exec.Command(python, "-m", "py_compile", "someu20mm_gk.py").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestMain makes the test a gkc of its own where a test asks for one: a process looks for the compiler once.
func TestMain(m *testing.M) {
	if os.Getenv("GKC_TEST_IS_GKC") != "" {
		main()
	}
	os.Exit(m.Run())
}

// process runs a command line in a process of its own.
func process(t *testing.T, env string, args ...string) (code int, errOut string) {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "GKC_TEST_IS_GKC=1")
	if env != "" {
		cmd.Env = append(cmd.Env, env)
	}
	var e strings.Builder
	cmd.Stderr = &e
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return cmd.ProcessState.ExitCode(), e.String()
}

// TestCubinNeedsACompiler: where there is none, the command says where it looked, and writes nothing that should hold a binary.
func TestCubinNeedsACompiler(t *testing.T) {
	fresh(t, map[string]string{"mm.gk": product}, "version")
	for _, emit := range []string{"cubin", "cubin,torch"} {
		code, errOut := process(t, "GKC_NVRTC=nowhere.so", "build", "mm.gk", "--emit", emit)
		assert.Equal(t, exitUsage, code)
		assert.Contains(t, errOut, "--emit cubin:")
		assert.False(t, exists("mm.cubin"))
		assert.False(t, exists("mm_gk.py"))
	}
}

// TestCubin: binaries are ELF files for the device, and the Python file holds the same.
func TestCubin(t *testing.T) {
	fresh(t, map[string]string{"k.gk": "kernel k(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }\n"}, "version")
	code, errOut := process(t, "", "build", "k.gk", "--emit", "cubin,torch")
	if strings.Contains(errOut, "NVRTC cannot be loaded") || strings.Contains(errOut, "no CUDA driver") {
		t.Skip("no NVRTC to compile with:", errOut)
	}
	require.Equal(t, exitRight, code, errOut)
	image, err := os.ReadFile("k.cubin")
	require.NoError(t, err)
	assert.Equal(t, "\x7fELF", string(image[:4]))
	text, err := os.ReadFile("k_gk.py")
	require.NoError(t, err)
	held := strings.ReplaceAll(string(text), "\n", "")
	assert.Contains(t, held, base64.StdEncoding.EncodeToString(image))
	assert.Contains(t, held, `arch="sm_90a"`)
	code, errOut = process(t, "", "build", "k.gk", "--emit", "cubin,torch", "--check")
	assert.Equal(t, exitRight, code, "the compiler gives the same bytes every time: %s", errOut)
}
