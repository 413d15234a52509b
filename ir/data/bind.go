package data

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
)

// Given is what a caller says of a launch, in the order in which sizes are taken from it: Set, the shapes of Inputs, Example.
type Given struct {
	Set     map[string]int64    // --set: sizes only
	Values  map[string]ir.Const // scalar parameters, converted to their types
	Inputs  map[string]*Array
	Example map[string]ir.Const // of the source file: sizes and scalar parameters
	// Fill, if set, makes an input that was not given; otherwise a missing input is an error.
	Fill func(t Tensor, shape []int) *Array
}

// Limits of a call.
const (
	MaxBytes  = 1 << 40 // of an array
	MaxHeld   = 8 << 30 // bytes that a run in this process's memory may hold: inputs, results and workspace
	maxFilled = 4 << 30 // bytes of inputs that are made because they were not given
)

// Bind makes the call of a kernel: it finds the value of every size, and refuses what does not fit, naming both sides.
func Bind(sig *Signature, given Given) (*Call, error) {
	b := &binder{sig: sig, given: given, from: map[string]string{}, call: &Call{Scalars: map[string]ir.Const{}, Inputs: map[string]*Array{}}}
	for _, step := range []func() error{b.names, b.settings, b.parameters, b.shapes, b.example, b.known, b.arrays, b.where, b.results} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return b.call, nil
}

type binder struct {
	sig    *Signature
	given  Given
	call   *Call
	from   map[string]string // where a size's value comes from, for messages
	filled int64             // bytes of inputs that were made
}

func callError(format string, args ...any) error {
	return diag.Errorf(diag.Pos{}, "call", format, args...)
}

// names refuses names that the kernel does not have.
func (b *binder) names() error {
	for _, name := range sortedKeys(b.given.Set) {
		if s := b.sig.Scalar(name); s == nil || !s.IsSize {
			if s != nil {
				return callError("%s is a parameter of kernel %s, no size: give --in %s=NUMBER", name, b.sig.Name, name)
			}
			return callError("kernel %s has no size %s to set; it has %s", b.sig.Name, name, list(b.sizes()))
		}
	}
	for _, name := range sortedKeys(b.given.Inputs) {
		if b.sig.Param(name) == nil {
			return callError("kernel %s has no tensor parameter %s; its parameters are %s", b.sig.Name, name, list(b.sig.Order))
		}
	}
	for _, name := range sortedKeys(b.given.Values) {
		if s := b.sig.Scalar(name); s == nil || s.IsSize {
			return callError("kernel %s has no scalar parameter %s; its parameters are %s", b.sig.Name, name, list(b.sig.Order))
		}
	}
	return nil
}

