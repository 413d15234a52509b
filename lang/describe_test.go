package lang

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/ir/syntax"
)

// describe writes what a file says without places, a declaration, parameter and statement a line: (+ a (* b c)) for a + b * c.
func describe(f *File) string {
	var b strings.Builder
	for _, item := range f.Items {
		switch item := item.(type) {
		case *Const:
			fmt.Fprintf(&b, "const %s = %s\n", item.Name, tree(item.Expr))
		case *Func:
			fmt.Fprintf(&b, "func %s%v%v\n%s    return %s\n", item.Name, words(item.Binders), words(item.Params), lets(item.Lets), tree(item.Result))
		case *Example:
			fmt.Fprintf(&b, "example %s\n%s", item.Kernel.Text, lets(item.Values))
		case *Kernel:
			fmt.Fprintf(&b, "kernel %s\n", item.Name)
			for _, p := range item.Params {
				fmt.Fprintf(&b, "    %s\n", describeParam(p))
			}
			for _, p := range item.Results {
				fmt.Fprintf(&b, "    -> %s\n", describeParam(p))
			}
			for _, c := range item.Where {
				fmt.Fprintf(&b, "    where %s\n", tree(c))
			}
			for _, s := range item.Body {
				fmt.Fprintf(&b, "    %s\n", describeStmt(s))
			}
		}
	}
	return b.String()
}

func words(list []Word) []string {
	var out []string
	for _, w := range list {
		out = append(out, w.Text)
	}
	return out
}

func lets(list []Let) string {
	var b strings.Builder
	for _, l := range list {
		fmt.Fprintf(&b, "    %s = %s\n", l.Text, tree(l.Expr))
	}
	return b.String()
}

func describeParam(p *Param) string {
	s := p.Text + ": " + p.Type.Text + trees("[", p.Extents, "]") + describeEdge(p.Edge)
	if p.Default != nil {
		s += " = " + tree(p.Default)
	}
	return s
}

func describeStmt(s *Stmt) string {
	if s.Declare != nil {
		return "declare " + describeParam(s.Declare)
	}
	out := s.Text + describeEdge(s.Edge) + trees("[", s.Indices, "]")
	if s.Type.Text != "" {
		out += ": " + s.Type.Text
	}
	out += " " + s.Op + " " + tree(s.Expr)
	if s.From != nil {
		out += " from " + tree(s.From)
	}
	if s.Ranges != nil {
		out += " for " + describeBinders(s.Ranges)
	}
	return out
}

func describeEdge(e *syntax.Edge) string {
	switch {
	case e == nil:
		return ""
	case e.Value != nil:
		return "@" + e.Kind + "(" + tree(e.Value) + ")"
	}
	return "@" + e.Kind
}

func describeBinders(list []syntax.Binder) string {
	var out []string
	for _, b := range list {
		s := b.Name
		if b.Lo != nil {
			s += " in " + tree(b.Lo) + ".." + tree(b.Hi)
		}
		if b.Type != "" {
			s += ": " + b.Type
		}
		out = append(out, strings.Join(append([]string{s}, b.Flags...), " "))
	}
	return strings.Join(out, ", ")
}

func trees(open string, list []*syntax.Node, closing string) string {
	if list == nil {
		return ""
	}
	var out []string
	for _, n := range list {
		out = append(out, tree(n))
	}
	return open + strings.Join(out, ", ") + closing
}

func tree(n *syntax.Node) string {
	switch n.Kind {
	case syntax.Number, syntax.Name:
		return n.Name
	case syntax.Index:
		return n.Name + describeEdge(n.Edge) + trees("[", n.Args, "]")
	case syntax.Call:
		return n.Name + trees("(", n.Args, ")")
	case syntax.Bind:
		s := n.Name + "[" + describeBinders(n.Binders)
		if n.Where != nil {
			s += " where " + tree(n.Where)
		}
		return s + "]" + trees("(", n.Args, ")")
	}
	s := "(" + n.Name
	for _, a := range n.Args {
		s += " " + tree(a)
	}
	return s + ")"
}
