package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// byHand runs a kernel that is written as IR text, which may use all that the device has (tensor maps, clusters, matrix
// operations), on the GPU and on the simulator. arg is FILE.simt:N=V,N=V.
func (k *checker) byHand(ctx context.Context, arg string) error {
	file, sizes, _ := strings.Cut(arg, ":")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	m, err := simt.Parse(string(text))
	if err != nil {
		return err
	}
	g := data.Given{Set: map[string]int64{}, Fill: normal}
	for s := range strings.SplitSeq(sizes, ",") {
		name, value, _ := strings.Cut(s, "=")
		if g.Set[name], err = strconv.ParseInt(value, 10, 64); err != nil {
			return err
		}
	}
	call, err := data.Bind(m.Signature(), g)
	if err != nil {
		return err
	}
	got, err := k.dev.Run(ctx, m, call)
	if err != nil {
		return err
	}
	want, err := sim.Run(ctx, m, k.sim, call, sim.Options{}) // after the GPU, so that its tools can look at what the simulator refuses
	if err != nil {
		return err
	}
	k.Kernels++
	k.Runs++
	for _, l := range got.Launches {
		k.Launches++
		k.Micros += l.Seconds * 1e6
	}
	for name, w := range want.Outputs {
		if err := near(name, got.Outputs[name], w); err != nil {
			return err
		}
	}
	return nil
}

// near allows what another order of f32 additions and other exponentials can change in a result of 16 bits.
func near(name string, got, want *data.Array) error {
	const tolerance = 2e-3
	for i := range want.Len() {
		x, y := got.Float(i), want.Float(i)
		if !(math.Abs(x-y) <= tolerance*(1+math.Abs(y))) {
			return fmt.Errorf("%s%v is %v, on the simulator %v", name, data.Subscripts(want.Shape, i), x, y)
		}
	}
	return nil
}

func normal(t data.Tensor, shape []int) *data.Array {
	r := rand.New(rand.NewPCG(1, uint64(len(t.Name)+len(shape))))
	a := data.New(t.Type, shape...)
	for i := range a.Len() {
		a.Set(i, ir.FloatConst(ir.RoundTo(t.Type.Elem, r.NormFloat64())))
	}
	return a
}
