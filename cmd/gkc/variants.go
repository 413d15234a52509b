package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/passes"
)

// family is a kernel for all calls, and its variants for calls with some sizes.
type family struct{ general *member }

func (f *family) variants() []*member { return f.general.variants }

func (f *family) all() []*member { return append([]*member{f.general}, f.variants()...) }

// member is one of a family on its way down: for the device, and for the processor.
type member struct {
	name              string
	device, processor *passes.Unit
	variants          []*member // of the kernel for all calls
	// What is made of it for the device, once it is asked for.
	text     string
	launches *plan.Plan
	image    []byte
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
		set, err := settings([]string{text})
		if err != nil {
			return nil, err
		}
		out = append(out, set)
	}
	return out, nil
}

// contradicts tells sizes that no call of what is built can have.
func (b *building) contradicts(set map[string]int64) bool {
	for name, v := range set {
		if fixed, ok := b.fixed[name]; ok && fixed != v {
			return true
		}
	}
	return false
}

func isFree(p *tensor.Program, size string) bool {
	return slices.ContainsFunc(p.Scalars, func(s *ir.Scalar) bool { return s.IsSize && s.Fixed == nil && s.Name == size })
}

// family is a kernel with a variant for each set of sizes: of --set, then of the examples, then those that it is tuned for.
func (b *building) family(k *gkc.Kernel, src string) (*family, error) {
	kernel := k.Program.Name
	general, err := b.member(k.Program, kernel)
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
	if b.Schedule == "" && !b.NoFuse {
		sets = append(sets, b.tuned.sets(k, b.device)...)
	}
	seen := map[string]bool{}
	for _, set := range sets {
		if b.contradicts(set) {
			continue
		}
		all := maps.Clone(set)
		maps.Copy(all, b.fixed)
		name, sizes := variant(k.Program, all)
		if seen[name] || !slices.ContainsFunc(slices.Collect(maps.Keys(set)), func(size string) bool { return isFree(k.Program, size) }) {
			continue // it is there, or is the kernel itself
		}
		seen[name] = true
		if err := demands(k.Program, sizes); err != nil {
			return nil, err
		}
		program, errs := k.Fixed(name, sizes)
		if err := b.report(errs, src); err != nil {
			return nil, err
		}
		m, err := b.member(program, kernel)
		if err != nil {
			return nil, err
		}
		general.variants = append(general.variants, m)
	}
	return f, nil
}

// demands refuses sizes that contradict what a kernel demands: no call could have them.
func demands(p *tensor.Program, sizes map[string]int64) error {
	for _, w := range p.Where {
		v, err := ir.EvalExpr(w.Expr, func(r ir.Ref) (ir.Const, bool) {
			n, ok := sizes[r.RefName()]
			return ir.IntConst(n), ok
		})
		if err == nil && !v.Bool() { // an error: it depends on more than these sizes
			return callError("kernel %s demands %s, which does not hold for %s", p.Name, w.Text, listed(p, sizes))
		}
	}
	return nil
}

func listed(p *tensor.Program, sizes map[string]int64) string {
	var parts []string
	for _, s := range p.Scalars {
		if v, ok := sizes[s.Name]; ok && s.IsSize {
			parts = append(parts, fmt.Sprintf("%s = %d", s.Name, v))
		}
	}
	return strings.Join(parts, ", ")
}

// variant is the name of a program for some sizes, and those of them that it has.
func variant(p *tensor.Program, set map[string]int64) (name string, sizes map[string]int64) {
	sizes = map[string]int64{}
	var parts []string
	for _, s := range p.Scalars {
		if v, ok := set[s.Name]; ok && s.IsSize {
			sizes[s.Name] = v
			parts = append(parts, fmt.Sprintf("%s%d", s.Name, v))
		}
	}
	return p.Name + "__" + strings.Join(parts, "_"), sizes
}

// fix compiles a target again for the sizes of a call. IR text is what it is.
func (a *app) fix(t *target, call *data.Call) error {
	if t.kernel == nil {
		return nil
	}
	set := map[string]int64{}
	for name, v := range call.Scalars {
		set[name] = v.Int()
	}
	name, sizes := variant(t.kernel.Program, set)
	if len(sizes) == 0 {
		return nil
	}
	program, errs := t.kernel.Fixed(t.kernel.Program.Name, sizes)
	if errs.HasErrors() {
		return a.report(errs, t.source)
	}
	t.unit.Tensor, t.variant = program, name
	return nil
}

// member is a program of a kernel: for all calls, or for some.
func (b *building) member(p *tensor.Program, kernel string) (*member, error) {
	m := &member{name: p.Name}
	unit := passes.Unit{Level: passes.Tensor, Tensor: p, Trust: b.Bounds == "trust", NoFuse: b.NoFuse}
	processor, device := unit, unit
	device.Device = b.device
	m.device, m.processor = &device, &processor
	if err := force(m.device, b.Schedule); err != nil {
		return nil, err
	}
	b.tuned.give(m.device, kernel)
	return m, nil
}
