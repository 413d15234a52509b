package tile

import (
	"fmt"
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/module"
)

// Verify reports the first thing in a module that the level does not allow: a name that is not visible or is taken, a type that
// does not fit, a value whose element would depend on an axis that it does not have, a meeting of points of which some may be
// absent. A module that passes can be evaluated and lowered.
func Verify(m *Module) (err error) {
	defer func() {
		if r := recover(); r != nil {
			d, ok := r.(*diag.Diag)
			if !ok {
				panic(r)
			}
			err = d
		}
	}()
	v := &verifier{module: m, arrays: map[*Array]bool{}, sees: map[ir.Ref]*info{}, names: map[string]bool{}, typed: map[*ir.Expr]bool{}}
	v.header()
	for _, k := range m.Kernels {
		v.kernel(k)
	}
	return nil
}

type verifier struct {
	module  *Module
	arrays  map[*Array]bool
	sees    map[ir.Ref]*info // what expressions may name here
	names   map[string]bool  // names that are taken here
	local   []ir.Ref         // what the scope sees, in order
	typed   map[*ir.Expr]bool
	tiles   []*ir.Axis            // the kernel's axes
	forms   map[string]*ir.Layout // layouts of the kernel
	threads int                   // of its blocks
	mask    []*ir.Axis            // axes on which it depends whether a point takes part here
	pos     diag.Pos
}

// info is what is known of a Ref: the tile axes on which its value depends.
type info struct{ axes []*ir.Axis }

func (v *verifier) fail(format string, args ...any) {
	panic(diag.Errorf(v.pos, "ir", "tile %s: %s", v.module.Name, fmt.Sprintf(format, args...)))
}

func (v *verifier) declare(r ir.Ref, axes []*ir.Axis) {
	name := r.RefName()
	if name == "" || v.names[name] {
		v.fail("the name %q is taken", name)
	}
	if v.sees[r] != nil {
		v.fail("%s is declared twice", name)
	}
	v.names[name], v.sees[r] = true, &info{axes}
	v.local = append(v.local, r)
}

func (v *verifier) inner(f func()) {
	mark := len(v.local)
	f()
	for _, r := range v.local[mark:] {
		delete(v.names, r.RefName())
		delete(v.sees, r)
	}
	v.local = v.local[:mark]
}

func (v *verifier) header() {
	for _, s := range v.module.Scalars {
		v.pos = s.Pos
		v.declare(s, nil)
	}
	v.pos = diag.Pos{}
	v.module.Verify(module.Verifier{
		Fail: func(text string) { v.fail("%s", text) },
		Expr: func(e *ir.Expr, want ir.Type, _ string) { v.expr(e, want, nil) },
	})
	for _, a := range v.module.Arrays {
		if a.Type.IsPacked() {
			v.fail("the array %s has type %s", a.Name, a.Type)
		}
		v.arrays[a] = true
	}
}

func (v *verifier) kernel(k *Kernel) {
	v.inner(func() {
		v.tiles, v.forms, v.threads = k.Axes, map[string]*ir.Layout{}, k.Threads
		if err := k.Sched.Verify(); err != nil {
			v.fail("kernel %s: the schedule: %v", k.Name, err)
		}
		if k.Threads < 0 {
			v.fail("kernel %s: %d threads", k.Name, k.Threads)
		}
		for _, a := range k.Axes {
			v.expr(a.Extent, ir.I64, nil)
		}
		for _, a := range k.Axes {
			v.declare(a, []*ir.Axis{a})
		}
		if len(k.Body) != 1 {
			v.fail("kernel %s: expected one grid loop", k.Name)
		}
		grid, ok := k.Body[0].(*Loop)
		if !ok || grid.Kind != Grid {
			v.fail("kernel %s: expected one grid loop", k.Name)
		}
		v.loop(grid)
	})
}

func (v *verifier) stmts(list []Stmt) {
	for _, s := range list {
		v.pos = s.Place()
		v.stmt(s)
	}
}

func (v *verifier) stmt(s Stmt) {
	switch s := s.(type) {
	case *Loop:
		if s.Kind == Grid {
			v.fail("a grid loop inside a kernel's body")
		}
		v.loop(s)
	case *If:
		v.branch(s)
	case *Load:
		v.access(s.From, s.At, s.Out.Axes, s.Where)
		if s.Out.Type != s.From.Type {
			v.fail("%s is %s, loaded from %s, which is %s", s.Out.Name, s.Out.Type, s.From.Name, s.From.Type)
		}
		if (s.Where == nil) != (s.Other == nil) {
			v.fail("a load where …, without what the value is elsewhere")
		}
		if s.Other != nil {
			v.expr(s.Other, s.Out.Type, s.Out.Axes)
		}
		v.async(s)
		if s.Async {
			v.held(s.Out)
		} else {
			v.value(s.Out)
		}
	case *Store:
		v.store(s)
	case *Map:
		v.expr(s.Body, s.Out.Type, s.Out.Axes)
		v.value(s.Out)
	case *Dot, *Reduce, *Scan, *Move:
		if len(v.mask) > 0 {
			v.fail("points of the block meet where some may be absent")
		}
		v.meeting(s)
	case *Phase:
		if len(v.mask) > 0 {
			v.fail("phase where some points of the block may be absent")
		}
	case *Check:
		v.axes(s.Axes)
		v.present(s.Axes, "a check")
		if s.Code < 0 || s.Code >= len(v.module.Sites) {
			v.fail("check %d: there are %d sites", s.Code, len(v.module.Sites))
		}
		v.expr(s.Cond, ir.Bool_, s.Axes)
		v.index(s.Args, s.Axes)
	default:
		v.fail("unknown statement %T", s)
	}
}

