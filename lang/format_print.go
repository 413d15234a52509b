package lang

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/gkc-lang/gkc/ir/syntax"
)

const indentation = "    "

// gap is what stands between what was printed and what comes next.
type gap uint8

const (
	join  gap = iota // a space or nothing, as the tokens ask for
	line             // a line break
	keep             // a line break, and a blank line where the source has one
	blank            // a blank line
)

// printer prints tokens with the comments in front of them.
type printer struct {
	p       *syntax.Parser
	roles   roles
	out     strings.Builder
	prev    int   // the token printed last, -1 in front of the first
	comment int   // the comment to be printed next
	remark  bool  // a comment was printed last
	at      int32 // the source line where the last token or comment ended
	gap     gap
	indent  int   // behind a gap with a line break
	current int   // indentation of the line at hand
	open    []int // indentations of the lines that the open brackets of the statement at hand stand on
	base    int   // its own indentation
	flat    bool  // line breaks inside are not kept
}

func newPrinter(p *syntax.Parser, file *File) *printer {
	f := &printer{p: p, roles: roles{}, prev: -1}
	f.roles.file(file)
	return f
}

// newline puts a line break in front of what comes next.
func (f *printer) newline(indent int, g gap) {
	f.gap, f.indent, f.base, f.open = g, indent, indent, f.open[:0]
}

// outer is the indentation of the line that holds the innermost open bracket, or of the statement's first.
func (f *printer) outer() int {
	if n := len(f.open); n > 0 {
		return f.open[n-1]
	}
	return f.base
}

// literal prints what is no token of the source.
func (f *printer) literal(s string) { f.out.WriteString(s) }

// emitAll prints the tokens from start up to end.
func (f *printer) emitAll(start, end int) {
	for i := start; i < end; i++ {
		f.emit(i)
	}
}

// emitFlat prints them without the line breaks between them.
func (f *printer) emitFlat(start, end int) {
	f.flat = true
	f.emitAll(start, end)
	f.flat = false
}

// emit prints token i with the comments in front of it.
func (f *printer) emit(i int) {
	t := &f.p.Tokens[i]
	if f.idle(i) && !(f.p.Tokens[i+1].First && !f.flat) {
		return
	}
	f.flush(i)
	if f.gap == join && t.First && !f.flat && !f.remark && f.breaks(i) {
		f.gap, f.indent = line, f.outer()+1
		if closes(t.Text) {
			f.indent--
		}
	}
	f.separate(t.Pos.Line, f.spaceBefore(i))
	f.out.WriteString(t.Text)
	f.prev, f.remark, f.at = i, false, t.Pos.Line
	switch {
	case t.Text == "(" || t.Text == "[" || t.Text == "{":
		f.open = append(f.open, f.current)
	case closes(t.Text) && len(f.open) > 0:
		f.open = f.open[:len(f.open)-1]
	}
}

// spaceBefore reports whether a space stands in front of token i, unless a line break does.
func (f *printer) spaceBefore(i int) bool {
	if f.remark {
		return !closes(f.p.Tokens[i].Text)
	}
	return f.prev >= 0 && f.spaced(f.prev, i)
}

// separate prints the gap in front of what begins on a line of the source.
func (f *printer) separate(source int32, space bool) {
	g := f.gap
	f.gap = join
	switch {
	case f.out.Len() == 0:
	case g == join:
		if space {
			f.out.WriteByte(' ')
		}
	default:
		f.out.WriteByte('\n')
		if g == blank || g == keep && source > f.at+1 {
			f.out.WriteByte('\n')
		}
		for range f.indent {
			f.out.WriteString(indentation)
		}
		f.current = f.indent
	}
}

// flush prints the comments in front of token i.
func (f *printer) flush(i int) {
	for ; f.comment < len(f.p.Comments) && f.p.Comments[f.comment].Token <= i; f.comment++ {
		f.flushOne(i)
	}
}

