package passes

import (
	"slices"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

// pickAtoms gives dots of block kernels the largest matrix operation of the device that takes their types and fits into the part
// that a warp has, unless the schedule says not to (tensor 0). f32 is not rounded for the sake of one. Where a dot of a kernel has
// none, none of the kernel gets one: their results would be in other threads, and would meet through shared memory.
func pickAtoms(u *Unit) error {
	m := *u.Tile
	m.Kernels = slices.Clone(m.Kernels)
	for i, k := range m.Kernels {
		if k.Threads > 0 && k.Sched.Of("tensor", 1) != 0 {
			m.Kernels[i] = k.Copy()
			atomsOf(m.Kernels[i], u.Device)
		}
	}
	u.Tile = &m
	return nil
}

func atomsOf(k *tile.Kernel, dev *device.Device) {
	atoms, all := map[*tile.Dot]*simt.Atom{}, true
	eachStmt(k.Body, func(s tile.Stmt) {
		if d, ok := s.(*tile.Dot); ok {
			atoms[d] = atomFor(d, k, dev)
			all = all && atoms[d] != nil
		}
	})
	if !all {
		return
	}
	for d, a := range atoms {
		d.Atom = a.Name
	}
}

// atomFor is the largest matrix operation for a dot; nil if there is none.
func atomFor(d *tile.Dot, k *tile.Kernel, dev *device.Device) (best *simt.Atom) {
	f := dotFormOf(d, k)
	if f == nil || dev == nil {
		return nil
	}
	for _, a := range simt.Atoms() {
		switch {
		case !runsOn(a, dev):
		case a.D != d.Out.Type || !isWordOf(a.A, d.A.Type) || !isWordOf(a.B, d.B.Type):
		case a.M > f.sizeM || a.N > f.sizeN || a.K > f.sizeK:
		case best == nil || a.M*a.N*a.K > best.M*best.N*best.K || a.M*a.N*a.K == best.M*best.N*best.K && a.Name < best.Name:
			best = a
		}
	}
	return best
}

// runsOn reports whether a device has a matrix operation of warps which keeps numbers as they are.
func runsOn(a *simt.Atom, dev *device.Device) bool {
	target := "sm_" + strings.ReplaceAll(dev.Compute, ".", "")
	return strings.EqualFold(dev.Vendor, "nvidia") && !a.Async && !a.Tf32 && simt.Runs(target, a.Needs)
}

// isWordOf reports whether registers of type word hold elements of a type.
func isWordOf(word, elem ir.Type) bool {
	return word == elem || word.IsPacked() && word.Elem == elem.Elem
}
