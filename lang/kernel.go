package lang

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// maxStatements bounds the graph of a kernel's statements.
const maxStatements = 10_000

// kernel is a kernel that is being checked.
type kernel struct {
	*checker
	ast     *Kernel
	prog    *tensor.Program
	names   map[string]*symbol
	sizes   map[string]bool
	results map[string]*variable // what '->' declares; a use of a name that is a parameter, too, is one of the parameter
	extents map[*ir.Expr]bool    // those that are declared
	stmts   []*stmt
	where   []*ir.Expr
	broken  bool // a mistake in it was reported, here or by the parser

	headless bool // names may be missing
}

// check makes the kernel's program; nil if there are mistakes.
func (k *kernel) check() *tensor.Program {
	before := k.count
	k.prog = &tensor.Program{Name: k.ast.Name, Pos: k.ast.Pos}
	k.broken = len(k.ast.Lost) > 0
	k.header()
	k.headless = k.broken || k.count > before
	if k.define() {
		k.statements()
		k.undefined()
	}
	k.prove()
	if k.broken = k.broken || k.count > before; k.broken {
		return nil
	}
	k.dropUnused()
	return k.prog
}

// header declares parameters, results and launch conditions.
func (k *kernel) header() {
	for name := range k.ast.Lost {
		k.names[name] = &symbol{}
	}
	taken := map[string]bool{}
	for _, p := range k.ast.Params {
		taken[p.Text] = true
	}
	for _, p := range k.ast.Params {
		k.prog.Order = append(k.prog.Order, p.Text)
		if p.Extents == nil {
			k.scalarParam(p)
		} else {
			k.bindSizes(p, taken)
		}
	}
	for _, p := range k.ast.Params {
		if p.Extents != nil {
			k.tensorParam(p)
		}
	}
	for _, p := range k.ast.Results {
		k.result(p)
	}
	for _, c := range k.ast.Where {
		k.condition(c)
	}
}

func (k *kernel) expander() *expander { return &expander{checker: k.checker, names: k.names} }

var zero = ir.Int64(0)

// bindSizes makes sizes of the extents of a parameter that are a new name, or a new name plus or minus a constant.
func (k *kernel) bindSizes(p *Param, params map[string]bool) {
	for _, e := range p.Extents {
		base := e
		if e.Kind == syntax.Binary && (e.Name == "+" || e.Name == "-") && isConstant(e.Args[1], k.checker) {
			base = e.Args[0]
		}
		if base.Kind != syntax.Name || k.names[base.Name] != nil || params[base.Name] || k.consts[base.Name] != nil || k.file.Lost[base.Name] {
			continue
		}
		if k.taken(base.Name, base.Pos) {
			k.names[base.Name] = &symbol{}
			continue
		}
		s := &ir.Scalar{Name: base.Name, Type: ir.I64, IsSize: true, Multiple: 1, Pos: base.Pos}
		if v, ok := k.set[s.Name]; ok && v >= 0 {
			fixed := ir.IntConst(v)
			s.Fixed = &fixed
		}
		k.names[s.Name] = &symbol{scalar: s, value: ir.Name(s), pos: base.Pos}
		k.sizes[s.Name] = true
		k.prog.Scalars = append(k.prog.Scalars, s)
	}
}

// isConstant reports whether n is made of numbers and consts alone.
func isConstant(n *syntax.Node, c *checker) bool {
	switch n.Kind {
	case syntax.Number:
		return true
	case syntax.Name:
		return c.consts[n.Name] != nil
	case syntax.Unary, syntax.Binary:
		for _, a := range n.Args {
			if !isConstant(a, c) {
				return false
			}
		}
		return true
	}
	return false
}

// taken reports a name that something visible has already.
func (k *kernel) taken(name string, pos diag.Pos) bool {
	switch {
	case isBuiltin(name):
		k.fail(pos, "name", "%s is built in, so nothing else can be called %s", name, name)
	case k.consts[name] != nil || k.funcs[name] != nil:
		k.fail(pos, "twice", "%s is a const or func of this file already", name)
	default:
		return false
	}
	return true
}

