// Package source is what the printers of target languages share: names that a language can say, templates of operations, and
// the order in which shared expressions are computed.
package source

import (
	"fmt"
	"strconv"
	"strings"
)

// Names gives things identifiers that a target language can say, each its own.
type Names struct {
	outer *Names // the scope around
	taken map[string]bool
	of    map[any]string
	next  map[string]int // by what was wanted: the number to try
}

// NewNames knows the words that are not to be used.
func NewNames(reserved ...string) *Names {
	n := &Names{taken: map[string]bool{}, of: map[any]string{}, next: map[string]int{}}
	for _, w := range reserved {
		n.taken[w] = true
	}
	return n
}

// Inner is a scope inside n: what it names differs from all that n names.
func (n *Names) Inner() *Names {
	in := NewNames()
	in.outer = n
	return in
}

// Of is the identifier of thing, which is made from the name that it wants on first use.
func (n *Names) Of(thing any, wants string) string {
	for at := n; at != nil; at = at.outer {
		if s, ok := at.of[thing]; ok {
			return s
		}
	}
	s := n.New(wants)
	n.of[thing] = s
	return s
}

// Set gives thing a text that was decided elsewhere.
func (n *Names) Set(thing any, text string) { n.of[thing] = text }

// New is an identifier that nothing else has.
func (n *Names) New(wants string) string {
	base := Identifier(wants)
	s := base
	for i := max(2, n.next[base]); n.has(s); i++ {
		s, n.next[base] = base+"_"+strconv.Itoa(i), i+1 // names are never given back
	}
	n.taken[s] = true
	return s
}

func (n *Names) has(word string) bool {
	for at := n; at != nil; at = at.outer {
		if at.taken[word] {
			return true
		}
	}
	return false
}

// Identifier is name in letters, digits and underscores, beginning with a letter: what C and Go both take.
func Identifier(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
			b.WriteRune(r)
		case r == '_' || r >= '0' && r <= '9':
			if i == 0 {
				b.WriteByte('x')
			}
			b.WriteRune(r)
		case r == '.':
			if i == 0 {
				b.WriteByte('x')
			}
			b.WriteByte('_')
		default:
			fmt.Fprintf(&b, "u%x", r)
		}
	}
	if b.Len() == 0 {
		return "x"
	}
	return strings.ReplaceAll(b.String(), "__", "_u") // two underscores belong to C++ itself
}
