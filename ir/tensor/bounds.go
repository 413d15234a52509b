package tensor

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
)

// Failure is an access that could not be proven to stay inside: subscript Dim of a read of Of, or of a scatter into it.
type Failure struct {
	Of           *Tensor
	Dim          int
	Index        *ir.Expr
	Below, Above bool // the sides on which it may leave
	Pos          diag.Pos
	Def          Def
}

// ProveBounds proves the reads (and scatter targets) of p that carry Edge Inside. It rewrites p's definitions in place so that
// accesses through data that it could not prove carry Edge Checked, and returns the others that it could not prove.
func ProveBounds(p *Program) []Failure {
	b := newBounds(p)
	defer b.facts.Forget()
	b.run(p)
	if len(b.checked) > 0 {
		b.rewrite(p.Defs)
	}
	return b.failures
}

// Unproven lists the accesses of p that carry Edge Inside and cannot be proven, and leaves p as it is. After ProveBounds without
// failures there are none.
func Unproven(p *Program) []Failure {
	b := newBounds(p)
	defer b.facts.Forget()
	b.strict = true
	b.run(p)
	return b.failures
}

func newBounds(p *Program) *bounds {
	return &bounds{facts: factsOf(p), checked: map[*ir.Expr]bool{}, failed: map[*ir.Expr]bool{}, lost: map[*ir.Expr]bool{}, revisits: maxRevisits}
}

func (b *bounds) run(p *Program) {
	for _, d := range p.Defs {
		b.define(d)
	}
}

// factsOf is what every launch of p satisfies: its conditions, and that no extent of what the caller passes is negative.
func factsOf(p *Program) *ir.Facts {
	conditions := make([]*ir.Expr, len(p.Where))
	for i, c := range p.Where {
		conditions[i] = c.Expr
	}
	facts := ir.NewFacts(conditions...)
	for _, list := range [][]*Tensor{p.Params, p.Results} {
		for _, t := range list {
			for _, e := range t.Extents {
				if size, ok := e.Ref.(*ir.Scalar); e.Op != ir.OpConst && !(ok && size.IsSize) {
					facts.Evaluates(e)
					facts.Assume(ir.Ge(e, ir.ZeroOf(e.Type)), true)
				}
			}
		}
	}
	return facts
}

// maxRevisits bounds how often shared expressions are looked at again behind other guards. Beyond it nothing is proven.
const maxRevisits = 100_000

// lookFrom is the number of visits to a definition from which on it is noted what was visited: most are smaller.
const lookFrom = 100

// bounds walks the definitions. An expression is looked at once for every place where it stands, except where what is known
// includes all that was known at an earlier look.
type bounds struct {
	facts    *ir.Facts
	strict   bool // what comes from data has to be proven, too
	def      Def
	steps    map[*Tensor]int // of the names that recur together: their stepping axis
	checked  map[*ir.Expr]bool
	failed   map[*ir.Expr]bool
	failures []Failure

	looked   map[*ir.Expr]look
	visits   int
	places   []int64 // the guards and binders around, each with a number of its own
	numbers  int64
	binding  int64   // the place of the last binder that gave a visible axis another range
	axes     []bound // innermost last
	revisits int
	lost     map[*ir.Expr]bool // what was given up
}

// bound is an axis with a range; data: one that comes from data.
type bound struct {
	axis *ir.Axis
	data bool
}

// look is where an expression was looked at: behind the guards up to places[depth-1].
type look struct {
	depth          int
	place, binding int64
}

func (b *bounds) define(d Def) {
	b.def, b.steps = d, nil
	b.visits, b.looked = 0, nil
	switch d := d.(type) {
	case *Map:
		b.within(d.Free, nil, func() { b.visit(d.Body) })
		if len(d.Free) == 0 && d.Out.Type.IsInt() {
			b.facts.Define(Read{Of: d.Out}, d.Body)
		}
	case *Scatter:
		b.within(d.Free, d.Guard, func() {
			b.visitAll(d.At)
			b.visit(d.Body)
			b.scatter(d)
		})
	case *Recur:
		b.steps = map[*Tensor]int{}
		for k, t := range d.Tensors {
			b.steps[t] = d.Step[k]
		}
		for k := range d.Tensors {
			b.within(d.Free[k], nil, func() { b.visit(d.Bodies[k]) })
		}
	case *Check:
		b.within(d.Free, nil, func() { b.visit(d.Fault) })
	}
}

