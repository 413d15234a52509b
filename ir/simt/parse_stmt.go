package simt

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
)

const maxNesting = 200

// stmts reads statements up to the closing bracket, which it leaves.
func (r *reader) stmts() []Stmt {
	if r.depth++; r.depth > maxNesting {
		r.Fail(r.Peek().Pos, "limit", "blocks nested deeper than %d", maxNesting)
	}
	defer func() { r.depth-- }()
	var out []Stmt
	for !r.Is("}") && r.Peek().Kind != syntax.End {
		if r.Accept(";") {
			continue
		}
		out = append(out, r.stmt()...)
	}
	return out
}

// block reads { statements } in a scope of their own.
func (r *reader) block() []Stmt {
	r.enter()
	defer r.leave()
	return r.braces()
}

func (r *reader) enter() { r.regs = append(r.regs, map[string]*Reg{}) }
func (r *reader) leave() { r.regs = r.regs[:len(r.regs)-1] }

func (r *reader) braces() []Stmt {
	r.Expect("{", "'{'")
	out := r.stmts()
	r.Expect("}", "a statement or '}'")
	return out
}

// stmt reads one statement; the shorthand `-> name` makes two of one.
func (r *reader) stmt() []Stmt {
	t := r.Peek()
	if r.setAhead() {
		return []Stmt{r.set()}
	}
	r.Next()
	head := Head{t.Pos}
	switch t.Text {
	case "let", "var":
		return []Stmt{r.let(t, t.Text == "var")}
	case "for":
		return []Stmt{r.forLoop(head)}
	case "while":
		return []Stmt{r.while(head)}
	case "if":
		return []Stmt{r.branch(head)}
	case "load":
		return []Stmt{r.load(head)}
	case "store":
		return r.store(head)
	case "copy":
		return []Stmt{r.copy(head)}
	case "mma":
		return []Stmt{r.mma(head)}
	case "roles":
		return []Stmt{r.roles(head)}
	case "check":
		return []Stmt{r.check(head)}
	}
	if slices.ContainsFunc(Verbs, func(v *Verb) bool { return v.Name == t.Text }) {
		return []Stmt{r.sync(head, t)}
	}
	r.Fail(t.Pos, "syntax", "expected a statement, found '%s'", t.Text)
	return nil
}

// known finds the register of a name that stands in a statement.
func (r *reader) known(t syntax.Token) *Reg {
	reg := r.reg(t.Text)
	if reg == nil {
		r.Fail(t.Pos, "name", "unknown register %s", t.Text)
	}
	return reg
}

func (r *reader) set() Stmt {
	t := r.Next()
	s := &Set{Head: Head{t.Pos}, Reg: r.known(t)}
	if r.Accept("[") {
		s.At = r.index(ir.I32)
		r.Expect("]", "']'")
	}
	r.Expect("=", "'='")
	s.Value = r.value(s.Reg.Type)
	return s
}

func (r *reader) forLoop(head Head) Stmt {
	t, typ := r.Name("a name"), ir.I32
	if r.Accept(":") {
		d := r.Name("a type")
		var ok bool
		if typ, ok = ir.TypeByName(d.Text); !ok || !typ.IsInt() {
			r.Fail(d.Pos, "ir", "%s is no integer type", d.Text)
		}
	}
	s := &For{Head: head, Step: 1}
	r.Expect("in", "'in'")
	s.Lo = r.value(typ)
	r.Expect("..", "'..'")
	s.Hi = r.value(typ)
	if r.Accept("step") {
		s.Step = int64(r.number("step", 1, maxInt))
	}
	s.Down = r.Accept("down")
	s.Unroll = r.Accept("unroll")
	r.enter()
	defer r.leave()
	s.Var = r.newReg(t, typ)
	s.Body = r.braces()
	return s
}

// while reads `while { head } cond { body }`; what the head declares is visible to the end.
func (r *reader) while(head Head) Stmt {
	r.enter()
	defer r.leave()
	s := &While{Head: head, Pre: r.braces()}
	s.Cond = r.value(ir.Bool_)
	s.Body = r.block()
	return s
}

