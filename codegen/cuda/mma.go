package cuda

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// mma prints a matrix operation as a call of a helper that is made for its atom, and for where A lies.
func (p *printer) mma(s *simt.Mma) {
	a := s.Atom
	name := strings.NewReplacer(".", "_").Replace(a.Name)
	if a.Async {
		name += map[bool]string{true: "_rs", false: "_ss"}[s.A.Slice != nil]
	}
	p.helpers[name] = mmaHelper(name, a, s.A.Slice != nil)
	args := []string{p.slice(s.D), p.operand(s.A), p.operand(s.B), p.values(s.Acc)[0]}
	p.line("%s(%s);", name, strings.Join(args, ", "))
}

// slice is a pointer to registers; loops around it are unrolled, so that they stay registers.
func (p *printer) slice(s simt.Slice) string {
	switch n, constant := s.From.IntValue(); {
	case s.From == nil && s.Reg.Len == 0:
		return "&" + p.ref(s.Reg)
	case s.From == nil || constant && n == 0:
		return p.ref(s.Reg)
	}
	return fmt.Sprintf("%s + %s", p.ref(s.Reg), paren(p.values(s.From)[0]))
}

func (p *printer) operand(o simt.Operand) string {
	if o.Slice != nil {
		return p.slice(*o.Slice)
	}
	return p.values(o.Desc)[0]
}

// ptxType is how PTX calls the elements of an operand.
func ptxType(t ir.Type, tf32 bool) string {
	if tf32 {
		return "tf32"
	}
	return map[string]string{"f16": "f16", "bf16": "bf16", "f8e4m3": "e4m3", "f8e5m2": "e5m2", "i8": "s8", "u8": "u8", "i32": "s32", "f32": "f32", "f64": "f64"}[t.Elem.Name]
}

// register is the constraint of a register, and how its value is passed: the unit takes tf32 as bits.
func register(t ir.Type, output bool) (letter, pattern string) {
	switch {
	case t == ir.F64:
		return "d", "%s"
	case t == ir.F32 && output:
		return "f", "%s"
	case t == ir.F32:
		return "r", "bits_f32(%s)"
	}
	return "r", "%s"
}

// asmList numbers the operands of an instruction.
type asmList struct {
	next         int
	outs, inputs []string
}

// registers adds n registers and returns them as PTX lists them.
func (l *asmList) registers(t ir.Type, name string, n int, output bool) string {
	letter, pattern := register(t, output)
	places := make([]string, n)
	for i := range places {
		places[i] = fmt.Sprintf("%%%d", l.next)
		l.next++
		value := fmt.Sprintf(pattern, fmt.Sprintf("%s[%d]", name, i))
		if output {
			l.outs = append(l.outs, fmt.Sprintf("\"+%s\"(%s)", letter, value))
		} else {
			l.inputs = append(l.inputs, fmt.Sprintf("%q(%s)", letter, value))
		}
	}
	return "{" + strings.Join(places, ", ") + "}"
}

func (l *asmList) input(letter, value string) string {
	l.inputs = append(l.inputs, fmt.Sprintf("%q(%s)", letter, value))
	l.next++
	return fmt.Sprintf("%%%d", l.next-1)
}

// mmaHelper is the function that executes an atom. D is read and written: D = A*B + (acc ? D : 0).
func mmaHelper(name string, a *simt.Atom, registers bool) string {
	if !a.Async {
		return warpMma(name, a)
	}
	var l asmList
	d := l.registers(a.D, "d", a.DRegs(), true)
	matrixA, kindA := "", "u64 a"
	if registers {
		matrixA, kindA = l.registers(a.A, "a", a.ARegs(), false), fmt.Sprintf("const %s *a", typeOf(a.A))
	} else {
		matrixA = l.input("l", "a")
	}
	b := l.input("l", "b")
	acc := l.input("r", "(u32)acc")
	modes := ""
	if a.D != ir.I32 {
		modes = ", 1, 1"
	}
	if bits := a.A.Elem.Bits; bits == 16 {
		if !registers {
			modes += ", " + bit(a.TransA)
		}
		modes += ", " + bit(a.TransB)
	}
	text := fmt.Sprintf("{\\n.reg .pred q;\\nsetp.ne.b32 q, %s, 0;\\nwgmma.mma_async.sync.aligned.m%dn%dk%d.%s.%s.%s %s, %s, %s, q%s;\\n}",
		acc, a.M, a.N, a.K, ptxType(a.D, false), ptxType(a.A, a.Tf32), ptxType(a.B, a.Tf32), d, matrixA, b, modes)
	return fmt.Sprintf("DEV void %s(%s *d, %s, u64 b, bool acc) {\n  asm volatile(\"%s\"\n    : %s\n    : %s);\n}",
		name, typeOf(a.D), kindA, text, strings.Join(l.outs, ", "), strings.Join(l.inputs, ", "))
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// warpMma is an operation of one warp: all operands are registers, and C is D or zero.
func warpMma(name string, a *simt.Atom) string {
	var l asmList
	d := l.registers(a.D, "d", a.DRegs(), true)
	matrixA := l.registers(a.A, "a", a.ARegs(), false)
	matrixB := l.registers(a.B, "b", a.BRegs(), false)
	text := fmt.Sprintf("mma.sync.aligned.m%dn%dk%d.row.col.%s.%s.%s.%s %s, %s, %s, %s;",
		a.M, a.N, a.K, ptxType(a.D, false), ptxType(a.A, a.Tf32), ptxType(a.B, a.Tf32), ptxType(a.D, false), d, matrixA, matrixB, d)
	return fmt.Sprintf("DEV void %s(%s *d, const %s *a, const %s *b, bool acc) {\n  if (!acc)\n    for (int i = 0; i < %d; i++) d[i] = 0;\n  asm volatile(\"%s\"\n    : %s\n    : %s);\n}",
		name, typeOf(a.D), typeOf(a.A), typeOf(a.B), a.DRegs(), text, strings.Join(l.outs, ", "), strings.Join(l.inputs, ", "))
}
