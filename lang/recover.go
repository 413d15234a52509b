package lang

import "github.com/gkc-lang/gkc/ir/syntax"

// nextItem is the first token from i on that begins a declaration, or the end.
func nextItem(p *syntax.Parser, i int) int {
	for ; p.Tokens[i].Kind != syntax.End; i++ {
		if beginsItem(p, i) {
			return i
		}
	}
	return i
}

// beginsItem reports whether a declaration begins at token i. The word const is also a boundary, @const(0).
func beginsItem(p *syntax.Parser, i int) bool {
	if p.Tokens[i].Kind != syntax.Keyword {
		return false
	}
	switch p.Tokens[i].Text {
	case "func", "kernel", "example":
		return true
	case "const":
		return i == 0 || p.Tokens[i-1].Text != "@"
	}
	return false
}

// beginsStatement reports whether token i begins its line as a statement does.
func beginsStatement(p *syntax.Parser, i int) bool {
	return p.Tokens[i].First && definesName(p, i)
}

// definesName reports whether NAME, NAME[…], NAME@boundary or NAME@boundary[…] at token i is followed by =, an update or a
// colon. Updates that the language does not have count too.
func definesName(p *syntax.Parser, i int) bool {
	tokens := p.Tokens
	if tokens[i].Kind != syntax.NameTok {
		return false
	}
	if name := tokens[i].Text; (name == "max" || name == "min") && tokens[i+1].Text == "=" {
		return false // the operator of a statement whose name stands on the line before
	}
	if i > 0 && (tokens[i-1].Text == ":" || tokens[i-1].Text == "@") {
		return false // a dtype or a boundary
	}
	i++
	if tokens[i].Text == "@" && tokens[i+1].Kind != syntax.End {
		i = behindBrackets(p, i+2, "(")
	}
	i = behindBrackets(p, i, "[")
	switch tokens[i].Text {
	case "=", "+=", ":":
		return true
	case "max", "min", "-", "*", "/", "%":
		return tokens[i+1].Text == "="
	}
	return false
}

// behindBrackets is the token behind the brackets that open at i, or i if none do.
func behindBrackets(p *syntax.Parser, i int, opening string) int {
	if p.Tokens[i].Text == opening {
		if end := p.Match(i); end >= 0 {
			return end + 1
		}
	}
	return i
}

// next is where the next statement is looked for behind the one that begins at start: at a separator, at a line that begins
// like a statement, at return, or at the end of the body. What stands in brackets is passed over.
func (r *reader) next(start, end int) int {
	p := r.p
	for i := start + 1; i < end; i++ {
		t := &p.Tokens[i]
		if t.Text == ";" || t.Text == "return" || beginsStatement(p, i) {
			return i
		}
		if m := p.Match(i); m > i && m < end {
			i = m
		}
	}
	return end
}

// nextInList is where the parameter that begins at start ends. What stands in brackets is passed over.
func (r *reader) nextInList(start int) int {
	p := r.p
	for i := start; i < r.end; i++ {
		switch p.Tokens[i].Text {
		case ",", ")", "->", "{":
			return i
		case "where":
			if i > start {
				return i
			}
		}
		if m := p.Match(i); m > i && m < r.end {
			i = m
		}
	}
	return r.end
}

// find is the first token of this text in the declaration from the cursor on, or its end. What stands in brackets is
// passed over.
func (r *reader) find(text string) int {
	p := r.p
	for i := p.At; i < r.end; i++ {
		if p.Tokens[i].Text == text {
			return i
		}
		if m := p.Match(i); m > i && m < r.end {
			i = m
		}
	}
	return r.end
}

// bodyEnd is the brace that closes the body whose first token is at the cursor. Where braces inside are unbalanced it is the
// last one of the declaration, or the declaration's end if there is none.
func (r *reader) bodyEnd() int {
	p := r.p
	if m := p.Match(p.At - 1); m >= 0 && m < r.end {
		return m
	}
	for i := r.end - 1; i >= p.At; i-- {
		if p.Tokens[i].Text == "}" {
			return i
		}
	}
	return r.end
}
