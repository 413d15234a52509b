// Package syntax turns text into tokens and expressions. gk programs and the text of the three IR levels share it: they
// differ in a few symbols (Mode), not in how an expression is read.
package syntax

import (
	"strings"
	"unicode/utf8"

	"github.com/gkc-lang/gkc/ir/diag"
)

// Mode selects what a text may contain.
type Mode uint8

// The modes.
const (
	Gk Mode = iota // programs: keywords, no bit operators
	IR             // IR text: names with dots and primes, quoted texts, bit operators, arrows
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
	Bad       // what no token begins with; Lex reported it
)

// Token is one word of a text.
type Token struct {
	Text  string
	Pos   diag.Pos
	Kind  Kind
	First bool // the first token of its line
	prec  int8 // of a symbol that stands between operands: how tight it binds
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

// Limits of a text.
const (
	MaxSource = 16 << 20 // bytes
	MaxErrors = 50       // problems after which reading stops
)

const (
	constants  = "true false inf nan pi"
	irKeywords = "where for in if else from " + constants
	gkKeywords = "const func kernel example return " + irKeywords
)

// Keywords lists the words of a gk program that cannot be names.
func Keywords() []string { return strings.Fields(gkKeywords) }

func isKeyword(word string, mode Mode) bool {
	switch word {
	case "where", "for", "in", "if", "else", "from", "true", "false", "inf", "nan", "pi":
		return true
	case "const", "func", "kernel", "example", "return":
		return mode == Gk
	}
	return false
}

// symbolInfo is a symbol of one or two characters and its precedence between operands.
type symbolInfo struct {
	text string
	prec int8
	ir   bool // in IR text only
}

const comparison = 3

// symbols by their first byte, longer ones first.
var symbols = func() (table [128][]symbolInfo) {
	for _, s := range []symbolInfo{
		{"||", 1, false}, {"&&", 2, false},
		{"==", comparison, false}, {"!=", comparison, false}, {"<=", comparison, false}, {">=", comparison, false},
		{"->", 0, false}, {"<-", 0, true}, {"..", 0, false}, {"**", 0, false}, {"+=", 0, false}, {"<<", 7, true}, {">>", 7, true},
		{"<", comparison, false}, {">", comparison, false}, {"|", 4, true}, {"^", 5, true}, {"&", 6, true},
		{"+", 8, false}, {"-", 8, false}, {"*", 9, false}, {"/", 9, false}, {"%", 9, false},
		{"=", 0, false}, {"!", 0, false}, {"~", 0, true},
		{"(", 0, false}, {")", 0, false}, {"[", 0, false}, {"]", 0, false}, {"{", 0, false}, {"}", 0, false},
		{",", 0, false}, {";", 0, false}, {":", 0, false}, {"@", 0, false},
	} {
		table[s.text[0]] = append(table[s.text[0]], s)
	}
	return table
}()

// instead says what to write for characters that other languages or editors use.
var instead = map[rune]string{
	'&':  "'&&' joins conditions, bitand(a, b) joins bits",
	'|':  "'||' joins conditions, bitor(a, b) joins bits",
	'^':  "a power is x ** y, an exclusive or is bitxor(a, b)",
	'~':  "the complement of x is -1 - x",
	'?':  "a choice is if c { a } else { b }",
	'#':  "a comment begins with //",
	'.':  "a number has a digit in front of its point: 0.5",
	'×':  "a product is x * y",
	'·':  "a product is x * y",
	'÷':  "a quotient is x / y",
	'−':  "minus is -",
	'–':  "minus is -",
	'≤':  "write <=",
	'≥':  "write >=",
	'≠':  "write !=",
	'→':  "write ->",
	'\'': "indices and names have no primes here",
}
