package cuda

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/codegen/source"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// printer prints one kernel.
type printer struct {
	strings.Builder
	k      *simt.Kernel
	names  *source.Names
	exprs  exprs
	unpack *ir.Rewriter
	used   map[ir.Ref]bool
	words  bool // it has packed words
	indent int
	// helpers are functions that were made for this file, by name.
	helpers map[string]string
}

func newPrinter(k *simt.Kernel, names *source.Names, helpers map[string]string) *printer {
	use := usageOf(k.Body)
	p := &printer{k: k, names: names, unpack: source.Elementwise(hasWord), used: use.refs, words: use.words, helpers: helpers}
	p.exprs = exprs{ref: p.ref, mask: warpMask(k), temps: map[*ir.Expr]string{}}
	return p
}

// hasWord tells operations that the machine has for words of a type.
func hasWord(op *ir.Op, t ir.Type) bool {
	_, has := op.C[t.String()]
	return has
}

// warpMask is the lanes that every warp of the kernel has. Blocks with a short last warp ask for the lanes that are there.
func warpMask(k *simt.Kernel) string {
	if k.Launch.Threads%simt.WarpSize == 0 {
		return "0xffffffffu"
	}
	return "__activemask()"
}

// usedIn are the things that statements read.
func usedIn(body []simt.Stmt) map[ir.Ref]bool { return usageOf(body).refs }

// usage is what statements have to do with.
type usage struct {
	refs  map[ir.Ref]bool // that they read
	words bool            // packed ones
	seen  map[*ir.Expr]bool
}

func usageOf(body []simt.Stmt) *usage {
	u := &usage{refs: map[ir.Ref]bool{}, seen: map[*ir.Expr]bool{}}
	simt.Walk(body, func(s simt.Stmt) {
		switch s := s.(type) {
		case *simt.Mma:
			u.refs[s.D.Reg] = true
			for _, o := range []simt.Operand{s.A, s.B} {
				if o.Slice != nil {
					u.refs[o.Slice.Reg] = true
				}
			}
		case *simt.Load: // what is loaded in an order, or by a warp together, is loaded also where nobody reads it
			if s.Order != simt.Plain || s.Form != simt.One && s.Form != simt.Vec {
				u.refs[s.To.Reg] = true
			}
		}
		for _, e := range simt.Exprs(s) {
			u.mark(e)
		}
	})
	return u
}

func (u *usage) mark(e *ir.Expr) {
	u.words = u.words || e.Type.IsPacked()
	if e.Ref != nil {
		u.refs[e.Ref] = true
	}
	if len(e.Args) == 0 || u.seen[e] {
		return
	}
	u.seen[e] = true
	for _, a := range e.Args {
		u.mark(a)
	}
}

func (p *printer) line(format string, args ...any) {
	p.WriteString(strings.Repeat("  ", p.indent))
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// block prints a head, statements between braces, and what follows the closing brace.
func (p *printer) block(head string, body func()) {
	p.line("%s {", head)
	p.indent++
	body()
	p.indent--
	p.line("}")
}

// kernel prints the device function.
func (p *printer) kernel(entry string) {
	bounds := fmt.Sprint(p.k.Launch.Threads)
	if p.k.Launch.PerSM > 0 {
		bounds += fmt.Sprintf(", %d", p.k.Launch.PerSM)
	}
	p.block(fmt.Sprintf("extern \"C\" __global__ void __launch_bounds__(%s) %s(%s)", bounds, entry, strings.Join(p.parameters(), ", ")), func() {
		p.frame()
		p.stmts(p.k.Body)
	})
}

func (p *printer) parameters() []string {
	var out []string
	for _, a := range arguments(p.k, p.used) {
		switch {
		case a.Scalar != nil:
			out = append(out, fmt.Sprintf("const %s %s", typeOf(a.Scalar.Type), p.ref(a.Scalar)))
		case a.Buffer != nil:
			format := "%s *%s"
			if a.Buffer.ReadOnly {
				format = "const %s *__restrict__ %s" // arrays do not overlap
			}
			out = append(out, fmt.Sprintf(format, typeOf(a.Buffer.Type), p.ref(a.Buffer)))
		case a.Map != nil:
			out = append(out, "const __grid_constant__ tensor_map "+p.names.Of(a.Map, a.Map.Name))
		default:
			out = append(out, "gkc_failure *failure")
		}
	}
	return out
}

// builtins are the names that the machine gives values; those of a warp count within the role.
var builtins = []struct {
	ref   *simt.Builtin
	value string
}{
	{simt.Tid, "(i32)threadIdx.x"}, {simt.Lane, "(i32)(threadIdx.x & 31u)"}, {simt.Warp, "(i32)(threadIdx.x >> 5)"},
	{simt.Group, "(i32)(threadIdx.x >> 7)"}, {simt.Cta, "(i32)blockIdx.x"}, {simt.Ctas, "(i32)gridDim.x"}, {simt.Rank, "cluster_rank()"},
}

// frame declares what the body uses of the machine, and the shared buffers.
func (p *printer) frame() {
	common := p.used
	if body := withoutArms(p.k.Body); len(body) < len(p.k.Body) {
		common = usedIn(body)
	}
	for _, b := range builtins {
		if p.used[b.ref] && (common[b.ref] || b.ref != simt.Warp && b.ref != simt.Group) { // the arms have their own
			p.line("const i32 %s = %s;", p.names.Of(b.ref, b.ref.Name), b.value)
		}
	}
	if len(p.k.Shared) > 0 || len(p.k.Bars) > 0 {
		p.line("extern __shared__ __align__(1024) u8 shared_memory[];")
	}
	if len(p.k.Bars) > 0 {
		p.line("const u32 shared_base = shared_address(shared_memory);")
	}
	for _, b := range p.k.Shared {
		p.line("%s *const %s = (%s *)(shared_memory + %d);", typeOf(b.Type), p.ref(b), typeOf(b.Type), b.At)
	}
}

// withoutArms are the statements that all warps run.
func withoutArms(body []simt.Stmt) (out []simt.Stmt) {
	for _, s := range body {
		if _, roles := s.(*simt.Roles); !roles {
			out = append(out, s)
		}
	}
	return out
}

func (p *printer) ref(r ir.Ref) string { return p.names.Of(r, r.RefName()) }

// elementwise is an expression without arithmetic on words that the machine does not have. Most kernels have no words.
func (p *printer) elementwise(e *ir.Expr) *ir.Expr {
	if !p.words {
		return e
	}
	return p.unpack.Rewrite(e)
}

// flat are expressions as they are written: equal parts are one.
func (p *printer) flat(list []*ir.Expr) []*ir.Expr {
	out := make([]*ir.Expr, len(list))
	for i, e := range list {
		out[i] = p.elementwise(e)
	}
	return source.Merged(out)
}

// values writes expressions as they are assigned or passed, after lines for what they share.
func (p *printer) values(list ...*ir.Expr) []string {
	flat := p.flat(list)
	p.exprs.temps = map[*ir.Expr]string{}
	for _, e := range source.Shared(flat...) {
		text := p.exprs.text(e)
		name := p.names.New("t")
		p.line("const %s %s = %s;", typeOf(e.Type), name, text)
		p.exprs.temps[e] = name
	}
	out := make([]string, len(flat))
	for i, e := range flat {
		if e != nil {
			out[i] = p.exprs.subscript(e)
		}
	}
	return out
}
