package simt

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/diag"
)

// CheckOf finds the first check of a kernel that reports a code; nil if there is none.
func (k *Kernel) CheckOf(code int) (found *Check) {
	Walk(k.Body, func(s Stmt) {
		if c, ok := s.(*Check); ok && found == nil && c.Code == code {
			found = c
		}
	})
	return found
}

// Explain is the error of a failed check: args are the values of its Args, shape gives the extents of an array in that launch.
func (m *Module) Explain(k *Kernel, c *Check, args []int64, shape func(*Array) []int) error {
	s := m.Sites[c.Code]
	what := s.Kind
	switch {
	case s.Kind == "index" && len(args) > 0:
		what = fmt.Sprintf("index %d of %s is outside %s(dimension %d)", args[0], s.Tensor, m.rangeOf(s, shape), s.Dim+1)
	case s.Text != "":
		what += " in " + s.Text
	}
	return diag.Errorf(s.Pos, "runtime", "%s while computing %s", what, elementOf(k, c, args, shape))
}

func (m *Module) rangeOf(s ir.Site, shape func(*Array) []int) string {
	for _, a := range m.Arrays {
		if a.CallerName() == s.Tensor && s.Dim < len(a.Extents) {
			return fmt.Sprintf("0..%d ", shape(a)[s.Dim])
		}
	}
	return ""
}

// elementOf names the element that a check is about, or the kernel where it is about none.
func elementOf(k *Kernel, c *Check, args []int64, shape func(*Array) []int) string {
	if c.Of == nil || len(args) < 2 {
		return "kernel " + k.Name
	}
	name, extents := c.Of.CallerName(), shape(c.Of)
	if args[1] < 0 || args[1] >= int64(data.Len(extents)) || len(extents) == 0 {
		return name
	}
	return name + strings.ReplaceAll(fmt.Sprint(data.Subscripts(extents, int(args[1]))), " ", ", ")
}
