package passes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/internal/golden"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/passes"
)

// TestGolden runs single passes: testdata/PASS/NAME.LEVEL becomes NAME.golden, compiled for the device that its
// first line may name. What a pass makes reads back and verifies.
func TestGolden(t *testing.T) {
	for i := range passes.Pipeline {
		p := &passes.Pipeline[i]
		files, err := filepath.Glob(filepath.Join("testdata", p.Name, "*."+p.In.String()))
		require.NoError(t, err)
		require.NotEmpty(t, files, "the pass %s has no golden files", p.Name)
		for _, f := range files {
			t.Run(p.Name+"/"+strings.TrimSuffix(filepath.Base(f), filepath.Ext(f)), func(t *testing.T) { checkPass(t, p, f) })
		}
	}
}

func checkPass(t *testing.T, p *passes.Pass, file string) {
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	u, err := passes.ParseUnit(p.In, string(src))
	require.NoError(t, err)
	require.NoError(t, u.Verify())
	if name, ok := strings.CutPrefix(string(src), "// device "); ok {
		name, _, _ = strings.Cut(name, "\n")
		u.Device, err = device.Find(name)
		require.NoError(t, err)
	}
	require.NoError(t, passes.Run(u, passes.Options{Only: []string{p.Name}, Verify: true}))
	got := u.Text()
	again, err := passes.ParseUnit(p.Out, got)
	require.NoError(t, err)
	require.Equal(t, got, again.Text())
	out := strings.TrimSuffix(file, filepath.Ext(file)) + ".golden"
	golden.Equal(t, out, got)
}
