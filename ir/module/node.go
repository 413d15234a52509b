// Package module is what a module of tile IR and one of simt IR have in common: what the caller gives and takes, the arrays that
// kernels share, the conditions of a launch, and the places that can fail.
package module

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
)

// Header is a module but for its kernels.
type Header struct {
	Name    string
	Scalars []*ir.Scalar // sizes and scalar parameters; a launch gives them values
	Arrays  []*Array     // parameters, results, workspace
	Order   []string     // the caller's parameter names in source order, scalars among arrays
	Where   []ir.Condition
	Sites   []ir.Site // what the codes of checks stand for
}

// Array is a tensor in global memory, row-major without gaps.
type Array struct {
	Name    string // unique in the module
	As      string // the caller's name; differs from Name where a result is also a parameter
	Type    ir.Type
	Extents []*ir.Expr // over Scalars; none: one element
	Role    Role
	Zero    Zero
}

// CallerName is what a caller calls the array.
func (a *Array) CallerName() string {
	if a.As != "" {
		return a.As
	}
	return a.Name
}

// Role says who owns an array's memory.
type Role uint8

// The roles of arrays.
const (
	Param  Role = iota // the caller's, read only
	Result             // the caller's, written
	Work               // workspace of the launch
)

var roleNames = [...]string{"param", "result", "work"}

func (r Role) String() string { return roleNames[r] }

// Zero says when workspace is cleared.
type Zero uint8

// When workspace is cleared.
const (
	ZeroNever Zero = iota
	ZeroEach       // before every launch of the module
	ZeroOnce       // when it is allocated; every launch leaves it zero
)

var zeroNames = [...]string{"", "each", "once"}

func (z Zero) String() string { return zeroNames[z] }

// Signature is what a caller sees of the module.
func (h *Header) Signature() *data.Signature {
	sig := &data.Signature{Name: h.Name, Order: h.Order, Scalars: h.Scalars, Where: h.Where}
	for _, a := range h.Arrays {
		t := data.Tensor{Name: a.CallerName(), Type: a.Type, Extents: a.Extents}
		switch a.Role {
		case Param:
			sig.Params = append(sig.Params, t)
		case Result:
			sig.Results = append(sig.Results, t)
		}
	}
	return sig
}
