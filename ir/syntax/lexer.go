package syntax

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gkc-lang/gkc/ir/diag"
)

type lexer struct {
	src      string
	at       int
	line     int32
	col      int32
	mode     Mode
	fresh    bool  // no token stands on this line yet
	noted    int32 // the line on which the last comment ended
	tokens   []Token
	comments []Comment
	errors   diag.List
}

// IsName reports whether IR text can hold a name as it is.
func IsName(name string) bool {
	tokens, _, errs := Lex(name, IR)
	return len(errs) == 0 && len(tokens) == 2 && tokens[0].Kind == NameTok && tokens[0].Text == name
}

// Lex splits a text into tokens; the last one is of kind End. It goes on after mistakes and reports them all.
func Lex(src string, mode Mode) ([]Token, []Comment, diag.List) {
	l := &lexer{src: src, line: 1, col: 1, mode: mode, fresh: true}
	if len(src) > MaxSource {
		l.errors.Add(diag.Errorf(l.pos(), "limit", "the text is larger than %d MiB", MaxSource>>20))
		l.src = ""
	}
	l.tokens = make([]Token, 0, len(l.src)/2+1)
	l.at = len(l.src) - len(strings.TrimPrefix(l.src, "\uFEFF")) // a byte order mark is no character
	for l.at < len(l.src) && len(l.errors) < MaxErrors {
		l.step()
	}
	l.tokens = append(l.tokens, Token{Text: "end of file", Pos: l.pos(), Kind: End, First: true})
	return l.tokens, l.comments, l.errors
}

func (l *lexer) pos() diag.Pos { return diag.Pos{Line: l.line, Col: l.col, Offset: int32(l.at)} }

func (l *lexer) step() {
	c := l.src[l.at]
	switch {
	case c == '\n':
		l.at++
		l.line, l.col, l.fresh = l.line+1, 1, true
	case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
		l.at++
		l.col++
	case c == '/' && l.next() == '/':
		end := strings.IndexByte(l.src[l.at:], '\n')
		if end < 0 {
			end = len(l.src) - l.at
		}
		l.comment(end)
	case c == '/' && l.next() == '*':
		end := strings.Index(l.src[l.at+2:], "*/")
		if end < 0 {
			l.errors.Add(diag.Errorf(l.pos(), "syntax", "comment without an end: */ is missing"))
			l.comment(len(l.src) - l.at)
			return
		}
		l.comment(end + 4)
	case isDigit(c):
		l.number()
	case isLetter(c) || c >= utf8.RuneSelf:
		l.name()
	case c == '"' && l.mode == IR:
		l.text()
	default:
		l.symbol()
	}
}

// next is the byte behind the current one, 0 at the end.
func (l *lexer) next() byte {
	if l.at+1 < len(l.src) {
		return l.src[l.at+1]
	}
	return 0
}

// emit makes a token of the next size bytes, which hold no line end.
func (l *lexer) emit(kind Kind, size int, prec int8) {
	text := l.src[l.at : l.at+size]
	l.tokens = append(l.tokens, Token{Text: text, Pos: l.pos(), Kind: kind, First: l.fresh, prec: prec})
	l.fresh = false
	l.at += size
	l.col += width(text)
}

// width counts the characters of a text; bytes that are no UTF-8 are one each.
func width(text string) int32 {
	if len(text) == 1 {
		return 1
	}
	return int32(utf8.RuneCountInString(text))
}

func (l *lexer) comment(size int) {
	text := l.src[l.at : l.at+size]
	l.comments = append(l.comments, Comment{Text: strings.TrimRight(text, "\r"), Pos: l.pos(), Token: len(l.tokens), First: l.fresh && l.noted != l.line})
	l.at += size
	if n := strings.Count(text, "\n"); n > 0 {
		l.line += int32(n)
		l.col = width(text[strings.LastIndexByte(text, '\n')+1:]) + 1
		l.fresh, l.noted = true, l.line
		return
	}
	l.col += width(text)
	l.noted = l.line
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// name reads letters, digits and underscores; any Unicode letter or decimal digit counts. IR names may hold dots before a
// letter or digit, and end in primes.
func (l *lexer) name() {
	size := nameSize(l.src[l.at:], l.mode)
	switch {
	case size == 0:
		l.unexpected()
	case isKeyword(l.src[l.at:l.at+size], l.mode):
		l.emit(Keyword, size, 0)
	default:
		l.emit(NameTok, size, 0)
	}
}

// nameFollows reports whether s begins with a letter or a digit.
func nameFollows(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nd, r)
}

