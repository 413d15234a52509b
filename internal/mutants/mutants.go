// Package mutants makes programs that lack one barrier, wait, commit or mask of a given one. Whoever checks programs should find
// out about nearly all of them; one that nobody can tell from the original shows something that the original does not need.
package mutants

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// Kind says what a mutant lacks.
type Kind string

// The kinds.
const (
	Barrier Kind = "barrier" // threads do not meet
	Wait    Kind = "wait"    // nobody waits for a queue of copies
	Commit  Kind = "commit"  // a group of a queue is not closed
	Effect  Kind = "effect"  // memory is touched whatever the mask
	Bytes   Kind = "bytes"   // a copy takes all bytes whatever the mask
	Update  Kind = "update"  // a register gets a new value whatever the mask
)

// Mutant is a module that lacks something.
type Mutant struct {
	Kind   Kind
	Lost   string // the statement that is changed, as text
	Module *simt.Module
}

// Of lists the mutants of a module, in the order of its statements.
func Of(m *simt.Module) (out []Mutant) {
	for i, k := range m.Kernels {
		facts := simt.FactsOf(k)
		simt.Walk(k.Body, func(s simt.Stmt) {
			kind, with := without(s, facts)
			if kind == "" {
				return
			}
			changed := *k
			changed.Body = replaced(k.Body, s, with)
			module := &simt.Module{Header: m.Header, Kernels: append([]*simt.Kernel(nil), m.Kernels...)}
			module.Kernels[i] = &changed
			out = append(out, Mutant{Kind: kind, Lost: simt.PrintStmts([]simt.Stmt{s}), Module: module})
		})
	}
	return out
}

// without is what a statement becomes without what it is there for: nothing, or the same without its mask. Kind is empty for
// statements that have no such thing.
func without(s simt.Stmt, facts *simt.Facts) (Kind, []simt.Stmt) {
	mask := func(x *ir.Expr) bool { return facts.Expr(x).Same < simt.SameCta }
	switch s := s.(type) {
	case *simt.Sync:
		switch s.Verb.Name {
		case "sync":
			return Barrier, nil
		case "wait":
			return Wait, nil
		case "commit":
			return Commit, nil
		}
	case *simt.If:
		if mask(s.Cond) && len(s.Else) == 0 && touching(s.Then) {
			c := *s
			c.Cond = ir.True
			return Effect, []simt.Stmt{&c}
		}
	case *simt.Copy:
		if n := s.Bytes; n != nil && n.Op == ir.OpSelect && mask(n.Args[0]) {
			c := *s
			c.Bytes = n.Args[1]
			return Bytes, []simt.Stmt{&c}
		}
	case *simt.Set:
		if x := s.Value; x.Op == ir.OpSelect && mask(x.Args[0]) {
			c := *s
			c.Value = x.Args[1]
			return Update, []simt.Stmt{&c}
		}
	case *simt.Let:
		if x := s.Value; x != nil && x.Op == ir.OpSelect && mask(x.Args[0]) {
			c := *s
			c.Value = x.Args[1]
			return Update, []simt.Stmt{&c}
		}
	}
	return "", nil
}

// touching reports whether statements only access memory, and compute where.
func touching(body []simt.Stmt) bool {
	touches := false
	for _, s := range body {
		switch s.(type) {
		case *simt.Load, *simt.Store, *simt.Copy:
			touches = true
		case *simt.Let:
		default:
			return false
		}
	}
	return touches
}

// replaced is a body with other statements in the place of one.
func replaced(body []simt.Stmt, s simt.Stmt, with []simt.Stmt) []simt.Stmt {
	out := make([]simt.Stmt, 0, len(body))
	in := func(list []simt.Stmt) []simt.Stmt { return replaced(list, s, with) }
	for _, x := range body {
		if x == s {
			out = append(out, with...)
			continue
		}
		switch y := x.(type) {
		case *simt.For:
			c := *y
			c.Body = in(y.Body)
			x = &c
		case *simt.While:
			c := *y
			c.Pre, c.Body = in(y.Pre), in(y.Body)
			x = &c
		case *simt.If:
			c := *y
			c.Then, c.Else = in(y.Then), in(y.Else)
			x = &c
		case *simt.Roles:
			c := *y
			c.Arms = make([]*simt.Arm, len(y.Arms))
			for i, a := range y.Arms {
				arm := *a
				arm.Body = in(a.Body)
				c.Arms[i] = &arm
			}
			x = &c
		}
		out = append(out, x)
	}
	return out
}
