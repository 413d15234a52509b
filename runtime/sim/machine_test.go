package sim_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/runtime/sim"
)

func parse(t *testing.T, text string) *simt.Module {
	m, err := simt.Parse(text)
	require.NoError(t, err)
	require.NoError(t, simt.Verify(m))
	return m
}

// pipeline multiplies a 16 x 64 tile by a 64 x 8 one with cp.async, ldmatrix and mma.sync, in two stages.
const pipeline = `
simt product
param A: f16[16, 64]
param B: f16[64, 8]
result C: f32[16, 8]
order A B

kernel product for sm_80 {
  launch grid 1 threads 32 shared 1536
  global gA: f16 = A readonly
  global gB: f16 = B readonly
  global gC: f32 = C
  shared sA: f16[512] at 0 align 16 // [stage][16][16]
  shared sB: f16[256] at 1024 align 16 // [stage][16][8]
  var d: f32[4]; var a: f16x2[4]; var b: f16x2[2]
  for i in 0..4 unroll { d[i] = 0 }
  copy cp.16 sA[16 * (lane >> 1) + 8 * (lane & 1)] <- gA[64 * (lane >> 1) + 8 * (lane & 1)]
  if lane < 16 { copy cp.16 sB[8 * lane] <- gB[8 * lane] }
  commit cp
  for k in 0..4 {
    if k < 3 {
      copy cp.16 sA[256 * ((k + 1) & 1) + 16 * (lane >> 1) + 8 * (lane & 1)] <- gA[64 * (lane >> 1) + 16 * (k + 1) + 8 * (lane & 1)]
      if lane < 16 { copy cp.16 sB[128 * ((k + 1) & 1) + 8 * lane] <- gB[8 * (16 * (k + 1) + lane)] }
    }
    commit cp
    wait cp, 1
    sync warp
    load a <- sA[256 * (k & 1) + 16 * (lane & 15) + 8 * (lane >> 4)] matrix 4
    load b <- sB[128 * (k & 1) + 8 * (lane & 15)] matrix.trans 2
    mma mma.m16n8k16.f32.f16 d += a[0:4] * b[0:2] acc true
    sync warp // before the stage is filled again
  }
  let g: i32 = lane >> 2; let t: i32 = 2 * (lane & 3)
  store gC[i64(8 * g + t)] <- d[0:2] vec 2
  store gC[i64(8 * (g + 8) + t)] <- d[2:2] vec 2
}
`

func TestCopyPipeline(t *testing.T) {
	a100, err := device.Find("a100")
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(7, 8))
	a, b := random(r, ir.F16, 16, 64), random(r, ir.F16, 64, 8)
	want := product(a, b, func(x float64, _ int) float64 { return x })
	call := &data.Call{Inputs: map[string]*data.Array{"A": a, "B": b}}
	for moment := range 3 {
		res, err := sim.Run(context.Background(), parse(t, pipeline), a100, call, sim.Options{Moment: sim.Moment(moment), Seed: 3})
		require.NoError(t, err)
		assert.EqualValues(t, (16*64+64*8)*2/32, res.Kernels[0].LoadSectors, "the lanes' copies are one access")
		for i, x := range want {
			require.InDelta(t, x, res.Outputs["C"].Float(i), 1e-3*(1+math.Abs(x)))
		}
	}
	for _, c := range []struct{ old, with, kind string }{
		{"wait cp, 1", "", "race"},
		{"wait cp, 1", "wait cp, 2", "race"},
		{"sync warp\n    load", "load", "race"},
		{"sync warp // before the stage is filled again", "", "race"},
		{"gA[64 * (lane >> 1) + 16 * (k + 1)", "gA[64 * (lane >> 1) + 4 * (k + 1)", "alignment"},
	} {
		m, err := simt.Parse(strings.Replace(pipeline, c.old, c.with, 1))
		require.NoError(t, err)
		_, err = sim.Run(context.Background(), m, a100, call, sim.Options{})
		var found sim.Mistakes
		require.ErrorAs(t, err, &found, c.old)
		assert.Equal(t, c.kind, found[0].Kind, c.old)
	}
	v100, err := device.Find("v100")
	require.NoError(t, err)
	_, err = sim.Run(context.Background(), parse(t, pipeline), v100, call, sim.Options{})
	require.ErrorContains(t, err, "V100-SXM2-16GB (sm_70) cannot run a program for sm_80")
}

