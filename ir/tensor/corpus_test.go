package tensor_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/internal/conformance"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/lang"
)

// bind makes the call of a run.

// eachRun calls f for every run of the corpus whose program compiles and whose call is accepted, as a test of its own.
func eachRun(t *testing.T, f func(t *testing.T, p *tensor.Program, call *data.Call, r conformance.Run)) {
	cases, err := conformance.Load()
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	for _, c := range cases {
		t.Run(c.ID(), func(t *testing.T) {
			t.Parallel()
			for i, r := range c.Runs {
				unit, errs := lang.Compile("kernel.gk", c.Source, r.Set)
				if errs.HasErrors() {
					require.True(t, r.Fails && conformance.Lacks(errs.Error(), r.Mention) == nil || refused(errs.Error(), c.MayRefuse), "run %d: %v", i, errs.Err())
					continue
				}
				p := unit.Kernel(c.Kernel)
				require.NotNil(t, p)
				call, err := r.Bind(p.Signature())
				if err != nil {
					require.True(t, r.Fails && conformance.Lacks(err.Error(), r.Mention) == nil, "run %d: %v", i, err)
					continue
				}
				f(t, p, call, r)
			}
		})
	}
}

func refused(msg string, patterns []string) bool {
	for _, p := range patterns {
		if regexp.MustCompile(p).MatchString(msg) {
			return true
		}
	}
	return false
}

func TestCorpus(t *testing.T) {
	eachRun(t, func(t *testing.T, p *tensor.Program, call *data.Call, r conformance.Run) {
		got, err := tensor.Eval(p, call, tensor.EvalOptions{})
		if r.Fails {
			require.Error(t, err)
			require.Empty(t, conformance.Lacks(err.Error(), r.Mention), "%v", err)
			return
		}
		require.NoError(t, err)
		require.Empty(t, r.Compare(got))
	})
}

// Text that is written and read back means the same.
func TestCorpusText(t *testing.T) {
	eachRun(t, func(t *testing.T, p *tensor.Program, call *data.Call, r conformance.Run) {
		q, errs := tensor.Parse(p.String())
		require.NoError(t, errs.Err(), p.String())
		require.Equal(t, p.String(), q.String())
		require.NoError(t, tensor.Verify(q))
	})
}
