package simt

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// The rules of what the machine does beside the threads: copies, matrix operations, barriers, roles.

func (v *verifier) copy(s *Copy) {
	f := s.Form
	v.end(&s.To, f.To, f, "the target of "+f.Name)
	v.end(&s.From, f.From, f, "the source of "+f.Name)
	switch {
	case f.Bytes > 0:
		v.require(s.Bytes == nil || f.Partial, "%s copies %d bytes", f.Name, f.Bytes)
	case f.From == AtMap || f.To == AtMap:
		v.require(s.Bytes == nil, "%s copies what the box of its map says", f.Name)
	default:
		v.require(s.Bytes != nil, "%s does not say how many bytes", f.Name)
	}
	if s.Bytes != nil {
		v.operand(s.Bytes, ir.I32, "the bytes of "+f.Name)
		v.require(f.Bytes > 0 || v.align.zeros(s.Bytes) >= 4, "%s copies %s bytes, which are not known to be a multiple of 16", f.Name, show(s.Bytes))
	}
	v.require(f.Bar == (s.Done != nil), "%s: %s", f.Name, map[bool]string{true: "no mbarrier counts its bytes", false: "it completes on no mbarrier"}[f.Bar])
	if s.Done != nil {
		v.require(s.Done.Bar != nil && !s.Done.Bar.Named, "%s completes on an mbarrier", f.Name)
		v.barRef(&s.Done.At, s.Done)
	}
	if s.Peers != nil {
		v.require(f.Peers && v.k.Launch.Cluster > 1, "%s cannot write several blocks here", f.Name)
		v.operand(s.Peers, ir.I32, "the peers of "+f.Name)
	}
	v.require(s.Op == nil || f.Combine && slices.Contains(ir.Monoids, s.Op), "%s does not combine", f.Name)
	v.require(s.Keep != KeepStream, "%s passes L1 by", f.Name)
}

// end checks one end of a copy.
func (v *verifier) end(p *Place, want End, f *CopyForm, what string) {
	switch want {
	case AtNone:
		v.require(p.Mem == nil && p.Map == nil, "%s has no target", f.Name)
	case AtMap:
		if !v.require(p.Map != nil && p.Mem == nil && v.own[p.Map], "%s is a tensor map of the kernel", what) {
			return
		}
		coords := len(p.Map.Dims)
		if f.From == AtMap && f.To == AtNone && len(p.Coords) == 0 {
			coords = 0 // only the descriptor is fetched
		}
		v.require(len(p.Coords) == coords, "map %s has %d dimensions, not %d", p.Map.Name, len(p.Map.Dims), len(p.Coords))
		for _, c := range p.Coords {
			v.operand(c, ir.I32, "a coordinate of "+p.Map.Name)
		}
	default:
		if !v.require(p.Mem != nil && p.Map == nil && p.Mem.Buf != nil && p.Mem.At != nil, "%s is memory", what) {
			return
		}
		space := map[bool]Space{true: Global, false: Shared}[want == AtGlobal]
		v.require(p.Mem.Buf.Space == space && (p.Mem.Rank != nil) == (want == AtPeer), "%s is in %s memory", what, want)
		v.place(p.Mem, copyAlign(f), what)
		if p.Mem.Buf.ReadOnly && (f.To == want && f.From != want) {
			v.fail("%s, %s, is read only", what, p.Mem.Buf.Name)
		}
	}
}

// copyAlign is the alignment in bytes that a form demands of memory.
func copyAlign(f *CopyForm) int {
	switch {
	case f.Bytes > 0:
		return f.Bytes
	case f.From == AtMap || f.To == AtMap:
		return 128
	}
	return 16
}

func (v *verifier) mma(s *Mma) {
	a := s.Atom
	v.operand(s.Acc, ir.Bool_, "acc of "+a.Name)
	v.require(s.D.Len == a.DRegs() && s.D.Reg.Type == a.D && s.D.Reg.Len > 0, "%s has %d registers of type %s as its result", a.Name, a.DRegs(), a.D)
	v.slice(&s.D, "the result of "+a.Name)
	v.factor(&s.A, a, a.A, a.ARegs(), a.ASmem, !a.TransA, "A of "+a.Name)
	v.factor(&s.B, a, a.B, a.BRegs(), a.BSmem, !a.BSmem, "B of "+a.Name)
	v.meets(s, SameWarp, a.Name)
	if v.laidOut {
		v.matrixLayouts(s)
	}
}

// factor checks an operand, which may be in shared memory or in registers.
func (v *verifier) factor(o *Operand, a *Atom, t ir.Type, n int, smem, regs bool, what string) {
	switch {
	case o.Slice != nil && o.Desc == nil:
		if v.require(regs, "%s cannot be in registers", what) {
			v.require(o.Slice.Len == n && o.Slice.Reg != nil && o.Slice.Reg.Type == t, "%s is %d registers of type %s", what, n, t)
			v.slice(o.Slice, what)
		}
	case o.Desc != nil && o.Of != nil && o.Slice == nil && o.Of.Buf != nil && o.Of.At != nil:
		v.require(smem, "%s cannot be in shared memory", what)
		v.operand(o.Desc, ir.U64, what)
		v.require(o.Of.Buf.Space == Shared && o.Of.Rank == nil && holds(t, o.Of.Buf.Type), "%s lies in shared memory of this block, in elements of %s", what, t)
		v.place(o.Of, 16, what)
	default:
		v.fail("%s is registers, or a descriptor with the memory that it points to", what)
	}
}

