package gkc_test

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/codegen/go"
	"github.com/gkc-lang/gkc/internal/conformance"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// exceptions are the runs that a path does not get right, by "path group/name run", with the reason. A run that is right must
// not stand here.
var exceptions = map[string]string{}

// job is one run of the corpus on its way to a path.
type job struct {
	id      string
	run     *conformance.Run
	program *tensor.Program
	module  *simt.Module
	call    *data.Call
	err     error // the call was refused
}

// corpusJobs compiles every case with values, of the groups that only matches, and binds its runs. to says for what; at the level of device kernels they are made.
// Cases that the compiler may refuse, and does with the right words, have no jobs.
func corpusJobs(t *testing.T, only string, to passes.Unit) []*job {
	cases, err := conformance.Load()
	require.NoError(t, err)
	var jobs []*job
	groups := regexp.MustCompile(only)
	for _, c := range cases {
		if !groups.MatchString(c.ID()) {
			continue
		}
		kernels, errs := gkc.Compile(c.Name+".gk", c.Source, nil)
		if len(errs) > 0 {
			assert.True(t, mayRefuse(c, errs.Error()), "%s does not compile:\n%s", c.ID(), errs)
			continue
		}
		k := kernelNamed(kernels, c.Kernel)
		if !assert.NotNil(t, k, "%s: no kernel %s", c.ID(), c.Kernel) {
			continue
		}
		var m *simt.Module
		if to.Level == passes.Simt {
			u := to
			u.Level, u.Tensor = passes.Tensor, k.Program
			if !assert.NoError(t, passes.Run(&u, passes.Options{To: passes.Simt, Verify: true}), c.ID()) {
				continue
			}
			m = u.Simt
		}
		for i := range c.Runs {
			r := &c.Runs[i]
			j := &job{id: fmt.Sprintf("%s %d", c.ID(), i), run: r, program: k.Program, module: m}
			j.call, j.err = r.Bind(k.Program.Signature())
			jobs = append(jobs, j)
		}
	}
	return jobs
}

func kernelNamed(kernels []*gkc.Kernel, name string) *gkc.Kernel {
	for _, k := range kernels {
		if k.Program.Name == name {
			return k
		}
	}
	return nil
}

func mayRefuse(c *conformance.Case, message string) bool {
	for _, pattern := range c.MayRefuse {
		if !regexp.MustCompile("(?i)" + pattern).MatchString(message) {
			return false
		}
	}
	return len(c.MayRefuse) > 0
}

// judge says what is wrong with what a path made of a job; empty: nothing.
func (j *job) judge(out map[string]*data.Array, err error) string {
	switch {
	case j.run.Fails && err == nil:
		return "no error, expected one that mentions " + strings.Join(j.run.Mention, " ")
	case j.run.Fails:
		if lacks := conformance.Lacks(err.Error(), j.run.Mention); len(lacks) > 0 {
			return fmt.Sprintf("the error lacks %v: %v", lacks, err)
		}
		return ""
	case err != nil:
		return err.Error()
	}
	return strings.Join(j.run.Compare(out), "; ")
}

// settle reports a path's verdicts, minding the exceptions.
func settle(t *testing.T, path string, jobs []*job, verdicts []string) {
	known := 0
	for i, j := range jobs {
		reason, expected := exceptions[path+" "+j.id]
		switch {
		case expected && verdicts[i] == "":
			t.Errorf("%s: is right, but stands among the exceptions", j.id)
		case expected:
			known++
			assert.NotEmpty(t, reason, j.id)
		case verdicts[i] != "":
			t.Errorf("%s: %s", j.id, verdicts[i])
		}
	}
	assert.LessOrEqual(t, known*20, len(jobs), "more than 5 %% of the runs are exceptions")
	t.Logf("%d runs, %d known exceptions", len(jobs), known)
}

// each runs f on all jobs, a few at a time.
func each(jobs []*job, f func(j *job) string) []string {
	verdicts := make([]string, len(jobs))
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				verdicts[i] = f(jobs[i])
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	wg.Wait()
	return verdicts
}

func TestCorpusOnTheEvaluator(t *testing.T) {
	jobs := corpusJobs(t, "", passes.Unit{})
	settle(t, "ref", jobs, each(jobs, func(j *job) string {
		if j.err != nil {
			return j.judge(nil, j.err)
		}
		return j.judge(tensor.Eval(j.program, j.call, tensor.EvalOptions{}))
	}))
}

func TestCorpusOnTheSimulator(t *testing.T) {
	h200, err := device.Find("h200")
	require.NoError(t, err)
	jobs := corpusJobs(t, "", passes.Unit{Level: passes.Simt, Device: h200})
	settle(t, "sim", jobs, each(jobs, func(j *job) string { return j.simulate(h200) }))
}

// simulate is the verdict on a job on a simulated device.
func (j *job) simulate(dev *device.Device) string {
	if j.err != nil {
		return j.judge(nil, j.err)
	}
	res, err := sim.Run(context.Background(), j.module, dev, j.call, sim.Options{Workers: 1})
	if err != nil {
		return j.judge(nil, err)
	}
	return j.judge(res.Outputs, nil)
}

var draws = flag.Int("draws", 1, "schedules that TestCorpusUnderOtherSchedules draws")

// TestCorpusUnderOtherSchedules: results do not depend on the choices that were made for block kernels.
func TestCorpusUnderOtherSchedules(t *testing.T) {
	h200, err := device.Find("h200")
	require.NoError(t, err)
	for seed := range uint64(*draws) {
		jobs := corpusJobs(t, "^(gemm|rows|attention)/", passes.Unit{Level: passes.Simt, Device: h200, Draw: &seed})
		settle(t, "sim", jobs, each(jobs, func(j *job) string { return j.simulate(h200) }))
	}
}

func TestCorpusAsGo(t *testing.T) {
	jobs := corpusJobs(t, "", passes.Unit{Level: passes.Simt})
	var batch []gogen.Job
	for _, j := range jobs {
		if j.err == nil {
			batch = append(batch, gogen.Job{Module: j.module, Call: j.call})
		}
	}
	outcomes, err := gogen.RunBatch(context.Background(), batch)
	require.NoError(t, err)
	verdicts := make([]string, len(jobs))
	for i, j := range jobs {
		if j.err != nil {
			verdicts[i] = j.judge(nil, j.err)
			continue
		}
		verdicts[i] = j.judge(outcomes[0].Results, outcomes[0].Err)
		outcomes = outcomes[1:]
	}
	settle(t, "go", jobs, verdicts)
}
