//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// library is a shared library and its functions. A function that it lacks is 0.
type library struct {
	handle    uintptr
	functions map[string]uintptr
	text      func(code int) string // what the library says of its error codes
}

// openLibrary loads the first of some paths that can be loaded; tried are the errors of the others.
func openLibrary(paths, functions []string) (l *library, tried []string) {
	for _, path := range paths {
		h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			tried = append(tried, err.Error())
			continue
		}
		l := &library{handle: h, functions: map[string]uintptr{}}
		for _, name := range functions {
			if f, err := purego.Dlsym(h, name); err == nil {
				l.functions[name] = f
			}
		}
		return l, nil
	}
	return nil, tried
}

// call calls a function that returns an error code. Arguments that are pointers are converted in the call itself, which keeps
// what they point to alive and in place.
//
//go:uintptrescapes
func (l *library) call(name string, args ...uintptr) error {
	f := l.functions[name]
	if f == 0 {
		return &Error{Call: name, Code: -1, Text: "the library is too old to have it"}
	}
	r, _, _ := purego.SyscallN(f, args...)
	if code := int(int32(r)); code != 0 {
		return &Error{Call: name, Code: code, Text: l.text(code)}
	}
	return nil
}

// goString copies a string of C.
func goString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

func cString(s string) *byte { return &append([]byte(s), 0)[0] }
