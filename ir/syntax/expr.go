package syntax

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/gkc-lang/gkc/ir/diag"
)

// Limits of an expression. They bound the stack of every later walk: a chain a + b + c + … is as deep as it is long.
const (
	MaxDepth = 200  // brackets, ifs and unary operators inside each other
	MaxChain = 4000 // operators in one chain
)

// Parser is a cursor over tokens. Its methods panic with a *diag.Diag on a mistake; Catch turns that into a value, so that
// the caller can go on behind it.
type Parser struct {
	Tokens   []Token
	Comments []Comment
	At       int
	mode     Mode
	depth    int
	match    []int32 // of each bracket, the index of its partner
	// Stop, where it is set, reports that an expression cannot begin here although the token could: the next statement does.
	Stop func(p *Parser) bool
}

// New makes a parser for a text. The problems of the tokens are returned; parsing may go on with what could be read.
func New(src string, mode Mode) (*Parser, diag.List) {
	tokens, comments, errs := Lex(src, mode)
	return &Parser{Tokens: tokens, Comments: comments, mode: mode, match: matchBrackets(tokens)}, errs
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
	p.depth = 0
	f()
	return nil
}

// Fail stops parsing with a mistake.
func (p *Parser) Fail(pos diag.Pos, code, format string, args ...any) {
	panic(diag.Errorf(pos, code, format, args...))
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

// Expected stops parsing because something else stands at the cursor.
func (p *Parser) Expected(what string) {
	t := p.Peek()
	p.Fail(t.Pos, "syntax", "expected %s, found %s", what, show(t))
}

func show(t Token) string {
	if t.Kind == End {
		return "the end of the text"
	}
	return "'" + clip(t.Text) + "'"
}

// Name takes a name.
func (p *Parser) Name(what string) Token {
	t := p.Peek()
	if t.Kind != NameTok {
		if t.Kind == Keyword {
			p.Fail(t.Pos, "syntax", "expected %s, found the keyword '%s'", what, t.Text)
		}
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
	var out []*Node
	p.List(closing, func() { out = append(out, p.Expr()) })
	p.Expect(closing, "',' or '"+closing+"'")
	return out
}

// Expr reads an expression.
func (p *Parser) Expr() *Node {
	defer p.enter()()
	if p.Is("if") && p.Peek().Kind == Keyword {
		return p.ifExpr()
	}
	return p.binary(1)
}

// enter counts nesting; the returned function leaves again.
func (p *Parser) enter() func() {
	if p.depth++; p.depth > MaxDepth {
		p.Fail(p.Peek().Pos, "limit", "nesting deeper than %d", MaxDepth)
	}
	return func() { p.depth-- }
}

var levels = map[Mode]map[string]int{
	Gk: {"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "+": 8, "-": 8, "*": 9, "/": 9, "%": 9},
	IR: {"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "|": 4, "^": 5, "&": 6, "<<": 7, ">>": 7, "+": 8, "-": 8, "*": 9, "/": 9, "%": 9},
}

const comparison = 3

// binary reads operators that bind at least as tight as level.
func (p *Parser) binary(level int) *Node {
	a := p.unary()
	for {
		t := p.Peek()
		prec := 0
		if t.Kind == Symbol {
			prec = levels[p.mode][t.Text]
		}
		if prec < level || prec == 0 {
			return a
		}
		p.Next()
		b := p.binary(prec + 1)
		a = p.operator(&Node{Kind: Binary, Name: t.Text, OpPos: t.Pos, Pos: a.Pos, End: b.End, Args: []*Node{a, b}})
		if next := p.Peek(); prec == comparison && next.Kind == Symbol && levels[p.mode][next.Text] == comparison {
			p.Fail(next.Pos, "syntax", "comparisons do not chain: write a < b && b < c")
		}
	}
}

// operator bounds the height of trees of operators.
func (p *Parser) operator(n *Node) *Node {
	height := int32(0)
	for _, a := range n.Args {
		height = max(height, a.height)
	}
	if height++; height > MaxChain {
		p.Fail(n.OpPos, "limit", "an expression with more than %d operators in a row; give a part of it a name", MaxChain)
	}
	n.height = height
	return n
}

func (p *Parser) unary() *Node {
	t := p.Peek()
	if t.Kind == Symbol && (t.Text == "-" || t.Text == "!") {
		p.Next()
		defer p.enter()()
		x := p.unary()
		return p.operator(&Node{Kind: Unary, Name: t.Text, OpPos: t.Pos, Pos: t.Pos, End: x.End, Args: []*Node{x}})
	}
	return p.power()
}

// power reads x ** y, which binds to the right; y may carry a sign.
func (p *Parser) power() *Node {
	a := p.primary()
	t := p.Peek()
	if t.Kind != Symbol || t.Text != "**" {
		return a
	}
	p.Next()
	defer p.enter()()
	b := p.unary()
	return p.operator(&Node{Kind: Binary, Name: "**", OpPos: t.Pos, Pos: a.Pos, End: b.End, Args: []*Node{a, b}})
}

func (p *Parser) ifExpr() *Node {
	t := p.Next()
	c := p.Expr()
	p.Expect("{", "'{' after the condition")
	a := p.Expr()
	p.Expect("}", "'}'")
	p.Expect("else", "'else': an if is an expression and needs both values")
	n := &Node{Kind: If, Name: "if", Pos: t.Pos, OpPos: t.Pos}
	var b *Node
	if p.Is("if") {
		b = p.Expr()
	} else {
		p.Expect("{", "'{'")
		b = p.Expr()
		p.Expect("}", "'}'")
	}
	n.Args, n.End = []*Node{c, a, b}, p.Last().EndPos()
	return p.operator(n)
}

func (p *Parser) primary() *Node {
	t := p.Peek()
	if p.Stop != nil && p.Stop(p) {
		p.Fail(t.Pos, "syntax", "expected an expression, found the next statement, %s = …", t.Text)
	}
	switch t.Kind {
	case IntTok, FloatTok:
		p.Next()
		return p.number(t)
	case Keyword:
		if n := p.constant(t); n != nil {
			return n
		}
		if t.Text == "if" {
			return p.Expr()
		}
	case NameTok:
		p.Next()
		return p.named(t)
	case Symbol:
		if t.Text == "(" {
			p.Next()
			x := p.Expr()
			end := p.Expect(")", "')'")
			x.Paren = true
			x.Pos, x.End = t.Pos, end.EndPos()
			return x
		}
	}
	p.Expected("an expression")
	return nil
}

func (p *Parser) number(t Token) *Node {
	n := &Node{Kind: Number, Name: t.Text, Pos: t.Pos, End: t.EndPos()}
	digits := strings.ReplaceAll(t.Text, "_", "")
	if t.Kind == FloatTok {
		n.NumKind = FloatNum
		x, err := strconv.ParseFloat(digits, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return n // a malformed number, which the lexer reported
		}
		n.Float = x
		return n
	}
	base := 10
	if len(digits) > 2 && (digits[1] == 'x' || digits[1] == 'X') {
		digits, base = digits[2:], 16
	}
	x, err := strconv.ParseUint(digits, base, 64)
	if errors.Is(err, strconv.ErrRange) || p.mode == Gk && x > math.MaxInt64 {
		p.Fail(t.Pos, "limit", "the integer %s does not fit 64 bits", clip(t.Text))
	}
	n.Int, n.Float = x, float64(x)
	return n
}

// constant reads the words that are numbers; nil for other keywords.
func (p *Parser) constant(t Token) *Node {
	n := &Node{Kind: Number, NumKind: FloatNum, Name: t.Text, Pos: t.Pos, End: t.EndPos()}
	switch t.Text {
	case "inf":
		n.Float = math.Inf(1)
	case "nan":
		n.Float = math.NaN()
	case "pi":
		n.Float = math.Pi
	case "true":
		n.NumKind, n.Int = BoolNum, 1
	case "false":
		n.NumKind = BoolNum
	default:
		return nil
	}
	p.Next()
	return n
}

// named reads what follows a name: nothing, (arguments), [subscripts], @boundary[subscripts], or [binders](arguments).
func (p *Parser) named(t Token) *Node {
	n := &Node{Kind: Name, Name: t.Text, Pos: t.Pos, End: t.EndPos()}
	switch {
	case p.Is("@") && p.PeekAt(1).Kind != Symbol:
		n.Kind, n.Edge = Index, p.Edge()
		p.Expect("[", "'[' after the boundary")
		n.Args = p.ExprList("]")
	case p.Is("[") && p.callFollows():
		p.Next()
		p.bind(n)
	case p.Accept("["):
		n.Kind, n.Args = Index, p.ExprList("]")
	case p.Accept("("):
		n.Kind, n.Args = Call, p.ExprList(")")
	default:
		return n
	}
	n.End = p.Last().EndPos()
	return p.operator(n)
}

// callFollows reports whether the bracket that opens here closes in front of a parenthesis: binders, not subscripts.
func (p *Parser) callFollows() bool {
	end := p.Match(p.At)
	return end >= 0 && p.Tokens[end+1].Text == "("
}

// Edge reads @kind or @const(value).
func (p *Parser) Edge() *Edge {
	p.Expect("@", "'@'")
	t := p.Peek()
	if t.Kind != NameTok && t.Text != "const" {
		p.Expected("a boundary: zero, clamp, wrap, mirror or const(value)")
	}
	p.Next()
	e := &Edge{Kind: t.Text, Pos: t.Pos}
	if t.Text == "const" {
		p.Expect("(", "'(' and a value")
		e.Value = p.Expr()
		p.Expect(")", "')'")
	}
	return e
}

func (p *Parser) bind(n *Node) {
	n.Kind = Bind
	for !p.Is("]") && !p.Is("where") && p.Peek().Kind != End {
		n.Binders = append(n.Binders, p.Binder())
		if !p.Accept(",") {
			break
		}
	}
	if p.Accept("where") {
		n.Where = p.Expr()
		p.Accept(",")
	}
	p.Expect("]", "']'")
	p.Expect("(", "'('")
	n.Args = p.ExprList(")")
}

// Binder reads j, j in lo..hi, j: f64, j reverse exclusive.
func (p *Parser) Binder() Binder {
	t := p.Name("an index")
	b := Binder{Name: t.Text, Pos: t.Pos}
	if p.Is("in") {
		stop := p.Stop
		p.Stop = nil // a type may follow the end of the range: NAME ':' does not begin a statement here
		p.bounds(&b)
		p.Stop = stop
	}
	if p.Accept(":") {
		d := p.Name("a dtype")
		b.Type, b.TypePos = d.Text, d.Pos
	}
	for p.Is("reverse") || p.Is("exclusive") {
		b.Flags = append(b.Flags, p.Next().Text)
	}
	return b
}

// Range reads j in lo..hi.
func (p *Parser) Range() Binder {
	t := p.Name("an index")
	b := Binder{Name: t.Text, Pos: t.Pos}
	p.bounds(&b)
	return b
}

func (p *Parser) bounds(b *Binder) {
	p.Expect("in", "'in' and a range")
	b.Lo = p.Expr()
	p.Expect("..", "'..'")
	b.Hi = p.Expr()
}
