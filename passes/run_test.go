package passes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/passes"
)

const attention = `kernel attention(Q: f16[B, H, S, D], K: f16[B, G, T, D], V: f16[B, G, T, D]) -> O: f16[B, H, S, D]
where H % G == 0
{
    s[b, h, i, j] = sum[d](Q[b, h, i, d] * K[b, h / (H / G), j, d]) / sqrt(D)
    p[b, h, i, j] = softmax[j where j <= i + T - S](s[b, h, i, j])
    O[b, h, i, d] = sum[j](p[b, h, i, j] * V[b, h / (H / G), j, d])
}`

func unit(t testing.TB, src string) *passes.Unit {
	t.Helper()
	u, errs := lang.Compile("test.gk", src, nil)
	require.NoError(t, errs.Err())
	return &passes.Unit{Level: passes.Tensor, Tensor: u.Programs[0]}
}

// TestTableIsInOrder: every pass stands behind those that it names, levels fit, and names are those of other passes.
func TestTableIsInOrder(t *testing.T) {
	for i, p := range passes.Pipeline {
		require.NotEmpty(t, p.Doc, p.Name)
		for _, a := range p.After {
			j := slices.IndexFunc(passes.Pipeline, func(q passes.Pass) bool { return q.Name == a.Pass })
			require.GreaterOrEqual(t, j, 0, "%s: unknown pass %s", p.Name, a.Pass)
			require.Less(t, j, i, "%s has to stand behind %s", p.Name, a.Pass)
			require.NotEmpty(t, a.Why, p.Name)
		}
	}
	for _, u := range []*passes.Unit{{}, {Device: device.All()[0]}} {
		level := passes.Tensor
		for _, p := range passes.Pipeline {
			if p.When == nil || p.When(u) {
				require.Equal(t, level, p.In, "%s takes the level of the pass before", p.Name)
				level = p.Out
			}
		}
		require.Equal(t, passes.Simt, level)
	}
}

func TestDumpShowsWhatChanged(t *testing.T) {
	u := unit(t, attention)
	var seen []string
	texts := map[string]bool{}
	timed := 0
	err := passes.Run(u, passes.Options{
		To: passes.Simt, Verify: true,
		Dump:   func(pass, text string) { seen = append(seen, pass); texts[text] = true },
		Timing: func(string, time.Duration) { timed++ },
	})
	require.NoError(t, err)
	require.NotContains(t, seen, "expand_edges") // nothing in attention has a boundary
	require.Contains(t, seen, "split_reductions")
	require.Len(t, texts, len(seen))
	always := slices.DeleteFunc(slices.Clone(passes.Pipeline), func(p passes.Pass) bool { return p.When != nil && !p.When(u) })
	require.Equal(t, len(always), timed)
}

func TestRunStopsAtALevel(t *testing.T) {
	u := unit(t, attention)
	require.NoError(t, passes.Run(u, passes.Options{To: passes.Tile}))
	require.Equal(t, passes.Tile, u.Level)
	require.Nil(t, u.Simt)
	require.NoError(t, passes.Run(u, passes.Options{To: passes.Simt}))
	require.Equal(t, passes.Simt, u.Level)
}

func TestOnlyRefusesWhatDoesNotFit(t *testing.T) {
	require.ErrorContains(t, passes.Run(unit(t, attention), passes.Options{Only: []string{"fuse_all"}}), `unknown pass "fuse_all"`)
	require.ErrorContains(t, passes.Run(unit(t, attention), passes.Options{Only: []string{"map_threads"}}), "takes tile IR, not tensor")
}

// TestFailureCanBeReproduced: a program that breaks an invariant of a pass is a bug of ours, reported with what runs it again.
func TestFailureCanBeReproduced(t *testing.T) {
	x := &tensor.Tensor{Name: "x", Type: ir.F32, Extents: []*ir.Expr{ir.Int64(4)}}
	y := &tensor.Tensor{Name: "y", Type: ir.F32, Role: tensor.Result}
	p := &tensor.Program{Name: "broken", Params: []*tensor.Tensor{x}, Results: []*tensor.Tensor{y}, Order: []string{"x"}}
	p.Defs = []tensor.Def{&tensor.Map{Out: y, Body: tensor.ReadOf(x, tensor.Edge{Kind: tensor.Checked}, ir.Int64(7))}}
	u := &passes.Unit{Level: passes.Tensor, Tensor: p}
	err := passes.Run(u, passes.Options{Only: []string{"expand_edges", "make_loops"}})
	var f *passes.Failure
	require.ErrorAs(t, err, &f)
	require.Equal(t, "expand_edges", f.Pass)
	require.Equal(t, "broken", f.Kernel)
	require.ErrorContains(t, err, "the pass expand_edges failed on kernel broken")
	require.Contains(t, f.Stack, "expand_edges.go")
	only := passes.PassesIn(f.Reproducer)
	require.Equal(t, []string{"expand_edges", "make_loops"}, only)
	again, err := passes.ParseUnit(f.Level, f.Reproducer)
	require.NoError(t, err)
	require.ErrorAs(t, passes.Run(again, passes.Options{Only: only}), &f)
}

