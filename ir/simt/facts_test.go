package simt

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// regs finds registers by name; a name that is declared more than once means the last.
func regs(k *Kernel) map[string]*Reg {
	out := map[string]*Reg{}
	Walk(k.Body, func(s Stmt) {
		switch s := s.(type) {
		case *Let:
			out[s.Reg.Name] = s.Reg
		case *For:
			out[s.Var.Name] = s.Var
		}
	})
	return out
}

func TestFacts(t *testing.T) {
	linear := func(stride, bound int64) Fact {
		return Fact{Same: SameLane, Linear: true, Stride: stride, Max: bound}
	}
	same := func(s Scope, bound int64) Fact { return Fact{Same: s, Linear: true, Max: bound} }
	for name, c := range map[string]struct {
		body string
		want Fact // of a
	}{
		"a thread's number":        {"let a: i32 = tid", linear(1, 128)},
		"a multiple":               {"let a: i32 = 4 * tid + 3", linear(4, 515)},
		"widened":                  {"let a: i64 = 8 * widen.i64(tid) - 16", linear(8, 1040)},
		"cast":                     {"let a: i64 = i64(lane)", linear(1, 32)},
		"may wrap before widening": {"let a: i64 = widen.i64(tid * n)", Fact{Same: SameLane, Max: -1}},
		"cast may saturate":        {"let a: u32 = u32(tid - 5)", Fact{Same: SameLane, Max: -1}},
		"a warp's number":          {"let a: i32 = tid / 32", same(SameWarp, 128)},
		"a shifted number":         {"let a: i32 = tid >> 5", same(SameWarp, 128)},
		"half a warp's":            {"let a: i32 = tid / 16", Fact{Same: SameLane, Max: 128}},
		"a size":                   {"let a: i32 = n + 1", same(SameGrid, -1)},
		"a block's number":         {"let a: i32 = cta", same(SameCta, 1<<31-1)},
		"broadcast":                {"let a: i32 = shfl(tid, 0)", same(SameWarp, -1)},
		"moved by itself":          {"let a: i32 = shfl(tid, lane)", Fact{Same: SameLane, Max: -1}},
		"exchanged":                {"let a: i32 = shfl.xor(tid, 1)", Fact{Same: SameLane, Max: -1}},
		"a vote":                   {"let a: bool = any(tid < n)", same(SameWarp, -1)},
		"the elected":              {"let a: bool = elect()", Fact{Same: SameLane, Max: -1}},
		"time":                     {"let a: u32 = clock()", Fact{Same: SameLane, Max: -1}},
		"pinned":                   {"let a: i32 = pin(tid)", linear(1, 128)},
		"read by all from one":     {"var a: f16\nload a <- gx[i64(n)]", same(SameGrid, -1)},
		"read where others write":  {"var a: i32\nload a <- gw[i64(n)]", same(SameWarp, -1)},
		"read by each":             {"var a: f16\nload a <- gx[i64(tid)]", Fact{Same: SameLane, Max: -1}},
		"what was there":           {"store gw[0] <- 1 add -> a", Fact{Same: SameLane, Max: -1}},
		"set by all":               {"var a: i32 = 0\nif n > 3 { a = 1 }", same(SameGrid, -1)},
		"set by some":              {"var a: i32 = 0\nif tid < n { a = 1 }", Fact{Same: SameLane, Max: -1}},
		"set by some warps":        {"var a: i32 = 0\nif warp < 2 { a = 1 }", same(SameWarp, -1)},
		"inside of some":           {"if tid < n { var a: i32 = 0\na = n }", same(SameGrid, -1)},
		"counted":                  {"var a: i32 = tid\nfor i in 0..n { a = a + 4 }", linear(1, -1)},
		"counted apart":            {"var a: i32 = 0\nfor i in 0..tid { a = a + 1 }", Fact{Same: SameLane, Max: -1}},
		"a loop":                   {"for a in 0..n { }", same(SameGrid, -1)},
		"a loop of a thread":       {"for a in tid..n step 128 { }", linear(1, -1)},
		"a ragged loop":            {"for a in 0..tid { }", same(SameGrid, 128)},
		"down from a thread's end": {"for a in 0..tid down { }", Fact{Same: SameLane, Max: 128}},
		"round a loop":             {"var a: i32 = 0\nvar b: i32 = 0\nfor i in 0..n { a = b; b = tid }", Fact{Same: SameLane, Max: -1}},
		"in a while":               {"var a: i32 = cta\nwhile { } a < n { a = a + ctas }", same(SameCta, -1)},
		"set in a role":            {"var a: i32 = 0\nroles { r warps 0..2 { a = 1 } }", same(SameWarp, -1)},
		"an array":                 {"var a: i32[2]\na[0] = n\na[1] = tid", Fact{Same: SameLane, Max: -1}},
		"chosen":                   {"let a: i32 = select(n > 3, tid, tid + 1)", linear(1, 129)},
		"chosen by each":           {"let a: i32 = select(tid > 3, tid, tid + 1)", Fact{Same: SameLane, Max: 129}},
	} {
		t.Run(name, func(t *testing.T) {
			k := moduleOf(t, frame("", "", c.body)).Kernels[0]
			f := FactsOf(k)
			assert.Equal(t, c.want, f.Reg(regs(k)["a"]))
		})
	}
}

func TestControl(t *testing.T) {
	for body, want := range map[string]Scope{
		"sync cta": SameGrid,
		"if n > 3 { for i in 0..cta { sync cta } }":                      SameCta,
		"if warp == 0 { sync cta }":                                      SameWarp,
		"if tid == 0 { sync cta }":                                       SameLane,
		"for i in 0..tid { sync cta }":                                   SameLane,
		"while { sync cta; let a: bool = any(tid == n) } a { }":          SameWarp,
		"roles { r warps 0..2 { if group == 0 { sync cta } } }":          SameWarp,
		"var a: i32 = 0\nif lane == 0 { a = 1 }\nif a == 1 { sync cta }": SameLane,
	} {
		k := moduleOf(t, frame("", "", body)).Kernels[0]
		f := FactsOf(k)
		Walk(k.Body, func(s Stmt) {
			if _, ok := s.(*Sync); ok {
				assert.Equal(t, want, f.Control(s), body)
			}
		})
	}
}