func (b *binder) sizes() (out []string) {
	for _, s := range b.sig.Scalars {
		if s.IsSize {
			out = append(out, s.Name)
		}
	}
	return out
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (b *binder) settings() error {
	for _, s := range b.sig.Scalars {
		if s.Fixed != nil {
			b.set(s, *s.Fixed, "the build")
		}
	}
	for _, name := range sortedKeys(b.given.Set) {
		if v := b.given.Set[name]; v < 0 {
			return callError("--set %s=%d: a size is not negative", name, v)
		}
		if err := b.agree(b.sig.Scalar(name), b.given.Set[name], "--set "+name); err != nil {
			return err
		}
		b.from[name] = "--set " + name // also where the same setting fixed the size as the kernel was compiled
	}
	return nil
}

func (b *binder) set(s *ir.Scalar, v ir.Const, from string) {
	b.call.Scalars[s.Name], b.from[s.Name] = v, from
}

// agree gives a size its value, or compares it with the one that it has.
func (b *binder) agree(s *ir.Scalar, v int64, from string) error {
	if old, ok := b.call.Scalars[s.Name]; ok {
		if old.Int() != v {
			return callError("size %s is %d (%s), but %d (%s)", s.Name, old.Int(), b.from[s.Name], v, from)
		}
		return nil
	}
	b.set(s, ir.IntConst(v), from)
	return nil
}

// parameters takes scalar parameters that were passed, then those of the example, then defaults.
func (b *binder) parameters() error {
	for _, s := range b.sig.Scalars {
		if s.IsSize {
			continue
		}
		v, ok := b.given.Values[s.Name]
		if !ok {
			v, ok = b.given.Example[s.Name]
		}
		if !ok && s.Default != nil {
			v, ok = *s.Default, true
		}
		if !ok {
			return callError("scalar parameter %s of kernel %s has no value: give --in %s=NUMBER", s.Name, b.sig.Name, s.Name)
		}
		b.set(s, v, "the call")
	}
	return nil
}

// shapes binds sizes by the shapes of the inputs: an extent NAME, NAME+c or NAME-c binds NAME.
func (b *binder) shapes() error {
	for _, t := range b.sig.Params {
		a := b.given.Inputs[t.Name]
		if a == nil {
			continue
		}
		if len(a.Shape) != len(t.Extents) {
			return callError("input %s has %d dimensions %v, but the kernel's %s has %d", t.Name, len(a.Shape), a.Shape, t.Name, len(t.Extents))
		}
		if a.Type != t.Type {
			return callError("input %s is %s, but the kernel's %s is %s", t.Name, a.Type, t.Name, t.Type)
		}
		for d, e := range t.Extents {
			s, c := nameAndOffset(e)
			if s == nil || !s.IsSize {
				continue
			}
			v := int64(a.Shape[d]) - c
			if v < 0 {
				return callError("dimension %d of input %s is %d, too small for the extent %s: size %s would be %d", d+1, t.Name, a.Shape[d], extentText(e), s.Name, v)
			}
			if err := b.agree(s, v, fmt.Sprintf("dimension %d of %s", d+1, t.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// nameAndOffset splits NAME, NAME + c, NAME - c.
func nameAndOffset(e *ir.Expr) (*ir.Scalar, int64) {
	if s, ok := e.Ref.(*ir.Scalar); ok && e.Op == ir.OpName {
		return s, 0
	}
	if (e.Op == ir.OpAdd || e.Op == ir.OpSub) && e.Args[0].Op == ir.OpName {
		s, ok := e.Args[0].Ref.(*ir.Scalar)
		c, constant := e.Args[1].IntValue()
		if ok && constant {
			if e.Op == ir.OpSub {
				c = -c
			}
			return s, c
		}
	}
	return nil, 0
}

func (b *binder) example() error {
	for _, s := range b.sig.Scalars {
		if _, ok := b.call.Scalars[s.Name]; ok {
			continue
		}
		if v, ok := b.given.Example[s.Name]; ok {
			b.set(s, v, "the example")
		}
	}
	return nil
}

func (b *binder) known() error {
	for _, s := range b.sig.Scalars {
		if _, ok := b.call.Scalars[s.Name]; ok {
			continue
		}
		if missing := b.missingInput(s); missing != "" && b.given.Fill == nil {
			return callError("input %s of kernel %s is missing", missing, b.sig.Name)
		}
		return callError("size %s of kernel %s has no value: give --set %s=NUMBER, an input with that extent, or an example in the file", s.Name, b.sig.Name, s.Name)
	}
	return nil
}

// missingInput names an input that would have bound s.
func (b *binder) missingInput(s *ir.Scalar) string {
	for _, t := range b.sig.Params {
		for _, e := range t.Extents {
			if x, _ := nameAndOffset(e); x == s && b.given.Inputs[t.Name] == nil {
				return t.Name
			}
		}
	}
	return ""
}

func (b *binder) lookup(r ir.Ref) (ir.Const, bool) {
	v, ok := b.call.Scalars[r.RefName()]
	return v, ok
}

// Shape computes the extents of a tensor. It refuses negative ones and arrays beyond MaxBytes.
func (c *Call) Shape(t Tensor) ([]int, error) {
	shape := make([]int, len(t.Extents))
	bytes := int64(t.Type.Bytes())
	for d, e := range t.Extents {
		v, err := ir.EvalExpr(e, func(r ir.Ref) (ir.Const, bool) { v, ok := c.Scalars[r.RefName()]; return v, ok })
		if err != nil {
			return nil, callError("extent %d of %s, %s: %s", d+1, t.Name, extentText(e), reason(err))
		}
		n := v.Int()
		if n < 0 {
			return nil, callError("extent %d of %s, %s, is %d: negative", d+1, t.Name, extentText(e), n)
		}
		if n > 0 && bytes > MaxBytes/n {
			return nil, callError("%s is larger than %d GiB", t.Name, MaxBytes>>30)
		}
		bytes *= n
		shape[d] = int(n)
	}
	return shape, nil
}

func (b *binder) arrays() error {
	for _, t := range b.sig.Params {
		shape, err := b.call.Shape(t)
		if err != nil {
			return err
		}
		a := b.given.Inputs[t.Name]
		if a == nil {
			if b.given.Fill == nil {
				return callError("input %s of kernel %s is missing", t.Name, b.sig.Name)
			}
			if b.filled += int64(Len(shape)) * int64(t.Type.Bytes()); b.filled > maxFilled {
				return callError("input %s%v is not given, and too large to be made up: inputs that are not given may take %d GiB", t.Name, shape, maxFilled>>30)
			}
			b.call.Inputs[t.Name] = b.given.Fill(t, shape)
			continue
		}
		for d := range shape {
			if a.Shape[d] != shape[d] {
				return callError("dimension %d of input %s is %d, but the kernel's extent %s is %d there (%s)", d+1, t.Name, a.Shape[d], extentText(t.Extents[d]), shape[d], b.origins(t.Extents[d]))
			}
		}
		b.call.Inputs[t.Name] = a
	}
	return nil
}

// origins says where the sizes in an expression come from: "K = 5 by --set K, N = 6 by dimension 2 of B".
func (b *binder) origins(e *ir.Expr) string {
	var parts []string
	ir.Walk(e, func(x *ir.Expr) {
		if s, ok := x.Ref.(*ir.Scalar); ok {
			parts = append(parts, fmt.Sprintf("%s = %s by %s", s.Name, b.call.Scalars[s.Name].Text(s.Type), b.from[s.Name]))
		}
	})
	if len(parts) == 0 {
		return "a constant"
	}
	return strings.Join(parts, ", ")
}

func (b *binder) where() error {
	for _, w := range b.sig.Where {
		v, err := ir.EvalExpr(w.Expr, b.lookup)
		if err != nil {
			return callError("kernel %s demands %s: %s", b.sig.Name, w.Text, reason(err))
		}
		if !v.Bool() {
			return callError("kernel %s demands %s, which does not hold: %s", b.sig.Name, w.Text, b.origins(w.Expr))
		}
	}
	return nil
}

// reason is what an error says, without the place that a diagnosis has in the kernel.
func reason(err error) string {
	var d *diag.Diag
	if errors.As(err, &d) {
		return d.Message
	}
	return err.Error()
}

func (b *binder) results() error {
	for _, t := range b.sig.Results {
		if _, err := b.call.Shape(t); err != nil {
			return err
		}
	}
	return nil
}
