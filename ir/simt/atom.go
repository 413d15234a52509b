package simt

import (
	"fmt"
	"sync"

	"github.com/gkc-lang/gkc/ir"
)

// Atom is a row of the table of matrix operations: D[M,N] = A[M,K] * B[K,N] + (Acc ? D : 0), by Warps warps together.
type Atom struct {
	Name    string
	M, N, K int
	D       ir.Type // of a register of D: f32, f64, i32, or f16x2
	A, B    ir.Type // of a register of an operand: packed words, f32 (of which the unit reads tf32), f64
	Tf32    bool    // reads 10 bits of the mantissa of f32
	Warps   int     // 1, or 4: a warp group
	Async   bool    // joins the queue wgmma; its registers are in flight until a wait
	ASmem   bool    // A may be a descriptor
	BSmem   bool    // B must be a descriptor; otherwise it is registers
	TransA  bool    // A in shared memory is contiguous along M
	TransB  bool    // B in shared memory is contiguous along N
	Needs   string  // least device
}

// ElemsPerReg is the number of matrix elements that a register of type t holds.
func ElemsPerReg(t ir.Type) int { return int(t.Pack) }

// DRegs is the number of registers of D that a thread holds.
func (a *Atom) DRegs() int { return a.M * a.N / a.threads() / ElemsPerReg(a.D) }

// ARegs is the number of registers of A that a thread holds, where A is in registers.
func (a *Atom) ARegs() int { return a.M * a.K / a.threads() / ElemsPerReg(a.A) }

// BRegs is the number of registers of B that a thread holds, where B is in registers.
func (a *Atom) BRegs() int {
	if a.BSmem {
		return 0
	}
	return a.K * a.N / a.threads() / ElemsPerReg(a.B)
}

func (a *Atom) threads() int { return a.Warps * WarpSize }

// DAt is the place in D of element i that a thread holds, counting through its registers; thread counts within the Warps warps.
func (a *Atom) DAt(thread, i int) (row, col int) {
	lane, halves := thread%WarpSize, a.halves()
	row = thread/WarpSize*16 + lane>>2 + 8*(i>>1%halves)
	return row, 8*(i>>1/halves) + 2*(lane&3) + i&1
}

// AAt is the place in A of element i that a thread holds.
func (a *Atom) AAt(thread, i int) (row, k int) {
	lane, halves, word := thread%WarpSize, a.halves(), ElemsPerReg(a.A)
	reg := i / word
	return thread/WarpSize*16 + lane>>2 + 8*(reg%halves), (lane&3+4*(reg/halves))*word + i%word
}

// BAt is the place in B of element i that a thread holds.
func (a *Atom) BAt(thread, i int) (k, col int) {
	lane, word := thread%WarpSize, ElemsPerReg(a.B)
	return (lane&3+4*(i/word))*word + i%word, lane >> 2
}

// halves is the number of blocks of 8 rows that a warp holds.
func (a *Atom) halves() int { return min(a.M/a.Warps/8, 2) }

var atomIndex = sync.OnceValue(func() map[string]*Atom {
	out := map[string]*Atom{}
	for _, a := range append(warpAtoms(), groupAtoms()...) {
		if out[a.Name] != nil {
			panic("simt: atom " + a.Name + " is listed twice")
		}
		out[a.Name] = a
	}
	return out
})

// AtomByName finds a row; nil if there is none. Names are FAMILY.mMnNkK.D.AB, FAMILY.mMnNkK.D.A.B where the operands differ, and
// end in .ta or .tb where an operand is transposed in shared memory.
func AtomByName(name string) *Atom { return atomIndex()[name] }

// Atoms lists the table, in no order that means anything.
func Atoms() []*Atom {
	out := make([]*Atom, 0, len(atomIndex()))
	for _, a := range atomIndex() {
		out = append(out, a)
	}
	return out
}

// kinds of operands: the name in the atom, the register type, and whether f32 is read as tf32.
type kind struct {
	name string
	reg  ir.Type
	tf32 bool
}

