package lang

import (
	"runtime"
	"slices"

	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// MaxSource is the size of the largest program that is read, in bytes.
const MaxSource = 1 << 20

// Parse reads a program. The File holds everything that could be read; the problems are in source order.
func Parse(name, src string) (*File, diag.List) {
	file, _, errs := parse(name, src)
	return file, errs
}

// parse also returns the tokens.
func parse(name, src string) (*File, *syntax.Parser, diag.List) {
	file := &File{Name: name, Lost: map[string]bool{}}
	if len(src) > MaxSource {
		d := diag.Errorf(diag.Pos{Line: 1, Col: 1}, "limit", "the program is larger than %d bytes", MaxSource)
		d.File = name
		return file, nil, diag.List{d}
	}
	p, errs := syntax.New(src, syntax.Gk)
	p.Stop = func(p *syntax.Parser) bool { return beginsStatement(p, p.At) }
	if len(errs) == 0 && readTogether(p, file) {
		return file, p, nil
	}
	r := newReader(p, file)
	r.errs = errs
	defer r.done()
	r.items(len(p.Tokens) - 1)
	for _, d := range r.errs {
		d.File = name
	}
	return file, p, r.errs.Sorted()
}

// reader drives the productions over a text and resumes behind mistakes.
type reader struct {
	*grammar
	file *File
	errs diag.List
	end  int // of the declaration at hand: the token that begins the next one
}

// attempt runs f, keeps the mistake that stopped it, and reports whether there was none.
func (r *reader) attempt(f func()) bool {
	d := r.p.Catch(f)
	r.errs.Add(d)
	return d == nil
}

func newReader(p *syntax.Parser, file *File) *reader {
	g := grammars.Get().(*grammar)
	g.p = p
	return &reader{grammar: g, file: file}
}

// readTogether reads the parts of a long text on all processors. It gives up where there is a mistake: what is read behind one
// depends on it.
func readTogether(p *syntax.Parser, file *File) bool {
	starts := parts(p)
	if len(starts) <= 2 || runtime.GOMAXPROCS(0) < 2 {
		return false
	}
	items := make([][]Item, len(starts)-1)
	ok := together(len(items), func() func(int) bool {
		return func(i int) bool {
			r := newReader(p.Fork(starts[i]), &File{Lost: map[string]bool{}})
			defer r.done()
			r.items(starts[i+1])
			items[i] = r.file.Items
			return len(r.errs) == 0 && r.p.At == starts[i+1]
		}
	})
	if ok {
		file.Items = slices.Concat(items...)
	}
	return ok
}

// partTokens is how many tokens are worth a part of their own.
const partTokens = 4000

// parts lists the tokens at which the parts of a text begin, and its end. Parts begin with declarations.
func parts(p *syntax.Parser) []int {
	end := len(p.Tokens) - 1
	starts := []int{0}
	for at := 0; at < end; {
		at = nextItem(p, min(at+partTokens, end))
		starts = append(starts, at)
	}
	return starts
}

// items reads declarations up to a token.
func (r *reader) items(end int) {
	for r.p.At < end && !r.atEnd() {
		if !r.p.Accept(";") {
			r.item()
		}
	}
}

func (r *reader) atEnd() bool {
	return r.p.Peek().Kind == syntax.End || len(r.errs) >= syntax.MaxErrors
}

func (r *reader) item() {
	p := r.p
	r.end = nextItem(p, p.At+1)
	name := p.PeekAt(1)
	ok := false
	whole := r.attempt(func() {
		switch p.Peek().Text {
		case "const":
			p.Next()
			ok = r.constant()
		case "func":
			p.Next()
			ok = r.function()
		case "kernel":
			p.Next()
			ok = r.kernel()
		case "example":
			p.Next()
			ok = r.example()
		default:
			p.Expected("const, func, kernel or example")
		}
	})
	if !whole {
		p.At = r.end
	}
	if !ok && name.Kind == syntax.NameTok {
		r.file.Lost[name.Text] = true
	}
}

func (r *reader) add(item Item) bool {
	r.file.Items = append(r.file.Items, item)
	return true
}

func (r *reader) constant() bool {
	let := r.let()
	return r.add(&Const{Name: let.Text, Pos: let.Pos, Expr: let.Expr})
}

// let reads NAME = expr.
func (r *reader) let() Let {
	b := read(r.grammar, r.binding, "'='")
	return Let{wordOf(b.Name), b.Value.(*syntax.Node)}
}

func (r *reader) function() bool {
	head := read(r.grammar, r.fn, "'(' and parameters")
	name := wordOf(head.Name)
	f := &Func{Name: name.Text, Pos: name.Pos, Params: head.Params.([]Word)}
	if head.Binders != nil {
		f.Binders = head.Binders.([]Word)
	}
	if r.p.Accept("=") {
		f.Result = r.p.Expr()
		return r.add(f)
	}
	r.p.Expect("{", "'=' or '{'")
	return r.locals(f) && r.add(f)
}

// locals reads the body of a func in braces, and reports whether all of it could be read.
func (r *reader) locals(f *Func) bool {
	p, whole, end := r.p, true, r.bodyEnd()
	for p.At < end && !r.atEnd() && !p.Is("return") {
		start := p.At
		if p.Accept(";") {
			continue
		}
		if !r.attempt(func() { f.Lets = append(f.Lets, r.let()) }) {
			whole = false
			p.At = r.next(start, end)
		}
	}
	p.Expect("return", "'return'")
	f.Result = p.Expr()
	for p.Accept(";") {
	}
	p.Expect("}", "'}'")
	return whole
}

func (r *reader) example() bool {
	p := r.p
	e := &Example{Kernel: wordOf(p.Name("a kernel"))}
	p.Expect("(", "'(' and sizes")
	p.List(")", func() { e.Values = append(e.Values, r.let()) })
	p.Expect(")", "',' or ')'")
	return r.add(e)
}
