package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// compile gives texts to NVRTC, whose library GKC_NVRTC names, and demands that it says nothing.
func compile(t *testing.T, archs string, texts ...string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to call NVRTC with")
	}
	library := cmp.Or(os.Getenv("GKC_NVRTC"), "libnvrtc.so")
	args := []string{"testdata/nvrtc.py", library, archs}
	dir := t.TempDir()
	for i, text := range texts {
		path := filepath.Join(dir, fmt.Sprintf("k%d.cu", i))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		args = append(args, path)
	}
	out, err := exec.Command(python, args...).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		t.Skipf("no NVRTC (set GKC_NVRTC to its library): %s", out)
	}
	if !assert.NoError(t, err, "%s", out) {
		for i, text := range texts {
			if strings.Contains(string(out), fmt.Sprintf("k%d.cu", i)) {
				t.Logf("k%d.cu:\n%s", i, text)
			}
		}
	}
}

func emit(t *testing.T, text string) string {
	t.Helper()
	m, err := simt.Parse(text)
	require.NoError(t, err)
	out, err := Emit(m)
	require.NoError(t, err)
	return out
}

// everyOperation is a module with a kernel for every operation and operand type that CUDA can say.
func everyOperation(t *testing.T) *simt.Module {
	m := &simt.Module{Header: simt.Header{Name: "operations"}}
	types := []ir.Type{ir.F32, ir.F64, ir.I32, ir.I64, ir.U32, ir.U64, ir.Bool_, ir.Packed(ir.F16.Elem), ir.Packed(ir.BF16.Elem),
		ir.Packed(ir.F8E4M3.Elem), ir.Packed(ir.F8E5M2.Elem), ir.Packed(ir.I8.Elem), ir.Packed(ir.U8.Elem)}
	for _, op := range ir.Ops {
		if op.Free || op.Rule == nil || op.Where&ir.AtSimt == 0 {
			continue
		}
		for _, ty := range types {
			if e, regs := application(op, ty); e != nil {
				m.Kernels = append(m.Kernels, kernelOf(m, fmt.Sprintf("%s %s", op.Name, ty), e, regs))
			}
		}
	}
	require.Greater(t, len(m.Kernels), 150)
	return m
}

// application applies op to registers, the first of type ty; nil where it does not apply.
func application(op *ir.Op, ty ir.Type) (*ir.Expr, []*simt.Reg) {
	n := op.Arity
	if op == ir.OpRand {
		n = 6
	}
	types := make([]ir.Type, n)
	for i := range types {
		types[i] = ty
	}
	if op == ir.OpRand {
		for i := range types {
			types[i] = ir.I64
		}
	}
	if strings.HasPrefix(op.Name, "shfl") {
		types[1] = ir.I32
	}
	if (op == ir.OpIf || op == ir.OpSelect) && n > 0 {
		types[0] = ir.Bool_
	}
	result, err := op.ResultType(types)
	if err != nil || !result.IsValid() || ty.IsPacked() && result.IsBool() && op.Mean.Any == nil { // words do not compare
		return nil, nil
	}
	var regs []*simt.Reg
	var args []*ir.Expr
	for i, t := range types {
		r := &simt.Reg{Name: fmt.Sprintf("x%d", i), Type: t, Mutable: true}
		regs, args = append(regs, r), append(args, ir.Name(r))
	}
	return ir.NewExpr(op, result, nil, ir.True.Pos, args...), regs
}

// kernelOf loads registers, computes e and stores it.
func kernelOf(m *simt.Module, name string, e *ir.Expr, regs []*simt.Reg) *simt.Kernel {
	k := &simt.Kernel{Name: name, Launch: simt.Launch{Grid: ir.Int64(1), Threads: 32}}
	array := func(name string, t ir.Type) *simt.Buffer {
		a := &simt.Array{Name: fmt.Sprintf("%s%d", name, len(m.Arrays)), Type: t, Extents: []*ir.Expr{ir.Int64(32)}}
		m.Arrays = append(m.Arrays, a)
		b := &simt.Buffer{Name: name, Type: t, Array: a}
		k.Global = append(k.Global, b)
		return b
	}
	tid := ir.Widen(ir.I64, ir.Name(simt.Tid))
	for i, r := range regs {
		k.Body = append(k.Body, &simt.Let{Reg: r}, &simt.Load{To: simt.Slice{Reg: r, Len: 1}, From: simt.Mem{Buf: array(fmt.Sprintf("in%d", i), r.Type), At: tid}})
	}
	out := &simt.Reg{Name: "result", Type: e.Type}
	k.Body = append(k.Body, &simt.Let{Reg: out, Value: e}, &simt.Store{To: simt.Mem{Buf: array("out", e.Type), At: tid}, From: []*ir.Expr{ir.Name(out)}})
	return k
}

func TestEveryOperationCompiles(t *testing.T) {
	out, err := Emit(everyOperation(t))
	require.NoError(t, err)
	compile(t, "sm_80,sm_90a", out)
}

func TestEveryConversionCompiles(t *testing.T) {
	m := &simt.Module{Header: simt.Header{Name: "conversions"}}
	for _, from := range ir.DTypes {
		for _, to := range ir.DTypes {
			f, g := ir.Type{Elem: from, Pack: 1}, ir.Type{Elem: to, Pack: 1}
			r := &simt.Reg{Name: "x", Type: f, Mutable: true}
			m.Kernels = append(m.Kernels, kernelOf(m, "cast "+f.String()+" "+g.String(), ir.NewExpr(ir.OpCast, g, nil, ir.True.Pos, ir.Name(r)), []*simt.Reg{r}))
			if f.Bits() == g.Bits() && f != g {
				m.Kernels = append(m.Kernels, kernelOf(m, "bits "+f.String()+" "+g.String(), ir.NewExpr(ir.OpBitcast, g, nil, ir.True.Pos, ir.Name(r)), []*simt.Reg{r}))
			}
		}
	}
	out, err := Emit(m)
	require.NoError(t, err)
	compile(t, "sm_80,sm_90a", out)
}

func TestEveryAtomicCompiles(t *testing.T) {
	m := &simt.Module{Header: simt.Header{Name: "atomics"}}
	for _, monoid := range ir.Monoids {
		for _, d := range ir.DTypes {
			ty := ir.Type{Elem: d, Pack: 1}
			if (monoid == ir.Any || monoid == ir.All) != ty.IsBool() {
				continue
			}
			r := &simt.Reg{Name: "x", Type: ty, Mutable: true}
			old := &simt.Reg{Name: "old", Type: ty, Mutable: true}
			k := kernelOf(m, monoid.Name+" "+ty.String(), ir.Name(r), []*simt.Reg{r})
			s := k.Body[len(k.Body)-1].(*simt.Store)
			s.Op, s.Old = monoid, old
			k.Body = append(k.Body[:len(k.Body)-1], &simt.Let{Reg: old}, s)
			m.Kernels = append(m.Kernels, k)
		}
	}
	out, err := Emit(m)
	require.NoError(t, err)
	compile(t, "sm_80,sm_90a", out)
}

func TestGoldenKernelsCompile(t *testing.T) {
	files, err := filepath.Glob("../../ir/simt/testdata/golden/*.simt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var texts []string
	for _, f := range files {
		src, err := os.ReadFile(f)
		require.NoError(t, err)
		texts = append(texts, emit(t, string(src)))
	}
	compile(t, "sm_90a", texts...)
}
