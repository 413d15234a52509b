package passes

import "github.com/gkc-lang/gkc/ir"

// mergeEqual makes equal expressions of a definition one, so that what they read is read once.
//
//	def y[i in 0..N] = if k[i] == 0 { 1 } else { k[i] }
//
// becomes
//
//	let e.1: i32 = k[i]
//	def y[i in 0..N] = if e.1 == 0 { 1 } else { e.1 }
func mergeEqual(u *Unit) error {
	p := copyProgram(u.Tensor)
	for i, d := range p.Defs {
		p.Defs[i] = rewriteDef(d, ir.Unifier().Rewrite)
	}
	u.Tensor = p
	return nil
}
