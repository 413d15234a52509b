package gogen

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// A kernel is cut at the points where threads meet. What lies between two of them runs as a loop over the threads; control flow
// around them stays outside of those loops, and is the same for all threads that meet. Blocks meet at sync cta; warps meet at
// sync warp and in the operations of a warp, so a stretch without sync cta is a loop over warps, and inside it stretches without
// any meeting are loops over lanes.

// scope says who runs a piece of code together.
type scope int

const (
	laneScope scope = iota
	warpScope
	blockScope
)

// node is a piece of a cut kernel.
type node interface{}

type (
	// lanes runs its statements for every thread of the block, or for every lane where it stands in a warps.
	lanes struct{ body []simt.Stmt }
	// warps runs its nodes for every warp. regs are those that live from one of its nodes to another.
	warps struct {
		body []node
		regs []*simt.Reg
	}
	// uniform is a Let whose value is the same for all.
	uniform struct{ let *simt.Let }
	// together is a statement in which threads meet: bodies are those of For, While (Pre and Body), If (Then and Else).
	together struct {
		stmt   simt.Stmt
		bodies [][]node
	}
)

// home says where a register lives.
type home int

const (
	local     home = iota // inside one loop over threads
	once                  // one for all threads
	perLane               // an array over the lanes of a warp
	perThread             // an array over the threads of the block
)

// region is one stretch of code that touches registers.
type region struct {
	in    *warps
	lanes bool
}

// cut is a kernel after fission.
type cut struct {
	body      []node
	home      map[*simt.Reg]home
	perThread []*simt.Reg

	meets    map[simt.Stmt]scope
	regions  map[*simt.Reg]map[*region]bool
	order    []*simt.Reg // of first touch
	declared map[*simt.Reg]bool
}

func fission(k *simt.Kernel) *cut {
	c := &cut{home: map[*simt.Reg]home{}, meets: map[simt.Stmt]scope{}, regions: map[*simt.Reg]map[*region]bool{}, declared: map[*simt.Reg]bool{}}
	for _, s := range k.Body {
		c.measure(s)
	}
	c.body = c.block(k.Body)
	c.settle()
	return c
}

// measure finds the widest meeting inside a statement.
func (c *cut) measure(s simt.Stmt) scope {
	m := laneScope
	switch s := s.(type) {
	case *simt.Let:
		c.declared[s.Reg] = true
		m = meetingOf(s.Value)
	case *simt.Set:
		m = meetingOf(s.Value)
	case *simt.For:
		c.declared[s.Var] = true
	case *simt.Sync:
		switch s.On.Builtin {
		case "cta":
			m = blockScope
		case "warp":
			m = warpScope
		}
	}
	for _, b := range simt.Blocks(s) {
		for _, inner := range b {
			m = max(m, c.measure(inner))
		}
	}
	c.meets[s] = m
	return m
}

func meetingOf(e *ir.Expr) scope {
	if e != nil && e.Op.Where&ir.WarpWide != 0 {
		return warpScope
	}
	return laneScope
}

// block cuts a list of statements that the whole block runs together.
func (c *cut) block(list []simt.Stmt) []node {
	var out, fixed []node
	var run []simt.Stmt
	flush := func() {
		out = append(out, fixed...)
		if len(run) > 0 {
			out = append(out, c.stretch(run))
		}
		fixed, run = nil, nil
	}
	for _, s := range list {
		switch {
		case c.meets[s] == blockScope:
			flush()
			if _, barrier := s.(*simt.Sync); !barrier {
				out = append(out, c.together(s, nil, c.block))
			}
		case c.isUniform(s):
			fixed = append(fixed, c.once(s.(*simt.Let))) // constant from here on, so it may move in front of the stretch
		default:
			run = append(run, s)
		}
	}
	flush()
	return out
}

// stretch is a run of statements without sync cta.
func (c *cut) stretch(run []simt.Stmt) node {
	widest := laneScope
	for _, s := range run {
		widest = max(widest, c.meets[s])
	}
	if widest == laneScope {
		return c.lanes(run, nil)
	}
	w := &warps{}
	w.body = c.warp(run, w)
	return w
}

