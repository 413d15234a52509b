package autotune

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// Subject is a kernel whose sizes are fixed, on a device.
type Subject struct {
	Kernel  string // its name in the file
	Program *tensor.Program
	Device  *device.Device
	Call    func() (*data.Call, error) // makes inputs to simulate it with
}

// Options say how much is tried. The zero value of a number means its default.
type Options struct {
	Draws         int // schedules that are drawn, beside those that differ from the default in one choice
	Best          int // schedules of a definition that are simulated
	Blocks        int // of each kernel that are simulated
	Instructions  int // of warps, at most, that are simulated
	Shard, Shards int // this process tries each Shards-th schedule from Shard on, counted from 0; 0 of 0: all
	Workers       int
	// Progress, if set, is told about each record, one at a time.
	Progress func(Record)
}

func (o Options) withDefaults() Options {
	o.Draws, o.Best = cmp.Or(o.Draws, 64), cmp.Or(o.Best, 4)
	o.Blocks = cmp.Or(o.Blocks, 2)
	o.Instructions, o.Shards = cmp.Or(o.Instructions, 1<<20), cmp.Or(o.Shards, 1)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	return o
}

// tuner tunes one subject.
type tuner struct {
	Subject
	Options
	log  *Log
	defs []*definition
	call *data.Call // once it is needed
	told sync.Mutex
}

// definition is one that became block kernels, with the schedules that are tried for it, the default first.
type definition struct {
	key  Key
	list []schedule.Choice
}

// Tune tries schedules and appends what it finds to the log. What is in the log is not tried again, so a run that was interrupted
// goes on where it was. The result depends on the subject and the options alone; with Shards, it is that of a part.
func Tune(ctx context.Context, s Subject, o Options, log *Log) ([]Best, error) {
	t := &tuner{Subject: s, Options: o.withDefaults(), log: log}
	base, err := t.lower(nil, passes.Tile)
	if err != nil {
		return nil, err
	}
	id := Key{Kernel: s.Kernel, Device: s.Device.String(), Sizes: SizesOf(s.Program).String(), Program: Fingerprint(s.Program)}
	for _, c := range base.Cut {
		id.Of = c.Of
		t.defs = append(t.defs, &definition{id, candidates(c, t.Draws)})
	}
	if err := t.estimate(ctx); err != nil {
		return nil, err
	}
	return t.pick(ctx)
}

// candidates are the default, then all legal schedules that differ from it in one choice, then draws.
func candidates(c passes.Cut, draws int) []schedule.Choice {
	out := []schedule.Choice{c.Sched}
	seen := map[string]bool{c.Sched.String(): true}
	add := func(s schedule.Choice) {
		if text := s.String(); !seen[text] && c.Space.Legal(s) == nil {
			seen[text] = true
			out = append(out, s)
		}
	}
	for _, k := range c.Space.Knobs {
		for _, v := range k.Values {
			add(c.Sched.With(k.Name, v))
		}
	}
	for seed := range uint64(draws) {
		add(c.Space.Random(seed))
	}
	return out
}

func (t *tuner) lower(own map[string]schedule.Choice, to passes.Level) (*passes.Unit, error) {
	u := &passes.Unit{Level: passes.Tensor, Tensor: t.Program, Device: t.Device, Own: own}
	return u, passes.Run(u, passes.Options{To: to})
}

func (t *tuner) add(r Record) error {
	if err := t.log.Add(r); err != nil {
		return err
	}
	if t.Progress != nil {
		t.told.Lock()
		defer t.told.Unlock()
		t.Progress(r)
	}
	return nil
}

// mine reports whether this process tries the schedules of a number.
func (t *tuner) mine(number int) bool { return number%t.Shards == t.Shard }

// estimate estimates the schedules that the log does not know. Definitions do not change each other's kernels, so one compilation
// tries a schedule of each.
func (t *tuner) estimate(ctx context.Context) error {
	most := 0
	for _, d := range t.defs {
		most = max(most, len(d.list))
	}
	return t.together(ctx, most, func(number int) error {
		var open []*definition
		for _, d := range t.defs {
			if number < len(d.list) {
				if _, known := t.log.Find(d.key, d.list[number].String()); !known {
					open = append(open, d)
				}
			}
		}
		if len(open) == 0 || !t.mine(number) {
			return nil
		}
		return t.try(open, number)
	})
}

// try estimates the schedule of a number of some definitions, all at once or, where one of them cannot be, each on its own.
func (t *tuner) try(defs []*definition, number int) error {
	own := map[string]schedule.Choice{}
	for _, d := range defs {
		own[d.key.Of] = d.list[number]
	}
	seconds, _, err := t.estimated(own)
	var why *diag.Diag
	switch {
	case err == nil:
	case !errors.As(err, &why):
		return err
	case len(defs) > 1:
		for _, d := range defs {
			if err := t.try([]*definition{d}, number); err != nil {
				return err
			}
		}
		return nil
	}
	for _, d := range defs {
		r := Record{Key: d.key, Schedule: d.list[number].String(), Estimate: seconds[d.key.Of]}
		switch {
		case why != nil:
			r.Refused = why.Message
		case r.Estimate == 0:
			r.Refused = "its kernel would be too large"
		}
		if err := t.add(r); err != nil {
			return err
		}
	}
	return nil
}

