package lang

import (
	"sort"

	"github.com/gkc-lang/gkc/ir/diag"
)

// formatWidth is the length of a line up to which heads and short bodies stay on it.
const formatWidth = 120

// Format lays a program out in the canonical way. It moves words, adds and drops commas and semicolons that mean nothing, and
// keeps everything else: comments, single blank lines, and the line breaks inside statements. A program with syntax errors is
// left alone.
func Format(src string) (string, diag.List) {
	file, p, errs := parse("", src)
	if errs.HasErrors() {
		return "", errs
	}
	f := &formatter{printer: newPrinter(p, file)}
	for k, item := range file.Items {
		end := len(p.Tokens) - 1
		if k+1 < len(file.Items) {
			end = f.index(file.Items[k+1].Place()) - 1
		}
		f.item(item, f.index(item.Place())-1, f.trim(end))
	}
	f.finish()
	return f.out.String(), nil
}

type formatter struct {
	*printer
	long bool // the declaration printed last takes several lines
}

// index is the token at a position.
func (f *formatter) index(pos diag.Pos) int {
	return sort.Search(len(f.p.Tokens), func(i int) bool { return f.p.Tokens[i].Pos.Offset >= pos.Offset })
}

// trim moves end in front of the separators before it.
func (f *formatter) trim(end int) int {
	for end > 0 && f.p.Tokens[end-1].Text == ";" {
		end--
	}
	return end
}

// find is the first of the tokens from start up to end with this text, or end. What stands in brackets is passed over.
func (f *formatter) find(text string, start, end int) int {
	for i := start; i < end; i++ {
		if f.p.Tokens[i].Text == text {
			return i
		}
		if m := f.p.Match(i); m > i {
			i = m
		}
	}
	return end
}

// starts are the tokens at the positions of n parts.
func (f *formatter) starts(n int, pos func(int) diag.Pos) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = f.index(pos(i))
	}
	return out
}

// short reports whether tokens fit on a line, without a comment between them.
func (f *formatter) short(start, end int) bool {
	return !f.commented(start+1, end) && f.width(start, end) <= formatWidth
}

// oneLine reports whether tokens stand on one line and may stay there with the semicolons that the parts, which begin at starts,
// have between them when it is printed.
func (f *formatter) oneLine(start, end int, starts []int) bool {
	t := f.p.Tokens
	added := 0
	for i, s := range starts {
		if i > 0 && t[s-1].Text != ";" {
			added++
		}
	}
	return t[start].Pos.Line == t[end-1].Pos.Line && f.short(start, end) && f.width(start, end)+added <= formatWidth
}

// item prints the declaration of the tokens from start up to end.
func (f *formatter) item(item Item, start, end int) {
	long := false
	switch item := item.(type) {
	case *Kernel:
		long = len(item.Where) > 0 || !f.oneLine(start, end, f.starts(len(item.Body), func(i int) diag.Pos { return item.Body[i].Pos }))
		f.newline(0, f.apart(long))
		f.kernel(item, start, end, !long)
	case *Func:
		long = !f.oneLine(start, end, f.steps(item, start, end))
		f.newline(0, f.apart(long))
		f.function(item, start, end, !long)
	default:
		f.newline(0, f.apart(false))
		f.emitAll(start, end)
	}
	f.long = long
}

// apart is the gap between two declarations: a blank line where one of them takes several lines.
func (f *formatter) apart(long bool) gap {
	if long || f.long {
		return blank
	}
	return keep
}

func (f *formatter) function(item *Func, start, end int, oneLine bool) {
	params := f.find("(", start, end)
	open := f.p.Match(params) + 1
	if f.p.Tokens[open].Text != "{" {
		f.emitAll(start, end)
		return
	}
	f.emitFlat(start, open+1)
	f.body(f.steps(item, start, end), end-1, oneLine)
}

// steps are where the local names and the return of a function begin; none where its body is one expression.
func (f *formatter) steps(item *Func, start, end int) []int {
	open := f.p.Match(f.find("(", start, end)) + 1
	if f.p.Tokens[open].Text != "{" {
		return nil
	}
	lets := f.starts(len(item.Lets), func(i int) diag.Pos { return item.Lets[i].Pos })
	from := open + 1
	if len(lets) > 0 {
		from = lets[len(lets)-1]
	}
	return append(lets, f.find("return", from, end))
}

func (f *formatter) kernel(k *Kernel, start, end int, oneLine bool) {
	open := f.p.Match(end - 1)
	params := f.find("(", start, open)
	arrow := f.p.Match(params) + 1
	where := f.find("where", arrow, open)
	head := where // where the first line would end
	if where == open {
		head++
	}
	if !f.p.Tokens[params+1].First && f.short(start, head) {
		f.emitFlat(start, where)
	} else {
		f.emitFlat(start, params+1)
		f.oneEach(k.Params, arrow-1)
		if results := arrow + 1; f.p.Tokens[results].Text == "(" && (f.p.Tokens[results+1].First || !f.short(arrow-1, head)) {
			f.emitFlat(arrow-1, results+1)
			f.oneEach(k.Results, where-1)
			f.emit(where - 1)
		} else {
			f.emitFlat(arrow-1, where)
		}
	}
	if where < open {
		f.newline(0, line)
		f.emitAll(where, f.trimComma(open))
		f.newline(0, line)
	}
	if f.flush(open); f.gap != join {
		f.newline(0, line)
	}
	f.emit(open)
	f.body(f.starts(len(k.Body), func(i int) diag.Pos { return k.Body[i].Pos }), end-1, oneLine)
}

func (f *formatter) trimComma(end int) int {
	if f.p.Tokens[end-1].Text == "," {
		end--
	}
	return end
}

// oneEach prints parameters up to the closing token, one a line.
func (f *formatter) oneEach(params []*Param, closing int) {
	starts := f.starts(len(params), func(i int) diag.Pos { return params[i].Pos })
	for i, start := range starts {
		end := closing
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		f.newline(1, line)
		f.emitFlat(start, f.trimComma(end))
		f.literal(",")
	}
	f.newline(1, line)
	f.flush(closing)
	f.newline(0, line)
}

// body prints the statements that begin at starts, and the closing brace.
func (f *formatter) body(starts []int, closing int, oneLine bool) {
	for i, start := range starts {
		end := closing
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		switch {
		case !oneLine && i == 0:
			f.newline(1, line)
		case !oneLine:
			f.newline(1, keep)
		case i > 0:
			f.literal(";")
		}
		f.emitAll(start, f.trimComma(f.trim(end)))
	}
	if !oneLine {
		f.newline(1, keep)
		f.flush(closing)
		f.newline(0, line)
	}
	f.emit(closing)
}
