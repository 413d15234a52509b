package simt

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/text"
)

// declarations reads what stands before the statements of a kernel.
func (r *reader) declarations() {
	var grid *syntax.Node
	for !r.setAhead() {
		t := r.Peek()
		switch {
		case r.Accept("launch"):
			grid = r.launch()
		case r.Accept("host"):
			r.hostValue()
		case r.Accept("global"):
			r.globalBuffer()
		case r.Accept("map"):
			r.tensorMap()
		case r.Accept("shared"):
			r.sharedBuffer()
		case r.Accept("mbar"):
			r.bars(false)
		case r.Accept("named"):
			r.bars(true)
		case r.Accept("layout"):
			name := r.Name("the name of a layout").Text
			l := r.Layout()
			l.Name = name
			if r.layouts[l.Name] != nil {
				r.Fail(t.Pos, "name", "layout %s is declared twice", l.Name)
			}
			r.layouts[l.Name] = l
		default:
			r.grid(grid)
			return
		}
	}
	r.grid(grid)
}

func (r *reader) grid(n *syntax.Node) {
	if n == nil {
		r.Fail(r.Peek().Pos, "syntax", "kernel %s has no launch line", r.k.Name)
	}
	r.k.Launch.Grid = r.Exprs.Expr(n, ir.I64)
}

// setAhead reports whether a register is assigned here, whatever it is called: NAME = or NAME[.
func (r *reader) setAhead() bool {
	next := r.PeekAt(1)
	return r.Peek().Kind == syntax.NameTok && next.Kind == syntax.Symbol && (next.Text == "=" || next.Text == "[")
}

// launch reads the launch line. The grid may use host values that follow.
func (r *reader) launch() *syntax.Node {
	l := &r.k.Launch
	r.Expect("grid", "'grid'")
	grid := r.Expr()
	for {
		switch {
		case r.Is("threads"):
			l.Threads = r.count("threads")
		case r.Is("cluster"):
			l.Cluster = r.count("cluster")
		case r.Is("per_sm"):
			l.PerSM = r.count("per_sm")
		case r.Is("shared") && !r.Peek().First:
			l.SharedBytes = r.count("shared")
		case r.Accept("tail"):
			l.Tail = true
		default:
			return grid
		}
	}
}

func (r *reader) hostValue() {
	t, typ := r.Typed("a name")
	r.Expect("=", "'='")
	v := &Value{Name: t.Text, Type: typ, Expr: r.Value(typ)}
	r.declare(t, v)
	r.k.Params = append(r.k.Params, v)
}

func (r *reader) globalBuffer() {
	t, typ := r.Typed("a name")
	r.Expect("=", "'=' and an array")
	b := &Buffer{Name: t.Text, Type: typ, Space: Global, Array: r.ArrayUse()}
	b.ReadOnly = r.Accept("readonly")
	r.declare(t, b)
	r.k.Global = append(r.k.Global, b)
}

func (r *reader) tensorMap() {
	t := r.Name("a name")
	r.Expect("=", "'=' and an array")
	m := &TensorMap{Name: t.Text, Of: r.ArrayUse()}
	m.Dims = r.Values(ir.I64)
	r.Expect("strides", "'strides'")
	m.Strides = r.Values(ir.I64)
	r.Expect("box", "'box'")
	r.Expect("[", "'['")
	r.List("]", func() { m.Box = append(m.Box, r.number("box", 1, 256)) })
	r.Expect("]", "',' or ']'")
	m.Swizzle = r.count("swizzle")
	m.Promote = r.count("l2")
	if r.Accept("fill") {
		r.Expect("nan", "'nan'")
		m.FillNaN = true
	}
	r.declare(t, m)
	r.k.Maps = append(r.k.Maps, m)
}

func (r *reader) sharedBuffer() {
	for {
		t, typ := r.Typed("a name")
		b := &Buffer{Name: t.Text, Type: typ, Space: Shared}
		r.Expect("[", "'[' and the number of elements")
		b.Len = r.number("length", 1, maxInt)
		r.Expect("]", "']'")
		r.Expect("at", "'at' and the byte offset")
		b.At = r.number("offset", 0, maxInt)
		b.Align = r.count("align")
		if r.Accept("over") {
			o := r.Name("a shared buffer")
			over, ok := r.locals[o.Text].(*Buffer)
			if !ok || over.Space != Shared {
				r.Fail(o.Pos, "name", "unknown shared buffer %s", o.Text)
			}
			b.Over = over
		}
		b.ReadOnly = r.Accept("readonly")
		r.declare(t, b)
		r.k.Shared = append(r.k.Shared, b)
		if !r.Accept(",") {
			return
		}
	}
}

// bars reads barriers, several of them separated by commas. Where mbarriers go on without an offset, they follow each other.
func (r *reader) bars(named bool) {
	next := -1
	for {
		t := r.Name("a name")
		b := &Bar{Name: t.Text, Named: named, N: 1, First: next}
		if r.Accept("[") {
			b.N = r.number("barriers", 1, 65536)
			r.Expect("]", "']'")
		}
		if named && r.Accept("first") || !named && r.Accept("at") {
			b.First = r.number("first", 0, maxInt)
		}
		if b.First < 0 {
			r.Fail(r.Peek().Pos, "syntax", "expected %s", map[bool]string{true: "'first' and a barrier number", false: "'at' and a byte offset"}[named])
		}
		r.Expect("count", "'count' and the arrivals of a phase")
		b.Count = r.number("count", 0, 1<<20)
		r.declare(t, b)
		r.k.Bars = append(r.k.Bars, b)
		if !r.Accept(",") {
			return
		}
		next = b.First + b.N
		if !named {
			next = b.First + 8*b.N
		}
	}
}

// newReg declares a register in the innermost block.
func (r *reader) newReg(t syntax.Token, typ ir.Type) *Reg {
	if r.reg(t.Text) != nil || r.locals[t.Text] != nil {
		r.Fail(t.Pos, "name", "%s is declared twice", t.Text)
	}
	r.checkLocal(t)
	reg := &Reg{Name: t.Text, Type: typ}
	r.regs[len(r.regs)-1][t.Text] = reg
	return reg
}

// let reads the rest of `let x: T = e`, `var x: T`, `var x: T = e` and `var x: T[n] as LAYOUT`.
func (r *reader) let(pos syntax.Token, mutable bool) Stmt {
	t := r.Name("a name")
	r.Expect(":", "':' and a type")
	typ := text.Type(r.Parser)
	size, layout := 0, (*ir.Layout)(nil)
	if mutable && r.Accept("[") {
		size = r.number("length", 1, 1<<16)
		r.Expect("]", "']'")
	}
	if r.Accept("as") {
		l := r.Name("a layout")
		if layout = r.layouts[l.Text]; layout == nil {
			r.Fail(l.Pos, "name", "unknown layout %s", l.Text)
		}
	}
	s := &Let{Head: Head{pos.Pos}}
	if r.Accept("=") {
		s.Value = r.Value(typ)
	}
	s.Reg = r.newReg(t, typ)
	s.Reg.Len, s.Reg.Layout, s.Reg.Mutable = size, layout, mutable
	return s
}
