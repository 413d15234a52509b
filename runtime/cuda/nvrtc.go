//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// compiler is NVRTC.
type compiler struct{ *library }

var openCompiler = sync.OnceValues(func() (compiler, error) { return compilerAt(compilerPaths()) })

func compilerAt(paths []string) (compiler, error) {
	loadBuiltins(paths)
	l, tried := openLibrary(paths, []string{"nvrtcGetErrorString", "nvrtcVersion", "nvrtcCreateProgram", "nvrtcDestroyProgram", "nvrtcCompileProgram",
		"nvrtcGetProgramLogSize", "nvrtcGetProgramLog", "nvrtcGetCUBINSize", "nvrtcGetCUBIN"})
	if l == nil {
		return compiler{}, &Absent{"no CUDA compiler: NVRTC cannot be loaded", tried, "install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or set GKC_NVRTC to the path of libnvrtc.so"}
	}
	l.text = func(code int) string {
		f := l.functions["nvrtcGetErrorString"]
		if f == 0 {
			return ""
		}
		r, _, _ := purego.SyscallN(f, uintptr(code))
		return goString(*(**byte)(unsafe.Pointer(&r)))
	}
	return compiler{l}, nil
}

// loadBuiltins loads what NVRTC asks the system's loader for when it compiles: in Python's wheels it lies beside NVRTC, where the
// loader does not look. Those that are of another version, or none, do no harm.
func loadBuiltins(paths []string) {
	for _, path := range paths {
		if dir := filepath.Dir(path); dir != "." {
			for _, builtins := range libraries([]string{dir}, "libnvrtc-builtins.so*") {
				_, _ = purego.Dlopen(builtins, purego.RTLD_NOW|purego.RTLD_LOCAL)
			}
		}
	}
}

func (c compiler) version() (string, error) {
	var major, minor int32
	if err := c.call("nvrtcVersion", uintptr(unsafe.Pointer(&major)), uintptr(unsafe.Pointer(&minor))); err != nil {
		return "", err
	}
	return fmt.Sprintf("NVRTC %d.%d", major, minor), nil
}

func (c compiler) compile(name, text string, options ...string) ([]byte, error) {
	var prog uintptr
	err := c.call("nvrtcCreateProgram", uintptr(unsafe.Pointer(&prog)), uintptr(unsafe.Pointer(cString(text))), uintptr(unsafe.Pointer(cString(name))), 0, 0, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.call("nvrtcDestroyProgram", uintptr(unsafe.Pointer(&prog))) }()
	list := make([]*byte, len(options))
	for i, o := range options {
		list[i] = cString(o)
	}
	err = c.call("nvrtcCompileProgram", prog, uintptr(len(list)), uintptr(unsafe.Pointer(unsafe.SliceData(list))))
	runtime.KeepAlive(list)
	if err != nil {
		if log, e := c.bytes(prog, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog"); e == nil {
			return nil, &CompileError{name, text, strings.TrimRight(string(log), "\x00\n")}
		}
		return nil, err
	}
	return c.bytes(prog, "nvrtcGetCUBINSize", "nvrtcGetCUBIN")
}

// bytes asks for the size of something, and then for it.
func (c compiler) bytes(prog uintptr, size, get string) ([]byte, error) {
	var n uintptr
	if err := c.call(size, prog, uintptr(unsafe.Pointer(&n))); err != nil {
		return nil, err
	}
	out := make([]byte, n)
	err := c.call(get, prog, uintptr(unsafe.Pointer(unsafe.SliceData(out))))
	runtime.KeepAlive(out)
	return out, err
}