// declare gives a name its meaning in the kernel.
func (k *kernel) declare(w Word, s *symbol) bool {
	s.pos = w.Pos
	if old := k.names[w.Text]; old != nil && (old.scalar != nil || old.tensor != nil) {
		k.fail(w.Pos, "twice", "%s is declared twice", w.Text).WithNote(old.pos, "first declared here")
		return false
	}
	if k.taken(w.Text, w.Pos) {
		s = &symbol{}
	}
	if k.names[w.Text] == nil || s.scalar != nil || s.tensor != nil {
		k.names[w.Text] = s
	}
	return s.scalar != nil || s.tensor != nil
}

// dtype resolves a declared dtype.
func (k *kernel) dtype(w Word) (ir.Type, bool) {
	if d := dtypeNamed(w.Text); d != nil {
		return ir.Type{Elem: d, Pack: 1}, true
	}
	d := k.fail(w.Pos, "dtype", "unknown dtype %s", w.Text)
	k.expander().suggest(d, w.Text, dtypeNames())
	return ir.Type{}, false
}

func (k *kernel) scalarParam(p *Param) {
	t, ok := k.dtype(p.Type)
	if !ok {
		k.declare(p.Word, &symbol{})
		return
	}
	s := &ir.Scalar{Name: p.Text, Type: t, Multiple: 1, Pos: p.Pos}
	if t.IsInt() {
		s.Lo, _ = ir.IntRange(t.Elem)
	}
	if p.Edge != nil {
		k.fail(p.Edge.Pos, "boundary", "%s is a scalar, which has no boundary", p.Text)
	}
	if p.Default != nil {
		s.Default = k.scalarValue(p.Text, t, p.Default)
	}
	if k.declare(p.Word, &symbol{scalar: s, value: ir.Name(s)}) {
		k.prog.Scalars = append(k.prog.Scalars, s)
	}
}

// scalarValue is a constant that is given for a scalar; nil after a mistake.
func (c *checker) scalarValue(name string, t ir.Type, n *syntax.Node) *ir.Const {
	v, ok := c.constantExpr(n)
	switch {
	case !ok:
		return nil
	case v.typ.IsBool() != t.IsBool() || t.IsInt() && v.typ != intLit:
		c.fail(n.Pos, "type", "%s is %s, but its value %s is %s", name, t, show(n), v.typ)
		return nil
	case t.IsInt() && ir.Wrap(t.Elem, v.num.Int()) != v.num.Int():
		c.fail(n.Pos, "type", "the value %s of %s does not fit %s", show(n), name, t)
		return nil
	}
	out := castConst(t, v)
	return &out
}

func (k *kernel) tensorParam(p *Param) {
	v, ok := k.variable(p, tensor.Param)
	if p.Edge != nil {
		x := k.expander()
		v.edge = x.edge(context{}, p.Edge, v.typ)
		ok = ok && !x.failed
	}
	if p.Default != nil {
		k.fail(p.Default.Pos, "call", "%s is a tensor; only a scalar takes a default", p.Text)
	}
	if k.declare(p.Word, &symbol{tensor: v}) && ok {
		k.prog.Params = append(k.prog.Params, v.tensor)
	}
}

// variable makes the tensor that a declaration describes; what a mistake has lost of it is left open.
func (k *kernel) variable(p *Param, role tensor.Role) (*variable, bool) {
	t, ok := k.dtype(p.Type)
	v := &variable{name: p.Text, pos: p.Pos, typ: t, rank: len(p.Extents), rounds: true, written: p.Extents,
		lo: make([]*ir.Expr, len(p.Extents)), hi: make([]*ir.Expr, len(p.Extents))}
	for i, e := range p.Extents {
		v.lo[i], v.hi[i] = zero, k.extent(e)
		k.extents[v.hi[i]] = true
		ok = ok && v.hi[i] != nil
	}
	if ok {
		v.tensor = &tensor.Tensor{Name: p.Text, Type: t, Extents: v.hi, Role: role, Pos: p.Pos}
	}
	return v, ok
}

// extent is a declared extent as an expression of sizes and scalar parameters; nil after a mistake.
func (k *kernel) extent(n *syntax.Node) *ir.Expr {
	if sym := k.names[n.Name]; n.Kind == syntax.Name && sym != nil && sym.scalar != nil && sym.scalar.IsSize {
		return sym.value // the usual case
	}
	e := k.overScalars(n, "an integer extent")
	if e == nil {
		return nil
	}
	if v, ok := ir.ConstantExtent(e); ok && v < 0 {
		k.fail(n.Pos, "extent", "the extent %s is %d, which is negative", show(n), v)
		return nil
	}
	return e
}