// flushOne prints the next comment: behind what was printed if it stood there, else on a line of its own.
func (f *printer) flushOne(i int) {
	c := &f.p.Comments[f.comment]
	text := strings.TrimRight(strings.ReplaceAll(c.Text, "\r\n", "\n"), " \t\r\n")
	g, indent := f.gap, f.indent
	if g == join {
		indent = f.outer() + 1
	}
	// Semicolons are not printed: what stood behind one on a line of its own may follow a comment now.
	behind := f.remark && strings.HasPrefix(f.p.Comments[f.comment-1].Text, "//")
	if c.First || behind {
		f.gap, f.indent = max(g, line), indent
	} else {
		f.gap = join
	}
	f.separate(c.Pos.Line, true)
	f.out.WriteString(text)
	f.remark, f.at = true, c.Pos.Line+int32(strings.Count(text, "\n"))
	switch {
	case g != join && !c.First && !behind:
		f.gap, f.indent = g, indent
	case f.endsLine(c, i):
		f.gap, f.indent = min(max(g, line), keep), indent
	}
}

// endsLine reports whether a new line begins behind a comment that stands in front of token i.
func (f *printer) endsLine(c *syntax.Comment, i int) bool {
	next := f.p.Tokens[i].Pos.Line
	if k := f.comment + 1; k < len(f.p.Comments) && f.p.Comments[k].Token <= i {
		next = f.p.Comments[k].Pos.Line
	}
	return next > f.at || strings.HasPrefix(c.Text, "//")
}

// commented reports whether a comment stands in front of one of the tokens.
func (f *printer) commented(start, end int) bool {
	c := f.p.Comments
	k := sort.Search(len(c), func(k int) bool { return c[k].Token >= start })
	return k < len(c) && c[k].Token < end
}

// finish prints the comments at the end of the file, and its line end.
func (f *printer) finish() {
	f.newline(0, keep)
	f.flush(len(f.p.Tokens) - 1)
	if f.out.Len() > 0 {
		f.out.WriteByte('\n')
	}
}

// idle reports whether token i is a comma at the end of a list.
func (f *printer) idle(i int) bool {
	return f.p.Tokens[i].Text == "," && closes(f.p.Tokens[i+1].Text)
}

func closes(text string) bool { return text == ")" || text == "]" || text == "}" }

// breaks reports whether a line break in front of token i is kept: around operators and separators, and inside brackets.
func (f *printer) breaks(i int) bool {
	before, t := &f.p.Tokens[i-1], &f.p.Tokens[i]
	switch before.Text {
	case "(", "[", "{", ",", "=", "where":
		return true
	}
	switch t.Text {
	case ")", "]", "}", "else", "for", "from", "where":
		return true
	}
	return f.roles[before.Pos.Offset] == infix || f.roles[t.Pos.Offset] == infix
}

// width is the length of tokens on one line.
func (f *printer) width(start, end int) int {
	n, prev := 0, -1
	for i := start; i < end; i++ {
		if f.idle(i) {
			continue
		}
		if prev >= 0 && f.spaced(prev, i) {
			n++
		}
		n += utf8.RuneCountInString(f.p.Tokens[i].Text)
		prev = i
	}
	return n
}

// spaced reports whether a space stands between tokens a and b.
func (f *printer) spaced(a, b int) bool {
	t, u := &f.p.Tokens[a], &f.p.Tokens[b]
	left, right := f.roles[t.Pos.Offset], f.roles[u.Pos.Offset]
	switch {
	case left == unary || left == tight || left == update || right == tight:
		return false
	case u.Text == "@":
		return f.roles[f.p.Tokens[b+1].Pos.Offset] == apart
	}
	switch t.Text {
	case "(", "[", "@", "..":
		return false
	}
	switch u.Text {
	case ")", "]", ",", ";", ":", "..":
		return false
	case "(", "[":
		named := t.Kind == syntax.NameTok || closes(t.Text) || t.Text == "const"
		return !named
	}
	return true
}
