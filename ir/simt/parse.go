package simt

import (
	"slices"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/text"
)

// The text, in order; what stands in brackets may be left out, and testdata has all of it in use:
//
//	simt NAME
//	size|param NAME: TYPE [lo N] [multiple N] [fixed V] [default V] [at LINE:COL:OFFSET]
//	array NAME: TYPE[EXTENTS] param|result|work [as CALLER] [zero each|once]
//	order NAMES                        // the caller's parameters
//	where CONDITION "TEXT"
//	site "KIND" "TEXT" [tensor NAME dim N] [at LINE:COL:OFFSET]
//	kernel NAME [for DEVICE] [lines N N] {
//	  host NAME: TYPE = EXPR           // over scalars, earlier host values, sms, l2bytes; scalar.N is the scalar where N is both
//	  launch grid EXPR threads N [cluster N] [per_sm N] [shared BYTES] [tail]
//	  global NAME: TYPE = ARRAY [readonly]
//	  map NAME = ARRAY[DIMS] strides [BYTES] box [N, N] [swizzle N] [l2 N] [fill nan]
//	  shared NAME: TYPE[N] at BYTE [align N] [over NAME]
//	  mbar NAME[N] at BYTE count N     named NAME[N] first ID count N
//	  layout NAME AXES [reg n1 m8 | lane n2 = ~ m1+n4 | warp m16 | group m64 | cta | grid]
//	  let x: T = E                     var x: T [= E]         var x: T[N] [as LAYOUT]       x = E       x[i] = E
//	  for i[: T] in E..E [step N] [down] [unroll] { }         while { } E { }               if E { } [else { }]
//	  load SLICE <- MEM [FORM] [KEEP] [ORDER]                 store MEM <- E | SLICE | [E, E] [FORM] [OP] [KEEP] [ORDER] [-> x]
//	  copy CF [PLACE <-] PLACE [bytes E] [done BAR] [peers E] [OP] [KEEP]
//	  mma ATOM SLICE += OPERAND * OPERAND acc E               VERB [BAR], E, E              check E, SITE, E, E
//	  roles { NAME warps N..N [by N] [regs N] { } }
//	}
//
// SLICE is x, x[i] or x[i:n]; MEM is BUFFER[i] or BUFFER[i]@rank; PLACE is MEM or MAP[COORDINATES]; OPERAND is SLICE or
// (descriptor) of MEM; BAR is NAME[i], NAME[i]@rank or a word of the machine; FORM is vec n, matrix n or matrix.trans n; KEEP is
// stream, keep first or keep last; ORDER is volatile, relaxed, acquire or release; OP is add, mul, max, min, or, and.

// Parse reads what Print writes, and the shorthands that people write: several statements a line with ;, slices x[i:n] in
// stores, `-> name` for a register that is not declared yet. A module that was read is still to be verified.
func Parse(src string) (*Module, error) {
	p, errs := syntax.New(src, syntax.IR)
	if errs.HasErrors() {
		return nil, errs.Err()
	}
	r := &reader{Parser: p, m: &Module{}, scalars: map[string]*ir.Scalar{}, arrays: map[string]*Array{}}
	r.text = text.Reader{Name: r.name, Special: r.special}
	if d := p.Catch(r.module); d != nil {
		return nil, diag.List{d}
	}
	return r.m, nil
}

// reader reads one module. Names are looked up from the innermost block outwards.
type reader struct {
	*syntax.Parser
	text    text.Reader
	m       *Module
	k       *Kernel
	scalars map[string]*ir.Scalar
	arrays  map[string]*Array
	locals  map[string]any // host values, buffers, maps, barriers of the kernel
	layouts map[string]*ir.Layout
	regs    []map[string]*Reg
	depth   int
}

func (r *reader) module() {
	r.Expect("simt", "'simt' and the name of the module")
	r.m.Name = r.Name("the name of the module").Text
	for r.Peek().Kind != syntax.End {
		switch t := r.Next(); t.Text {
		case "size", "param":
			r.scalar(t.Text == "size")
		case "array":
			r.array()
		case "order":
			for r.Peek().Kind == syntax.NameTok && !r.Peek().First {
				r.m.Order = append(r.m.Order, r.Next().Text)
			}
		case "where":
			e := r.text.Expr(r.Expr(), ir.Bool_)
			r.m.Where = append(r.m.Where, Condition{e, r.Text("the condition's text in quotes")})
		case "site":
			r.site()
		case "kernel":
			r.kernel()
		default:
			r.Fail(t.Pos, "syntax", "expected size, param, array, order, where, site or kernel, found '%s'", t.Text)
		}
	}
}