// barRef checks which barrier of an array of them is meant.
func (v *verifier) barRef(at **ir.Expr, r *BarRef) {
	if !v.require(v.own[r.Bar], "a barrier of another kernel") {
		return
	}
	if *at == nil {
		v.require(r.Bar.N == 1, "which of the %d barriers of %s?", r.Bar.N, r.Bar.Name)
	} else {
		v.index(*at, "the barrier "+r.Bar.Name)
		if n, ok := (*at).IntValue(); ok {
			v.require(n >= 0 && n < int64(r.Bar.N), "barrier %d of %s, which has %d", n, r.Bar.Name, r.Bar.N)
		}
	}
	if r.Rank != nil {
		v.require(!r.Bar.Named && v.k.Launch.Cluster > 1, "only mbarriers in a cluster have a rank")
		v.operand(r.Rank, ir.I32, "the rank")
	}
}

func (v *verifier) sync(s *Sync) {
	verb := s.Verb
	if !v.require(VerbOf(verb.Name, s.On.Class(verb.Name)) == verb, "%s is said of %s", verb.Name, s.On.Class(verb.Name)) {
		return
	}
	if s.On.Bar != nil {
		v.barRef(&s.On.At, &s.On)
		v.require(s.On.Rank == nil || verb.Name == "arrive", "%s concerns barriers of the own block", verb.Name)
	}
	for i, a := range s.Args {
		v.operand(a, verb.Args[i].Type, "the "+verb.Args[i].Name+" of "+verb.Name)
		n, isConst := a.IntValue()
		v.require(!verb.Args[i].Const || isConst && n >= 0, "the %s of %s must be a constant", verb.Args[i].Name, verb.Name)
	}
	v.require(v.k.Launch.Cluster > 1 || verb.On != "cluster", "%s cluster, but the launch has no clusters", verb.Name)
	v.meets(s, verb.Together(s.On), verb.Name+" "+s.On.Class(verb.Name))
}

// Together is the scope of the threads that must reach a verb together.
func (v *Verb) Together(on BarRef) Scope {
	switch {
	case v.Block:
		return SameCta
	case v.Warp || on.Builtin == "wgmma":
		return SameWarp
	}
	return SameLane
}

// bars checks the declarations of barriers.
func (v *verifier) bars() {
	ids := map[int]string{}
	for _, b := range v.k.Bars {
		if !v.require(b.N >= 1 && b.N <= 1<<16 && b.Count >= 1 && b.First >= 0, "barrier %s has no members or no arrivals", b.Name) {
			continue
		}
		if !b.Named {
			v.require(b.First%8 == 0 && b.First+8*b.N <= v.k.Launch.SharedBytes, "mbarriers %s at byte %d do not lie in shared memory at a multiple of 8", b.Name, b.First)
			v.require(b.Count < 1<<20, "mbarrier %s awaits %d arrivals", b.Name, b.Count)
			continue
		}
		v.require(b.Count%WarpSize == 0 && b.Count <= v.k.Launch.Threads, "named barrier %s awaits %d threads of %d: whole warps are needed", b.Name, b.Count, v.k.Launch.Threads)
		if !v.require(b.First >= 1 && b.First+b.N <= 16, "named barriers %s have the numbers %d..%d, expected some of 1..15", b.Name, b.First, b.First+b.N-1) {
			continue
		}
		for id := b.First; id < b.First+b.N; id++ {
			v.require(ids[id] == "", "named barrier %d belongs to %s and %s", id, ids[id], b.Name)
			ids[id] = b.Name
		}
	}
}

// ledger checks the parts of the account of an mbarrier that no path changes: it is initialised with the count of its
// declaration, copies that complete on it are expected, and whoever waits waits for something.
func (v *verifier) ledger() {
	type account struct{ init, arrive, expect, wait, copies bool }
	accounts := map[*Bar]*account{}
	for _, b := range v.k.Bars {
		accounts[b] = &account{}
	}
	Walk(v.k.Body, func(s Stmt) {
		v.pos = s.Place()
		switch s := s.(type) {
		case *Copy:
			if s.Done != nil && accounts[s.Done.Bar] != nil {
				accounts[s.Done.Bar].copies = true
			}
		case *Sync:
			a := accounts[s.On.Bar]
			if a == nil {
				return
			}
			switch s.Verb.Name {
			case "init":
				a.init = true
				v.require(s.Args[0].IsInt(int64(s.On.Bar.Count)), "%s is initialised with another count than %d", s.On.Bar.Name, s.On.Bar.Count)
			case "arrive":
				a.arrive = true
			case "expect":
				a.expect = true
			case "wait", "sync":
				a.wait = true
			}
		}
	})
	for _, b := range v.k.Bars {
		a := accounts[b]
		if !b.Named {
			v.require(a.init || !(a.arrive || a.expect || a.wait || a.copies), "mbarrier %s is used, but never initialised", b.Name)
			v.require(a.expect || !a.copies, "copies complete on %s, but nobody expects their bytes", b.Name)
			v.require(a.arrive || a.expect || !a.wait, "somebody waits for %s, but nobody arrives", b.Name)
		}
	}
}

