package passes_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// traffic lists programs whose kernels should move every element once, and the sectors that warps ask for in all, in parts of
// those which the elements fill: 1 where every load is for the whole warp and nothing is asked for twice.
var traffic = []struct {
	name, src string
	sectors   float64
}{
	{"rows", `kernel rows(x: f32[256, 1024]) -> s: f32[256] { s[i] = sum[j](x[i, j] * x[i, j]) }`, 1},
	{"short rows", `kernel short(x: f16[4096, 48]) -> s: f32[4096] { s[i] = max[j](x[i, j]) }`, 1},
	{"triples", `kernel triples(x: f32[4096, 3]) -> s: f32[4096] { s[i] = sum[j](x[i, j] * x[i, j]) }`, 2},
	{"columns", `kernel columns(x: f32[512, 256]) -> s: f32[256] { s[j] = sum[i](x[i, j]) }`, 1},
	{"odd columns", `kernel odd(x: f32[512, 257]) -> s: f32[257] { s[j] = sum[i](x[i, j]) }`, 2},
	{"bytes", `kernel bytes(x: u8[4096, 512]) -> s: i32[512] { s[j] = sum[i: i32](x[i, j]) }`, 1},
	{"matvec", `kernel matvec(a: f16[512, 512], x: f16[512]) -> y: f32[512] { y[m] = sum[k](a[m, k] * x[k]) }`, 2},
	{"all", `kernel all(x: f16[128, 1024]) -> s: f32 { s = sum[i, j](x[i, j]) }`, 1},
	{"middle", `kernel middle(x: f32[16, 64, 128]) -> y: f32[16, 128] { y[b, c] = sum[l](x[b, l, c]) }`, 1},
	{"depthwise", `kernel depthwise(x: f32[32, 32, 64], w: f32[3, 3, 64]) -> y: f32[32, 32, 64] { y[h, v, c] = sum[r in 0..3, s in 0..3](x@zero[h + r - 1, v + s - 1, c] * w[r, s, c]) }`, 12},
	{"softmax", `kernel softmax(x: f32[256, 1024]) -> y: f32[256, 1024] { y[i, j] = softmax[j](x[i, j]) }`, 1},
	{"odd softmax", `kernel odd(x: f32[256, 1000]) -> y: f32[256, 1000] { y[i, j] = softmax[j](x[i, j]) }`, 1},
	{"long softmax", `kernel long(x: f16[32, 65536]) -> y: f16[32, 65536] { y[i, j] = softmax[j](x[i, j]) }`, 2},
	{"channels", `kernel channels(x: f32[16, 64, 128]) -> y: f32[16, 64, 128] { y[b, c, l] = softmax[c](x[b, c, l]) }`, 1},
	{"layernorm", `kernel layernorm(x: f16[256, 768], w: f16[768]) -> y: f16[256, 768] { m[i] = sum[j](x[i, j]) / 768; v[i] = sum[j]((x[i, j] - m[i]) * (x[i, j] - m[i])) / 768; y[i, j] = (x[i, j] - m[i]) * rsqrt(v[i] + 0.001) * w[j] }`, 1.5},
	{"add", `kernel add(x: f32[256, 512], b: f16[512]) -> y: f32[256, 512] { y[i, j] = x[i, j] + b[j] }`, 1.3},
	{"transpose", `kernel transpose(x: f32[512, 256]) -> y: f32[256, 512] { y[j, i] = x[i, j] }`, 1.5},
	{"permute", `kernel permute(x: f16[16, 128, 64]) -> y: f16[64, 128, 16] { y[c, b, a] = x[a, b, c] }`, 4},
	{"rows of 6", `kernel six(x: f32[1024, 6]) -> y: f32[1024, 6] { y[i, j] = 2 * x[i, j] }`, 1},
	{"half", `kernel half(x: f16[65536]) -> y: f16[65536] { y[i] = gelu(x[i]) }`, 1},
	{"odd", `kernel odd(x: f16[65537]) -> y: f16[65537] { y[i] = gelu(x[i]) }`, 1},
}

func TestTraffic(t *testing.T) {
	for n, c := range traffic {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := program(t, c.src)
			m := tiled(t, p, nil)
			for _, k := range m.Kernels {
				ok, err := passes.PlaceRows(k)
				require.NoError(t, err)
				require.True(t, ok)
			}
			u := &passes.Unit{Level: passes.Tile, Tile: m}
			require.NoError(t, passes.Run(u, passes.Options{Only: []string{"map_threads"}, Verify: true}), m)
			call := draw(t, p, rand.New(rand.NewPCG(uint64(n), 1)))
			ran := simulated(t, u, call, sim.Options{})
			bytes := 0
			count := func(list map[string]*data.Array) {
				for _, a := range list {
					bytes += a.Len() * a.Type.Bytes()
				}
			}
			count(call.Inputs)
			count(ran.Outputs)
			var dram, sectors float64
			for i, k := range ran.Kernels {
				dram += float64(k.DRAMBytes) / float64(bytes)
				sectors += 32 * float64(k.LoadSectors+k.StoreSectors) / float64(bytes)
				t.Logf("%s: grid %d x %d, %d registers, issued %v", m.Kernels[i].Sched, k.Grid, k.Block, k.Registers, k.Issued)
			}
			t.Logf("%d bytes; of them moved %.2f, asked for %.2f", bytes, dram, sectors)
			assert.LessOrEqual(t, dram, 1.05)
			assert.LessOrEqual(t, sectors, 1.05*c.sectors)
		})
	}
}
