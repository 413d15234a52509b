package mutants_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/internal/mutants"
	"github.com/gkc-lang/gkc/internal/randgk"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// subject is a kernel of which mutants are made, for calls whose sizes end inside tiles.
type subject struct {
	name, source string
	schedule     string
	tiles        string // a file of tile text that computes it, where the passes would choose another way
	calls        []map[string]int64
	shift        float64 // of the inputs of every other call
	harmless     []harmless
}

// harmless are mutants that compute the same, and why.
type harmless struct {
	kind  mutants.Kind
	lost  string // a part of the statement
	proof string
}

const (
	ahead     = "m 32, n 32, k 16, warps.m 2, warps.n 1, stages 3"
	turned    = "m 32, n 32, k 32, warps.m 2, warps.n 1, stages 3"
	products  = "kernel product(A: %[1]s[M, K], B: %[1]s[K, N]) -> C: f32[M, N] %[2]s { C[i, j] = sum[k](A[i, k] * B[k, j]) }"
	loadsZero = "under the same condition the load leaves 0, and a sum that begins at 0 is the same with it"
	eights    = "where K % 8 == 0 && N % 8 == 0"
)

// The last block has a single row, and calls differ in the trip in which the operands end: so each mask of each trip keeps something
// from being read outside.
var subjects = []subject{
	{
		name: "product by copies ahead", source: fmt.Sprintf(products, "f16", eights), schedule: ahead,
		calls: []map[string]int64{{"M": 33, "N": 40, "K": 72}, {"M": 33, "N": 8, "K": 8}, {"M": 33, "N": 8, "K": 24}, {"M": 33, "N": 8, "K": 40}},
	},
	{
		name: "product by copies ahead, turned", source: fmt.Sprintf(products, "f16", eights), schedule: turned,
		calls: []map[string]int64{{"M": 33, "N": 40, "K": 136}, {"M": 33, "N": 8, "K": 8}, {"M": 33, "N": 8, "K": 40}, {"M": 33, "N": 8, "K": 72}, {"M": 33, "N": 8, "K": 104}},
	},
	{
		name:     "product in a single step",
		source:   "kernel product(A: f16[M, 32], B: f16[32, N]) -> C: f32[M, N] where N % 8 == 0 { C[i, j] = sum[k](A[i, k] * B[k, j]) }",
		schedule: "m 32, n 32, k 32, warps.m 2, warps.n 1, stages 1",
		calls:    []map[string]int64{{"M": 33, "N": 40}, {"M": 33, "N": 8}},
	},
	{
		name: "product through registers", source: fmt.Sprintf(products, "f16", ""), schedule: ahead,
		calls: []map[string]int64{{"M": 33, "N": 41, "K": 53}, {"M": 33, "N": 9, "K": 1}, {"M": 33, "N": 9, "K": 17}},
	},
	{
		name: "product in f32", source: fmt.Sprintf(products, "f32", ""), schedule: ahead,
		calls: []map[string]int64{{"M": 33, "N": 41, "K": 53}, {"M": 33, "N": 9, "K": 1}, {"M": 33, "N": 9, "K": 17}, {"M": 33, "N": 9, "K": 33}},
	},
	{
		name: "softmax of rows", source: "kernel rows(X: f32[R, C]) -> Y: f32[R, C] { Y[i, j] = softmax[j](X[i, j]) }",
		schedule: "rows 2, cols 128, lanes 32, warps 2, warps.r 2", shift: -200,
		calls: []map[string]int64{{"R": 5, "C": 301}, {"R": 3, "C": 129}},
	},
	{
		name: "sums of columns", source: "kernel columns(X: f32[R, C]) -> Y: f32[C] { Y[j] = sum[i](X[i, j]) }",
		schedule: "rows 8, cols 16, lanes 4, warps 1, warps.r 2",
		calls:    []map[string]int64{{"R": 53, "C": 21}, {"R": 17, "C": 9}},
		harmless: []harmless{{mutants.Update, "select(is.2, sum[0] + X, sum[0])", loadsZero}, {mutants.Update, "select(is.1, sum[1] + X.2, sum[1])", loadsZero}},
	},
	{
		name: "transposition through shared memory", source: "kernel transpose(X: f16[N, M]) -> Y: f16[M, N] where M % 8 == 0 { Y[j, i] = X[i, j] }",
		tiles: "../../passes/testdata/map_threads/block_transpose.tile",
		calls: []map[string]int64{{"N": 75, "M": 72}, {"N": 33, "M": 8}},
	},
}

// compiled is a subject with its calls.
type compiled struct {
	module *simt.Module
	device *device.Device
	calls  []call
}

