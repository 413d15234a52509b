package cuda

import (
	"fmt"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// pointer is the address of an element of memory.
func (p *printer) pointer(m simt.Mem, at string) string {
	if at == "0" {
		return p.ref(m.Buf)
	}
	return fmt.Sprintf("&%s[%s]", p.ref(m.Buf), at)
}

// apart splits the place of an element in shared memory into one that is computed and the bytes behind it that an instruction adds
// itself, as a template argument; empty: none.
func apart(m simt.Mem) (at *ir.Expr, bytes string) {
	if m.At.Op == ir.OpAdd {
		if n, ok := m.At.Args[1].IntValue(); ok && n > 0 && n < maxImmediate {
			return m.At.Args[0], fmt.Sprintf("<%d>", n*int64(m.Buf.Type.Bytes()))
		}
	}
	return m.At, ""
}

// maxImmediate bounds, in elements, what is left to instructions to add.
const maxImmediate = 1 << 18

// address is the pointer, in the memory of the block of the cluster that is meant.
func (p *printer) address(m simt.Mem, at, rank string) string {
	if m.Rank == nil {
		return p.pointer(m, at)
	}
	return fmt.Sprintf("peer(%s, %s)", p.pointer(m, at), rank)
}

// element is memory as it is read or assigned.
func (p *printer) memory(m simt.Mem, at, rank string) string {
	if m.Rank == nil {
		return fmt.Sprintf("%s[%s]", p.ref(m.Buf), at)
	}
	return "*" + p.address(m, at, rank)
}

// read is an element of memory.
func (p *printer) read(s *simt.Load, at, rank string) string {
	from := p.address(s.From, at, rank)
	switch s.Order {
	case simt.Volatile:
		return fmt.Sprintf("load_volatile(%s)", from)
	case simt.Relaxed:
		return fmt.Sprintf("load_relaxed(%s)", from)
	case simt.Acquire:
		return fmt.Sprintf("load_acquire(%s)", from)
	}
	if s.Keep != simt.KeepDefault && s.From.Buf.Space == simt.Global {
		return fmt.Sprintf("load_%s(%s)", keepName(s.Keep), from)
	}
	return p.memory(s.From, at, rank)
}

func keepName(k simt.Keep) string {
	return map[simt.Keep]string{simt.KeepStream: "stream", simt.KeepFirst: "first", simt.KeepLast: "last"}[k]
}

func (p *printer) load(s *simt.Load) {
	if s.Form == simt.Matrix || s.Form == simt.MatrixTrans {
		p.matrixLoad(s)
		return
	}
	text := p.values(s.From.At, s.To.From, s.From.Rank)
	at, first, rank := text[0], text[1], text[2]
	switch s.Form {
	case simt.One:
		p.line("%s = %s;", p.element(s.To.Reg, first), p.read(s, at, rank))
	case simt.Vec:
		p.vectorLoad(s, p.address(s.From, at, rank), first)
	}
}

// vectorLoad reads registers as one access.
func (p *printer) vectorLoad(s *simt.Load, from, first string) {
	t := fmt.Sprintf("vec<%s, %d>", typeOf(s.To.Reg.Type), s.To.Len)
	v := p.names.New("v")
	from = fmt.Sprintf("(const %s *)(%s)", t, from)
	switch {
	case s.Order == simt.Volatile:
		from = fmt.Sprintf("load_vector_volatile(%s)", from)
	case s.Order != simt.Plain:
		cannot(s.Pos, "a vector load with a memory order")
	case s.Keep != simt.KeepDefault && s.From.Buf.Space == simt.Global:
		from = fmt.Sprintf("load_%s(%s)", keepName(s.Keep), from)
	default:
		from = "*" + from
	}
	p.line("const %s %s = %s;", t, v, from)
	for i := range s.To.Len {
		p.line("%s = %s.at[%d];", p.slot(s.To, first, i), v, i)
	}
}

// slot is register i of a slice that begins at first.
func (p *printer) slot(s simt.Slice, first string, i int) string {
	switch n, constant := s.From.IntValue(); {
	case s.From == nil:
		return p.ref(s.Reg)
	case constant:
		return fmt.Sprintf("%s[%d]", p.ref(s.Reg), n+int64(i))
	case i == 0:
		return fmt.Sprintf("%s[%s]", p.ref(s.Reg), first)
	}
	return fmt.Sprintf("%s[%s + %d]", p.ref(s.Reg), first, i)
}

func (p *printer) store(s *simt.Store) {
	flat := p.flat(append([]*ir.Expr{s.To.At, s.To.Rank}, s.From...))
	text := p.values(flat...)
	at, rank, values := text[0], text[1], text[2:]
	for i, e := range flat[2:] {
		if values[i] = p.exprs.text(e); s.Op != nil || s.Form == simt.Matrix || s.Form == simt.MatrixTrans {
			values[i] = p.exprs.value(e).String // operands of helpers have the type that they say
		}
	}
	switch {
	case s.Op != nil:
		p.combine(s, p.address(s.To, at, rank), values)
	case s.Form == simt.One:
		p.write(s, at, rank, values[0])
	case s.Form == simt.Vec:
		p.vectorStore(s, p.address(s.To, at, rank), values)
	default:
		p.matrixStore(s, at, values)
	}
}

func (p *printer) write(s *simt.Store, at, rank, value string) {
	how := map[simt.Order]string{simt.Volatile: "volatile", simt.Relaxed: "relaxed", simt.Release: "release"}[s.Order]
	if how == "" && s.Keep != simt.KeepDefault && s.To.Buf.Space == simt.Global {
		how = keepName(s.Keep)
	}
	if how == "" {
		p.line("%s = %s;", p.memory(s.To, at, rank), value)
		return
	}
	p.line("store_%s(%s, (%s)(%s));", how, p.address(s.To, at, rank), typeOf(s.To.Buf.Type), value)
}

func (p *printer) vectorStore(s *simt.Store, to string, values []string) {
	if s.Order != simt.Plain {
		cannot(s.Pos, "a vector store with a memory order")
	}
	t := fmt.Sprintf("vec<%s, %d>", typeOf(s.From[0].Type), len(values))
	v := p.names.New("v")
	p.line("%s %s;", t, v)
	for i, x := range values {
		p.line("%s.at[%d] = %s;", v, i, x)
	}
	to = fmt.Sprintf("(%s *)(%s)", t, to)
	if s.Keep != simt.KeepDefault && s.To.Buf.Space == simt.Global {
		p.line("store_%s(%s, %s);", keepName(s.Keep), to, v)
		return
	}
	p.line("*%s = %s;", to, v)
}

// combine prints an atomic update: by the instruction that there is for the operation and the type, or by comparing and swapping.
func (p *printer) combine(s *simt.Store, to string, values []string) {
	if s.Form != simt.One {
		cannot(s.Pos, "an atomic store of a vector")
	}
	t := s.To.Buf.Type
	text := p.atomic(s.Op, t, to, values[0])
	if s.Old != nil && p.used[s.Old] {
		text = fmt.Sprintf("%s = (%s)%s", p.ref(s.Old), typeOf(t), text)
	}
	p.line("%s;", text)
}

func (p *printer) atomic(m *ir.Monoid, t ir.Type, to, value string) string {
	if function := atomicFunction(m, t); function != "" {
		if isSigned(t) && t.Bits() == 64 && m == ir.Sum {
			return fmt.Sprintf("%s((u64 *)(%s), (u64)(%s))", function, to, value)
		}
		return fmt.Sprintf("%s(%s, (%s)(%s))", function, to, typeOf(t), value)
	}
	how := "atomic_wide"
	if t.Bits() < 32 {
		how = "atomic_narrow"
	}
	a, b := &simt.Reg{Name: "a", Type: t}, &simt.Reg{Name: "b", Type: t}
	x := exprs{ref: func(r ir.Ref) string { return r.RefName() }}
	combined := x.text(updated(m, ir.Name(a), ir.Name(b)))
	c := typeOf(t)
	return fmt.Sprintf("%s(%s, (%s)(%s), [](%s a, %s b) -> %s { return %s; })", how, to, c, value, c, c, c, combined)
}

// updated is the element that combines a and b, which are of the buffer's type.
func updated(m *ir.Monoid, a, b *ir.Expr) *ir.Expr {
	t := a.Type
	computed := ir.Type{Elem: t.Elem.Computed(), Pack: 1}
	if t == computed || t.IsBool() {
		return ir.Apply(m.Op, a, b)
	}
	sum := ir.Apply(m.Op, ir.Widen(computed, a), ir.Widen(computed, b))
	return ir.Cast(t, sum)
}

// atomicFunction is CUDA's own function; empty where there is none with the meaning that gk has.
func atomicFunction(m *ir.Monoid, t ir.Type) string {
	wide := t.Bits() >= 32
	switch {
	case m == ir.Sum && wide:
		return "atomicAdd"
	case m == ir.Max_ && wide && t.IsInt():
		return "atomicMax"
	case m == ir.Min_ && wide && t.IsInt():
		return "atomicMin"
	}
	return ""
}
