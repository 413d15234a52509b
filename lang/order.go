package lang

import (
	"slices"
	"strings"

	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// tarjan is what the search for rings of statements knows about one.
type tarjan struct {
	number, low int
	open        bool
}

// statements checks all statements, each behind those whose names it uses. Statements that use each other are looked at together.
func (k *kernel) statements() {
	byName := map[string]*stmt{}
	for _, s := range k.stmts {
		if sym := k.names[s.ast.Text]; sym != nil && sym.tensor == s.v { // else uses are those of the parameter
			byName[s.ast.Text] = s
		}
	}
	for _, s := range k.stmts {
		k.collectUses(s, byName)
	}
	search := rings{found: func(ring []*stmt) { k.ring(ring) }}
	for _, s := range k.stmts {
		if s.order.number == 0 {
			search.visit(s)
		}
	}
}

// collectUses notes the statements that s depends on. Nothing may hide a tensor's name, so the text says enough.
func (k *kernel) collectUses(s *stmt, byName map[string]*stmt) {
	var visit func(n *syntax.Node)
	visit = func(n *syntax.Node) {
		if n.Kind == syntax.Name || n.Kind == syntax.Index {
			if t := byName[n.Name]; t != nil && !slices.Contains(s.uses, t) {
				s.uses = append(s.uses, t)
			}
		}
		children(n, visit)
	}
	visit(s.ast.Expr)
	if s.scatters() {
		for _, n := range s.ast.Indices {
			visit(n)
		}
	}
	if s.ast.From != nil {
		visit(s.ast.From)
	}
	for i := range s.ast.Ranges {
		visit(s.ast.Ranges[i].Lo)
		visit(s.ast.Ranges[i].Hi)
	}
}

// rings finds the statements that use each other (Tarjan's strongly connected components), used ones first.
type rings struct {
	found func([]*stmt)
	count int
	stack []*stmt
}

func (r *rings) visit(s *stmt) {
	r.count++
	s.order = tarjan{r.count, r.count, true}
	r.stack = append(r.stack, s)
	for _, t := range s.uses {
		switch {
		case t.order.number == 0:
			r.visit(t)
			s.order.low = min(s.order.low, t.order.low)
		case t.order.open:
			s.order.low = min(s.order.low, t.order.number)
		}
	}
	if s.order.low != s.order.number {
		return
	}
	i := slices.Index(r.stack, s)
	ring := slices.Clone(r.stack[i:])
	r.stack = r.stack[:i]
	for _, t := range ring {
		t.order.open = false
	}
	slices.SortFunc(ring, func(a, b *stmt) int { return int(a.ast.Pos.Offset - b.ast.Pos.Offset) })
	r.found(ring)
}

// ring checks one statement, or some that use each other.
func (k *kernel) ring(ring []*stmt) {
	s := ring[0]
	alone := len(ring) == 1 && !slices.Contains(s.uses, s)
	ok := false
	switch {
	case alone && s.ast.From == nil:
		ok = k.single(s)
	case alone && s.scatters():
		ok = k.expand(s, false)
	case alone:
		if k.expand(s, false) {
			k.fail(s.ast.From.Pos, "recurrence", "from gives the value before the first step, but %s does not use itself at the step before", s.ast.Text)
		}
	case !slices.ContainsFunc(ring, func(s *stmt) bool { return s.ast.From != nil }):
		k.cycle(ring)
	default:
		ok = k.recurrence(ring)
	}
	for _, s := range ring {
		s.v.recurs, s.v.axes = false, nil
		if !ok {
			k.broken = true
		}
	}
}

// cycle reports statements that are defined in terms of themselves; what else is wrong in them is reported, too.
func (k *kernel) cycle(ring []*stmt) {
	for _, s := range ring {
		k.expand(s, false)
	}
	s := ring[0]
	if len(ring) == 1 {
		d := k.fail(usePos(s.ast.Expr, s), "cycle", "%s is defined in terms of itself", s.ast.Text)
		if !s.scatters() {
			d.Message += "; a recurrence needs from, the value before its first step"
		}
		return
	}
	k.fail(s.ast.Pos, "cycle", "%s is defined in terms of itself: %s", s.ast.Text, pathBack(ring))
}

// usePos is where s uses its own name.
func usePos(n *syntax.Node, s *stmt) (pos diag.Pos) {
	if (n.Kind == syntax.Name || n.Kind == syntax.Index) && n.Name == s.ast.Text {
		return n.Pos
	}
	children(n, func(c *syntax.Node) {
		if !pos.IsValid() {
			pos = usePos(c, s)
		}
	})
	if !pos.IsValid() && n == s.ast.Expr {
		return s.ast.Pos
	}
	return pos
}

// pathBack names the shortest way from a statement through its ring to itself.
func pathBack(ring []*stmt) string {
	start := ring[0]
	before, inside := map[*stmt]*stmt{}, map[*stmt]bool{}
	for _, s := range ring {
		inside[s] = true
	}
	queue := []*stmt{start}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, t := range s.uses {
			if t == start {
				path := []string{start.ast.Text}
				for ; s != start; s = before[s] {
					path = append(path, s.ast.Text)
				}
				path = append(path, start.ast.Text)
				slices.Reverse(path)
				return clipPath(path)
			}
			if before[t] == nil && inside[t] {
				before[t] = s
				queue = append(queue, t)
			}
		}
	}
	return start.ast.Text
}

func clipPath(path []string) string {
	if len(path) > 10 {
		path = append(append(slices.Clone(path[:8]), "…"), path[len(path)-1])
	}
	return strings.Join(path, " -> ")
}
