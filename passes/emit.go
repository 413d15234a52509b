package passes

import (
	"strconv"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
)

// emitter turns the expressions of tensor IR into statements and expressions of tile IR: reads become loads, reductions loops,
// what stands behind a guard the branch of an If. A value that is used twice gets a name, since below this level expressions are
// printed as trees.
type emitter struct {
	kernel *kernelMaker
	axes   []*ir.Axis             // that every value has
	rename map[ir.Ref]*ir.Expr    // axes of the definition and of reductions
	facts  map[*ir.Expr]*exprFact // of the expressions of the definition
	scope  *emitScope
	// own gives the value of a read of what a recurrence defines; nil for other reads.
	own func(e *emitter, x *ir.Expr) *ir.Expr
}

// emitScope is a list of statements with the values that are known in it.
type emitScope struct {
	up       *emitScope
	body     []tile.Stmt
	memo     map[*ir.Expr]*ir.Expr
	complete map[*ir.Expr]bool // what needs no statements beyond those in sight
}

// exprFact is what matters of an expression to the emitter.
type exprFact struct {
	uses  int
	heavy bool // needs statements: reads, reductions
}

// maxEmitted bounds the statements of one kernel. Values that several branches share are computed in each of them, which doubles
// at every level of nesting in the worst case.
const maxEmitted = 100_000

// count refuses a kernel that grows too large.
func (k *kernelMaker) count(s tile.Stmt) {
	k.statements++
	if k.statements > maxEmitted {
		panic(diag.Errorf(s.Place(), "limit", "the kernel %s has more than %d statements", k.name, maxEmitted))
	}
}

func (e *emitter) add(s tile.Stmt) {
	e.kernel.count(s)
	e.scope.body = append(e.scope.body, s)
}

// inner runs f in a scope of its own and returns its statements.
func (e *emitter) inner(f func()) []tile.Stmt {
	e.scope = &emitScope{up: e.scope}
	f()
	out := e.scope.body
	e.scope = e.scope.up
	return out
}

// study collects the facts of expressions that will be emitted.
func (e *emitter) study(list ...*ir.Expr) {
	if e.facts == nil {
		e.facts = map[*ir.Expr]*exprFact{}
	}
	for _, x := range list {
		if x != nil {
			e.count(x).uses++
		}
	}
}

func (e *emitter) count(x *ir.Expr) *exprFact {
	if f := e.facts[x]; f != nil {
		return f
	}
	f := &exprFact{heavy: x.Op == ir.OpRead || x.Op == tensor.OpReduce || x.Op == tensor.OpScan}
	e.facts[x] = f
	operand := func(a *ir.Expr) {
		if a != nil {
			g := e.count(a)
			g.uses++
			f.heavy = f.heavy || g.heavy
		}
	}
	for _, a := range x.Args {
		operand(a)
	}
	if s, ok := x.Ref.(ir.Scope); ok {
		for _, a := range s.Exprs() {
			operand(a)
		}
	}
	return f
}

// missing reports whether x needs statements that were not made in sight yet.
func (e *emitter) missing(x *ir.Expr) bool {
	f := e.facts[x]
	if f == nil || !f.heavy || e.known(x) != nil || e.complete(x) {
		return false
	}
	if x.Op == ir.OpRead || x.Op == tensor.OpReduce || x.Op == tensor.OpScan {
		return true
	}
	for _, a := range x.Args {
		if e.missing(a) {
			return true
		}
	}
	if e.scope.complete == nil {
		e.scope.complete = map[*ir.Expr]bool{}
	}
	e.scope.complete[x] = true
	return false
}

// complete reports whether all that x needs was found in sight before; it stays there.
func (e *emitter) complete(x *ir.Expr) bool {
	for s := e.scope; s != nil; s = s.up {
		if s.complete[x] {
			return true
		}
	}
	return false
}

// prepare computes what both branches of a choice need in any case, so that neither does it for itself.
func (e *emitter) prepare(a, b *ir.Expr) {
	needed := map[*ir.Expr]bool{}
	strict(a, 32, func(x *ir.Expr) { needed[x] = true })
	strict(b, 32, func(x *ir.Expr) {
		if needed[x] && e.missing(x) {
			e.emit(x)
		}
	})
}

// strict calls f for expressions that are evaluated whenever x is, outer ones first. It finds some of those in a large one.
func strict(x *ir.Expr, limit int, f func(*ir.Expr)) {
	if limit == 0 {
		return
	}
	f(x)
	switch {
	case x.Op == tensor.OpReduce || x.Op == tensor.OpScan:
	case x.Op.Is(ir.Lazy):
		strict(x.Args[0], limit/2, f)
	default:
		for _, a := range x.Args {
			strict(a, limit/2, f)
		}
	}
}

