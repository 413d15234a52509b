package gkc_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/codegen/cuda"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/passes"
)

// TestExamplesCompile gives what every example becomes for a device of each generation to NVIDIA's compiler, which must have
// nothing to say but that kernels for any size, which keep many strides, spill some registers.
func TestExamplesCompile(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to call NVRTC with")
	}
	files, err := filepath.Glob("examples/*/*.gk")
	require.NoError(t, err)
	files = append(files, "bench/peers/kernels.gk")
	number := 0
	for name, arch := range map[string]string{"a100": "sm_80", "rtx4090": "sm_89", "h200": "sm_90a", "b200": "sm_100"} {
		t.Run(arch, func(t *testing.T) {
			dev, err := device.Find(name)
			require.NoError(t, err)
			args := []string{"codegen/cuda/testdata/nvrtc.py", cmp.Or(os.Getenv("GKC_NVRTC"), "libnvrtc.so"), arch}
			dir := t.TempDir()
			for _, file := range files {
				src, err := os.ReadFile(file)
				require.NoError(t, err)
				kernels, errs := gkc.Compile(file, string(src), nil)
				require.Empty(t, errs)
				for _, k := range kernels {
					u := &passes.Unit{Level: passes.Tensor, Tensor: k.Program, Device: dev}
					require.NoError(t, passes.Run(u, passes.Options{To: passes.Simt}), k.Program.Name)
					text, err := cuda.Emit(u.Simt)
					require.NoError(t, err)
					number++
					path := filepath.Join(dir, fmt.Sprintf("%s.%d.cu", k.Program.Name, number))
					require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
					args = append(args, path)
				}
			}
			out, err := exec.Command(python, args...).CombinedOutput()
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == 3 {
				t.Skipf("no NVRTC (set GKC_NVRTC to its library): %s", out)
			}
			if err != nil {
				for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
					require.Regexp(t, `: rc 0$|Registers are spilled to local memory .*, \d{1,3} bytes spill stores`, line)
				}
				t.Logf("%s", out)
			}
		})
	}
}
