// Package simt is what Go code written by gkc calls: narrow floating-point types, arithmetic that is total, operations of a
// warp, and the launching of blocks. It imports nothing but the standard library, so that emitted code has no other dependency.
package simt

// Float is a type in which floating-point arithmetic happens.
type Float interface{ float32 | float64 }

// Int is a type in which integer arithmetic happens.
type Int interface {
	int32 | int64 | uint32 | uint64
}

// Number is either.
type Number interface{ Float | Int }
