package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/gkc-lang/gkc/internal/npy"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/diag"
)

// usageError is a wrong command line: exit code 2.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usage(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

func callError(format string, args ...any) error {
	return diag.Errorf(diag.Pos{}, "call", format, args...)
}

// settings reads the NAME=VALUE pairs of --set; one --set may have several, with commas between them.
func settings(list []string) (map[string]int64, error) {
	out := map[string]int64{}
	for _, text := range list {
		for p := range strings.SplitSeq(text, ",") {
			name, value, ok := strings.Cut(p, "=")
			n, err := strconv.ParseInt(value, 0, 64)
			if !ok || name == "" || err != nil {
				return nil, usage("--set %s: expected NAME=NUMBER", p)
			}
			if _, twice := out[name]; twice {
				return nil, usage("--set %s: %s is set twice", p, name)
			}
			out[name] = n
		}
	}
	return out, nil
}

// arguments sorts the NAME=VALUE pairs of --in into tensors, read from .npy files, and scalars.
func arguments(pairs []string, sig *data.Signature, given *data.Given) error {
	given.Inputs, given.Values = map[string]*data.Array{}, map[string]ir.Const{}
	seen := map[string]bool{}
	for _, p := range pairs {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" || value == "" {
			return usage("--in %s: expected NAME=FILE.npy or NAME=NUMBER", p)
		}
		if seen[name] {
			return usage("--in %s: %s is given twice", p, name)
		}
		seen[name] = true
		if t := sig.Param(name); t != nil {
			a, err := readTensor(value, *t)
			if err != nil {
				return err
			}
			given.Inputs[name] = a
			continue
		}
		s := sig.Scalar(name)
		if s != nil && s.IsSize {
			return callError("%s is a size of kernel %s, no parameter: give --set %s=%s", name, sig.Name, name, value)
		}
		if s == nil {
			return callError("kernel %s has no parameter %s; its parameters are %s", sig.Name, name, strings.Join(sig.Order, ", "))
		}
		v, err := readScalar(value, s)
		if err != nil {
			return err
		}
		given.Values[name] = v
	}
	return nil
}

func readTensor(value string, t data.Tensor) (*data.Array, error) {
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return nil, callError("%s is a tensor, no scalar: give --in %s=FILE.npy", t.Name, t.Name)
	}
	a, err := npy.ReadFile(value)
	if err != nil {
		return nil, callError("input %s: %v", t.Name, err)
	}
	if a, err = npy.As(a, t.Type); err != nil {
		return nil, callError("input %s: %s: %v", t.Name, value, err)
	}
	return a, nil
}

func readScalar(value string, s *ir.Scalar) (ir.Const, error) {
	if strings.HasSuffix(value, ".npy") {
		a, err := npy.ReadFile(value)
		if err != nil {
			return ir.Const{}, callError("input %s: %v", s.Name, err)
		}
		if a.Len() != 1 {
			return ir.Const{}, callError("input %s: %s holds %d elements, expected one", s.Name, value, a.Len())
		}
		return ir.Convert(s.Type, a.Type, a.At(0)), nil
	}
	switch value {
	case "true", "false":
		return ir.Convert(s.Type, ir.Bool_, ir.BoolConst(value == "true")), nil
	}
	if n, err := strconv.ParseInt(value, 0, 64); err == nil {
		return checkedScalar(s, ir.I64, ir.IntConst(n), value)
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil && !math.IsInf(x, 0) {
		return ir.Const{}, callError("input %s: %q is neither a number nor a .npy file", s.Name, value)
	}
	return checkedScalar(s, ir.F64, ir.FloatConst(x), value)
}

// checkedScalar converts a number to a parameter's type, and refuses one that an integer parameter cannot hold.
func checkedScalar(s *ir.Scalar, from ir.Type, v ir.Const, text string) (ir.Const, error) {
	out := ir.Convert(s.Type, from, v)
	if s.Type.IsInt() {
		if back := ir.Convert(from, s.Type, out); back != v {
			return ir.Const{}, callError("input %s: %s does not fit %s", s.Name, text, s.Type)
		}
	}
	return out, nil
}

// randomInput makes inputs that were not given, the same for the same seed, name and shape: normal floats; integers in
// [0, limits[name]), or [0, 8) where the kernel does not say what they index; coins for bool.
func randomInput(seed uint64, limits map[string]int64) func(t data.Tensor, shape []int) *data.Array {
	return func(t data.Tensor, shape []int) *data.Array {
		rng := rand.New(rand.NewPCG(seed, nameSeed(t.Name)))
		a := data.New(t.Type, shape...)
		limit, ok := limits[t.Name]
		if !ok {
			limit = 8
		}
		for i := range a.Len() {
			switch {
			case t.Type.IsFloat():
				a.Set(i, ir.FloatConst(ir.RoundTo(t.Type.Elem, rng.NormFloat64())))
			case t.Type.IsBool():
				a.Set(i, ir.BoolConst(rng.Uint64()&1 != 0))
			default:
				_, hi := ir.IntRange(t.Type.Elem)
				a.Set(i, ir.IntConst(rng.Int64N(max(1, min(limit, hi)))))
			}
		}
		return a
	}
}

func nameSeed(name string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a: the same on every machine
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}
