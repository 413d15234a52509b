package passes_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
	"github.com/gkc-lang/gkc/passes"
)

// dotsOf calls f for the dots of a module.
func dotsOf(list []tile.Stmt, f func(*tile.Dot)) {
	for _, s := range list {
		switch s := s.(type) {
		case *tile.Loop:
			dotsOf(s.Body, f)
		case *tile.Dot:
			f(s)
		}
	}
}

// TestDotLayouts: layouts of products of all sizes cover the tile, end in what a matrix operation leaves, and leave warps without
// work only where there is none; operands are read without conflicts behind some swizzle.
func TestDotLayouts(t *testing.T) {
	dev, err := device.Find("h200")
	require.NoError(t, err)
	powers := []int{8, 16, 32, 64, 128}
	types := [][3]string{{"f16", "f16", "f32"}, {"f32", "f32", "f32"}, {"i8", "i8", "i32"}, {"f64", "f64", "f64"}, {"f8e4m3", "f8e4m3", "f32"}}
	n := 0
	for _, m := range powers {
		for _, k := range powers[1:] {
			for _, warps := range [][2]int{{1, 1}, {2, 2}, {1, 4}, {4, 2}, {8, 1}} {
				for _, of := range types {
					n++
					p := product{a: of[0], b: of[1], acc: of[2], m: m, n: powers[n%len(powers)], k: k, warpsM: warps[0], warpsN: warps[1], trips: 1, flipA: n&1 != 0, flipB: n&2 != 0, tensor: n >> 2 & 1}
					mod, errs := tile.Parse(p.text())
					require.NoError(t, errs.Err())
					u := &passes.Unit{Level: passes.Tile, Tile: mod, Device: dev}
					require.NoError(t, passes.Run(u, passes.Options{Only: []string{"pick_atoms"}}))
					kernel := u.Tile.Kernels[0]
					require.Zero(t, passes.PlaceDots(kernel), "%s\n%s", p, u.Text())
					require.NoError(t, tile.Verify(u.Tile), p.String())
					dotsOf(kernel.Body, func(d *tile.Dot) {
						atom := simt.AtomByName(d.Atom)
						require.Equal(t, p.tensor == 1 && of[0] != "f32" && (p.m >= 16 || of[0] == "f64") && (of[0] != "f8e4m3" || p.k >= 32), atom != nil, p.String())
						l := d.Out.Layout
						operations := p.m * p.n / simt.WarpSize
						if atom != nil {
							operations = p.m / atom.M * (p.n / atom.N)
							_, ends := l.Divide(leaves(atom, l.Axes))
							require.True(t, ends, "%s: %v", p, l)
						}
						busy := 1
						for _, bit := range l.Bits[ir.WarpBits] {
							if bit.Free == 0 {
								busy *= 2
							}
						}
						require.GreaterOrEqual(t, busy, min(operations, warps[0]*warps[1]), p.String())
					})
				}
			}
		}
	}
}

// leaves is the layout in which an operation of one warp leaves its result.
func leaves(a *simt.Atom, axes []string) *ir.Layout {
	l := &ir.Layout{Axes: axes}
	bit := func(place, thread, i int) {
		row, col := a.DAt(thread, i)
		l.Bits[place] = append(l.Bits[place], ir.LayoutBit{To: []uint32{uint32(row), uint32(col)}})
	}
	for i := 1; i < a.DRegs(); i *= 2 {
		bit(ir.RegBits, 0, i)
	}
	for lane := 1; lane < simt.WarpSize; lane *= 2 {
		bit(ir.LaneBits, lane, 0)
	}
	return l
}

// TestPickAtoms: what a device has and the schedule allows, the largest that fits.
func TestPickAtoms(t *testing.T) {
	for _, c := range []struct {
		device, a, b, acc string
		m, n, k, tensor   int
		want              string
	}{
		{"h200", "f16", "f16", "f32", 64, 64, 32, 1, "mma.m16n8k16.f32.f16"},
		{"h200", "f16", "f16", "f32", 64, 64, 8, 1, "mma.m16n8k8.f32.f16"},
		{"h200", "f16", "f16", "f32", 64, 64, 32, 0, ""},
		{"h200", "f16", "f16", "f32", 8, 64, 32, 1, ""},
		{"h200", "f16", "bf16", "f32", 64, 64, 32, 1, ""},
		{"h200", "bf16", "bf16", "f32", 64, 64, 32, 1, "mma.m16n8k16.f32.bf16"},
		{"h200", "f32", "f32", "f32", 64, 64, 32, 1, ""},
		{"h200", "f64", "f64", "f64", 64, 64, 32, 1, "mma.m16n8k16.f64.f64"},
		{"a100", "f64", "f64", "f64", 64, 64, 32, 1, "mma.m8n8k4.f64.f64"},
		{"h200", "u8", "i8", "i32", 64, 64, 32, 1, "mma.m16n8k32.i32.u8.i8"},
		{"h200", "i8", "i8", "i64", 64, 64, 32, 1, ""},
		{"h200", "f8e4m3", "f8e5m2", "f32", 64, 64, 32, 1, "mma.m16n8k32.f32.f8e4m3.f8e5m2"},
		{"a100", "f8e4m3", "f8e5m2", "f32", 64, 64, 32, 1, ""},
		{"v100", "f16", "f16", "f32", 64, 64, 32, 1, ""},
		{"mi300x", "f16", "f16", "f32", 64, 64, 32, 1, ""},
		{"", "f16", "f16", "f32", 64, 64, 32, 1, ""},
	} {
		p := product{a: c.a, b: c.b, acc: c.acc, m: c.m, n: c.n, k: c.k, warpsM: 2, warpsN: 2, trips: 1, tensor: c.tensor}
		m, errs := tile.Parse(p.text())
		require.NoError(t, errs.Err())
		u := &passes.Unit{Level: passes.Tile, Tile: m}
		if c.device != "" {
			var err error
			u.Device, err = device.Find(c.device)
			require.NoError(t, err)
		}
		require.NoError(t, passes.Run(u, passes.Options{Only: []string{"pick_atoms"}}))
		dotsOf(u.Tile.Kernels[0].Body, func(d *tile.Dot) { require.Equal(t, c.want, d.Atom, fmt.Sprint(c)) })
		dotsOf(m.Kernels[0].Body, func(d *tile.Dot) { require.Empty(t, d.Atom, "what a pass is given stays as it is") })
	}
}