// exchangeText lets the two blocks of a cluster write into each other's memory, and copy in bulk.
const exchangeText = `
simt swap
param X: f32[128]
result Y: f32[128]
result Z: f32[128]
order X

kernel swap for sm_90 {
  launch grid 2 threads 64 cluster 2 shared 1040
  global gX: f32 = X readonly
  global gY: f32 = Y
  global gZ: f32 = Z
  shared s: f32[64] at 0 align 128
  shared u: f32[64] at 256 align 128
  shared v: f32[64] at 512 align 128
  mbar full[1] at 1024 count 1
  if tid == 0 { init full[0], 1; fence init }
  arrive cluster
  wait cluster
  var x: f32
  load x <- gX[i64(64 * cta + tid)]
  store s[tid]@(1 - rank) <- x
  store u[tid] <- x
  fence async
  sync cta
  if tid == 0 {
    expect full[0], 256
    copy bulk.peer v[0]@(1 - rank) <- u[0] bytes 256 done full[0]@(1 - rank)
  }
  arrive cluster
  wait cluster
  load x <- s[tid]
  store gY[i64(64 * cta + tid)] <- x
  wait full[0], 0
  load x <- v[tid]
  store gZ[i64(64 * cta + tid)] <- x
}
`

func TestClusters(t *testing.T) {
	call := &data.Call{Inputs: map[string]*data.Array{"X": ramp(128)}}
	for moment := range 3 {
		res, err := sim.Run(context.Background(), parse(t, exchangeText), h200(t), call, sim.Options{Moment: sim.Moment(moment), Seed: 5})
		require.NoError(t, err)
		for i := range 128 {
			require.Equal(t, float64(i^64), res.Outputs["Y"].Float(i))
			require.Equal(t, float64(i^64), res.Outputs["Z"].Float(i))
		}
	}
	for _, c := range []struct {
		old, with string
		nth       int
		kind      string
	}{
		{"  arrive cluster\n  wait cluster\n", "", 1, "race"},
		{"  arrive cluster\n  wait cluster\n", "", 0, "barrier"},
		{"  fence async\n", "", 0, "async"},
		{"  wait full[0], 0\n", "", 0, "race"},
		{"  arrive cluster\n", "", 1, "race"},
		{"  wait cluster\n", "", 1, "race"},
	} {
		parts := strings.SplitN(exchangeText, c.old, c.nth+2)
		m, err := simt.Parse(strings.Join(parts[:c.nth+1], c.old) + c.with + parts[c.nth+1])
		require.NoError(t, err)
		_, err = sim.Run(context.Background(), m, h200(t), call, sim.Options{})
		var found sim.Mistakes
		require.ErrorAs(t, err, &found, c.old)
		assert.Equal(t, c.kind, found[0].Kind, "%q: %v", c.old, found)
	}
}

// Every operation of one warp computes the product of the matrices that its table of places says.
func TestWarpMatrixOperations(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, a := range simt.Atoms() {
		if a.Warps != 1 {
			continue
		}
		t.Run(a.Name, func(t *testing.T) { warpProduct(t, r, a) })
	}
}

