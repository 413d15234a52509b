package lang

import (
	"io"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/gkc-lang/gkc/ir/syntax"
)

// tokenKind is the kind of all tokens that participle sees: it compares their texts.
const tokenKind lexer.TokenType = 1

// window shows participle the tokens of one production. Tokens inside brackets are left out, because only productions of ours
// read those; so a window is short, and all of them share one buffer.
type window struct {
	lex    *lexer.PeekingLexer
	start  lexer.Checkpoint
	tokens []lexer.Token // what lex holds; the last one stays an end
	at     []int         // the token of the text that each one is
}

// open shows the tokens from p's cursor up to end.
func (w *window) open(p *syntax.Parser, end int) *lexer.PeekingLexer {
	w.at = w.at[:0]
	for i := p.At; i < end; i++ {
		w.at = append(w.at, i)
		if m := p.Match(i); m > i && m < end {
			i = m
		}
	}
	w.grow(len(w.at) + 1)
	for k, i := range w.at {
		w.tokens[k] = lexer.Token{Type: tokenKind, Value: p.Tokens[i].Text}
	}
	w.tokens[len(w.at)] = lexer.EOFToken(lexer.Position{})
	w.at = append(w.at, end)
	w.lex.LoadCheckpoint(w.start)
	return w.lex
}

// grow makes room for n tokens. Participle reads a stream once, into a slice that it also gives out: that one is refilled.
func (w *window) grow(n int) {
	if n <= len(w.tokens) {
		return
	}
	n = max(256, 2*n)
	lex, err := lexer.Upgrade(&padding{n})
	if err != nil {
		panic(err) // padding has no errors
	}
	w.lex, w.start, w.tokens = lex, lex.MakeCheckpoint(), lex.Range(0, lexer.RawCursor(n))
}

// token is the token of the text at participle's cursor.
func (w *window) token(lex *lexer.PeekingLexer) int { return w.at[lex.RawCursor()] }

// advance moves participle's cursor to the token at of the text.
func (w *window) advance(lex *lexer.PeekingLexer, at int) {
	k := int(lex.RawCursor())
	for k < len(w.at)-1 && w.at[k] < at {
		k++
	}
	lex.FastForward(lexer.RawCursor(k - 1))
}

// padding is a stream of n tokens and an end.
type padding struct{ n int }

// Next returns the next token.
func (b *padding) Next() (lexer.Token, error) {
	if b.n--; b.n < 0 {
		return lexer.EOFToken(lexer.Position{}), nil
	}
	return lexer.Token{Type: tokenKind}, nil
}

// tokenNames tells participle how tokens are called. It never splits a text itself.
type tokenNames struct{}

// Symbols maps the names of token kinds.
func (tokenNames) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{"EOF": lexer.EOF, "Token": tokenKind}
}

// Lex is part of participle's interface; it is not called, since Parse brings tokens.
func (tokenNames) Lex(string, io.Reader) (lexer.Lexer, error) { return nil, io.EOF }