func (r *reader) branch(head Head) Stmt {
	s := &If{Head: head, Cond: r.value(ir.Bool_), Then: r.block()}
	if r.Accept("else") {
		if t := r.Peek(); r.Accept("if") {
			r.depth++
			s.Else = []Stmt{r.branch(Head{t.Pos})}
			r.depth--
		} else {
			s.Else = r.block()
		}
	}
	return s
}

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
		e := r.value(ir.I32)
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
func (r *reader) values(hint ir.Type) []*ir.Expr {
	if r.Is("[") {
		return r.list(func() *ir.Expr { return r.index(hint) })
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

func (r *reader) copy(head Head) Stmt {
	t := r.Name("a form of copy")
	s := &Copy{Head: head, Form: CopyFormByName(t.Text)}
	if s.Form == nil {
		r.Fail(t.Pos, "ir", "unknown form of copy %s", t.Text)
	}
	if s.Form.To != AtNone {
		s.To = r.copyEnd()
		r.Expect("<-", "'<-'")
	}
	s.From = r.copyEnd()
	if r.accept("bytes") {
		s.Bytes = r.index(ir.I32)
	}
	if r.accept("done") {
		ref := r.barRef()
		s.Done = &ref
	}
	if r.accept("peers") {
		s.Peers = r.index(ir.I32)
	}
	s.Op = r.combine()
	s.Keep = r.keep()
	return s
}

// copyEnd reads memory, or a map with coordinates.
func (r *reader) copyEnd() Place {
	m, ok := r.locals[r.Peek().Text].(*TensorMap)
	if !ok {
		mem := r.mem()
		return Place{Mem: &mem}
	}
	r.Next()
	p := Place{Map: m}
	if r.Is("[") {
		p.Coords = r.list(func() *ir.Expr { return r.value(ir.I32) })
	}
	return p
}

func (r *reader) mma(head Head) Stmt {
	t := r.Name("a matrix operation")
	s := &Mma{Head: head, Atom: AtomByName(t.Text)}
	if s.Atom == nil {
		r.Fail(t.Pos, "ir", "unknown matrix operation %s", t.Text)
	}
	s.D = r.slice()
	r.Expect("+=", "'+='")
	s.A = r.operand()
	r.Expect("*", "'*'")
	s.B = r.operand()
	r.Expect("acc", "'acc' and a condition")
	s.Acc = r.value(ir.Bool_)
	return s
}

// operand reads a slice, or (descriptor) of memory.
func (r *reader) operand() Operand {
	if !r.Accept("(") {
		s := r.slice()
		return Operand{Slice: &s}
	}
	o := Operand{Desc: r.value(ir.U64)}
	r.Expect(")", "')'")
	r.Expect("of", "'of' and the memory that the descriptor points to")
	m := r.mem()
	o.Of = &m
	return o
}

func (r *reader) barRef() BarRef {
	t := r.Name("a barrier")
	b, ok := r.locals[t.Text].(*Bar)
	if !ok {
		return BarRef{Builtin: t.Text}
	}
	ref := BarRef{Bar: b}
	if r.Accept("[") {
		ref.At = r.index(ir.I32)
		r.Expect("]", "']'")
	}
	ref.Rank = r.rank()
	return ref
}

func (r *reader) sync(head Head, verb syntax.Token) Stmt {
	s := &Sync{Head: head, Verb: VerbOf(verb.Text, "none")}
	if s.Verb == nil {
		t := r.Peek()
		s.On = r.barRef()
		class := s.On.Class(verb.Text)
		if s.Verb = VerbOf(verb.Text, class); s.Verb == nil {
			r.Fail(t.Pos, "ir", "%s cannot be said of %s", verb.Text, t.Text)
		}
	}
	for i, a := range s.Verb.Args {
		if s.Verb.On != "none" || i > 0 {
			r.Expect(",", "',' and "+a.Name)
		}
		s.Args = append(s.Args, r.value(a.Type))
	}
	return s
}

func (r *reader) roles(head Head) Stmt {
	s := &Roles{Head: head}
	r.Expect("{", "'{'")
	for !r.Is("}") && r.Peek().Kind != syntax.End {
		a := &Arm{Name: r.Name("the name of a role").Text}
		r.Expect("warps", "'warps'")
		t := r.Peek()
		a.First = r.number("warp", 0, 64)
		r.Expect("..", "'..'")
		a.Warps = r.number("warp", 0, 64) - a.First
		if a.Warps < 1 {
			r.Fail(t.Pos, "ir", "role %s has no warps", a.Name)
		}
		a.By, a.Regs = r.count("by"), r.count("regs")
		a.Body = r.block()
		s.Arms = append(s.Arms, a)
	}
	r.Expect("}", "'}'")
	return s
}

func (r *reader) check(head Head) Stmt {
	s := &Check{Head: head, Cond: r.value(ir.Bool_)}
	r.Expect(",", "',' and a site")
	s.Code = r.number("site", 0, maxInt)
	for r.Accept(",") {
		s.Args = append(s.Args, r.value(ir.I64))
	}
	if r.Accept("of") {
		s.Of = r.arrayRef()
	}
	return s
}