// estimated gives the seconds of each definition's kernels, and the instructions that a simulation executes.
func (t *tuner) estimated(own map[string]schedule.Choice) (seconds map[string]float64, issued float64, err error) {
	u, err := t.lower(own, passes.Simt)
	if err != nil {
		return nil, 0, err
	}
	if held(u.Simt, t.Device) > maxHeld {
		issued = math.Inf(1)
	}
	list, err := Of(u.Simt, t.Device)
	if err != nil {
		return nil, 0, diag.Errorf(diag.Pos{}, "limit", "%v", err)
	}
	each := map[string]float64{}
	for _, e := range list {
		each[e.Kernel] = e.Seconds
		issued += e.Issued * min(1, float64(t.Blocks)/max(1, e.Blocks))
	}
	return perDefinition(u, each), issued, nil
}

// maxHeld bounds the bytes of tensors that are made to simulate a kernel.
const maxHeld = 1 << 30

// perDefinition adds the seconds of the kernels of each definition.
func perDefinition(u *passes.Unit, kernels map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for _, c := range u.Cut {
		for _, k := range c.Kernels {
			out[c.Of] += kernels[k]
		}
	}
	return out
}

// together does something for the numbers below n at the same time. The error is that of the least number that has one.
func (t *tuner) together(ctx context.Context, n int, do func(int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(t.Workers, n) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if errs[i] = ctx.Err(); errs[i] == nil {
					errs[i] = do(i)
				}
			}
		})
	}
	wait.Wait()
	return cmp.Or(errs...)
}

// pick finds the best schedule of each definition.
func (t *tuner) pick(ctx context.Context) ([]Best, error) {
	var out []Best
	for _, d := range t.defs {
		last, err := t.finalists(d)
		if err != nil {
			return nil, err
		}
		if len(last) == 0 {
			continue // all are for other shards
		}
		why, err := t.simulate(ctx, d, last)
		if err != nil {
			return nil, err
		}
		out = append(out, bestOf(d.key.Of, last, why))
	}
	return out, nil
}

// same is how much longer a time may be than another and still say nothing.
const same = 1.01

// bestOf takes the finalist with the least time: simulated or, for a reason, estimated. Of those that are about the same, it takes
// the default, then the one with the least estimate.
func bestOf(of string, last []Record, why string) Best {
	time := func(r Record) float64 {
		if why == "" {
			return r.Simulated
		}
		return r.Estimate
	}
	least := time(slices.MinFunc(last, func(a, b Record) int { return cmp.Compare(time(a), time(b)) }))
	r := last[slices.IndexFunc(last, func(r Record) bool { return time(r) <= same*least })]
	best := Best{Of: of, Schedule: r.Schedule, Estimate: r.Estimate, Unsimulated: why}
	if why == "" {
		best.Simulated = r.Simulated
	}
	return best
}

// finalists are the default and the schedules with the least estimates.
func (t *tuner) finalists(d *definition) ([]Record, error) {
	var first, rest []Record
	for i, s := range d.list {
		r, ok := t.log.Find(d.key, s.String())
		switch {
		case !ok || r.Refused != "" || !t.mine(i):
		case i == 0:
			first = []Record{r}
		default:
			rest = append(rest, r)
		}
	}
	slices.SortStableFunc(rest, func(a, b Record) int { return cmp.Compare(a.Estimate, b.Estimate) })
	return append(first, rest[:min(len(rest), t.Best)]...), nil
}

// simulate runs the finalists of a definition, the other definitions with their defaults. It says why it did not.
func (t *tuner) simulate(ctx context.Context, d *definition, last []Record) (why string, err error) {
	own := make([]map[string]schedule.Choice, len(last))
	for i, r := range last {
		s, err := schedule.Parse(r.Schedule)
		if err != nil {
			return "", err
		}
		own[i] = map[string]schedule.Choice{d.key.Of: s}
		_, issued, err := t.estimated(own[i])
		if err != nil {
			return "", err
		}
		if issued > float64(t.Instructions) {
			return "it is too large to be simulated", nil
		}
	}
	for i := range last {
		if last[i].Simulated > 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		seconds, err := t.simulated(ctx, own[i])
		var wrong *diag.Diag
		if errors.As(err, &wrong) {
			return wrong.Message, nil // with inputs that somebody made up
		}
		if err != nil {
			return "", err
		}
		last[i].Simulated = rounded(seconds[d.key.Of])
		if err := t.add(last[i]); err != nil {
			return "", err
		}
	}
	return "", nil
}

func (t *tuner) simulated(ctx context.Context, own map[string]schedule.Choice) (map[string]float64, error) {
	u, err := t.lower(own, passes.Simt)
	if err != nil {
		return nil, err
	}
	if t.call == nil {
		if t.call, err = t.Call(); err != nil {
			return nil, err
		}
	}
	res, err := sim.Run(ctx, u.Simt, t.Device, t.call, sim.Options{Workers: t.Workers, Blocks: int64(t.Blocks)})
	if err != nil {
		return nil, err
	}
	each := map[string]float64{}
	for _, k := range res.Kernels {
		each[k.Name] = k.Seconds
	}
	return perDefinition(u, each), nil
}
