package gkc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/codegen/cuda"
	gogen "github.com/gkc-lang/gkc/codegen/go"
	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/internal/conformance"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/passes"
)

// TestEveryLevelReadsBackOverTheCorpus takes every program down pass by pass. What each pass leaves must verify, and its text must
// read back as the same text.
func TestEveryLevelReadsBackOverTheCorpus(t *testing.T) {
	cases, err := conformance.Load()
	require.NoError(t, err)
	h200, err := device.Find("h200")
	require.NoError(t, err)
	for _, c := range cases {
		kernels, _ := gkc.Compile(c.Name+".gk", c.Source, nil)
		for _, k := range kernels {
			for _, dev := range []*device.Device{nil, h200} {
				u := &passes.Unit{Level: passes.Tensor, Tensor: k.Program, Device: dev}
				readBack(t, c.ID(), "the front end", u)
				err := passes.Run(u, passes.Options{To: passes.Simt, Verify: true, Dump: func(pass, _ string) { readBack(t, c.ID(), pass, u) }})
				require.NoError(t, err, c.ID())
				emitsTheSame(t, c.ID(), u)
			}
		}
	}
}

// emitsTheSame: what is emitted depends on the text of the threads alone.
func emitsTheSame(t *testing.T, id string, u *passes.Unit) {
	again, err := passes.ParseUnit(passes.Simt, u.Text())
	require.NoError(t, err, id)
	for name, emit := range map[string]func(m *simt.Module) (string, error){
		"cuda": cuda.Emit,
		"plan": func(m *simt.Module) (string, error) { return string(plan.Of(m).JSON()), nil },
		"go": func(m *simt.Module) (string, error) {
			if u.Device != nil {
				return "", nil
			}
			text, err := gogen.Emit(m, gogen.Options{Package: "p"})
			return string(text), err
		},
	} {
		want, err := emit(u.Simt)
		require.NoError(t, err, "%s: %s", id, name)
		got, err := emit(again.Simt)
		require.NoError(t, err, "%s: %s", id, name)
		assert.Equal(t, want, got, "%s: %s", id, name)
	}
}

func readBack(t *testing.T, id, pass string, u *passes.Unit) {
	want := u.Text()
	again, err := passes.ParseUnit(u.Level, want)
	if !assert.NoError(t, err, "%s after %s", id, pass) {
		return
	}
	if got := again.Text(); got != want {
		assert.Equal(t, want, got, "%s after %s", id, pass)
	}
}
