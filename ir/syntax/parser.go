package syntax

import (
	"slices"
	"strconv"

	"github.com/gkc-lang/gkc/ir/diag"
)

// Parser is a cursor over tokens. Its methods panic with a *diag.Diag on a mistake; Catch turns that into a value, so that
// the caller can go on behind it.
type Parser struct {
	Tokens   []Token
	Comments []Comment
	At       int
	// Stop, where it is set, reports that an expression cannot begin here although the token could: the next statement does.
	Stop func(p *Parser) bool

	mode   Mode
	depth  int
	match  []int32 // of each bracket, the index of its partner
	errors diag.List
	nodes  []Node  // a stock of nodes to hand out
	slots  []*Node // a stock of operand lists
	list   []*Node // the lists that are being read, one behind the other
}

// New makes a parser for a text. The problems of the tokens are returned; parsing may go on with what could be read.
func New(src string, mode Mode) (*Parser, diag.List) {
	tokens, comments, errs := Lex(src, mode)
	return &Parser{Tokens: tokens, Comments: comments, mode: mode, match: matchBrackets(tokens), errors: errs}, slices.Clone(errs)
}

// Fork returns another cursor over the same tokens, at token i, which may be used at the same time.
func (p *Parser) Fork(i int) *Parser {
	out := *p
	out.At, out.nodes, out.slots, out.list = i, nil, nil, nil
	return &out
}

// Catch runs f and returns the mistake that stopped it, or nil.
func (p *Parser) Catch(f func()) (d *diag.Diag) {
	stop := p.Stop
	defer func() {
		p.Stop = stop
		if r := recover(); r != nil {
			var ok bool
			if d, ok = r.(*diag.Diag); !ok {
				panic(r)
			}
		}
	}()
	p.depth, p.list = 0, p.list[:0]
	f()
	return nil
}

// Fail stops parsing with a mistake.
func (p *Parser) Fail(pos diag.Pos, code, format string, args ...any) {
	panic(diag.Errorf(pos, code, format, args...))
}

// Expected stops parsing because something else stands at the cursor. Where Lex has reported what stands there, that is the
// mistake, and no other.
func (p *Parser) Expected(what string) {
	t := p.Peek()
	if d := p.reported(t); d != nil {
		panic(d)
	}
	d := diag.Errorf(t.Pos, "syntax", "expected %s, found %s", what, show(t))
	d.End = t.EndPos()
	if t.Kind == End {
		d.End = diag.Pos{}
	}
	panic(d)
}

// reported finds the problem of a token that Lex had: its own for Bad ones, the last of all for an end that came too early.
func (p *Parser) reported(t Token) *diag.Diag {
	switch t.Kind {
	case Bad:
		for _, d := range p.errors {
			if d.Pos == t.Pos {
				return d
			}
		}
	case End:
		if n := len(p.errors); n == MaxErrors || n > 0 && p.unfinished() {
			return p.errors[n-1]
		}
	}
	return nil
}

// unfinished reports whether the text ends in a comment without an end.
func (p *Parser) unfinished() bool {
	n := len(p.Comments)
	return n > 0 && p.Comments[n-1].Pos == p.errors[len(p.errors)-1].Pos
}

func show(t Token) string {
	switch t.Kind {
	case End:
		return "the end of the text"
	case Keyword:
		return "the keyword '" + t.Text + "'"
	}
	return "'" + clip(t.Text) + "'"
}

// Peek is the current token.
func (p *Parser) Peek() Token { return p.Tokens[p.At] }

// PeekAt is the token n places ahead.
func (p *Parser) PeekAt(n int) Token { return p.Tokens[min(p.At+n, len(p.Tokens)-1)] }

// Next takes the current token; the end stays current.
func (p *Parser) Next() Token {
	t := p.Tokens[p.At]
	if t.Kind != End {
		p.At++
	}
	return t
}

// Last is the token that was taken last.
func (p *Parser) Last() Token { return p.Tokens[max(p.At-1, 0)] }

// Is reports whether the current token is this symbol, keyword or word.
func (p *Parser) Is(text string) bool {
	t := &p.Tokens[p.At]
	return t.Text == text && t.Kind != End
}

// Accept takes the current token if it is this symbol, keyword or word.
func (p *Parser) Accept(text string) bool {
	if p.Is(text) {
		p.At++
		return true
	}
	return false
}

// Expect takes this symbol, keyword or word. what says what stands there, for the message.
func (p *Parser) Expect(text, what string) Token {
	if !p.Is(text) {
		p.Expected(what)
	}
	return p.Next()
}

// Name takes a name.
func (p *Parser) Name(what string) Token {
	if p.Tokens[p.At].Kind != NameTok {
		p.Expected(what)
	}
	return p.Next()
}

// Text takes a quoted text and returns what it says.
func (p *Parser) Text(what string) string {
	if p.Peek().Kind != StringTok {
		p.Expected(what)
	}
	s, _ := strconv.Unquote(p.Next().Text) // the lexer saw that it is well formed
	return s
}

// List reads items separated by commas up to the closing symbol, which it leaves; a trailing comma is allowed.
func (p *Parser) List(closing string, item func()) {
	for !p.Is(closing) && p.Peek().Kind != End {
		item()
		if !p.Accept(",") {
			return
		}
	}
}

// ExprList reads expressions up to and including the closing symbol.
func (p *Parser) ExprList(closing string) []*Node {
	base := len(p.list)
	for !p.Is(closing) && p.Tokens[p.At].Kind != End {
		x := p.Expr()
		p.list = append(p.list, x)
		if !p.Accept(",") {
			break
		}
	}
	if !p.Accept(closing) {
		p.Expected("',' or '" + closing + "'")
	}
	out := p.operands(p.list[base:]...)
	p.list = p.list[:base]
	return out
}

// node hands out a node from the stock.
func (p *Parser) node(kind NodeKind, t *Token) *Node {
	if len(p.nodes) == 0 {
		p.nodes = make([]Node, 64)
	}
	n := &p.nodes[0]
	p.nodes = p.nodes[1:]
	n.Kind, n.Name, n.Pos, n.OpPos = kind, t.Text, t.Pos, t.Pos
	return n
}

// operands hands out a list from the stock. It is never nil.
func (p *Parser) operands(x ...*Node) []*Node {
	if len(x) == 0 {
		return []*Node{}
	}
	if len(p.slots) < len(x) {
		p.slots = make([]*Node, max(64, len(x)))
	}
	out := p.slots[:len(x):len(x)]
	p.slots = p.slots[len(x):]
	copy(out, x)
	return out
}
