package simt

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// Copies, matrix operations, barriers and roles.

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
		p.Coords = r.Values(ir.I32)
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
	s.Acc = r.Value(ir.Bool_)
	return s
}

// operand reads a slice, or (descriptor) of memory.
func (r *reader) operand() Operand {
	if !r.Accept("(") {
		s := r.slice()
		return Operand{Slice: &s}
	}
	o := Operand{Desc: r.Value(ir.U64)}
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
		s.Args = append(s.Args, r.Value(a.Type))
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
