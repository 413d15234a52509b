package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
)

// tileEmitter turns expressions of tensor IR into statements over tiles. A value has the axes on which it depends and no others.
// Both sides of a guard are computed for all points, each read only where it counts: so a guard becomes the condition of loads,
// and a choice between values.
type tileEmitter struct {
	kernel *kernelMaker
	rename map[ir.Ref]*ir.Expr        // axes of the definition and of reductions
	inside map[*ir.Axis]*ir.Expr      // condition that points of a tile's axis are of the computation; none: all are
	axes   map[*ir.Expr][]*ir.Axis    // on which expressions that were made depend
	sizes  map[*ir.Expr]int           // of expressions that were made, as they are printed
	loads  map[*tile.Value]*tile.Load // that define values
	shared map[*ir.Expr]bool          // expressions of the definition that are used more than once
	reads  map[*ir.Expr]bool          // expressions of the definition with loads in them
	scope  *tileScope

	own     map[*tensor.Tensor]*ir.Expr // the element at hand of what the kernel computed before
	inOrder bool                        // axes of a value stand as the kernel has them, not as they appear
}

type tileScope struct {
	up     *tileScope
	body   []tile.Stmt
	memo   map[emitKey]*ir.Expr
	guards map[guardKey]*guard // each is made once
}

// guard is a condition under which something is evaluated, inside those around it.
type guard struct {
	up   *guard
	cond *ir.Expr // of tile IR
}

type guardKey struct {
	up    *guard
	of    *ir.Expr // of tensor IR
	holds bool
}

type emitKey struct {
	x     *ir.Expr
	under *guard
}

// maxPrinted bounds an expression that is written out again where it is used again.
const maxPrinted = 48

func (k *kernelMaker) tileEmitter(list ...*ir.Expr) *tileEmitter {
	e := &tileEmitter{kernel: k, rename: map[ir.Ref]*ir.Expr{}, inside: map[*ir.Axis]*ir.Expr{}, axes: map[*ir.Expr][]*ir.Axis{}, sizes: map[*ir.Expr]int{},
		loads: map[*tile.Value]*tile.Load{}, shared: map[*ir.Expr]bool{}, reads: map[*ir.Expr]bool{}, own: map[*tensor.Tensor]*ir.Expr{}, scope: &tileScope{}}
	seen := map[*ir.Expr]bool{}
	for _, x := range list {
		e.study(x, seen)
	}
	return e
}

func (e *tileEmitter) study(x *ir.Expr, seen map[*ir.Expr]bool) {
	if x == nil {
		return
	}
	if seen[x] {
		e.shared[x] = true
		return
	}
	seen[x] = true
	reads := x.Op == ir.OpRead
	for _, a := range x.Args {
		e.study(a, seen)
		reads = reads || e.reads[a]
	}
	e.reads[x] = reads
}

func (e *tileEmitter) add(s tile.Stmt) {
	e.kernel.count(s)
	e.scope.body = append(e.scope.body, s)
}

// within runs f in a scope of its own and returns its statements.
func (e *tileEmitter) within(f func()) []tile.Stmt {
	e.scope = &tileScope{up: e.scope, memo: map[emitKey]*ir.Expr{}}
	f()
	out := e.scope.body
	e.scope = e.scope.up
	return out
}

func (e *tileEmitter) remember(x *ir.Expr, under *guard, out *ir.Expr) {
	if e.scope.memo == nil {
		e.scope.memo = map[emitKey]*ir.Expr{}
	}
	e.scope.memo[emitKey{x, under}] = out
}

// known is the value of x in sight, computed under the guard or with fewer conditions.
func (e *tileEmitter) known(x *ir.Expr, under *guard) *ir.Expr {
	for s := e.scope; s != nil; s = s.up {
		for g := under; ; g = g.up {
			if out := s.memo[emitKey{x, g}]; out != nil {
				return out
			}
			if g == nil {
				break
			}
		}
	}
	return nil
}

// under adds the condition that x holds, or does not, to a guard.
func (e *tileEmitter) under(up *guard, x, cond *ir.Expr, holds bool) *guard {
	key := guardKey{up, x, holds}
	for s := e.scope; s != nil; s = s.up {
		if g := s.guards[key]; g != nil {
			return g
		}
	}
	if !holds {
		cond = ir.Not(cond)
	}
	g := &guard{up, cond}
	if e.scope.guards == nil {
		e.scope.guards = map[guardKey]*guard{}
	}
	e.scope.guards[key] = g
	return g
}

// condition is the conjunction of what a guard says.
func (g *guard) condition() *ir.Expr {
	if g == nil {
		return ir.True
	}
	return ir.And(g.up.condition(), g.cond)
}

// emit returns an expression of tile IR with the value of x where the guard holds; elsewhere it has some value.
func (e *tileEmitter) emit(x *ir.Expr, g *guard) *ir.Expr {
	switch x.Op {
	case ir.OpConst:
		return x
	case ir.OpName:
		if to := e.rename[x.Ref]; to != nil {
			return to
		}
		return x
	}
	if out := e.known(x, g); out != nil {
		return out
	}
	out := e.compute(x, g)
	e.remember(x, g, out)
	return out
}

