package lang

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
)

// suggest adds the fix of a name that is nearly one of these.
func (x *expander) suggest(d *diag.Diag, name string, names []string) {
	if x.count > maxSuggestions {
		return
	}
	if best := nearest(name, names); best != "" {
		d.WithFix("did you mean %s?", best)
	}
}

// suggestOf is suggest with names that are only gathered if they will be compared.
func (x *expander) suggestOf(d *diag.Diag, name string, names func() []string) {
	if x.count <= maxSuggestions {
		x.suggest(d, name, names())
	}
}

// Limits of the work for misspelled names.
const (
	maxSuggestions = 50
	maxSuggest     = 1000 // names that are compared
)

// nearest is the name with the fewest edits, if they are few; "" if none is near.
func nearest(name string, names []string) string {
	slices.Sort(names)
	best, least := "", 1+len(name)/3
	for _, n := range names[:min(len(names), maxSuggest)] {
		if d := edits(name, n, least); d < least || d == least && best == "" && len(name) > 1 {
			best, least = n, d
		}
	}
	if best == name {
		return ""
	}
	return best
}

// edits counts the letters to insert, drop, change or swap with a neighbour, as far as limit; beyond, the answer is larger.
func edits(a, b string, limit int) int {
	if len(a) > 40 || len(b) > 40 || len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}

// valueNames lists what a name that stands alone can be.
func (x *expander) valueNames(c context) (names []string) {
	for s := c.scope; s != nil; s = s.outer {
		names = append(names, s.name)
	}
	if c.frame == nil {
		for name, sym := range x.names {
			if sym.scalar != nil || sym.tensor != nil && sym.tensor.rank == 0 {
				names = append(names, name)
			}
		}
	}
	for name := range x.consts {
		names = append(names, name)
	}
	return names
}

func (x *expander) tensorNames() (names []string) {
	for name, sym := range x.names {
		if sym.tensor != nil && sym.tensor.rank > 0 {
			names = append(names, name)
		}
	}
	return names
}

func (x *expander) functionNames() (names []string) {
	for name := range library() {
		names = append(names, name)
	}
	for name := range x.funcs {
		names = append(names, name)
	}
	for name := range builtins {
		names = append(names, name)
	}
	for name := range reductions {
		names = append(names, name)
	}
	for name := range scans {
		names = append(names, name)
	}
	return append(names, dtypeNames()...)
}

func dtypeNames() (names []string) {
	for _, d := range ir.DTypes {
		if d.InLanguage() {
			names = append(names, d.Name)
		}
	}
	return names
}
