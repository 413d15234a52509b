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
	s.Value = r.Value(s.Reg.Type)
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
	s.Lo = r.Value(typ)
	r.Expect("..", "'..'")
	s.Hi = r.Value(typ)
	if r.Accept("step") {
		s.Step = int64(r.number("step", 1, 1<<62))
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
	s.Cond = r.Value(ir.Bool_)
	s.Body = r.block()
	return s
}

func (r *reader) branch(head Head) Stmt {
	s := &If{Head: head, Cond: r.Value(ir.Bool_), Then: r.block()}
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

func (r *reader) check(head Head) Stmt {
	s := &Check{Head: head, Cond: r.Value(ir.Bool_)}
	r.Expect(",", "',' and a site")
	s.Code = r.number("site", 0, maxInt)
	for r.Accept(",") {
		s.Args = append(s.Args, r.Value(ir.I64))
	}
	if r.Accept("of") {
		s.Of = r.ArrayUse()
	}
	return s
}
