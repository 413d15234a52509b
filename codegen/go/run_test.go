package gogen

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/simt"
)

// load reads a module that is kept for the tests of all printers.
func load(t *testing.T, name string) *simt.Module {
	text, err := os.ReadFile("../testdata/" + name + ".simt")
	require.NoError(t, err)
	return parse(t, string(text))
}

func parse(t *testing.T, text string) *simt.Module {
	m, err := simt.Parse(text)
	require.NoError(t, err)
	return m
}

func floats(t ir.Type, x ...float64) *data.Array {
	a := data.New(t, len(x))
	for i, v := range x {
		a.Set(i, ir.FloatConst(v))
	}
	return a
}

func values(a *data.Array) []float64 {
	out := make([]float64, a.Len())
	for i := range out {
		out[i] = a.Float(i)
	}
	return out
}

func TestRunBatch(t *testing.T) {
	add, sum, scatter := load(t, "vadd"), load(t, "total"), load(t, "scatter")
	n := func(v int64) map[string]ir.Const { return map[string]ir.Const{"N": ir.IntConst(v)} }
	one := make([]float64, 1000)
	for i := range one {
		one[i] = 1
	}
	at := func(v ...int64) *data.Array {
		a := data.New(ir.I32, len(v))
		for i := range v {
			a.Set(i, ir.IntConst(v[i]))
		}
		return a
	}
	out, err := RunBatch(context.Background(), []Job{
		{add, &data.Call{Scalars: map[string]ir.Const{"N": ir.IntConst(3), "c": ir.FloatConst(0.5)}, Inputs: map[string]*data.Array{"x": floats(ir.F16, 1, -2, 65504)}}},
		{sum, &data.Call{Scalars: n(1000), Inputs: map[string]*data.Array{"x": floats(ir.F32, one...)}}},
		{scatter, &data.Call{Scalars: n(3), Inputs: map[string]*data.Array{"at": at(3, 1, 3), "x": floats(ir.F16, 1, 2, 4)}}},
		{scatter, &data.Call{Scalars: n(3), Inputs: map[string]*data.Array{"at": at(3, 7, 9), "x": floats(ir.F16, 1, 2, 4)}}},
		{add, &data.Call{Scalars: map[string]ir.Const{"N": ir.IntConst(0), "c": ir.FloatConst(0.5)}, Inputs: map[string]*data.Array{"x": floats(ir.F16)}}},
	})
	require.NoError(t, err)
	require.NoError(t, out[0].Err)
	assert.Equal(t, []float64{2.5, -3.5, 131008.5}, values(out[0].Results["y"]))
	require.NoError(t, out[1].Err)
	assert.Equal(t, 1000.0, values(out[1].Results["y"])[0])
	require.NoError(t, out[2].Err)
	assert.Equal(t, []float64{0, 2, 0, 5}, values(out[2].Results["y"]))
	assert.ErrorContains(t, out[3].Err, "index 7 of y is outside 0..4 (dimension 1) while computing kernel y")
	require.NoError(t, out[4].Err)
	assert.Empty(t, values(out[4].Results["y"]))
}