// within visits inside ranges and a guard.
func (b *bounds) within(spans []ir.Span, guard *ir.Expr, visit func()) {
	mark, places, axes, binding := b.facts.Mark(), len(b.places), len(b.axes), b.binding
	for _, s := range spans {
		b.visit(s.Lo)
		b.visit(s.Hi)
		data := b.throughData(s.Lo) || b.throughData(s.Hi)
		b.facts.Bind(s)
		b.enter()
		if _, again := b.find(s.Axis); again {
			b.binding = b.places[len(b.places)-1]
		}
		b.axes = append(b.axes, bound{s.Axis, data})
	}
	if guard != nil {
		b.visit(guard)
		b.facts.Assume(guard, true)
		b.enter()
	}
	visit()
	b.places, b.axes, b.binding = b.places[:places], b.axes[:axes], binding
	b.facts.Release(mark)
}

// find looks up the innermost range of an axis.
func (b *bounds) find(a *ir.Axis) (data, ok bool) {
	for i := len(b.axes) - 1; i >= 0; i-- {
		if b.axes[i].axis == a {
			return b.axes[i].data, true
		}
	}
	return false, false
}

func (b *bounds) enter() {
	b.numbers++
	b.places = append(b.places, b.numbers)
}

func (b *bounds) behind(cond *ir.Expr, holds bool, e *ir.Expr) {
	if b.wasLooked(e) {
		return
	}
	mark := b.facts.Mark()
	b.facts.Assume(cond, holds)
	b.enter()
	b.visit(e)
	b.places = b.places[:len(b.places)-1]
	b.facts.Release(mark)
}

// wasLooked reports whether e needs no look here: all that was known then is known still.
func (b *bounds) wasLooked(e *ir.Expr) bool {
	if len(e.Args) == 0 && e.Op != ir.OpRead {
		return true
	}
	l, ok := b.looked[e]
	if !ok {
		return false
	}
	return l.binding == b.binding && l.depth <= len(b.places) && (l.depth == 0 || b.places[l.depth-1] == l.place)
}

func (b *bounds) visitAll(list []*ir.Expr) {
	for _, e := range list {
		b.visit(e)
	}
}

func (b *bounds) visit(e *ir.Expr) {
	if b.wasLooked(e) {
		return
	}
	b.visits++
	if _, again := b.looked[e]; again {
		if b.revisits--; b.revisits < 0 {
			b.giveUp(e)
			return
		}
	}
	switch ref := e.Ref.(type) {
	case *Reduction:
		b.within(ref.Over, ref.Guard, func() { b.visit(e.Args[0]) })
	case *Scan:
		b.within([]ir.Span{ref.Over}, ref.Guard, func() { b.visit(e.Args[0]) })
	case Read:
		b.visitAll(e.Args)
		b.read(e, ref)
	default:
		b.operands(e)
	}
	if b.visits < lookFrom {
		return
	}
	if b.looked == nil {
		b.looked = map[*ir.Expr]look{}
	}
	l := look{depth: len(b.places), binding: b.binding}
	if l.depth > 0 {
		l.place = b.places[l.depth-1]
	}
	b.looked[e] = l
}

func (b *bounds) operands(e *ir.Expr) {
	switch e.Op {
	case ir.OpIf:
		b.visit(e.Args[0])
		b.behind(e.Args[0], true, e.Args[1])
		b.behind(e.Args[0], false, e.Args[2])
	case ir.OpAnd, ir.OpOr:
		b.visit(e.Args[0])
		b.behind(e.Args[0], e.Op == ir.OpAnd, e.Args[1])
	default:
		b.visitAll(e.Args)
	}
}

