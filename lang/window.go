package lang

import (
	"io"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/gkc-lang/gkc/ir/syntax"
)

const (
	tokenKind lexer.TokenType = 1 // of all tokens that participle sees: it compares their texts

	slots = 32 // more than a production has literals and parts
	ahead = 3  // more than the literals that stand side by side in a production
)

// window shows participle the next few tokens of a text. What our own productions read takes one slot, however long it is, and
// the slots behind it are filled again from where they ended. So participle, which wants all tokens beforehand and copies
// them, is handed no more than it looks at.
type window struct {
	lex    *lexer.PeekingLexer
	start  lexer.Checkpoint
	tokens []lexer.Token // what lex holds; it gives out its own slice, which is refilled
	at     [slots]int    // the token of the text in each slot
}

func newWindow() window {
	lex, err := lexer.Upgrade(&padding{slots})
	if err != nil {
		panic(err) // padding has no errors
	}
	return window{lex: lex, start: lex.MakeCheckpoint(), tokens: lex.Range(0, slots)}
}

// open moves participle's cursor to p's.
func (w *window) open(p *syntax.Parser) *lexer.PeekingLexer {
	w.lex.LoadCheckpoint(w.start)
	w.fill(p, 0)
	return w.lex
}

// fill puts the tokens from p's cursor on into the slots from slot on.
func (w *window) fill(p *syntax.Parser, slot int) {
	for i := range min(ahead, slots-slot) {
		t := p.PeekAt(i)
		w.at[slot+i] = min(p.At+i, len(p.Tokens)-1)
		w.tokens[slot+i] = lexer.Token{Type: tokenKind, Value: t.Text}
		if t.Kind == syntax.End {
			w.tokens[slot+i] = lexer.EOFToken(lexer.Position{})
		}
	}
}

// token is the token of the text at participle's cursor.
func (w *window) token(lex *lexer.PeekingLexer) int { return w.at[lex.RawCursor()] }

// advance moves participle's cursor by a slot, behind which p's cursor stands.
func (w *window) advance(lex *lexer.PeekingLexer, p *syntax.Parser) {
	lex.FastForward(lex.RawCursor())
	w.fill(p, int(lex.RawCursor()))
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
