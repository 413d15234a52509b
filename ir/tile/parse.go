package tile

import (
	"strconv"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/text"
)

// Parse reads the text of a module. It checks the form only: Verify what comes from outside.
func Parse(src string) (*Module, diag.List) {
	sp, errs := syntax.New(src, syntax.IR)
	if len(errs) > 0 {
		return nil, errs
	}
	p := &parser{Parser: sp, arrays: map[string]*Array{}, scope: map[string]ir.Ref{}}
	p.reader = text.Reader{Name: p.lookup}
	var m *Module
	if d := p.Catch(func() { m = p.module() }); d != nil {
		return nil, diag.List{d}
	}
	return m, nil
}

// parser reads names of the level by what follows them, so that none of its words is reserved.
type parser struct {
	*syntax.Parser
	reader text.Reader
	arrays map[string]*Array
	scope  map[string]ir.Ref
	local  []string // names of the scope, in order of declaration
	depth  int
}

func (p *parser) lookup(name string) *ir.Expr {
	if r, ok := p.scope[name]; ok {
		return ir.Name(r)
	}
	return nil
}

func (p *parser) declare(t syntax.Token, r ir.Ref) {
	if _, taken := p.scope[t.Text]; taken {
		p.Fail(t.Pos, "ir", "the name %s is taken", t.Text)
	}
	p.scope[t.Text] = r
	p.local = append(p.local, t.Text)
}

// inner runs f in a scope of its own.
func (p *parser) inner(f func()) {
	if p.depth++; p.depth > syntax.MaxDepth {
		p.Fail(p.Peek().Pos, "limit", "nesting deeper than %d", syntax.MaxDepth)
	}
	mark := len(p.local)
	f()
	for _, name := range p.local[mark:] {
		delete(p.scope, name)
	}
	p.local = p.local[:mark]
	p.depth--
}

func (p *parser) value(want ir.Type) *ir.Expr { return p.reader.Expr(p.Parser.Expr(), want) }

func (p *parser) exprs(want ir.Type) []*ir.Expr {
	p.Expect("[", "'['")
	var out []*ir.Expr
	for _, n := range p.ExprList("]") {
		out = append(out, p.reader.Expr(n, want))
	}
	return out
}

func (p *parser) module() *Module {
	p.Expect("tile", "'tile' and a name")
	m := &Module{Name: p.Name("a name").Text}
	for p.Peek().Kind != syntax.End {
		switch t := p.Next(); t.Text {
		case "size", "scalar":
			m.Scalars = append(m.Scalars, p.scalar(t.Text == "size"))
		case "param", "result", "work":
			m.Arrays = append(m.Arrays, p.array(map[string]Role{"param": Param, "result": Result, "work": Work}[t.Text]))
		case "order":
			for !p.Peek().First {
				m.Order = append(m.Order, p.Name("a parameter").Text)
			}
		case "where":
			m.Where = append(m.Where, Condition{p.value(ir.Bool_), p.quoted()})
		case "site":
			m.Sites = append(m.Sites, Site{p.quoted(), p.quoted(), int(p.integer()), p.quoted(), p.place()})
		case "kernel":
			m.Kernels = append(m.Kernels, p.kernel())
		default:
			p.Fail(t.Pos, "syntax", "expected size, scalar, param, result, work, order, where, site or kernel, found '%s'", t.Text)
		}
	}
	return m
}

func (p *parser) scalar(size bool) *ir.Scalar {
	t := p.Name("a name")
	p.Expect(":", "':' and a type")
	s := &ir.Scalar{Name: t.Text, IsSize: size, Type: text.Type(p.Parser), Multiple: 1}
	constant := func() *ir.Const {
		e := p.value(s.Type)
		if !e.IsConst() {
			p.Fail(e.Pos, "ir", "expected a constant")
		}
		return &e.Val
	}
	for !p.Peek().First {
		switch {
		case p.Accept("lo"):
			s.Lo = p.integer()
		case p.Accept("multiple"):
			s.Multiple = p.integer()
		case p.Accept("fixed"):
			s.Fixed = constant()
		case p.Accept("default"):
			s.Default = constant()
		case p.Is("at"):
			s.Pos = p.place()
		default:
			p.Fail(p.Peek().Pos, "syntax", "expected lo, multiple, fixed, default or at, found '%s'", p.Peek().Text)
		}
	}
	p.declare(t, s)
	return s
}

func (p *parser) integer() int64 {
	e := p.value(ir.I64)
	n, ok := e.IntValue()
	if !ok {
		p.Fail(e.Pos, "syntax", "expected an integer")
	}
	return n
}

func (p *parser) quoted() string {
	t := p.Next()
	if t.Kind != syntax.StringTok {
		p.Fail(t.Pos, "syntax", "expected a text in quotes, found '%s'", t.Text)
	}
	s, err := strconv.Unquote(t.Text)
	if err != nil {
		p.Fail(t.Pos, "syntax", "malformed text in quotes")
	}
	return s
}

func (p *parser) place() diag.Pos {
	if !p.Accept("at") {
		return diag.Pos{}
	}
	line := p.integer()
	p.Expect(":", "':'")
	col := p.integer()
	p.Expect(":", "':'")
	return diag.Pos{Line: int32(line), Col: int32(col), Offset: int32(p.integer())}
}

