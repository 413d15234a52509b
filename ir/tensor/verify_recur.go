package tensor

import "github.com/gkc-lang/gkc/ir"

// recurScope is the equation of a recurrence that is being verified.
type recurScope struct {
	of   *Recur
	k    int
	step ir.Span
}

func (v *verifier) recurrence(r *Recur) {
	n := len(r.Tensors)
	v.need(n > 0 && len(r.Free) == n && len(r.Step) == n && len(r.Bodies) == n && len(r.From) == n, "a recurrence whose lists differ in length")
	for k, out := range r.Tensors {
		v.begin(out)
		v.need(r.Step[k] >= 0 && r.Step[k] < len(r.Free[k]), "no stepping axis")
		v.known[out] = stepping
		if k > 0 {
			a, b := r.Free[0][r.Step[0]], r.Free[k][r.Step[k]]
			v.need(ir.Equal(a.Lo, b.Lo) && ir.Equal(a.Hi, b.Hi), "its steps are not those of %s", r.Tensors[0].Name)
		}
		if from := r.From[k]; from != nil {
			v.need(v.known[from] == ready, "the values before the first step, %s, are not defined before", from.Name)
			v.need(from.Type == out.Type && len(from.Extents) == len(out.Extents)-1, "the values before the first step, %s, have another type or rank", from.Name)
		}
	}
	for k, out := range r.Tensors {
		v.where = out.Name
		v.done = newChecked(nil)
		v.recur = &recurScope{r, k, r.Free[k][r.Step[k]]}
		v.free(r.Free[k], out)
		v.typed(r.Bodies[k], out.Type)
		v.close(r.Free[k])
	}
	v.recur = nil
	for _, out := range r.Tensors {
		v.known[out] = ready
	}
}

// stepRead: a read of a name of the recurrence is one at the current step of a name earlier in the list, or one at the step
// before of a name that has values before the first step.
func (v *verifier) stepRead(t *Tensor, e *ir.Expr) {
	s := v.recur
	j := 0
	for s.of.Tensors[j] != t {
		j++
	}
	before := int64(-1)
	if s.of.Back {
		before = 1
	}
	off, ok := s.offset(e.Args[s.of.Step[j]])
	switch {
	case ok && off == before:
		v.need(s.of.From[j] != nil, "%s at the step before, but it has no values before the first step", ExprText(e))
	case ok && off == 0:
		v.need(j < s.k, "%s at the current step, which is computed later", ExprText(e))
	default:
		v.fail("%s is neither at the current step nor at the one before", ExprText(e))
	}
}

// offset is the constant c of a subscript axis - lo + c, of the stepping axis.
func (s *recurScope) offset(e *ir.Expr) (int64, bool) {
	t := terms{count: map[*ir.Expr]int64{}}
	t.add(e, 1)
	t.add(s.step.Lo, 1)
	t.add(ir.Name(s.step.Axis), -1)
	for _, n := range t.count {
		if n != 0 {
			return 0, false
		}
	}
	return t.constant, t.visited <= maxTerms
}

// maxTerms bounds the sums that are looked into: no subscript of a step is that long.
const maxTerms = 100

// terms is a sum.
type terms struct {
	constant int64
	count    map[*ir.Expr]int64
	visited  int
}

func (t *terms) add(e *ir.Expr, sign int64) {
	if t.visited++; t.visited > maxTerms {
		return
	}
	if v, ok := e.IntValue(); ok {
		t.constant += sign * v
		return
	}
	switch e.Op {
	case ir.OpAdd:
		t.add(e.Args[0], sign)
		t.add(e.Args[1], sign)
		return
	case ir.OpSub:
		t.add(e.Args[0], sign)
		t.add(e.Args[1], -sign)
		return
	}
	for x := range t.count {
		if ir.Equal(x, e) {
			t.count[x] += sign
			return
		}
	}
	t.count[e] = sign
}
