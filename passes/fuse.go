package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// fuse inlines definitions of temporary tensors into those that read them, so that they need no memory and no kernel of their own:
// elements that are computed once in any case, or are cheap to compute again. What a tensor rounds its elements to is part of its
// definition, so the values stay the same.
//
//	def t[r, c]: f32 = f32(x[r, c] * 2.0)
//	def y[r, c]: f32 = f32(exp(t[r, c]))
//
// becomes
//
//	def y[r, c]: f32 = f32(exp(f32(x[r, c] * 2.0)))
//
// A reduction is inlined where its elements are read one for one, as what follows a matrix product; never under another reduction
// or for more axes than it has, which split_reductions would undo. A tensor is inlined everywhere or nowhere.
func fuse(u *Unit) error {
	if u.NoFuse {
		return nil
	}
	if err := dropUnused(u); err != nil { // what nothing needs is no reader
		return err
	}
	p := copyProgram(u.Tensor)
	f := &fuser{defs: make([]*fusing, len(p.Defs)), readers: map[*tensor.Tensor][]*fusing{}}
	for i, d := range p.Defs {
		f.defs[i] = &fusing{def: d}
		readsOf(d, func(t *tensor.Tensor) { f.readers[t] = append(f.readers[t], f.defs[i]) })
	}
	for _, d := range f.defs {
		for _, t := range d.def.Outs() {
			f.decide(d, t)
		}
	}
	for i, d := range f.defs {
		p.Defs[i] = d.def
	}
	u.Tensor, u.Edges = p, f.edges
	return nil
}

// FusionEdge is a tensor that a definition makes and another one reads, and what the pass fuse made of that.
type FusionEdge struct {
	From, To string // the tensor; what the other one defines
	Why      string // it was not fused; empty: it was
}

// The limits of a fused body: what is larger takes compilers long, and registers that a thread does not have.
const (
	maxFusedSize    = 512 // operations, written out as a tree
	maxFusedTensors = 32  // that are read
	maxCheapOps     = 8   // of what may be computed again
	maxCheapReads   = 4
)

type fuser struct {
	defs    []*fusing
	readers map[*tensor.Tensor][]*fusing
	edges   []FusionEdge
}

// fusing is a definition with what is known of it until it changes.
type fusing struct {
	def  tensor.Def
	uses map[*tensor.Tensor]*use
	size int
}

func (d *fusing) measure() {
	if d.uses == nil {
		d.uses = usesOf(d.def)
		d.size, _ = measure(d.def)
	}
}

// decide inlines t, which d defines, if that is worth while, and records what became of each reader. Definitions stand before
// their uses, so all that d reads was decided before.
func (f *fuser) decide(d *fusing, t *tensor.Tensor) {
	readers := f.readers[t]
	if len(readers) == 0 {
		return
	}
	m, why := fusable(d, t)
	whys := make([]string, len(readers))
	for i, r := range readers {
		if whys[i] = why; why == "" {
			whys[i] = against(m, r, len(readers))
		}
	}
	inlined, fits := f.inlineAll(m, t, readers, whys)
	for i, r := range readers {
		if r == d {
			continue // a recurrence
		}
		if fits {
			r.def, r.uses = inlined[i], nil
		} else if whys[i] == "" {
			whys[i] = "another definition needs it in memory"
		}
		f.edges = append(f.edges, FusionEdge{From: t.Name, To: definedBy(r.def), Why: whys[i]})
	}
}

// inlineAll makes the readers' definitions with t inlined, if nothing stands against any of them and none grows too large.
func (f *fuser) inlineAll(m *tensor.Map, t *tensor.Tensor, readers []*fusing, whys []string) ([]tensor.Def, bool) {
	for _, why := range whys {
		if why != "" {
			return nil, false
		}
	}
	out := make([]tensor.Def, len(readers))
	fits := true
	for i, r := range readers {
		out[i] = inline(r.def, m)
		if size, tensors := measure(out[i]); size > maxFusedSize || tensors > maxFusedTensors {
			whys[i], fits = "the kernel would be too large", false
		}
	}
	return out, fits
}

func definedBy(d tensor.Def) string {
	if c, ok := d.(*tensor.Check); ok {
		return "the check of " + c.Of.Name
	}
	name := ""
	for i, t := range d.Outs() {
		if i > 0 {
			name += ", "
		}
		name += t.Name
	}
	return name
}

// fusable returns the definition of a tensor that may be inlined, or why it may not be.
func fusable(d *fusing, t *tensor.Tensor) (*tensor.Map, string) {
	if t.Role == tensor.Result {
		return nil, "it is a result"
	}
	m, ok := d.def.(*tensor.Map)
	if !ok {
		return nil, "its elements are not computed one by one"
	}
	if d.measure(); d.size > maxFusedSize {
		return nil, "it is too large"
	}
	why := ""
	ir.Walk(m.Body, func(x *ir.Expr) {
		switch {
		case x.Op == tensor.OpScan:
			why = "its elements are not computed one by one"
		case x.Op.Effect != ir.NoEffect:
			why = "it is more than its value"
		}
	})
	return m, why
}