func (p *parser) array(role Role) *Array {
	t := p.Name("a name")
	if p.arrays[t.Text] != nil {
		p.Fail(t.Pos, "ir", "the array %s is declared twice", t.Text)
	}
	p.Expect(":", "':' and a type")
	a := &Array{Name: t.Text, As: t.Text, Role: role, Type: text.Type(p.Parser)}
	a.Extents = p.exprs(ir.I64)
	if p.Accept("as") {
		a.As = p.Name("the caller's name").Text
	}
	p.arrays[t.Text] = a
	return a
}

func (p *parser) kernel() *Kernel {
	k := &Kernel{Name: p.Name("a name").Text}
	if p.Accept("lines") {
		for p.Peek().Kind == syntax.IntTok {
			k.Lines = append(k.Lines, int(p.integer()))
		}
	}
	p.inner(func() {
		p.Expect("{", "'{'")
		for p.Is("axis") && p.PeekAt(1).Kind == syntax.NameTok {
			p.Next()
			t := p.Name("an axis")
			p.Expect(":", "':' and an extent")
			a := &ir.Axis{Name: t.Text, Extent: p.value(ir.I64)}
			k.Axes = append(k.Axes, a)
			p.declare(t, a)
		}
		k.Body = p.stmts()
		p.Expect("}", "a statement or '}'")
	})
	return k
}

// block reads statements in braces, in a scope of their own; last reads what ends them.
func (p *parser) block(last func()) (out []Stmt) {
	p.Expect("{", "'{'")
	out = p.stmts()
	last()
	p.Expect("}", "a statement or '}'")
	return out
}

func (p *parser) stmts() (out []Stmt) {
	for !p.Is("}") && p.Peek().Kind != syntax.End && !p.ends() {
		out = append(out, p.stmt())
	}
	return out
}

// ends reports whether what a body hands on stands here, behind its statements.
func (p *parser) ends() bool {
	return (p.Is("next") || p.Is("yield")) && p.PeekAt(1).Kind == syntax.NameTok
}

func (p *parser) stmt() Stmt {
	t := p.Peek()
	head := Head{t.Pos}
	if t.Kind != syntax.NameTok && t.Text != "if" {
		p.Fail(t.Pos, "syntax", "expected a statement, found '%s'", t.Text)
	}
	switch following := p.PeekAt(1); {
	case t.Text == "if":
		return p.branch(head)
	case following.Kind == syntax.NameTok && (t.Text == "grid" || t.Text == "loop" || t.Text == "unroll"), t.Text == "grid" && following.Text == "{":
		return p.loop(head)
	case t.Text == "phase" && following.Text != ":" && following.Text != "[":
		p.Next()
		return &Phase{head}
	case t.Text == "store" && following.Text != ":" && !p.defines():
		return p.store(head)
	case t.Text == "check" && following.Text != ":" && !p.defines():
		return p.check(head)
	}
	return p.define(head)
}

// defines reports whether a value is defined here: NAME[axes]: ….
func (p *parser) defines() bool {
	if p.PeekAt(1).Text != "[" {
		return false
	}
	i := 2
	for p.PeekAt(i).Kind == syntax.NameTok || p.PeekAt(i).Text == "," {
		i++
	}
	return p.PeekAt(i).Text == "]" && p.PeekAt(i+1).Text == ":"
}

func (p *parser) axes() (out []*ir.Axis) {
	if !p.Accept("[") {
		return nil
	}
	p.List("]", func() { out = append(out, p.axis()) })
	p.Expect("]", "']'")
	return out
}

func (p *parser) axis() *ir.Axis {
	t := p.Name("an axis")
	a, ok := p.scope[t.Text].(*ir.Axis)
	if !ok {
		p.Fail(t.Pos, "ir", "%s is no axis", t.Text)
	}
	return a
}

func (p *parser) axisList() (out []*ir.Axis) {
	out = append(out, p.axis())
	for p.Accept(",") {
		out = append(out, p.axis())
	}
	return out
}

// newValue reads NAME[axes]: type space, and does not declare it yet.
func (p *parser) newValue() (*Value, syntax.Token) {
	t := p.Name("a name")
	v := &Value{Name: t.Text, Axes: p.axes()}
	p.Expect(":", "':' and a type")
	v.Type = text.Type(p.Parser)
	if !p.Peek().First && p.Accept("reg") {
		v.Space = Reg
	} else if !p.Peek().First && p.Accept("shared") {
		v.Space = Shared
	}
	return v, t
}

func (p *parser) use() *Value {
	t := p.Name("a value")
	v, ok := p.scope[t.Text].(*Value)
	if !ok {
		p.Fail(t.Pos, "ir", "%s is no value", t.Text)
	}
	return v
}

func (p *parser) monoid() *ir.Monoid {
	t := p.Name("sum, prod, max, min, any or all")
	m := ir.MonoidByName(t.Text)
	if m == nil {
		p.Fail(t.Pos, "ir", "%s is not one of sum, prod, max, min, any, all", t.Text)
	}
	return m
}

func (p *parser) arrayUse() *Array {
	t := p.Name("an array")
	a := p.arrays[t.Text]
	if a == nil {
		p.Fail(t.Pos, "ir", "unknown array %s", t.Text)
	}
	return a
}
