package passes_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/internal/randgk"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// threadPasses are the passes that rewrite what threads do.
func threadPasses() (names []string) {
	for _, p := range passes.Pipeline {
		if p.In == passes.Simt {
			names = append(names, p.Name)
		}
	}
	return names
}

// keepsMeaning runs the passes alone and together on a module, and compares what calls of the results give, bit for bit.
func keepsMeaning(t *testing.T, m *simt.Module, dev *device.Device, call *data.Call) {
	t.Helper()
	run := func(m *simt.Module) (map[string]*data.Array, error) {
		res, err := sim.Run(context.Background(), m, dev, call, sim.Options{Moment: 2, Seed: 7, Steps: 1 << 26})
		if err != nil {
			return nil, err
		}
		return res.Outputs, nil
	}
	want, refused := run(m)
	names := threadPasses()
	groups := [][]string{names}
	for _, name := range names {
		groups = append(groups, []string{name})
	}
	for _, group := range groups {
		u := &passes.Unit{Level: passes.Simt, Simt: m}
		require.NoError(t, passes.Run(u, passes.Options{Only: group, Verify: true}))
		again, err := simt.Parse(u.Text())
		require.NoError(t, err)
		require.Equal(t, u.Text(), again.String())
		got, err := run(u.Simt)
		if refused != nil {
			require.EqualError(t, err, refused.Error())
			continue
		}
		require.NoError(t, err, "after %v:\n%s", group, u.Text())
		require.Equal(t, want, got, "after %v\n%s", group, u.Text())
	}
}

// TestThreadPassesOnGoldenKernels: kernels with roles, barriers, asynchronous copies and matrix operations mean the same.
func TestThreadPassesOnGoldenKernels(t *testing.T) {
	h200, err := device.Find("h200")
	require.NoError(t, err)
	small := *h200
	small.SMs = 2
	sizes := map[string]int64{"M": 130, "N": 264, "K": 136, "R": 5, "B": 1, "H": 2, "G": 1, "S": 136, "T": 136}
	files, err := filepath.Glob("../ir/simt/testdata/golden/*.simt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".simt"), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			m, err := simt.Parse(string(src))
			require.NoError(t, err)
			keepsMeaning(t, m, &small, drawn(t, m, sizes))
		})
	}
}

// drawn is a call of a module with small numbers.
func drawn(t *testing.T, m *simt.Module, sizes map[string]int64) *data.Call {
	given := data.Given{Set: map[string]int64{}, Values: map[string]ir.Const{}}
	sig := m.Signature()
	for _, s := range sig.Scalars {
		if s.IsSize {
			given.Set[s.Name] = sizes[s.Name]
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	given.Fill = func(p data.Tensor, shape []int) *data.Array {
		a := data.New(p.Type, shape...)
		for i := range a.Len() {
			a.Set(i, ir.FloatConst(ir.RoundTo(p.Type.Elem, r.NormFloat64())))
		}
		return a
	}
	call, err := data.Bind(sig, given)
	require.NoError(t, err)
	return call
}

// TestThreadPassesOnRandomPrograms: whatever the program, each pass leaves its meaning as it is.
func TestThreadPassesOnRandomPrograms(t *testing.T) {
	h200, err := device.Find("h200")
	require.NoError(t, err)
	plain := []string{"explicit_faults", "expand_edges", "split_reductions", "fuse", "drop_unused", "merge_equal", "make_loops", "map_threads"}
	for seed := range uint64(60) {
		p := randgk.Generate(seed + 1000)
		c, err := randgk.Compile(p.Source)
		if errors.As(err, new(randgk.Rejected)) {
			continue
		}
		require.NoError(t, err, p.Source)
		for run := range 2 {
			call, err := p.Call(c.Tensor, run)
			if err != nil {
				continue
			}
			if seed%2 == 1 {
				setSizes(c.Tensor, call)
			}
			u := &passes.Unit{Level: passes.Tensor, Tensor: c.Tensor}
			require.NoError(t, passes.Run(u, passes.Options{Only: plain}))
			t.Run(fmt.Sprintf("%d_%d", seed, run), func(t *testing.T) { keepsMeaning(t, u.Simt, h200, call) })
		}
	}
}

// setSizes compiles a program for the sizes of a call.
func setSizes(p *tensor.Program, call *data.Call) {
	for _, s := range p.Scalars {
		if s.IsSize {
			n := call.Scalars[s.Name]
			s.Fixed = &n
		}
	}
}

// TestThreadPassesOnBlockKernels: so do they with kernels whose blocks compute tiles.
func TestThreadPassesOnBlockKernels(t *testing.T) {
	for n, c := range contractions {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(9, uint64(n)))
			for _, set := range []bool{false, true} {
				p := program(t, c.src)
				call := drawCall(t, p.Signature(), r, 5)
				if set {
					setSizes(p, call)
				}
				u := laidOut(t, p, smallTiles(r), "h200")
				require.NoError(t, passes.Run(u, passes.Options{Only: []string{"map_threads"}}))
				keepsMeaning(t, u.Simt, u.Device, call)
			}
		})
	}
}

// BenchmarkThreadPasses shows what each pass costs on a kernel of some thousand statements.
func BenchmarkThreadPasses(b *testing.B) {
	u := unit(b, "kernel gemm(A: f16[M, K], B: f16[K, N]) -> C: f16[M, N] { C[m, n] = sum[k](A[m, k] * B[k, n]) }")
	var err error
	u.Device, err = device.Find("h200")
	require.NoError(b, err)
	lowered := []string{"explicit_faults", "expand_edges", "make_tiles", "pick_atoms", "stage_operands", "assign_layouts", "map_threads"}
	require.NoError(b, passes.Run(u, passes.Options{Only: lowered}))
	for _, name := range threadPasses() {
		before := *u
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				*u = before
				require.NoError(b, passes.Run(u, passes.Options{Only: []string{name}}))
			}
		})
	}
}