func warpProduct(t *testing.T, r *rand.Rand, a *simt.Atom) {
	b := newBuilder(1, 32)
	ra, rb, rd := a.ARegs(), a.BRegs(), a.DRegs()
	inputs := map[string]*data.Array{}
	var slices []simt.Slice
	for _, o := range []struct {
		name string
		t    ir.Type
		n    int
		role simt.Role
	}{{"A", a.A, ra, simt.Param}, {"B", a.B, rb, simt.Param}, {"D", a.D, rd, simt.Param}} {
		reg := &simt.Reg{Name: o.name, Type: o.t, Len: o.n, Mutable: true}
		b.add(&simt.Let{Head: b.head(), Reg: reg})
		buf := b.array(o.name, o.t, o.role, int64(32*o.n))
		inputs[o.name] = data.New(o.t, 32*o.n)
		for i := range 32 * o.n {
			inputs[o.name].SetBits(i, smallBits(r, o.t))
		}
		for k := range o.n {
			b.add(&simt.Load{Head: b.head(), To: simt.Slice{Reg: reg, From: ir.Int64(int64(k)), Len: 1}, From: simt.Mem{Buf: buf, At: wide(ir.Add(ir.Mul(tid, i32(int64(o.n))), i32(int64(k))))}})
		}
		slices = append(slices, simt.Slice{Reg: reg, From: ir.Int64(0), Len: o.n})
	}
	out := b.array("Y", a.D, simt.Result, int64(32*rd))
	b.add(&simt.Mma{Head: b.head(), Atom: a, A: simt.Operand{Slice: &slices[0]}, B: simt.Operand{Slice: &slices[1]}, D: slices[2], Acc: ir.True})
	for k := range rd {
		b.add(b.store(out, wide(ir.Add(ir.Mul(tid, i32(int64(rd))), i32(int64(k)))), simt.Elem(slices[2].Reg, ir.Int64(int64(k)))))
	}
	res, err := b.run(t, inputs, sim.Options{})
	require.NoError(t, err)
	ma, mb := map[[2]int]float64{}, map[[2]int]float64{}
	for lane := range 32 {
		for i := range ra * simt.ElemsPerReg(a.A) {
			row, k := a.AAt(lane, i)
			ma[[2]int{row, k}] = elementOf(inputs["A"], ra*lane, i)
		}
		for i := range rb * simt.ElemsPerReg(a.B) {
			k, col := a.BAt(lane, i)
			mb[[2]int{k, col}] = elementOf(inputs["B"], rb*lane, i)
		}
	}
	require.Len(t, ma, a.M*a.K, "every element of A has one place")
	require.Len(t, mb, a.K*a.N, "every element of B has one place")
	seen := map[[2]int]bool{}
	for lane := range 32 {
		for i := range rd * simt.ElemsPerReg(a.D) {
			row, col := a.DAt(lane, i)
			seen[[2]int{row, col}] = true
			want := elementOf(inputs["D"], rd*lane, i)
			for k := range a.K {
				want += ma[[2]int{row, k}] * mb[[2]int{k, col}]
			}
			require.Equal(t, want, elementOf(res.Outputs["Y"], rd*lane, i), "D[%d, %d]", row, col)
		}
	}
	require.Len(t, seen, a.M*a.N)
}

// smallBits is the pattern of a register of small whole numbers, whose products and sums are exact everywhere.
func smallBits(r *rand.Rand, t ir.Type) uint64 {
	one := ir.Type{Elem: t.Elem, Pack: 1}
	var w uint64
	for i := range int(t.Pack) {
		x := float64(r.IntN(5) - 2)
		c := ir.FloatConst(x)
		if one.IsInt() {
			if one.Elem.Kind == ir.Uint {
				x = math.Abs(x)
			}
			c = ir.IntConst(int64(x))
		}
		w |= ir.ToBits(one, c) << (i * t.Elem.Bits)
	}
	return w
}

// elementOf is element i of the registers that begin at one.
func elementOf(a *data.Array, first, i int) float64 {
	pack := int(a.Type.Pack)
	one := ir.Type{Elem: a.Type.Elem, Pack: 1}
	c := ir.FromBits(one, a.Bits(first+i/pack)>>(i%pack*one.Bits())&(1<<(one.Bits()-1)<<1-1))
	if one.IsInt() {
		return float64(c.Int())
	}
	return c.Float()
}

