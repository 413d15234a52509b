package ir

import (
	"math/bits"
	"slices"
)

// Poly is an integer expression in canonical form: a sum of products of atoms with integer coefficients. Atoms are whatever is
// no sum and no product (sizes, indices, quotients, data); the Facts that made a Poly know them. Polys are values of the
// integers without bound: nothing wraps. They are immutable.
type Poly []term

// term is a coefficient times a product. The terms of a Poly fall in order; the constant comes last.
type term struct {
	of   product
	coef int64
}

// atom is a number of a row in Facts.
type atom uint16

// product is a product of atoms, the later ones first; the free places hold 0, which is no atom.
type product [maxDegree]atom

// Limits beyond which a Poly is unknown: nothing can be proven of it, and no effort is wasted on it.
const (
	maxDegree = 6
	maxTerms  = 64
	maxCoef   = 1 << 56
)

// unknown is a Poly that is too large to be followed.
var unknown = Poly{{}}

func (p Poly) known() bool { return len(p) == 0 || p[0].coef != 0 }

func constPoly(n int64) Poly {
	switch {
	case n == 0:
		return nil
	case n > maxCoef || n < -maxCoef:
		return unknown
	}
	return Poly{{coef: n}}
}

func atomPoly(a atom) Poly { return Poly{{of: product{a}, coef: 1}} }

// constant is the value of a Poly without atoms.
func (p Poly) constant() (int64, bool) {
	switch {
	case len(p) == 0:
		return 0, true
	case len(p) == 1 && p[0].of == product{} && p.known():
		return p[0].coef, true
	}
	return 0, false
}

// single is the atom of a Poly that is nothing else.
func (p Poly) single() (atom, bool) {
	if len(p) == 1 && p[0].coef == 1 && p[0].of[0] != 0 && p[0].of[1] == 0 {
		return p[0].of[0], true
	}
	return 0, false
}

func (p Poly) equal(q Poly) bool { return slices.Equal(p, q) }

// falling orders products so that terms with later atoms come first. It agrees with multiplication.
func falling(a, b product) int { return slices.Compare(b[:], a[:]) }

// plus is p + scale * q.
func (p Poly) plus(scale int64, q Poly) Poly {
	switch {
	case !p.known() || !q.known():
		return unknown
	case len(q) == 0 || scale == 0:
		return p
	case len(p) == 0 && scale == 1:
		return q
	}
	out := make(Poly, 0, len(p)+len(q))
	i, j := 0, 0
	for i < len(p) || j < len(q) {
		order := 0
		switch {
		case i == len(p):
			order = 1
		case j == len(q):
			order = -1
		default:
			order = falling(p[i].of, q[j].of)
		}
		if order < 0 {
			out = append(out, p[i])
			i++
			continue
		}
		c, ok := timesCoef(scale, q[j].coef)
		t := term{q[j].of, c}
		j++
		if order == 0 {
			t.coef += p[i].coef
			i++
		}
		if !ok || t.coef > maxCoef || t.coef < -maxCoef {
			return unknown
		}
		if t.coef != 0 {
			out = append(out, t)
		}
	}
	if len(out) > maxTerms {
		return unknown
	}
	return out
}

func (p Poly) minus(q Poly) Poly     { return p.plus(-1, q) }
func (p Poly) shift(n int64) Poly    { return p.plus(1, constPoly(n)) }
func (p Poly) times(n int64) Poly    { return Poly(nil).plus(n, p) }
func (p Poly) negative() Poly        { return p.times(-1) }
func (p Poly) below(bound Poly) Poly { return bound.minus(p).shift(-1) } // >= 0 where p < bound

