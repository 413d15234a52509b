package ir

// Unifier is a rewriter that makes equal expressions one, in all that it rewrites: the first that it met.
func Unifier() *Rewriter {
	u := &unifier{}
	return &Rewriter{Post: u.one}
}

// unifier holds expressions by their hashes.
type unifier struct {
	slots []*Expr // a power of two; half are free at least
	used  int
}

// one is the expression that stands for all that equal e, whose operands are unified already.
func (u *unifier) one(e *Expr) *Expr {
	if 2*u.used >= len(u.slots) {
		u.grow()
	}
	s := u.find(e)
	if *s == nil {
		*s = e
		u.used++
	}
	return *s
}

// find is the slot of what equals e, or the free one where it belongs.
func (u *unifier) find(e *Expr) **Expr {
	mask := len(u.slots) - 1
	for i := int(e.hash); ; i++ {
		if s := &u.slots[i&mask]; *s == nil || Equal(*s, e) {
			return s
		}
	}
}

func (u *unifier) grow() {
	old := u.slots
	u.slots = make([]*Expr, max(16, 4*len(old)))
	for _, e := range old {
		if e != nil {
			*u.find(e) = e
		}
	}
}