// Operations of a warp group read tiles through descriptors, with both orders and every type.
func TestGroupMatrixOperations(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, name := range []string{"wgmma.m64n16k16.f32.f16", "wgmma.m64n64k16.f32.f16.tb", "wgmma.m64n8k16.f32.bf16.ta.tb", "wgmma.m64n24k16.f16.f16",
		"wgmma.m64n16k8.f32.tf32", "wgmma.m64n16k32.f32.f8e4m3", "wgmma.m64n16k32.i32.i8.u8", "wgmma.m64n8k32.f32.f8e4m3.f8e5m2"} {
		a := simt.AtomByName(name)
		require.NotNil(t, a, name)
		t.Run(name, func(t *testing.T) { groupProduct(t, r, a) })
	}
}

func groupProduct(t *testing.T, r *rand.Rand, a *simt.Atom) {
	elem := func(x ir.Type) ir.Type { return ir.Type{Elem: x.Elem, Pack: 1} }
	ea, eb := elem(a.A), elem(a.B)
	// tiles lie in rows of 128 bytes: K-major lines of A or columns of B, or K lines of 64 elements
	lay := func(lines, k int, e ir.Type, trans bool) (n int, at func(line, k int) int) {
		row := 128 / e.Bytes()
		chunk := 16 / e.Bytes()
		if trans {
			return (lines + 63) / 64 * a.K * row, func(line, k int) int {
				p := line/64*a.K*row + k*row
				return p + (line%64/chunk^k%8)*chunk + line%chunk
			}
		}
		return (lines + 7) / 8 * 8 * row, func(line, k int) int { return line*row + (k/chunk^line%8)*chunk + k%chunk }
	}
	na, placeA := lay(a.M, a.K, ea, a.TransA)
	nb, placeB := lay(a.N, a.K, eb, a.TransB)
	bytesA := (na*ea.Bytes() + 1023) / 1024 * 1024
	desc := func(buf string, e ir.Type, trans bool) string {
		if trans {
			return fmt.Sprintf("desc.mn(addr(%s, 0), %d)", buf, a.K*128)
		}
		return fmt.Sprintf("desc.k(addr(%s, 0))", buf)
	}
	text := fmt.Sprintf(`
simt m
param A: %s[%d]
param B: %s[%d]
result D: %s[128, %d]
order A B

kernel m for sm_90a {
  launch grid 1 threads 128 shared %d
  global gA: %s = A readonly
  global gB: %s = B readonly
  global gD: %s = D
  shared sA: %s[%d] at 0 align 1024
  shared sB: %s[%d] at %d align 1024
  var x: %s; var y: %s; var d: %s[%d]
  for i in tid..%d step 128 { load x <- gA[i64(i)]; store sA[i] <- x }
  for i in tid..%d step 128 { load y <- gB[i64(i)]; store sB[i] <- y }
  fence async
  sync cta
  fence wgmma
  mma %s d += (%s) of sA[0] * (%s) of sB[0] acc false
  commit wgmma
  wait wgmma, 0
  for i in 0..%d unroll { store gD[i64(%d * tid + i)] <- d[i] }
}
`, ea, na, eb, nb, a.D, a.DRegs(), bytesA+nb*eb.Bytes(), ea, eb, a.D, ea, na, eb, nb, bytesA, ea, eb, a.D, a.DRegs(), na, nb,
		a.Name, desc("sA", ea, a.TransA), desc("sB", eb, a.TransB), a.DRegs(), a.DRegs())
	inA, inB := data.New(ea, na), data.New(eb, nb)
	for _, in := range []*data.Array{inA, inB} {
		for i := range in.Len() {
			in.SetBits(i, smallBits(r, in.Type))
		}
	}
	res, err := sim.Run(context.Background(), parse(t, text), h200(t), &data.Call{Inputs: map[string]*data.Array{"A": inA, "B": inB}}, sim.Options{})
	require.NoError(t, err)
	for thread := range 128 {
		for i := range a.DRegs() * simt.ElemsPerReg(a.D) {
			row, col := a.DAt(thread, i)
			want := 0.0
			for k := range a.K {
				want += inA.Float(placeA(row, k)) * inB.Float(placeB(col, k))
			}
			require.Equal(t, want, elementOf(res.Outputs["D"], a.DRegs()*thread, i), "D[%d, %d]", row, col)
		}
	}
}
