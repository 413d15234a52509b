package passes

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTry(t *testing.T) {
	src, err := os.ReadFile(os.Getenv("TRY"))
	require.NoError(t, err)
	u, err := ParseUnit(Tensor, string(src))
	require.NoError(t, err)
	err = Run(u, Options{To: Simt, Verify: true, Dump: func(pass, text string) { t.Logf("--- %s\n%s", pass, text) }})
	if f, ok := err.(*Failure); ok {
		t.Log(f.Stack)
	}
	require.NoError(t, err)
}
