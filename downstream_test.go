package gkc_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDownstream runs the tests of a module of its own, which calls kernels as users do and compares its generated files with
// what gkc writes now. It needs no network: it uses a part of this module's libraries.
func TestDownstream(t *testing.T) {
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir = "examples/downstream"
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS=-mod=readonly")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\nif generated files are stale, run go generate in examples/downstream", out)
}
