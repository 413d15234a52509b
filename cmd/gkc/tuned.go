package main

import (
	"errors"
	"strings"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/autotune"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/passes"
)

// tuned are the schedules that gkc tune left beside a source.
type tuned struct {
	path string
	file *autotune.File
}

func readTuned(source string) (*tuned, error) {
	t := &tuned{path: tuneFile(source, ".json")}
	var err error
	if t.file, err = autotune.ReadFile(t.path); err != nil {
		return nil, callError("%v", err)
	}
	return t, nil
}

// give gives a unit at the level tensor the schedules of a kernel, where nobody says anything else about its device kernels.
func (t *tuned) give(u *passes.Unit, kernel string) {
	if u.Device != nil && u.Sched == nil && u.Draw == nil && !u.NoFuse {
		u.Own = t.file.For(kernel, u.Tensor, u.Device)
	}
}

// sets are the sizes of a kernel on a device for which it was tuned as it is.
func (t *tuned) sets(k *gkc.Kernel, d *device.Device) (out []map[string]int64) {
	for _, e := range t.file.Entries {
		if e.Kernel != k.Program.Name || e.Device != d.String() || demands(k.Program, e.Sizes) != nil {
			continue
		}
		p, errs := k.Fixed(e.Kernel, e.Sizes)
		if !errs.HasErrors() && t.file.For(e.Kernel, p, d) != nil {
			out = append(out, e.Sizes)
		}
	}
	return out
}

// blame says where a schedule comes from that cannot be.
func (t *tuned) blame(u *passes.Unit, err error) error {
	var d *diag.Diag
	if len(u.Own) > 0 && errors.As(err, &d) && strings.HasPrefix(d.Message, "the schedule of ") {
		d.Message += "; it comes from " + t.path + ": run gkc tune again, or delete the file"
	}
	return err
}