// known is the value that x has in this scope or one around it; nil if it was not computed.
func (e *emitter) known(x *ir.Expr) *ir.Expr {
	for s := e.scope; s != nil; s = s.up {
		if out := s.memo[x]; out != nil {
			return out
		}
	}
	return nil
}

// emit returns an expression of tile IR with the value of x, after adding the statements that it needs.
func (e *emitter) emit(x *ir.Expr) *ir.Expr {
	switch x.Op {
	case ir.OpConst:
		return x
	case ir.OpName:
		if to := e.rename[x.Ref]; to != nil {
			return to
		}
		return x
	}
	if out := e.known(x); out != nil {
		return out
	}
	out := e.compute(x)
	if e.scope.memo == nil {
		e.scope.memo = map[*ir.Expr]*ir.Expr{}
	}
	e.scope.memo[x] = out
	return out
}

func (e *emitter) compute(x *ir.Expr) *ir.Expr {
	switch x.Op {
	case ir.OpRead:
		return e.read(x)
	case tensor.OpReduce:
		r := x.Ref.(*tensor.Reduction)
		return e.reduce(x, r, r.Over, r.Guard)
	case tensor.OpScan:
		return e.prefix(x)
	case ir.OpIf:
		c := e.emit(x.Args[0])
		e.prepare(x.Args[1], x.Args[2])
		if e.missing(x.Args[1]) || e.missing(x.Args[2]) {
			return e.branch(x, c, x.Args[1], x.Args[2])
		}
	case ir.OpAnd:
		if c := e.emit(x.Args[0]); e.missing(x.Args[1]) {
			return e.branch(x, c, x.Args[1], ir.False)
		}
	case ir.OpOr:
		if c := e.emit(x.Args[0]); e.missing(x.Args[1]) {
			return e.branch(x, c, ir.True, x.Args[1])
		}
	}
	args := make([]*ir.Expr, len(x.Args))
	for i, a := range x.Args {
		args[i] = e.emit(a)
	}
	out := ir.Fold(ir.NewExpr(x.Op, x.Type, x.Ref, x.Pos, args...))
	if len(out.Args) == 0 {
		return out
	}
	height := 1
	for _, a := range out.Args {
		height = max(height, e.kernel.heights[a]+1)
	}
	if f := e.facts[x]; f != nil && f.uses > 1 || height > maxHeight {
		return e.named("t", out)
	}
	e.kernel.heights[out] = height
	return out
}

// maxHeight bounds the operations inside each other in one expression: what reads and compiles them has limits.
const maxHeight = 40

// named gives a value a name.
func (e *emitter) named(hint string, x *ir.Expr) *ir.Expr {
	v := e.value(hint, x.Type)
	e.add(&tile.Map{Head: tile.Head{Pos: x.Pos}, Out: v, Body: x})
	return ir.Name(v)
}

func (e *emitter) value(hint string, t ir.Type) *tile.Value {
	return &tile.Value{Name: e.kernel.fresh(hint), Type: t, Axes: e.axes}
}

func (e *emitter) read(x *ir.Expr) *ir.Expr {
	if e.own != nil {
		if out := e.own(e, x); out != nil {
			return out
		}
	}
	r := x.Ref.(tensor.Read)
	return e.load(r.Of, x.Pos, e.all(x.Args))
}

func (e *emitter) all(list []*ir.Expr) []*ir.Expr {
	out := make([]*ir.Expr, len(list))
	for i, a := range list {
		out[i] = e.emit(a)
	}
	return out
}

func (e *emitter) load(of *tensor.Tensor, pos diag.Pos, at []*ir.Expr) *ir.Expr {
	v := e.value(of.Name, of.Type)
	e.add(&tile.Load{Head: tile.Head{Pos: pos}, Out: v, From: e.kernel.module.array(of), At: at})
	return ir.Name(v)
}

// branch is the value of a where c holds and of b elsewhere; each is computed only where it counts.
func (e *emitter) branch(x, c, a, b *ir.Expr) *ir.Expr {
	s := &tile.If{Head: tile.Head{Pos: x.Pos}, Cond: c}
	phi := tile.Phi{}
	s.Then = e.inner(func() { phi.Then = e.emit(a) })
	s.Else = e.inner(func() { phi.Else = e.emit(b) })
	phi.Out = e.value("choice", x.Type)
	s.Outs = []tile.Phi{phi}
	e.add(s)
	return ir.Name(phi.Out)
}

