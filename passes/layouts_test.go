package passes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
	"github.com/gkc-lang/gkc/passes"
)

// toLayouts are the passes that lead to block kernels whose tiles are somewhere.
var toLayouts = append(slices.Clone(toTiles), "pick_atoms", "stage_operands", "assign_layouts")

// laidOut makes block kernels of a program for a device, with tiles in their places.
func laidOut(t *testing.T, p *tensor.Program, sched schedule.Choice, dev string) *passes.Unit {
	t.Helper()
	return lowerTiles(t, p, sched, dev, toLayouts)
}

// TestPlacedTilesAgreeWithTheEvaluator: where tiles are changes no value; every tile is somewhere.
func TestPlacedTilesAgreeWithTheEvaluator(t *testing.T) {
	for n, c := range contractions[:14] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(6) {
				r := rand.New(rand.NewPCG(seed, uint64(n)))
				src := c.src
				if seed%2 == 1 {
					src = withConditions(t, src, r)
				}
				p := program(t, src)
				sched := smallTiles(r)
				u := laidOut(t, p, sched, []string{"", "h200", "v100"}[r.IntN(3)])
				require.Len(t, blocks(u.Tile), c.blocks)
				for _, k := range blocks(u.Tile) {
					everywhere(t, k)
				}
				call := drawCall(t, p.Signature(), r, 5)
				want, err := tensor.Eval(p, call, tensor.EvalOptions{})
				require.NoError(t, err)
				got, err := tile.Eval(context.Background(), u.Tile, call)
				require.NoError(t, err)
				for name, w := range want {
					agree(t, fmt.Sprintf("%s with %s: %s\n%s", c.name, sched, name, u.Tile), got[name], w)
				}
			}
		})
	}
}

// everywhere demands that every tile of a kernel is in shared memory or has a layout.
func everywhere(t *testing.T, k *tile.Kernel) {
	var visit func(list []tile.Stmt)
	visit = func(list []tile.Stmt) {
		for _, s := range list {
			values := tile.Defined(s)
			switch s := s.(type) {
			case *tile.Loop:
				for _, c := range s.Carry {
					values = append(values, c.In)
				}
				visit(s.Body)
			case *tile.If:
				visit(s.Then)
				visit(s.Else)
			case *tile.Dot:
				require.Equal(t, []tile.Space{tile.Shared, tile.Shared}, []tile.Space{s.A.Space, s.B.Space})
			}
			for _, v := range values {
				require.NotEqual(t, tile.Undecided, v.Space, v.Name)
				require.Equal(t, v.Space == tile.Reg && len(v.Axes) > 0, v.Layout != nil, v.Name)
			}
		}
	}
	visit(k.Body)
}

// TestNoConflicts: threads that write and read a tile in shared memory meet in no bank.
func TestNoConflicts(t *testing.T) {
	for n, c := range contractions[:14] {
		for seed := range uint64(6) {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			p := program(t, withConditions(t, c.src, r))
			space := passes.Space(blocks(tiled(t, p, nil))[0], nil)
			sched := space.Random(seed)
			u := laidOut(t, p, sched, []string{"", "h200"}[r.IntN(2)])
			for _, k := range blocks(u.Tile) {
				require.Zero(t, passes.Conflicts(u.Tile, k), u.Text())
			}
		}
	}
}

// TestResultsMeet: where matrix operations cannot compute all products of a kernel, none is computed by one, so that results are in
// the same threads.
func TestResultsMeet(t *testing.T) {
	const src = "kernel meet(x: f16[M, K], w: f16[K, N], v: %s[K, N]) -> y: f32[M, N] { y[m, n] = sum[k](x[m, k] * w[k, n]) * sum[k](x[m, k] * v[k, n]) }"
	for v, atoms := range map[string]int{"f16": 2, "f32": 0} {
		u := laidOut(t, program(t, fmt.Sprintf(src, v)), nil, "h200")
		require.Equal(t, atoms, strings.Count(u.Text(), " by mma"), u.Text())
		require.NotContains(t, u.Text(), "= move acc", u.Text())
	}
}
