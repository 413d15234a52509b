package lang

import (
	"github.com/gkc-lang/gkc/ir/syntax"
)

// kernel reads a kernel. The statements of one whose head is broken are read too, for their own mistakes, but it is lost.
func (r *reader) kernel() bool {
	p := r.p
	k := &Kernel{Lost: map[string]bool{}}
	whole := r.attempt(func() { r.head(k) })
	if !whole {
		p.At = r.find("{")
	}
	if p.Is("{") {
		p.Next()
		r.body(k)
	}
	return whole && r.add(k)
}

// head reads everything in front of the body.
func (r *reader) head(k *Kernel) {
	p := r.p
	name := p.Name("a name")
	k.Name, k.Pos = name.Text, name.Pos
	p.Expect("(", "'(' and parameters")
	k.Params = r.params(k)
	p.Expect("->", "'->' and results")
	if pos := p.Peek().Pos; p.Accept("(") {
		if p.Is(")") {
			p.Fail(pos, "syntax", "%s has no results: a kernel computes at least one tensor", k.Name)
		}
		k.Results = r.params(k)
	} else {
		start := p.At
		if !r.attempt(func() { k.Results = []*Param{r.parameter()} }) {
			r.lose(k, start)
			p.At = max(p.At, r.find("{"))
		}
	}
	if p.Accept("where") {
		if p.Is("{") {
			p.Expected("a condition")
		}
		p.List("{", func() { k.Where = append(k.Where, p.Expr()) })
	}
	if !p.Is("{") {
		p.Expected("'{'")
	}
}

// params reads parameters or results up to the closing parenthesis.
func (r *reader) params(k *Kernel) []*Param {
	p := r.p
	var out []*Param
	for !p.Is(")") && !r.atEnd() {
		start := p.At
		if !r.attempt(func() {
			out = append(out, r.parameter())
			if !p.Is(",") && !p.Is(")") {
				p.Expected("',' or ')'")
			}
		}) {
			r.lose(k, start)
		}
		if !p.Accept(",") {
			break
		}
	}
	if r.p.At < r.end {
		p.Expect(")", "',' or ')'")
	}
	return out
}

// lose skips the parameter that begins at start. Its name is lost, and so are the sizes that it may bind.
func (r *reader) lose(k *Kernel, start int) {
	end := r.nextInList(start)
	if end < r.p.At { // a bracket that does not close hid the mistake
		end = r.nextInList(r.p.At)
	}
	r.p.At = end
	for _, t := range r.p.Tokens[start:r.p.At] {
		k.loseName(t)
	}
}

func (k *Kernel) loseName(t syntax.Token) {
	if t.Kind == syntax.NameTok {
		k.Lost[t.Text] = true
	}
}

func (r *reader) parameter() *Param {
	s := read(r.grammar, r.param, "")
	out := s.Param.(*Param)
	if s.Default != nil {
		out.Default = s.Default.(*syntax.Node)
	}
	return out
}

// body reads statements up to the closing brace, each on its own: what cannot be read is skipped.
func (r *reader) body(k *Kernel) {
	p, end := r.p, r.bodyEnd()
	for p.At < end && !r.atEnd() {
		start := p.At
		if p.Accept(";") {
			continue
		}
		if !r.attempt(func() { k.Body = append(k.Body, r.statement()) }) {
			k.loseName(p.Tokens[start])
			p.At = r.next(start, end)
			for i := start + 1; i < p.At; i++ { // statements behind it on its line
				if definesName(p, i) {
					k.loseName(p.Tokens[i])
				}
			}
		}
	}
	if !p.Is("}") {
		if len(r.errs) < syntax.MaxErrors {
			r.attempt(func() { p.Expected("a statement or '}'") })
		}
		for _, p := range k.Results { // which may be defined in what could not be read
			k.Lost[p.Text] = true
		}
		p.At = r.end
		return
	}
	p.Next()
}

func (r *reader) statement() *Stmt {
	p := r.p
	if p.Peek().Kind != syntax.NameTok {
		p.Expected("a statement or '}'")
	}
	s := read(r.grammar, r.stmt, "")
	out := s.Target.(*Stmt)
	switch {
	case out.Declare != nil && (out.Indices != nil || out.Edge != nil):
		p.Fail(out.Type.Pos, "syntax", "%s has both indices and extents", out.Text)
	case out.Declare != nil && s.Op != nil:
		p.Fail(wordOf(s.Op).Pos, "syntax", "a declaration of %s with extents has no value: '=' stands in a statement of its own", out.Text)
	case out.Declare != nil:
		return &Stmt{Word: out.Word, Declare: out.Declare}
	case s.Op == nil:
		p.Expected("'=', '+=', 'max=' or 'min=' after " + out.Text)
	}
	op := wordOf(s.Op)
	out.Op, out.OpPos, out.Expr = op.Text, op.Pos, s.Value.(*syntax.Node)
	if out.Edge != nil && out.Op == "=" {
		p.Fail(out.Edge.Pos, "boundary", "%s@%s: only a scatter takes a boundary on its left-hand side", out.Text, out.Edge.Kind)
	}
	if s.From != nil {
		out.From = s.From.(*syntax.Node)
	}
	if s.Ranges != nil {
		out.Ranges = s.Ranges.([]syntax.Binder)
	}
	if p.Is("from") {
		p.Fail(p.Peek().Pos, "syntax", "%s has one 'from', which stands in front of 'for'", out.Text)
	}
	return out
}
