package module

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/diag"
)

// Fault is a check that failed in a launch.
type Fault struct {
	Kernel string
	Code   int     // its place in Sites
	Args   []int64 // the offending index, then the element that was being computed
	Of     *Array  // whose element that is; nil where it is no array of the module
}

// Explain is the error of a failed check; shape gives the extents of an array in that launch.
func (h *Header) Explain(f Fault, shape func(*Array) []int) *diag.Diag {
	s := h.Sites[f.Code]
	what := s.Kind
	switch {
	case s.Kind == "index" && len(f.Args) > 0:
		what = fmt.Sprintf("index %d of %s is outside %s(dimension %d)", f.Args[0], s.Tensor, h.rangeOf(s, shape), s.Dim+1)
	case s.Text != "":
		what += " in " + s.Text
	}
	return diag.Errorf(s.Pos, "runtime", "%s while computing %s", what, f.element(shape))
}

func (h *Header) rangeOf(s ir.Site, shape func(*Array) []int) string {
	for _, a := range h.Arrays {
		if a.CallerName() == s.Tensor && s.Dim < len(a.Extents) {
			return fmt.Sprintf("0..%d ", shape(a)[s.Dim])
		}
	}
	return ""
}

// element names the element that the check is about, or the kernel where it is about none.
func (f *Fault) element(shape func(*Array) []int) string {
	if f.Of == nil || len(f.Args) < 2 {
		return "kernel " + f.Kernel
	}
	name, extents, at := f.Of.CallerName(), shape(f.Of), f.Args[1]
	if at < 0 || at >= int64(data.Len(extents)) || len(extents) == 0 {
		return name
	}
	return name + strings.ReplaceAll(fmt.Sprint(data.Subscripts(extents, int(at))), " ", ", ")
}
