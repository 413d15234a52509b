package tensor

import (
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/text"
)

// let is a shared expression: read where it is used, and again only where its names mean other axes.
type let struct {
	t     ir.Type
	body  *syntax.Node
	expr  *ir.Expr
	free  []*ir.Axis // that expr uses and does not bind
	inUse bool
}

func (r *reader) let() {
	name, ty := r.Typed("a name")
	if r.lets[name.Text] != nil || r.scalars[name.Text] != nil {
		r.fail(name.Pos, "%s is declared twice", name.Text)
	}
	r.Expect("=", "'='")
	r.lets[name.Text] = &let{t: ty, body: r.Expr()}
}

// def reads one definition behind its first word.
func (r *reader) def(word syntax.Token) Def {
	r.leave(0)
	clear(r.axes)
	switch word.Text {
	case "def":
		m := &Map{}
		m.Out = r.find(r.defined, "what is defined")
		m.Free, _ = r.box()
		m.Body = r.value(m.Out.Type)
		m.Pos = r.Place()
		return m
	case "check":
		c := &Check{}
		c.Of = r.find(r.defined, "a result")
		c.Free, _ = r.box()
		c.Fault = r.value(ir.I64)
		c.Pos = r.Place()
		return c
	case "scatter":
		return r.scatter()
	}
	return r.recur()
}

func (r *reader) value(t ir.Type) *ir.Expr {
	r.Expect("=", "'='")
	return r.Exprs.Expr(r.Expr(), t)
}

// box reads [axis in lo..hi, …] and puts the axes in scope; step is the place of the one that is marked, or -1.
func (r *reader) box() (free []ir.Span, step int) {
	step = -1
	r.Expect("[", "'['")
	r.List("]", func() {
		free = append(free, r.span())
		if r.Accept("step") {
			step = len(free) - 1
		}
	})
	r.Expect("]", "',' or ']'")
	return free, step
}

// span reads axis in lo..hi and puts the axis in scope.
func (r *reader) span() ir.Span {
	name := r.Name("an axis")
	r.Expect("in", "'in' and a range")
	lo := r.Exprs.Index(r.Expr())
	r.Expect("..", "'..'")
	hi := r.Exprs.Index(r.Expr())
	return ir.Span{Axis: r.bind(name.Text, name.Pos), Lo: lo, Hi: hi}
}

func (r *reader) bind(name string, pos diag.Pos) *ir.Axis {
	if r.scalars[name] != nil || r.lets[name] != nil || r.visible[name] != nil {
		r.fail(pos, "the axis %s has the name of something else in scope", name)
	}
	a := r.axes[name]
	if a == nil { // a name is one axis in all of a definition: printing gives different axes different names
		a = &ir.Axis{Name: name}
		r.axes[name] = a
	}
	r.scope = append(r.scope, a)
	r.visible[name] = a
	return a
}

// leave drops all axes but the n outermost.
func (r *reader) leave(n int) {
	for _, a := range r.scope[n:] {
		delete(r.visible, a.Name)
	}
	r.scope = r.scope[:n]
}

// scatter reads NAME@edge[at] monoid: type = body for spans where guard from init. The body uses axes that stand behind it.
func (r *reader) scatter() Def {
	s := &Scatter{Out: r.find(r.defined, "what is scattered into")}
	var edge *syntax.Edge
	if r.Is("@") {
		edge = r.Edge()
	}
	s.Edge = r.edge(edge, s.Out.Type)
	r.Expect("[", "'['")
	at := r.ExprList("]")
	op := r.Name("a monoid")
	if s.Op = ir.MonoidByName(op.Text); s.Op == nil {
		r.fail(op.Pos, "unknown monoid %s", op.Text)
	}
	r.Expect(":", "':' and the accumulator's type")
	s.Acc = text.Type(r.Parser)
	r.Expect("=", "'='")
	body := r.Expr()
	if r.Accept("for") {
		for {
			s.Free = append(s.Free, r.span())
			if !r.Accept(",") {
				break
			}
		}
	}
	if r.Accept("where") {
		s.Guard = r.Exprs.Expr(r.Expr(), ir.Bool_)
	}
	if r.Accept("from") {
		s.Init = r.find(r.reads, "the parameter that is updated")
	}
	for _, n := range at {
		s.At = append(s.At, r.Exprs.Index(n))
	}
	s.Body = r.Exprs.Expr(body, s.Acc)
	s.Pos = r.Place()
	return s
}

func (r *reader) recur() Def {
	d := &Recur{Back: r.Accept("back")}
	r.Expect("{", "'{'")
	for !r.Is("}") {
		r.leave(0)
		pos := r.Peek().Pos
		d.Tensors = append(d.Tensors, r.find(r.defined, "what is defined, or '}'"))
		free, step := r.box()
		if step < 0 {
			r.fail(pos, "one axis of a recurrence is marked with step")
		}
		d.Free, d.Step = append(d.Free, free), append(d.Step, step)
		d.Bodies = append(d.Bodies, r.value(d.Tensors[len(d.Tensors)-1].Type))
		var from *Tensor
		if r.Accept("from") {
			from = r.find(r.reads, "the tensor of the values before the first step")
		}
		d.From = append(d.From, from)
	}
	r.Next()
	d.Pos = r.Place()
	return d
}

