package passes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// product is a product of matrices as a block kernel.
type product struct {
	a, b, acc      string // types
	m, n, k        int    // of a block
	warpsM, warpsN int
	flipA, flipB   bool // A is [k, m] in memory, B is [n, k]
	tensor         int
	trips          int // along k
	stages         int
	mma            bool   // whether matrix operations are expected
	by             string // the matrix operation, where it is not left to pick_atoms
}

func (p product) String() string {
	return fmt.Sprintf("%s*%s+%s %s %dx%dx%d warps %dx%d flip %v,%v tensor %d stages %d", p.a, p.b, p.acc, p.by, p.m, p.n, p.k, p.warpsM, p.warpsN, p.flipA, p.flipB, p.tensor, p.stages)
}

// text is the kernel, on a problem that ends within a block along m and n.
func (p product) text() string {
	axes := func(flip bool, x, y string) (sizes, at, names string) {
		size := map[string]int{"m": p.m, "n": p.n, "k": p.k * p.trips}
		bound := map[string]string{"m": fmt.Sprint(p.m * 3 / 2), "n": fmt.Sprint(p.n * 3 / 2), "k": fmt.Sprint(size["k"])}
		sub := func(s string) string {
			return fmt.Sprintf("%sm * %d + %si", s, map[string]int{"m": p.m, "n": p.n, "k": p.k}[s], s)
		}
		if flip {
			x, y = y, x
		}
		return bound[x] + ", " + bound[y], sub(x) + ", " + sub(y), x + "i, " + y + "i"
	}
	sizeA, atA, tileA := axes(p.flipA, "m", "k")
	sizeB, atB, tileB := axes(p.flipB, "k", "n")
	zero := func(t string) string {
		if strings.ContainsAny(t[:1], "iu") {
			return "0"
		}
		return "0.0"
	}
	// C has no whole number of blocks, but rows of whole pieces of 16 bytes.
	typed := func(t string) string { return t + "(" + zero(t) + ")" }
	return fmt.Sprintf(`tile product
param A: %s[%s]
param B: %s[%s]
result C: %s[%d, %d]
kernel product {
  schedule warps.m %d, warps.n %d, tensor %d
  threads %d
  axis mi: %d
  axis ni: %d
  axis ki: %d
  grid mm in 0..2, nm in 0..2 {
    loop km in 0..%d %s carry (acc[mi, ni]: %s = %s -> sum) {
      a[%s]: %s shared = load async A[%s] where mm * %d + mi < %d else %s
      b[%s]: %s shared = load async B[%s] where nm * %d + ni < %d else %s
      d[mi, ni]: %s = dot a, b over ki into acc %s
      next acc = d
    }
    store[mi, ni] C[mm * %d + mi, nm * %d + ni] <- sum where mm * %d + mi < %d && nm * %d + ni < %d
  }
}
`, p.a, sizeA, p.b, sizeB, p.acc, p.m*3/2, p.n*3/2, p.warpsM, p.warpsN, p.tensor, 32*p.warpsM*p.warpsN, p.m, p.n, p.k,
		p.trips, map[bool]string{true: fmt.Sprintf("stages %d", p.stages)}[p.stages > 1], p.acc, typed(p.acc),
		tileA, p.a, atA, p.m, p.m*3/2, typed(p.a), tileB, p.b, atB, p.n, p.n*3/2, typed(p.b), p.acc, map[bool]string{true: "by " + p.by}[p.by != ""],
		p.m, p.n, p.m, p.m*3/2, p.n, p.n*3/2)
}

