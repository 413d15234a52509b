package module

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/text"
)

// The text of a header, besides the lines of package text:
//
//	LEVEL NAME
//	param|result|work NAME: TYPE[EXTENTS] [as CALLER] [zero each|once]
//	order NAMES                                                         the caller's parameters

// Text writes a header; level is the word that it begins with.
func (h *Header) Text(level string) string {
	var p text.Printer
	p.WriteString(level + " " + h.Name + "\n")
	for _, s := range h.Scalars {
		p.Scalar(s)
	}
	for _, a := range h.Arrays {
		array(&p, a)
	}
	if len(h.Order) > 0 {
		p.WriteString("order " + strings.Join(h.Order, " ") + "\n")
	}
	for _, c := range h.Where {
		p.Condition(c)
	}
	for _, s := range h.Sites {
		p.Site(s)
	}
	return p.String()
}

func array(p *text.Printer, a *Array) {
	p.WriteString(a.Role.String() + " " + a.Name + ": " + a.Type.String())
	p.List("[", a.Extents, "]")
	if a.CallerName() != a.Name {
		p.WriteString(" as " + a.As)
	}
	if a.Zero != ZeroNever {
		p.WriteString(" zero " + a.Zero.String())
	}
	p.WriteByte('\n')
}

// LinesText is how the head of a kernel lists the lines of the source that it computes.
func LinesText(lines []int) string {
	if len(lines) == 0 {
		return ""
	}
	s := " lines"
	for _, n := range lines {
		s += " " + strconv.Itoa(n)
	}
	return s
}

// Reader reads a header, and finds by name what it declares. A level embeds it and reads the kernels.
type Reader struct {
	text.Lines
	Scalars map[string]*ir.Scalar
	Arrays  map[string]*Array
}

// NewReader reads from p.
func NewReader(p *syntax.Parser) *Reader {
	r := &Reader{Scalars: map[string]*ir.Scalar{}, Arrays: map[string]*Array{}}
	r.Parser = p
	r.Exprs.Name = func(name string) *ir.Expr {
		if s := r.Scalars[name]; s != nil {
			return ir.Name(s)
		}
		return nil
	}
	return r
}

// Header reads what stands in front of the kernels.
func (r *Reader) Header(level string) (h Header) {
	r.Expect(level, "'"+level+"' and the name of the module")
	h.Name = r.Name("the name of the module").Text
	for {
		switch word := r.Peek().Text; word {
		case "size", "scalar":
			r.Next()
			h.Scalars = append(h.Scalars, r.scalar(word == "size"))
		case "param", "result", "work":
			r.Next()
			h.Arrays = append(h.Arrays, r.array(Role(slices.Index(roleNames[:], word))))
		case "order":
			r.Next()
			for r.Peek().Kind == syntax.NameTok && !r.Peek().First {
				h.Order = append(h.Order, r.Next().Text)
			}
		case "where":
			r.Next()
			h.Where = append(h.Where, r.Condition())
		case "site":
			r.Next()
			h.Sites = append(h.Sites, r.Site())
		default:
			return h
		}
	}
}

// Kernel takes the word in front of a kernel, and reports whether there is one more.
func (r *Reader) Kernel() bool {
	if r.Peek().Kind == syntax.End {
		return false
	}
	if !r.Accept("kernel") {
		r.Expected("size, scalar, param, result, work, order, where or site, and then kernels")
	}
	return true
}

// KernelLines reads the lines of the source that a kernel computes.
func (r *Reader) KernelLines() (lines []int) {
	if r.Accept("lines") {
		for r.Peek().Kind == syntax.IntTok {
			lines = append(lines, int(r.Integer("a line")))
		}
	}
	return lines
}

// ArrayUse reads the name of an array.
func (r *Reader) ArrayUse() *Array {
	t := r.Name("an array")
	a := r.Arrays[t.Text]
	if a == nil {
		r.Fail(t.Pos, "name", "unknown array %s", t.Text)
	}
	return a
}

func (r *Reader) scalar(isSize bool) *ir.Scalar {
	t := r.Peek()
	if r.Scalars[t.Text] != nil {
		r.Fail(t.Pos, "name", "%s is declared twice", t.Text)
	}
	s := r.Scalar(isSize)
	r.Scalars[s.Name] = s
	return s
}

func (r *Reader) array(role Role) *Array {
	t, typ := r.Typed("a name")
	if r.Arrays[t.Text] != nil {
		r.Fail(t.Pos, "name", "%s is declared twice", t.Text)
	}
	a := &Array{Name: t.Text, As: t.Text, Type: typ, Role: role, Extents: r.Values(ir.I64)}
	if r.Accept("as") {
		a.As = r.Name("the caller's name").Text
	}
	if r.Accept("zero") {
		a.Zero = r.zero()
	}
	r.Arrays[a.Name] = a
	return a
}

func (r *Reader) zero() Zero {
	for z, name := range zeroNames {
		if z > 0 && r.Accept(name) {
			return Zero(z)
		}
	}
	r.Expected("each or once")
	return ZeroNever
}
