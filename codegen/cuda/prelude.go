package cuda

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The prelude is a file of declarations, one a paragraph, each with everything that it needs above it. Of these an emitted file
// carries those whose names it uses, and what they use in turn.

//go:embed prelude.cuh
var preludeText string

// helper is one paragraph of the prelude.
type helper struct {
	text  string
	names []string // what it declares
	uses  map[string]bool
}

// The prelude is read when the first kernel is emitted: most commands emit none.
var (
	declares = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:#define\s+(\w+)|typedef[^;]*?(\w+);|(?:template <[^>]*>\s*)?struct (?:\w+\(.*\) )?(\w+)|(?:template <[^\n]*>\s*)?(?:DEV|GKC_\w+) [^(;=]*?(\w+)\()`)
	})
	prelude = sync.OnceValue(func() []*helper { return readPrelude(preludeText) })
)

func readPrelude(text string) []*helper {
	var out []*helper
	for _, p := range strings.Split(text, "\n\n") {
		h := &helper{text: strings.TrimSpace(p), uses: map[string]bool{}}
		if h.text == "" || isComment(h.text) {
			continue
		}
		for _, m := range declares().FindAllStringSubmatch(h.text, -1) {
			for _, name := range m[1:] {
				if name != "" {
					h.names = append(h.names, name)
				}
			}
		}
		if len(h.names) == 0 {
			panic(fmt.Sprintf("cuda: a paragraph of the prelude declares nothing:\n%s", h.text))
		}
		words(h.text, h.uses)
		out = append(out, h)
	}
	return out
}

// words puts the identifiers of a text into a set.
func words(text string, set map[string]bool) {
	for i := 0; i < len(text); {
		if !isLetter(text[i]) {
			i++
			continue
		}
		from := i
		for i < len(text) && (isLetter(text[i]) || text[i] >= '0' && text[i] <= '9') {
			i++
		}
		if w := text[from:i]; !set[w] {
			set[w] = true
		}
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// isComment tells headings.
func isComment(text string) bool {
	return strings.HasPrefix(text, "//") && !strings.Contains(text, "\n")
}

// preludeFor is the part of the prelude that a text needs.
func preludeFor(text string) string {
	wanted := map[string]bool{}
	words(text, wanted)
	var parts []string
	all := prelude()
	for i := len(all) - 1; i >= 0; i-- { // a paragraph uses only what is above it
		h := all[i]
		if !slices.ContainsFunc(h.names, func(n string) bool { return wanted[n] }) {
			continue
		}
		parts = append(parts, h.text)
		for w := range h.uses {
			wanted[w] = true
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, "\n\n") + "\n"
}

// preludeNames are the words of the prelude, which emitted names avoid.
func preludeNames() (out []string) {
	for _, h := range prelude() {
		out = append(out, h.names...)
	}
	return out
}
