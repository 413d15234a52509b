package passes_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
	"github.com/gkc-lang/gkc/passes"
)

// staged makes block kernels of a program for a device, with the operands of their dots in shared memory.
func staged(t *testing.T, p *tensor.Program, sched schedule.Choice, dev string) *passes.Unit {
	t.Helper()
	return lowerTiles(t, p, sched, dev, append(slices.Clone(toTiles), "stage_operands"))
}

// lowerTiles runs passes that end in tile IR, whose text reads back.
func lowerTiles(t *testing.T, p *tensor.Program, sched schedule.Choice, dev string, list []string) *passes.Unit {
	t.Helper()
	u := &passes.Unit{Level: passes.Tensor, Tensor: p, Sched: sched}
	if dev != "" {
		var err error
		u.Device, err = device.Find(dev)
		require.NoError(t, err)
	}
	require.NoError(t, passes.Run(u, passes.Options{Only: list, Verify: true}))
	again, errs := tile.Parse(u.Tile.String())
	require.NoError(t, errs.Err(), u.Tile.String())
	require.Equal(t, u.Tile.String(), again.String())
	return u
}

// withConditions adds divisors of some sizes to a program's text.
func withConditions(t *testing.T, src string, r *rand.Rand) string {
	var conds []string
	for _, s := range program(t, src).Scalars {
		if s.IsSize && r.IntN(3) > 0 {
			conds = append(conds, fmt.Sprintf("%s %% %d == 0", s.Name, 2<<r.IntN(3)))
		}
	}
	if len(conds) == 0 {
		return src
	}
	head, body, _ := strings.Cut(src, " {")
	return head + " where " + strings.Join(conds, " && ") + " {" + body
}

// TestPastTheRegisters: what a device can copy to shared memory past the registers goes there so.
func TestPastTheRegisters(t *testing.T) {
	sched, err := schedule.Parse("m 32, n 32, k 32, stages 3")
	require.NoError(t, err)
	const gemm = "kernel gemm(x: f16[M, K], w: f16[K, N]) -> y: f16[M, N] where %s { y[m, n] = sum[k](%s * w[k, n]) }"
	for _, c := range []struct {
		src, dev, async string
		stages          int
	}{
		{fmt.Sprintf(gemm, "K % 8 == 0 && N % 8 == 0", "x[m, k]"), "h200", "x w", 3},
		{fmt.Sprintf(gemm, "K % 8 == 0 && N % 8 == 0", "x[m, k]"), "", "", 2},
		{fmt.Sprintf(gemm, "K % 8 == 0 && N % 8 == 0", "x[m, k]"), "v100", "", 2},
		{fmt.Sprintf(gemm, "K % 2 == 0 && N > 0", "x[m, k]"), "h200", "x", 3},
		{fmt.Sprintf(gemm, "K > 0 && N > 0", "x[m, k]"), "h200", "", 2},
		{fmt.Sprintf(gemm, "K % 8 == 0 && N % 8 == 0", "exp(x[m, k])"), "h200", "w", 3},
		{"kernel twice(x: f16[M, 8], w: f16[8, N], v: f16[8, N]) -> y: f16[M, N] where N % 8 == 0 { y[m, n] = sum[k](x[m, k] * w[k, n]) + sum[k](exp(x[m, k]) * v[k, n]) }", "h200", "w v", 3},
		{"kernel edges(x: f32[M, K], w: f32[K, N]) -> y: f32[M, N] { y[m, n] = sum[k](x@zero[m - 1, k] * w@zero[k + 1, n]) }", "h200", "x w", 3},
		{"kernel ones(x: f32[M, K], w: f32[K, N]) -> y: f32[M, N] { y[m, n] = sum[k](x@const(1)[m - 1, k] * w[k, n]) }", "h200", "w", 3},
		{"kernel rows(x: f32[M, K], i: i32[L], w: f32[K, N]) -> y: f32[L, N] { y[l, n] = sum[k](x@zero[i[l], k] * w[k, n]) }", "h200", "w", 3},
	} {
		u := staged(t, program(t, c.src), sched, c.dev)
		var async []string
		stages := 0
		var visit func(list []tile.Stmt)
		visit = func(list []tile.Stmt) {
			for _, s := range list {
				switch s := s.(type) {
				case *tile.Loop:
					stages = max(stages, s.Stages)
					visit(s.Body)
				case *tile.Load:
					if s.Async {
						async = append(async, s.From.Name)
					}
				}
			}
		}
		visit(blocks(u.Tile)[0].Body)
		require.Equal(t, c.async, strings.Join(async, " "), u.Text())
		require.Equal(t, c.stages, stages, u.Text())
	}
}

// TestOneTileForTwoDots: an operand of two dots is staged once.
func TestOneTileForTwoDots(t *testing.T) {
	u := staged(t, program(t, "kernel dual(x: f16[M, K], g: f16[K, N], u: f16[K, N]) -> y: f16[M, N] { y[m, n] = silu(sum[k](x[m, k] * g[k, n])) * sum[k](x[m, k] * u[k, n]) }"), nil, "")
	require.Equal(t, 3, strings.Count(u.Text(), "= move"), u.Text())
}

// TestAxesInSharedMemory: the axis along which an array is contiguous is innermost.
func TestAxesInSharedMemory(t *testing.T) {
	for src, want := range map[string]string{
		"kernel a(x: f16[M, K], w: f16[K, N]) -> y: f16[M, N] { y[m, n] = sum[k](x[m, k] * w[k, n]) }":                            "x[mi, ki] w[ki, ni]",
		"kernel b(x: f16[K, M], w: f16[N, K]) -> y: f16[M, N] { y[m, n] = sum[k](x[k, m] * w[n, k]) }":                            "x[ki, mi] w[ni, ki]",
		"kernel c(x: f16[K, M], w: f16[N, K]) -> y: f16[M, N] { y[m, n] = sum[k](exp(x[k, m]) * exp(w[n, k])) }":                  "a[ki, mi] b[ni, ki]",
		"kernel d(x: f16[I, A, L, 8], w: f16[A, 8, N]) -> y: f16[I, L, N] { y[i, l, n] = sum[a, b](x[i, a, l, b] * w[a, b, n]) }": "x[mi, ki] w[ki, ni]",
		"kernel e(x: f16[B, K, H, W], w: f16[N, K]) -> y: f16[B, N, H, W] { y[b, n, i, j] = sum[k](x[b, k, i, j] * w[n, k]) }":    "w[mi, ki] x[ki, ni]",
	} {
		u := staged(t, program(t, src), nil, "")
		var got []string
		for _, line := range strings.Split(u.Text(), "\n") {
			if name, rest, ok := strings.Cut(strings.TrimSpace(line), "["); ok && strings.Contains(rest, "shared") {
				axes, _, _ := strings.Cut(rest, "]")
				got = append(got, strings.TrimSuffix(name, ".1")+"["+axes+"]")
			}
		}
		require.Equal(t, want, strings.Join(got, " "), u.Text())
	}
}
