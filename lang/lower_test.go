package lang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/internal/golden"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// TestLowered compares tensor programs with golden files.
func TestLowered(t *testing.T) {
	files, err := filepath.Glob("testdata/lower/*.gk")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			unit, errs := Compile(filepath.Base(file), string(src), nil)
			require.Empty(t, errs)
			var got strings.Builder
			for _, p := range unit.Programs {
				require.NoError(t, tensor.Verify(p))
				got.WriteString(p.String())
			}
			golden.Equal(t, strings.TrimSuffix(file, ".gk")+".tensor", got.String())
		})
	}
}
