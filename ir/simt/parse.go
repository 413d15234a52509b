package simt

import (
	"slices"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/module"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/text"
)

// The text, in order; what stands in brackets may be left out, and testdata has all of it in use:
//
//	simt NAME
//	...                              // the rest of the header, see package module
//	kernel NAME [for DEVICE] [lines N N] {
//	  host NAME: TYPE = EXPR           // over scalars, earlier host values, sms, l2bytes; scalar.N is the scalar where N is both
//	  launch grid EXPR threads N [cluster N] [per_sm N] [shared BYTES] [tail]
//	  global NAME: TYPE = ARRAY [readonly]
//	  map NAME = ARRAY[DIMS] strides [BYTES] box [N, N] [swizzle N] [l2 N] [fill nan]
//	  shared NAME: TYPE[N] at BYTE [align N] [over NAME]
//	  mbar NAME[N] at BYTE count N     named NAME[N] first ID count N
//	  layout NAME AXES [reg n1 m8 | lane n2 = ~ m1+n4 | warp m16 | group m64 | cta | grid | rep n3]
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

// Parse reads what String writes, and the shorthands that people write: several statements a line with ;, slices x[i:n] in
// stores, `-> name` for a register that is not declared yet. A module that was read is still to be verified.
func Parse(src string) (*Module, error) {
	p, errs := syntax.New(src, syntax.IR)
	if errs.HasErrors() {
		return nil, errs.Err()
	}
	r := &reader{Reader: module.NewReader(p), m: &Module{}}
	if d := p.Catch(r.module); d != nil {
		return nil, diag.List{d}
	}
	return r.m, nil
}

// reader reads one module. Names are looked up from the innermost block outwards.
type reader struct {
	*module.Reader
	m       *Module
	k       *Kernel
	locals  map[string]any // host values, buffers, maps, barriers of the kernel
	layouts map[string]*ir.Layout
	regs    []map[string]*Reg
	depth   int
}

func (r *reader) module() {
	r.m.Header = r.Header("simt")
	r.Exprs.Name, r.Exprs.Special = r.name, r.special
	for r.Kernel() {
		r.kernel()
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
	if s := r.Scalars[strings.TrimPrefix(name, scalarPrefix)]; s != nil && r.regs == nil {
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
			return Elem(reg, r.Exprs.Hint(n.Args[0], ir.I32))
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
		return Addr(b, r.Exprs.Hint(n.Args[1], ir.I32))
	}
	return nil
}

// index reads an expression of any type; a bare number is of type hint.
func (r *reader) index(hint ir.Type) *ir.Expr { return r.Exprs.Hint(r.Expr(), hint) }

// number reads an integer from lo to hi.
func (r *reader) number(what string, lo, hi int64) int {
	t := r.Peek()
	n := r.Integer("a number")
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

// word reads one of the words of a table and returns its index.
func (r *reader) word(table []string, what string) int {
	t := r.Name(what)
	i := slices.Index(table, t.Text)
	if i < 0 {
		r.Fail(t.Pos, "syntax", "expected %s, found '%s'", what, t.Text)
	}
	return i
}

func (r *reader) kernel() {
	r.k = &Kernel{Name: r.Name("the name of the kernel").Text}
	r.locals, r.layouts, r.regs = map[string]any{}, map[string]*ir.Layout{}, nil
	if r.Accept("for") {
		r.k.For = r.Name("a device, such as sm_80").Text
	}
	r.k.Lines = r.KernelLines()
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