// TestWhatThreadsCannotDo is refused, and is no bug.
func TestWhatThreadsCannotDo(t *testing.T) {
	tests := []struct{ body, want string }{
		{"y: f32 = reduce sum x over d\nstore Y[0] <- y", "reduce has no lowering"},
		{"phase\nstore[d] Y[d] <- x", "the value x is used by other threads"},
		{"if N.one == 0 {\nstore[d] Y[d] <- x\nstore Y[0] sum <- 1.0\n}", "fewer axes"},
	}
	for _, c := range tests {
		u, err := passes.ParseUnit(passes.Tile, "tile t\nscalar N.one: i32\nparam X: f32[8]\nresult Y: f32[8]\nkernel k {\naxis d: 8\ngrid {\nx[d]: f32 = load X[d]\n"+c.body+"\n}\n}\n")
		require.NoError(t, err)
		err = passes.Run(u, passes.Options{To: passes.Simt, Verify: true})
		var d *diag.Diag
		require.ErrorAs(t, err, &d)
		require.Equal(t, "limit", d.Code)
		require.ErrorContains(t, err, c.want)
	}
}

// TestTrustDropsTheChecks: with --bounds trust accesses through data are plain.
func TestTrustDropsTheChecks(t *testing.T) {
	const src = `kernel gather(x: f32[N], idx: i32[M], n: i32) -> (y: f32[M], z: f32[n]) { y[i] = x[idx[i]]; z[idx[i]] += x[idx[i]] }`
	for _, trust := range []bool{false, true} {
		u := unit(t, src)
		u.Trust = trust
		require.NoError(t, passes.Run(u, passes.Options{To: passes.Tile, Verify: true}))
		require.Equal(t, !trust, strings.Contains(u.Text(), "check"), u.Text())
		require.Equal(t, trust, len(u.Tile.Sites) == 0)
	}
}

// TestSharedValuesAreBounded: values that nested branches share are computed in each of them; what doubles at every level ends in
// a diagnosis, soon.
func TestSharedValuesAreBounded(t *testing.T) {
	n := []*ir.Expr{ir.Int64(8)}
	x := &tensor.Tensor{Name: "x", Type: ir.F32, Extents: n}
	y := &tensor.Tensor{Name: "y", Type: ir.F32, Extents: n, Role: tensor.Result}
	axis := &ir.Axis{Name: "i"}
	i := ir.Name(axis)
	number := func(v float64) *ir.Expr { return ir.NewConst(ir.F32, ir.FloatConst(v)) }
	v := tensor.ReadOf(x, tensor.Edge{}, i)
	for k := range 60 {
		c := ir.Gt(i, ir.Int64(int64(k)))
		v = ir.If(c, ir.If(ir.Not(c), number(0), v), ir.If(c, number(0), v))
	}
	p := &tensor.Program{Name: "deep", Params: []*tensor.Tensor{x}, Results: []*tensor.Tensor{y}, Order: []string{"x"}}
	p.Defs = []tensor.Def{&tensor.Map{Out: y, Free: []ir.Span{{Axis: axis, Lo: ir.Int64(0), Hi: n[0]}}, Body: v}}
	start := time.Now()
	err := passes.Run(&passes.Unit{Level: passes.Tensor, Tensor: p}, passes.Options{To: passes.Simt, Verify: true})
	require.Less(t, time.Since(start), 5*time.Second)
	require.ErrorContains(t, err, "more than 100000 statements")
}

// TestBranchesShareWhatBothNeed: what both branches of a choice need is computed in front of it, however deep choices nest.
func TestBranchesShareWhatBothNeed(t *testing.T) {
	u := unit(t, "kernel k(x: f32[N], c: f32[N]) -> y: f32[N] {\n"+
		"a[i] = if c[i] > 1 { x[i] + 1 } else { x[i] * 2 }\ny[i] = if c[i] > 2 { a[i] + 1 } else { a[i] * 2 }\n}")
	require.NoError(t, passes.Run(u, passes.Options{To: passes.Tile, Verify: true}))
	require.Equal(t, 1, strings.Count(u.Text(), "load x"), u.Text())
}

func BenchmarkAttention(b *testing.B) {
	u := unit(b, attention)
	for b.Loop() {
		v := *u
		require.NoError(b, passes.Run(&v, passes.Options{To: passes.Simt}))
	}
}
