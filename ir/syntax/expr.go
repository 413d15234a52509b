package syntax

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Limits of an expression. They bound the stack of every later walk: a chain a + b + c + … is as deep as it is long.
const (
	MaxDepth = 200  // brackets, ifs and unary operators inside each other
	MaxChain = 4000 // operators in one chain, and the height of any expression
)

// Expr reads an expression.
func (p *Parser) Expr() *Node {
	p.enter()
	var n *Node
	if p.Is("if") && p.Tokens[p.At].Kind == Keyword {
		n = p.ifExpr()
	} else {
		n = p.binary(1)
	}
	p.depth--
	return n
}

// enter counts nesting.
func (p *Parser) enter() {
	if p.depth++; p.depth > MaxDepth {
		p.Fail(p.Peek().Pos, "limit", "nesting deeper than %d", MaxDepth)
	}
}

// binary reads operators that bind at least as tight as level.
func (p *Parser) binary(level int8) *Node {
	start := p.At
	a := p.unary()
	for {
		t := &p.Tokens[p.At]
		if t.prec < level { // 0 for everything that stands not between operands
			return a
		}
		p.At++
		b := p.binary(t.prec + 1)
		a = p.operation(Binary, t, start, a, b)
		if t.prec == comparison && p.Tokens[p.At].prec == comparison {
			p.Fail(p.Peek().Pos, "syntax", "comparisons do not chain: write a < b && b < c")
		}
	}
}

// operation makes a node of operands that begin at token start and end at the cursor.
func (p *Parser) operation(kind NodeKind, op *Token, start int, args ...*Node) *Node {
	n := p.node(kind, op)
	n.Args = p.operands(args...)
	return p.span(n, start)
}

// span sets where n begins and ends, and bounds its height.
func (p *Parser) span(n *Node, start int) *Node {
	n.Pos, n.End = p.Tokens[start].Pos, p.Last().EndPos()
	height := int32(0)
	grow := func(x *Node) {
		if x != nil {
			height = max(height, x.height)
		}
	}
	for _, a := range n.Args {
		grow(a)
	}
	for i := range n.Binders {
		grow(n.Binders[i].Lo)
		grow(n.Binders[i].Hi)
	}
	grow(n.Where)
	if n.Edge != nil {
		grow(n.Edge.Value)
	}
	if n.height = height + 1; n.height > MaxChain {
		p.Fail(n.OpPos, "limit", "an expression with more than %d operators in a row; give a part of it a name", MaxChain)
	}
	return n
}

func (p *Parser) unary() *Node {
	t := &p.Tokens[p.At]
	if t.Kind != Symbol || t.Text != "-" && t.Text != "!" {
		return p.power()
	}
	start := p.At
	p.At++
	p.enter()
	x := p.unary()
	p.depth--
	return p.operation(Unary, t, start, x)
}

// power reads x ** y, which binds to the right; y may carry a sign.
func (p *Parser) power() *Node {
	start := p.At
	a := p.primary()
	t := &p.Tokens[p.At]
	if t.Text != "**" || t.Kind != Symbol {
		return a
	}
	p.At++
	p.enter()
	b := p.unary()
	p.depth--
	return p.operation(Binary, t, start, a, b)
}

// ifExpr reads if c { a } else if … else { b }. The arms of a long one are a chain, not a nest.
func (p *Parser) ifExpr() *Node {
	type arm struct {
		at         int
		cond, then *Node
	}
	var arms []arm
	for p.Is("if") {
		a := arm{at: p.At}
		p.At++
		a.cond = p.Expr()
		a.then = p.block("'{' after the condition")
		p.Expect("else", "'else': an if is an expression and needs both values")
		if arms = append(arms, a); len(arms) > MaxChain {
			p.Fail(p.Tokens[a.at].Pos, "limit", "an if with more than %d arms", MaxChain)
		}
	}
	n := p.block("'{' or 'if'")
	for i := len(arms) - 1; i >= 0; i-- {
		a := arms[i]
		n = p.operation(If, &p.Tokens[a.at], a.at, a.cond, a.then, n)
	}
	return n
}

// block reads { x }.
func (p *Parser) block(opening string) *Node {
	p.Expect("{", opening)
	x := p.Expr()
	p.Expect("}", "'}'")
	return x
}

func (p *Parser) primary() *Node {
	if p.Stop != nil && p.Stop(p) {
		t := p.Peek()
		p.Fail(t.Pos, "syntax", "expected an expression, found the next statement, which defines %s", clip(t.Text))
	}
	t := &p.Tokens[p.At]
	switch t.Kind {
	case IntTok, FloatTok:
		p.At++
		return p.number(t)
	case Keyword:
		if t.Text == "if" {
			return p.Expr()
		}
		if n := p.constant(t); n != nil {
			return n
		}
	case NameTok:
		p.At++
		return p.named(t)
	case Symbol:
		if t.Text == "(" {
			p.At++
			x := p.Expr()
			p.Expect(")", "')'")
			x.Paren = true
			return x
		}
	}
	p.Expected("an expression")
	return nil
}

func (p *Parser) number(t *Token) *Node {
	n := p.node(Number, t)
	n.End = t.EndPos()
	digits := strings.ReplaceAll(t.Text, "_", "")
	if t.Kind == FloatTok {
		n.NumKind = FloatNum
		x, err := strconv.ParseFloat(digits, 64)
		switch {
		case errors.Is(err, strconv.ErrRange):
			p.Fail(t.Pos, "limit", "the number %s is too large for 64 bits", clip(t.Text))
		case err == nil: // else malformed, which the lexer reported
			n.Float = x
		}
		return n
	}
	base := 10
	if len(digits) > 2 && digits[1]|0x20 == 'x' {
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
func (p *Parser) constant(t *Token) *Node {
	kind, value, truth := FloatNum, 0.0, uint64(0)
	switch t.Text {
	case "inf":
		value = math.Inf(1)
	case "nan":
		value = math.NaN()
	case "pi":
		value = math.Pi
	case "true":
		kind, truth = BoolNum, 1
	case "false":
		kind = BoolNum
	default:
		return nil
	}
	p.At++
	n := p.node(Number, t)
	n.NumKind, n.Float, n.Int, n.End = kind, value, truth, t.EndPos()
	return n
}

// named reads what follows a name: nothing, (arguments), [subscripts], @boundary[subscripts], or [binders](arguments).
func (p *Parser) named(t *Token) *Node {
	start := p.At - 1
	n := p.node(Name, t)
	switch {
	case p.Is("@") && (p.mode == Gk || p.PeekAt(1).Kind != Symbol):
		n.Kind, n.Edge = Index, p.Edge()
		p.Expect("[", "'[' after the boundary")
		n.Args = p.ExprList("]")
	case p.Is("[") && p.callFollows():
		p.At++
		p.bind(n)
	case p.Accept("["):
		n.Kind, n.Args = Index, p.ExprList("]")
	case p.Accept("("):
		n.Kind, n.Args = Call, p.ExprList(")")
	default:
		n.End = t.EndPos()
		return n
	}
	return p.span(n, start)
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

// bind reads binders, a where and arguments.
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
	p.Expect("]", "',', 'where' or ']'")
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
