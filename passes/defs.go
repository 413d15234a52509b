package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// rewriteDef applies f to every expression of a definition that is evaluated for its elements, and returns the definition with
// the results. Ranges of a Map, a Recur or a Check use scalars only and stay.
func rewriteDef(d tensor.Def, f func(*ir.Expr) *ir.Expr) tensor.Def {
	switch d := d.(type) {
	case *tensor.Map:
		out := *d
		out.Body = f(d.Body)
		return &out
	case *tensor.Scatter:
		out := *d
		out.Free = make([]ir.Span, len(d.Free))
		for i, s := range d.Free {
			out.Free[i] = ir.Span{Axis: s.Axis, Lo: f(s.Lo), Hi: f(s.Hi)}
		}
		out.At = mapAll(d.At, f)
		if d.Guard != nil {
			out.Guard = f(d.Guard)
		}
		out.Body = f(d.Body)
		return &out
	case *tensor.Recur:
		out := *d
		out.Bodies = mapAll(d.Bodies, f)
		return &out
	case *tensor.Check:
		out := *d
		out.Fault = f(d.Fault)
		return &out
	}
	panic("passes: unknown definition")
}

func mapAll(list []*ir.Expr, f func(*ir.Expr) *ir.Expr) []*ir.Expr {
	out := make([]*ir.Expr, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// readsOf calls f for every tensor that a definition reads.
func readsOf(d tensor.Def, f func(*tensor.Tensor)) {
	seen := map[*tensor.Tensor]bool{}
	note := func(t *tensor.Tensor) {
		if t != nil && !seen[t] {
			seen[t] = true
			f(t)
		}
	}
	rewriteDef(d, func(x *ir.Expr) *ir.Expr {
		ir.Walk(x, func(y *ir.Expr) {
			if y.Op == ir.OpRead {
				note(y.Ref.(tensor.Read).Of)
			}
		})
		return x
	})
	switch d := d.(type) {
	case *tensor.Scatter:
		note(d.Init)
	case *tensor.Recur:
		for _, t := range d.From {
			note(t)
		}
	}
}

// copyProgram returns a program whose lists can be changed.
func copyProgram(p *tensor.Program) *tensor.Program {
	out := *p
	out.Temps = append([]*tensor.Tensor(nil), p.Temps...)
	out.Defs = append([]tensor.Def(nil), p.Defs...)
	out.Sites = append([]ir.Site(nil), p.Sites...)
	return &out
}

// dropUnused drops definitions that no result and no check needs.
func dropUnused(u *Unit) error {
	p := copyProgram(u.Tensor)
	needed := map[*tensor.Tensor]bool{}
	for _, r := range p.Results {
		needed[r] = true
	}
	var kept []tensor.Def
	for i := len(p.Defs) - 1; i >= 0; i-- {
		d := p.Defs[i]
		_, use := d.(*tensor.Check)
		for _, t := range d.Outs() {
			use = use || needed[t]
		}
		if !use {
			continue
		}
		for _, t := range d.Outs() {
			needed[t] = true
		}
		readsOf(d, func(t *tensor.Tensor) { needed[t] = true })
		kept = append(kept, d)
	}
	p.Defs = p.Defs[:0]
	for i := len(kept) - 1; i >= 0; i-- {
		p.Defs = append(p.Defs, kept[i])
	}
	temps := p.Temps[:0]
	for _, t := range p.Temps {
		if needed[t] {
			temps = append(temps, t)
		}
	}
	p.Temps = temps
	u.Tensor = p
	return nil
}

// namer makes names for tensors that a program does not have yet.
type namer map[string]bool

func namesOf(p *tensor.Program) namer {
	n := namer{}
	for _, list := range [][]*tensor.Tensor{p.Params, p.Results, p.Temps} {
		for _, t := range list {
			n[t.Name] = true
		}
	}
	for _, s := range p.Scalars {
		n[s.Name] = true
	}
	return n
}

func (n namer) fresh(base string) string {
	name := base
	for i := 1; n[name]; i++ {
		name = base + "." + itoa(i)
	}
	n[name] = true
	return name
}

// numbered makes base.1, base.2, ….
func (n namer) numbered(base string) string {
	for i := 1; ; i++ {
		if name := base + "." + itoa(i); !n[name] {
			n[name] = true
			return name
		}
	}
}

// sortBy sorts by a rank.
func sortBy(axes []*ir.Axis, rank map[*ir.Axis]int) {
	slices.SortFunc(axes, func(a, b *ir.Axis) int { return rank[a] - rank[b] })
}
