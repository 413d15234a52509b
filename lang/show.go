package lang

import (
	"strings"

	"github.com/gkc-lang/gkc/ir/syntax"
)

// show writes an expression as it is written, for messages: on one line, and cut where it is long.
func show(n *syntax.Node) string {
	w := shower{}
	w.node(n)
	text := []rune(w.String())
	if len(text) > maxShown {
		return string(text[:maxShown-1]) + "…"
	}
	return string(text)
}

const maxShown = 60

type shower struct{ strings.Builder }

func (w *shower) node(n *syntax.Node) {
	if n == nil || w.Len() > 4*maxShown { // it will be cut anyway
		return
	}
	if n.Paren {
		w.WriteByte('(')
		defer w.WriteByte(')')
	}
	switch n.Kind {
	case syntax.Number, syntax.Name:
		w.WriteString(n.Name)
	case syntax.Index:
		w.WriteString(n.Name)
		if n.Edge != nil {
			w.edge(n.Edge)
		}
		w.list("[", n.Args, "]")
	case syntax.Call:
		w.WriteString(n.Name)
		w.list("(", n.Args, ")")
	case syntax.Bind:
		w.binders(n)
		w.list("(", n.Args, ")")
	case syntax.Unary:
		w.WriteString(n.Name)
		w.node(n.Args[0])
	case syntax.Binary:
		w.node(n.Args[0])
		if n.Name == "**" {
			w.WriteString("**")
		} else {
			w.WriteString(" " + n.Name + " ")
		}
		w.node(n.Args[1])
	case syntax.If:
		w.WriteString("if ")
		w.node(n.Args[0])
		w.WriteString(" { ")
		w.node(n.Args[1])
		w.WriteString(" } else { ")
		w.node(n.Args[2])
		w.WriteString(" }")
	}
}

func (w *shower) list(opening string, list []*syntax.Node, closing string) {
	w.WriteString(opening)
	for i, n := range list {
		if i > 0 {
			w.WriteString(", ")
		}
		w.node(n)
	}
	w.WriteString(closing)
}

func (w *shower) edge(e *syntax.Edge) {
	w.WriteString("@" + e.Kind)
	if e.Value != nil {
		w.list("(", []*syntax.Node{e.Value}, ")")
	}
}

func (w *shower) binders(n *syntax.Node) {
	w.WriteString(n.Name + "[")
	for i, b := range n.Binders {
		if i > 0 {
			w.WriteString(", ")
		}
		w.WriteString(b.Name)
		if b.Lo != nil {
			w.WriteString(" in ")
			w.node(b.Lo)
			w.WriteString("..")
			w.node(b.Hi)
		}
	}
	if n.Where != nil {
		w.WriteString(" where ")
		w.node(n.Where)
	}
	w.WriteString("]")
}