// name is the value of an axis, a scalar or a let.
func (r *reader) name(name string) *ir.Expr {
	if r.budget--; r.budget < 0 {
		r.Fail(diag.Pos{}, "limit", "the text describes more than %d uses of names", maxNodes)
	}
	if a := r.visible[name]; a != nil {
		return ir.Name(a)
	}
	if s := r.scalars[name]; s != nil {
		return ir.Name(s)
	}
	if l := r.lets[name]; l != nil {
		return r.shared(name, l)
	}
	return nil
}

func (r *reader) shared(name string, l *let) *ir.Expr {
	if l.expr != nil && r.means(l.free) {
		return l.expr
	}
	if l.inUse {
		r.fail(l.body.Pos, "%s is defined in terms of itself", name)
	}
	l.inUse = true
	e := r.Exprs.Expr(l.body, l.t)
	l.inUse = false
	l.expr, l.free = e, freeAxes(e)
	return e
}

// means reports whether all these axes are what their names mean here.
func (r *reader) means(axes []*ir.Axis) bool {
	for _, a := range axes {
		if r.visible[a.Name] != a {
			return false
		}
	}
	return true
}

// special reads reads, reductions and scans.
func (r *reader) special(_ *text.Reader, n *syntax.Node, _ ir.Type) *ir.Expr {
	switch n.Kind {
	case syntax.Index:
		return r.read(n)
	case syntax.Bind:
		if m := ir.MonoidByName(n.Name); m != nil {
			return r.reduction(n, m)
		}
		if base, ok := strings.CutPrefix(n.Name, "cum"); ok && ir.MonoidByName(base) != nil {
			return r.scan(n, ir.MonoidByName(base))
		}
	}
	return nil
}

func (r *reader) read(n *syntax.Node) *ir.Expr {
	t := r.reads[n.Name]
	if t == nil {
		r.fail(n.Pos, "unknown tensor %s", n.Name)
	}
	at := make([]*ir.Expr, len(n.Args))
	for i, a := range n.Args {
		at[i] = r.Exprs.Index(a)
	}
	return ir.NewExpr(ir.OpRead, t.Type, Read{t, r.edge(n.Edge, t.Type)}, n.Pos, at...)
}

// accumulator is the type behind the first binder.
func (r *reader) accumulator(n *syntax.Node) ir.Type {
	if len(n.Args) != 1 {
		r.fail(n.Pos, "%s takes one operand, not %d", n.Name, len(n.Args))
	}
	if len(n.Binders) == 0 || n.Binders[0].Type == "" {
		r.fail(n.Pos, "%s names its accumulator's type behind its first axis", n.Name)
	}
	t, ok := ir.TypeByName(n.Binders[0].Type)
	if !ok {
		r.fail(n.Binders[0].TypePos, "unknown type %s", n.Binders[0].Type)
	}
	return t
}

func (r *reader) reduction(n *syntax.Node, m *ir.Monoid) *ir.Expr {
	d := &Reduction{Op: m, Acc: r.accumulator(n)}
	outer := len(r.scope)
	for i, b := range n.Binders {
		if b.Lo == nil || len(b.Flags) > 0 || i > 0 && b.Type != "" {
			r.fail(b.Pos, "expected %s in lo..hi", b.Name)
		}
		lo, hi := r.Exprs.Index(b.Lo), r.Exprs.Index(b.Hi)
		d.Over = append(d.Over, ir.Span{Axis: r.bind(b.Name, b.Pos), Lo: lo, Hi: hi})
	}
	d.Guard = r.guard(n)
	body := r.Exprs.Expr(n.Args[0], d.Acc)
	r.leave(outer)
	return ir.NewExpr(OpReduce, d.Acc, d, n.Pos, body)
}

func (r *reader) guard(n *syntax.Node) *ir.Expr {
	if n.Where == nil {
		return nil
	}
	return r.Exprs.Expr(n.Where, ir.Bool_)
}

func (r *reader) scan(n *syntax.Node, m *ir.Monoid) *ir.Expr {
	s := &Scan{Op: m, Acc: r.accumulator(n)}
	b := n.Binders[0]
	if len(n.Binders) != 1 || b.Lo == nil {
		r.fail(n.Pos, "%s takes one axis of the definition, and its range", n.Name)
	}
	a := r.visible[b.Name]
	if a == nil {
		r.fail(b.Pos, "%s is no axis in scope", b.Name)
	}
	s.Over = ir.Span{Axis: a, Lo: r.Exprs.Index(b.Lo), Hi: r.Exprs.Index(b.Hi)}
	for _, f := range b.Flags {
		s.Reverse = s.Reverse || f == "reverse"
		s.Exclusive = s.Exclusive || f == "exclusive"
	}
	s.Guard = r.guard(n)
	return ir.NewExpr(OpScan, s.Acc, s, n.Pos, r.Exprs.Expr(n.Args[0], s.Acc))
}