// name is the value of a name in an expression.
func (r *reader) name(name string) *ir.Expr {
	if reg := r.reg(name); reg != nil {
		if reg.Len > 0 {
			return nil
		}
		return ir.Name(reg)
	}
	if r.k != nil {
		if v, ok := r.locals[name].(*Value); ok {
			return ir.Name(v)
		}
		for _, b := range Builtins {
			if b.Name == name && b.Host == (r.regs == nil) {
				return ir.Name(b)
			}
		}
	}
	if s := r.scalars[strings.TrimPrefix(name, scalarPrefix)]; s != nil && r.regs == nil {
		return ir.Name(s)
	}
	return nil
}

// reg finds a register; nil if there is none.
func (r *reader) reg(name string) *Reg {
	for _, scope := range slices.Backward(r.regs) {
		if reg := scope[name]; reg != nil {
			return reg
		}
	}
	return nil
}

// special reads array elements and shared addresses.
func (r *reader) special(_ *text.Reader, n *syntax.Node, _ ir.Type) *ir.Expr {
	switch {
	case n.Kind == syntax.Index && n.Edge == nil && len(n.Args) == 1:
		if reg := r.reg(n.Name); reg != nil && reg.Len > 0 {
			return Elem(reg, r.text.Hint(n.Args[0], ir.I32))
		}
		r.Fail(n.Pos, "ir", "%s is no array of registers", n.Name)
	case n.Kind == syntax.Call && n.Name == OpAddr.Name:
		if len(n.Args) != 2 || n.Args[0].Kind != syntax.Name {
			r.Fail(n.Pos, "ir", "addr takes a shared buffer and a subscript")
		}
		b, ok := r.locals[n.Args[0].Name].(*Buffer)
		if !ok {
			r.Fail(n.Args[0].Pos, "ir", "unknown buffer %s", n.Args[0].Name)
		}
		return Addr(b, r.text.Hint(n.Args[1], ir.I32))
	}
	return nil
}

// value reads an expression of a type.
func (r *reader) value(t ir.Type) *ir.Expr { return r.text.Expr(r.Expr(), t) }

// index reads an expression of any type; a bare number is of type hint.
func (r *reader) index(hint ir.Type) *ir.Expr { return r.text.Hint(r.Expr(), hint) }

// list reads expressions between square brackets.
func (r *reader) list(read func() *ir.Expr) []*ir.Expr {
	var out []*ir.Expr
	r.Expect("[", "'['")
	r.List("]", func() { out = append(out, read()) })
	r.Expect("]", "',' or ']'")
	return out
}

func (r *reader) i64() *ir.Expr { return r.value(ir.I64) }

// constant reads a number of a type.
func (r *reader) constant(t ir.Type) ir.Const {
	n := r.Expr()
	e := r.text.Expr(n, t)
	if !e.IsConst() {
		r.Fail(n.Pos, "ir", "%s is no constant", text.String(e))
	}
	return e.Val
}

// number reads an integer from lo to hi.
func (r *reader) number(what string, lo, hi int64) int {
	t := r.Peek()
	n := int64(r.constant(ir.I64).Int())
	if n < lo || n > hi {
		r.Fail(t.Pos, "limit", "%s %d is outside %d..%d", what, n, lo, hi)
	}
	return int(n)
}

const maxInt = 1<<31 - 1

// count reads the number behind a word, if the word stands there.
func (r *reader) count(word string) int {
	if !r.Accept(word) {
		return 0
	}
	return r.number(word, 0, maxInt)
}

// typed reads `NAME: TYPE`.
func (r *reader) typed(what string) (syntax.Token, ir.Type) {
	t := r.Name(what)
	r.Expect(":", "':' and a type")
	return t, text.Type(r.Parser)
}

