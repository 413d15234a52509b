package tensor

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/diag"
)

// values are the elements of a tensor, row-major: floats in f, integers and bools in i.
type values struct {
	of     *Tensor
	shape  []int64
	stride []int64
	n      int64
	f      []float64
	i      []int64
	err    []float64               // bounds of the errors of elements; nil: exact, or not asked for
	poison atomic.Pointer[[]fault] // nil: every element could be computed
	mu     sync.Mutex
}

// fault says why an element could not be computed. The zero fault says that it could.
type fault struct {
	at    *place
	value int64 // of an index: where it pointed
}

// place is a part of a definition that can fail.
type place struct {
	kind   string // what an operation says of its fault; empty: an index
	text   string // the operation as it is written
	tensor string // of an index
	dim    int
	extent int64
	pos    diag.Pos
}

func (f fault) diag(d Def, element string) error {
	what := fmt.Sprintf("index %d of %s is outside 0..%d (dimension %d)", f.value, f.at.tensor, f.at.extent, f.at.dim+1)
	if f.at.kind != "" {
		what = f.at.kind + " in " + f.at.text
	}
	pos := f.at.pos
	if !pos.IsValid() {
		pos = d.Place()
	}
	return diag.Errorf(pos, "runtime", "%s while computing %s", what, element)
}

// spoil poisons element i. Elements are poisoned from several goroutines, each by one only.
func (v *values) spoil(i int64, f fault) {
	p := v.poison.Load()
	if p == nil {
		p = v.spoilable()
	}
	(*p)[i] = f
}

func (v *values) spoilable() *[]fault {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.poison.Load() == nil {
		p := make([]fault, v.n)
		v.poison.Store(&p)
	}
	return v.poison.Load()
}

// load takes the elements of a parameter.
func (v *values) load(a *data.Array) error {
	t := v.of
	if a == nil {
		return diag.Errorf(t.Pos, "call", "the parameter %s has no value", t.Name)
	}
	if a.Type != t.Type {
		return diag.Errorf(t.Pos, "call", "%s is an array of %s, expected %s", t.Name, a.Type, t.Type)
	}
	want := v.ints()
	if !slices.Equal(a.Shape, want) || len(a.Data) != data.Len(want)*t.Type.Bytes() {
		return diag.Errorf(t.Pos, "call", "%s has the shape %v, expected %v", t.Name, a.Shape, want)
	}
	switch {
	case t.Type == ir.F32:
		for i := range v.f {
			v.f[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(a.Data[4*i:])))
		}
	case t.Type == ir.BF16:
		for i := range v.f {
			v.f[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(a.Data[2*i:])) << 16))
		}
	case t.Type.IsFloat():
		for i := range v.f {
			v.f[i] = a.At(i).Float()
		}
	default:
		for i := range v.i {
			v.i[i] = a.At(i).Int()
		}
	}
	return nil
}

func (v *values) ints() []int {
	out := make([]int, len(v.shape))
	for d, n := range v.shape {
		out[d] = int(n)
	}
	return out
}

// array stores the elements as the tensor's type does.
func (v *values) array() *data.Array {
	a := data.New(v.of.Type, v.ints()...)
	if !v.of.Type.IsFloat() {
		for i, x := range v.i {
			a.Set(i, ir.IntConst(x))
		}
		return a
	}
	elem := v.of.Type.Elem
	for i, x := range v.f {
		a.Set(i, ir.FloatConst(ir.RoundTo(elem, x)))
	}
	return a
}

// errors is the array of the bounds.
func (v *values) errors() *data.Array {
	a := data.New(ir.F64, v.ints()...)
	for i, x := range v.err {
		a.Set(i, ir.FloatConst(x))
	}
	return a
}
