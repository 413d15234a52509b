//go:build !linux || !(amd64 || arm64) || nocuda

package cuda

// compiler is the compiler that this build does not have.
type compiler struct{}

func (compiler) compile(string, string, ...string) ([]byte, error) { return nil, errNone }
func (compiler) version() (string, error)                          { return "", errNone }

var errNone = &Absent{What: "this build of gkc has no CUDA driver", Help: "build it for Linux on amd64 or arm64 without the tag nocuda"}

func openDriver(int) (driver, error) { return nil, errNone }

func openCompiler() (compiler, error) { return compiler{}, errNone }