// products are all orders of axes of small products, and one order of each larger one.
func products() (out []product) {
	shapes := []struct{ m, n, k, warpsM, warpsN int }{
		{16, 8, 16, 1, 1}, {32, 32, 16, 1, 2}, {64, 16, 32, 2, 1}, {64, 64, 32, 2, 2}, {16, 64, 64, 2, 4}, {64, 16, 16, 1, 8}, {8, 8, 8, 1, 1}, {16, 128, 16, 8, 1}, {128, 8, 32, 1, 8}, {16, 16, 16, 4, 2},
	}
	for i, s := range shapes {
		for j, of := range []struct {
			a, b, acc         string
			tensor, least, mk int // the least k, and that of a matrix operation; 0: there is none
		}{
			{"f16", "f16", "f32", 1, 8, 8}, {"bf16", "bf16", "f32", 1, 8, 8}, {"i8", "u8", "i32", 1, 16, 16}, {"f64", "f64", "f64", 1, 8, 4}, {"f8e4m3", "f8e5m2", "f32", 1, 16, 32},
			{"f32", "f32", "f32", 1, 8, 0}, {"f16", "bf16", "f32", 1, 8, 0}, {"f16", "f16", "f32", 0, 8, 0}, {"i8", "i8", "i32", 0, 16, 0},
		} {
			p := product{a: of.a, b: of.b, acc: of.acc, m: s.m, n: s.n, k: max(s.k, of.least), warpsM: s.warpsM, warpsN: s.warpsN, tensor: of.tensor}
			p.stages = (i + j) % 4
			p.trips = max(1, p.stages)
			p.mma = of.mk > 0 && p.k >= of.mk && (s.m >= 16 || of.acc == "f64")
			for order := range 4 {
				if p.flipA, p.flipB = order&1 != 0, order&2 != 0; i < 2 || order == (i+j)%4 {
					out = append(out, p)
				}
				if p.a == "f32" && p.m >= 16 && (i < 2 || order == (i+j)%4) {
					p.by, p.mma = fmt.Sprintf("mma.m16n8k%d.f32.tf32", 4<<(i%2)), true
					out = append(out, p)
					p.by, p.mma = "", false
				}
			}
		}
	}
	return out
}

// operations are those of all warps: each of the four blocks does what its tile takes, and warps for which nothing is left do what
// others do.
func (p product) operations(d *tile.Dot) int {
	x := simt.AtomByName(d.Atom)
	if x == nil {
		return 0
	}
	tiles := p.m / x.M * (p.n / x.N)
	return 4 * p.trips * (p.k / x.K) * max(tiles, p.warpsM*p.warpsN)
}

// TestDots: products of tiles are what they mean, without a conflict in shared memory, by the matrix operations that fit.
func TestDots(t *testing.T) {
	dev, err := device.Find("h200")
	require.NoError(t, err)
	for n, p := range products() {
		t.Run(p.String(), func(t *testing.T) {
			m, errs := tile.Parse(p.text())
			require.NoError(t, errs.Err(), p.text())
			require.NoError(t, tile.Verify(m))
			u := &passes.Unit{Level: passes.Tile, Tile: m, Device: dev}
			require.NoError(t, passes.Run(u, passes.Options{Only: []string{"pick_atoms"}, Verify: true}))
			require.Zero(t, passes.PlaceDots(u.Tile.Kernels[0]), "conflicts\n%s", u.Text())
			require.NoError(t, passes.Run(u, passes.Options{Only: []string{"map_threads"}, Verify: true}))
			call := drawCall(t, m.Signature(), rand.New(rand.NewPCG(uint64(n), 1)), 1)
			if p.by != "" { // numbers that tf32 has
				for _, a := range call.Inputs {
					for i := range a.Len() {
						a.Set(i, ir.FloatConst(ir.RoundTo(ir.BF16.Elem, a.Float(i))))
					}
				}
			}
			want, err := tile.Eval(context.Background(), m, call)
			require.NoError(t, err)
			got := simulated(t, u, call, sim.Options{Moment: sim.Moment(n % 3), Seed: uint64(n)})
			for name, w := range want {
				agree(t, name, got.Outputs[name], w)
			}
			dotsOf(u.Tile.Kernels[0].Body, func(d *tile.Dot) { require.EqualValues(t, p.operations(d), got.Kernels[0].Mma, u.Text()) })
			require.Equal(t, p.mma, got.Kernels[0].Mma > 0, u.Text())
		})
	}
}
