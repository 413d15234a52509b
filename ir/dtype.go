// Package ir is the scalar core that the three levels share: element types, scalar operations, expressions,
// axes, and the launch's run-time values. It knows no memory, no order and no device.
package ir

// Kind says how the bits of a dtype are read.
type Kind uint8

// The kinds.
const (
	Float Kind = iota
	Int
	Uint
	Bool
)

// DType is an element type as it is stored: one row of the table below. Rows are compared by pointer.
type DType struct {
	Name      string
	Bits      int // storage width; bool is stored in 8 bits
	Kind      Kind
	Exp, Mant int    // floats: exponent bits and explicit mantissa bits
	C, Go     string // spellings of the storage type
}

// The dtypes of the language.
var (
	f64    = &DType{"f64", 64, Float, 11, 52, "double", "float64"}
	f32    = &DType{"f32", 32, Float, 8, 23, "float", "float32"}
	f16    = &DType{"f16", 16, Float, 5, 10, "f16", "simt.F16"}
	bf16   = &DType{"bf16", 16, Float, 8, 7, "bf16", "simt.BF16"}
	f8e4m3 = &DType{"f8e4m3", 8, Float, 4, 3, "f8e4m3", "simt.F8E4M3"}
	f8e5m2 = &DType{"f8e5m2", 8, Float, 5, 2, "f8e5m2", "simt.F8E5M2"}
	i64    = &DType{"i64", 64, Int, 0, 0, "long long", "int64"}
	i32    = &DType{"i32", 32, Int, 0, 0, "int", "int32"}
	i16    = &DType{"i16", 16, Int, 0, 0, "short", "int16"}
	i8     = &DType{"i8", 8, Int, 0, 0, "signed char", "int8"}
	u64    = &DType{"u64", 64, Uint, 0, 0, "unsigned long long", "uint64"}
	u32    = &DType{"u32", 32, Uint, 0, 0, "unsigned", "uint32"}
	u16    = &DType{"u16", 16, Uint, 0, 0, "unsigned short", "uint16"}
	u8     = &DType{"u8", 8, Uint, 0, 0, "unsigned char", "uint8"}
	boolT  = &DType{"bool", 8, Bool, 0, 0, "bool", "bool"}
)

// DTypes lists every dtype. The language itself has all but u64 and u16, which only the simt level uses.
var DTypes = []*DType{f64, f32, f16, bf16, f8e4m3, f8e5m2, i64, i32, i16, i8, u64, u32, u16, u8, boolT}

// DTypeByName finds a dtype; nil if there is none of that name.
func DTypeByName(name string) *DType {
	for _, d := range DTypes {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// InLanguage reports whether programs may name the dtype.
func (d *DType) InLanguage() bool { return d != u64 && d != u16 }

// IsFloat reports whether values are floating-point numbers.
func (d *DType) IsFloat() bool { return d.Kind == Float }

// IsInt reports whether values are integers, signed or not.
func (d *DType) IsInt() bool { return d.Kind == Int || d.Kind == Uint }

// Bytes is the storage size of one element.
func (d *DType) Bytes() int { return d.Bits / 8 }

// Computed is the dtype in which arithmetic on values stored as d happens: f32 for narrower floats, i32 for narrower
// integers, d itself otherwise. Bool takes no part in arithmetic.
func (d *DType) Computed() *DType {
	switch {
	case d.Kind == Float && d.Bits < 32:
		return f32
	case d.IsInt() && d.Bits < 32:
		return i32
	}
	return d
}

// Type is the type of a value: one element, or Pack elements in one 32-bit word (f16x2, bf16x2, f8e4m3x4, i8x4).
// Types are comparable; the zero Type means "no value".
type Type struct {
	Elem *DType
	Pack int8
}

// The scalar types.
var (
	F64    = Type{f64, 1}
	F32    = Type{f32, 1}
	F16    = Type{f16, 1}
	BF16   = Type{bf16, 1}
	F8E4M3 = Type{f8e4m3, 1}
	F8E5M2 = Type{f8e5m2, 1}
	I64    = Type{i64, 1}
	I32    = Type{i32, 1}
	I16    = Type{i16, 1}
	I8     = Type{i8, 1}
	U64    = Type{u64, 1}
	U32    = Type{u32, 1}
	U16    = Type{u16, 1}
	U8     = Type{u8, 1}
	Bool_  = Type{boolT, 1}
)

// Packed is a 32-bit word of elements of d, which is 8 or 16 bits wide.
func Packed(d *DType) Type { return Type{d, int8(32 / d.Bits)} }

// IsValid reports whether t is a type at all.
func (t Type) IsValid() bool { return t.Elem != nil }

// IsFloat reports whether t is a single floating-point number.
func (t Type) IsFloat() bool { return t.Elem != nil && t.Pack == 1 && t.Elem.IsFloat() }

// IsInt reports whether t is a single integer.
func (t Type) IsInt() bool { return t.Elem != nil && t.Pack == 1 && t.Elem.IsInt() }

// IsBool reports whether t is a truth value.
func (t Type) IsBool() bool { return t == Bool_ }

// IsPacked reports whether t is a word of several elements.
func (t Type) IsPacked() bool { return t.Pack > 1 }

// Bits is the width of one value.
func (t Type) Bits() int { return t.Elem.Bits * int(t.Pack) }

// Bytes is the storage size of one value.
func (t Type) Bytes() int { return t.Bits() / 8 }

func (t Type) String() string {
	switch {
	case t.Elem == nil:
		return "none"
	case t.Pack > 1:
		return t.Elem.Name + "x" + string(rune('0'+t.Pack))
	}
	return t.Elem.Name
}

// TypeByName reads what String prints; ok is false if there is no such type.
func TypeByName(name string) (t Type, ok bool) {
	if d := DTypeByName(name); d != nil {
		return Type{d, 1}, true
	}
	if n := len(name); n > 2 && name[n-2] == 'x' {
		if d := DTypeByName(name[:n-2]); d != nil && d.Bits < 32 && d != boolT && int(name[n-1]-'0')*d.Bits == 32 {
			return Packed(d), true
		}
	}
	return Type{}, false
}
