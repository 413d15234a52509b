package module

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
)

// What a caller sees of a module: parameters by name, and where sizes come from.

// Param is the tensor parameter of a name; nil if there is none.
func (h *Header) Param(name string) *Array {
	for _, a := range h.Arrays {
		if a.Role == Param && a.CallerName() == name {
			return a
		}
	}
	return nil
}

// Scalar is the size or scalar parameter of a name; nil if there is none.
func (h *Header) Scalar(name string) *ir.Scalar {
	for _, s := range h.Scalars {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// CallerOrder is the caller's parameters in source order. IR text need not say it.
func (h *Header) CallerOrder() []string {
	out := slices.Clone(h.Order)
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, a := range h.Arrays {
		if a.Role == Param {
			add(a.CallerName())
		}
	}
	for _, s := range h.Scalars {
		if !s.IsSize {
			add(s.Name)
		}
	}
	return out
}

// SizeFrom is where a size comes from: a dimension of a parameter whose extent is the size plus a constant; nil if there is none.
func (h *Header) SizeFrom(s *ir.Scalar) (a *Array, dim int, plus int64) {
	if !s.IsSize {
		return nil, 0, 0
	}
	for _, a := range h.Arrays {
		for d, e := range a.Extents {
			if of, c := nameAndOffset(e); a.Role == Param && of == s {
				return a, d, c
			}
		}
	}
	return nil, 0, 0
}

// nameAndOffset splits NAME, NAME + c, NAME - c.
func nameAndOffset(e *ir.Expr) (*ir.Scalar, int64) {
	if s, ok := e.Ref.(*ir.Scalar); ok && e.Op == ir.OpName {
		return s, 0
	}
	if e.Op != ir.OpAdd && e.Op != ir.OpSub || e.Args[0].Op != ir.OpName {
		return nil, 0
	}
	s, ok := e.Args[0].Ref.(*ir.Scalar)
	c, constant := e.Args[1].IntValue()
	switch {
	case !ok || !constant:
		return nil, 0
	case e.Op == ir.OpSub:
		return s, -c
	}
	return s, c
}
