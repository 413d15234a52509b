package cuda

import (
	"math"
	"math/bits"
	"slices"

	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/diag"
)

const poison = 0xff // NaN, -1, or a truth value that is none

// leastBytes is what an array takes at least, so that an empty one has an address too.
const leastBytes = 16

// allocate makes the arrays and the failure records, and fills them.
func (r *run) allocate() error {
	if err := r.measure(); err != nil {
		return err
	}
	for i := range r.plan.Arrays {
		a := &r.plan.Arrays[i]
		r.arrays[a.Name] = i
		_, _, bytes := r.array(i)
		p, err := r.alloc(bytes)
		if err != nil {
			return err
		}
		r.memory = append(r.memory, p)
		if err := r.content(a, p, bytes); err != nil {
			return err
		}
	}
	var err error
	records := int64(failureBytes * len(r.plan.Launches))
	if r.failures, err = r.alloc(records); err != nil || records == 0 {
		return err
	}
	return r.drv.fill(r.failures, 0, records)
}

func (r *run) alloc(bytes int64) (address, error) {
	p, err := r.drv.alloc(max(bytes, leastBytes))
	if err == nil {
		r.held = append(r.held, p)
	}
	return p, err
}

// measure refuses arrays that are too large, before anything is allocated.
func (r *run) measure() error {
	free, err := r.drv.free()
	if err != nil {
		return err
	}
	var total, host int64
	for i, a := range r.plan.Arrays {
		t, ok := ir.TypeByName(a.Type)
		if !ok {
			return diag.Errorf(diag.Pos{}, "runtime", "array %s has the unknown type %s", a.Name, a.Type)
		}
		bytes, err := size(&a, t, r.numbers.Extents[i])
		if err != nil {
			return err
		}
		total += max(bytes, leastBytes)
		if a.Role != "work" {
			host += bytes
		}
		switch {
		case total > free:
			return diag.Errorf(diag.Pos{}, "limit", "with %s%v the arrays of %s take more than the %d MiB that are free on %s", callerName(&a), r.numbers.Extents[i], r.plan.Kernel, free>>20, r.dev.facts.Name)
		case host > data.MaxHeld:
			return diag.Errorf(diag.Pos{}, "limit", "with %s%v the inputs and results of %s take more than %d GiB, the most that a run holds", callerName(&a), r.numbers.Extents[i], r.plan.Kernel, data.MaxHeld>>30)
		}
	}
	return nil
}

// size is the bytes of an array, at most data.MaxBytes.
func size(a *plan.Array, t ir.Type, extents []int64) (int64, error) {
	total := uint64(t.Bytes())
	if slices.Contains(extents, 0) {
		total = 0
	}
	for _, n := range extents {
		if n < 0 {
			return 0, diag.Errorf(diag.Pos{}, "call", "extent %d of %s is negative", n, callerName(a))
		}
		over, product := bits.Mul64(total, uint64(n))
		if total = product; over != 0 || total > data.MaxBytes {
			return 0, diag.Errorf(diag.Pos{}, "limit", "%s%v is larger than %d GiB", callerName(a), extents, data.MaxBytes>>30)
		}
	}
	return int64(total), nil
}

// content fills an array: with the caller's elements, zeros, or poison.
func (r *run) content(a *plan.Array, p address, bytes int64) error {
	switch {
	case bytes == 0:
		return nil
	case a.Role == "param":
		in := r.call.Inputs[callerName(a)]
		if in == nil || in.Type.String() != a.Type || int64(len(in.Data)) != bytes {
			return diag.Errorf(diag.Pos{}, "call", "input %s of kernel %s is %v, expected %s%v", callerName(a), r.plan.Kernel, in, a.Type, r.numbers.Extents[r.arrays[a.Name]])
		}
		return r.drv.upload(p, in.Data)
	case a.Zero != "":
		return r.drv.fill(p, 0, bytes)
	}
	return r.drv.fill(p, poison, bytes)
}

// arguments are the arguments of a launch, as the device function takes them.
func (r *run) arguments(launch int) (out [][]byte, err error) {
	l, n := &r.plan.Launches[launch], &r.numbers.Launches[launch]
	types := r.types(l)
	for _, a := range l.Args {
		var b []byte
		switch {
		case a.Value != "":
			v, host := n.Values[a.Value]
			if !host {
				v = r.call.Scalars[a.Value]
			}
			b, err = scalarBytes(types[a.Value], v)
		case a.Array != "":
			b, err = r.pointer(a.Array)
		case a.Map != "":
			b, err = r.tensorMap(l, n, a.Map)
		case a.Failure:
			b = word(uint64(r.failures) + uint64(failureBytes*launch))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func (r *run) pointer(array string) ([]byte, error) {
	i, ok := r.arrays[array]
	if !ok {
		return nil, diag.Errorf(diag.Pos{}, "runtime", "the plan has no array %s", array)
	}
	return word(uint64(r.memory[i])), nil
}

// elementCodes are the driver's numbers for the types of elements. Bytes are moved as they are.
var elementCodes = map[string]uint32{
	"u8": 0, "i8": 0, "bool": 0, "f8e4m3": 0, "f8e5m2": 0, "u16": 1, "i16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9,
}

func (r *run) tensorMap(l *plan.Launch, n *plan.ResolvedLaunch, name string) ([]byte, error) {
	bad := func(what string, v any) error {
		return diag.Errorf(diag.Pos{}, "runtime", "kernel %s: tensor map %s: %s %v", l.Kernel, name, what, v)
	}
	i := slices.IndexFunc(l.Maps, func(m plan.Map) bool { return m.Name == name })
	if i < 0 {
		return nil, bad("the plan does not have it", "")
	}
	m := &l.Maps[i]
	at, ok := r.arrays[m.Array]
	if !ok {
		return nil, bad("no array", m.Array)
	}
	out := &tensorMap{at: r.memory[at]}
	if out.element, ok = elementCodes[m.Type]; !ok {
		return nil, bad("no map of", m.Type)
	}
	if out.swizzle, ok = map[int]uint32{0: 0, 32: 1, 64: 2, 128: 3}[m.Swizzle]; !ok {
		return nil, bad("no swizzle of", m.Swizzle)
	}
	if out.promote, ok = map[int]uint32{0: 0, 64: 1, 128: 2, 256: 3}[m.Promote]; !ok {
		return nil, bad("no promotion of", m.Promote)
	}
	if m.FillNaN {
		if out.element < elementCodes["f16"] {
			return nil, bad("the device has no NaN for elements of", m.Type)
		}
		out.fill = 1
	}
	if len(m.Box) != len(n.Dims[i]) || len(m.Box) == 0 || len(n.Stride[i]) != len(m.Box)-1 {
		return nil, bad("dimensions, strides and box", []any{n.Dims[i], n.Stride[i], m.Box})
	}
	for d, x := range n.Dims[i] {
		if x < 1 || x > math.MaxUint32 {
			return nil, bad("a dimension of", x)
		}
		out.dims = append(out.dims, uint64(x))
		out.box = append(out.box, uint32(m.Box[d]))
	}
	for _, x := range n.Stride[i] {
		if x < 0 {
			return nil, bad("a stride of", x)
		}
		out.strides = append(out.strides, uint64(x))
	}
	b, err := r.drv.encode(out)
	return b[:], err
}
