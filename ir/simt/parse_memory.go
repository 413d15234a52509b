package simt

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// Registers, places in memory, loads and stores.

// slice reads x, x[i] or x[i:n].
func (r *reader) slice() Slice {
	t := r.Name("a register")
	reg := r.known(t)
	s := Slice{Reg: reg, Len: max(reg.Len, 1)}
	if reg.Len > 0 {
		s.From = ir.NewConst(ir.I32, ir.IntConst(0))
	}
	if !r.Accept("[") {
		return s
	}
	if reg.Len == 0 {
		r.Fail(t.Pos, "ir", "%s is no array of registers", t.Text)
	}
	s.From, s.Len = r.index(ir.I32), 1
	if r.Accept(":") {
		s.Len = r.number("length", 1, 1<<16)
	}
	r.Expect("]", "']'")
	return s
}

// sliceAhead reports whether a slice x[i:n] stands here.
func (r *reader) sliceAhead() bool {
	if r.Peek().Kind != syntax.NameTok || r.PeekAt(1).Text != "[" {
		return false
	}
	end := r.Match(r.At + 1)
	for i := r.At + 2; i < end; i++ {
		if t := &r.Tokens[i]; t.Kind == syntax.Symbol && t.Text == ":" {
			return true
		}
	}
	return false
}

// buffer finds the buffer of a name.
func (r *reader) buffer(t syntax.Token) *Buffer {
	b, ok := r.locals[t.Text].(*Buffer)
	if !ok {
		r.Fail(t.Pos, "name", "unknown buffer %s", t.Text)
	}
	return b
}

func (r *reader) mem() Mem {
	b := r.buffer(r.Name("a buffer"))
	r.Expect("[", "'['")
	m := Mem{Buf: b, At: r.index(b.indexType())}
	r.Expect("]", "']'")
	m.Rank = r.rank()
	return m
}

// rank reads @name, @number or @(expression), if it stands there.
func (r *reader) rank() *ir.Expr {
	if !r.Accept("@") {
		return nil
	}
	if r.Accept("(") {
		e := r.Value(ir.I32)
		r.Expect(")", "')'")
		return e
	}
	t := r.Peek()
	if t.Kind == syntax.IntTok {
		return ir.NewConst(ir.I32, ir.IntConst(int64(r.number("rank", 0, maxInt))))
	}
	r.Name("the rank of a block")
	e := r.name(t.Text)
	if e == nil || e.Type != ir.I32 {
		r.Fail(t.Pos, "name", "%s is no value of type i32", t.Text)
	}
	return e.At(t.Pos)
}

// form reads how an access moves n registers.
func (r *reader) form(n int) Form {
	f := slices.Index(formNames, r.Peek().Text)
	if f < 1 || !r.here() {
		return One
	}
	t := r.Next()
	if r.Peek().Kind == syntax.IntTok {
		if given := r.number("length", 1, 1<<16); given != n {
			r.Fail(t.Pos, "ir", "%s %d of %d registers", t.Text, given, n)
		}
	}
	if f == int(Matrix) && r.here() && r.Accept("trans") {
		return MatrixTrans
	}
	return Form(f)
}

// here reports whether the current token goes on with the line: a new one begins a statement.
func (r *reader) here() bool { return !r.Peek().First }

func (r *reader) accept(word string) bool { return r.here() && r.Accept(word) }

func (r *reader) keep() Keep {
	switch {
	case r.accept("stream"):
		return KeepStream
	case r.accept("keep"):
		return Keep(r.word([]string{KeepFirst: "first", KeepLast: "last"}, "first or last"))
	}
	return KeepDefault
}

func (r *reader) order() Order {
	for i, name := range orderNames {
		if i > 0 && r.accept(name[1:]) {
			return Order(i)
		}
	}
	return Plain
}

func (r *reader) load(head Head) Stmt {
	s := &Load{Head: head, To: r.slice()}
	r.Expect("<-", "'<-'")
	s.From = r.mem()
	s.Form = r.form(s.To.Len)
	s.Keep, s.Order = r.keep(), r.order()
	return s
}

func (r *reader) store(head Head) []Stmt {
	s := &Store{Head: head, To: r.mem()}
	r.Expect("<-", "'<-'")
	s.From = r.values(s.To.Buf.Type)
	s.Form = r.form(len(s.From))
	s.Op = r.combine()
	s.Keep, s.Order = r.keep(), r.order()
	if !r.accept("->") {
		return []Stmt{s}
	}
	t := r.Name("the register that receives what was there")
	if s.Old = r.reg(t.Text); s.Old != nil {
		return []Stmt{s}
	}
	s.Old = r.newReg(t, s.To.Buf.Type)
	s.Old.Mutable = true
	return []Stmt{&Let{Head: head, Reg: s.Old}, s}
}

func (r *reader) combine() *ir.Monoid {
	if t := r.Peek(); r.here() && t.Kind == syntax.NameTok {
		if m := monoidOf(t.Text); m != nil {
			r.Next()
			return m
		}
	}
	return nil
}

// values reads one value, a slice of an array, or a list in brackets.
func (r *reader) values(hint ir.Type) (list []*ir.Expr) {
	if r.Accept("[") {
		r.List("]", func() { list = append(list, r.index(hint)) })
		r.Expect("]", "',' or ']'")
		return list
	}
	if reg := r.reg(r.Peek().Text); reg != nil && reg.Len > 0 && (r.sliceAhead() || r.PeekAt(1).Text != "[") {
		s := r.slice()
		out := make([]*ir.Expr, s.Len)
		for i := range out {
			out[i] = Elem(reg, element(s.From, i))
		}
		return out
	}
	return []*ir.Expr{r.index(hint)}
}