// call is what a subject is given, and what it should compute.
type call struct {
	*data.Call
	want   randgk.Outcome
	bounds map[string]*data.Array
}

func (s *subject) compile(t *testing.T) *compiled {
	unit, errs := lang.Compile("k.gk", s.source, nil)
	require.NoError(t, errs.Err())
	c := &compiled{}
	var err error
	c.device, err = device.Find("h200")
	require.NoError(t, err)
	u := &passes.Unit{Level: passes.Tensor, Tensor: unit.Programs[0], Device: c.device}
	u.Sched, err = schedule.Parse(s.schedule)
	require.NoError(t, err)
	for i := range s.calls {
		of := call{Call: s.draw(t, u.Tensor, i)}
		of.want, of.bounds = randgk.Reference(u.Tensor, of.Call)
		require.NoError(t, of.want.Err)
		c.calls = append(c.calls, of)
	}
	opt := passes.Options{To: passes.Simt, Verify: true}
	if s.tiles != "" {
		text, err := os.ReadFile(s.tiles)
		require.NoError(t, err)
		u, err = passes.ParseUnit(passes.Tile, string(text))
		require.NoError(t, err)
		u.Device = c.device
		opt.Only = []string{"map_threads", "simplify", "narrow_indices", "hoist", "cse", "drop_dead"}
	}
	require.NoError(t, passes.Run(u, opt))
	c.module = u.Simt
	return c
}

// draw makes the inputs of a call.
func (s *subject) draw(t *testing.T, p *tensor.Program, n int) *data.Call {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	fill := func(p data.Tensor, shape []int) *data.Array {
		a := data.New(p.Type, shape...)
		for i := range a.Len() {
			a.Set(i, ir.FloatConst(ir.RoundTo(p.Type.Elem, r.NormFloat64()+float64(n%2)*s.shift)))
		}
		return a
	}
	out, err := data.Bind(p.Signature(), data.Given{Set: s.calls[n], Fill: fill})
	require.NoError(t, err)
	return out
}

// seeds is how many runs a mutant gets: with each of the calls, at each moment at which copies may arrive.
const seeds = 64

// steps bounds what a mutant may do before it counts as one that does not end.
const steps = 1 << 22

// run is what is wrong with a module in one of the runs; empty: nothing.
func (c *compiled) run(m *simt.Module, seed int) string {
	n := len(c.calls)
	of := c.calls[seed%n]
	o := sim.Options{Workers: 1, Moment: sim.Moment(seed / n % 3), Seed: uint64(seed), Steps: steps}
	res, err := sim.Run(context.Background(), m, c.device, of.Call, o)
	got := randgk.Outcome{Err: err}
	if err == nil {
		got.Out = res.Outputs
	}
	return randgk.Differs(got, of.want, of.bounds)
}

// caught is how a mutant gives itself away; empty: it does not.
func (c *compiled) caught(m *simt.Module) string {
	if err := simt.Verify(m); err != nil {
		return "verifier: " + err.Error()
	}
	for seed := range seeds {
		if wrong := c.run(m, seed); wrong != "" {
			return wrong
		}
	}
	return ""
}

// proof is why a mutant that survives may.
func (s *subject) proof(m mutants.Mutant) string {
	for _, h := range s.harmless {
		if h.kind == m.Kind && strings.Contains(m.Lost, h.lost) {
			return h.proof
		}
	}
	return ""
}

// TestMutants: a kernel that lacks a barrier, a wait or a mask is caught, and one that lacks nothing is not. What survives all the
// same is listed with its proof.
func TestMutants(t *testing.T) {
	made, survived := 0, 0
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			c := s.compile(t)
			for seed := range 3 * len(c.calls) {
				require.Empty(t, c.run(c.module, seed), "run %d of\n%s", seed, c.module)
			}
			count := map[mutants.Kind]int{}
			for _, m := range mutants.Of(c.module) {
				made++
				count[m.Kind]++
				how := c.caught(m.Module)
				t.Logf("%s, without its %s: %s", strings.TrimSpace(m.Lost), m.Kind, cmp.Or(how, "survives"))
				if how == "" {
					survived++
					assert.NotEmpty(t, s.proof(m), "nobody misses the %s of\n%s\nin\n%s", m.Kind, m.Lost, c.module)
				}
			}
			t.Logf("mutants: %v", count)
			require.NotEmpty(t, count)
			require.Positive(t, count[mutants.Barrier])
		})
	}
	assert.LessOrEqual(t, 20*survived, made, "of %d mutants, %d survive", made, survived)
}
