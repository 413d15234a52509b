package cuda

import "fmt"

// CompileError is CUDA text that the compiler refuses.
type CompileError struct {
	Name, Text string
	Log        string
}

func (e *CompileError) Error() string { return fmt.Sprintf("%s does not compile:\n%s", e.Name, e.Log) }

// Compile turns CUDA text into a binary for a target such as sm_90a; name is what messages call the text.
func Compile(name, text, arch string) (image []byte, err error) {
	c, err := openCompiler()
	if err != nil {
		return nil, err
	}
	return c.compile(name, text, "--gpu-architecture="+arch, "--std=c++17")
}

// Compiler names the compiler, "NVRTC 13.0".
func Compiler() (string, error) {
	c, err := openCompiler()
	if err != nil {
		return "", err
	}
	return c.version()
}
