package randgk

import (
	"fmt"
	"strconv"
)

// axis is what an index may range over, or a dimension: lo up to base + hi. An empty base is 0.
type axis struct {
	base   string
	lo, hi int64
}

func (a axis) end() string {
	switch {
	case a.base == "":
		return strconv.FormatInt(a.hi, 10)
	case a.hi > 0:
		return fmt.Sprintf("%s + %d", a.base, a.hi)
	case a.hi < 0:
		return fmt.Sprintf("%s - %d", a.base, -a.hi)
	}
	return a.base
}

// index is an index in scope.
type index struct {
	name   string
	axis   axis
	data   bool   // its range comes from data: nothing is known of it
	lo, hi string // a range inside the axis that is written down
	fixed  bool   // something gives it its range already
	wordy  bool   // its range must be written down
	count  int64  // how many values it takes, about
}

func (v *index) rangeText() string {
	if v.lo != "" {
		return v.lo + ".." + v.hi
	}
	return fmt.Sprintf("%d..%s", v.axis.lo, v.axis.end())
}

// binder is the index as a reduction or for writes it: with its range if nothing else gives it one, or for a change.
func (g *gen) binder(v *index) string {
	if v.lo == "" && !v.data && v.fixed && !v.wordy && g.chance(80) && !v.axis.shifted() {
		return v.name
	}
	return v.name + " in " + v.rangeText()
}

func (a axis) shifted() bool { return a.lo != 0 }

func (g *gen) sizeOf(base string) int64 {
	if base == "" {
		return 0
	}
	if n, ok := g.sizes[base]; ok {
		return n
	}
	if half, ok := g.halves[base]; ok {
		return g.sizes[half] / 2
	}
	return 0
}

func (g *gen) extent(a axis) int64 { return max(0, g.sizeOf(a.base)+a.hi-a.lo) }

// place is an index expression for a dimension; ok is false if nothing in scope is known to stay inside it.
func (g *gen) place(a axis) (text string, ok bool) {
	type choice struct {
		text  string
		v     *index // it stands alone
		wordy bool   // in a dimension that is not its own
	}
	take := func(c choice) string {
		if c.v != nil {
			c.v.fixed, c.v.wordy = true, c.v.wordy || c.wordy
		}
		return c.text
	}
	var choices []choice
	nonempty := false
	for _, v := range g.scope {
		if v.data {
			continue
		}
		if v.axis == a || v.axis.base == a.base && v.axis.lo >= a.lo && v.axis.hi <= a.hi {
			nonempty = true
		}
		if v.axis == a {
			choices = append(choices, choice{v.name, v, false}, choice{v.name, v, false}, choice{v.name, v, false})
		}
		if !v.fixed && v.lo == "" {
			continue
		}
		if v.axis.base == a.base && a != v.axis {
			for c := int64(-2); c <= 2; c++ {
				if v.axis.lo+c >= a.lo && v.axis.hi+c <= a.hi {
					alone := v
					if c != 0 {
						alone = nil
					}
					choices = append(choices, choice{shifted(v.name, c), alone, true})
				}
			}
		}
		if v.axis == a && a.lo == 0 {
			choices = append(choices, choice{fmt.Sprintf("%s - 1 - %s", a.end(), v.name), nil, false})
		}
		if g.halves[v.axis.base] == a.base && a.base != "" && v.axis.lo == 0 && v.axis.hi == 0 && a.lo == 0 && a.hi >= 0 {
			choices = append(choices, choice{fmt.Sprintf("2 * %s + %d", v.name, g.IntN(2)), nil, false})
		}
		if half := g.halves[a.base]; half != "" && half == v.axis.base && g.even[half] && v.axis.lo == 0 && v.axis.hi <= 0 && a.lo == 0 && a.hi >= 0 {
			choices = append(choices, choice{v.name + " / 2", nil, false})
		}
	}
	if len(choices) > 0 && g.chance(85) {
		return take(pick(g, choices)), true
	}
	if a.base == "" && a.hi > a.lo && g.chance(60) {
		return strconv.FormatInt(a.lo+g.Int64N(a.hi-a.lo), 10), true
	}
	if nonempty && g.nodes < mostNodes && g.chance(40) {
		if a.lo == 0 && a.hi == 0 && g.chance(50) {
			return fmt.Sprintf("mod(%s, %s)", g.exactInt(1), a.base), true
		}
		return fmt.Sprintf("clamp(%s, %d, %s - 1)", g.exactInt(1), a.lo, a.end()), true
	}
	if text := g.dataIndex(a); text != "" {
		return text, true
	}
	if len(choices) > 0 {
		return take(pick(g, choices)), true
	}
	return "", false
}

// fixed and unfix take back that accesses gave indices their ranges.
func (g *gen) fixed() []bool {
	out := make([]bool, len(g.scope))
	for i, v := range g.scope {
		out[i] = v.fixed
	}
	return out
}

func (g *gen) unfix(fixed []bool) {
	for i, v := range g.scope {
		v.fixed = fixed[i]
	}
}

func shifted(name string, c int64) string {
	switch {
	case c > 0:
		return fmt.Sprintf("%s + %d", name, c)
	case c < 0:
		return fmt.Sprintf("%s - %d", name, -c)
	}
	return name
}

// dataIndex is an index that comes from data, and is mostly inside; empty if there is none.
func (g *gen) dataIndex(a axis) string {
	if g.depth > 3 || g.nodes > 2*mostNodes {
		return ""
	}
	for _, v := range g.scope {
		if v.data && g.chance(60) {
			return v.name
		}
	}
	for _, i := range g.Perm(len(g.tensors)) {
		t := g.tensors[i]
		if t.indexOf != a || t.indexOf == (axis{}) {
			continue
		}
		g.depth++
		read := g.read(t, false)
		g.depth--
		return read
	}
	return ""
}
