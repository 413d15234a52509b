package passes

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// depths says in how many loops values change.
type depths struct {
	regs  map[*simt.Reg]int
	lets  map[*simt.Reg]*ir.Expr
	known map[*ir.Expr]int
}

// assignedAnywhere is the depth of variables, whose values change from statement to statement.
const assignedAnywhere = 1 << 20

func depthsOf(body []simt.Stmt) depths {
	d := depths{map[*simt.Reg]int{}, map[*simt.Reg]*ir.Expr{}, map[*ir.Expr]int{}}
	d.collect(body, 0)
	return d
}

func (d depths) collect(body []simt.Stmt, depth int) {
	for _, s := range body {
		inner := depth
		switch s := s.(type) {
		case *simt.Let:
			if s.Reg.Mutable || s.Reg.Len > 0 || s.Value == nil {
				d.regs[s.Reg] = assignedAnywhere
			} else {
				d.lets[s.Reg] = s.Value
			}
		case *simt.For:
			inner++
			d.regs[s.Var] = inner
		case *simt.While:
			inner++
		}
		for _, b := range simt.Blocks(s) {
			d.collect(b, inner)
		}
	}
}

// of is the depth of the innermost loop in which a value changes; 0 is that of values that stay.
func (d depths) of(e *ir.Expr) int {
	if len(e.Args) == 0 {
		if r, ok := e.Ref.(*simt.Reg); ok {
			return d.reg(r)
		}
		return 0
	}
	if n, ok := d.known[e]; ok {
		return n
	}
	n := 0
	if r, ok := e.Ref.(*simt.Reg); ok {
		n = d.reg(r)
	}
	for _, a := range e.Args {
		n = max(n, d.of(a))
	}
	d.known[e] = n
	return n
}

func (d depths) reg(r *simt.Reg) int {
	if n, ok := d.regs[r]; ok {
		return n
	}
	n := assignedAnywhere
	if e := d.lets[r]; e != nil {
		d.regs[r] = assignedAnywhere // of what depends on itself nothing is known
		n = d.of(e)
	}
	d.regs[r] = n
	return n
}
