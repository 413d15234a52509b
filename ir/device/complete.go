package device

import (
	"reflect"
	"slices"
	"strings"
)

// Completed is a device that a driver found, with what the driver does not say: that is taken from a device of the table that has
// the same capability, best one of its name, or else from the latest before it, whose matrix units it need not have.
func (d *Device) Completed() *Device {
	like := d.relative()
	if like == nil {
		return d
	}
	out := *like
	if out.Compute != d.Compute {
		out.HasWgmma, out.TensorFMA, out.TensorTF = false, 0, nil
	}
	from, to := reflect.ValueOf(d).Elem(), reflect.ValueOf(&out).Elem()
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return &out
}

// relative is the device of the table that is most like d; nil if it has no capability, or one from before the table.
func (d *Device) relative() (best *Device) {
	if _, _, ok := d.Capability(); !ok {
		return nil
	}
	for _, k := range All() {
		if _, _, ok := k.Capability(); ok && capability(k) <= capability(d) && (best == nil || capability(k) > capability(best) || capability(k) == capability(best) && !d.isCalled(best) && d.isCalled(k)) {
			best = k
		}
	}
	return best
}

func capability(d *Device) int {
	major, minor, _ := d.Capability()
	return 100*major + minor
}

// isCalled reports whether a name that users give k is in that of d.
func (d *Device) isCalled(k *Device) bool {
	return slices.ContainsFunc(k.Short, func(s string) bool { return strings.Contains(strings.ToLower(d.Name), s) })
}
