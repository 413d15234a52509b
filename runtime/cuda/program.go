package cuda

import (
	"encoding/binary"

	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/diag"
)

// Program is compiled kernels on a device, with the plan of their launches.
type Program struct {
	dev    *Device
	plan   *plan.Plan
	module handle
	loaded []loaded // by launch
	closed bool
}

// loaded is a device function.
type loaded struct {
	function handle
	resources
}

// Load puts a compiled program on the device. image is what Compile gives for the text that belongs to the plan.
func (d *Device) Load(p *plan.Plan, image []byte) (*Program, error) {
	for i := range p.Launches {
		if err := d.fits(&p.Launches[i]); err != nil {
			return nil, err
		}
	}
	out := &Program{dev: d, plan: p}
	err := d.do(func() (err error) {
		if out.module, err = d.drv.load(image); err != nil {
			return err
		}
		if err = out.functions(); err != nil {
			_ = d.drv.unload(out.module)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (d *Device) fits(l *plan.Launch) error {
	err := d.facts.CanRun(l.For)
	if err == nil {
		err = d.facts.Fits(device.Usage{Threads: l.Threads, Shared: l.Shared, Cluster: l.Cluster})
	}
	if err != nil {
		return diag.Errorf(diag.Pos{}, "runtime", "kernel %s: %v", l.Kernel, err)
	}
	return nil
}

func (p *Program) functions() error {
	for _, l := range p.plan.Launches {
		f, err := p.dev.drv.function(p.module, l.Entry)
		if err != nil {
			return err
		}
		r, err := p.dev.drv.prepare(f, shape{threads: l.Threads, shared: l.Shared, cluster: l.Cluster})
		if err != nil {
			return err
		}
		p.loaded = append(p.loaded, loaded{f, r})
	}
	return nil
}

// Close takes the program off the device.
func (p *Program) Close() error {
	return p.dev.do(func() error {
		if p.closed {
			return nil
		}
		p.closed = true
		return p.dev.drv.unload(p.module)
	})
}

// types are the types of what a launch can pass by value. A host value hides a scalar of its name.
func (p *Program) types(l *plan.Launch) map[string]string {
	out := map[string]string{}
	for _, s := range p.plan.Scalars {
		out[s.Name] = s.Type
	}
	for _, v := range l.Values {
		out[v.Name] = v.Type
	}
	return out
}

// scalarBytes is a scalar argument as the device function takes it.
func scalarBytes(typ string, v ir.Const) ([]byte, error) {
	t, ok := ir.TypeByName(typ)
	if !ok {
		return nil, diag.Errorf(diag.Pos{}, "runtime", "a scalar of the unknown type %s", typ)
	}
	return word(ir.ToBits(t, v))[:t.Bytes()], nil
}

func word(bits uint64) []byte { return binary.LittleEndian.AppendUint64(nil, bits) }
