package autotune

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

const source = `kernel mixed(x: f16[M, K], w: f16[K, N], b: f32[N]) -> (y: f32[M, N], z: f32[M], c: f32[N]) {
    y[m, n] = sum[k](x[m, k] * w[k, n])
    z[m] = sum[k](x[m, k] * x[m, k])
    c[n] = exp(b[n])
}`

func subject(t *testing.T, sizes map[string]int64) Subject { return subjectOf(t, source, sizes) }

func subjectOf(t *testing.T, source string, sizes map[string]int64) Subject {
	t.Helper()
	unit, errs := lang.Compile("k.gk", source, sizes)
	require.NoError(t, errs.Err())
	p := unit.Programs[0]
	d, err := device.Find("h200")
	require.NoError(t, err)
	call := func() (*data.Call, error) {
		return data.Bind(p.Signature(), data.Given{Fill: func(of data.Tensor, shape []int) *data.Array {
			r, a := rand.New(rand.NewPCG(1, 2)), data.New(of.Type, shape...)
			for i := range a.Len() {
				a.Set(i, ir.FloatConst(float64(r.IntN(5)-2)))
			}
			return a
		}})
	}
	return Subject{Kernel: "mixed", Program: p, Device: d, Call: call}
}

var few = Options{Draws: 6, Best: 1}

// tuned runs a tuner with the log of a folder.
func tuned(t *testing.T, ctx context.Context, s Subject, o Options, log string, more ...string) ([]Best, error) {
	t.Helper()
	l, err := OpenLog(log, more...)
	require.NoError(t, err)
	defer l.Close()
	return Tune(ctx, s, o, l)
}

// TestTuneIsTheSame: with any number of workers, in one process or in parts, and after interruptions at any record, also in the
// middle of one.
func TestTuneIsTheSame(t *testing.T) {
	const source = `kernel two(x: f32[M, N], b: f32[N]) -> (z: f32[M], c: f32[N]) {
    z[m] = sum[n](x[m, n])
    c[n] = exp(b[n])
}`
	s, dir := subjectOf(t, source, map[string]int64{"M": 64, "N": 32}), t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	want, err := tuned(t, t.Context(), s, few, file("whole"))
	require.NoError(t, err)
	require.Len(t, want, 2)
	for _, b := range want {
		require.Positive(t, b.Simulated, b.Of)
		require.Empty(t, b.Unsimulated)
	}

	old := runtime.GOMAXPROCS(1)
	got, err := tuned(t, t.Context(), s, few, file("one"))
	runtime.GOMAXPROCS(old)
	require.NoError(t, err)
	require.Equal(t, want, got)

	for part := range 3 {
		o := few
		o.Shard, o.Shards = part, 3
		_, err := tuned(t, t.Context(), s, o, file(fmt.Sprint("part", part)))
		require.NoError(t, err)
	}
	o, news := few, 0
	o.Progress = func(Record) { news++ }
	got, err = tuned(t, t.Context(), s, o, file("joined"), file("part0"), file("part1"), file("part2"))
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Zero(t, news, "the parts left nothing to do")

	whole, err := os.ReadFile(file("whole"))
	require.NoError(t, err)
	for _, cut := range []int{len(whole) / 2, len(whole) - 1} {
		log := file(fmt.Sprint("cut", cut))
		require.NoError(t, os.WriteFile(log, whole[:cut], 0o644))
		got, err := tuned(t, t.Context(), s, few, log)
		require.NoError(t, err)
		require.Equal(t, want, got, "cut at %d", cut)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(Record) {
		if news++; news == 10 {
			cancel()
		}
	}
	_, err = tuned(t, ctx, s, o, file("stopped"))
	require.ErrorIs(t, err, context.Canceled)
	got, err = tuned(t, t.Context(), s, few, file("stopped"))
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// TestTuneLarge: what is too large for the simulator is chosen by the estimate, and says so.
func TestTuneLarge(t *testing.T) {
	limited := few
	limited.Instructions = 100
	for _, c := range []struct {
		size    int64
		options Options
	}{{512, limited}, {1 << 15, few}} {
		s := subject(t, map[string]int64{"M": c.size, "N": c.size, "K": c.size})
		got, err := tuned(t, t.Context(), s, c.options, filepath.Join(t.TempDir(), "log"))
		require.NoError(t, err)
		require.Len(t, got, 3)
		for _, b := range got {
			require.Contains(t, b.Unsimulated, "too large")
			require.Zero(t, b.Simulated)
			require.Positive(t, b.Estimate)
		}
	}
}

// TestBestOf: the default comes first, and stays where nothing is clearly better.
func TestBestOf(t *testing.T) {
	list := []Record{{Schedule: "default", Estimate: 10, Simulated: 20}, {Schedule: "a", Estimate: 9.95, Simulated: 18.1}, {Schedule: "b", Estimate: 9.96, Simulated: 18}}
	require.Equal(t, Best{Of: "y", Schedule: "a", Estimate: 9.95, Simulated: 18.1}, bestOf("y", list, ""))
	require.Equal(t, Best{Of: "y", Schedule: "default", Estimate: 10, Unsimulated: "too large"}, bestOf("y", list, "too large"))
}

// TestEstimateFollowsTheSimulator: what is counted from the text is about what is counted as it runs, for all schedules. The time can
// be longer: the simulator waits for no memory.
func TestEstimateFollowsTheSimulator(t *testing.T) {
	s := subject(t, map[string]int64{"M": 64, "N": 64, "K": 64})
	call, err := s.Call()
	require.NoError(t, err)
	for seed := range uint64(4) {
		u := &passes.Unit{Level: passes.Tensor, Tensor: s.Program, Device: s.Device, Draw: &seed}
		if seed == 0 {
			u.Draw = nil
		}
		require.NoError(t, passes.Run(u, passes.Options{To: passes.Simt}))
		list, err := Of(u.Simt, s.Device)
		require.NoError(t, err)
		res, err := sim.Run(t.Context(), u.Simt, s.Device, call, sim.Options{})
		require.NoError(t, err)
		for i, e := range list {
			k, issued := res.Kernels[i], int64(0)
			for _, n := range k.Issued {
				issued += n
			}
			require.Equal(t, k.Name, e.Kernel)
			ratio := e.Issued / float64(issued)
			require.True(t, 0.25 < ratio && ratio < 3, "%s, %s: %.0f instructions are estimated, %d are executed", k.Name, u.Cut[0].Sched, e.Issued, issued)
			require.True(t, k.Seconds < 2.5*e.Seconds, "%s: estimated %g, simulated %g", k.Name, e.Seconds, k.Seconds)
		}
	}
}