// overScalars is an integer expression of scalars, in i64; nil after a mistake.
func (k *kernel) overScalars(n *syntax.Node, what string) *ir.Expr {
	x := k.expander()
	x.once = true
	t := x.expr(context{}, n)
	if !x.failed {
		x.needInteger(context{}, t, what)
	}
	if x.failed {
		k.broken = true
		return nil
	}
	e := k.low.as(t, ir.I64)
	if r := readIn(e); r != nil {
		k.fail(n.Pos, "extent", "%s reads %s, but an extent is made of sizes and scalar parameters", show(n), r.Ref.RefName())
		return nil
	}
	return e
}

// readIn finds an access to a tensor in e.
func readIn(e *ir.Expr) (found *ir.Expr) {
	if e.IsConst() || e.Op == ir.OpName {
		return nil
	}
	ir.Walk(e, func(x *ir.Expr) {
		if x.Op == ir.OpRead || x.Op == tensor.OpReduce || x.Op == tensor.OpScan {
			found = x
		}
	})
	return found
}

func (k *kernel) result(p *Param) {
	v, ok := k.variable(p, tensor.Result)
	if p.Edge != nil || p.Default != nil {
		k.fail(p.Pos, "result", "%s is a result, which has no boundary and no default", p.Text)
	}
	if k.results[p.Text] != nil {
		k.fail(p.Pos, "twice", "result %s is declared twice", p.Text).WithNote(k.results[p.Text].pos, "first declared here")
		return
	}
	if old := k.names[p.Text]; old != nil && (old.tensor != nil || old.scalar != nil) {
		if !k.inPlace(old, v) {
			k.fail(p.Pos, "twice", "%s is a size, or a parameter of another type or shape, too", p.Text).WithNote(old.pos, "declared here")
		}
	} else if !k.declare(p.Word, &symbol{tensor: v}) {
		ok = false
	}
	k.results[p.Text] = v
	if ok {
		k.prog.Results = append(k.prog.Results, v.tensor)
	}
}

// inPlace reports whether a result of a parameter's name has its type and extents.
func (k *kernel) inPlace(old *symbol, result *variable) bool {
	if s := old.scalar; s != nil {
		return !s.IsSize && result.rank == 0 && (s.Type == result.typ || result.typ == lostType)
	}
	param := old.tensor
	if param.typ != result.typ && param.typ != lostType && result.typ != lostType || param.rank != result.rank {
		return false
	}
	for i := range param.hi {
		if param.hi[i] != nil && result.hi[i] != nil && !k.same(param.hi[i], result.hi[i]) {
			return false
		}
	}
	return true
}

// condition declares what a launch must satisfy.
func (k *kernel) condition(n *syntax.Node) {
	x := k.expander()
	t := x.expr(context{}, n)
	if !x.failed {
		x.needBool(context{}, t, "a bool condition of the launch")
	}
	if x.failed {
		k.broken = true
		return
	}
	e := k.low.as(t, ir.Bool_)
	if r := readIn(e); r != nil {
		k.fail(n.Pos, "type", "the condition %s reads %s, but it is made of sizes and scalar parameters", show(n), r.Ref.RefName())
		return
	}
	k.where = append(k.where, e)
	k.prog.Where = append(k.prog.Where, ir.Condition{Expr: e, Text: show(n), Pos: n.Pos})
	learnMultiple(e)
}

// learnMultiple records what size % number == 0 says about a size.
func learnMultiple(e *ir.Expr) {
	switch e.Op {
	case ir.OpAnd:
		learnMultiple(e.Args[0])
		learnMultiple(e.Args[1])
	case ir.OpEq:
		rem := e.Args[0]
		if !e.Args[1].IsInt(0) || rem.Op != ir.OpRem && rem.Op != ir.OpMod {
			return
		}
		s, ok := rem.Args[0].Ref.(*ir.Scalar)
		n, isConst := rem.Args[1].IntValue()
		if ok && isConst && n > 0 && n < 1<<31 && s.Multiple < 1<<31 {
			s.Multiple *= n / gcd(s.Multiple, n)
		}
	}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// same reports whether two extents are equal in every launch that the kernel's conditions allow.
func (k *kernel) same(a, b *ir.Expr) bool {
	return ir.Equal(a, b) || ir.SameExtent(a, b, k.where...)
}
