package autotune

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/gkc-lang/gkc/internal/atomicfile"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// Sizes are values of a kernel's sizes.
type Sizes map[string]int64

func (s Sizes) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		parts = append(parts, fmt.Sprintf("%s=%d", name, s[name]))
	}
	return strings.Join(parts, ",")
}

// SizesOf are the sizes of a program; nil where not all are fixed.
func SizesOf(p *tensor.Program) Sizes {
	out := Sizes{}
	for _, s := range p.Scalars {
		if !s.IsSize {
			continue
		}
		if s.Fixed == nil {
			return nil
		}
		out[s.Name] = s.Fixed.Int()
	}
	return out
}

// Fingerprint tells programs apart, whatever their names.
func Fingerprint(p *tensor.Program) string {
	same := *p
	same.Name = "k"
	h := fnv.New64a()
	h.Write([]byte(same.String()))
	return fmt.Sprintf("%016x", h.Sum64())
}

// Best is the best schedule that was found for a definition.
type Best struct {
	Of          string  `json:"of"`
	Schedule    string  `json:"schedule"`
	Estimate    float64 `json:"estimate_seconds"`
	Simulated   float64 `json:"simulated_seconds,omitempty"` // by which it was chosen
	Unsimulated string  `json:"not_simulated,omitempty"`     // why it was chosen by the estimate
}

// Entry is what was found for a kernel.
type Entry struct {
	Kernel    string `json:"kernel"`
	Device    string `json:"device"`
	Sizes     Sizes  `json:"sizes"`
	Program   string `json:"program"`
	Schedules []Best `json:"schedules"`
}

// EntryOf is the entry for what was found of a subject.
func EntryOf(s Subject, found []Best) Entry {
	return Entry{s.Kernel, s.Device.String(), SizesOf(s.Program), Fingerprint(s.Program), found}
}

// File holds the best schedules of the kernels of a source file.
type File struct {
	Entries []Entry `json:"kernels"`
}

// ReadFile reads a file of schedules; without one, there are none.
func ReadFile(path string) (*File, error) {
	f := &File{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, e := range f.Entries {
		for _, b := range e.Schedules {
			if _, err := schedule.Parse(b.Schedule); err != nil {
				return nil, fmt.Errorf("%s: the schedule of %s in %s: %w", path, b.Of, e.Kernel, err)
			}
		}
	}
	return f, nil
}

// Put adds an entry, in place of the one for the same sizes.
func (f *File) Put(e Entry) {
	order := func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.Device, b.Device), cmp.Compare(a.Sizes.String(), b.Sizes.String()))
	}
	f.Entries = slices.DeleteFunc(f.Entries, func(old Entry) bool { return order(old, e) == 0 })
	f.Entries = append(f.Entries, e)
	slices.SortFunc(f.Entries, order)
}

// Write writes the file.
func (f *File) Write(path string) error {
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'))
}

// For are the schedules of a kernel that is compiled for a device, by definition; nil where none were found for its sizes, or for
// another program than it is now.
func (f *File) For(kernel string, p *tensor.Program, d *device.Device) map[string]schedule.Choice {
	sizes := SizesOf(p)
	if sizes == nil {
		return nil
	}
	for _, e := range f.Entries {
		if e.Kernel != kernel || e.Device != d.String() || !maps.Equal(e.Sizes, sizes) || e.Program != Fingerprint(p) {
			continue
		}
		out := map[string]schedule.Choice{}
		for _, b := range e.Schedules {
			out[b.Of], _ = schedule.Parse(b.Schedule) // ReadFile has read it
		}
		return out
	}
	return nil
}
