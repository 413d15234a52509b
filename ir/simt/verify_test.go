package simt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryKindIsRight(t *testing.T) {
	m, err := Parse(readFile(t, "testdata/kinds.simt"))
	require.NoError(t, err)
	require.NoError(t, Verify(m))
}
