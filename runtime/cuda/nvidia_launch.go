//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"runtime"
	"unsafe"
)

// The driver's numbers for attributes of functions and launches.
const (
	registersOf       = 4
	dynamicShared     = 8
	largeClusters     = 14
	clusterDimension  = 4
	portableCluster   = 8
	portableShared    = 48 << 10
	interleaveNothing = 0
)

// prepare allows a function what is more than every function may have.
func (d *nvidia) prepare(f handle, s shape) (out resources, err error) {
	if s.shared > portableShared {
		if err := d.call("cuFuncSetAttribute", uintptr(f), dynamicShared, uintptr(s.shared)); err != nil {
			return out, err
		}
	}
	if s.cluster > portableCluster {
		if err := d.call("cuFuncSetAttribute", uintptr(f), largeClusters, 1); err != nil {
			return out, err
		}
	}
	var registers, blocks int32
	if err := d.call("cuFuncGetAttribute", uintptr(unsafe.Pointer(&registers)), registersOf, uintptr(f)); err != nil {
		return out, err
	}
	err = d.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", uintptr(unsafe.Pointer(&blocks)), uintptr(f), uintptr(s.threads), uintptr(s.shared))
	return resources{int(registers), int(blocks)}, err
}

// launchConfig is the driver's CUlaunchConfig.
type launchConfig struct {
	grid, block [3]uint32
	shared      uint32
	stream      uintptr
	attributes  *launchAttribute
	count       uint32
}

// launchAttribute is the driver's CUlaunchAttribute; its value is a union of 64 bytes.
type launchAttribute struct {
	id    uint32
	_     uint32
	value [16]uint32
}

func (d *nvidia) launch(f handle, s shape, args [][]byte) error {
	table := make([]*byte, len(args)+1) // never empty, so that it has an address
	for i, a := range args {
		table[i] = unsafe.SliceData(a)
	}
	defer runtime.KeepAlive(table)
	if s.cluster <= 1 {
		return d.call("cuLaunchKernel", uintptr(f), uintptr(s.grid), 1, 1, uintptr(s.threads), 1, 1, uintptr(s.shared), 0, uintptr(unsafe.Pointer(&table[0])), 0)
	}
	config := &launchConfig{
		grid: [3]uint32{uint32(s.grid), 1, 1}, block: [3]uint32{uint32(s.threads), 1, 1}, shared: uint32(s.shared),
		attributes: &launchAttribute{id: clusterDimension, value: [16]uint32{uint32(s.cluster), 1, 1}}, count: 1,
	}
	return d.call("cuLaunchKernelEx", uintptr(unsafe.Pointer(config)), uintptr(f), uintptr(unsafe.Pointer(&table[0])), 0)
}

func (d *nvidia) encode(m *tensorMap) (out [mapBytes]byte, err error) {
	room := make([]byte, mapBytes+mapAlign)
	at := 0
	for uintptr(unsafe.Pointer(&room[at]))%mapAlign != 0 {
		at++
	}
	ones := make([]uint32, len(m.dims)) // elements between those of the box
	for i := range ones {
		ones[i] = 1
	}
	strides := append(m.strides, 0) // never empty, so that it has an address
	err = d.call("cuTensorMapEncodeTiled", uintptr(unsafe.Pointer(&room[at])), uintptr(m.element), uintptr(len(m.dims)), uintptr(m.at),
		uintptr(unsafe.Pointer(unsafe.SliceData(m.dims))), uintptr(unsafe.Pointer(&strides[0])), uintptr(unsafe.Pointer(unsafe.SliceData(m.box))),
		uintptr(unsafe.Pointer(unsafe.SliceData(ones))), interleaveNothing, uintptr(m.swizzle), uintptr(m.promote), uintptr(m.fill))
	copy(out[:], room[at:])
	return out, err
}
