package lang

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// maxTermDepth bounds the stack of every walk over terms, and over the expressions that they become.
const maxTermDepth = 10_000

// expander turns expressions as they are written into terms. A mistake makes a lost term and is reported once: what is built
// of lost terms is lost in silence, but its other parts are still checked.
type expander struct {
	*checker
	names  map[string]*symbol // of the kernel; nil outside
	autos  map[string]*span   // the indices of a scatter, which are any unknown names; nil elsewhere
	quiet  bool               // mistakes will be reported by another expansion
	once   bool               // an unknown name is a mistake where it stands first only
	failed bool               // a mistake was met, new or old
}

// fail reports a mistake. Inside of a macro it is one of the call that fits the macro badly.
func (x *expander) fail(c context, pos diag.Pos, code, format string, args ...any) *diag.Diag {
	x.failed = true
	at := c.pos(pos)
	d := diag.Errorf(at, code, format, args...)
	if c.frame != nil && c.frame.call.IsValid() {
		d.Message = "in " + c.frame.macro.Name + ": " + d.Message
		if c.frame.macro.file {
			d.WithNote(pos, "here")
		}
		if x.blamed == at {
			return d // what else does not fit follows from the same argument
		}
		if !x.quiet {
			x.blamed = at
		}
	}
	if !x.quiet {
		x.report(d)
	}
	return d
}

func (x *expander) lost(n *syntax.Node, args ...*term) *term {
	x.failed = true
	return x.newTerm(context{}, term{kind: lostTerm, node: n, args: args})
}

// newTerm completes a term from its operands.
func (x *expander) newTerm(c context, t term) *term {
	for _, a := range t.args {
		t.free |= a.free
		t.depth = max(t.depth, a.depth)
	}
	if t.depth++; t.depth > maxTermDepth {
		x.fail(c, t.pos, "limit", "an expression more than %d operations deep; give a part of it a name", maxTermDepth)
		return &term{node: t.node, pos: t.pos}
	}
	if c.frame != nil {
		x.budget--
	}
	if len(x.terms) == 0 {
		x.terms = make([]term, 32)
	}
	out := &x.terms[0]
	x.terms = x.terms[1:]
	*out = t
	return out
}

func (x *expander) expr(c context, n *syntax.Node) *term {
	switch n.Kind {
	case syntax.Number:
		return x.number(c, n)
	case syntax.Name:
		return x.name(c, n)
	case syntax.Index:
		return x.read(c, n)
	case syntax.Call:
		return x.call(c, n)
	case syntax.Bind:
		return x.binding(c, n)
	case syntax.Unary:
		return x.unary(c, n)
	case syntax.Binary:
		return x.binary(c, n)
	}
	return x.choice(c, n)
}

func (x *expander) exprs(c context, nodes []*syntax.Node) []*term {
	out := make([]*term, len(nodes))
	for i, n := range nodes {
		out[i] = x.expr(c, n)
	}
	return out
}

func (x *expander) number(c context, n *syntax.Node) *term {
	t := term{kind: numberTerm, node: n, pos: c.pos(n.Pos)}
	switch n.NumKind {
	case syntax.IntNum:
		t.typ, t.num = intLit, ir.IntConst(int64(n.Int))
	case syntax.FloatNum:
		t.typ, t.num = floatLit, ir.FloatConst(n.Float)
	default:
		t.typ, t.num = ir.Bool_, ir.BoolConst(n.Int != 0)
	}
	return x.newTerm(c, t)
}

// name resolves a name that stands alone: innermost first, then the kernel's names, then constants.
func (x *expander) name(c context, n *syntax.Node) *term {
	if s := c.find(n.Name); s != nil {
		return x.scoped(c, n, s)
	}
	if c.frame == nil {
		if sym := x.names[n.Name]; sym != nil {
			return x.symbol(c, n, sym)
		}
	}
	if k := x.visibleConst(c, n.Name); k != nil {
		v, ok := x.constant(k)
		if !ok {
			return x.lost(n)
		}
		return x.newTerm(c, term{kind: numberTerm, node: n, pos: c.pos(n.Pos), typ: v.typ, num: v.num})
	}
	if x.file.Lost[n.Name] {
		return x.lost(n)
	}
	if x.autos != nil && c.frame == nil {
		return x.autoIndex(c, n)
	}
	d := x.fail(c, n.Pos, "name", "unknown name %s%s", n.Name, x.expected(c))
	x.suggestOf(d, n.Name, func() []string { return x.valueNames(c) })
	if x.once && c.frame == nil {
		x.names[n.Name] = &symbol{}
	}
	return x.lost(n)
}

// expected says what a name may be, where it is unknown.
func (x *expander) expected(c context) string {
	switch {
	case c.frame != nil:
		return " in func " + c.frame.macro.Name + ", which sees its parameters, locals and binders, and constants"
	case x.names == nil:
		return ": not a constant"
	}
	return ": neither a size, a parameter, a statement's name nor an index that is bound here"
}

