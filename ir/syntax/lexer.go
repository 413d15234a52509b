// Package syntax turns text into tokens and expressions. gk programs and the text of the three IR levels share it: they
// differ in a few symbols (Mode), not in how an expression is read.
package syntax

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gkc-lang/gkc/ir/diag"
)

// Mode selects what a text may contain.
type Mode uint8

// The modes.
const (
	Gk Mode = iota // programs: keywords, no bit operators
	IR             // IR text: names with dots and primes, bit operators, arrows
)

// Kind classifies a token.
type Kind uint8

// The token kinds.
const (
	End Kind = iota
	NameTok
	Keyword
	IntTok
	FloatTok
	Symbol
	StringTok // a quoted text as Go writes it; in IR text only
)

// Token is one word of a text.
type Token struct {
	Text  string
	Pos   diag.Pos
	Kind  Kind
	First bool // the first token of its line
}

// EndPos is the place just behind the token.
func (t Token) EndPos() diag.Pos {
	return diag.Pos{Line: t.Pos.Line, Col: t.Pos.Col + int32(utf8.RuneCountInString(t.Text)), Offset: t.Pos.Offset + int32(len(t.Text))}
}

// Comment is a comment with its delimiters. Token is the index of the token that follows it.
type Comment struct {
	Text  string
	Pos   diag.Pos
	Token int
	First bool // it begins its line
}

// MaxSource is the largest text that is read, in bytes.
const MaxSource = 16 << 20

var keywords = map[Mode]map[string]bool{
	Gk: set("const func kernel example where for in if else return from true false inf nan pi"),
	IR: set("where for in if else from true false inf nan pi"),
}

// Keywords lists the words of a gk program that cannot be names.
func Keywords() []string {
	return strings.Fields("const func kernel example where for in if else return from true false inf nan pi")
}

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// symbols, longest first.
var symbols = map[Mode][]string{
	Gk: {"->", "..", "**", "&&", "||", "==", "!=", "<=", ">=", "+=", "-", "+", "*", "/", "%", "<", ">", "=", "!", "(", ")", "{", "}", "[", "]", ",", ";", ":", "@"},
	IR: {"->", "<-", "..", "**", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-", "+", "*", "/", "%", "<", ">", "=", "!", "(", ")", "{", "}", "[", "]", ",", ";", ":", "@", "&", "|", "^", "~"},
}

type lexer struct {
	src      string
	at       int
	line     int32
	col      int32
	mode     Mode
	fresh    bool // nothing stands on this line yet
	tokens   []Token
	comments []Comment
	errors   diag.List
}

// MaxErrors is the number of problems after which reading a text stops.
const MaxErrors = 50

// Lex splits a text into tokens; the last one is of kind End. It goes on after mistakes and reports them all.
func Lex(src string, mode Mode) ([]Token, []Comment, diag.List) {
	l := &lexer{src: src, line: 1, col: 1, mode: mode, fresh: true, tokens: make([]Token, 0, len(src)/4+1)}
	if len(src) > MaxSource {
		l.errors.Add(diag.Errorf(diag.Pos{Line: 1, Col: 1}, "limit", "the text is larger than %d MiB", MaxSource>>20))
		l.src = ""
	}
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
	case c == '/' && strings.HasPrefix(l.src[l.at:], "//"):
		end := strings.IndexByte(l.src[l.at:], '\n')
		if end < 0 {
			end = len(l.src) - l.at
		}
		l.comment(end)
	case c == '/' && strings.HasPrefix(l.src[l.at:], "/*"):
		end := strings.Index(l.src[l.at+2:], "*/")
		if end < 0 {
			l.errors.Add(diag.Errorf(l.pos(), "syntax", "comment without an end: */ is missing"))
			l.comment(len(l.src) - l.at)
			return
		}
		l.comment(end + 4)
	case c >= '0' && c <= '9':
		l.number()
	case isLetter(c) || c >= utf8.RuneSelf:
		l.name()
	case c == '"' && l.mode == IR:
		l.text()
	default:
		l.symbol()
	}
}

func (l *lexer) emit(kind Kind, size int) {
	l.tokens = append(l.tokens, Token{Text: l.src[l.at : l.at+size], Pos: l.pos(), Kind: kind, First: l.fresh})
	l.fresh = false
	l.advance(size)
}

