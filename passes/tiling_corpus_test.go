package passes_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/internal/conformance"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/tile"
	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// maxCorpusPoints bounds the points of tiles that one run computes.
const maxCorpusPoints = 15_000

// TestTilesOverTheCorpus: with small tiles of random schedules, block kernels compute what the corpus expects.
func TestTilesOverTheCorpus(t *testing.T) {
	cases, err := conformance.Load()
	require.NoError(t, err)
	runs, kernels := 0, 0
	for n, c := range cases {
		i := n % len(c.Runs)
		r := c.Runs[i]
		if r.Fails {
			continue
		}
		unit, errs := lang.Compile("kernel.gk", c.Source, r.Set)
		if errs.HasErrors() {
			continue
		}
		p := unit.Kernel(c.Kernel)
		m := tiled(t, p, smallTiles(rand.New(rand.NewPCG(uint64(n), uint64(i)))))
		call, err := r.Bind(p.Signature())
		require.NoError(t, err)
		if len(blocks(m)) == 0 || pointsOf(m, call) > maxCorpusPoints {
			continue
		}
		got, err := tile.Eval(context.Background(), m, call)
		if assert.NoError(t, err, c.ID()) {
			assert.Empty(t, r.Compare(got), "%s run %d\n%s", c.ID(), i, m)
		}
		u := &passes.Unit{Level: passes.Tile, Tile: m}
		u.Device, err = device.Find([]string{"h200", "v100"}[n%2])
		require.NoError(t, err)
		require.NoError(t, passes.Run(u, passes.Options{Only: []string{"pick_atoms", "stage_operands", "assign_layouts", "map_threads"}, Verify: true}), m)
		assert.Empty(t, r.Compare(simulated(t, u, call, sim.Options{Seed: uint64(n)}).Outputs), "threads of %s run %d\n%s", c.ID(), i, u.Text())
		runs, kernels = runs+1, kernels+len(blocks(m))
	}
	t.Logf("%d block kernels in %d runs", kernels, runs)
	assert.Greater(t, runs, 200)
}

// pointsOf is about the number of points that an evaluation computes.
func pointsOf(m *tile.Module, call *data.Call) (out int64) {
	w := &worker{call}
	for _, k := range m.Kernels {
		out += w.work(k.Body)
	}
	return out
}

type worker struct{ call *data.Call }

// unknownTrips is taken for a loop whose ends are not known before the launch.
const unknownTrips = 32

func (w *worker) work(list []tile.Stmt) (out int64) {
	for _, s := range list {
		switch s := s.(type) {
		case *tile.Loop:
			n := w.work(s.Body)
			for _, o := range s.Over {
				n *= w.number(ir.Sub(o.Hi, o.Lo), unknownTrips)
			}
			out += n
		case *tile.If:
			out += w.work(s.Then) + w.work(s.Else)
		case *tile.Store:
			out += w.points(s.Axes)
		case *tile.Dot:
			out += w.points(append(slices.Clone(s.Out.Axes), s.Over...))
		default:
			for _, v := range tile.Defined(s) {
				out += w.points(v.Axes)
			}
		}
	}
	return min(out, 1<<40)
}

func (w *worker) points(axes []*ir.Axis) int64 {
	n := int64(1)
	for _, a := range axes {
		n *= w.number(a.Extent, unknownTrips)
	}
	return n
}

func (w *worker) number(x *ir.Expr, unknown int64) int64 {
	v, err := ir.EvalExpr(x, func(r ir.Ref) (ir.Const, bool) {
		v, ok := w.call.Scalars[r.RefName()]
		return v, ok
	})
	if err != nil {
		return unknown
	}
	return max(v.Int(), 0)
}
