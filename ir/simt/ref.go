package simt

import "github.com/gkc-lang/gkc/ir"

// Registers, builtins, host values and buffers can be named in expressions.

// RefName is the register's name.
func (r *Reg) RefName() string { return r.Name }

// RefType is the type of the register, or of an element of the array.
func (r *Reg) RefType() ir.Type { return r.Type }

// RefName is the builtin's name.
func (b *Builtin) RefName() string { return b.Name }

// RefType is the builtin's type.
func (b *Builtin) RefType() ir.Type { return b.Type }

// RefName is the host value's name.
func (v *Value) RefName() string { return v.Name }

// RefType is the host value's type.
func (v *Value) RefType() ir.Type { return v.Type }

// RefName is the buffer's name.
func (b *Buffer) RefName() string { return b.Name }

// RefType is the type of an element.
func (b *Buffer) RefType() ir.Type { return b.Type }
