// Package diag describes a problem in a source text as data: what, where, and how to fix it.
// Terminal text and JSON are renderings of the same value.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Pos is a place in a source text. Lines and columns count from 1, columns in characters; Offset counts bytes from 0,
// and is -1 where it is not known. The zero Pos means "no place".
type Pos struct{ Line, Col, Offset int32 }

// IsValid reports whether the position names a place.
func (p Pos) IsValid() bool { return p.Line > 0 }

func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Severity orders problems; only Error makes a program unusable.
type Severity uint8

// The severities.
const (
	Error Severity = iota
	Warning
)

func (s Severity) String() string { return [...]string{"error", "warning"}[s] }

// Note is a second place that belongs to a problem, such as where a name was declared first.
type Note struct {
	Pos  Pos
	Text string
}

// Diag is one problem.
type Diag struct {
	Code     string // short and stable: "syntax", "extent", "bounds", …
	Severity Severity
	File     string // may be empty while the file is the only one in sight
	Pos, End Pos    // End may be zero: a single place
	Message  string // one sentence that names the culprit
	Notes    []Note
	Fix      string // what to write instead; empty where nothing sensible is known
}

// Error makes a Diag an error.
func (d *Diag) Error() string {
	place := d.File
	if d.Pos.IsValid() {
		if place != "" {
			place += ":"
		}
		place += d.Pos.String()
	}
	if place != "" {
		place += ": "
	}
	return fmt.Sprintf("%s%s: %s [%s]", place, d.Severity, d.Message, d.Code)
}

// Errorf makes an error of the given code at a place.
func Errorf(pos Pos, code, format string, args ...any) *Diag {
	return &Diag{Code: code, Pos: pos, Message: fmt.Sprintf(format, args...)}
}

// WithFix returns d with a fix attached.
func (d *Diag) WithFix(format string, args ...any) *Diag {
	d.Fix = fmt.Sprintf(format, args...)
	return d
}

// WithNote returns d with a second place attached.
func (d *Diag) WithNote(pos Pos, format string, args ...any) *Diag {
	d.Notes = append(d.Notes, Note{pos, fmt.Sprintf(format, args...)})
	return d
}

// List collects problems.
type List []*Diag

// Add appends a problem; nil is ignored.
func (l *List) Add(d *Diag) {
	if d != nil {
		*l = append(*l, d)
	}
}

// Sorted returns the problems in source order, each once.
func (l List) Sorted() List {
	out := slices.Clone(l)
	slices.SortStableFunc(out, func(a, b *Diag) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(out, func(a, b *Diag) bool {
		return a.File == b.File && a.Pos == b.Pos && a.Message == b.Message
	})
}

// HasErrors reports whether any problem is an error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d *Diag) bool { return d.Severity == Error })
}

// Err returns the list as an error, or nil if it holds none.
func (l List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return l.Sorted()
}

func (l List) Error() string {
	lines := make([]string, len(l))
	for i, d := range l {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// Render writes a problem for a person: place and message, the source line, a caret, notes and the fix.
// source is the text of d.File.
func Render(d *Diag, source string) string {
	var b strings.Builder
	b.WriteString(d.Error())
	b.WriteByte('\n')
	snippet(&b, source, d.Pos, d.End)
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "  note: %s: %s\n", n.Pos, n.Text)
		snippet(&b, source, n.Pos, Pos{})
	}
	if d.Fix != "" {
		fmt.Fprintf(&b, "  fix: %s\n", d.Fix)
	}
	return b.String()
}

const snippetWidth = 120 // characters of a source line that are shown around the culprit

func snippet(b *strings.Builder, source string, pos, end Pos) {
	line, ok := lineOf(source, pos)
	if !ok {
		return
	}
	runes := []rune(strings.TrimRight(line, "\r"))
	col := min(int(pos.Col)-1, len(runes))
	from := 0
	if col > snippetWidth {
		from = col - snippetWidth/2
	}
	to := min(len(runes), from+snippetWidth)
	shown := make([]rune, 0, to-from)
	pad := make([]rune, 0, col-from)
	for i, r := range runes[from:to] {
		if r != '\t' && r < ' ' || r == 0x7f {
			r = '?'
		}
		shown = append(shown, r)
		if i < col-from {
			if r != '\t' {
				r = ' '
			}
			pad = append(pad, r)
		}
	}
	width := 1
	if end.Line == pos.Line && end.Col > pos.Col {
		width = max(1, min(int(end.Col-pos.Col), len(shown)-len(pad)))
	}
	fmt.Fprintf(b, "    %s\n    %s%s\n", string(shown), string(pad), strings.Repeat("^", width))
}

func lineOf(source string, pos Pos) (string, bool) {
	if !pos.IsValid() || pos.Offset < 0 || int(pos.Offset) > len(source) {
		return "", false
	}
	if pos.Offset == 0 { // written down and read back, a position has none
		for range pos.Line - 1 {
			n := strings.IndexByte(source[pos.Offset:], '\n') + 1
			if n == 0 {
				return "", false
			}
			pos.Offset += int32(n)
		}
	}
	start := strings.LastIndexByte(source[:pos.Offset], '\n') + 1
	end := strings.IndexByte(source[start:], '\n')
	if end < 0 {
		return source[start:], true
	}
	return source[start : start+end], true
}
