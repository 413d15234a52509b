package simt

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
)

// covers counts how often each place of a matrix is held; places says where element i of a thread lies.
func covers(t *testing.T, rows, cols, threads, elems int, place func(thread, i int) (int, int)) {
	t.Helper()
	seen := make([]int, rows*cols)
	for thread := range threads {
		for i := range elems {
			r, c := place(thread, i)
			require.True(t, r >= 0 && r < rows && c >= 0 && c < cols, "thread %d element %d lies at %d, %d", thread, i, r, c)
			seen[r*cols+c]++
		}
	}
	for i, n := range seen {
		require.Equal(t, 1, n, "place %d, %d", i/cols, i%cols)
	}
}

func TestFragmentsHoldEveryElementOnce(t *testing.T) {
	require.Greater(t, len(Atoms()), 500)
	for _, a := range Atoms() {
		require.Same(t, a, AtomByName(a.Name))
		if a.N > 32 && a.N != 256 || a.TransA || a.TransB {
			continue // the same pattern, repeated, or laid out otherwise in shared memory
		}
		threads := a.Warps * WarpSize
		covers(t, a.M, a.N, threads, a.DRegs()*ElemsPerReg(a.D), a.DAt)
		covers(t, a.M, a.K, threads, a.ARegs()*ElemsPerReg(a.A), a.AAt)
		if !a.BSmem {
			covers(t, a.K, a.N, threads, a.BRegs()*ElemsPerReg(a.B), a.BAt)
		}
	}
}

// Registers and fragments of some rows as the instruction set documents them.
func TestAtomsAreAsDocumented(t *testing.T) {
	for name, want := range map[string][3]int{ // registers of D, A, B
		"mma.m16n8k8.f32.f16":             {4, 2, 1},
		"mma.m16n8k16.f32.bf16":           {4, 4, 2},
		"mma.m16n8k16.f16.f16":            {2, 4, 2},
		"mma.m16n8k4.f32.tf32":            {4, 2, 1},
		"mma.m16n8k8.f32.tf32":            {4, 4, 2},
		"mma.m16n8k16.i32.i8":             {4, 2, 1},
		"mma.m16n8k32.i32.u8.i8":          {4, 4, 2},
		"mma.m16n8k32.f32.f8e4m3":         {4, 4, 2},
		"mma.m8n8k4.f64.f64":              {2, 1, 1},
		"mma.m16n8k16.f64.f64":            {4, 8, 4},
		"wgmma.m64n256k16.f32.f16.tb":     {128, 4, 0},
		"wgmma.m64n64k16.f16.f16":         {16, 4, 0},
		"wgmma.m64n8k8.f32.tf32":          {4, 4, 0},
		"wgmma.m64n96k32.f32.f8e5m2":      {48, 4, 0},
		"wgmma.m64n48k32.i32.i8":          {24, 4, 0},
		"wgmma.m64n128k16.f32.bf16.ta.tb": {64, 4, 0},
	} {
		a := AtomByName(name)
		require.NotNil(t, a, name)
		assert.Equal(t, want, [3]int{a.DRegs(), a.ARegs(), a.BRegs()}, name)
	}
	for _, name := range []string{"wgmma.m64n40k32.i32.i8", "wgmma.m64n8k8.f32.tf32.tb", "mma.m16n8k8.f64.f16", "wgmma.m64n264k16.f32.f16"} {
		assert.Nil(t, AtomByName(name), name)
	}
	a := AtomByName("mma.m16n8k16.f32.f16")
	row, k := a.AAt(5, 7) // lane 5 is group 1, thread 1: register 3 holds row 9, columns 10 and 11
	assert.Equal(t, [2]int{9, 11}, [2]int{row, k})
	k, col := a.BAt(5, 2)
	assert.Equal(t, [2]int{10, 1}, [2]int{k, col})
	row, col = a.DAt(5, 3)
	assert.Equal(t, [2]int{9, 3}, [2]int{row, col})
	w := AtomByName("wgmma.m64n128k16.f32.f16")
	row, col = w.DAt(37, 6) // warp 1, lane 5
	assert.Equal(t, [2]int{25, 10}, [2]int{row, col})
}

func TestTablesAreConsistent(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, v := range Verbs {
		key := [2]string{v.Name, v.On}
		assert.False(t, seen[key], "%v twice", key)
		seen[key] = true
		assert.Same(t, v, VerbOf(v.Name, v.On))
		assert.NotEmpty(t, v.Text)
		assert.True(t, v.Needs == "" || targetNumber(v.Needs) >= 70, v.Needs)
	}
	for _, f := range CopyForms {
		assert.Same(t, f, CopyFormByName(f.Name))
		assert.False(t, f.Bar && f.Queue != "", "%s completes in two ways", f.Name)
		assert.Equal(t, f.To == AtNone, !f.Bar && f.Queue == "", "%s completes in no way", f.Name)
	}
	for _, op := range ir.Ops {
		assert.True(t, op.Rule != nil || op.Free || op == ir.OpConst, "%s has no type rule", op.Name)
	}
}
