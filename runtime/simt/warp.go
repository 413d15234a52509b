package simt

// The operations of a warp take the values of its lanes, which are as many as x has elements, and write those of the result.
// out and x may be one slice.

// WarpSize is the number of lanes of a warp.
const WarpSize = 32

// Shfl gives lane i the value of lane by[i].
func Shfl[T any](out, x []T, by []int32) {
	shuffle(out, x, func(i int) int { return int(by[i] & (WarpSize - 1)) })
}

// ShflXor gives lane i the value of lane i ^ by[i].
func ShflXor[T any](out, x []T, by []int32) {
	shuffle(out, x, func(i int) int { return inWarp(i, int64(i)^int64(by[i])) })
}

// ShflUp gives lane i the value of lane i - by[i].
func ShflUp[T any](out, x []T, by []int32) {
	shuffle(out, x, func(i int) int { return inWarp(i, int64(i)-int64(by[i])) })
}

// ShflDown gives lane i the value of lane i + by[i].
func ShflDown[T any](out, x []T, by []int32) {
	shuffle(out, x, func(i int) int { return inWarp(i, int64(i)+int64(by[i])) })
}

// inWarp is the lane from, or lane i itself where there is no such lane.
func inWarp(i int, from int64) int {
	if from < 0 || from >= WarpSize {
		return i
	}
	return int(from)
}

func shuffle[T any](out, x []T, from func(i int) int) {
	var in [WarpSize]T // lanes that a short warp lacks give zero
	copy(in[:], x)
	for i := range x {
		out[i] = in[from(i)]
	}
}

func fill[T any](out []T, v T) {
	for i := range out {
		out[i] = v
	}
}

// Elect is true for the first lane.
func Elect(out []bool) {
	for i := range out {
		out[i] = i == 0
	}
}

// Ballot is the mask of the lanes where x holds.
func Ballot(out []uint32, x []bool) { fill(out, mask(x)) }

// Any reports whether x holds in some lane.
func Any(out, x []bool) { fill(out, mask(x) != 0) }

// All reports whether x holds in every lane.
func All(out, x []bool) { fill(out, mask(x) == uint32(uint64(1)<<len(x)-1)) }

func mask(x []bool) (m uint32) {
	for i, b := range x {
		if b {
			m |= 1 << i
		}
	}
	return m
}

// Match is the mask of the lanes that hold the same integer.
func Match[T comparable](out []uint32, x []T) {
	var all [WarpSize]uint32
	for i := range x {
		for j := range x {
			if x[j] == x[i] {
				all[i] |= 1 << j
			}
		}
	}
	copy(out, all[:len(x)])
}

// Redux combines the values of all lanes.
func Redux[T Int](out, x []T, op func(a, b T) T) {
	acc := x[0]
	for _, v := range x[1:] {
		acc = op(acc, v)
	}
	fill(out, acc)
}

func ReduxAdd[T Int](out, x []T) { Redux(out, x, func(a, b T) T { return a + b }) }
func ReduxMin[T Int](out, x []T) { Redux(out, x, func(a, b T) T { return min(a, b) }) }
func ReduxMax[T Int](out, x []T) { Redux(out, x, func(a, b T) T { return max(a, b) }) }
func ReduxAnd[T Int](out, x []T) { Redux(out, x, func(a, b T) T { return a & b }) }
func ReduxOr[T Int](out, x []T)  { Redux(out, x, func(a, b T) T { return a | b }) }
func ReduxXor[T Int](out, x []T) { Redux(out, x, func(a, b T) T { return a ^ b }) }
