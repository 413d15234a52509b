package passes_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// trafficOfDots lists contractions whose sizes are multiples of the tile, with the bytes that the tiling must move: the operands of
// every block and the result.
var trafficOfDots = []struct {
	name, src, sched string
	bytes            int64
	sectors          float64 // that warps ask for, in parts of those bytes
}{
	{"half", `kernel half(x: f16[256, 256], w: f16[256, 256]) -> y: f16[256, 256] { y[m, n] = sum[k](x[m, k] * w[k, n]) }`, "m 128, n 128, k 32", 4*256*(128+128)*2 + 256*256*2, 1.2},
	{"float", `kernel float(x: f32[256, 128], w: f32[128, 256]) -> y: f32[256, 256] { y[m, n] = sum[k](x[m, k] * w[k, n]) }`, "m 128, n 128, k 16", 4*128*(128+128)*4 + 256*256*4, 1},
	{"transposed", `kernel transposed(x: f16[256, 256], w: f16[256, 256]) -> y: f16[256, 256] { y[m, n] = sum[k](x[k, m] * w[n, k]) }`, "m 128, n 128, k 32", 4*256*(128+128)*2 + 256*256*2, 1.2},
	{"wide", `kernel wide(x: f16[256, 256], w: f16[256, 256]) -> y: f32[256, 256] { y[m, n] = sum[k](x[m, k] * w[k, n]) }`, "m 128, n 128, k 32", 4*256*(128+128)*2 + 256*256*4, 1},
	{"mapped", `kernel mapped(x: f16[256, 256], w: f16[256, 256]) -> y: f16[256, 256] { y[m, n] = sum[k](max(x[m, k], 0) * w[k, n]) }`, "m 128, n 128, k 32", 4*256*(128+128)*2 + 256*256*2, 1.2},
	{"bytes", `kernel bytes(x: i8[256, 256], w: i8[256, 256]) -> y: i32[256, 256] { y[m, n] = sum[k: i32](i32(x[m, k]) * i32(w[n, k])) }`, "m 128, n 128, k 64", 4*256*(128+128) + 256*256*4, 1},
	{"conv", `kernel conv(x: f16[2, 16, 16, 32], w: f16[3, 3, 32, 64]) -> y: f16[2, 16, 16, 64] { y[b, i, j, o] = sum[r in 0..3, s in 0..3, c](x@zero[b, i + r - 1, j + s - 1, c] * w[r, s, c, o]) }`, "m 128, n 64, k 32", 4*288*(128+64)*2 + 512*64*2, 1.1},
	{"odd", `kernel odd(x: f16[256, 255], w: f16[255, 257]) -> y: f16[256, 257] { y[m, n] = sum[k](x[m, k] * w[k, n]) }`, "m 128, n 128, k 32", 2*255*(256+257+2*128)*2 + 256*257*2, 1.9},
}

func TestTrafficOfDots(t *testing.T) {
	for n, c := range trafficOfDots {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sched, err := schedule.Parse(c.sched)
			require.NoError(t, err)
			p := program(t, c.src)
			u := laidOut(t, p, sched, "h200")
			text := u.Text()
			require.NoError(t, passes.Run(u, passes.Options{Only: []string{"map_threads"}, Verify: true}), text)
			ran := simulated(t, u, draw(t, p, rand.New(rand.NewPCG(uint64(n), 1))), sim.Options{})
			k := ran.Kernels[0]
			asked := float64(32*(k.LoadSectors+k.StoreSectors)) / float64(c.bytes)
			t.Logf("loads %.2f stores %.2f of the bytes; DRAM %d; wavefronts %d; issued %v; mma %d barriers %d regs %d shared %d", float64(32*k.LoadSectors)/float64(c.bytes), float64(32*k.StoreSectors)/float64(c.bytes), k.DRAMBytes, k.Wavefronts, k.Issued, k.Mma, k.Barriers, k.Registers, k.SharedBytes)
			assert.LessOrEqual(t, asked, 1.05*c.sectors, text)
		})
	}
}