// warp cuts a list of statements that a warp runs together.
func (c *cut) warp(list []simt.Stmt, w *warps) []node {
	var out []node
	var run []simt.Stmt
	flush := func() {
		if len(run) > 0 {
			out = append(out, c.lanes(run, w))
			run = nil
		}
	}
	for _, s := range list {
		if c.meets[s] == laneScope {
			run = append(run, s)
			continue
		}
		flush()
		if _, barrier := s.(*simt.Sync); !barrier {
			out = append(out, c.together(s, w, func(b []simt.Stmt) []node { return c.warp(b, w) }))
		}
	}
	flush()
	return out
}

func (c *cut) lanes(run []simt.Stmt, w *warps) node {
	r := &region{w, true}
	simt.Walk(run, func(s simt.Stmt) { c.touchAll(s, r) })
	return &lanes{run}
}

func (c *cut) together(s simt.Stmt, w *warps, inner func([]simt.Stmt) []node) node {
	if f, ok := s.(*simt.For); ok {
		c.home[f.Var] = once
	}
	r := &region{w, false}
	c.touchAll(s, r)
	out := &together{stmt: s}
	for _, b := range simt.Blocks(s) {
		out.bodies = append(out.bodies, inner(b))
	}
	return out
}

func (c *cut) once(l *simt.Let) node {
	c.home[l.Reg] = once
	return &uniform{l}
}

// isUniform tells a Let of a value that depends on nothing but what is the same for all threads of the block.
func (c *cut) isUniform(s simt.Stmt) bool {
	l, ok := s.(*simt.Let)
	return ok && l.Value != nil && !l.Reg.Mutable && l.Reg.Len == 0 && l.Value.Op.Effect == ir.NoEffect && c.same(l.Value, nil)
}

// same reports whether an expression has one value for all who meet: the threads of the block, or those of a warp in w.
func (c *cut) same(e *ir.Expr, w *warps) bool {
	ok := true
	ir.Walk(e, func(x *ir.Expr) {
		switch r := x.Ref.(type) {
		case *simt.Builtin:
			ok = ok && (r != simt.Tid && r != simt.Lane && (w != nil || r != simt.Warp && r != simt.Group))
		case *simt.Reg:
			ok = ok && c.home[r] == once
		}
		ok = ok && x.Op.Where&ir.WarpWide == 0
	})
	return ok
}

// touchAll notes the registers that a statement itself names.
func (c *cut) touchAll(s simt.Stmt, r *region) {
	for _, e := range simt.Exprs(s) {
		ir.Walk(e, func(x *ir.Expr) {
			if reg, ok := x.Ref.(*simt.Reg); ok {
				c.touch(reg, r)
			}
		})
	}
	for _, reg := range assigned(s) {
		c.touch(reg, r)
	}
}

// assigned lists the registers that a statement itself declares or assigns.
func assigned(s simt.Stmt) []*simt.Reg {
	switch s := s.(type) {
	case *simt.Let:
		return []*simt.Reg{s.Reg}
	case *simt.Set:
		return []*simt.Reg{s.Reg}
	case *simt.For:
		return []*simt.Reg{s.Var}
	case *simt.Load:
		return []*simt.Reg{s.To.Reg}
	case *simt.Store:
		if s.Old != nil {
			return []*simt.Reg{s.Old}
		}
	}
	return nil
}

func (c *cut) touch(reg *simt.Reg, r *region) {
	if c.home[reg] == once {
		return
	}
	if c.regions[reg] == nil {
		c.regions[reg] = map[*region]bool{}
		c.order = append(c.order, reg)
	}
	c.regions[reg][r] = true
}

// settle gives every register that is not the same for all its home.
func (c *cut) settle() {
	for _, reg := range c.order {
		if c.home[reg] == once {
			continue
		}
		regions := c.regions[reg]
		var w *warps
		first, shared, inLoop := true, true, true
		for r := range regions {
			shared = shared && r.in != nil && (first || r.in == w)
			inLoop = inLoop && r.lanes
			w, first = r.in, false
		}
		switch {
		case len(regions) == 1 && inLoop && c.declared[reg]:
			c.home[reg] = local
		case shared:
			c.home[reg] = perLane
			w.regs = append(w.regs, reg)
		default:
			c.home[reg] = perThread
			c.perThread = append(c.perThread, reg)
		}
	}
}