func timesCoef(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	if hi != 0 || lo > maxCoef {
		return 0, false
	}
	return a * b, true
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// mul is p * q.
func (p Poly) mul(q Poly) Poly {
	if !p.known() || !q.known() || len(p)*len(q) > 4*maxTerms {
		return unknown
	}
	if n, ok := q.constant(); ok {
		return p.times(n)
	}
	if n, ok := p.constant(); ok {
		return q.times(n)
	}
	out := make(Poly, 0, len(p)*len(q))
	for _, a := range p {
		for _, b := range q {
			of, fits := a.of.mul(b.of)
			c, small := timesCoef(a.coef, b.coef)
			if !fits || !small {
				return unknown
			}
			out = append(out, term{of, c})
		}
	}
	return out.collect()
}

// collect sorts terms and adds those of one product.
func (p Poly) collect() Poly {
	slices.SortFunc(p, func(a, b term) int { return falling(a.of, b.of) })
	out := p[:0]
	for _, t := range p {
		if n := len(out); n > 0 && out[n-1].of == t.of {
			out[n-1].coef += t.coef
		} else {
			out = append(out, t)
		}
		last := &out[len(out)-1]
		if last.coef > maxCoef || last.coef < -maxCoef {
			return unknown
		}
	}
	out = slices.DeleteFunc(out, func(t term) bool { return t.coef == 0 })
	if len(out) > maxTerms {
		return unknown
	}
	return out
}

func (a product) mul(b product) (out product, fits bool) {
	i, j := 0, 0
	for k := range out {
		if i < maxDegree && (j == maxDegree || a[i] >= b[j]) {
			out[k] = a[i]
			i++
		} else {
			out[k] = b[j]
			j++
		}
	}
	return out, (i == maxDegree || a[i] == 0) && (j == maxDegree || b[j] == 0)
}

// over is a / b, if b divides a.
func (a product) over(b product) (out product, ok bool) {
	k, j := 0, 0
	for _, x := range a {
		if j < maxDegree && b[j] != 0 && b[j] == x {
			j++
			continue
		}
		out[k] = x
		k++
	}
	return out, j == maxDegree || b[j] == 0
}

func (a product) degree() int {
	n := 0
	for n < maxDegree && a[n] != 0 {
		n++
	}
	return n
}

func (a product) count(x atom) int {
	n := 0
	for _, y := range a {
		if y == x {
			n++
		}
	}
	return n
}

// split writes p as c * x + rest, where x is not in rest; linear is false where it is in c.
func (p Poly) split(x atom) (c, rest Poly, linear bool) {
	linear = true
	for _, t := range p {
		n := t.of.count(x)
		if n == 0 {
			rest = append(rest, t)
			continue
		}
		linear = linear && n == 1
		t.of, _ = t.of.over(product{x})
		c = append(c, t)
	}
	return c, rest, linear
}

// replace puts q in the place of x.
func (p Poly) replace(x atom, q Poly) Poly {
	out := make(Poly, 0, len(p))
	var changed Poly
	for _, t := range p {
		n := t.of.count(x)
		if n == 0 {
			out = append(out, t)
			continue
		}
		for range n {
			t.of, _ = t.of.over(product{x})
		}
		part := Poly{t}
		for range n {
			part = part.mul(q)
		}
		changed = changed.plus(1, part)
	}
	return out.plus(1, changed)
}

// atoms lists the atoms of p, each once, the later ones first.
func (p Poly) atoms() []atom {
	out := make([]atom, 0, 8)
	for _, t := range p {
		for _, x := range t.of[:t.of.degree()] {
			if !slices.Contains(out, x) {
				out = append(out, x)
			}
		}
	}
	return out
}

// has reports whether x occurs in p.
func (p Poly) has(x atom) bool {
	for _, t := range p {
		if t.of.count(x) > 0 {
			return true
		}
	}
	return false
}

// divide writes p as q * whole + rest, for a q of one term. Terms go into whole where q divides them.
func (p Poly) divide(q Poly) (whole, rest Poly) {
	if len(q) != 1 || !q.known() || !p.known() {
		return nil, p
	}
	for _, t := range p {
		of, ok := t.of.over(q[0].of)
		if ok && t.coef%q[0].coef == 0 {
			whole = append(whole, term{of, t.coef / q[0].coef})
			continue
		}
		if n := floorDivide(t.coef, q[0].coef); ok && of == (product{}) && n != 0 {
			whole = append(whole, term{of, n})
			t.coef -= n * q[0].coef
		}
		rest = append(rest, t)
	}
	return whole, rest
}

// ratio is p / q where that is a Poly.
func (p Poly) ratio(q Poly) (out Poly, ok bool) {
	if len(q) == 0 || !p.known() || !q.known() {
		return nil, false
	}
	for len(p) > 0 {
		of, divides := p[0].of.over(q[0].of)
		if !divides || p[0].coef%q[0].coef != 0 || len(out) >= maxTerms {
			return nil, false
		}
		t := term{of, p[0].coef / q[0].coef}
		out = append(out, t)
		if p = p.minus(q.mul(Poly{t})); !p.known() {
			return nil, false
		}
	}
	return out, true
}

// content is the greatest common divisor of the coefficients of atoms; 0 if there are none.
func (p Poly) content() int64 {
	g := uint64(0)
	for _, t := range p {
		if t.of != (product{}) {
			g = gcd(g, magnitude(t.coef))
		}
	}
	return int64(g)
}

// tight divides an inequality p >= 0 by its content; the constant is rounded down, since everything is whole.
func (p Poly) tight() Poly {
	g := p.content()
	if g <= 1 {
		return p
	}
	return p.quotient(g)
}

// quotient divides the coefficients by n, rounding them down.
func (p Poly) quotient(n int64) Poly {
	out := make(Poly, 0, len(p))
	for _, t := range p {
		if t.coef = floorDivide(t.coef, n); t.coef != 0 {
			out = append(out, t)
		}
	}
	return out
}

// remainder is what n leaves of the constant.
func (p Poly) remainder(n int64) int64 {
	if k := len(p) - 1; k >= 0 && p[k].of == (product{}) {
		return p[k].coef % n
	}
	return 0
}

func (p Poly) hash() uint64 {
	h := uint64(len(p))
	for _, t := range p {
		for i := 0; i < maxDegree && t.of[i] != 0; i++ {
			h = mix(h, uint64(t.of[i]))
		}
		h = mix(h, uint64(t.coef))
	}
	return h
}

func mix(h, x uint64) uint64 {
	h = (h ^ x) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// floorDivide rounds down; b is not 0.
func floorDivide(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
