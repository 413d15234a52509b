package tile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoundTrip(t *testing.T) {
	files, err := filepath.Glob("testdata/*.tile")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		src, err := os.ReadFile(f)
		require.NoError(t, err)
		m, errs := Parse(string(src))
		require.NoError(t, errs.Err())
		require.NoError(t, Verify(m))
		require.Equal(t, string(src), m.String())
	}
}