func packed(t ir.Type) kind { return kind{t.String(), ir.Packed(t.Elem), false} }

var (
	kindF16, kindBF16  = packed(ir.F16), packed(ir.BF16)
	kindE4M3, kindE5M2 = packed(ir.F8E4M3), packed(ir.F8E5M2)
	kindI8, kindU8     = packed(ir.I8), packed(ir.U8)
	kindTF32           = kind{"tf32", ir.F32, true}
	kindF64            = kind{"f64", ir.F64, false}
	kindD32            = kind{"f32", ir.F32, false}
	kindDI32           = kind{"i32", ir.I32, false}
	pairsFP8           = [][2]kind{{kindE4M3, kindE4M3}, {kindE4M3, kindE5M2}, {kindE5M2, kindE4M3}, {kindE5M2, kindE5M2}}
	pairsInt8          = [][2]kind{{kindI8, kindI8}, {kindI8, kindU8}, {kindU8, kindI8}, {kindU8, kindU8}}
)

func newAtom(family string, m, n, k int, d, a, b kind) *Atom {
	name := fmt.Sprintf("%s.m%dn%dk%d.%s.%s", family, m, n, k, d.name, a.name)
	if a.name != b.name {
		name += "." + b.name
	}
	return &Atom{Name: name, M: m, N: n, K: k, D: d.reg, A: a.reg, B: b.reg, Tf32: a.tf32, Warps: 1}
}

// warpAtoms are those of one warp with all operands in registers.
func warpAtoms() []*Atom {
	var out []*Atom
	add := func(needs string, m, n, k int, d, a, b kind) {
		x := newAtom("mma", m, n, k, d, a, b)
		x.Needs = needs
		out = append(out, x)
	}
	for _, k := range []int{8, 16} {
		add("sm_80", 16, 8, k, kindD32, kindF16, kindF16)
		add("sm_80", 16, 8, k, kindF16, kindF16, kindF16)
		add("sm_80", 16, 8, k, kindD32, kindBF16, kindBF16)
		add("sm_80", 16, 8, k/2, kindD32, kindTF32, kindTF32)
		for _, p := range pairsInt8 {
			add("sm_80", 16, 8, 2*k, kindDI32, p[0], p[1])
		}
	}
	for _, p := range pairsFP8 {
		add("sm_89", 16, 8, 32, kindD32, p[0], p[1])
	}
	add("sm_80", 8, 8, 4, kindF64, kindF64, kindF64)
	for _, k := range []int{4, 8, 16} {
		add("sm_90", 16, 8, k, kindF64, kindF64, kindF64)
	}
	return out
}

// groupAtoms are those of four warps: B in shared memory, A in shared memory or registers.
func groupAtoms() []*Atom {
	var out []*Atom
	add := func(n, k int, d, a, b kind, ta, tb bool) {
		x := newAtom("wgmma", 64, n, k, d, a, b)
		x.Warps, x.Async, x.ASmem, x.BSmem, x.TransA, x.TransB, x.Needs = 4, true, true, true, ta, tb, "sm_90a"
		if ta {
			x.Name += ".ta"
		}
		if tb {
			x.Name += ".tb"
		}
		out = append(out, x)
	}
	for n := 8; n <= 256; n += 8 {
		for trans := range 4 { // only 16-bit operands can be transposed
			ta, tb := trans&1 != 0, trans&2 != 0
			add(n, 16, kindD32, kindF16, kindF16, ta, tb)
			add(n, 16, kindF16, kindF16, kindF16, ta, tb)
			add(n, 16, kindD32, kindBF16, kindBF16, ta, tb)
		}
		add(n, 8, kindD32, kindTF32, kindTF32, false, false)
		for _, p := range pairsFP8 {
			add(n, 32, kindD32, p[0], p[1], false, false)
			add(n, 32, kindF16, p[0], p[1], false, false)
		}
		if n < 32 || n%16 == 0 {
			for _, p := range pairsInt8 {
				add(n, 32, kindDI32, p[0], p[1], false, false)
			}
		}
	}
	return out
}