// against says what stands against inlining what m defines into a reader.
func against(m *tensor.Map, r *fusing, readers int) string {
	if _, ok := r.def.(*tensor.Recur); ok {
		return "a recurrence waits for each step"
	}
	r.measure()
	u := r.uses[m.Out]
	switch {
	case u == nil || u.bound:
		return "it is needed before the elements are"
	case r.size > maxFusedSize:
		return "the kernel would be too large"
	case reduces(m.Body):
		return u.againstReduction(r.def, readers)
	case readers == 1 && u.sites == 1 && !u.again || cheap(m):
		return ""
	case readers > 1 || u.sites > 1:
		return "it is read several times"
	}
	return "it would be computed again and again"
}

func reduces(x *ir.Expr) bool {
	found := false
	ir.Walk(x, func(y *ir.Expr) { found = found || y.Op == tensor.OpReduce })
	return found
}

// cheap reports whether computing an element again costs no more than reading it again: a few simple operations on no more bytes.
func cheap(m *tensor.Map) bool {
	ops, reads, bits := 0, 0, 0
	known := map[uint64]bool{}
	dear := false
	ir.Walk(m.Body, func(x *ir.Expr) {
		if known[x.Hash()] {
			return
		}
		known[x.Hash()] = true
		switch x.Op {
		case ir.OpConst, ir.OpName, ir.OpCast, ir.OpWiden:
		case ir.OpRead:
			reads++
			if len(x.Args) >= len(m.Free) {
				bits += x.Type.Bits()
			}
		default:
			ops++
			dear = dear || slow(x)
		}
	})
	return !dear && ops <= maxCheapOps && reads <= maxCheapReads && bits <= m.Out.Type.Bits()
}

// slow reports whether an operation takes many times as long as an addition. Divisions of integers are those of subscripts, whose
// divisors are mostly known when the kernel is made.
func slow(x *ir.Expr) bool {
	switch x.Op {
	case ir.OpDiv, ir.OpRem, ir.OpFloorDiv, ir.OpMod:
		return !x.Type.IsInt()
	}
	return x.Op.Cost == ir.CostMUFU || x.Op.Cost == ir.CostSlow
}

// inline replaces the reads of what m defines by its body.
func inline(d tensor.Def, m *tensor.Map) tensor.Def {
	known := map[uint64][][2]*ir.Expr{} // equal reads are one expression
	r := ir.Rewriter{Post: func(x *ir.Expr) *ir.Expr {
		if x.Op != ir.OpRead || x.Ref.(tensor.Read).Of != m.Out {
			return ir.Fold(x)
		}
		for _, k := range known[x.Hash()] {
			if ir.Equal(k[0], x) {
				return k[1]
			}
		}
		y := element(m, x.Args)
		known[x.Hash()] = append(known[x.Hash()], [2]*ir.Expr{x, y})
		return y
	}}
	return rewriteDef(d, r.Rewrite)
}

// element is the body of m at subscripts. Axes that reductions bind in it are fresh, so that copies do not share them.
func element(m *tensor.Map, at []*ir.Expr) *ir.Expr {
	with := map[ir.Ref]*ir.Expr{}
	for i, s := range m.Free {
		with[s.Axis] = plus(at[i], s.Lo)
	}
	ir.Walk(m.Body, func(x *ir.Expr) {
		if r, ok := x.Ref.(*tensor.Reduction); ok {
			for _, s := range r.Over {
				if with[s.Axis] == nil {
					with[s.Axis] = ir.Name(&ir.Axis{Name: s.Axis.Name, Extent: s.Axis.Extent})
				}
			}
		}
	})
	r := ir.Rewriter{Post: func(x *ir.Expr) *ir.Expr {
		if x.Op == ir.OpName && with[x.Ref] != nil {
			return with[x.Ref]
		}
		if r, ok := x.Ref.(*tensor.Reduction); ok {
			c := *r
			c.Over = append([]ir.Span(nil), r.Over...)
			for i, s := range c.Over {
				c.Over[i].Axis = with[s.Axis].Ref.(*ir.Axis)
			}
			return ir.NewExpr(x.Op, x.Type, &c, x.Pos, x.Args...)
		}
		return ir.Fold(x) // subscripts may be constants
	}}
	return r.Rewrite(m.Body)
}

// plus is a + b, where a may be what subtracts b.
func plus(a, b *ir.Expr) *ir.Expr {
	if a.Op == ir.OpSub && ir.Equal(a.Args[1], b) {
		return a.Args[0]
	}
	return ir.Add(a, b)
}
