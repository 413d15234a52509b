package simt

import (
	"strings"

	"github.com/gkc-lang/gkc/ir/syntax"
)

// scalarPrefix tells a module scalar from a host value of the same name.
const scalarPrefix = "scalar."

// reserved are the words that no host value, register, buffer, map or barrier may have as its name: builtin values and barriers.
// The other words of the text are told from names by where they stand.
var reserved = func() map[string]bool {
	out := map[string]bool{}
	for _, b := range Builtins {
		out[b.Name] = true
	}
	for _, v := range Verbs {
		out[v.On] = true
	}
	for _, q := range Queues {
		out[q] = true
	}
	return out
}()

// Safe is a name that a host value, register, buffer, map or barrier may have: name itself, or name with an underscore.
func Safe(name string) string {
	for reserved[name] {
		name += "_"
	}
	return name
}

// validLocal reports whether a host value, register, buffer, map or barrier may have the name.
func validLocal(name string) bool {
	return syntax.IsName(name) && !reserved[name] && !strings.HasPrefix(name, scalarPrefix)
}
