package lang

import (
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
		Binders binders `parser:"@@?"`
		Params  names   `parser:"@@"`
	}

	paramSyntax struct {
		Param   declared `parser:"@@"`
		Default expr     `parser:"( '=' @@ )?"`
	}

	// stmtSyntax is a statement, or a declaration where no operator follows.
	stmtSyntax struct {
		Target target   `parser:"@@"`
		Op     operator `parser:"( @@"`
		Value  expr     `parser:"  @@"`
		From   expr     `parser:"  ( 'from' @@ )?"`
		Ranges ranges   `parser:"  ( 'for' @@ )? )?"`
	}
)

// The parts that syntax.Parser reads: expressions need its precedence climbing and its limits, lists a comma at their end.
// Participle spends far more on a part than these do, so they are not small. It asks for interface types here; what they hold is
// said behind each.
type (
	word     any // syntax.Token
	declared any // *Param, without a default
	target   any // *Stmt, what stands left of the operator
	expr     any // *syntax.Node
	names    any // []Word in parentheses
	binders  any // []Word in brackets
	ranges   any // []syntax.Binder
	operator any // syntax.Token: = += max= min=
)

// grammar is a built participle parser with the cursor that its productions share; it serves one text at a time.
type grammar struct {
	p       *syntax.Parser
	window  window
	fault   *diag.Diag // what stopped a production of ours
	binding *participle.Parser[bindingSyntax]
	fn      *participle.Parser[funcSyntax]
	param   *participle.Parser[paramSyntax]
	stmt    *participle.Parser[stmtSyntax]
}

// done gives the grammar back for another text.
func (g *grammar) done() {
	g.p, g.fault = nil, nil
	grammars.Put(g)
}

// grammars keeps built grammars: building one takes longer than reading a small file.
var grammars = sync.Pool{New: func() any { return newGrammar() }}

func newGrammar() *grammar {
	g := &grammar{window: newWindow()}
	file := participle.MustBuild[fileSyntax](participle.Lexer(tokenNames{}),
		production[word](g, func(p *syntax.Parser) any { return p.Name("a name") }),
		production[declared](g, func(p *syntax.Parser) any { return paramOf(p) }),
		production[target](g, func(p *syntax.Parser) any { return targetOf(p) }),
		production[expr](g, func(p *syntax.Parser) any { return p.Expr() }),
		production[names](g, func(p *syntax.Parser) any {
			p.Expect("(", "'(' and parameters")
			return nameList(p, ")")
		}),
		production[binders](g, func(p *syntax.Parser) any {
			if !p.Accept("[") {
				return nil
			}
			return nameList(p, "]")
		}),
		production[ranges](g, func(p *syntax.Parser) any { return rangeList(p) }),
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
		if g.fault != nil { // participle tries what else could stand there
			return out, g.fault
		}
		g.p.At = g.window.token(lex)
		var x any
		if d := g.p.Catch(func() { x = read(g.p) }); d != nil {
			g.fault = d
			return out, d
		}
		if x == nil {
			return out, participle.NextMatch
		}
		g.window.advance(lex, g.p)
		return x.(T), nil
	})
}

// read reads one production from the cursor on, and leaves the cursor behind it or where the mistake is. next says what
// participle itself asks for in it.
func read[P any](g *grammar, production *participle.Parser[P], next string) *P {
	g.fault = nil
	lex := g.window.open(g.p)
	out, err := production.ParseFromLexer(lex, participle.AllowTrailing(true))
	if g.fault != nil {
		panic(g.fault)
	}
	g.p.At = g.window.token(lex)
	if err != nil {
		g.p.Expected(next)
	}
	return out
}

// paramOf reads NAME: dtype[extents]@boundary; a scalar has no extents.
func paramOf(p *syntax.Parser) *Param {
	out := &Param{Word: wordOf(p.Name("a name"))}
	p.Expect(":", "':' and a dtype")
	out.Type = wordOf(p.Name("a dtype"))
	out.Extents, _ = list(p)
	if p.Is("@") {
		out.Edge = p.Edge()
	}
	return out
}

// targetOf reads NAME@boundary[indices]: dtype, or the declaration NAME: dtype[extents].
func targetOf(p *syntax.Parser) *Stmt {
	out := &Stmt{Word: wordOf(p.Name("a name"))}
	if p.Is("@") {
		out.Edge = p.Edge()
	}
	out.Indices, _ = list(p)
	if !p.Accept(":") {
		return out
	}
	out.Type = wordOf(p.Name("a dtype"))
	if extents, ok := list(p); ok {
		out.Declare = &Param{Word: out.Word, Type: out.Type, Extents: extents}
	}
	return out
}

// list reads expressions in brackets, if there are any brackets. Nothing in them is as good as none.
func list(p *syntax.Parser) (out []*syntax.Node, ok bool) {
	if !p.Accept("[") {
		return nil, false
	}
	if out = p.ExprList("]"); len(out) == 0 {
		out = nil
	}
	return out, true
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
