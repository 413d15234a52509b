package randgk

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/codegen/go"
	"github.com/gkc-lang/gkc/ir/data"
)

var (
	programs = flag.Int("programs", 120, "how many programs TestRandomPrograms makes")
	first    = flag.Uint64("first", 1, "the seed of the first one")
	withGo   = flag.Int("go", 60, "how many of the calls run as Go too")
	show     = flag.Bool("show", false, "print every program")
	dump     = flag.String("dump", "", "a file that receives programs, inputs and results, for a comparison with something else")
	effort   = flag.Int("effort", 400, "how many smaller programs are tried for one that fails")
)

// trial is one call of one program.
type trial struct {
	program *Program
	run     int
	at      *Compiled
	call    *data.Call
	want    Outcome
	bounds  map[string]*data.Array
}

func (t *trial) String() string {
	return fmt.Sprintf("seed %d, run %d, sizes %v\n%s", t.program.Seed, t.run, t.program.Sizes, t.program.Source)
}

// tally counts what came out.
type tally struct {
	sync.Mutex
	programs, rejected, refused, calls, faults, elements, anything int
	batch                                                          []*trial
}

// Every path computes what the evaluator computes, whatever the program.
func TestRandomPrograms(t *testing.T) {
	var sum tally
	seeds := make(chan uint64)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for seed := range seeds {
				tryProgram(t, seed, &sum)
			}
		})
	}
	for i := range *programs {
		seeds <- *first + uint64(i)
	}
	close(seeds)
	wg.Wait()
	tryGo(t, sum.batch)
	if *dump != "" {
		require.NoError(t, writeTrials(*dump, sum.batch))
	}
	t.Logf("%d programs, %d rejected; %d calls, %d refused, %d of them fail; %d elements, %d of which may be anything",
		sum.programs, sum.rejected, sum.calls, sum.refused, sum.faults, sum.elements, sum.anything)
	assert.LessOrEqual(t, sum.rejected*20, sum.programs, "too many programs that are wrong")
	assert.LessOrEqual(t, sum.anything*2, sum.elements, "too many elements of which nothing is known")
}

func tryProgram(t *testing.T, seed uint64, sum *tally) {
	p := Generate(seed)
	if *show {
		t.Logf("seed %d, sizes %v\n%s", seed, p.Sizes, p.Source)
	}
	c, err := Compile(p.Source)
	sum.Lock()
	sum.programs++
	sum.Unlock()
	if rejected := (Rejected{}); errors.As(err, &rejected) {
		sum.Lock()
		sum.rejected++
		sum.Unlock()
		t.Logf("seed %d is rejected: %v\n%s", seed, err, p.Source)
		return
	}
	if err != nil {
		small := Shrink(p, *effort, func(q *Program) bool {
			_, again := Compile(q.Source)
			return again != nil && !errors.As(again, new(Rejected)) && sameWords(again, err)
		})
		t.Errorf("seed %d: %v\n%s", seed, err, small.Source)
		return
	}
	for run := range 2 {
		try(t, &trial{program: p, run: run, at: c}, sum)
	}
}

// sameWords compares the beginnings of two errors.
func sameWords(a, b error) bool {
	x, y := a.Error(), b.Error()
	n := min(len(x), len(y), 30)
	return x[:n] == y[:n]
}

func try(t *testing.T, tr *trial, sum *tally) {
	diff, refused := tr.compare()
	sum.Lock()
	sum.calls++
	if refused != nil {
		sum.refused++
	} else {
		sum.count(tr)
	}
	sum.Unlock()
	if diff == "" {
		return
	}
	small := Shrink(tr.program, *effort, func(q *Program) bool {
		c, err := Compile(q.Source)
		if err != nil {
			return false
		}
		d, refused := (&trial{program: q, run: tr.run, at: c}).compare()
		return refused == nil && d != "" && d[:4] == diff[:4]
	})
	tr = &trial{program: small, run: tr.run}
	tr.at, _ = Compile(small.Source)
	after, _ := tr.compare()
	t.Errorf("%s\n%s\n%s", diff, after, tr)
}

func (s *tally) count(tr *trial) {
	if tr.want.Err != nil {
		s.faults++
	}
	for _, b := range tr.bounds {
		for i := range b.Len() {
			s.elements++
			if math.IsInf(b.Float(i), 1) {
				s.anything++
			}
		}
	}
	s.batch = append(s.batch, tr)
}

// compare runs the call on all paths but Go; refused is why there is no call.
func (tr *trial) compare() (diff string, refused error) {
	tr.call, refused = tr.program.Call(tr.at.Tensor, tr.run)
	if refused != nil {
		return "", refused
	}
	tr.want, tr.bounds = Reference(tr.at.Tensor, tr.call)
	if tr.want.Err != nil && code(tr.want.Err) != "runtime" {
		return "ref: " + tr.want.Err.Error(), nil
	}
	if d := Differs(tr.at.OnTiles(tr.call), tr.want, tr.bounds); d != "" {
		return "tile: " + d, nil
	}
	if d := Differs(tr.at.OnSimulator(tr.call), tr.want, tr.bounds); d != "" {
		return "sim: " + d, nil
	}
	if tr.run > 0 {
		return "", nil // blocks are large, and what they do depends little on the sizes of a call
	}
	got := tr.at.Blocks.OnSimulator(tr.call)
	if errors.Is(got.Err, context.DeadlineExceeded) {
		return "", nil // a schedule may be far too large for a program
	}
	if d := Differs(got, tr.want, tr.bounds); d != "" {
		return "blocks: " + d, nil
	}
	return "", nil
}

func tryGo(t *testing.T, batch []*trial) {
	batch = batch[:min(len(batch), *withGo)]
	jobs := make([]gogen.Job, len(batch))
	for i, tr := range batch {
		jobs[i] = gogen.Job{Module: tr.at.Simt, Call: tr.call}
	}
	outcomes, err := gogen.RunBatch(context.Background(), jobs)
	require.NoError(t, err)
	for i, tr := range batch {
		if d := Differs(Outcome{outcomes[i].Results, outcomes[i].Err}, tr.want, tr.bounds); d != "" {
			t.Errorf("go: %s\n%s", d, tr)
		}
	}
}
