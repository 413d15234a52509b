package simt

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The golden kernels are what lowering aims at on sm_90a: the level must be able to say everything that they do.
func TestGoldenKernels(t *testing.T) {
	paths, err := filepath.Glob("testdata/golden/*.simt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			m, err := Parse(readFile(t, path))
			require.NoError(t, err)
			require.NoError(t, Verify(m))
			roundTrip(t, m)
		})
	}
}
