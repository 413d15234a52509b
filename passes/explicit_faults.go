package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// explicitFaults turns errors of elements into algebra. A tensor whose elements may fail gets a companion, NAME.fault, with what
// went wrong: (site+1)<<48 | index, or 0. An element's fault is the greatest of those of its parts, behind the same guards, so an
// error counts only where a result needs the element. Results with faults get a Check, and reads are guarded to stay inside.
//
//	def y[i, c]: f32 = x@checked[idx[i], c]
//
// becomes
//
//	def y.fault[i]: i64 = if idx[i] < 0 || idx[i] >= N { … } else { 0 }
//	def y[i, c]: f32 = if idx[i] >= 0 && idx[i] < N && … { x@trusted[idx[i], c] } else { 0 }
//	check y …
func explicitFaults(u *Unit) error {
	p := copyProgram(u.Tensor)
	f := &faults{program: p, names: namesOf(p), of: map[*tensor.Tensor]*fault{}, trust: u.Trust, memo: map[*ir.Expr]*ir.Expr{}}
	f.values = ir.Rewriter{Post: f.value}
	var conditions []*ir.Expr
	for _, c := range p.Where {
		conditions = append(conditions, c.Expr)
	}
	f.facts = ir.NewFacts(conditions...)
	for _, d := range p.Defs {
		f.ranges = rangesOf(d)
		mark := f.facts.Mark()
		for _, box := range boxesOf(d) {
			for _, s := range box {
				f.facts.Bind(s)
			}
		}
		f.definition(d)
		f.facts.Release(mark)
	}
	for _, r := range p.Results {
		if g := f.of[r]; g != nil {
			f.out = append(f.out, f.check(r, g))
		}
	}
	p.Defs = f.out
	u.Tensor = p
	return nil
}

const (
	faultShift = 48
	maxSites   = 1<<(63-faultShift) - 2
)

type faults struct {
	program *tensor.Program
	names   namer
	of      map[*tensor.Tensor]*fault
	trust   bool
	values  ir.Rewriter
	facts   *ir.Facts
	ranges  ranges                // of the definition at hand
	memo    map[*ir.Expr]*ir.Expr // the fault of an expression; nil: it cannot fail
	out     []tensor.Def
}

// fault is the companion of a tensor. It has those dimensions on which the fault depends.
type fault struct {
	tensor *tensor.Tensor
	dims   []int
	below  bool // it may be below 0, which is none as well
}

var noFault = ir.Int64(0)

// value guards the checked reads.
func (f *faults) value(x *ir.Expr) *ir.Expr {
	if x.Op != ir.OpRead {
		return x
	}
	r := x.Ref.(tensor.Read)
	if r.Edge.Kind != tensor.Checked {
		return x
	}
	plain := ir.NewExpr(ir.OpRead, x.Type, tensor.Read{Of: r.Of, Edge: tensor.Edge{Kind: tensor.Trusted}}, x.Pos, x.Args...)
	if f.trust {
		return plain
	}
	return ir.If(f.ranges.inside(r.Of, x.Args), plain, ir.ZeroOf(x.Type)).At(x.Pos)
}

func (f *faults) definition(d tensor.Def) {
	switch d := d.(type) {
	case *tensor.Map:
		f.mapping(d)
	case *tensor.Scatter:
		f.scatter(d)
	case *tensor.Recur:
		f.recur(d)
	default:
		f.out = append(f.out, d)
	}
}

func (f *faults) mapping(d *tensor.Map) {
	if g := f.fault(d.Body); g != nil {
		f.of[d.Out] = f.define(d.Out, d.Free, g, d.Pos)
	}
	f.out = append(f.out, rewriteDef(d, f.values.Rewrite))
}

// define adds the companion of a tensor, over those axes that its fault names. Where another one is empty, there are no elements
// to fail, and what the fault reads need not exist.
func (f *faults) define(of *tensor.Tensor, free []ir.Span, g *ir.Expr, pos diag.Pos) *fault {
	named := axesIn(g)
	out := &fault{tensor: &tensor.Tensor{Name: f.names.fresh(of.Name + ".fault"), Type: ir.I64, Role: tensor.Temp, Pos: pos}}
	def := &tensor.Map{Out: out.tensor, Pos: pos}
	some := ir.True
	for i, s := range free {
		switch {
		case named[s.Axis]:
			out.dims = append(out.dims, i)
			out.tensor.Extents = append(out.tensor.Extents, of.Extents[i])
			def.Free = append(def.Free, s)
		case !knownPositive(extent(s)):
			some = ir.And(some, ir.Lt(s.Lo, s.Hi))
		}
	}
	def.Body = ir.If(some, g, noFault)
	f.program.Temps = append(f.program.Temps, out.tensor)
	f.out = append(f.out, def)
	return out
}