// pos reads `at LINE:COL:OFFSET`, if it stands there.
func (r *reader) pos() (p diag.Pos) {
	if !r.Accept("at") {
		return
	}
	for i, part := range []*int32{&p.Line, &p.Col, &p.Offset} {
		if i > 0 {
			r.Expect(":", "':'")
		}
		t := r.Next()
		if t.Kind != syntax.IntTok || len(t.Text) > 9 {
			r.Fail(t.Pos, "syntax", "expected LINE:COLUMN:OFFSET")
		}
		for _, c := range t.Text {
			*part = *part*10 + int32(c-'0')
		}
	}
	return
}

func (r *reader) scalar(isSize bool) {
	t, typ := r.typed("a name")
	if r.scalars[t.Text] != nil {
		r.Fail(t.Pos, "name", "%s is declared twice", t.Text)
	}
	s := &ir.Scalar{Name: t.Text, Type: typ, IsSize: isSize, Multiple: 1}
	for {
		switch {
		case r.Accept("lo"):
			s.Lo = r.constant(ir.I64).Int()
		case r.Accept("multiple"):
			s.Multiple = r.constant(ir.I64).Int()
		case r.Accept("fixed"):
			c := r.constant(typ)
			s.Fixed = &c
		case r.Accept("default"):
			c := r.constant(typ)
			s.Default = &c
		default:
			s.Pos = r.pos()
			r.scalars[s.Name] = s
			r.m.Scalars = append(r.m.Scalars, s)
			return
		}
	}
}

func (r *reader) array() {
	t, typ := r.typed("a name")
	if r.arrays[t.Text] != nil {
		r.Fail(t.Pos, "name", "%s is declared twice", t.Text)
	}
	a := &Array{Name: t.Text, As: t.Text, Type: typ}
	a.Extents = r.list(r.i64)
	a.Role = Role(r.word(roleNames, "param, result or work"))
	if r.Accept("as") {
		a.As = r.Name("the caller's name").Text
	}
	if r.Accept("zero") {
		a.Zero = Zero(r.word(zeroNames, "each or once"))
	}
	r.arrays[a.Name] = a
	r.m.Arrays = append(r.m.Arrays, a)
}

// word reads one of the words of a table and returns its index.
func (r *reader) word(table []string, what string) int {
	t := r.Name(what)
	i := slices.Index(table, t.Text)
	if i < 0 {
		r.Fail(t.Pos, "syntax", "expected %s, found '%s'", what, t.Text)
	}
	return i
}

func (r *reader) site() {
	s := Site{Kind: r.Text("the kind in quotes"), Text: r.Text("the expression in quotes")}
	if r.Accept("tensor") {
		s.Tensor = r.Name("a tensor").Text
		r.Expect("dim", "'dim'")
		s.Dim = r.number("dim", 0, 1000)
	}
	s.Pos = r.pos()
	r.m.Sites = append(r.m.Sites, s)
}

func (r *reader) kernel() {
	r.k = &Kernel{Name: r.Name("the name of the kernel").Text}
	r.locals, r.layouts, r.regs = map[string]any{}, map[string]*ir.Layout{}, nil
	if r.Accept("for") {
		r.k.For = r.Name("a device, such as sm_80").Text
	}
	if r.Accept("lines") {
		for r.Peek().Kind == syntax.IntTok {
			r.k.Lines = append(r.k.Lines, r.number("line", 0, maxInt))
		}
	}
	r.Expect("{", "'{'")
	r.declarations()
	r.regs = []map[string]*Reg{{}}
	r.k.Body = r.stmts()
	r.Expect("}", "a statement or '}'")
	r.regs = nil
	r.m.Kernels = append(r.m.Kernels, r.k)
	r.k = nil
}

// declare gives a name its meaning in the kernel.
func (r *reader) declare(t syntax.Token, what any) {
	if r.locals[t.Text] != nil {
		r.Fail(t.Pos, "name", "%s is declared twice", t.Text)
	}
	r.checkLocal(t)
	r.locals[t.Text] = what
}

func (r *reader) checkLocal(t syntax.Token) {
	if !validLocal(t.Text) {
		r.Fail(t.Pos, "name", "%s is a word of this level and cannot be a name here", t.Text)
	}
}
