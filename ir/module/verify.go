package module

import (
	"fmt"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// Verifier is what a level lends: Fail takes a problem, Expr checks an expression of the launcher, which may name the scalars.
type Verifier struct {
	Fail func(text string)
	Expr func(e *ir.Expr, want ir.Type, what string)
}

// Verify checks the invariants of a header.
func (h *Header) Verify(v Verifier) {
	require := func(ok bool, format string, args ...any) {
		if !ok {
			v.Fail(fmt.Sprintf(format, args...))
		}
	}
	require(syntax.IsName(h.Name), "the module's name %q is no name", h.Name)
	callers, taken := map[string]bool{}, map[string]bool{}
	for _, s := range h.Scalars {
		require(syntax.IsName(s.Name) && !callers[s.Name], "the scalar's name %q is taken, or no name", s.Name)
		require(s.Type.IsValid() && !s.Type.IsPacked(), "scalar %s of type %s", s.Name, s.Type)
		require(!s.IsSize || s.Type == ir.I64, "size %s of type %s, expected i64", s.Name, s.Type)
		require(s.Multiple >= 0, "scalar %s is a multiple of %d", s.Name, s.Multiple)
		callers[s.Name] = true
	}
	for _, a := range h.Arrays {
		require(syntax.IsName(a.Name) && !taken[a.Name], "the array's name %q is taken, or no name", a.Name)
		require(a.As == "" || syntax.IsName(a.As), "array %s: the caller's name %q is no name", a.Name, a.As)
		require(a.Type.IsValid(), "array %s has no type", a.Name)
		require(a.Role == Work || a.Zero == ZeroNever, "array %s is cleared, but is no workspace", a.Name)
		for _, e := range a.Extents {
			v.Expr(e, ir.I64, "an extent of "+a.Name)
		}
		taken[a.Name] = true
		callers[a.CallerName()] = callers[a.CallerName()] || a.Role != Work
	}
	for _, name := range h.Order {
		require(callers[name], "the order of parameters names %s, which is no parameter", name)
	}
	for _, c := range h.Where {
		v.Expr(c.Expr, ir.Bool_, "a condition of the launch")
	}
}
