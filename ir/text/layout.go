package text

import (
	"strconv"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// Text of layouts: [reg n1 m8 | lane n2 = ~ m1+n4 | warp m16 | rep n3]. Each bit says which axes it moves by how much; an axis
// whose name ends in a digit has a colon behind it (j1:8). rep says how often the bits' pattern is repeated along an axis.

var placeNames = [...]string{ir.RegBits: "reg", ir.LaneBits: "lane", ir.WarpBits: "warp", ir.GroupBits: "group", ir.CtaBits: "cta", ir.GridBits: "grid"}

const repeats = "rep"

// Layout is the text of a layout with its axes in front.
func Layout(l *ir.Layout) string {
	return strings.Join(append(l.Axes[:len(l.Axes):len(l.Axes)], LayoutBits(l)), " ")
}

// LayoutBits is the text of a layout without its axes, where these are known.
func LayoutBits(l *ir.Layout) string {
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
	part := repeats
	for axis, n := range l.Rep {
		if n != 1 {
			part += " " + step(l.Axes[axis], uint64(n))
		}
	}
	if part != repeats {
		parts = append(parts, part)
	}
	return "[" + strings.Join(parts, " | ") + "]"
}

func bitText(l *ir.Layout, b ir.LayoutBit) string {
	if b.Free != 0 {
		return string(b.Free)
	}
	var terms []string
	for axis, n := range b.To {
		if n != 0 {
			terms = append(terms, step(l.Axes[axis], uint64(n)))
		}
	}
	return strings.Join(terms, "+")
}

func step(axis string, n uint64) string {
	if endsInDigit(axis) {
		axis += ":"
	}
	return axis + strconv.FormatUint(n, 10)
}

const digits = "0123456789"

func endsInDigit(name string) bool { return strings.ContainsAny(name[len(name)-1:], digits) }

// Layout reads a layout with its axes in front. Only the caller knows its name.
func (l *Lines) Layout() *ir.Layout {
	var axes []string
	seen := map[string]bool{}
	for l.Peek().Kind == syntax.NameTok {
		t := l.Next()
		if seen[t.Text] {
			l.Fail(t.Pos, "ir", "axis %s twice", t.Text)
		}
		seen[t.Text] = true
		axes = append(axes, t.Text)
	}
	return l.LayoutBits(axes)
}

// LayoutBits reads a layout of known axes.
func (l *Lines) LayoutBits(axes []string) *ir.Layout {
	r := layoutReader{l, &ir.Layout{Axes: axes}, map[string]int{}}
	for i, a := range axes {
		r.axes[a] = i
	}
	pos := l.Peek().Pos
	l.Expect("[", "'['")
	for !l.Is("]") {
		r.place()
		if !l.Accept("|") {
			break
		}
	}
	l.Expect("]", "']'")
	if err := r.out.Validate(); err != nil {
		l.Fail(pos, "ir", "%v", err)
	}
	return r.out
}

type layoutReader struct {
	*Lines
	out  *ir.Layout
	axes map[string]int
}

func (r *layoutReader) more() bool { return !r.Is("|") && !r.Is("]") && r.Peek().Kind != syntax.End }

func (r *layoutReader) place() {
	t := r.Name("a place: reg lane warp group cta grid, or rep")
	if t.Text == repeats {
		r.repeats(t)
		return
	}
	place := 0
	for place < len(placeNames) && placeNames[place] != t.Text {
		place++
	}
	if place == len(placeNames) {
		r.Fail(t.Pos, "ir", "unknown place %s: reg lane warp group cta grid", t.Text)
	}
	for r.more() {
		r.out.Bits[place] = append(r.out.Bits[place], r.bit())
		if len(r.out.Bits[place]) > 32 {
			r.Fail(t.Pos, "limit", "more than 32 bits")
		}
	}
}

func (r *layoutReader) repeats(t syntax.Token) {
	if r.out.Rep != nil {
		r.Fail(t.Pos, "ir", "repeats twice")
	}
	r.out.Rep = make([]int, len(r.out.Axes))
	for r.more() {
		pos := r.Peek().Pos
		axis, n := r.step()
		if r.out.Rep[axis] != 0 {
			r.Fail(pos, "ir", "repeats of %s twice", r.out.Axes[axis])
		}
		r.out.Rep[axis] = int(n)
	}
	for axis, n := range r.out.Rep {
		r.out.Rep[axis] = max(n, 1)
	}
}

func (r *layoutReader) bit() ir.LayoutBit {
	b := ir.LayoutBit{To: make([]uint32, len(r.out.Axes))}
	if r.Is("=") || r.Is("~") {
		b.Free = r.Next().Text[0]
		return b
	}
	for {
		pos := r.Peek().Pos
		axis, n := r.step()
		if b.To[axis] != 0 {
			r.Fail(pos, "ir", "axis %s twice in a bit", r.out.Axes[axis])
		}
		b.To[axis] = n
		if !r.Accept("+") {
			return b
		}
	}
}

// step reads an axis with the number by which it is moved.
func (r *layoutReader) step() (axis int, n uint32) {
	t := r.Name("an axis with a number, = or ~")
	name := strings.TrimRight(t.Text, digits)
	number := t.Text[len(name):]
	if r.Accept(":") {
		name, number = t.Text, r.Next().Text
	}
	axis, known := r.axes[name]
	value, err := strconv.ParseUint(number, 10, 32)
	if !known || err != nil || value == 0 {
		r.Fail(t.Pos, "ir", "%s is no axis of the layout with a number", t.Text)
	}
	return axis, uint32(value)
}
