package sim_test

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// mutate replaces the nth occurrence (from 0) of a piece of a golden kernel's text.
func mutate(t *testing.T, name, old string, nth int, with string) *simt.Module {
	text, err := os.ReadFile("../../ir/simt/testdata/golden/" + name + ".simt")
	require.NoError(t, err)
	parts := strings.Split(string(text), old)
	require.Greater(t, len(parts), nth+1, "%q is not in %s %d times", old, name, nth+1)
	m, err := simt.Parse(strings.Join(parts[:nth+1], old) + with + strings.Join(parts[nth+1:], old))
	require.NoError(t, err)
	return m
}

// Mistakes in asynchronous code are found although the data happen to be right, or the kernel would hang.
func TestMistakesInGoldenKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	calls := map[string]*data.Call{
		"gemm": {Scalars: sizes("M", 129, "N", 264, "K", 328), Inputs: map[string]*data.Array{
			"A": random(r, ir.F16, 129, 328), "B": random(r, ir.F16, 328, 264)}},
		"attention": {Scalars: sizes("B", 1, "H", 2, "G", 1, "S", 300, "T", 300), Inputs: map[string]*data.Array{
			"Q": random(r, ir.F16, 1, 2, 300, 128), "K": random(r, ir.F16, 1, 1, 300, 128), "V": random(r, ir.F16, 1, 1, 300, 128)}},
		"rowreduce_ring": {Scalars: sizes("R", 20, "N", 13000), Inputs: map[string]*data.Array{"x": random(r, ir.F16, 20, 13000)}},
	}
	for _, c := range []struct {
		name, kernel, old string
		nth               int
		with              string
		kinds             string // one of them is reported
		says              string
	}{
		{"no fence before the copy engine reads", "gemm", "fence async", 1, "", "async", "without a fence async between"},
		{"no meeting of the lanes before the copy", "gemm", "sync warp", 3, "", "race", "sC"},
		{"slot given back too early", "gemm", "wait wgmma, 1", 0, "", "race", "sA sB"},
		{"one group too many in flight", "gemm", "wait wgmma, 1", 0, "wait wgmma, 2", "race", "sA sB"},
		{"accumulators read in flight", "gemm", "wait wgmma, 0", 0, "", "async", "register d["},
		{"too many bytes expected", "gemm", "full[s], 49152", 0, "full[s], 49168", "deadlock", "16 bytes missing"},
		{"too few bytes expected", "gemm", "full[s], 49152", 0, "full[s], 32768", "race", "sB"},
		{"one arrival too many expected", "gemm", "init full[i], 1", 0, "init full[i], 2", "deadlock", "arrivals"},
		{"one arrival too few expected", "gemm", "init empty[i], 8", 0, "init empty[i], 7", "race barrier", ""},
		{"producer does not wait", "gemm", "wait empty[s], ph", 0, "", "race barrier", ""},
		{"consumer does not wait", "gemm", "wait full[s], ph", 1, "", "race", ""},
		{"staging written while it is copied", "gemm", "waitread bulk, 1", 1, "", "race", "sC"},
		{"block ends during a copy", "gemm", "wait bulk, 0", 0, "", "async", "the block ends"},
		{"parity does not turn", "gemm", "ph = ph ^ 1", 0, "", "deadlock race barrier", ""},
		{"barriers used before they are there", "gemm", "sync cta", 0, "", "barrier", "initialisation"},
		{"copy to an odd place", "gemm", "sA[8192 * s] <-", 0, "sA[8192 * s + 8] <-", "alignment", "128"},
		{"no fence behind reads of Q", "attention", "fence async", 0, "", "async", "sQ"},
		{"no fence behind writes of registers", "attention", "fence wgmma", 0, "", "async", "without a fence wgmma"},
		{"scores read in flight", "attention", "wait wgmma, 1", 1, "", "async", "register s["},
		{"the end is not told", "attention", "arrive qfull", 0, "", "deadlock", "qfull"},
		{"packed scores written in flight", "attention", "wait wgmma, 0", 2, "", "async", "register"},
		{"piece given back before all lanes read it", "rowreduce_ring", "fence async", 0, "", "async", "sx"},
		{"sums read before they are there", "rowreduce_ring", "sync all[0]", 0, "", "race", "part"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mutate(t, c.kernel, c.old, c.nth, c.with)
			_, err := sim.Run(context.Background(), m, small(t), calls[c.kernel], sim.Options{Workers: 1, Steps: 1 << 24})
			var found sim.Mistakes
			require.ErrorAs(t, err, &found)
			require.True(t, slices.ContainsFunc(found, func(f sim.Finding) bool {
				return slices.Contains(strings.Fields(c.kinds), f.Kind) && (strings.Contains(f.Text, c.says) ||
					slices.ContainsFunc(strings.Fields(c.says), func(s string) bool { return strings.Contains(f.Text, s) }))
			}), "%v", found)
		})
	}
}
