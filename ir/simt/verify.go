package simt

import (
	"fmt"
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/module"
	"github.com/gkc-lang/gkc/ir/syntax"
)

// Verify checks the invariants of the level. What it finds is a mistake of who made the module, or of who wrote its text.
func Verify(m *Module) error {
	v := verifier{m: m, arrays: map[*Array]bool{}}
	for _, a := range m.Arrays {
		v.arrays[a] = true
	}
	v.module()
	for _, k := range m.Kernels {
		v.kernel(k)
	}
	return v.errs.Err()
}

// maxErrors is the number of problems after which a verifier stops collecting.
const maxErrors = 50

// maxSubscripts bounds the values of subscripts of registers that are looked at, over all copies that unrolled loops make.
const maxSubscripts = 1 << 20

type verifier struct {
	m    *Module
	k    *Kernel
	errs diag.List
	pos  diag.Pos // of the statement that is looked at

	typed   map[*ir.Expr]bool // expressions whose types were checked
	visible map[ir.Ref]bool   // values, registers and buffers that expressions may name here
	names   map[string]bool   // that are taken here
	unset   map[*Reg]bool     // registers that may not have a value yet
	trail   []*Reg            // those that got one, in order
	loops   []unrolled
	copies  float64         // at most, of the body that the unrolled loops around make
	arms    int             // Roles around
	steps   int             // of the walk in inflight.go
	fuel    int             // left for subscripts of registers
	arrays  map[*Array]bool // of the module
	own     map[any]bool    // maps and barriers that the kernel may use
	laidOut bool            // the layouts can be looked into
	facts   *Facts
	align   *alignment
}

func (v *verifier) fail(format string, args ...any) {
	if len(v.errs) >= maxErrors {
		return
	}
	text := fmt.Sprintf(format, args...)
	if v.k != nil {
		text = "kernel " + v.k.Name + ": " + text
	}
	v.errs.Add(diag.Errorf(v.pos, "ir", "%s", text))
}

// require reports a problem unless ok.
func (v *verifier) require(ok bool, format string, args ...any) bool {
	if !ok {
		v.fail(format, args...)
	}
	return ok
}

func (v *verifier) module() {
	v.visible, v.typed = map[ir.Ref]bool{}, map[*ir.Expr]bool{}
	for _, s := range v.m.Scalars {
		v.visible[s] = true
	}
	v.m.Verify(module.Verifier{Fail: func(text string) { v.fail("%s", text) }, Expr: v.hostExpr})
	kernels := map[string]bool{}
	for _, k := range v.m.Kernels {
		v.require(syntax.IsName(k.Name) && !kernels[k.Name], "the kernel's name %q is taken, or no name", k.Name)
		kernels[k.Name] = true
	}
}

// hostExpr checks an expression of the launcher.
func (v *verifier) hostExpr(e *ir.Expr, want ir.Type, what string) {
	if !v.require(e != nil, "%s is missing", what) {
		return
	}
	v.expr(e, want, what)
	ir.Walk(e, func(x *ir.Expr) {
		if x.Op.Where&ir.WarpWide != 0 || x.Op.Effect != ir.NoEffect || x.Op == OpElem || x.Op == OpAddr {
			v.fail("%s uses %s, which only a device computes", what, x.Op.Name)
		}
	})
}

func (v *verifier) kernel(k *Kernel) {
	v.k, v.pos = k, diag.Pos{}
	v.visible, v.names, v.typed = map[ir.Ref]bool{}, map[string]bool{}, map[*ir.Expr]bool{}
	v.unset, v.trail, v.loops, v.copies, v.arms = map[*Reg]bool{}, nil, nil, 1, 0
	v.align, v.fuel, v.own = alignmentOf(k), maxSubscripts, map[any]bool{}
	v.hosts()
	v.memory()
	v.bars()
	for _, b := range k.Bars {
		v.take(b.Name)
		v.own[b] = true
	}
	if !v.complete(k.Body) {
		return
	}
	v.facts = FactsOf(k)
	v.layouts()
	v.laidOut = soundLayouts(k.Body)
	v.block(k.Body)
	v.flights(k.Body)
	v.ledger()
	v.pos = diag.Pos{}
	v.device()
}

// take claims a name of the kernel.
func (v *verifier) take(name string) {
	v.require(validLocal(name), "%q cannot be a name here", name)
	v.require(!v.names[name], "%s is declared twice", name)
	v.names[name] = true
}

// hosts checks the host values and the launch.
func (v *verifier) hosts() {
	k := v.k
	for _, s := range v.m.Scalars {
		v.visible[s] = true
	}
	v.visible[SMs], v.visible[L2Bytes] = true, true
	for _, p := range k.Params {
		v.take(p.Name)
		if v.require(p.Type.IsValid() && !p.Type.IsPacked(), "host value %s of type %s", p.Name, p.Type) {
			v.hostExpr(p.Expr, p.Type, "host value "+p.Name)
		}
		v.visible[p] = true
	}
	v.hostExpr(k.Launch.Grid, ir.I64, "the grid")
	l := &k.Launch
	v.require(l.Threads >= 1 && l.Threads <= 1024, "%d threads a block, expected 1..1024", l.Threads)
	v.require(l.Cluster >= 0 && l.Cluster <= 16, "clusters of %d blocks, expected at most 16", l.Cluster)
	v.require(l.PerSM >= 0 && l.SharedBytes >= 0, "a negative number in the launch line")
	for _, t := range k.Maps {
		v.tensorMap(t)
	}
	for _, s := range v.m.Scalars {
		delete(v.visible, s)
	}
	delete(v.visible, SMs)
	delete(v.visible, L2Bytes)
	for _, b := range Builtins {
		if !b.Host {
			v.visible[b] = true
		}
	}
}

func (v *verifier) tensorMap(t *TensorMap) {
	v.take(t.Name)
	v.own[t] = true
	if !v.require(t.Of != nil && v.arrays[t.Of], "map %s is of no array of the module", t.Name) {
		return
	}
	n := len(t.Dims)
	v.require(n >= 1 && n <= 5, "map %s has %d dimensions, expected 1..5", t.Name, n)
	if !v.require(len(t.Strides) == n-1 && len(t.Box) == n, "map %s has %d dimensions, %d strides and a box of %d", t.Name, n, len(t.Strides), len(t.Box)) || n == 0 {
		return
	}
	for _, e := range append(slices.Clone(t.Dims), t.Strides...) {
		v.hostExpr(e, ir.I64, "map "+t.Name)
	}
	for _, b := range t.Box {
		v.require(b >= 1 && b <= 256, "map %s: a box side of %d, expected 1..256", t.Name, b)
	}
	row := t.Box[0] * t.Of.Type.Bytes()
	v.require(row%16 == 0, "map %s: rows of its box have %d bytes, no multiple of 16", t.Name, row)
	v.require(slices.Contains([]int{0, 32, 64, 128}, t.Swizzle), "map %s: swizzle %d, expected 0, 32, 64 or 128", t.Name, t.Swizzle)
	v.require(t.Swizzle == 0 || row <= t.Swizzle, "map %s: rows of its box have %d bytes, more than its swizzle of %d", t.Name, row, t.Swizzle)
	v.require(slices.Contains([]int{0, 64, 128, 256}, t.Promote), "map %s: l2 %d, expected 0, 64, 128 or 256", t.Name, t.Promote)
}

func (v *verifier) layouts() {
	taken := map[string]bool{}
	for _, l := range layouts(v.k.Body) {
		text := validLayout(l)
		v.require(text == "" && !taken[l.Name], "layout %s: taken, or %s", l.Name, text)
		taken[l.Name] = true
	}
}
