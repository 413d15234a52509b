package randgk

import (
	"slices"
	"strings"
	"time"

	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/lang"
)

// Shrink makes a program smaller as long as it keeps what is wrong with it: lines go, expressions become parts of themselves
// or numbers, sizes shrink. keep is asked at most tries times, and for no longer than a while.
func Shrink(p *Program, tries int, keep func(*Program) bool) *Program {
	s := &shrinker{best: p, tries: tries, keep: keep, end: time.Now().Add(30 * time.Second)}
	for s.tries > 0 && (s.lines() || s.nodes() || s.sizes()) {
	}
	return s.best
}

type shrinker struct {
	best  *Program
	tries int
	keep  func(*Program) bool
	end   time.Time
}

func (s *shrinker) try(source string, sizes map[string]int64) bool {
	if s.tries <= 0 || time.Now().After(s.end) {
		s.tries = 0
		return false
	}
	s.tries--
	p := *s.best
	p.Source, p.Sizes = source, sizes
	if !s.keep(&p) {
		return false
	}
	s.best = &p
	return true
}

// lines drops lines, several at first.
func (s *shrinker) lines() (any bool) {
	for n := 4; n > 0; n-- {
		lines := strings.SplitAfter(s.best.Source, "\n")
		for i := len(lines) - n; i >= 0; i-- {
			lines = strings.SplitAfter(s.best.Source, "\n")
			if i+n > len(lines) {
				continue
			}
			if source := strings.Join(slices.Delete(lines, i, i+n), ""); len(source) < len(s.best.Source) {
				any = s.try(source, s.best.Sizes) || any
			}
		}
	}
	return any
}

func (s *shrinker) sizes() (any bool) {
	for name, n := range s.best.Sizes {
		for _, m := range []int64{0, 1, 2, n / 2, n - 1} {
			if m < 0 || m >= n {
				continue
			}
			smaller := map[string]int64{}
			for k, v := range s.best.Sizes {
				smaller[k] = v
			}
			smaller[name] = m
			if s.try(s.best.Source, smaller) {
				any = true
				break
			}
		}
	}
	return any
}

// edit replaces a part of the source.
type edit struct {
	from, to int32
	text     string
}

// nodes replaces expressions, the largest first.
func (s *shrinker) nodes() (any bool) {
	for again := true; again && s.tries > 0; any = any || again {
		again = false
		for _, e := range edits(s.best.Source) {
			if s.try(s.best.Source[:e.from]+e.text+s.best.Source[e.to:], s.best.Sizes) {
				again = true
				break
			}
		}
	}
	return any
}

func edits(source string) (out []edit) {
	file, errs := lang.Parse("", source)
	if len(errs) > 0 {
		return nil
	}
	var visit func(n *syntax.Node)
	visit = func(n *syntax.Node) {
		if n == nil {
			return
		}
		text := source[n.Pos.Offset:n.End.Offset]
		for _, short := range []string{"0", "1", "true", "0.5"} {
			if len(short) < len(text) {
				out = append(out, edit{n.Pos.Offset, n.End.Offset, short})
			}
		}
		children := n.Args
		if n.Where != nil {
			children = append(slices.Clone(children), n.Where)
			start := strings.LastIndex(source[:n.Where.Pos.Offset], "where")
			out = append(out, edit{int32(start), n.Where.End.Offset, ""})
		}
		for _, b := range n.Binders {
			children = append(slices.Clone(children), b.Lo, b.Hi)
		}
		for _, c := range children {
			if c != nil && n.Kind != syntax.Name {
				inner := source[c.Pos.Offset:c.End.Offset]
				if c.Kind == syntax.Binary || c.Kind == syntax.If || c.Kind == syntax.Unary {
					inner = "(" + inner + ")"
				}
				if len(inner) < len(text) {
					out = append(out, edit{n.Pos.Offset, n.End.Offset, inner})
				}
			}
		}
		for _, c := range children {
			visit(c)
		}
	}
	for _, item := range file.Items {
		k, ok := item.(*lang.Kernel)
		if !ok {
			continue
		}
		for _, st := range k.Body {
			visit(st.Expr)
			visit(st.From)
			for _, i := range st.Indices {
				visit(i)
			}
			for _, r := range st.Ranges {
				visit(r.Lo)
				visit(r.Hi)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b edit) int { return int((b.to - b.from) - (a.to - a.from)) })
	return out
}