func (x *expander) scoped(c context, n *syntax.Node, s *scope) *term {
	switch {
	case s.value != nil:
		t := s.value
		if s.used && len(t.args) > 0 {
			x.share(t)
		}
		s.used = true
		return t
	case s.index != nil:
		return x.index(c, n, s.index.level)
	case len(s.given.spans) != 1:
		x.fail(c, n.Pos, "binder", "%s is used as a value, but stands for %d indices", n.Name, len(s.given.spans))
		return x.lost(n)
	}
	return x.index(c, n, s.given.spans[0].level)
}

// share makes walks remember what they did with t.
func (x *expander) share(t *term) {
	if !t.shared {
		x.serial++
		t.shared, t.serial = true, x.serial
	}
}

func (x *expander) index(c context, n *syntax.Node, level uint8) *term {
	return x.newTerm(c, term{kind: indexTerm, node: n, pos: c.pos(n.Pos), typ: ir.I64, level: level, free: levelBit(level)})
}

// autoIndex makes an index of an unknown name in a scatter. Its level counts from the other end, where no binder is.
func (x *expander) autoIndex(c context, n *syntax.Node) *term {
	s := x.autos[n.Name]
	if s == nil {
		level := maxIndices - 1 - len(x.autos)
		if isBuiltin(n.Name) || level < c.depth {
			x.fail(c, n.Pos, "name", "unknown name %s%s", n.Name, x.expected(c))
			return x.lost(n)
		}
		s = &span{level: uint8(level), r: &extent{name: n.Name, pos: n.Pos}}
		x.autos[n.Name] = s
	}
	return x.index(c, n, s.level)
}

func (x *expander) symbol(c context, n *syntax.Node, sym *symbol) *term {
	switch {
	case sym.scalar != nil:
		return x.newTerm(c, term{kind: scalarTerm, node: n, pos: n.Pos, typ: sym.scalar.Type, value: sym.value})
	case sym.tensor == nil:
		return x.lost(n)
	case sym.tensor.rank > 0:
		x.fail(c, n.Pos, "name", "%s is a tensor of %s and needs subscripts, %s[…]", n.Name, dimensions(sym.tensor.rank), n.Name)
		return x.lost(n)
	}
	return x.element(c, n, sym.tensor, nil)
}

// read resolves an access to a tensor.
func (x *expander) read(c context, n *syntax.Node) *term {
	args := x.exprs(c, n.Args)
	var sym *symbol
	if c.frame == nil {
		sym = x.names[n.Name]
	}
	switch {
	case c.find(n.Name) != nil || x.visibleConst(c, n.Name) != nil || sym != nil && sym.scalar != nil:
		x.fail(c, n.Pos, "name", "%s is no tensor, so it takes no subscripts", n.Name)
		return x.lost(n, args...)
	case sym == nil && !x.file.Lost[n.Name]:
		d := x.fail(c, n.Pos, "name", "unknown tensor %s", n.Name)
		if x.findMacro(c, n.Name) != nil || isBuiltin(n.Name) {
			d.Message = n.Name + " is no tensor; a call needs (…)"
		} else {
			x.suggestOf(d, n.Name, x.tensorNames)
		}
		return x.lost(n, args...)
	case sym == nil || sym.tensor == nil:
		return x.lost(n, args...)
	case sym.tensor.rank != len(n.Args):
		x.fail(c, n.Pos, "rank", "%s has %s, not %d", n.Name, dimensions(sym.tensor.rank), len(n.Args))
		return x.lost(n, args...)
	}
	for _, a := range args {
		x.needInteger(c, a, "an integer index of "+n.Name)
	}
	return x.element(c, n, sym.tensor, args)
}

func (x *expander) element(c context, n *syntax.Node, v *variable, args []*term) *term {
	t := term{kind: readTerm, node: n, pos: n.Pos, typ: v.typ, of: v, edge: v.edge, args: args}
	if n.Edge != nil {
		t.edge = x.edge(c, n.Edge, v.typ)
	}
	if v.typ == lostType {
		x.failed = true
	}
	return x.newTerm(c, t)
}

var edgeKinds = map[string]tensor.EdgeKind{"zero": tensor.Zero, "clamp": tensor.Clamp, "wrap": tensor.Wrap, "mirror": tensor.Mirror, "const": tensor.Const}

// edge resolves a boundary of a tensor of type t.
func (x *expander) edge(c context, e *syntax.Edge, t ir.Type) tensor.Edge {
	kind, ok := edgeKinds[e.Kind]
	if !ok {
		d := x.fail(c, e.Pos, "boundary", "unknown boundary %s: expected zero, clamp, wrap, mirror or const(value)", e.Kind)
		x.suggest(d, e.Kind, []string{"zero", "clamp", "wrap", "mirror", "const"})
		return tensor.Edge{Kind: tensor.Zero}
	}
	if e.Value == nil {
		return tensor.Edge{Kind: kind}
	}
	v, ok := x.constantExpr(e.Value)
	if !ok {
		x.failed = true
		return tensor.Edge{Kind: kind}
	}
	if !t.IsValid() {
		return tensor.Edge{Kind: kind}
	}
	return tensor.Edge{Kind: kind, Value: castConst(t, v)}
}

func dimensions(n int) string {
	switch n {
	case 0:
		return "no dimensions"
	case 1:
		return "1 dimension"
	}
	return itoa(n) + " dimensions"
}
