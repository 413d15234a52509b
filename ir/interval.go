package ir

import (
	"math"
	"math/bits"
)

// interval is a range of integers with both ends; the ends of int64 stand for "no bound".
type interval struct{ lo, hi int64 }

const (
	noLow  = math.MinInt64
	noHigh = math.MaxInt64
)

var everything = interval{noLow, noHigh}

func typeInterval(t Type) interval {
	if !t.IsInt() {
		return everything
	}
	lo, hi := IntRange(t.Elem)
	if t == U64 { // its upper half has no place in an int64
		return everything
	}
	return interval{lo, hi}
}

func (a interval) in(b interval) bool { return b.lo <= a.lo && a.hi <= b.hi }
func (a interval) and(b interval) interval {
	return interval{max(a.lo, b.lo), min(a.hi, b.hi)}
}
func (a interval) or(b interval) interval { return interval{min(a.lo, b.lo), max(a.hi, b.hi)} }

func (a interval) add(b interval) interval {
	out := everything
	if s, ok := exactSum(a.lo, b.lo); ok && a.lo != noLow && b.lo != noLow {
		out.lo = s
	}
	if s, ok := exactSum(a.hi, b.hi); ok && a.hi != noHigh && b.hi != noHigh {
		out.hi = s
	}
	return out
}

func exactSum(a, b int64) (int64, bool) {
	s := a + b
	return s, (a < 0) != (b < 0) || (s < 0) == (a < 0)
}

func (a interval) mul(b interval) interval {
	out := interval{noHigh, noLow}
	for _, x := range [2]int64{a.lo, a.hi} {
		for _, y := range [2]int64{b.lo, b.hi} {
			v := saturatedMul(x, y)
			out.lo, out.hi = min(out.lo, v), max(out.hi, v)
		}
	}
	return out
}

// saturatedMul multiplies ends; beyond int64 there is no bound.
func saturatedMul(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	switch {
	case hi == 0 && lo < math.MaxInt64 && a != noLow && b != noLow:
		return a * b
	case (a < 0) == (b < 0):
		return noHigh
	}
	return noLow
}

// interval is the range of p that follows from the ranges of its atoms alone.
func (f *Facts) interval(p Poly) interval {
	if !p.known() {
		return everything
	}
	out := interval{}
	for _, t := range p {
		v := interval{t.coef, t.coef}
		for _, x := range t.of {
			if x == 0 {
				break
			}
			v = v.mul(f.atoms[x].interval)
		}
		out = out.add(v)
	}
	return out
}
