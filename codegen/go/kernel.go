package gogen

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/gkc-lang/gkc/codegen/source"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// kernel prints one kernel as a function that runs one block.
type kernel struct {
	*simt.Kernel
	cut     *cut
	names   *source.Names
	exprs   exprs
	unpack  *ir.Rewriter
	inWarps bool // what is printed stands in a loop over warps
	used    map[ir.Ref]bool
	named   map[string]bool // what the loop over threads that is being printed names of its thread
}

// reserved are the words that emitted code uses itself: those of Go, and the names that the frame of a kernel declares.
var reserved = []string{
	"break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func", "go", "goto", "if", "import",
	"interface", "map", "package", "range", "return", "select", "struct", "switch", "type", "var",
	"any", "append", "bool", "byte", "cap", "clear", "close", "comparable", "complex", "complex64", "complex128", "copy", "delete", "error",
	"false", "float32", "float64", "imag", "int", "int8", "int16", "int32", "int64", "iota", "len", "make", "max", "min", "new", "nil",
	"panic", "print", "println", "real", "recover", "rune", "string", "true", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr",
	"simt", "a", "b", "l", "w", "tid", "lane", "warp", "group",
}

func newKernel(k *simt.Kernel) *kernel {
	p := &kernel{Kernel: k, names: source.NewNames(reserved...), unpack: source.Elementwise(func(*ir.Op, ir.Type) bool { return false }), used: map[ir.Ref]bool{}, named: map[string]bool{}}
	p.exprs = exprs{ref: p.ref, temps: map[*ir.Expr]string{}}
	return p
}

// portable refuses what only a machine can do.
func (p *kernel) portable() {
	if len(p.Maps) > 0 || len(p.Bars) > 0 || p.Launch.Cluster > 1 {
		cannot(ir.True.Pos, "kernel %s uses tensor maps, barrier objects or clusters, which only a graphics processor has", p.Name)
	}
	simt.Walk(p.Body, func(s simt.Stmt) {
		what := ""
		switch s := s.(type) {
		case *simt.Copy:
			what = "copy " + s.Form.Name
		case *simt.Mma:
			what = "mma " + s.Atom.Name
		case *simt.Roles:
			what = "roles"
		case *simt.Sync:
			if s.Verb.Name != "sync" || s.On.Builtin != "cta" && s.On.Builtin != "warp" {
				what = s.Verb.Name + " " + s.On.Class(s.Verb.Name)
			}
		case *simt.Load:
			if s.Form == simt.Matrix || s.Form == simt.MatrixTrans || s.From.Rank != nil {
				what = "matrix loads and memory of other blocks"
			}
		case *simt.Store:
			if s.Form == simt.Matrix || s.Form == simt.MatrixTrans || s.To.Rank != nil {
				what = "matrix stores and memory of other blocks"
			}
		}
		if what != "" {
			cannot(s.Place(), "kernel %s uses %s, which only a graphics processor has", p.Name, what)
		}
	})
}

// function is the kernel as a Go function of its block, its scalar arguments and its buffers.
func (p *kernel) function(name string) jen.Code {
	p.portable()
	p.cut = fission(p.Kernel)
	params := []jen.Code{jen.Id("b").Op("*").Qual(library, "Block")}
	for _, v := range p.arguments() {
		params = append(params, jen.Id(p.names.Of(v, v.Name)).Id(typeOf(v.Type)))
	}
	for _, g := range p.Global {
		params = append(params, jen.Id(p.names.Of(g, g.Name)).Index().Id(typeOf(g.Type)))
	}
	var body []jen.Code
	for _, s := range p.Shared {
		body = append(body, assign(p.names.Of(s, s.Name), ":=", fmt.Sprintf("simt.View[%s](b.Shared, %d, %d)", typeOf(s.Type), s.At, s.Len)))
	}
	for _, r := range p.cut.perThread {
		body = append(body, jen.Var().Id(p.names.Of(r, r.Name)).Index(jen.Lit(p.Launch.Threads)).Add(registerType(r)))
	}
	body = append(body, p.nodes(p.cut.body)...)
	return jen.Commentf("%s runs a block of kernel %s.", name, p.Name).Line().Func().Id(name).Params(params...).Block(body...).Line()
}

