package simt

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// layouts lists the layouts of the registers of a body, each once, in order of appearance.
func layouts(body []Stmt) []*ir.Layout {
	var out []*ir.Layout
	seen := map[*ir.Layout]bool{}
	Walk(body, func(s Stmt) {
		if l, ok := s.(*Let); ok && l.Reg.Layout != nil && !seen[l.Reg.Layout] {
			seen[l.Reg.Layout] = true
			out = append(out, l.Reg.Layout)
		}
	})
	return out
}

// validLayout says what is wrong with a layout of registers; empty: nothing.
func validLayout(l *ir.Layout) string {
	if !syntax.IsName(l.Name) {
		return "a layout's name is no name"
	}
	for _, a := range l.Axes {
		if !syntax.IsName(a) {
			return "an axis of a layout has a name that is none"
		}
	}
	if err := l.Validate(); err != nil {
		return err.Error()
	}
	return ""
}
