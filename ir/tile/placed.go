package tile

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// Where tiles are: layouts of registers and swizzles of shared memory.

// layouts lists the layouts of the values of a body, each once, in order of appearance.
func layouts(body []Stmt) (out []*ir.Layout) {
	seen := map[*ir.Layout]bool{}
	add := func(v *Value) {
		if v.Layout != nil && !seen[v.Layout] {
			seen[v.Layout] = true
			out = append(out, v.Layout)
		}
	}
	var walk func([]Stmt)
	walk = func(list []Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *Loop:
				for _, c := range s.Carry {
					add(c.In)
				}
				walk(s.Body)
			case *If:
				walk(s.Then)
				walk(s.Else)
			}
			for _, v := range Defined(s) {
				add(v)
			}
		}
	}
	walk(body)
	return out
}

// layouts reads the layouts at the head of a kernel.
func (p *parser) layouts() {
	p.forms = map[string]*ir.Layout{}
	for p.Is("layout") && p.PeekAt(1).Kind == syntax.NameTok {
		p.Next()
		t := p.Name("the name of a layout")
		if p.forms[t.Text] != nil {
			p.Fail(t.Pos, "ir", "layout %s is declared twice", t.Text)
		}
		l := p.Layout()
		l.Name = t.Text
		p.forms[t.Text] = l
	}
}

// placed reads where the elements of a value are.
func (p *parser) placed(v *Value) {
	if p.flag("as") {
		t := p.Name("a layout")
		if v.Layout = p.forms[t.Text]; v.Layout == nil {
			p.Fail(t.Pos, "ir", "unknown layout %s", t.Text)
		}
	}
	if p.flag("swizzle") {
		p.Expect("(", "'('")
		v.Swizzle.Bits = p.small()
		p.Expect(",", "','")
		v.Swizzle.Base = p.small()
		p.Expect(",", "','")
		v.Swizzle.Shift = p.small()
		p.Expect(")", "')'")
	}
}

// placed checks where the elements of a value are.
func (v *verifier) placed(x *Value) {
	if err := x.Swizzle.Validate(); err != nil {
		v.fail("%s: %v", x.Name, err)
	}
	if x.Swizzle != (ir.Swizzle{}) && x.Space != Shared {
		v.fail("%s has a swizzle and is not in shared memory", x.Name)
	}
	l := x.Layout
	if l == nil {
		return
	}
	if x.Space != Reg {
		v.fail("%s has a layout and is not in registers", x.Name)
	}
	if err := l.Validate(); err != nil {
		v.fail("the layout of %s: %v", x.Name, err)
	}
	if !syntax.IsName(l.Name) || v.forms[l.Name] != nil && v.forms[l.Name] != l {
		v.fail("the name %q of a layout is taken, or none", l.Name)
	}
	v.forms[l.Name] = l
	v.covers(x, l)
}

// covers demands that a layout has every element of a value, once or replicated.
func (v *verifier) covers(x *Value, l *ir.Layout) {
	same := slices.EqualFunc(l.Axes, x.Axes, func(name string, a *ir.Axis) bool { return name == a.Name })
	if !same {
		v.fail("%s has axes [%s], its layout %v", x.Name, names(x.Axes), l.Axes)
	}
	for i, n := range l.Extents() {
		if !x.Axes[i].Extent.IsInt(int64(n)) {
			v.fail("the layout of %s has %d elements along %s", x.Name, n, x.Axes[i].Name)
		}
	}
	if !l.Onto() || !l.OneToOne() {
		v.fail("the layout of %s does not have every element once", x.Name)
	}
	if slices.ContainsFunc(l.Bits[ir.GroupBits:], func(bits []ir.LayoutBit) bool { return len(bits) > 0 }) {
		v.fail("the layout of %s has bits that are of no register, lane or warp", x.Name)
	}
	for _, place := range l.Bits {
		if slices.ContainsFunc(place, func(b ir.LayoutBit) bool { return b.Free == '~' }) {
			v.fail("the layout of %s has bits that are pending", x.Name)
		}
	}
	if v.threads > 0 && l.Threads() != v.threads {
		v.fail("the layout of %s is over %d threads, the block has %d", x.Name, l.Threads(), v.threads)
	}
}

// async checks a load past the registers.
func (v *verifier) async(s *Load) {
	if s.Async && s.Out.Space != Shared {
		v.fail("%s is loaded past the registers and is not in shared memory", s.Out.Name)
	}
	if s.Async && s.Other != nil && !ir.Equal(s.Other, ir.ZeroOf(s.Out.Type)) {
		v.fail("%s is loaded past the registers: where nothing is read it must be 0", s.Out.Name)
	}
}
