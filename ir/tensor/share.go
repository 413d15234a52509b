package tensor

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/ir"
)

// Limits of one written expression. What exceeds them is cut into lets, so that every program can be read back.
const (
	shareSize = 6    // operations from which a shared expression gets a name; one that binds axes always does
	maxNest   = 60   // calls and brackets inside each other; the reader allows syntax.MaxDepth
	maxChain  = 1000 // operators in a row; the reader allows syntax.MaxChain
)

// names is how the text of one definition calls its axes and its shared expressions.
type names struct {
	axes  map[*ir.Axis]string
	lets  map[*ir.Expr]string
	order []*ir.Expr // of lets, operands first
	taken map[string]bool
	next  map[string]int
	uses  map[*ir.Expr]int
	nest  map[*ir.Expr]int // brackets inside each other, below the last let
	chain map[*ir.Expr]int
	size  map[*ir.Expr]int
	binds map[*ir.Expr]bool // a reduction stands in it
}

func namesOf(p *Program, d Def) *names {
	n := &names{
		axes: map[*ir.Axis]string{}, lets: map[*ir.Expr]string{}, taken: map[string]bool{}, next: map[string]int{},
		uses: map[*ir.Expr]int{}, nest: map[*ir.Expr]int{}, chain: map[*ir.Expr]int{}, size: map[*ir.Expr]int{}, binds: map[*ir.Expr]bool{},
	}
	for _, s := range p.Scalars {
		n.taken[s.Name] = true
	}
	eachSpan(d, func(s ir.Span) { n.axis(s.Axis) })
	exprs := defExprs(d)
	for _, e := range exprs {
		n.count(e)
	}
	for _, e := range exprs {
		n.visit(e)
	}
	return n
}

// fresh is a name that nothing else in the definition has.
func (n *names) fresh(name string) string {
	base := name
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && strings.Trim(name[dot+1:], "0123456789") == "" {
		base = name[:dot]
	}
	for n.taken[name] {
		n.next[base]++
		name = fmt.Sprintf("%s.%d", base, n.next[base])
	}
	n.taken[name] = true
	return name
}

func (n *names) axis(a *ir.Axis) {
	if n.axes[a] == "" {
		n.axes[a] = n.fresh(a.Name)
	}
}

// count counts the places where each expression is used, and names the axes that it binds.
func (n *names) count(e *ir.Expr) {
	if e == nil {
		return
	}
	if n.uses[e]++; n.uses[e] > 1 {
		return
	}
	if r, ok := e.Ref.(*Reduction); ok {
		for _, s := range r.Over {
			n.axis(s.Axis)
		}
	}
	for _, a := range children(e) {
		n.count(a)
	}
}

// visit decides, operands first, which expressions get a name.
func (n *names) visit(e *ir.Expr) {
	if e == nil || n.size[e] > 0 {
		return
	}
	size, nest, chain := 1, 0, 0
	binds := e.Op == OpReduce
	for i, a := range children(e) {
		if a == nil {
			continue
		}
		n.visit(a)
		size = min(size+n.size[a], 1<<30)
		binds = binds || n.binds[a]
		if n.lets[a] != "" {
			continue
		}
		if e.Op.Infix != "" && i == 0 && a.Op.Infix != "" && a.Op.Prec >= e.Op.Prec {
			chain, nest = n.chain[a]+1, max(nest, n.nest[a])
			continue
		}
		nest = max(nest, n.nest[a]+1)
	}
	n.size[e], n.nest[e], n.chain[e], n.binds[e] = size, nest, chain, binds
	if n.uses[e] > 1 && (size >= shareSize || binds) || nest >= maxNest || chain >= maxChain {
		n.lets[e] = n.fresh(fmt.Sprintf("e.%d", len(n.order)+1))
		n.order = append(n.order, e)
	}
}

// children lists the operands and what a Scope holds; entries may be nil.
func children(e *ir.Expr) []*ir.Expr {
	if s, ok := e.Ref.(ir.Scope); ok {
		return append(append([]*ir.Expr{}, e.Args...), s.Exprs()...)
	}
	return e.Args
}

// eachSpan calls f for the spans that d itself binds.
func eachSpan(d Def, f func(ir.Span)) {
	each := func(list []ir.Span) {
		for _, s := range list {
			f(s)
		}
	}
	switch d := d.(type) {
	case *Map:
		each(d.Free)
	case *Scatter:
		each(d.Free)
	case *Check:
		each(d.Free)
	case *Recur:
		for _, list := range d.Free {
			each(list)
		}
	}
}

// defExprs lists the expressions of a definition; entries may be nil.
func defExprs(d Def) []*ir.Expr {
	var out []*ir.Expr
	eachSpan(d, func(s ir.Span) { out = append(out, s.Lo, s.Hi) })
	switch d := d.(type) {
	case *Map:
		out = append(out, d.Body)
	case *Scatter:
		out = append(append(out, d.At...), d.Guard, d.Body)
	case *Check:
		out = append(out, d.Fault)
	case *Recur:
		out = append(out, d.Bodies...)
	}
	return out
}

// freeAxes lists the axes that e uses and does not bind, each once.
func freeAxes(e *ir.Expr) []*ir.Axis {
	bound, seen := map[*ir.Axis]bool{}, map[*ir.Axis]bool{}
	var used []*ir.Axis
	use := func(a *ir.Axis) {
		if !seen[a] {
			seen[a] = true
			used = append(used, a)
		}
	}
	ir.Walk(e, func(x *ir.Expr) {
		switch ref := x.Ref.(type) {
		case *ir.Axis:
			use(ref)
		case *Scan:
			use(ref.Over.Axis)
		case *Reduction:
			for _, s := range ref.Over {
				bound[s.Axis] = true
			}
		}
	})
	out := used[:0]
	for _, a := range used {
		if !bound[a] {
			out = append(out, a)
		}
	}
	return out
}
