//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/gkc-lang/gkc/ir/device"
)

// nvidia is a device of the CUDA driver.
type nvidia struct {
	*library
	device  int32
	context uintptr
}

var libcuda = sync.OnceValues(func() (*library, error) { return driverAt(driverPaths()) })

func driverAt(paths []string) (*library, error) {
	l, tried := openLibrary(paths, []string{"cuInit", "cuGetErrorString", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute",
		"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuCtxSetCurrent", "cuMemGetInfo_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemsetD8_v2",
		"cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuModuleLoadData", "cuModuleUnload", "cuModuleGetFunction", "cuFuncGetAttribute", "cuFuncSetAttribute",
		"cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuTensorMapEncodeTiled", "cuLaunchKernel", "cuLaunchKernelEx", "cuStreamQuery",
		"cuEventCreate", "cuEventDestroy_v2", "cuEventRecord", "cuEventElapsedTime"})
	if l == nil {
		return nil, &Absent{"no CUDA driver: libcuda.so.1 cannot be loaded", tried, "install the NVIDIA driver"}
	}
	l.text = func(code int) string {
		var s *byte
		if l.functions["cuGetErrorString"] == 0 || l.call("cuGetErrorString", uintptr(code), uintptr(unsafe.Pointer(&s))) != nil {
			return ""
		}
		return goString(s)
	}
	if err := l.call("cuInit", 0); err != nil {
		return nil, &Absent{"the CUDA driver does not start", []string{err.Error()}, ""}
	}
	return l, nil
}

func openDriver(n int) (driver, error) {
	l, err := libcuda()
	if err != nil {
		return nil, err
	}
	d := &nvidia{library: l}
	var count int32
	if err := d.call("cuDeviceGetCount", uintptr(unsafe.Pointer(&count))); err != nil {
		return nil, err
	}
	if n < 0 || n >= int(count) {
		return nil, &Absent{What: fmt.Sprintf("no CUDA device %d: the driver has %d, counted from 0", n, count)}
	}
	if err := d.call("cuDeviceGet", uintptr(unsafe.Pointer(&d.device)), uintptr(n)); err != nil {
		return nil, err
	}
	return d, d.call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&d.context)), uintptr(d.device))
}

func (d *nvidia) enter() error {
	runtime.LockOSThread() // the driver keeps the context with the thread
	err := d.call("cuCtxSetCurrent", d.context)
	if err != nil {
		runtime.UnlockOSThread()
	}
	return err
}

func (d *nvidia) leave() { runtime.UnlockOSThread() }

func (d *nvidia) close() error { return d.call("cuDevicePrimaryCtxRelease_v2", uintptr(d.device)) }

// attribute asks for a fact by the number that the driver's header gives it.
func (d *nvidia) attribute(number int, into *int) error {
	var v int32
	err := d.call("cuDeviceGetAttribute", uintptr(unsafe.Pointer(&v)), uintptr(number), uintptr(d.device))
	*into = int(v)
	return err
}

func (d *nvidia) facts() (*device.Device, error) {
	name := make([]byte, 256)
	if err := d.call("cuDeviceGetName", uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), uintptr(d.device)); err != nil {
		return nil, err
	}
	f := &device.Device{Name: goString(&name[0]), Vendor: "NVIDIA"}
	f.Short = []string{f.Name}
	var major, minor, l2, kHz, clusters int
	var errs []error
	for number, into := range map[int]*int{
		75: &major, 76: &minor, 13: &kHz, 38: &l2, 16: &f.SMs, 10: &f.WarpSize, 1: &f.BlockThreads, 39: &f.SMThreads, 106: &f.SMBlocks, 82: &f.Registers,
		81: &f.SMShared, 97: &f.BlockShared, 111: &f.SharedReserved, 120: &clusters,
	} {
		errs = append(errs, d.attribute(number, into))
	}
	f.Compute = fmt.Sprintf("%d.%d", major, minor)
	f.L2MiB, f.BoostMHz = float64(l2)/(1<<20), float64(kHz)/1e3
	f.HasClusters = clusters != 0
	return f, errors.Join(errs...)
}

func (d *nvidia) free() (int64, error) {
	var free, total uint64
	err := d.call("cuMemGetInfo_v2", uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total)))
	return int64(free), err
}

func (d *nvidia) alloc(bytes int64) (p address, err error) {
	err = d.call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&p)), uintptr(bytes))
	return p, err
}

func (d *nvidia) release(p address) error { return d.call("cuMemFree_v2", uintptr(p)) }

func (d *nvidia) fill(to address, b byte, bytes int64) error {
	return d.call("cuMemsetD8_v2", uintptr(to), uintptr(b), uintptr(bytes))
}

func (d *nvidia) upload(to address, from []byte) error {
	return d.call("cuMemcpyHtoD_v2", uintptr(to), uintptr(unsafe.Pointer(unsafe.SliceData(from))), uintptr(len(from)))
}

func (d *nvidia) download(to []byte, from address) error {
	return d.call("cuMemcpyDtoH_v2", uintptr(unsafe.Pointer(unsafe.SliceData(to))), uintptr(from), uintptr(len(to)))
}

func (d *nvidia) load(image []byte) (m handle, err error) {
	err = d.call("cuModuleLoadData", uintptr(unsafe.Pointer(&m)), uintptr(unsafe.Pointer(unsafe.SliceData(image))))
	return m, err
}

func (d *nvidia) unload(m handle) error { return d.call("cuModuleUnload", uintptr(m)) }

func (d *nvidia) function(m handle, name string) (f handle, err error) {
	err = d.call("cuModuleGetFunction", uintptr(unsafe.Pointer(&f)), uintptr(m), uintptr(unsafe.Pointer(cString(name))))
	return f, err
}

func (d *nvidia) event() (e handle, err error) {
	err = d.call("cuEventCreate", uintptr(unsafe.Pointer(&e)), 0)
	return e, err
}

func (d *nvidia) record(e handle) error { return d.call("cuEventRecord", uintptr(e), 0) }

func (d *nvidia) discard(e handle) error { return d.call("cuEventDestroy_v2", uintptr(e)) }

func (d *nvidia) elapsed(from, to handle) (float64, error) {
	var ms float32
	err := d.call("cuEventElapsedTime", uintptr(unsafe.Pointer(&ms)), uintptr(from), uintptr(to))
	return float64(ms) / 1e3, err
}

func (d *nvidia) idle() (bool, error) {
	err := d.call("cuStreamQuery", 0)
	var e *Error
	const notReady = 600
	if errors.As(err, &e) && e.Code == notReady {
		return false, nil
	}
	return err == nil, err
}