func (v *verifier) store(s *Store) {
	v.axes(s.Axes)
	v.access(s.To, s.At, s.Axes, s.Where)
	if s.To.Role == Param {
		v.fail("store to the parameter %s", s.To.Name)
	}
	v.expr(s.Value, s.To.Type, s.Axes)
	if s.Op != nil && !combines(s.Op, s.To.Type) {
		v.fail("%s of %s, which is %s", s.Op.Name, s.To.Name, s.To.Type)
	}
}

// combines reports whether a monoid has a meaning for a type.
func combines(m *ir.Monoid, t ir.Type) bool {
	_, err := m.Op.ResultType([]ir.Type{t, t})
	return err == nil
}

func (v *verifier) access(a *Array, at []*ir.Expr, axes []*ir.Axis, where *ir.Expr) {
	v.present(axes, "access to "+a.Name)
	if !v.arrays[a] {
		v.fail("the array %s is not the module's", a.Name)
	}
	if len(at) != len(a.Extents) {
		v.fail("%s has %d dimensions, not %d", a.Name, len(a.Extents), len(at))
	}
	v.index(at, axes)
	if where != nil {
		v.expr(where, ir.Bool_, axes)
	}
}

func (v *verifier) axes(list []*ir.Axis) {
	for i, a := range list {
		if !slices.Contains(v.tiles, a) || slices.Contains(list[:i], a) {
			v.fail("%s is no axis of tiles, or stands twice", a.Name)
		}
	}
}

// value declares a value that a statement computes: in registers, if it is decided where.
func (v *verifier) value(x *Value) {
	if x.Space == Shared {
		v.fail("%s is in shared memory: only moves and asynchronous loads put something there", x.Name)
	}
	v.held(x)
}

// held declares a value in any space.
func (v *verifier) held(x *Value) {
	if !x.Type.IsValid() || x.Type.IsPacked() {
		v.fail("%s has type %s", x.Name, x.Type)
	}
	v.axes(x.Axes)
	v.placed(x)
	v.declare(x, x.Axes)
}

func (v *verifier) index(list []*ir.Expr, axes []*ir.Axis) {
	for _, e := range list {
		v.expr(e, ir.I64, axes)
	}
}

func (v *verifier) loop(s *Loop) {
	v.shape(s)
	for _, c := range s.Carry {
		if c.In == nil || c.Out == nil || c.First == nil || c.Next == nil || c.In.Type != c.Out.Type || !slices.Equal(c.In.Axes, c.Out.Axes) {
			v.fail("a carried value whose ends differ")
		}
		v.expr(c.First, c.In.Type, c.In.Axes)
	}
	v.inner(func() {
		var differs []*ir.Axis
		for _, o := range s.Over {
			around := v.tiles
			if s.Kind == Grid {
				around = nil
			}
			v.expr(o.Lo, ir.I64, around)
			v.expr(o.Hi, ir.I64, around)
			deps := v.depends(o.Lo, v.depends(o.Hi, nil))
			differs = deps
			v.declare(o.Axis, deps)
		}
		for _, c := range s.Carry {
			v.value(c.In)
		}
		v.masked(differs, func() {
			v.stmts(s.Body)
			for _, c := range s.Carry {
				v.present(c.In.Axes, c.In.Name)
				v.expr(c.Next, c.In.Type, c.In.Axes)
			}
		})
	})
	for _, c := range s.Carry {
		v.value(c.Out)
	}
}

func (v *verifier) shape(s *Loop) {
	switch {
	case s.Kind == Grid && (len(s.Carry) > 0 || s.Down):
		v.fail("a grid has no order: it cannot carry values or run down")
	case s.Stages < 0 || s.Stages > 0 && s.Kind != Serial:
		v.fail("%d stages of a loop that is no serial one", s.Stages)
	case s.Raster < 0 || s.Raster > 0 && (s.Kind != Grid || len(s.Over) < 2):
		v.fail("raster %d of what is no grid of two axes", s.Raster)
	case s.Kind != Grid && len(s.Over) != 1:
		v.fail("a loop over %d axes", len(s.Over))
	case s.Kind == Unroll && !(s.Over[0].Lo.IsConst() && s.Over[0].Hi.IsConst()):
		v.fail("unroll between ends that are not constant")
	}
}

// masked runs f where it depends on the given axes whether a point takes part.
func (v *verifier) masked(axes []*ir.Axis, f func()) {
	outer := v.mask
	v.mask = append(slices.Clone(outer), axes...)
	f()
	v.mask = outer
}

// present demands that points of these axes know whether they take part.
func (v *verifier) present(axes []*ir.Axis, what string) {
	if !contains(axes, v.mask) {
		v.fail("%s happens for points of [%s], but it depends on [%s] whether they take part", what, names(axes), names(v.mask))
	}
}

func (v *verifier) branch(s *If) {
	v.expr(s.Cond, ir.Bool_, v.tiles)
	differs := v.depends(s.Cond, nil)
	arm := func(list []Stmt, of func(Phi) *ir.Expr) {
		v.inner(func() {
			v.masked(differs, func() {
				v.stmts(list)
				for _, o := range s.Outs {
					v.present(o.Out.Axes, o.Out.Name)
					v.expr(of(o), o.Out.Type, o.Out.Axes)
				}
			})
		})
	}
	arm(s.Then, func(o Phi) *ir.Expr { return o.Then })
	arm(s.Else, func(o Phi) *ir.Expr { return o.Else })
	for _, o := range s.Outs {
		v.value(o.Out)
	}
}