func (e *tileEmitter) compute(x *ir.Expr, g *guard) *ir.Expr {
	switch x.Op {
	case ir.OpRead:
		return e.load(x, g, nil)
	case ir.OpIf:
		if e.reads[x.Args[1]] || e.reads[x.Args[2]] {
			return e.choice(x, g)
		}
	case ir.OpAnd, ir.OpOr:
		if e.reads[x.Args[1]] {
			c := e.named("c", e.emit(x.Args[0], g))
			return e.made(x, c, e.emit(x.Args[1], e.under(g, x.Args[0], c, x.Op == ir.OpAnd)))
		}
	}
	args := make([]*ir.Expr, len(x.Args))
	for i, a := range x.Args {
		args[i] = e.emit(a, g)
	}
	return e.made(x, args...)
}

// choice is if(cond, a, b). A read or a constant is a load with the condition.
func (e *tileEmitter) choice(x *ir.Expr, g *guard) *ir.Expr {
	c := e.named("c", e.emit(x.Args[0], g))
	a, b := x.Args[1], x.Args[2]
	yes := e.under(g, x.Args[0], c, true)
	if a.Op == ir.OpRead && b.IsConst() && e.known(a, yes) == nil && !e.shared[a] {
		return e.load(a, yes, b)
	}
	out := ir.Select(c, e.emit(a, yes), e.emit(b, e.under(g, x.Args[0], c, false)))
	return e.noted(x, out.At(x.Pos))
}

// made is the operation of x on operands that were made.
func (e *tileEmitter) made(x *ir.Expr, args ...*ir.Expr) *ir.Expr {
	return e.noted(x, ir.Fold(ir.NewExpr(x.Op, x.Type, x.Ref, x.Pos, args...)))
}

// noted gives what was made of x a name, where it would be written twice or is large.
func (e *tileEmitter) noted(x, out *ir.Expr) *ir.Expr {
	size := ir.TreeSize(out, e.sizes)
	if e.shared[x] && (size > maxPrinted || e.reads[x]) || size > 2*maxPrinted {
		return e.named("t", out)
	}
	return out
}

// named gives a value a name.
func (e *tileEmitter) named(hint string, x *ir.Expr) *ir.Expr {
	if len(x.Args) == 0 {
		return x
	}
	return e.mapped(hint, x, e.on(x))
}

func (e *tileEmitter) mapped(hint string, x *ir.Expr, axes []*ir.Axis) *ir.Expr {
	v := &tile.Value{Name: e.kernel.fresh(hint), Type: x.Type, Axes: axes}
	e.add(&tile.Map{Head: tile.Head{Pos: x.Pos}, Out: v, Body: x})
	return ir.Name(v)
}

// load reads an element where the guard holds and the point is one of the computation; elsewhere the value is other, or 0.
func (e *tileEmitter) load(x *ir.Expr, g *guard, other *ir.Expr) *ir.Expr {
	r := x.Ref.(tensor.Read)
	if v := e.own[r.Of]; v != nil {
		return v
	}
	at := make([]*ir.Expr, len(x.Args))
	for i, a := range x.Args {
		at[i] = e.emit(a, g)
	}
	cond := g.condition()
	axes := e.on(append(slices.Clone(at), cond)...)
	v := &tile.Value{Name: e.kernel.fresh(r.Of.Name), Type: r.Of.Type, Axes: axes}
	s := &tile.Load{Head: tile.Head{Pos: x.Pos}, Out: v, From: e.kernel.module.array(r.Of), At: at}
	if where := ir.And(e.mask(axes), cond); !isTrue(where) {
		s.Where, s.Other = where, ir.ZeroOf(v.Type)
		if other != nil {
			s.Other = other
		}
	}
	e.loads[v] = s
	e.add(s)
	return ir.Name(v)
}

func isTrue(x *ir.Expr) bool { return x.IsConst() && x.Val.Bool() }

// mask is the condition that a point is one of the computation.
func (e *tileEmitter) mask(axes []*ir.Axis) *ir.Expr {
	out := ir.True
	for _, a := range axes {
		if c := e.inside[a]; c != nil {
			out = ir.And(out, c)
		}
	}
	return out
}

// on lists the tile axes on which expressions depend.
func (e *tileEmitter) on(list ...*ir.Expr) []*ir.Axis {
	var out []*ir.Axis
	for _, x := range list {
		for _, a := range e.onOne(x) {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	if all := e.kernel.out.Axes; e.inOrder {
		slices.SortFunc(out, func(a, b *ir.Axis) int { return slices.Index(all, a) - slices.Index(all, b) })
	}
	return out
}

func (e *tileEmitter) onOne(x *ir.Expr) []*ir.Axis {
	switch ref := x.Ref.(type) {
	case *tile.Value:
		return ref.Axes
	case *ir.Axis:
		if slices.Contains(e.kernel.out.Axes, ref) {
			return []*ir.Axis{ref}
		}
	}
	if len(x.Args) == 0 {
		return nil
	}
	out, ok := e.axes[x]
	if !ok {
		out = e.on(x.Args...)
		e.axes[x] = out
	}
	return out
}
