package ir

import "math/bits"

// Linear algebra over F2: a vector is a word, addition is XOR, and a matrix is the list of its columns.

// basis is a set of independent vectors, each with the columns that it is the sum of. No two have the same highest bit.
type basis struct {
	vecs []uint64
	from []uint64
}

// reduce subtracts what the basis spans from v. The second result says which columns that took.
func (b *basis) reduce(v uint64) (rest, from uint64) {
	for i, w := range b.vecs {
		if v>>(bits.Len64(w)-1)&1 != 0 {
			v ^= w
			from ^= b.from[i]
		}
	}
	return v, from
}

// add puts column number n into the basis, if it is independent of it.
func (b *basis) add(v uint64, n int) {
	v, from := b.reduce(v)
	if v == 0 {
		return
	}
	i := 0
	for i < len(b.vecs) && b.vecs[i] > v {
		i++
	}
	b.vecs = append(b.vecs, 0)
	b.from = append(b.from, 0)
	copy(b.vecs[i+1:], b.vecs[i:])
	copy(b.from[i+1:], b.from[i:])
	b.vecs[i], b.from[i] = v, from^1<<n
}

func newBasis(cols []uint64) *basis {
	b := &basis{}
	for n, c := range cols {
		b.add(c, n)
	}
	return b
}

// rank is the number of independent columns.
func rank(cols []uint64) int { return len(newBasis(cols).vecs) }

// solve writes v as a sum of columns; columns in front are taken first. The result has a bit for each column.
func (b *basis) solve(v uint64) (from uint64, ok bool) {
	rest, from := b.reduce(v)
	return from, rest == 0
}

const allPlaces = 1<<(GridBits+1) - 1

// columns are the bits of the places in a set as vectors: what each adds to the subscripts, packed one behind the other, axis 0
// lowest.
func (l *Layout) columns(places int) []uint64 {
	return l.columnsOver(places, l.Axes, l.widths())
}

// columnsOver packs the subscripts in the order of axes, with the width of each; other axes are left out.
func (l *Layout) columnsOver(places int, axes []string, widths []int) []uint64 {
	shift := make([]int, len(l.Axes))
	for a, name := range l.Axes {
		shift[a] = -1
		at := 0
		for i, other := range axes {
			if other == name {
				shift[a] = at
			}
			at += widths[i]
		}
	}
	var out []uint64
	for p, list := range l.Bits {
		if places>>p&1 == 0 {
			continue
		}
		for _, b := range list {
			var c uint64
			for a, step := range b.To {
				if shift[a] >= 0 {
					c ^= uint64(step) << shift[a]
				}
			}
			out = append(out, c)
		}
	}
	return out
}
