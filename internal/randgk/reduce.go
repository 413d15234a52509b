package randgk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gkc-lang/gkc/ir"
)

// mostWork bounds how often the innermost expression of a statement is computed.
const mostWork = 3000

// bind opens the scope of a binder; nil if there is nothing to range over that is small enough.
func (g *gen) bind() *index {
	if len(g.scope) > 7 {
		return nil
	}
	name, fixed := g.indexName(), g.fixed()
	for range 4 {
		v := &index{name: name}
		g.unfix(fixed)
		switch c := g.IntN(100); {
		case c < 70:
			if t := pick(g, g.tensors); len(t.axes) > 0 {
				v.axis = pick(g, t.axes)
			} else {
				continue
			}
		case c < 80:
			v.axis = axis{hi: 1 + g.Int64N(4)}
		case c < 88:
			v.axis = axis{base: pick(g, g.names)}
			v.fixed = true
			v.lo, v.hi = "0", g.below(v.axis)
		case c < 94:
			if !g.dataRange(v) {
				continue
			}
		default:
			v.axis = axis{base: pick(g, g.names), lo: 1, hi: -g.Int64N(2)}
		}
		v.count = g.extent(v.axis)
		if v.data {
			v.count = 4
		}
		if g.cost*max(1, v.count) <= mostWork {
			g.cost *= max(1, v.count)
			g.depth++
			g.scope = append(g.scope, v)
			return v
		}
	}
	g.unfix(fixed)
	return nil
}

// below is an end for a range inside an axis from 0.
func (g *gen) below(a axis) string {
	for _, v := range g.scope {
		if v.axis == a && !v.data && g.chance(70) {
			if v.fixed {
				return pick(g, []string{v.name, v.name + " + 1"})
			}
		}
	}
	return pick(g, []string{fmt.Sprintf("min(%s, 3)", a.end()), fmt.Sprintf("%s / 2", a.end()), fmt.Sprintf("(%s + 1) / 2", a.end())})
}

// dataRange gives v a range that a tensor of indices holds, if there is one that can be read here.
func (g *gen) dataRange(v *index) bool {
	for _, t := range g.tensors {
		if t.indexOf == (axis{}) || !t.exact {
			continue
		}
		read := g.read(t, false)
		v.data, v.fixed, v.axis = true, true, axis{}
		v.lo, v.hi = "0", read
		if g.chance(40) {
			v.lo, v.hi = read, g.read(t, false)
		}
		return true
	}
	return false
}

func (g *gen) unbind(v *index) {
	g.cost /= max(1, v.count)
	g.depth--
	g.scope = slices.DeleteFunc(g.scope, func(x *index) bool { return x == v })
}

// condition is the where of a list of binders, mostly none.
func (g *gen) condition() string {
	if !g.chance(30) {
		return ""
	}
	return " where " + g.exactly(func() expr { return g.truth(1 + g.IntN(2)) }).text
}

func (g *gen) reduction(k kind, depth int) expr {
	if k == integer && g.chance(40) {
		return g.position(depth)
	}
	vs := g.binders(1 + g.IntN(2))
	if len(vs) == 0 {
		return g.leaf(k)
	}
	cond := g.condition()
	body := g.noLiteral(g.number(k, depth-1))
	ops := []string{"sum", "sum", "sum", "max", "min", "prod"}
	if k == floating && g.strict {
		ops = []string{"max", "min"}
	} else if k == floating {
		ops = append(ops, "mean", "var", "logsumexp")
	}
	op := pick(g, ops)
	list := g.close(vs)
	out := expr{typ: computed(body.typ), exact: body.exact && (k == integer || op == "max" || op == "min")}
	if op == "sum" && g.chance(12) {
		wide := pick(g, map[kind][]string{integer: {"i64"}, floating: {"f64", "f32"}}[k])
		list[0] += ": " + wide
		out.typ, _ = ir.TypeByName(wide)
	}
	if op == "max" || op == "min" {
		out.typ = body.typ
	}
	out.text = fmt.Sprintf("%s[%s%s](%s)", op, strings.Join(list, ", "), cond, body.text)
	return out
}

