// Package job says how a compiled kernel is launched for one set of sizes: plain numbers, for a launcher on a machine with a GPU
// and no Go (bench/gpu.py).
package job

import (
	"fmt"

	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/ir"
)

// Array is an array of a launch. Name is the caller's.
type Array struct {
	Name  string  `json:"name"`
	Type  string  `json:"type"`
	Role  string  `json:"role"`
	Shape []int64 `json:"shape"`
	Len   int64   `json:"len"`
	Zero  string  `json:"zero"` // as plan.Array has it
}

// Launch is a launch of a device function.
type Launch struct {
	Entry   string `json:"entry"`
	Grid    int64  `json:"grid"`
	Threads int    `json:"threads"`
	Shared  int    `json:"shared"`
	Args    []any  `json:"args"` // [bytes, bits] of a value, {"array": n}, {"failure": true}
}

// Of puts a call's scalars into a plan.
func Of(p *plan.Plan, scalars map[string]ir.Const, dev plan.Device) ([]Array, []Launch, error) {
	resolved, err := p.Resolve(scalars, dev)
	if err != nil {
		return nil, nil, err
	}
	index := map[string]int{}
	var arrays []Array
	for i, a := range p.Arrays {
		index[a.Name] = i
		x := Array{Name: a.Name, Type: a.Type, Role: a.Role, Shape: append([]int64{}, resolved.Extents[i]...), Len: 1, Zero: a.Zero}
		if a.As != "" {
			x.Name = a.As
		}
		for _, n := range x.Shape {
			x.Len *= n
		}
		arrays = append(arrays, x)
	}
	var launches []Launch
	for i := range p.Launches {
		l, n := &p.Launches[i], &resolved.Launches[i]
		if l.Cluster > 1 || l.Tail {
			return nil, nil, fmt.Errorf("%s is launched in clusters or as a tail, which this launcher cannot do", l.Entry)
		}
		x := Launch{Entry: l.Entry, Grid: n.Grid, Threads: l.Threads, Shared: l.Shared, Args: []any{}}
		types := typesOf(p, l)
		for _, a := range l.Args {
			arg, err := argument(a, index, types, n.Values, scalars)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", l.Entry, err)
			}
			x.Args = append(x.Args, arg)
		}
		launches = append(launches, x)
	}
	return arrays, launches, nil
}

// typesOf are the types of what a launch names. Its own values hide scalars.
func typesOf(p *plan.Plan, l *plan.Launch) map[string]ir.Type {
	types := map[string]ir.Type{}
	for _, s := range p.Scalars {
		types[s.Name], _ = ir.TypeByName(s.Type) // the plan is ours
	}
	for _, v := range l.Values {
		types[v.Name], _ = ir.TypeByName(v.Type)
	}
	return types
}

func argument(a plan.Arg, index map[string]int, types map[string]ir.Type, values, scalars map[string]ir.Const) (any, error) {
	switch {
	case a.Value != "":
		v, ok := values[a.Value]
		if !ok {
			v = scalars[a.Value]
		}
		t := types[a.Value]
		return []uint64{uint64(t.Bytes()), ir.ToBits(t, v)}, nil
	case a.Array != "":
		return map[string]int{"array": index[a.Array]}, nil
	case a.Failure:
		return map[string]bool{"failure": true}, nil
	}
	return nil, fmt.Errorf("an argument that this launcher does not know: %+v", a)
}
