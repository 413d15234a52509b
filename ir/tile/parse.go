package tile

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/module"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/text"
)

// Parse reads the text of a module; what stands in brackets may be left out, and testdata has all of it in use. It checks the
// form only: Verify what comes from outside.
//
//	tile NAME
//	...                                          the rest of the header, see package module
//	kernel NAME [lines N N] {
//	  schedule KNOB N, KNOB N                    threads N          what was chosen for the kernel, and the threads of a block
//	  axis NAME: EXTENT                          an axis of tiles
//	  layout NAME AXIS AXIS [BITS]               a layout, as package text writes it
//	  grid i in E..E, j in E..E [raster N] { }   loop|unroll i in E..E [down] [stages N] [carry (VALUE = E -> NAME)] { [next NAME = E] }
//	  if E { [yield VALUE = E] } [else { [yield NAME = E] }]
//	  VALUE = load [async] ARRAY[E, E] [where E else E]  store[AXES] ARRAY[E, E] [OP] <- E [where E]
//	  VALUE = map E                              VALUE = dot NAME, NAME over AXES [into NAME] [by ATOM]
//	  VALUE = reduce OP NAME over AXES           VALUE = scan OP NAME over AXIS [reverse] [exclusive]
//	  VALUE = move NAME                          phase                     check[AXES] SITE [E, E], E [of ARRAY]
//	}
//
// VALUE is NAME[AXES]: TYPE [reg|shared] [as LAYOUT] [swizzle(BITS, BASE, SHIFT)], without the brackets where it has no axes; OP is sum, prod, max, min, any or all.
func Parse(src string) (*Module, diag.List) {
	sp, errs := syntax.New(src, syntax.IR)
	if len(errs) > 0 {
		return nil, errs
	}
	p := &parser{Reader: module.NewReader(sp), scope: map[string]ir.Ref{}}
	var m *Module
	if d := p.Catch(func() { m = p.module() }); d != nil {
		return nil, diag.List{d}
	}
	return m, nil
}

// parser reads names of the level by what follows them, so that none of its words is reserved.
type parser struct {
	*module.Reader
	scope map[string]ir.Ref
	forms map[string]*ir.Layout // of the kernel, by name
	local []string              // names of the scope, in order of declaration
	depth int
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

func (p *parser) module() *Module {
	m := &Module{Header: p.Header("tile")}
	for _, s := range m.Scalars {
		p.scope[s.Name] = s
	}
	p.Exprs.Name = p.lookup
	for p.Kernel() {
		m.Kernels = append(m.Kernels, p.kernel())
	}
	return m
}

func (p *parser) kernel() *Kernel {
	k := &Kernel{Name: p.Name("a name").Text}
	k.Lines = p.KernelLines()
	p.inner(func() {
		p.Expect("{", "'{'")
		p.choices(k)
		for p.Is("axis") && p.PeekAt(1).Kind == syntax.NameTok {
			p.Next()
			t := p.Name("an axis")
			p.Expect(":", "':' and an extent")
			a := &ir.Axis{Name: t.Text, Extent: p.Value(ir.I64)}
			k.Axes = append(k.Axes, a)
			p.declare(t, a)
		}
		p.layouts()
		k.Body = p.stmts()
		p.Expect("}", "a statement or '}'")
	})
	return k
}

// choices reads the schedule and the threads of a block.
func (p *parser) choices(k *Kernel) {
	if p.Is("schedule") && p.PeekAt(1).Kind == syntax.NameTok {
		p.Next()
		for {
			t := p.Name("a knob")
			if _, twice := k.Sched.Get(t.Text); twice {
				p.Fail(t.Pos, "ir", "%s is chosen twice", t.Text)
			}
			k.Sched = append(k.Sched, schedule.Pick{Knob: t.Text, Value: p.small()})
			if !p.Accept(",") {
				break
			}
		}
	}
	if p.Is("threads") && p.PeekAt(1).Kind == syntax.IntTok {
		p.Next()
		k.Threads = p.small()
	}
}

// small reads a number that is far from any limit of int.
func (p *parser) small() int {
	t := p.Peek()
	n := p.Integer("a number")
	if n < 0 || n > 1<<30 {
		p.Fail(t.Pos, "ir", "%d is not in 0..%d", n, 1<<30)
	}
	return int(n)
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
	p.placed(v)
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