// reduce is a loop for every axis, with the accumulator carried along.
func (e *emitter) reduce(x *ir.Expr, m *tensor.Reduction, over []ir.Span, guard *ir.Expr) *ir.Expr {
	first := ir.NewConst(m.Acc, m.Op.Identity(m.Acc))
	return e.fold(x, m.Op, first, over, guard)
}

func (e *emitter) fold(x *ir.Expr, op *ir.Monoid, acc *ir.Expr, over []ir.Span, guard *ir.Expr) *ir.Expr {
	if len(over) == 0 {
		return e.guarded(x, guard, acc, func() *ir.Expr { return ir.Apply(op.Op, acc, e.emit(x.Args[0])) })
	}
	s := &tile.Loop{Head: tile.Head{Pos: x.Pos}, Kind: tile.Serial}
	c := tile.Carry{In: e.value(op.Name, acc.Type), Out: e.value(op.Name, acc.Type), First: acc}
	span := over[0]
	s.Over = []ir.Span{{Axis: e.bind(span.Axis), Lo: e.emit(span.Lo), Hi: e.emit(span.Hi)}}
	s.Body = e.inner(func() { c.Next = e.fold(x, op, ir.Name(c.In), over[1:], guard) })
	s.Carry = []tile.Carry{c}
	e.add(s)
	return ir.Name(c.Out)
}

// guarded is the value of f where guard holds (nil: everywhere) and of other elsewhere.
func (e *emitter) guarded(x, guard, other *ir.Expr, f func() *ir.Expr) *ir.Expr {
	if guard == nil {
		return f()
	}
	c := e.emit(guard)
	if isTrue(c) {
		return f()
	}
	s := &tile.If{Head: tile.Head{Pos: x.Pos}, Cond: c}
	phi := tile.Phi{Else: other}
	s.Then = e.inner(func() { phi.Then = f() })
	phi.Out = e.value("choice", other.Type)
	s.Outs = []tile.Phi{phi}
	e.add(s)
	return ir.Name(phi.Out)
}

// bind gives an axis of the definition an axis of its own in the kernel.
func (e *emitter) bind(a *ir.Axis) *ir.Axis {
	out := &ir.Axis{Name: e.kernel.fresh(a.Name)}
	e.rename[a] = ir.Name(out)
	return out
}

// prefix computes one element of a scan by going over all elements up to it. Scans that are a definition of their own never come
// here: they run along the axis once.
func (e *emitter) prefix(x *ir.Expr) *ir.Expr {
	s := x.Ref.(*tensor.Scan)
	at := e.rename[s.Over.Axis]
	lo, hi := e.emit(s.Over.Lo), e.emit(s.Over.Hi)
	one := ir.Int64(1)
	switch {
	case s.Reverse && s.Exclusive:
		lo = ir.Max(lo, ir.Add(at, one))
	case s.Reverse:
		lo = ir.Max(lo, at)
	case s.Exclusive:
		hi = ir.Min(hi, at)
	default:
		hi = ir.Min(hi, ir.Add(at, one))
	}
	// Inside, the axis means the element that is combined, so nothing known of it outside may be reused.
	inside := &emitter{kernel: e.kernel, axes: e.axes, rename: e.rename, facts: e.facts, own: e.own, scope: &emitScope{}}
	loop := &tile.Loop{Head: tile.Head{Pos: x.Pos}, Kind: tile.Serial, Down: s.Reverse}
	c := tile.Carry{In: e.value(s.Op.Name, s.Acc), Out: e.value(s.Op.Name, s.Acc), First: ir.NewConst(s.Acc, s.Op.Identity(s.Acc))}
	loop.Over = []ir.Span{{Axis: inside.bind(s.Over.Axis), Lo: lo, Hi: hi}}
	acc := ir.Name(c.In)
	c.Next = inside.guarded(x, s.Guard, acc, func() *ir.Expr { return ir.Apply(s.Op.Op, acc, inside.emit(x.Args[0])) })
	e.rename[s.Over.Axis] = at
	loop.Body, loop.Carry = inside.scope.body, []tile.Carry{c}
	e.add(loop)
	return ir.Name(c.Out)
}

// fresh makes a name that nothing else in the kernel has.
func (k *kernelMaker) fresh(hint string) string {
	name := hint
	for taken := k.module.scalars[name]; taken || k.taken[name]; taken = false {
		k.counts[hint]++
		name = hint + "." + strconv.Itoa(k.counts[hint])
	}
	k.taken[name] = true
	return name
}
