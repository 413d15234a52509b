package plan

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
)

// Explain is the error of a failed check of a launch: code and args are what it recorded, r the numbers of the run.
func (p *Plan) Explain(l *Launch, code int, args []int64, r *Resolved) error {
	if code < 0 || code >= len(p.Sites) {
		return diag.Errorf(diag.Pos{}, "runtime", "check %d of kernel %s failed", code, l.Kernel)
	}
	m := &simt.Header{} // as far as the text needs one
	shapes, named := map[*simt.Array][]int{}, map[string]*simt.Array{}
	for i, a := range p.Arrays {
		x := &simt.Array{Name: a.Name, As: a.As, Extents: make([]*ir.Expr, len(a.Extents))}
		for _, n := range r.Extents[i] {
			shapes[x] = append(shapes[x], int(n))
		}
		m.Arrays, named[a.Name] = append(m.Arrays, x), x
	}
	for _, s := range p.Sites {
		m.Sites = append(m.Sites, ir.Site{Kind: s.Kind, Tensor: s.Tensor, Dim: s.Dim, Text: s.Text, Pos: diag.Pos{Line: int32(s.Line), Col: int32(s.Column)}})
	}
	fault := simt.Fault{Kernel: l.Kernel, Code: code, Args: args}
	for _, c := range l.Checks {
		if c.Code == code {
			fault.Of = named[c.Of]
			break
		}
	}
	return m.Explain(fault, func(a *simt.Array) []int { return shapes[a] })
}
