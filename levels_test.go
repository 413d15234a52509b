package gkc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/internal/conformance"
	"github.com/gkc-lang/gkc/ir/device"
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
			}
		}
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