// axesIn is the set of axes that an expression names.
func axesIn(x *ir.Expr) axisSet {
	out := axisSet{}
	ir.Walk(x, func(y *ir.Expr) {
		if a, ok := y.Ref.(*ir.Axis); ok {
			out[a] = true
		}
		if s, ok := y.Ref.(*tensor.Scan); ok {
			out[s.Over.Axis] = true
		}
	})
	return out
}

// scatter: what goes wrong in a contribution concerns the whole tensor, since it is not known which element was meant.
func (f *faults) scatter(d *tensor.Scatter) {
	var g *ir.Expr
	for _, s := range d.Free {
		g = worst(g, f.fault(s.Lo), f.fault(s.Hi))
	}
	inner := f.contribution(d)
	for i, x := range d.At {
		inner = worst(inner, f.fault(x))
		if d.Edge.Kind == tensor.Checked && !f.trust {
			inner = worst(inner, f.outside(d.Out, i, x, d.Pos))
		}
	}
	if d.Guard != nil {
		g = worst(g, f.fault(d.Guard))
		inner = f.behind(d.Guard, inner, nil)
	}
	g = worst(g, inner)
	out := rewriteDef(d, f.values.Rewrite).(*tensor.Scatter)
	if d.Edge.Kind == tensor.Checked {
		out.Edge = tensor.Edge{Kind: tensor.Zero}
		if f.trust {
			out.Edge.Kind = tensor.Trusted
		}
	}
	if g != nil {
		f.of[d.Out] = f.gather(d, out.Free, g)
	}
	f.out = append(f.out, out)
}

// contribution is the fault of what a scatter adds. What falls outside is dropped before it is computed.
func (f *faults) contribution(d *tensor.Scatter) *ir.Expr {
	g := f.fault(d.Body)
	switch {
	case g == nil || d.Edge.Kind == tensor.Inside || d.Edge.Kind == tensor.Trusted || d.Edge.Kind == tensor.Checked:
		return g
	case d.Edge.Kind == tensor.Zero || d.Edge.Kind == tensor.Const:
		return ir.If(f.ranges.inside(d.Out, mapAll(d.At, f.values.Rewrite)), g, noFault)
	}
	return ir.If(notEmpty(d.Out), g, noFault)
}

// gather adds a tensor without axes that receives the greatest fault of all contributions.
func (f *faults) gather(d *tensor.Scatter, free []ir.Span, g *ir.Expr) *fault {
	out := &tensor.Tensor{Name: f.names.fresh(d.Out.Name + ".fault"), Type: ir.I64, Role: tensor.Temp, Pos: d.Pos}
	needed := axesIn(g)
	var spans []ir.Span
	for i := len(free) - 1; i >= 0; i-- { // ranges of later axes may name earlier ones
		s := free[i]
		if !needed[s.Axis] && scalarOnly(s.Lo) && scalarOnly(s.Hi) && knownPositive(extent(s)) {
			continue
		}
		for _, e := range []*ir.Expr{s.Lo, s.Hi} {
			for a := range axesIn(e) {
				needed[a] = true
			}
		}
		spans = append([]ir.Span{s}, spans...)
	}
	f.program.Temps = append(f.program.Temps, out)
	f.out = append(f.out, &tensor.Scatter{Out: out, Free: spans, Op: ir.Max_, Acc: ir.I64, Guard: ir.Gt(g, noFault), Body: g, Pos: d.Pos})
	return &fault{tensor: out, below: true}
}

// knownPositive reports whether a size is at least 1.
func knownPositive(n *ir.Expr) bool {
	if v, ok := n.IntValue(); ok {
		return v > 0
	}
	s, ok := n.Ref.(*ir.Scalar)
	return ok && s.IsSize && s.Lo > 0
}

