package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// dropDead drops registers that nothing reads, with what is computed for them alone.
//
//	let rest: i64 = point / N
//	let row: i64 = rest + 1
//	store Y[point] <- 0.0
//
// becomes
//
//	store Y[point] <- 0.0
func dropDead(u *Unit) error {
	eachKernel(u, func(k *simt.Kernel) []simt.Stmt {
		d := &dead{used: map[*simt.Reg]bool{}, seen: map[*ir.Expr]bool{}, kept: map[*simt.Reg]bool{}, walked: map[*ir.Expr]bool{}}
		simt.Walk(k.Body, d.keep)
		return d.list(k.Body)
	})
	return nil
}

// dead walks backwards, so that the uses of a register that is assigned once are known when its declaration comes.
type dead struct {
	used   map[*simt.Reg]bool // by what follows
	seen   map[*ir.Expr]bool
	kept   map[*simt.Reg]bool // variables: what a later turn of a loop reads stands above it
	walked map[*ir.Expr]bool
}

// keep finds the variables that something reads, or that something else than an assignment writes.
func (d *dead) keep(s simt.Stmt) {
	for _, e := range simt.Exprs(s) {
		mark(e, d.walked, d.kept)
	}
	if _, ok := s.(*simt.Set); ok {
		return
	}
	for _, r := range append(written(s), readWhole(s)...) {
		d.kept[r] = true
	}
}

func (d *dead) list(body []simt.Stmt) []simt.Stmt {
	var out []simt.Stmt
	for _, s := range slices.Backward(body) {
		if d.drops(s) {
			continue
		}
		if s = d.inside(s); s != nil {
			d.uses(s)
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}

// inside treats the lists in a statement; nil where nothing is left in them that does something. The body of a while loop and its
// condition read what the part before them declares.
func (d *dead) inside(s simt.Stmt) simt.Stmt {
	w, ok := s.(*simt.While)
	if !ok {
		s = withBlocks(s, d.list)
		if empty(s) {
			return nil
		}
		return s
	}
	c := *w
	c.Body = d.list(w.Body)
	d.uses(w)
	c.Pre = d.list(w.Pre)
	return &c
}

// empty reports whether a statement only chooses between, or counts, what is no longer there.
func empty(s simt.Stmt) bool {
	switch s := s.(type) {
	case *simt.For:
		return len(s.Body) == 0
	case *simt.If:
		return len(s.Then) == 0 && len(s.Else) == 0
	}
	return false
}

func (d *dead) drops(s simt.Stmt) bool {
	switch s := s.(type) {
	case *simt.Let:
		if s.Reg.Mutable || s.Reg.Len > 0 {
			return !d.kept[s.Reg] && onlyValue(s.Value)
		}
		return !d.used[s.Reg] && onlyValue(s.Value)
	case *simt.Set:
		return !d.kept[s.Reg] && onlyValue(s.Value)
	}
	return false
}

func (d *dead) uses(s simt.Stmt) {
	for _, e := range simt.Exprs(s) {
		mark(e, d.seen, d.used)
	}
	for _, r := range readWhole(s) {
		d.used[r] = true
	}
}

// mark notes the registers that an expression reads, but for parts that were seen before.
func mark(e *ir.Expr, seen map[*ir.Expr]bool, regs map[*simt.Reg]bool) {
	if r, ok := e.Ref.(*simt.Reg); ok {
		regs[r] = true
	}
	if len(e.Args) == 0 || seen[e] {
		return
	}
	seen[e] = true
	for _, a := range e.Args {
		mark(a, seen, regs)
	}
}

// onlyValue reports whether computing a value does nothing else: operations that do more are the root of one.
func onlyValue(e *ir.Expr) bool { return e == nil || pure(e.Op) }
