package torch_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/codegen/cuda"
	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/codegen/torch"
	"github.com/gkc-lang/gkc/internal/golden"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

func read(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func module(t *testing.T, text string) *simt.Module {
	m, err := simt.Parse(text)
	require.NoError(t, err)
	require.NoError(t, simt.Verify(m))
	return m
}

// rows is a kernel with a variant for 16 rows.
func rows(t *testing.T) torch.Kernel {
	text := read(t, "testdata/rows.simt")
	variant := module(t, strings.Replace(text, "size N: i64", "size N: i64 fixed 16", 1))
	variant.Name = "rows__N16"
	return torch.Kernel{Code: code(t, module(t, text)), Variants: []torch.Code{code(t, variant)}}
}

func code(t *testing.T, m *simt.Module) torch.Code {
	text, err := cuda.Emit(m)
	require.NoError(t, err)
	return torch.Code{Module: m, Text: text, Plan: plan.Of(m)}
}

func emit(t *testing.T, kernels ...torch.Kernel) string {
	out, err := torch.Emit("some/rows.gk", kernels)
	require.NoError(t, err)
	return string(out)
}

// TestGolden shows what differs from file to file: not the launcher.
func TestGolden(t *testing.T) {
	out := emit(t, rows(t))
	launcher := read(t, "launch.py")
	require.Contains(t, out, launcher)
	golden.Equal(t, filepath.Join("testdata", "rows_gk.py.golden"), strings.Replace(out, launcher, "# launch.py stands here.\n", 1))
	assert.Equal(t, out, emit(t, rows(t)), "files are the same every time")
}

func TestBinaries(t *testing.T) {
	k := rows(t)
	k.Variants = nil
	k.Image, k.Arch = []byte(strings.Repeat("a cubin\x00", 40)), "sm_90a"
	out := emit(t, k)
	assert.Contains(t, out, `arch="sm_90a"`)
	assert.Contains(t, out, "    cubin=r\"\"\"\nYSBjdWJpbgBh")
	compiles(t, out)
}

func TestRefuses(t *testing.T) {
	for want, text := range map[string]string{
		"tensor maps or clusters": "simt k\nresult y: f32[1]\nkernel y for sm_90 {\n  launch grid 2 threads 32 cluster 2\n  global y: f32 = y\n  store y[0] <- 1.0\n}\n",
		"a scalar s of type f8":   "simt k\nscalar s: f8e4m3\nresult y: f32[1]\nkernel y {\n  launch grid 2 threads 32\n  global y: f32 = y\n  store y[0] <- 1.0\n}\n",
	} {
		_, err := torch.Emit("k.gk", []torch.Kernel{{Code: code(t, module(t, text))}})
		assert.ErrorContains(t, err, want)
	}
}

func python(t *testing.T) string {
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to run what is emitted")
	}
	return path
}

// compiles demands that Python takes a file.
func compiles(t *testing.T, text string) {
	file := filepath.Join(t.TempDir(), "file.py")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	out, err := exec.Command(python(t), "-m", "py_compile", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestNames: names of kernels and parameters may be words of Python, of the file, or of no alphabet that Python takes.
func TestNames(t *testing.T) {
	text := "simt \"lambda\"\nsize \"def\": i64\nscalar c: f32 default 1.0\nparam torch: f32[\"def\"]\nresult None: f32[1]\norder c torch\n" +
		"kernel \"lambda\" {\n  launch grid 1 threads 32\n  global None: f32 = None\n  store None[0] <- 1.0\n}\n"
	m, err := simt.Parse(text)
	if err != nil { // IR text need not take all of them
		m = module(t, strings.NewReplacer(`"lambda"`, "lambda", `"def"`, "def").Replace(text))
	}
	out := emit(t, torch.Kernel{Code: code(t, m)})
	compiles(t, out)
	assert.Contains(t, out, "def lambda_2(c_2=1.0, *, torch_2):")
}

// TestCalls runs emitted functions against a fake of torch and of the driver: what is launched, and what is said of wrong arguments.
func TestCalls(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rows_gk.py"), []byte(emit(t, rows(t))), 0o644))
	fake, err := filepath.Abs("testdata/fake")
	require.NoError(t, err)
	cmd := exec.Command(python(t), "-B", "testdata/calls.py")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir+string(os.PathListSeparator)+fake)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	golden.Equal(t, filepath.Join("testdata", "calls.txt"), string(out))
}

// TestHostExpressions: the Python of random expressions over sizes and scalars gives what their meaning gives.
func TestHostExpressions(t *testing.T) {
	const kernels, points = 40, 12
	r := rand.New(rand.NewPCG(7, 1))
	g := &generator{Rand: r}
	for range 3 {
		g.scalars = append(g.scalars, &ir.Scalar{Name: fmt.Sprint("a", len(g.scalars)), Type: ir.I64}, &ir.Scalar{Name: fmt.Sprint("b", len(g.scalars)), Type: ir.I32},
			&ir.Scalar{Name: fmt.Sprint("u", len(g.scalars)), Type: ir.U32}, &ir.Scalar{Name: fmt.Sprint("f", len(g.scalars)), Type: ir.F32})
	}
	var list []*ir.Expr
	for range kernels {
		for _, typ := range []ir.Type{ir.I64, ir.I32, ir.U32, ir.Bool_, ir.F32, ir.F64} {
			list = append(list, g.expr(typ, 5))
		}
	}
	var script strings.Builder
	var want []string
	fmt.Fprintf(&script, "%s\ndef line(x):\n    print(struct.pack('<d', x).hex() if isinstance(x, float) and x == x else x)\n", read(t, "launch.py"))
	for range points {
		values := map[ir.Ref]ir.Const{}
		for _, s := range g.scalars {
			v := g.value(s.Type)
			values[s] = v
			fmt.Fprintf(&script, "%s = %s\n", s.Name, torch.Host(ir.NewConst(s.Type, v)))
		}
		for _, e := range list {
			want = append(want, shown(e.Type, total(e, values)))
			fmt.Fprintf(&script, "line(%s)\n", torch.Host(e))
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "host.py")
	require.NoError(t, os.WriteFile(file, []byte(script.String()), 0o644))
	fake, err := filepath.Abs("testdata/fake")
	require.NoError(t, err)
	cmd := exec.Command(python(t), "-B", file)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+fake)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], got[i], "%s", torch.Host(list[i%len(list)]))
	}
}