// arguments are the host values that the body uses.
func (p *kernel) arguments() []*simt.Value {
	for _, e := range simt.ExprsOf(p.Body) {
		ir.Walk(e, func(x *ir.Expr) {
			if x.Ref != nil {
				p.used[x.Ref] = true
			}
		})
	}
	var out []*simt.Value
	for _, v := range p.Params {
		if p.used[v] {
			out = append(out, v)
		}
	}
	return out
}

func registerType(r *simt.Reg) *jen.Statement {
	if r.Len > 0 {
		return jen.Index(jen.Lit(r.Len)).Id(typeOf(r.Type))
	}
	return jen.Id(typeOf(r.Type))
}

func assign(to, op, value string) jen.Code { return jen.Id(to).Op(op).Id(value) }

// ref writes a name.
func (p *kernel) ref(r ir.Ref) string {
	switch r := r.(type) {
	case *simt.Reg:
		name := p.names.Of(r, r.Name)
		switch p.cut.home[r] {
		case perThread:
			return name + "[" + p.thread("tid") + "]"
		case perLane:
			return name + "[" + p.thread("lane") + "]"
		}
		return name
	case *simt.Builtin:
		if text, ok := map[*simt.Builtin]string{simt.Cta: "b.Cta", simt.Ctas: "b.Ctas", simt.Rank: "int32(0)"}[r]; ok {
			return text
		}
		return p.thread(r.Name)
	}
	return p.names.Of(r, r.RefName())
}

// nodes prints the pieces of a cut kernel.
func (p *kernel) nodes(list []node) (out []jen.Code) {
	for _, n := range list {
		switch n := n.(type) {
		case *lanes:
			out = append(out, p.lanes(n))
		case *warps:
			out = append(out, p.warps(n))
		case *uniform:
			out = append(out, p.stmt(n.let)...)
		case *together:
			out = append(out, p.together(n)...)
		}
	}
	return out
}

// lanes is a loop over the threads of the block, or over the lanes of a warp.
func (p *kernel) lanes(n *lanes) jen.Code {
	return p.overLanes(func() []jen.Code { return p.stmts(n.body) })
}

// overLanes is a loop over the threads of the block, or the lanes of a warp, that declares what its body names of the thread.
func (p *kernel) overLanes(body func() []jen.Code) jen.Code {
	p.named = map[string]bool{}
	inner := body()
	index, n := "tid", fmt.Sprint(p.Launch.Threads)
	derived := [][2]string{{"lane", "tid & 31"}, {"warp", "tid >> 5"}, {"group", "tid >> 7"}}
	if p.inWarps {
		index, n = "lane", p.warpLanes()
		derived = [][2]string{{"tid", "32*warp + lane"}}
	}
	var head []jen.Code
	for _, d := range derived {
		if p.named[d[0]] {
			head = append(head, assign(d[0], ":=", d[1]))
		}
	}
	return jen.For(jen.Id(index).Op(":=").Id("int32(0)"), jen.Id(index).Op("<").Id(n), jen.Id(index).Op("++")).Block(append(head, inner...)...)
}

// thread is a name that says which thread is meant.
func (p *kernel) thread(name string) string {
	p.named[name] = true
	return name
}

// warpLanes is the number of lanes of a warp: the last warp of a block may be short.
func (p *kernel) warpLanes() string {
	if p.Launch.Threads%simt.WarpSize == 0 {
		return "32"
	}
	return fmt.Sprintf("min(32, %d-32*warp)", p.Launch.Threads)
}

