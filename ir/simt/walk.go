package simt

import "github.com/gkc-lang/gkc/ir"

// Blocks lists the statement lists inside a statement, in the order in which they run.
func Blocks(s Stmt) [][]Stmt {
	switch s := s.(type) {
	case *For:
		return [][]Stmt{s.Body}
	case *While:
		return [][]Stmt{s.Pre, s.Body}
	case *If:
		return [][]Stmt{s.Then, s.Else}
	case *Roles:
		out := make([][]Stmt, len(s.Arms))
		for i, a := range s.Arms {
			out[i] = a.Body
		}
		return out
	}
	return nil
}

// Walk calls f for every statement, outer ones first.
func Walk(body []Stmt, f func(Stmt)) {
	for _, s := range body {
		f(s)
		for _, b := range Blocks(s) {
			Walk(b, f)
		}
	}
}

// Exprs lists the expressions of a statement itself, not those of the statements in it; none is nil.
func Exprs(s Stmt) []*ir.Expr {
	var out []*ir.Expr
	add := func(list ...*ir.Expr) {
		for _, e := range list {
			if e != nil {
				out = append(out, e)
			}
		}
	}
	mem := func(m *Mem) {
		if m != nil {
			add(m.At, m.Rank)
		}
	}
	operand := func(o *Operand) {
		if o.Slice != nil {
			add(o.Slice.From)
		}
		add(o.Desc)
		mem(o.Of)
	}
	switch s := s.(type) {
	case *Let:
		add(s.Value)
	case *Set:
		add(s.At, s.Value)
	case *For:
		add(s.Lo, s.Hi)
	case *While:
		add(s.Cond)
	case *If:
		add(s.Cond)
	case *Load:
		add(s.To.From)
		mem(&s.From)
	case *Store:
		mem(&s.To)
		add(s.From...)
	case *Copy:
		for _, p := range []*Place{&s.To, &s.From} {
			mem(p.Mem)
			add(p.Coords...)
		}
		add(s.Bytes, s.Peers)
		if s.Done != nil {
			add(s.Done.At, s.Done.Rank)
		}
	case *Mma:
		add(s.D.From)
		operand(&s.A)
		operand(&s.B)
		add(s.Acc)
	case *Sync:
		add(s.On.At, s.On.Rank)
		add(s.Args...)
	case *Check:
		add(s.Cond)
		add(s.Args...)
	}
	return out
}

// ExprsOf lists the expressions of a body, however deep.
func ExprsOf(body []Stmt) []*ir.Expr {
	var out []*ir.Expr
	Walk(body, func(s Stmt) { out = append(out, Exprs(s)...) })
	return out
}

// CheckOf finds the first check of a kernel that reports a code; nil if there is none.
func (k *Kernel) CheckOf(code int) (found *Check) {
	Walk(k.Body, func(s Stmt) {
		if c, ok := s.(*Check); ok && found == nil && c.Code == code {
			found = c
		}
	})
	return found
}
