// Package cuda runs kernels on NVIDIA GPUs: it compiles emitted CUDA with NVRTC, loads it through the driver, launches it and
// times it. Both libraries are loaded when they are first needed, without cgo. Where they, or a GPU, are missing, the error is an
// Absent. Programs that import the package are linked dynamically; with the build tag nocuda they are not, and nothing is found.
//
// Only cubins are asked of NVRTC, no PTX: a driver of CUDA 13.0 was seen to take the cubins of NVRTC 13.0 to 13.5, and PTX of 13.0
// alone (bench/results/nvrtc_h200.json).
package cuda

import (
	"context"
	"fmt"
	"sync"

	cudagen "github.com/gkc-lang/gkc/codegen/cuda"
	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
)

// Device is a GPU. Its methods may be called from several goroutines; runs follow one another.
type Device struct {
	mu    sync.Mutex
	drv   driver
	facts *device.Device
	lost  error // why nothing can run any more
	left  bool  // a kernel may still run
}

// Open opens the n-th GPU.
func Open(n int) (*Device, error) {
	drv, err := openDriver(n)
	if err != nil {
		return nil, err
	}
	return open(drv)
}

func open(drv driver) (*Device, error) {
	d := &Device{drv: drv}
	err := d.do(func() (err error) {
		d.facts, err = drv.facts()
		return err
	})
	if err != nil {
		_ = drv.close()
		return nil, err
	}
	return d, nil
}

// Facts are what the driver says of the device; what it does not say is zero.
func (d *Device) Facts() *device.Device { return d.facts }

// Arch is the target that programs for the device are compiled for.
func (d *Device) Arch() string { return d.facts.FullTarget() }

// Close gives the device back. Programs that were loaded on it can no longer be used.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.drv == nil {
		return nil
	}
	drv, left := d.drv, d.left
	d.drv, d.lost = nil, errClosed
	if left {
		return nil // the driver would wait for the kernel
	}
	return drv.close()
}

var errClosed = fmt.Errorf("the device is closed")

// do runs f while the device's context belongs to this thread, alone.
func (d *Device) do(f func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost != nil {
		return d.lost
	}
	if err := d.drv.enter(); err != nil {
		return err
	}
	defer d.drv.leave()
	return f()
}

// Build prints, compiles and loads a module.
func (d *Device) Build(m *simt.Module) (*Program, error) {
	text, err := cudagen.Emit(m)
	if err != nil {
		return nil, err
	}
	image, err := Compile(m.Name+".cu", text, d.Arch())
	if err != nil {
		return nil, err
	}
	return d.Load(plan.Of(m), image)
}

// Run builds a module and runs it once.
func (d *Device) Run(ctx context.Context, m *simt.Module, call *data.Call) (*Result, error) {
	p, err := d.Build(m)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Run(ctx, call)
}