func (g *gen) binders(n int) (vs []*index) {
	for range n {
		if v := g.bind(); v != nil {
			vs = append(vs, v)
		}
	}
	return vs
}

// close ends the scope of binders and writes them. Where one stands in the range of the next, their order is theirs.
func (g *gen) close(vs []*index) []string {
	list := make([]string, len(vs))
	for i, v := range vs {
		list[i] = g.binder(v)
	}
	for _, v := range slices.Backward(vs) {
		g.unbind(v)
	}
	return list
}

// position is a reduction whose value counts elements, or says where one is.
func (g *gen) position(depth int) expr {
	rank := ""
	if g.chance(30) {
		rank = pick(g, []string{"0", "1", "2"})
		if len(g.scope) > 0 && g.chance(50) {
			rank = pick(g, g.scope).name
		}
	}
	v := g.bind()
	if v == nil {
		return g.leaf(integer)
	}
	cond := g.condition()
	form, body := "", expr{}
	switch c := g.IntN(3); {
	case c == 0:
		form = "count[%s%s](%s)"
		body = g.exactly(func() expr { return g.truth(depth - 1) })
	default:
		form = pick(g, []string{"argmax", "argmin"}) + "[%s%s](%s)"
		if rank != "" && v.count <= 12 {
			form = "argtop[%s%s](%s, " + rank + ")"
		}
		body = g.exactly(func() expr { return g.noLiteral(g.number(pick(g, []kind{integer, floating}), depth-1)) })
	}
	list := g.close([]*index{v})
	return expr{text: fmt.Sprintf(form, list[0], cond, body.text), typ: ir.I64, exact: true}
}

func (g *gen) boolReduction(depth int) expr {
	vs := g.binders(1)
	if len(vs) == 0 {
		return g.simpleTruth()
	}
	cond := g.condition()
	body := g.truth(depth - 1)
	list := g.close(vs)
	op := pick(g, []string{"any", "all"})
	return expr{text: fmt.Sprintf("%s[%s%s](%s)", op, strings.Join(list, ", "), cond, body.text), typ: ir.Bool_, exact: body.exact}
}

// scan reduces over an index of the left-hand side, up to where it is; or normalizes over it.
func (g *gen) scan(k kind, depth int) expr {
	v := pick(g, g.left)
	if g.cost*max(1, v.count) > mostWork || !slices.Contains(g.scope, v) {
		return g.leaf(k)
	}
	left := g.left
	g.left = nil
	g.cost *= max(1, v.count)
	g.depth++
	defer func() {
		g.left = left
		g.cost /= max(1, v.count)
		g.depth--
	}()
	if k == floating && !g.strict && g.chance(45) {
		fixed := v.fixed
		v.fixed = false // the reductions inside want a range of their own
		e := g.normalization(v, depth)
		v.fixed = v.fixed || fixed
		return e
	}
	flags := pick(g, []string{"", "", " reverse", " exclusive", " reverse exclusive"})
	cond := g.condition()
	fixed := v.fixed
	v.fixed = v.fixed && g.chance(20) // mostly it gets its range here too
	body := g.noLiteral(g.number(k, depth-1))
	binder := g.binder(v)
	v.fixed = v.fixed || fixed
	op := pick(g, []string{"cumsum", "cumsum", "cumprod", "cummax", "cummin"})
	out := expr{text: fmt.Sprintf("%s[%s%s%s](%s)", op, binder, flags, cond, body.text), typ: computed(body.typ)}
	out.exact = body.exact && (k == integer || op == "cummax" || op == "cummin")
	return out
}

func (g *gen) normalization(v *index, depth int) expr {
	cond := g.condition()
	body := g.noLiteral(g.number(floating, depth-1))
	form := pick(g, []string{"softmax[%s%s](%s)", "softmax[%s%s](%s)", "layernorm[%s%s](%s, 1e-2)", "rmsnorm[%s%s](%s, 1e-2)", "l2norm[%s%s](%s, 1e-2)"})
	if len(g.binderFns) > 0 && g.chance(40) {
		form = pick(g, g.binderFns) + "[%s%s](%s)"
	}
	return expr{text: fmt.Sprintf(form, g.binder(v), cond, body.text), typ: computed(body.typ)}
}
