package lang

import "github.com/gkc-lang/gkc/ir/syntax"

// role is what a token is for, where its text does not say it.
type role uint8

const (
	infix  role = iota + 1 // an operator with spaces around it
	tight                  // an operator without
	unary                  // no space behind it
	update                 // the first half of max= and min=
	apart                  // the boundary of a parameter: a space in front of its @
)

// roles holds the roles of tokens by their offsets.
type roles map[int32]role

func (r roles) file(file *File) {
	for _, item := range file.Items {
		switch item := item.(type) {
		case *Const:
			r.expr(item.Expr)
		case *Func:
			r.lets(item.Lets)
			r.expr(item.Result)
		case *Kernel:
			r.kernel(item)
		case *Example:
			r.lets(item.Values)
		}
	}
}

func (r roles) lets(lets []Let) {
	for _, l := range lets {
		r.expr(l.Expr)
	}
}

func (r roles) kernel(k *Kernel) {
	for _, p := range k.Params {
		r.param(p)
	}
	for _, p := range k.Results {
		r.param(p)
	}
	for _, c := range k.Where {
		r.expr(c)
	}
	for _, s := range k.Body {
		r.stmt(s)
	}
}

func (r roles) param(p *Param) {
	r.subscripts(p.Extents)
	r.edge(p.Edge)
	if p.Edge != nil {
		r[p.Edge.Pos.Offset] = apart
	}
	r.expr(p.Default)
}

func (r roles) stmt(s *Stmt) {
	if s.Declare != nil {
		r.param(s.Declare)
		return
	}
	r.edge(s.Edge)
	r.subscripts(s.Indices)
	if s.Op == "max=" || s.Op == "min=" {
		r[s.OpPos.Offset] = update
	}
	r.expr(s.Expr)
	r.expr(s.From)
	r.binders(s.Ranges)
}

func (r roles) edge(e *syntax.Edge) {
	if e != nil {
		r.expr(e.Value)
	}
}

func (r roles) binders(list []syntax.Binder) {
	for _, b := range list {
		r.bound(b.Lo)
		r.bound(b.Hi)
	}
}

func (r roles) exprs(list []*syntax.Node) {
	for _, n := range list {
		r.expr(n)
	}
}

func (r roles) expr(n *syntax.Node) {
	if n == nil {
		return
	}
	switch n.Kind {
	case syntax.Unary:
		r[n.OpPos.Offset] = unary
	case syntax.Binary:
		r[n.OpPos.Offset] = infix
	case syntax.Index:
		r.edge(n.Edge)
		r.subscripts(n.Args)
		return
	case syntax.Bind:
		r.binders(n.Binders)
		r.expr(n.Where)
	}
	r.exprs(n.Args)
}

// subscripts writes i-1 where a subscript is no more than that.
func (r roles) subscripts(list []*syntax.Node) {
	for _, n := range list {
		r.expr(n)
		if n.Kind == syntax.Binary && (n.Name == "+" || n.Name == "-") && leaf(n.Args[0]) && leaf(n.Args[1]) {
			r[n.OpPos.Offset] = tight
		}
	}
}

func leaf(n *syntax.Node) bool { return n.Kind == syntax.Name || n.Kind == syntax.Number }

// bound writes the ends of a range without spaces, so that the two dots stay what separates most: g*W..(g+1)*W.
func (r roles) bound(n *syntax.Node) {
	if n == nil {
		return
	}
	switch n.Kind {
	case syntax.Unary:
		r[n.OpPos.Offset] = unary
	case syntax.Binary:
		r[n.OpPos.Offset] = tight
	default:
		r.expr(n)
		return
	}
	for _, a := range n.Args {
		r.bound(a)
	}
}
