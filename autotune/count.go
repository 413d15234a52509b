package autotune

import (
	"math/bits"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// unknownTrips stands for the trips of a loop whose bounds are data.
const unknownTrips = 16

// sector is the least that memory moves, in bytes.
const sector = 32

// counter counts what a block does, from its text: every statement as often as the loops around it turn, in every warp.
type counter struct {
	*sample
	weight float64 // warps that execute the present statement, a block
	mask   uint32  // lanes of the sampled warp that do

	issued     [ir.CostSlow + 1]float64
	mmaFlops   float64
	wavefronts float64
	sectors    map[*simt.Array]float64
	live, most int // registers of a thread: now, and at most
}

// waits is how often a block waits for memory: with nothing under way behind it, and with more.
type waits struct{ idle, ahead float64 }

func (w waits) and(v waits) waits { return waits{w.idle + v.idle, w.ahead + v.ahead} }

func (w waits) or(v waits) waits { return waits{max(w.idle, v.idle), max(w.ahead, v.ahead)} }

func (c *counter) block(list []simt.Stmt) (out waits) {
	live, direct := c.live, waits{}
	for _, s := range list {
		inner, own := c.stmt(s)
		out = out.and(inner)
		direct = direct.or(own) // accesses of a list are under way together
	}
	c.live = live
	return out.and(direct)
}

// stmt counts a statement: the waits of what is in it, and its own.
func (c *counter) stmt(s simt.Stmt) (inner, own waits) {
	c.exprs(simt.Exprs(s))
	switch s := s.(type) {
	case *simt.Let:
		c.declare(s.Reg)
		if s.Value != nil && !s.Reg.Mutable {
			c.names[s.Reg] = c.eval(s.Value)
		}
	case *simt.For:
		return c.loop(s), own
	case *simt.While:
		return c.times(unknownTrips, func() waits { return c.block(s.Pre).and(c.block(s.Body)) }), own
	case *simt.If:
		return c.branch(s), own
	case *simt.Roles:
		return c.roles(s), own
	case *simt.Load:
		return inner, c.access(&s.From, s.To.Len, s.Form)
	case *simt.Store:
		c.access(&s.To, len(s.From), s.Form)
	case *simt.Copy:
		c.copy(s)
	case *simt.Mma:
		c.issue(ir.CostShared, 1)
		c.mmaFlops += c.weight * 2 * float64(s.Atom.M) * float64(s.Atom.N) * float64(s.Atom.K) / float64(s.Atom.Warps)
	case *simt.Sync:
		c.issue(ir.CostALU, 1)
		if s.Verb.Name == "wait" && s.Verb.On == "queue" && s.On.Builtin != "wgmma" {
			if ahead, _ := c.integer(s.Args[0]); ahead > 0 {
				return inner, waits{ahead: 1 / float64(ahead)}
			}
			return inner, waits{idle: 1}
		}
	case *simt.Check:
		c.issue(ir.CostALU, 1)
	}
	return inner, own
}

func (c *counter) issue(cost ir.Cost, n float64) { c.issued[cost] += c.weight * n }

func (c *counter) active() float64 { return float64(bits.OnesCount32(c.mask)) }

// declare makes room for a register as long as its block of statements lasts.
func (c *counter) declare(r *simt.Reg) {
	c.live += max(1, r.Len) * max(1, (r.Type.Bytes()+3)/4)
	c.most = max(c.most, c.live)
}

// exprs counts the operations of a statement, each that it shares once.
func (c *counter) exprs(list []*ir.Expr) {
	seen := map[*ir.Expr]bool{}
	var visit func(e *ir.Expr)
	visit = func(e *ir.Expr) {
		if seen[e] || e.Op == ir.OpConst || e.Op == ir.OpName {
			return
		}
		seen[e] = true
		for _, a := range e.Args {
			visit(a)
		}
		cost := e.Op.Cost
		if cost == ir.CostFMA && e.Type.IsInt() {
			cost = ir.CostALU
		}
		c.issue(cost, 1)
	}
	for _, e := range list {
		visit(e)
	}
}

// times counts what happens n times.
func (c *counter) times(n float64, body func() waits) waits {
	before := c.weight
	c.weight *= n
	w := body()
	c.weight = before
	return waits{n * w.idle, n * w.ahead}
}

func (c *counter) loop(s *simt.For) (out waits) {
	lo, okLo := c.integer(s.Lo)
	hi, okHi := c.integer(s.Hi)
	trips := float64(unknownTrips)
	if okLo && okHi {
		n := max(0, (hi-lo+s.Step-1)/s.Step)
		if n == 0 {
			return out
		}
		trips = float64(n)
		c.names[s.Var] = uniform(ir.Convert(s.Var.Type, ir.I64, ir.IntConst(lo+n/2*s.Step)))
	}
	if s.Unroll { // without a counter, and all its accesses are under way together
		c.times(trips, func() waits {
			out = c.block(s.Body)
			return out
		})
		return out
	}
	live := c.live
	c.declare(s.Var)
	out = c.times(trips, func() waits {
		c.issue(ir.CostALU, 2)
		return c.block(s.Body)
	})
	c.live = live
	return out
}

// branch counts the sides that lanes of the sampled warp take; both where that is unknown.
func (c *counter) branch(s *simt.If) (out waits) {
	c.issue(ir.CostALU, 1)
	before, yes, no := c.mask, c.mask, c.mask
	if v := c.eval(s.Cond); v.known {
		yes = 0
		for i := range warpSize {
			if v.at(i).Bool() {
				yes |= 1 << i
			}
		}
		yes, no = yes&before, before&^yes
	}
	for _, side := range []struct {
		mask uint32
		list []simt.Stmt
	}{{yes, s.Then}, {no, s.Else}} {
		if c.mask = side.mask; side.mask != 0 {
			out = out.and(c.block(side.list))
		}
	}
	c.mask = before
	return out
}

// roles counts arms, which run at the same time.
func (c *counter) roles(s *simt.Roles) (out waits) {
	before := c.weight
	for _, a := range s.Arms {
		c.weight = float64(a.Warps)
		out = out.or(c.block(a.Body))
	}
	c.weight = before
	return out
}

// access counts n elements of each lane.
func (c *counter) access(m *simt.Mem, n int, form simt.Form) (own waits) {
	c.issue(ir.CostShared, 1)
	if form == simt.Matrix || form == simt.MatrixTrans {
		c.wavefronts += c.weight * float64(n) // 8 rows of 16 bytes
		return own
	}
	bytes := m.Buf.Type.Bytes() * max(1, n)
	if m.Buf.Space == simt.Shared {
		c.wavefronts += c.weight * float64((4*c.pieces(m, bytes, 4)+127)/128)
		return own
	}
	c.sectors[m.Buf.Array] += c.weight * float64(c.pieces(m, bytes, sector))
	return waits{idle: 1}
}

// pieces is the number of different pieces of memory, each of size bytes, that the active lanes of the sampled warp touch; as many
// as consecutive lanes would, where their addresses are unknown.
func (c *counter) pieces(m *simt.Mem, bytes, size int) int {
	at := c.eval(m.At)
	if !at.known {
		return (int(c.active())*bytes + size - 1) / size
	}
	seen := map[int64]bool{}
	for i := range warpSize {
		if c.mask>>i&1 == 0 {
			continue
		}
		first := at.at(i).Int() * int64(m.Buf.Type.Bytes())
		for p := first / int64(size); p <= (first+int64(bytes)-1)/int64(size); p++ {
			seen[p] = true
		}
	}
	return len(seen)
}

// copy counts an asynchronous copy: of each lane, or of the block.
func (c *counter) copy(s *simt.Copy) {
	c.issue(ir.CostShared, 1)
	if s.Form.Queue == "cp" && s.From.Mem != nil && s.To.Mem != nil {
		c.sectors[s.From.Mem.Buf.Array] += c.weight * float64(c.pieces(s.From.Mem, s.Form.Bytes, sector))
		c.wavefronts += c.weight * float64((4*c.pieces(s.To.Mem, s.Form.Bytes, 4)+127)/128)
		return
	}
	for _, p := range []*simt.Place{&s.From, &s.To} {
		switch {
		case p.Map != nil:
			bytes := p.Map.Of.Type.Bytes()
			for _, n := range p.Map.Box {
				bytes *= n
			}
			c.sectors[p.Map.Of] += c.weight * float64(bytes) / sector
		case p.Mem != nil && p.Mem.Buf.Space == simt.Global && s.Bytes != nil:
			bytes, _ := c.integer(s.Bytes)
			c.sectors[p.Mem.Buf.Array] += c.weight * float64(bytes) / sector
		}
	}
}
