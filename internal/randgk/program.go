// Package randgk makes random programs of the language, runs them on every path, compares what comes out, and shrinks what
// differs: a fuzzer that knows the grammar and the types, so that nearly all of its programs mean something.
package randgk

import (
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// Program is a source text with one kernel, and how its calls are drawn.
type Program struct {
	Seed    uint64
	Source  string
	Sizes   map[string]int64 // values of sizes and of scalar parameters that stand in extents or ranges
	Indices map[string]int64 // tensor parameters whose elements are mostly indices, and how many indices there are
}

// Call draws the inputs of a run. An element depends on the tensor's name and its place alone, so that a program that was shrunk
// still sees the same values. Odd runs are wild: NaN, infinities, extreme integers, indices outside.
func (p *Program) Call(t *tensor.Program, run int) (*data.Call, error) {
	given := data.Given{Set: map[string]int64{}, Values: map[string]ir.Const{}}
	d := drawing{seed: p.Seed<<8 + uint64(run), wild: run%2 == 1}
	for _, s := range t.Scalars {
		n, fixed := p.Sizes[s.Name]
		switch {
		case s.IsSize:
			given.Set[s.Name] = n
		case fixed:
			given.Values[s.Name] = ir.IntConst(n)
		default:
			given.Values[s.Name] = d.value(s.Type, d.stream(s.Name))
		}
	}
	given.Fill = func(t data.Tensor, shape []int) *data.Array { return d.array(t, shape, p.Indices) }
	return data.Bind(t.Signature(), given)
}

type drawing struct {
	seed uint64
	wild bool
}

// stream is the randomness of one element.
func (d drawing) stream(name string, at ...int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	for _, i := range at {
		h.Write([]byte{byte(i), byte(i >> 8), ','})
	}
	return rand.New(rand.NewPCG(d.seed, h.Sum64()))
}

func (d drawing) array(t data.Tensor, shape []int, indices map[string]int64) *data.Array {
	a := data.New(t.Type, shape...)
	n, isIndex := indices[t.Name]
	for i := range a.Len() {
		r := d.stream(t.Name, data.Subscripts(shape, i)...)
		switch {
		case isIndex && d.wild && r.IntN(40) == 0:
			a.Set(i, ir.Convert(t.Type, ir.I64, ir.IntConst(r.Int64N(n+4)-2)))
		case isIndex:
			a.Set(i, ir.Convert(t.Type, ir.I64, ir.IntConst(r.Int64N(max(n, 1)))))
		default:
			a.Set(i, d.value(t.Type, r))
		}
	}
	return a
}

var (
	plainFloats = []float64{0, 1, -1, 2, 0.5, -0.5, 3}
	wildFloats  = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1e30, -1e30, 1e-40, 65504, 65520, 448, 464, 3e9, -3e9, 1e19, 127.5, 2.5}
	wildInts    = []int64{math.MinInt64, math.MaxInt64, math.MinInt32, math.MaxInt32, math.MaxUint32, 127, 128, -128, 255, 256, 1 << 24, 1<<24 + 1, 1<<53 + 1}
)

func (d drawing) value(t ir.Type, r *rand.Rand) ir.Const {
	switch {
	case t.IsBool():
		return ir.BoolConst(r.IntN(2) == 0)
	case t.IsFloat():
		x := 1.5 * r.NormFloat64()
		if k := r.IntN(100); k < 25 {
			x = plainFloats[r.IntN(len(plainFloats))]
		} else if d.wild && k < 35 {
			x = wildFloats[r.IntN(len(wildFloats))]
		}
		return ir.FloatConst(ir.RoundTo(t.Elem, x))
	}
	x := r.Int64N(12) - 4
	if d.wild && r.IntN(12) == 0 {
		x = wildInts[r.IntN(len(wildInts))]
	}
	if t.Elem.Kind == ir.Uint {
		x = max(x, -x)
	}
	return ir.Convert(t, ir.I64, ir.IntConst(x))
}
