//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// driverPaths are where the driver's library may be, best first. A name without a folder is for the system's loader to find.
func driverPaths() []string {
	return append([]string{"libcuda.so.1"}, existing("/usr/lib/wsl/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib64/libcuda.so.1")...)
}

// compilerPaths are where NVRTC may be, best first: the one that the user names, the toolkit, the loader's, Python's wheels.
func compilerPaths() []string {
	if path := os.Getenv("GKC_NVRTC"); path != "" {
		return []string{path}
	}
	var dirs []string
	for _, home := range []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda"} {
		if home != "" {
			dirs = append(dirs, filepath.Join(home, "lib64"), filepath.Join(home, "targets", "*", "lib"))
		}
	}
	paths := libraries(dirs, "libnvrtc.so*")
	paths = append(paths, "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12")
	return append(paths, libraries(wheels(), "libnvrtc.so*")...)
}

// wheels are the folders of libraries that pip installs, of the Python that is active or on the path.
func wheels() (dirs []string) {
	var prefixes []string
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(name); dir != "" {
			prefixes = append(prefixes, dir)
		}
	}
	if exe, err := exec.LookPath("python3"); err == nil {
		prefixes = append(prefixes, filepath.Dir(filepath.Dir(exe)))
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			prefixes = append(prefixes, filepath.Dir(filepath.Dir(real)))
		}
	}
	prefixes = append(prefixes, "/usr/local", "/usr")
	if home, err := os.UserHomeDir(); err == nil {
		prefixes = append(prefixes, filepath.Join(home, ".local"))
	}
	for _, p := range prefixes {
		dirs = append(dirs, filepath.Join(p, "lib", "python3*", "*-packages", "nvidia", "*", "lib"))
	}
	return dirs
}

// libraries lists the files of folders; both may be patterns. Of the files that one pattern finds, the newest version is first.
func libraries(dirs []string, file string) (paths []string) {
	for _, dir := range dirs {
		found, _ := filepath.Glob(filepath.Join(dir, file)) // the pattern is well formed, or it finds nothing
		slices.SortStableFunc(found, func(a, b string) int { return slices.Compare(versionOf(b), versionOf(a)) })
		for _, p := range found {
			if !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	return paths
}

// versionOf is [13, 0] for libnvrtc.so.13.0.
func versionOf(path string) (v []int) {
	_, numbers, _ := strings.Cut(filepath.Base(path), ".so.")
	for part := range strings.SplitSeq(numbers, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		v = append(v, n)
	}
	return v
}

func existing(paths ...string) (out []string) {
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			out = append(out, p)
		}
	}
	return out
}
