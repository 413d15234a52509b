package simt

import "github.com/gkc-lang/gkc/ir"

// Registers, builtins, host values and buffers can be named in expressions.

func (r *Reg) RefName() string     { return r.Name }
func (r *Reg) RefType() ir.Type    { return r.Type }
func (b *Builtin) RefName() string { return b.Name }
func (b *Builtin) RefType() ir.Type {
	return b.Type
}
func (v *Value) RefName() string   { return v.Name }
func (v *Value) RefType() ir.Type  { return v.Type }
func (b *Buffer) RefName() string  { return b.Name }
func (b *Buffer) RefType() ir.Type { return b.Type }

// OpElem is an element of a register array: Ref is the *Reg, Args[0] the subscript.
var OpElem = &ir.Op{Name: "elem", Arity: 1, Free: true, Where: ir.AtSimt}

// OpAddr is the 32-bit shared-memory address of element Args[0] of the *Buffer in Ref.
var OpAddr = &ir.Op{Name: "addr", Arity: 1, Free: true, Where: ir.AtSimt}

// Elem makes an element of a register array.
func Elem(r *Reg, at *ir.Expr) *ir.Expr { return ir.NewExpr(OpElem, r.Type, r, at.Pos, at) }
