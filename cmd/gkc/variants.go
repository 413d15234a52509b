package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/passes"
)

// family is a kernel for all calls, and its variants for calls with some sizes.
type family struct {
	general  *member
	variants []*member
}

func (f *family) all() []*member { return append([]*member{f.general}, f.variants...) }

// member is one of a family on its way down: for the device, and for the processor.
type member struct {
	name              string
	device, processor *passes.Unit
	image             []byte // the cubin, once it is made
}

func (m *member) unit(art *artifact) *passes.Unit {
	if art.processor {
		return m.processor
	}
	return m.device
}

// sets reads --set, each of which names the sizes of a variant.
func (c *buildCmd) sets() ([]map[string]int64, error) {
	var out []map[string]int64
	for _, text := range c.Set {
		set, err := settings(strings.Split(text, ","))
		if err != nil {
			return nil, err
		}
		out = append(out, set)
	}
	return out, nil
}

// known refuses a size of --set that no kernel has.
func (b *building) known(kernels []*gkc.Kernel) error {
	for _, set := range b.sets {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			if set[name] < 0 {
				return callError("--set %s=%d: a size is not negative", name, set[name])
			}
			if !slices.ContainsFunc(kernels, func(k *gkc.Kernel) bool { return isFree(k.Program, name) }) {
				return callError("--set %s: no kernel has a size %s", name, name)
			}
		}
	}
	return nil
}

func isFree(p *tensor.Program, size string) bool {
	return slices.ContainsFunc(p.Scalars, func(s *ir.Scalar) bool { return s.IsSize && s.Fixed == nil && s.Name == size })
}

// family is a kernel with a variant for each set of sizes: of --set, then of the examples.
func (b *building) family(k *gkc.Kernel, src string) (*family, error) {
	general, err := b.member(k.Program)
	if err != nil {
		return nil, err
	}
	f := &family{general: general}
	sets := slices.Clone(b.sets)
	for _, example := range k.Examples {
		set := map[string]int64{}
		for name, v := range example {
			set[name] = v.Int()
		}
		sets = append(sets, set)
	}
	seen := map[string]bool{}
	for _, set := range sets {
		name, sizes := variant(k.Program, set)
		if len(sizes) == 0 || seen[name] {
			continue
		}
		seen[name] = true
		program, errs := k.Fixed(name, sizes)
		if err := b.report(errs, src); err != nil {
			return nil, err
		}
		m, err := b.member(program)
		if err != nil {
			return nil, err
		}
		f.variants = append(f.variants, m)
	}
	return f, nil
}

// variant is the name of a program for some sizes, and those of them that it has.
func variant(p *tensor.Program, set map[string]int64) (name string, sizes map[string]int64) {
	sizes = map[string]int64{}
	var parts []string
	for _, s := range p.Scalars {
		if v, ok := set[s.Name]; ok && isFree(p, s.Name) {
			sizes[s.Name] = v
			parts = append(parts, fmt.Sprintf("%s%d", s.Name, v))
		}
	}
	return p.Name + "__" + strings.Join(parts, "_"), sizes
}

func (b *building) member(p *tensor.Program) (*member, error) {
	m := &member{name: p.Name}
	unit := passes.Unit{Level: passes.Tensor, Tensor: p, Trust: b.Bounds == "trust", NoFuse: b.NoFuse}
	processor, device := unit, unit
	device.Device = b.device
	m.device, m.processor = &device, &processor
	return m, force(m.device, b.Schedule)
}
