package passes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// TestContractionsOnTheDevice: the threads of block kernels compute what the program means, whatever the schedule, the sizes and
// the moment at which copies arrive; they race for nothing, and meet in no bank.
func TestContractionsOnTheDevice(t *testing.T) {
	for n, c := range contractions {
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
				if seed == 3 && c.blocks > 0 {
					sched = passes.Space(blocks(tiled(t, p, nil))[0], nil).Random(seed)
				}
				u := laidOut(t, p, sched, "h200")
				text := u.Text()
				require.NoError(t, passes.Run(u, passes.Options{Only: []string{"map_threads"}, Verify: true}), "%s with %s\n%s", c.name, sched, text)
				call := drawCall(t, p.Signature(), r, 5)
				want, err := tensor.Eval(p, call, tensor.EvalOptions{})
				require.NoError(t, err)
				got, err := sim.Run(context.Background(), u.Simt, u.Device, call, sim.Options{Moment: sim.Moment(seed % 3), Seed: seed})
				require.NoError(t, err, "%s with %s\n%s\n%s", c.name, sched, text, u.Text())
				for _, k := range got.Kernels {
					require.Zero(t, k.Conflicts, "%s with %s\n%s\n%s", c.name, sched, text, u.Text())
				}
				for name, w := range want {
					agree(t, fmt.Sprintf("%s with %s: %s\n%s\n%s", c.name, sched, name, text, u.Text()), got.Outputs[name], w)
				}
			}
		})
	}
}