func (v *verifier) roles(s *Roles) {
	v.meets(s, SameCta, "roles")
	warps := v.k.Launch.Threads / WarpSize
	v.require(v.k.Launch.Threads%WarpSize == 0, "roles need whole warps, and a block has %d threads", v.k.Launch.Threads)
	owner, names := make([]string, warps), map[string]bool{}
	for _, a := range s.Arms {
		v.pos = s.Place()
		v.require(syntax.IsName(a.Name) && !names[a.Name], "the role's name %q is taken, or no name", a.Name)
		names[a.Name] = true
		v.arm(a, owner)
		v.arms++
		v.maybe(func() { v.block(a.Body) })
		v.arms--
	}
	v.pos = s.Place()
	v.registers(s)
}

// arm checks which warps do it; owner says who does what so far.
func (v *verifier) arm(a *Arm, owner []string) {
	if !v.require(a.First >= 0 && a.Warps >= 1 && a.First+a.Warps <= len(owner), "role %s has the warps %d..%d of %d", a.Name, a.First, a.First+a.Warps, len(owner)) {
		return
	}
	for w := a.First; w < a.First+a.Warps; w++ {
		v.require(owner[w] == "", "warp %d belongs to the roles %s and %s", w, owner[w], a.Name)
		owner[w] = a.Name
	}
	v.require(a.By >= 0 && (a.By == 0 || a.Warps%a.By == 0), "role %s has groups of %d among %d warps", a.Name, a.By, a.Warps)
	if a.Regs != 0 {
		v.require(a.Regs >= 24 && a.Regs <= 240 && a.Regs%8 == 0, "role %s has %d registers a thread, expected a multiple of 8 in 24..240", a.Name, a.Regs)
		v.require(a.First%4 == 0 && a.Warps%4 == 0, "role %s changes its registers, which groups of four warps do together", a.Name)
	}
}

const registersPerBlock = 65536

// registers: what the roles ask for must be there.
func (v *verifier) registers(s *Roles) {
	total := 0
	for _, a := range s.Arms {
		total += a.Regs * a.Warps * WarpSize
	}
	v.require(total*max(v.k.Launch.PerSM, 1) <= registersPerBlock, "the roles ask for %d registers of %d", total, registersPerBlock)
}

// device checks that the kernel's target has what the kernel uses.
func (v *verifier) device() {
	if !v.require(v.k.For == "" || targetNumber(v.k.For) > 0, "%q is no device: sm_80, sm_90a", v.k.For) {
		return
	}
	needs(v.k, func(at diag.Pos, least, what string) {
		v.pos = at
		v.require(Runs(v.k.For, least), "%s needs %s, and the kernel is for %s", what, least, cmp.Or(v.k.For, "any device"))
	})
}

// needs lists what a kernel needs of a device.
func needs(k *Kernel, f func(at diag.Pos, least, what string)) {
	if k.Launch.Cluster > 1 || k.Launch.Tail {
		f(diag.Pos{}, "sm_90", "a cluster or a dependent launch")
	}
	Walk(k.Body, func(s Stmt) {
		need := func(least, what string) { f(s.Place(), least, what) }
		switch s := s.(type) {
		case *Copy:
			need(s.Form.Needs, s.Form.Name)
		case *Mma:
			need(s.Atom.Needs, s.Atom.Name)
		case *Sync:
			need(s.Verb.Needs, s.Verb.Name+" "+s.Verb.On)
		case *Roles:
			for _, a := range s.Arms {
				if a.Regs != 0 {
					need("sm_90a", "the registers of a role")
				}
			}
		case *Load:
			if s.Form == Matrix || s.Form == MatrixTrans {
				need("sm_75", "a matrix load")
			}
		case *Store:
			if s.Form == Matrix || s.Form == MatrixTrans {
				need("sm_90", "a matrix store")
			}
		}
	})
}

// LeastDevice is the least device that has all that a kernel needs; empty: any has.
func LeastDevice(k *Kernel) (least string) {
	needs(k, func(_ diag.Pos, need, _ string) {
		if !Runs(least, need) {
			least = need
		}
	})
	return least
}

// Runs reports whether a kernel for target may use what needs least. Names that end in a are of one device alone.
func Runs(target, least string) bool {
	switch {
	case least == "":
		return true
	case strings.HasSuffix(least, "a"):
		return target == least
	}
	return targetNumber(target) >= targetNumber(least)
}

// targetNumber is the 90 of sm_90 and sm_90a; 0 of anything else.
func targetNumber(target string) int {
	digits, ok := strings.CutPrefix(strings.TrimSuffix(target, "a"), "sm_")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 10 {
		return 0
	}
	return n
}