// warps is a loop over the warps of the block.
func (p *kernel) warps(n *warps) jen.Code {
	var body []jen.Code
	if p.used[simt.Group] {
		body = append(body, assign("group", ":=", "warp >> 2"), assign("_", "=", "group"))
	}
	for _, r := range n.regs {
		body = append(body, jen.Var().Id(p.names.Of(r, r.Name)).Index(jen.Lit(simt.WarpSize)).Add(registerType(r)))
	}
	p.inWarps = true
	body = append(body, p.nodes(n.body)...)
	p.inWarps = false
	count := (p.Launch.Threads + simt.WarpSize - 1) / simt.WarpSize
	return jen.For(jen.Id("warp").Op(":=").Id("int32(0)"), jen.Id("warp").Op("<").Lit(count), jen.Id("warp").Op("++")).Block(body...)
}

// together prints a statement in which threads meet.
func (p *kernel) together(n *together) []jen.Code {
	switch s := n.stmt.(type) {
	case *simt.For:
		pre, lo := p.agreed(s.Lo)
		pre2, hi := p.agreed(s.Hi)
		return append(append(pre, pre2...), p.loop(s, lo, hi, p.nodes(n.bodies[0]))...)
	case *simt.While:
		pre := p.nodes(n.bodies[0])
		test, cond := p.agreed(s.Cond)
		body := append(append(pre, test...), leaveUnless(cond))
		return []jen.Code{jen.For().Block(append(body, p.nodes(n.bodies[1])...)...)}
	case *simt.If:
		pre, cond := p.agreed(s.Cond)
		return append(pre, branch(cond, p.nodes(n.bodies[0]), p.nodes(n.bodies[1])))
	case *simt.Let:
		return p.warpOp(s.Reg, nil, s.Value)
	case *simt.Set:
		return p.warpOp(s.Reg, s.At, s.Value)
	}
	panic(fmt.Sprintf("gogen: threads meet in %T", n.stmt))
}

// agreed is the value of an expression that is the same for all who meet here. Where that is not evident every thread computes it,
// and the values are compared.
func (p *kernel) agreed(e *ir.Expr) (pre []jen.Code, value string) {
	var w *warps
	if p.inWarps {
		w = &warps{}
	}
	if p.cut.same(e, w) {
		pre, text := p.value(e)
		return pre, text
	}
	all, pre := p.gather(e)
	return pre, "simt.Same(" + all + ")"
}

// gather computes an expression for every thread that meets here, into a slice.
func (p *kernel) gather(e *ir.Expr) (slice string, pre []jen.Code) {
	name := p.names.New("all")
	n, index, count := p.Launch.Threads, "tid", ""
	if p.inWarps {
		n, index, count = simt.WarpSize, "lane", p.warpLanes()
	}
	pre = append(pre, jen.Var().Id(name).Index(jen.Lit(n)).Id(typeOf(e.Type)))
	pre = append(pre, p.overLanes(func() []jen.Code {
		before, text := p.value(e)
		return append(before, assign(name+"["+index+"]", "=", text))
	}))
	return name + "[:" + count + "]", pre
}

// warpOp prints an operation of a warp: operands are gathered from the lanes, and the result is given to them.
func (p *kernel) warpOp(r *simt.Reg, at *ir.Expr, e *ir.Expr) (out []jen.Code) {
	args := make([]source.Text, len(e.Args))
	for i, a := range e.Args {
		slice, pre := p.gather(a)
		out = append(out, pre...)
		args[i] = source.Atom(slice)
	}
	template, ok := e.Op.Go.For(operandType(e))
	if !ok {
		cannot(e.Pos, "no way to say %s of %s", e.Op.Name, operandType(e))
	}
	name := p.names.New("given")
	out = append(out, jen.Var().Id(name).Index(jen.Lit(simt.WarpSize)).Id(typeOf(e.Type)))
	result := name + "[:" + p.warpLanes() + "]"
	out = append(out, jen.Id(source.Fill(template, args, map[byte]string{'r': result}).String))
	return append(out, p.overLanes(func() []jen.Code {
		to := p.ref(r)
		if at != nil {
			to += "[" + p.exprs.subscript(at) + "]"
		}
		return []jen.Code{assign(to, "=", name+"[lane]")}
	}))
}
