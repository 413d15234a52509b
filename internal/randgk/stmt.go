package randgk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gkc-lang/gkc/ir"
)

func (g *gen) statement() {
	switch k := g.IntN(100); {
	case k < 58:
		g.define(g.chance(45))
	case k < 72:
		g.scatter()
	case k < 90:
		g.recur()
	default:
		g.inPlace()
	}
}

// enter opens a scope with the indices of a left-hand side.
func (g *gen) enter(axes []axis, fixed bool) []*index {
	g.scope, g.left, g.cost, g.nodes = nil, nil, 1, 0
	for _, a := range axes {
		v := &index{name: g.indexName(), axis: a, fixed: fixed, count: g.extent(a)}
		g.scope = append(g.scope, v)
		g.cost *= max(1, v.count)
	}
	g.left = slices.Clone(g.scope)
	return g.left
}

var indexNames = strings.Split("i j k l m n o p q r t u v x y z", " ")

func (g *gen) indexName() string {
	for {
		name := pick(g, indexNames)
		if !slices.ContainsFunc(g.scope, func(v *index) bool { return v.name == name }) {
			return name
		}
	}
}

func subscripts(vs []*index) string {
	if len(vs) == 0 {
		return ""
	}
	list := make([]string, len(vs))
	for i, v := range vs {
		list[i] = v.name
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// ranges is the for of the indices that need one.
func (g *gen) ranges(vs []*index) string {
	var list []string
	for _, v := range vs {
		if !v.fixed || v.wordy || v.axis.shifted() || g.chance(5) {
			list = append(list, v.name+" in "+v.rangeText())
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " for " + strings.Join(list, ", ")
}

// intermediateAxes may also be cut at their ends.
func (g *gen) intermediateAxes() []axis {
	axes := g.shape(2)
	for i, a := range axes {
		if a.base != "" && g.chance(15) {
			axes[i].lo, axes[i].hi = 1, a.hi-g.Int64N(2)
		}
	}
	if g.chance(8) {
		return nil
	}
	return axes
}

func (g *gen) define(result bool) {
	t := pick(g, dtypes)
	axes := g.shape(3)
	if result && g.chance(8) {
		axes = nil
	}
	if !result {
		axes = g.intermediateAxes()
	}
	vs := g.enter(axes, result)
	e := g.value(t)
	out := &array{name: g.fresh("t"), axes: axes, exact: e.exact}
	g.finish(out, result, t, e)
	g.body = append(g.body, fmt.Sprintf("%s%s%s = %s%s", out.name, subscripts(vs), g.rounding(out, result, e.typ), e.text, g.ranges(vs)))
	g.tensors = append(g.tensors, out)
}

// finish settles the type of what a statement defines, and lists a result.
func (g *gen) finish(out *array, result bool, t ir.Type, e expr) {
	out.typ = t
	if result {
		out.name = strings.ToUpper(out.name)
		g.results = append(g.results, fmt.Sprintf("%s: %s%s", out.name, t, bracketed(out.axes)))
		return
	}
	if t.IsBool() != e.typ.IsBool() || e.typ.IsBool() || g.chance(50) {
		out.typ = e.typ
	}
	if out.typ != e.typ && out.typ.IsFloat() && !e.exact && g.chance(50) {
		out.typ = e.typ
	}
}

func bracketed(axes []axis) string {
	if len(axes) == 0 {
		return ""
	}
	return "[" + extents(axes) + "]"
}

func (g *gen) rounding(out *array, result bool, t ir.Type) string {
	if result && g.chance(80) || !result && out.typ == t {
		return ""
	}
	return ": " + out.typ.String()
}

// value is an expression for an element of type t.
func (g *gen) value(t ir.Type) expr {
	if t.IsBool() {
		return g.truth(3)
	}
	want := floating
	if t.IsInt() && !g.chance(10) {
		want = integer
	} else if t.IsFloat() && g.chance(15) {
		want = integer
	}
	return g.number(want, 2+g.IntN(3))
}

func (g *gen) scatter() {
	t := pick(g, dtypes)
	for t.IsBool() {
		t = pick(g, dtypes)
	}
	out := &array{name: g.fresh("t"), axes: g.shape(2), typ: t}
	op := pick(g, []string{"+=", "+=", "max=", "min="})
	result := g.chance(55)
	vs := g.enter(g.shape(2), false)
	g.left = nil
	places, edge, fixed := make([]string, len(out.axes)), "", g.fixed()
	for d, a := range out.axes {
		text, ok := g.place(a)
		if !ok || g.chance(8) {
			text, edge = g.exactInt(1), "@"+pick(g, []string{"zero", "clamp", "wrap", "mirror"})
		}
		places[d] = text
	}
	if edge != "" {
		g.unfix(fixed)
	}
	want := floating
	if t.IsInt() {
		want = integer
	}
	e := g.number(want, 2)
	out.exact = e.exact && (op != "+=" || !t.IsFloat() && e.typ.IsInt())
	for _, v := range vs {
		if !uses(strings.Join(places, " ")+" "+e.text, v.name) {
			v.fixed = false
		}
	}
	if result {
		out.name = strings.ToUpper(out.name)
		g.results = append(g.results, fmt.Sprintf("%s: %s[%s]", out.name, t, extents(out.axes)))
	} else {
		g.body = append(g.body, fmt.Sprintf("%s: %s[%s]", out.name, t, extents(out.axes)))
	}
	g.body = append(g.body, fmt.Sprintf("%s%s[%s] %s %s%s", out.name, edge, strings.Join(places, ", "), op, e.text, g.scatterRanges(vs, strings.Join(places, " ")+" "+e.text)))
	g.tensors = append(g.tensors, out)
}

// scatterRanges leaves out indices that nothing uses: a range of its own for nothing is a mistake.
func (g *gen) scatterRanges(vs []*index, text string) string {
	var used []*index
	for _, v := range vs {
		if uses(text, v.name) {
			used = append(used, v)
		}
	}
	return g.ranges(used)
}

func uses(text, name string) bool {
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_')
	}), name)
}

// inPlace updates a parameter: its name is a result too.
func (g *gen) inPlace() {
	var free []*array
	for _, t := range g.tensors {
		if t.name[0] == 'P' && t.indexOf == (axis{}) && !slices.ContainsFunc(g.results, func(r string) bool { return strings.HasPrefix(r, t.name+":") }) {
			free = append(free, t)
		}
	}
	if len(free) == 0 {
		g.define(true)
		return
	}
	p := pick(g, free)
	g.results = append(g.results, fmt.Sprintf("%s: %s[%s]", p.name, p.typ, extents(p.axes)))
	if !p.typ.IsBool() && g.chance(40) {
		vs := g.enter(g.shape(2), false)
		g.left = nil
		places, edge, fixed := make([]string, len(p.axes)), "", g.fixed()
		for d, a := range p.axes {
			text, ok := g.place(a)
			if !ok {
				text, edge = g.exactInt(1), "@"+pick(g, []string{"zero", "clamp", "wrap", "mirror"})
			}
			places[d] = text
		}
		if edge != "" {
			g.unfix(fixed)
		}
		want := floating
		if p.typ.IsInt() {
			want = integer
		}
		e := g.number(want, 2)
		all := strings.Join(places, " ") + " " + e.text
		g.body = append(g.body, fmt.Sprintf("%s%s[%s] %s %s%s", p.name, edge, strings.Join(places, ", "), pick(g, []string{"+=", "max=", "min="}), e.text, g.scatterRanges(vs, all)))
		return
	}
	vs := g.enter(p.axes, true)
	e := g.value(p.typ)
	g.body = append(g.body, fmt.Sprintf("%s%s = %s%s", p.name, subscripts(vs), e.text, g.ranges(vs)))
}

// recur defines one name, or several that step together, over one axis.
func (g *gen) recur() {
	step := g.anyAxis()
	names := pick(g, []int{1, 1, 1, 2, 2, 3})
	shift := int64(-1)
	if g.chance(30) {
		shift = 1
	}
	axes := []axis{step}
	for range g.IntN(3) {
		axes = append(axes, g.anyAxis())
	}
	if g.elements(axes) > 400 {
		axes = axes[:1]
	}
	at := g.IntN(len(axes))
	axes[0], axes[at] = axes[at], axes[0]
	outs, result := make([]*array, names), make([]bool, names)
	for i := range outs {
		out := &array{name: g.fresh("t"), typ: pick(g, dtypes), axes: axes, step: at, shift: shift}
		if out.typ.IsBool() && g.chance(70) {
			out.typ = ir.F32
		}
		if result[i] = g.chance(40); result[i] {
			out.name = strings.ToUpper(out.name)
		}
		outs[i] = out
	}
	g.selfs = outs
	for i, out := range outs {
		g.behind = i
		g.recurrence(out, outs[(i+1)%names], result[i])
	}
	g.selfs = nil
	g.tensors = append(g.tensors, outs...)
}

func (g *gen) recurrence(out, next *array, result bool) {
	vs := g.enter(out.axes, result)
	g.left = nil
	t := vs[out.step]
	t.fixed = result
	e := g.value(out.typ)
	self := g.selfRead(next, vs)
	if out.typ.IsBool() != next.typ.IsBool() {
		self = fmt.Sprintf("%s(%s)", out.typ, self)
	}
	text := ""
	switch {
	case out.typ.IsBool():
		text = fmt.Sprintf("%s != %s", self, e.text)
	case out.typ.IsInt() && e.typ.IsInt():
		text = fmt.Sprintf("%s %s %s", self, pick(g, []string{"+", "-", "*"}), e.text)
	case out.typ.IsInt():
		text = fmt.Sprintf("%s(%s) + %s", out.typ, e.text, self)
	default:
		text = pick(g, []string{"0.5 * " + self + " + " + e.text, "tanh(" + self + ") * " + e.text, e.text + " - 0.25 * " + self, "max(" + self + ", " + e.text + ")"})
	}
	ty := ": " + out.typ.String()
	if result {
		ty = ""
		g.results = append(g.results, fmt.Sprintf("%s: %s[%s]", out.name, out.typ, extents(out.axes)))
	}
	rest := slices.DeleteFunc(slices.Clone(vs), func(v *index) bool { return v == t })
	selfs := g.selfs
	g.scope, g.selfs = rest, nil
	from := g.startValue(out)
	g.scope, g.selfs = vs, selfs
	g.body = append(g.body, fmt.Sprintf("%s%s%s = %s from %s%s", out.name, subscripts(vs), ty, text, from, g.ranges(vs)))
}

func (g *gen) startValue(out *array) string {
	switch {
	case out.typ.IsBool():
		return g.truth(1).text
	case g.chance(40):
		return "0"
	case out.typ.IsInt():
		return g.number(integer, 2).text
	}
	return g.number(floating, 2).text
}

// selfRead reads a recurring name at the step before, elsewhere at an index of the same dimension.
func (g *gen) selfRead(s *array, vs []*index) string {
	list := make([]string, len(s.axes))
	for d := range s.axes {
		list[d] = vs[d].name
	}
	list[s.step] = shifted(vs[s.step].name, s.shift)
	return s.name + "[" + strings.Join(list, ", ") + "]"
}
