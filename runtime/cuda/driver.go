package cuda

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/ir/device"
)

// driver is what the package asks of the CUDA driver for one device. The real one calls libcuda; tests have one without a GPU.
// Methods run between enter and leave, on one thread.
type driver interface {
	enter() error // makes the device's context the thread's
	leave()
	close() error
	facts() (*device.Device, error)
	free() (int64, error) // bytes of memory

	alloc(bytes int64) (address, error)
	release(address) error
	fill(to address, b byte, bytes int64) error
	upload(to address, from []byte) error
	download(to []byte, from address) error

	load(image []byte) (handle, error)
	unload(handle) error
	function(module handle, name string) (handle, error)
	prepare(f handle, s shape) (resources, error) // what a function needs before its first launch
	encode(m *tensorMap) ([mapBytes]byte, error)
	launch(f handle, s shape, args [][]byte) error

	event() (handle, error)
	record(event handle) error
	discard(event handle) error
	elapsed(from, to handle) (seconds float64, err error)
	idle() (bool, error) // whether all that was launched is done
}

// address is a place in device memory.
type address uint64

// handle is something that the driver keeps: a module, a function, an event.
type handle uintptr

// shape is the shape of a launch; prepare does not look at the grid.
type shape struct {
	grid, threads, shared, cluster int
}

// resources are what the driver says of a function.
type resources struct {
	registers int // a thread
	perSM     int // blocks that a multiprocessor holds
}

// mapBytes is the size of an encoded tensor map, which lies at a multiple of mapAlign.
const (
	mapBytes = 128
	mapAlign = 64
)

// tensorMap is what the driver encodes, innermost dimension first.
type tensorMap struct {
	at      address
	element uint32 // the driver's code for the type
	dims    []uint64
	strides []uint64 // bytes, of every dimension but the first
	box     []uint32
	swizzle uint32
	promote uint32
	fill    uint32
}

// Error is a call that the driver or the compiler did not carry out.
type Error struct {
	Call string // "cuMemAlloc_v2"
	Code int
	Text string // the library's own
}

func (e *Error) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("%s: error %d", e.Call, e.Code)
	}
	return fmt.Sprintf("%s: %s (error %d)", e.Call, e.Text, e.Code)
}

// Absent is the error where the driver, a device, or the compiler is not there.
type Absent struct {
	What  string   // "no CUDA driver"
	Tried []string // what came of each attempt
	Help  string
}

func (a *Absent) Error() string {
	text := a.What
	if len(a.Tried) > 0 {
		text += " (" + strings.Join(a.Tried, ", ") + ")"
	}
	if a.Help != "" {
		text += "; " + a.Help
	}
	return text
}
