package simt

import (
	"strconv"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// Text of layouts: [reg n1 m8 | lane n2 = ~ m1+n4 | warp m16]. Each bit says which axes it moves by how much.

var placeNames = [...]string{ir.RegBits: "reg", ir.LaneBits: "lane", ir.WarpBits: "warp", ir.GroupBits: "group", ir.CtaBits: "cta", ir.GridBits: "grid"}

func layoutText(l *ir.Layout) string {
	var parts []string
	for place, bits := range l.Bits {
		if len(bits) == 0 {
			continue
		}
		part := placeNames[place]
		for _, b := range bits {
			part += " " + bitText(l, b)
		}
		parts = append(parts, part)
	}
	return strings.Join(l.Axes, " ") + " [" + strings.Join(parts, " | ") + "]"
}

func bitText(l *ir.Layout, b ir.LayoutBit) string {
	if b.Free != 0 {
		return string(b.Free)
	}
	var terms []string
	for axis, n := range b.To {
		if n != 0 {
			terms = append(terms, l.Axes[axis]+strconv.FormatUint(uint64(n), 10))
		}
	}
	return strings.Join(terms, "+")
}

// layouts lists the layouts of the registers of a body, each once, in order of appearance.
func layouts(body []Stmt) []*ir.Layout {
	var out []*ir.Layout
	seen := map[*ir.Layout]bool{}
	Walk(body, func(s Stmt) {
		if l, ok := s.(*Let); ok && l.Reg.Layout != nil && !seen[l.Reg.Layout] {
			seen[l.Reg.Layout] = true
			out = append(out, l.Reg.Layout)
		}
	})
	return out
}

// validLayout says what is wrong with a layout; empty: nothing.
func validLayout(l *ir.Layout) string {
	if !syntax.IsName(l.Name) {
		return "a layout's name is no name"
	}
	for _, a := range l.Axes {
		if !syntax.IsName(a) || strings.ContainsAny(a[len(a)-1:], "0123456789") {
			return "an axis of a layout must not end in a digit"
		}
	}
	for _, bits := range l.Bits {
		for _, b := range bits {
			moves := false
			for _, n := range b.To {
				moves = moves || n != 0
			}
			switch {
			case b.Free != 0 && b.Free != '=' && b.Free != '~':
				return "a bit that moves nothing is held (=) or pending (~)"
			case moves == (b.Free != 0) || len(b.To) != len(l.Axes) && b.Free == 0:
				return "a bit of a layout moves an axis, or is held or pending"
			}
		}
	}
	return ""
}

func (r *reader) layout() *ir.Layout {
	l := &ir.Layout{Name: r.Name("the name of a layout").Text}
	axes := map[string]int{}
	for r.Peek().Kind == syntax.NameTok {
		t := r.Next()
		if _, twice := axes[t.Text]; twice {
			r.Fail(t.Pos, "ir", "axis %s twice", t.Text)
		}
		axes[t.Text] = len(l.Axes)
		l.Axes = append(l.Axes, t.Text)
	}
	r.Expect("[", "'['")
	for !r.Is("]") {
		r.place(l, axes)
		if !r.Accept("|") {
			break
		}
	}
	r.Expect("]", "']'")
	return l
}

func (r *reader) place(l *ir.Layout, axes map[string]int) {
	t := r.Name("a place: reg lane warp group cta grid")
	place := 0
	for place < len(placeNames) && placeNames[place] != t.Text {
		place++
	}
	if place == len(placeNames) {
		r.Fail(t.Pos, "ir", "unknown place %s: reg lane warp group cta grid", t.Text)
	}
	for !r.Is("|") && !r.Is("]") && r.Peek().Kind != syntax.End {
		l.Bits[place] = append(l.Bits[place], r.layoutBit(len(l.Axes), axes))
		if len(l.Bits[place]) > 32 {
			r.Fail(t.Pos, "limit", "more than 32 bits")
		}
	}
}

func (r *reader) layoutBit(n int, axes map[string]int) ir.LayoutBit {
	b := ir.LayoutBit{To: make([]uint32, n)}
	if r.Is("=") || r.Is("~") {
		b.Free = r.Next().Text[0]
		return b
	}
	for {
		t := r.Name("an axis with a number, = or ~")
		axis := strings.TrimRight(t.Text, "0123456789")
		k, known := axes[axis]
		step, err := strconv.ParseUint(t.Text[len(axis):], 10, 32)
		if !known || err != nil || step == 0 || b.To[k] != 0 {
			r.Fail(t.Pos, "ir", "%s is no axis of the layout with a number", t.Text)
		}
		b.To[k] = uint32(step)
		if !r.Accept("+") {
			return b
		}
	}
}
