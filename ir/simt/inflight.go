package simt

import (
	"maps"
	"slices"

	"github.com/gkc-lang/gkc/ir"
)

// Asynchronous matrix operations own their registers from issue to the wait that covers them: an ordinary statement may neither
// read nor write their result, nor write what they read. And what ordinary statements wrote must pass a fence before such an
// operation sees it. The walk follows groups of operations along every path; where paths join, a register is in flight if it is
// on one of them.

// group says of registers in flight whether a matrix operation writes them; otherwise it reads them.
type group map[*Reg]bool

// flight is what may be under way at a place of a kernel.
type flight struct {
	groups []group // committed, oldest first
	open   group   // issued since the last commit
	dirty  group   // written by ordinary statements since the last fence
}

// maxSteps bounds the statements that are walked: nested loops are walked again and again until nothing changes.
const maxSteps = 1 << 20

// maxGroups bounds the groups that are told apart; older ones count as one.
const maxGroups = 8

func (f *flight) clone() *flight {
	out := &flight{groups: make([]group, len(f.groups)), open: maps.Clone(f.open), dirty: maps.Clone(f.dirty)}
	for i, g := range f.groups {
		out.groups[i] = maps.Clone(g)
	}
	return out
}

func newFlight() *flight { return &flight{open: group{}, dirty: group{}} }

func (g group) add(other group) {
	for r, writes := range other {
		g[r] = g[r] || writes
	}
}

// commit closes the open group.
func (f *flight) commit() {
	f.groups = append(f.groups, f.open)
	f.open = group{}
	if len(f.groups) > maxGroups {
		f.groups[1].add(f.groups[0])
		f.groups = f.groups[1:]
	}
}

// wait leaves the n youngest groups.
func (f *flight) wait(n int64) {
	if n < int64(len(f.groups)) {
		f.groups = slices.Clone(f.groups[len(f.groups)-int(max(n, 0)):])
	}
}

// join adds what is under way on another path, youngest groups to youngest.
func (f *flight) join(o *flight) {
	f.open.add(o.open)
	f.dirty.add(o.dirty)
	for len(f.groups) < len(o.groups) {
		f.groups = slices.Insert(f.groups, 0, group{})
	}
	skip := len(f.groups) - len(o.groups)
	for i, g := range o.groups {
		f.groups[skip+i].add(g)
	}
}

func (f *flight) equal(o *flight) bool {
	return maps.Equal(f.open, o.open) && maps.Equal(f.dirty, o.dirty) && slices.EqualFunc(f.groups, o.groups, maps.Equal[group, group])
}

// touches reports whether r is in flight: written, or also only read.
func (f *flight) touches(r *Reg, reads bool) bool {
	in := func(g group) bool { writes, there := g[r]; return there && (writes || reads) }
	return in(f.open) || slices.ContainsFunc(f.groups, in)
}

// empty reports whether nothing is in flight.
func (f *flight) empty() bool {
	return len(f.open) == 0 && !slices.ContainsFunc(f.groups, func(g group) bool { return len(g) > 0 })
}

// flights checks a kernel's asynchronous matrix operations, if it has any.
func (v *verifier) flights(body []Stmt) {
	async := false
	Walk(body, func(s Stmt) {
		m, ok := s.(*Mma)
		async = async || ok && m.Atom.Async
	})
	if !async {
		return
	}
	f := newFlight()
	v.steps = 0
	v.fly(body, f)
	v.require(f.empty(), "matrix operations are in flight at the end")
}

func (v *verifier) fly(body []Stmt, f *flight) {
	for _, s := range body {
		v.pos = s.Place()
		if v.steps++; v.steps == maxSteps {
			v.fail("loops are nested too deeply to follow the matrix operations in them")
		}
		if v.steps >= maxSteps {
			return
		}
		v.flyOne(s, f)
	}
}

func (v *verifier) flyOne(s Stmt, f *flight) {
	for _, e := range Exprs(s) {
		v.reads(e, f)
	}
	switch s := s.(type) {
	case *Let:
		if s.Value != nil {
			v.writes(s.Reg, f)
		}
	case *Set:
		v.writes(s.Reg, f)
	case *Load:
		v.writes(s.To.Reg, f)
	case *Store:
		if s.Old != nil {
			v.writes(s.Old, f)
		}
	case *Mma:
		v.flyMma(s, f)
	case *Sync:
		v.flySync(s, f)
	case *If:
		other := f.clone()
		v.fly(s.Then, f)
		v.fly(s.Else, other)
		f.join(other)
	case *For:
		v.flyLoop(f, func(f *flight) { v.fly(s.Body, f) }, nil)
	case *While:
		v.flyLoop(f, func(f *flight) { v.fly(s.Body, f) }, func(f *flight) {
			v.fly(s.Pre, f)
			v.reads(s.Cond, f)
		})
	case *Roles:
		before := f.clone()
		for _, a := range s.Arms {
			arm := before.clone()
			v.fly(a.Body, arm)
			v.require(arm.empty(), "matrix operations are in flight where the role %s ends", a.Name)
			f.join(arm)
		}
	}
}

// flyLoop follows a loop until nothing new is in flight at its beginning. head runs before each test.
func (v *verifier) flyLoop(f *flight, body, head func(*flight)) {
	if head == nil {
		head = func(*flight) {}
	}
	for {
		before := f.clone()
		round := f.clone()
		head(round)
		body(round)
		if f.join(round); f.equal(before) || len(v.errs) >= maxErrors {
			break
		}
	}
	head(f)
}

func (v *verifier) flyMma(s *Mma, f *flight) {
	if !s.Atom.Async {
		v.reads(Elem(s.D.Reg, ir.Int64(0)), f)
		v.writes(s.D.Reg, f)
		return
	}
	v.require(!f.dirty[s.D.Reg], "%s was written since the last fence wgmma, and a matrix operation adds to it", s.D.Reg.Name)
	f.open[s.D.Reg] = true
	if s.A.Slice != nil {
		r := s.A.Slice.Reg
		v.require(!f.dirty[r], "%s was written since the last fence wgmma, and a matrix operation reads it", r.Name)
		v.require(!f.touches(r, false), "%s is read by a matrix operation while another may still write it", r.Name)
		if !f.open[r] {
			f.open[r] = false
		}
	}
}

func (v *verifier) flySync(s *Sync, f *flight) {
	if s.On.Builtin != "wgmma" {
		return
	}
	switch s.Verb.Name {
	case "fence":
		f.dirty = group{}
	case "commit":
		f.commit()
	case "wait":
		if n, ok := s.Args[0].IntValue(); ok {
			f.wait(n)
		}
	}
}

// reads checks the registers that an expression reads.
func (v *verifier) reads(e *ir.Expr, f *flight) {
	ir.Walk(e, func(x *ir.Expr) {
		if r, ok := x.Ref.(*Reg); ok && f.touches(r, false) {
			v.fail("%s is read while a matrix operation may still write it", r.Name)
		}
	})
}

// writes checks a register that an ordinary statement writes.
func (v *verifier) writes(r *Reg, f *flight) {
	v.require(!f.touches(r, true), "%s is written while a matrix operation may still use it", r.Name)
	f.dirty[r] = true
}
