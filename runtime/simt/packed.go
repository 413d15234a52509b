package simt

// Packed words hold the lowest element in the lowest bits.

func word16[T ~uint16](lo, hi T) uint32 { return uint32(lo) | uint32(hi)<<16 }

func word8[T ~uint8 | ~int8](a, b, c, d T) uint32 {
	return uint32(uint8(a)) | uint32(uint8(b))<<8 | uint32(uint8(c))<<16 | uint32(uint8(d))<<24
}

func PackF16(lo, hi float32) uint32  { return word16(ToF16(lo), ToF16(hi)) }
func PackBF16(lo, hi float32) uint32 { return word16(ToBF16(lo), ToBF16(hi)) }

func PackF8E4M3(a, b, c, d float32) uint32 {
	return word8(ToF8E4M3(a), ToF8E4M3(b), ToF8E4M3(c), ToF8E4M3(d))
}

func PackF8E5M2(a, b, c, d float32) uint32 {
	return word8(ToF8E5M2(a), ToF8E5M2(b), ToF8E5M2(c), ToF8E5M2(d))
}

func PackI8(a, b, c, d int32) uint32 {
	limit := func(x int32) int8 { return int8(min(max(x, MinI8), MaxI8)) }
	return word8(limit(a), limit(b), limit(c), limit(d))
}

func PackU8(a, b, c, d int32) uint32 {
	limit := func(x int32) uint8 { return uint8(min(max(x, MinU8), MaxU8)) }
	return word8(limit(a), limit(b), limit(c), limit(d))
}

// The elements of a word, in the type that computes with them.

func PartF16(w uint32, i int) float32    { return F16(w >> (16 * i)).F32() }
func PartBF16(w uint32, i int) float32   { return BF16(w >> (16 * i)).F32() }
func PartF8E4M3(w uint32, i int) float32 { return F8E4M3(w >> (8 * i)).F32() }
func PartF8E5M2(w uint32, i int) float32 { return F8E5M2(w >> (8 * i)).F32() }
func PartI8(w uint32, i int) int32       { return int32(int8(w >> (8 * i))) }
func PartU8(w uint32, i int) int32       { return int32(uint8(w >> (8 * i))) }
