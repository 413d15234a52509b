//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAbsentLibraries(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "libnothing.so")
	_, err := driverAt([]string{nowhere})
	var absent *Absent
	require.ErrorAs(t, err, &absent)
	assert.ErrorContains(t, err, "no CUDA driver")
	assert.ErrorContains(t, err, nowhere)
	_, err = compilerAt([]string{nowhere})
	require.ErrorAs(t, err, &absent)
	assert.ErrorContains(t, err, "GKC_NVRTC")
}

// A library that is no CUDA library loads, but has no function.
func TestLibrariesThatAreTooOld(t *testing.T) {
	_, err := driverAt([]string{"libc.so.6"})
	assert.ErrorContains(t, err, "cuInit: the library is too old to have it")
	c, err := compilerAt([]string{"libc.so.6"})
	require.NoError(t, err)
	_, err = c.version()
	assert.ErrorContains(t, err, "nvrtcVersion")
}

func TestCalls(t *testing.T) {
	l, tried := openLibrary([]string{"libnothing.so.0", "libc.so.6"}, []string{"abs", "toupper"})
	require.NotNil(t, l, tried)
	l.text = func(code int) string { return "text" }
	minus := -7
	assert.EqualError(t, l.call("abs", uintptr(minus)), "abs: text (error 7)")
	assert.NoError(t, l.call("abs", 0))
	assert.Equal(t, "text of C", goString(cString("text of C")))
	assert.Equal(t, "", goString(nil))
}

func TestLayoutsOfTheDriver(t *testing.T) {
	assert.Equal(t, uintptr(56), unsafe.Sizeof(launchConfig{}))
	assert.Equal(t, uintptr(32), unsafe.Offsetof(launchConfig{}.stream))
	assert.Equal(t, uintptr(72), unsafe.Sizeof(launchAttribute{}))
	assert.Equal(t, uintptr(8), unsafe.Offsetof(launchAttribute{}.value))
}

func TestCompilerPaths(t *testing.T) {
	home := t.TempDir()
	touch := func(parts ...string) string {
		path := filepath.Join(append([]string{home}, parts...)...)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, nil, 0o666))
		return path
	}
	twelve, thirteen := touch("cuda", "lib64", "libnvrtc.so.12"), touch("cuda", "lib64", "libnvrtc.so.13.0.48")
	touch("cuda", "lib64", "libnvrtc-builtins.so.13.0")
	wheel := touch("venv", "lib", "python3.12", "site-packages", "nvidia", "cu13", "lib", "libnvrtc.so.13")
	t.Setenv("GKC_NVRTC", "")
	t.Setenv("CUDA_HOME", filepath.Join(home, "cuda"))
	t.Setenv("VIRTUAL_ENV", filepath.Join(home, "venv"))
	paths := compilerPaths()
	require.GreaterOrEqual(t, len(paths), 2)
	assert.Equal(t, []string{thirteen, twelve}, paths[:2], "the newest first")
	assert.Contains(t, paths, wheel)
	assert.Contains(t, paths, "libnvrtc.so.13", "the loader may know where")

	t.Setenv("GKC_NVRTC", wheel)
	assert.Equal(t, []string{wheel}, compilerPaths())
}