// advance moves over text without line ends.
func (l *lexer) advance(size int) {
	for _, c := range []byte(l.src[l.at : l.at+size]) {
		if c&0xC0 != 0x80 {
			l.col++
		}
	}
	l.at += size
}

func (l *lexer) comment(size int) {
	text := l.src[l.at : l.at+size]
	l.comments = append(l.comments, Comment{Text: strings.TrimRight(text, "\r"), Pos: l.pos(), Token: len(l.tokens), First: l.fresh})
	if n := strings.Count(text, "\n"); n > 0 {
		l.line += int32(n)
		l.at += size
		l.col = int32(utf8.RuneCountInString(text[strings.LastIndexByte(text, '\n')+1:])) + 1
		l.fresh = true
		return
	}
	l.advance(size)
}

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// name reads letters, digits and underscores; any Unicode letter or decimal digit counts. IR names may hold dots before a
// letter or digit, and end in primes.
func (l *lexer) name() {
	size := 0
	for rest := l.src[l.at:]; size < len(rest); {
		r, n := utf8.DecodeRuneInString(rest[size:])
		if r == '_' || unicode.IsLetter(r) || size > 0 && unicode.Is(unicode.Nd, r) {
			size += n
			continue
		}
		if l.mode == IR && size > 0 && (r == '\'' || r == '.' && size+1 < len(rest) && (isLetter(rest[size+1]) || isDigit(rest[size+1]))) {
			size += n
			continue
		}
		break
	}
	if size == 0 {
		r, n := utf8.DecodeRuneInString(l.src[l.at:])
		l.unexpected(r, n)
		return
	}
	if keywords[l.mode][l.src[l.at:l.at+size]] {
		l.emit(Keyword, size)
		return
	}
	l.emit(NameTok, size)
}

func (l *lexer) unexpected(r rune, size int) {
	d := diag.Errorf(l.pos(), "syntax", "unexpected character %q", r)
	if r == utf8.RuneError && size == 1 {
		d = diag.Errorf(l.pos(), "syntax", "unexpected byte 0x%02x: the text is not UTF-8", l.src[l.at])
	}
	l.errors.Add(d)
	l.fresh = false
	l.at += size
	l.col++
}

// number reads 12, 0x1f, 1.5, 1e-5, 1_000. A point counts only with a digit behind it: 0..4 is a range.
func (l *lexer) number() {
	s := l.src[l.at:]
	digits := func(i int, ok func(byte) bool) int {
		for i < len(s) && (ok(s[i]) || s[i] == '_') {
			i++
		}
		return i
	}
	kind, size := IntTok, 0
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && isHex(s[2]) {
		size = digits(2, isHex)
	} else {
		size = digits(0, isDigit)
		if size+1 < len(s) && s[size] == '.' && isDigit(s[size+1]) {
			kind, size = FloatTok, digits(size+1, isDigit)
		}
		if e := exponent(s[size:]); e > 0 {
			kind, size = FloatTok, digits(size+e, isDigit)
		}
	}
	if bad := size + wordSize(s[size:]); bad > size || size+1 < len(s) && kind == FloatTok && s[size] == '.' && isDigit(s[size+1]) {
		if bad == size {
			bad = digits(size+1, isDigit)
		}
		l.errors.Add(diag.Errorf(l.pos(), "syntax", "malformed number %q", clip(s[:bad])))
		l.emit(kind, bad)
		return
	}
	l.emit(kind, size)
}

// exponent is the length of an exponent's letter and sign in front of a digit, or 0.
func exponent(s string) int {
	switch {
	case len(s) > 1 && (s[0] == 'e' || s[0] == 'E') && isDigit(s[1]):
		return 1
	case len(s) > 2 && (s[0] == 'e' || s[0] == 'E') && (s[1] == '+' || s[1] == '-') && isDigit(s[2]):
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
		l.advance(1)
		return
	}
	l.emit(StringTok, len(s))
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

func (l *lexer) symbol() {
	rest := l.src[l.at:]
	for _, s := range symbols[l.mode] {
		if strings.HasPrefix(rest, s) {
			l.emit(Symbol, len(s))
			return
		}
	}
	l.unexpected(rune(rest[0]), 1)
}