func nameSize(s string, mode Mode) int {
	i := 0
	for i < len(s) {
		if c := s[i]; isLetter(c) || isDigit(c) {
			i++
			continue
		} else if c < utf8.RuneSelf {
			if mode == IR && i > 0 && (c == '\'' || c == '.' && nameFollows(s[i+1:])) {
				i++
				continue
			}
			break
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsLetter(r) && (i == 0 || !unicode.Is(unicode.Nd, r)) {
			break
		}
		i += n
	}
	return i
}

// unexpected reports the character at the cursor and leaves a Bad token in its place; of several side by side only the first
// is reported.
func (l *lexer) unexpected() {
	r, n := utf8.DecodeRuneInString(l.src[l.at:])
	if k := len(l.tokens) - 1; k >= 0 && l.tokens[k].Kind == Bad {
		if last := &l.tokens[k]; int(last.Pos.Offset)+len(last.Text) == l.at {
			last.Text = l.src[last.Pos.Offset : l.at+n]
			l.at += n
			l.col++
			return
		}
	}
	d := diag.Errorf(l.pos(), "syntax", "unexpected character %q", r)
	if r == utf8.RuneError && n == 1 {
		d = diag.Errorf(l.pos(), "syntax", "unexpected byte 0x%02x: the text is not UTF-8", l.src[l.at])
	} else if fix := instead[r]; fix != "" && l.mode == Gk {
		d = d.WithFix("%s", fix)
	}
	l.errors.Add(d)
	l.emit(Bad, n, 0)
}

// number reads 12, 0x1f, 1.5, 1e-5, 1_000. A point counts only with a digit behind it: 0..4 is a range.
func (l *lexer) number() {
	s := l.src[l.at:]
	kind, size := numberSize(s)
	bad := size + wordSize(s[size:])
	if kind == FloatTok && bad == size && size+1 < len(s) && s[size] == '.' && isDigit(s[size+1]) {
		bad = digits(s, size+1, isDigit) // 1.2.3
	}
	if bad > size {
		l.errors.Add(diag.Errorf(l.pos(), "syntax", "malformed number %q", clip(s[:bad])))
	}
	l.emit(kind, bad, 0)
}

func numberSize(s string) (kind Kind, size int) {
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && isHex(s[2]) {
		return IntTok, digits(s, 2, isHex)
	}
	kind, size = IntTok, digits(s, 0, isDigit)
	if size+1 < len(s) && s[size] == '.' && isDigit(s[size+1]) {
		kind, size = FloatTok, digits(s, size+1, isDigit)
	}
	if e := exponent(s[size:]); e > 0 {
		kind, size = FloatTok, digits(s, size+e, isDigit)
	}
	return kind, size
}

// digits is the end of the digits and underscores that begin at i.
func digits(s string, i int, ok func(byte) bool) int {
	for i < len(s) && (ok(s[i]) || s[i] == '_') {
		i++
	}
	return i
}

// exponent is the length of an exponent's letter and sign in front of a digit, or 0.
func exponent(s string) int {
	switch {
	case len(s) < 2 || s[0]|0x20 != 'e':
		return 0
	case isDigit(s[1]):
		return 1
	case len(s) > 2 && (s[1] == '+' || s[1] == '-') && isDigit(s[2]):
		return 2
	}
	return 0
}

// wordSize is the length of the letters and digits that s begins with.
func wordSize(s string) int {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return i
		}
	}
	return len(s)
}

// text reads a quoted text.
func (l *lexer) text() {
	s, err := strconv.QuotedPrefix(l.src[l.at:])
	if err != nil {
		l.errors.Add(diag.Errorf(l.pos(), "syntax", "text in quotes without an end on its line, or with a malformed escape"))
		l.emit(Bad, 1, 0)
		return
	}
	l.emit(StringTok, len(s), 0)
}

// clip shortens a text for a message.
func clip(s string) string {
	const longest = 40
	n := 0
	for i := range s {
		if n++; n > longest {
			return s[:i] + "…"
		}
	}
	return s
}

func (l *lexer) symbol() {
	for _, s := range symbols[l.src[l.at]] {
		if (!s.ir || l.mode == IR) && strings.HasPrefix(l.src[l.at:], s.text) {
			l.emit(Symbol, len(s.text), s.prec)
			return
		}
	}
	l.unexpected()
}
