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

// validName reports whether the text can hold the name.
func validName(name string) bool {
	tokens, _, errs := syntax.Lex(name, syntax.IR)
	return len(errs) == 0 && len(tokens) == 2 && tokens[0].Kind == syntax.NameTok && tokens[0].Text == name
}

// validLocal reports whether a host value, register, buffer, map or barrier may have the name.
func validLocal(name string) bool {
	return validName(name) && !reserved[name] && !strings.HasPrefix(name, scalarPrefix)
}