// recur gives every name of the recurrence a companion that recurs with it, if any can fail.
func (f *faults) recur(d *tensor.Recur) {
	fails, sites := false, len(f.program.Sites)
	for _, b := range d.Bodies {
		fails = fails || f.fault(b) != nil
	}
	for _, from := range d.From {
		fails = fails || from != nil && f.of[from] != nil
	}
	if !fails {
		f.out = append(f.out, rewriteDef(d, f.values.Rewrite))
		return
	}
	// What reads these names has a fault from now on, so the bodies are looked at again.
	f.memo, f.program.Sites = map[*ir.Expr]*ir.Expr{}, f.program.Sites[:sites]
	for _, t := range d.Tensors {
		g := &fault{tensor: &tensor.Tensor{Name: f.names.fresh(t.Name + ".fault"), Type: ir.I64, Extents: t.Extents, Role: tensor.Temp, Pos: d.Pos}}
		for i := range t.Extents {
			g.dims = append(g.dims, i)
		}
		f.of[t] = g
		f.program.Temps = append(f.program.Temps, g.tensor)
	}
	out := &tensor.Recur{Back: d.Back, Pos: d.Pos}
	for k, t := range d.Tensors {
		g := f.fault(d.Bodies[k])
		if g == nil {
			g = noFault
		}
		free, step := d.Free[k], d.Step[k]
		own, back := freshSpans(free)
		out.Tensors = append(out.Tensors, t, f.of[t].tensor)
		out.Free = append(out.Free, free, own)
		out.Step = append(out.Step, step, step)
		out.Bodies = append(out.Bodies, f.values.Rewrite(d.Bodies[k]), rebind(g, back))
		var from *tensor.Tensor
		if d.From[k] != nil {
			from = f.fromFault(d.From[k], d.Pos)
		}
		out.From = append(out.From, d.From[k], from)
	}
	f.out = append(f.out, out)
}

// freshSpans copies spans with axes of their own.
func freshSpans(spans []ir.Span) ([]ir.Span, map[ir.Ref]*ir.Expr) {
	out := make([]ir.Span, len(spans))
	to := map[ir.Ref]*ir.Expr{}
	for i, s := range spans {
		a := &ir.Axis{Name: s.Axis.Name, Extent: s.Axis.Extent}
		out[i] = ir.Span{Axis: a, Lo: s.Lo, Hi: s.Hi}
		to[s.Axis] = ir.Name(a)
	}
	return out, to
}

// fromFault is the fault of the values before the first step, with all their dimensions.
func (f *faults) fromFault(from *tensor.Tensor, pos diag.Pos) *tensor.Tensor {
	out := &tensor.Tensor{Name: f.names.fresh(from.Name + ".fault"), Type: ir.I64, Extents: from.Extents, Role: tensor.Temp, Pos: pos}
	free := elements(from)
	body := noFault
	if g := f.of[from]; g != nil {
		at := make([]*ir.Expr, len(free))
		for i, s := range free {
			at[i] = ir.Name(s.Axis)
		}
		body = g.at(at, tensor.Inside)
	}
	f.program.Temps = append(f.program.Temps, out)
	f.out = append(f.out, &tensor.Map{Out: out, Free: free, Body: body, Pos: pos})
	return out
}

// at reads a companion at the subscripts of its tensor.
func (g *fault) at(at []*ir.Expr, edge tensor.EdgeKind) *ir.Expr {
	own := make([]*ir.Expr, len(g.dims))
	for i, d := range g.dims {
		own[i] = at[d]
	}
	out := tensor.ReadOf(g.tensor, tensor.Edge{Kind: edge}, own...)
	if g.below {
		return ir.Max(out, noFault)
	}
	return out
}

// check demands that no element of a result has a fault. Dimensions on which the fault does not depend are looked at once.
func (f *faults) check(r *tensor.Tensor, g *fault) *tensor.Check {
	free := elements(r)
	at := make([]*ir.Expr, len(free))
	depends := map[int]bool{}
	for _, d := range g.dims {
		depends[d] = true
	}
	for i, s := range free {
		at[i] = ir.Name(s.Axis)
		if !depends[i] {
			free[i].Hi = ir.Min(s.Hi, ir.Int64(1))
		}
	}
	return &tensor.Check{Of: r, Free: free, Fault: g.at(at, tensor.Inside), Pos: g.tensor.Pos}
}
