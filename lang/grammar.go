package lang

import (
	"io"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// The productions of a file. What lies between them (brackets around lists, separators, the order of the parts of a kernel)
// is driven by hand, because there the parser recovers from mistakes and participle would give up.
type (
	// fileSyntax makes all productions known to one parser.
	fileSyntax struct {
		Binding *bindingSyntax `parser:"  @@"`
		Func    *funcSyntax    `parser:"| @@"`
		Param   *paramSyntax   `parser:"| @@"`
		Stmt    *stmtSyntax    `parser:"| @@"`
	}

	// bindingSyntax is NAME = expr: of a const, a local name of a func, a value of an example.
	bindingSyntax struct {
		Name  word `parser:"@@ '='"`
		Value expr `parser:"@@"`
	}

	// funcSyntax is the head of a func.
	funcSyntax struct {
		Name    word    `parser:"@@"`
		Binders binders `parser:"( '[' @@ )?"`
		Params  names   `parser:"'(' @@"`
	}

	paramSyntax struct {
		Name    word  `parser:"@@ ':'"`
		Type    dtype `parser:"@@"`
		Extents list  `parser:"( '[' @@ )?"`
		Edge    edge  `parser:"@@?"`
		Default expr  `parser:"( '=' @@ )?"`
	}

	// stmtSyntax is a statement, or a declaration where no operator follows.
	stmtSyntax struct {
		Name    word          `parser:"@@"`
		Edge    edge          `parser:"@@?"`
		Indices list          `parser:"( '[' @@ )?"`
		Type    dtype         `parser:"( ':' @@"`
		Extents list          `parser:"( '[' @@ )? )?"`
		Op      operator      `parser:"( @@"`
		Value   expr          `parser:"@@"`
		Tails   []*tailSyntax `parser:"@@* )?"`
	}

	tailSyntax struct {
		From   expr   `parser:"  'from' @@"`
		Ranges ranges `parser:"| 'for' @@"`
	}
)

// The parts that syntax.Parser reads: expressions need its precedence climbing and its limits, lists a comma at their end.
// Participle asks for interface types here; what they hold is said behind each.
type (
	word     any // syntax.Token
	dtype    any // syntax.Token
	expr     any // *syntax.Node
	edge     any // *syntax.Edge
	list     any // []*syntax.Node, with the closing bracket
	names    any // []Word, with the closing parenthesis
	binders  any // []Word, with the closing bracket
	ranges   any // []syntax.Binder
	operator any // syntax.Token: = += max= min=
)

// grammar is a built participle parser. Its productions read from p, so that one grammar serves one text at a time.
type grammar struct {
	p       *syntax.Parser
	lex     *lexer.PeekingLexer
	start   lexer.Checkpoint // where the last production began
	fault   *diag.Diag       // what stopped a production of ours
	binding *participle.Parser[bindingSyntax]
	fn      *participle.Parser[funcSyntax]
	param   *participle.Parser[paramSyntax]
	stmt    *participle.Parser[stmtSyntax]
}

// grammars keeps built grammars: building one takes longer than reading a small file.
var grammars = sync.Pool{New: func() any { return newGrammar() }}

func newGrammar() *grammar {
	g := &grammar{}
	file := participle.MustBuild[fileSyntax](participle.Lexer(tokenStream{}),
		production[word](g, func(p *syntax.Parser) any { return p.Name("a name") }),
		production[dtype](g, func(p *syntax.Parser) any { return p.Name("a dtype") }),
		production[expr](g, func(p *syntax.Parser) any { return p.Expr() }),
		production[list](g, func(p *syntax.Parser) any { return p.ExprList("]") }),
		production[names](g, func(p *syntax.Parser) any { return nameList(p, ")") }),
		production[binders](g, func(p *syntax.Parser) any { return nameList(p, "]") }),
		production[ranges](g, func(p *syntax.Parser) any { return rangeList(p) }),
		production[edge](g, func(p *syntax.Parser) any {
			if !p.Is("@") {
				return nil
			}
			return p.Edge()
		}),
		production[operator](g, assignment),
	)
	g.binding = part[bindingSyntax](file)
	g.fn = part[funcSyntax](file)
	g.param = part[paramSyntax](file)
	g.stmt = part[stmtSyntax](file)
	return g
}

func part[P, G any](file *participle.Parser[G]) *participle.Parser[P] {
	p, err := participle.ParserForProduction[P](file)
	if err != nil {
		panic(err)
	}
	return p
}

// production lets participle read a T through syntax.Parser. read returns nil where nothing of the kind begins.
func production[T any](g *grammar, read func(*syntax.Parser) any) participle.Option {
	return participle.ParseTypeWith(func(lex *lexer.PeekingLexer) (out T, err error) {
		g.p.At = int(lex.RawCursor())
		var x any
		if d := g.p.Catch(func() { x = read(g.p) }); d != nil {
			g.fault = d
			return out, d
		}
		if x == nil {
			return out, participle.NextMatch
		}
		lex.FastForward(lexer.RawCursor(g.p.At - 1))
		return x.(T), nil
	})
}

// use starts reading a text.
func (g *grammar) use(p *syntax.Parser) {
	lex, err := lexer.Upgrade(&tokenReader{tokens: p.Tokens})
	if err != nil {
		panic(err) // tokenReader has no errors
	}
	g.p, g.lex = p, lex
	g.start = lex.MakeCheckpoint()
}

// done gives the grammar back.
func (g *grammar) done() {
	g.p, g.lex, g.fault = nil, nil, nil
	grammars.Put(g)
}

// read reads one production at the cursor and leaves it behind, or where the mistake is. next says what has to follow the
// name: the one thing that the productions themselves ask for.
func read[P any](g *grammar, production *participle.Parser[P], next string) *P {
	g.fault = nil
	if int(g.lex.RawCursor()) > g.p.At { // the cursor resumed behind a mistake, in what was read already
		g.lex.LoadCheckpoint(g.start)
	}
	g.start = g.lex.MakeCheckpoint()
	g.lex.FastForward(lexer.RawCursor(g.p.At - 1))
	out, err := production.ParseFromLexer(g.lex, participle.AllowTrailing(true))
	if g.fault != nil {
		panic(g.fault)
	}
	g.p.At = int(g.lex.RawCursor())
	if err != nil {
		g.p.Expected(next)
	}
	return out
}

func nameList(p *syntax.Parser, closing string) []Word {
	out := []Word{}
	p.List(closing, func() { out = append(out, wordOf(p.Name("a name"))) })
	p.Expect(closing, "',' or '"+closing+"'")
	return out
}

func wordOf(x any) Word {
	if x == nil {
		return Word{}
	}
	t := x.(syntax.Token)
	return Word{t.Text, t.Pos}
}

// rangeList reads j in lo..hi, …; a comma that no range follows ends it.
func rangeList(p *syntax.Parser) []syntax.Binder {
	var out []syntax.Binder
	for {
		out = append(out, p.Range())
		if !p.Is(",") || p.PeekAt(1).Kind != syntax.NameTok || p.PeekAt(2).Text != "in" {
			break
		}
		p.Next()
	}
	p.Accept(",")
	return out
}

// assignment reads = += max= min=.
func assignment(p *syntax.Parser) any {
	t := p.Peek()
	switch {
	case t.Kind == syntax.Symbol && (t.Text == "=" || t.Text == "+="):
		return p.Next()
	case (t.Text == "max" || t.Text == "min") && p.PeekAt(1).Text == "=":
		p.Next()
		p.Next()
		t.Text += "="
		return t
	}
	return nil
}

// tokenStream tells participle how tokens are called. Texts are split by ir/syntax, so that it never splits one itself.
type tokenStream struct{}

// Symbols maps the names of token kinds.
func (tokenStream) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{"EOF": lexer.EOF, "Token": 1}
}

// Lex is asked for by participle's interface.
func (tokenStream) Lex(name string, r io.Reader) (lexer.Lexer, error) {
	src, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	tokens, _, errs := syntax.Lex(string(src), syntax.Gk)
	return &tokenReader{tokens: tokens}, errs.Err()
}

// tokenReader hands tokens to participle, which needs no more of them than their text.
type tokenReader struct {
	tokens []syntax.Token
	at     int
}

// Next returns the next token.
func (r *tokenReader) Next() (lexer.Token, error) {
	t := &r.tokens[r.at]
	if t.Kind == syntax.End {
		return lexer.EOFToken(lexer.Position{}), nil
	}
	r.at++
	return lexer.Token{Type: 1, Value: t.Text}, nil
}