// read proves one read, unless that failed elsewhere already.
func (b *bounds) read(e *ir.Expr, r Read) {
	if r.Edge.Kind != Inside || b.checked[e] || b.failed[e] {
		return
	}
	for k, index := range e.Args {
		if step, recurs := b.steps[r.Of]; recurs && step == k {
			continue // the step before the first is where the recurrence starts from
		}
		b.access(r.Of, k, index, e.Pos, func() { b.checked[e] = true }, func() { b.failed[e] = true })
	}
}

// giveUp counts the reads in e as not proven.
func (b *bounds) giveUp(e *ir.Expr) {
	if e == nil || b.lost[e] {
		return
	}
	b.lost[e] = true
	for _, a := range e.Args {
		b.giveUp(a)
	}
	switch ref := e.Ref.(type) {
	case ir.Scope:
		for _, a := range ref.Exprs() {
			b.giveUp(a)
		}
	case Read:
		if ref.Edge.Kind != Inside || b.failed[e] || b.checked[e] {
			return
		}
		for k, index := range e.Args {
			b.failures = append(b.failures, Failure{ref.Of, k, index, true, true, e.Pos, b.def})
		}
	}
}

func (b *bounds) scatter(d *Scatter) {
	if d.Edge.Kind != Inside {
		return
	}
	for k, index := range d.At {
		b.access(d.Out, k, index, d.Pos, func() { d.Edge.Kind = Checked }, func() {})
	}
}

// access proves one subscript. One that cannot be proven is checked as it runs if it comes from data, else it is a failure.
func (b *bounds) access(t *Tensor, k int, index *ir.Expr, pos diag.Pos, check, fail func()) {
	below, above := b.facts.Inside(index, t.Extents[k])
	switch {
	case !below && !above:
	case !b.strict && b.throughData(index):
		check()
	default:
		fail()
		b.failures = append(b.failures, Failure{t, k, index, below, above, pos, b.def})
	}
}

// throughData reports whether an index depends on data: elements, scalar parameters, and axes whose range does.
func (b *bounds) throughData(index *ir.Expr) bool {
	switch index.Op {
	case ir.OpConst, ir.OpName:
		return b.isData(index)
	}
	found := false
	ir.Walk(index, func(x *ir.Expr) { found = found || b.isData(x) })
	return found
}

func (b *bounds) isData(e *ir.Expr) bool {
	switch ref := e.Ref.(type) {
	case Read, *Reduction, *Scan:
		return true
	case *ir.Scalar:
		return !ref.IsSize
	case *ir.Axis:
		data, _ := b.find(ref)
		return data
	}
	return false
}

// rewrite marks the reads that are checked as they run.
func (b *bounds) rewrite(defs []Def) {
	var r ir.Rewriter
	r.Pre = func(e *ir.Expr) *ir.Expr {
		if !b.checked[e] {
			return nil
		}
		args := make([]*ir.Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = r.Rewrite(a)
		}
		return ir.NewExpr(ir.OpRead, e.Type, Read{e.Ref.(Read).Of, Edge{Kind: Checked}}, e.Pos, args...)
	}
	for _, d := range defs {
		switch d := d.(type) {
		case *Map:
			d.Body = r.Rewrite(d.Body)
		case *Scatter:
			d.Free = rewriteSpans(&r, d.Free)
			d.At = rewriteAll(&r, d.At)
			d.Guard, d.Body = r.Rewrite(d.Guard), r.Rewrite(d.Body)
		case *Recur:
			d.Bodies = rewriteAll(&r, d.Bodies)
		case *Check:
			d.Free, d.Fault = rewriteSpans(&r, d.Free), r.Rewrite(d.Fault)
		}
	}
}

func rewriteAll(r *ir.Rewriter, in []*ir.Expr) []*ir.Expr {
	out := make([]*ir.Expr, len(in))
	for i, e := range in {
		out[i] = r.Rewrite(e)
	}
	return out
}

func rewriteSpans(r *ir.Rewriter, in []ir.Span) []ir.Span {
	out := make([]ir.Span, len(in))
	for i, s := range in {
		out[i] = ir.Span{Axis: s.Axis, Lo: r.Rewrite(s.Lo), Hi: r.Rewrite(s.Hi)}
	}
	return out
}
