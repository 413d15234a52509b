package simt

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
)

func TestEveryKindIsRight(t *testing.T) {
	m, err := Parse(readFile(t, "testdata/kinds.simt"))
	require.NoError(t, err)
	require.NoError(t, Verify(m))
}

// frame is a kernel around declarations and statements of a test.
func frame(launch, declarations, body string) string {
	if launch == "" {
		launch = "threads 128 shared 32768"
	}
	return `simt test
size N: i64 >= 1 multiple 8
scalar alpha: f32
param x: f16[N, N]
result y: f32[N]
work w: i32[N] zero each
order x alpha
site "index" of x 1 "x[i, j]"
site "division by zero" "i / j"
kernel k for sm_90a {
  host n: i32 = i32(N)
  host rows: i64 = N
  launch grid (N + 127) / 128 ` + launch + `
  global gx: f16 = x readonly
  global gy: f32 = y
  global gw: i32 = w
` + declarations + "\n" + body + "\n}\n"
}

func moduleOf(t *testing.T, src string) *Module {
	t.Helper()
	m, err := Parse(src)
	require.NoError(t, err, src)
	return m
}

func TestRightStatements(t *testing.T) {
	for name, c := range map[string]struct{ launch, declarations, body string }{
		"assigned on both paths":   {"", "", "var a: i32\nif tid < n { a = 1 } else { a = 2 }\nlet b: i32 = a"},
		"assigned by a load":       {"", "", "var a: i32\nload a <- gw[0]\nlet b: i32 = a"},
		"assigned in a head":       {"", "", "var a: i32 = 0\nwhile { a = a + 1; let c: bool = a < n } c { let b: i32 = a }"},
		"one name in two blocks":   {"", "", "if tid < n { let a: i32 = 1 } else { let a: i32 = 2 }\nfor a in 0..4 { sync cta }"},
		"barrier in uniform loops": {"", "", "var t: i32 = cta\nwhile { } t < n { sync cta; t = t + ctas }"},
		"barrier under a size":     {"", "", "if n > 5 { sync cta }"},
		"warp ops under warps":     {"", "", "if warp < 2 { let m: i32 = shfl.xor(tid, 1); sync warp }\nif tid / 32 < n { sync warp }"},
		"a vote is uniform":        {"", "", "let m: bool = any(tid < n)\nif m { sync warp }"},
		"unrolled subscripts":      {"", "", "var a: i32[8]\nfor i in 0..4 unroll { for j in i..i + 2 unroll { a[i + j] = 1 } }"},
		"vectors of proven rows":   {"", "shared s: f16[64] at 0 align 16", "var v: f16x2[4]\nlet r: i64 = rows * i64(tid)\nload v <- gx[r + 8*i64(lane)] vec 4\nstore s[8*(lane & 7)] <- v vec 4"},
		"reused bytes":             {"", "shared a: f32[64] at 0\nshared b: i32[64] at 0 over a\nshared c: i8[4] at 4 over b", ""},
		"combined and fetched":     {"", "", "store gw[0] <- tid max -> old\nlet b: i32 = old"},
		"two groups in flight":     {"", "shared s: f16[8192] at 0 align 1024", "var d: f32[64]\nvar e: f32[64]\nfence wgmma\nmma wgmma.m64n128k16.f32.f16 d += (u64(0)) of s[0] * (u64(0)) of s[0] acc false\ncommit wgmma\nfor i in 0..n { mma wgmma.m64n128k16.f32.f16 e += (u64(0)) of s[0] * (u64(0)) of s[0] acc false\ncommit wgmma\nwait wgmma, 1\nlet x: f32 = d[0]\nmma wgmma.m64n128k16.f32.f16 d += (u64(0)) of s[0] * (u64(0)) of s[0] acc false\ncommit wgmma }\nwait wgmma, 0\nlet y: f32 = d[0]"},
		"layouts of an atom":       {"", "layout C m n [reg n1 m8 | lane n2 n4 m1 m2 m4]\nlayout A m k [reg k1 m8 k8 | lane k2 k4 m1 m2 m4]\nlayout B k n [reg k1 k8 | lane k2 k4 n1 n2 n4]", "var d: f32[4] as C\nvar a: f16x2[4] as A\nvar b: f16x2[2] as B\nmma mma.m16n8k16.f32.f16 d += a * b acc false"},
		"named barrier":            {"", "named b[2] first 1 count 64", "if warp < 2 { sync b[0] } else { arrive b[1] }"},
		"roles":                    {"threads 384", "", "roles { a warps 0..4 regs 24 { let e: bool = elect() } b warps 4..12 by 4 regs 240 { var d: i32 = group; sync warp } }\nsync cta"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.NoError(t, Verify(moduleOf(t, frame(c.launch, c.declarations, c.body))))
		})
	}
}

func TestWrongStatements(t *testing.T) {
	ring := "shared s: f16[8192] at 0 align 1024\nmap m = x[N, N] strides [2*N] box [64, 64] swizzle 128\nmbar full[2] at 20480 count 1"
	flightBegin := "var d: f32[64]\nvar a: f16x2[4]\nload a <- s[0] vec 4\nfence wgmma\nmma wgmma.m64n128k16.f32.f16 d += a * (u64(0)) of s[0] acc false\n"
	begin := "init full[0], 1; expect full[0], 64; "
	for name, c := range map[string]struct{ launch, declarations, body, want string }{
		// names and values
		"no value":                {"", "", "let a: i32", "a never gets a value"},
		"used too early":          {"", "", "var a: i32\nlet b: i32 = a", "a is used before it has a value"},
		"assigned on one path":    {"", "", "var a: i32\nif tid < n { a = 1 }\nlet b: i32 = a", "a is used before it has a value"},
		"assigned in a loop":      {"", "", "var a: i32\nfor i in 0..n { a = 1 }\nlet b: i32 = a", "a is used before it has a value"},
		"assigned in a body":      {"", "", "var a: i32\nwhile { } a < n { a = 1 }", "a is used before it has a value"},
		"assigned by one role":    {"", "", "var a: i32\nroles { r warps 0..4 { a = 1 } }\nlet b: i32 = a", "a is used before it has a value"},
		"a let is set":            {"", "", "let a: i32 = 1\na = 2", "a has its value from its declaration"},
		"a loop variable is set":  {"", "", "for i in 0..4 { i = 2 }", "i has its value from its declaration"},
		"a let is loaded":         {"", "", "let a: i32 = 1\nload a <- gw[0]", "a has its value from its declaration"},
		"array with a value":      {"", "", "var a: i32[2] = 1", "begins with a value"},
		"array as a whole":        {"", "", "var a: i32[2]\na = 1", "assigned as a whole"},
		"scalar with a subscript": {"", "", "var a: i32 = 0\na[0] = 1", "a is no array"},
		"narrow loop":             {"", "", "for i: i8 in 0..4 { }", "loop variable i is of type i8"},
		// subscripts of registers
		"run-time subscript":     {"", "", "var a: i32[4]\na[tid & 3] = 1", "is no constant"},
		"loop that is no copy":   {"", "", "var a: i32[4]\nfor i in 0..4 { a[i] = 1 }", "is no constant"},
		"behind the array":       {"", "", "var a: i32[4]\nfor i in 0..4 unroll { a[i + 1] = 1 }", "subscripts 1..5 of a"},
		"before the array":       {"", "", "var a: i32[4]\nlet b: i32 = a[0 - 1]", "subscripts -1..0 of a"},
		"slice behind the array": {"", "", "var a: f32[4]\nload a[2:4] <- gy[0] vec 4", "subscripts 2..6 of a"},
		"ends that differ":       {"", "", "for i in 0..n unroll { }", "its ends are no constants"},
		"too many copies":        {"", "", "for i in 0..1000 unroll { for j in 0..1000 unroll { } }", "copies"},
		// memory
		"type of a load":          {"", "", "var a: f32\nload a <- gw[0]", "is loaded from gw of type i32"},
		"type of a store":         {"", "", "store gw[0] <- f32(1.0)", "is stored to gw of type i32"},
		"store to a parameter":    {"", "global p: f16 = x", "store p[0] <- f16(1.0)", "p is stored to, but is read only"},
		"readonly":                {"", "", "store gx[0] <- f16(1.0)", "gx is stored to, but is read only"},
		"several without a form":  {"", "", "var a: i32[2]\nload a <- gw[0]", "no form that says how"},
		"vector of 12 bytes":      {"", "", "var a: i32[3]\nload a <- gw[0] vec 3", "no vector of 2, 4, 8 or 16 bytes"},
		"vector that may be odd":  {"", "", "var a: i32[2]\nload a <- gw[i64(tid)] vec 2", "a multiple of 2 is needed"},
		"pair that may be odd":    {"", "", "var a: f16x2\nload a <- gx[i64(tid)]", "a multiple of 2 is needed"},
		"matrix of global memory": {"", "", "var a: f16x2[4]\nload a <- gx[0] matrix 4", "32-bit registers and shared memory"},
		"matrix of three":         {"", "shared s: f16[64] at 0 align 16", "var a: f16x2[3]\nload a <- s[0] matrix 3", "expected 1, 2 or 4"},
		"matrix in one lane":      {"", "shared s: f16[64] at 0 align 16", "var a: f16x2[4]\nif lane == 0 { load a <- s[0] matrix 4 }", "concerns all threads of the warp"},
		"a load that releases":    {"", "", "var a: i32\nload a <- gw[0] release", "a load cannot release"},
		"a store that acquires":   {"", "", "store gw[0] <- tid acquire", "a store cannot acquire"},
		"old without op":          {"", "", "store gw[0] <- tid -> old", "what was there is fetched"},
		"or of numbers":           {"", "", "store gw[0] <- tid or", "are not combined by any"},
		"rank without a cluster":  {"", "shared s: i32[64] at 0", "store s[0]@1 <- tid", "only shared memory in a cluster"},
		"subscript of f32":        {"", "", "store gw[f32(1.0)] <- tid", "a subscript of type f32"},
		// shared memory
		"beyond shared memory":   {"", "shared s: f32[8193] at 0", "", "ends at byte 32772 of 32768"},
		"misaligned":             {"", "shared s: f32[4] at 2", "", "not aligned to 4"},
		"alignment 3":            {"", "shared s: i8[4] at 3 align 3", "", "not aligned to 3"},
		"overlap":                {"", "shared a: f32[4] at 0\nshared b: f32[4] at 12", "", "a and b overlap"},
		"overlap with a barrier": {"", "shared a: f32[4] at 0\nmbar b at 8 count 1", "", "a and b overlap"},
		// arrays and launches
		"threads":        {"threads 2000", "", "", "2000 threads a block"},
		"cluster":        {"threads 32 cluster 32", "", "", "clusters of 32 blocks"},
		"buffer type":    {"", "global g: f32 = x", "", "is bound to x of type f16"},
		"map dimensions": {"", "map m = x[N, N] strides [] box [64, 64]", "", "2 dimensions, 0 strides"},
		"map swizzle":    {"", "map m = x[N] strides [] box [64] swizzle 100", "", "swizzle 100"},
		"map row":        {"", "map m = x[N] strides [] box [4]", "", "no multiple of 16"},
		"map wide row":   {"", "map m = x[N] strides [] box [64] swizzle 64", "", "more than its swizzle"},
		"map promotion":  {"", "map m = x[N] strides [] box [64] l2 100", "", "l2 100"},
		// expressions
		"warp op inside":         {"", "", "let a: i32 = shfl.xor(tid, 1) + 1", "may stand only as the whole value"},
		"warp op in a condition": {"", "", "if any(tid < n) { }", "may stand only as the whole value"},
		"pin in an address":      {"", "", "store gw[pin(0)] <- tid", "may stand only as the whole value"},
		"clock inside":           {"", "", "let a: u32 = clock() + 1", "may stand only as the whole value"},
		"packed comparison":      {"", "", "var a: f16x2[1]\na[0] = f16x2(0)\nif a[0] < a[0] { }", "compares packed words"},
		// uniform control
		"barrier in one thread":     {"", "", "if tid == 0 { sync cta }", "concerns all threads of the block"},
		"barrier in one warp":       {"", "", "if warp == 0 { sync cta }", "concerns all threads of the block"},
		"barrier in a ragged loop":  {"", "", "for i in 0..tid { sync cta }", "concerns all threads of the block"},
		"barrier in a ragged while": {"", "", "var a: i32 = tid\nwhile { a = a - 1; sync cta } a > 0 { }", "concerns all threads of the block"},
		"barrier under data":        {"", "", "var a: i32\nload a <- gw[0]\nif a > 0 { sync cta }", "concerns all threads of the block"},
		"set under a condition":     {"", "", "var a: i32 = 0\nif tid < n { a = 1 }\nif a == 0 { sync warp }", "concerns all threads of the warp"},
		"carried round a loop":      {"", "", "var a: i32 = 0\nvar b: i32 = 0\nfor i in 0..n { if a > 0 { sync cta }; a = b; b = tid }", "concerns all threads of the block"},
		"shuffle in some lanes":     {"", "", "if tid < n { let a: i32 = shfl.xor(tid, 1) }", "concerns all threads of the warp"},
		"shuffle in half a warp":    {"threads 40", "", "let a: i32 = shfl.xor(tid, 1)", "needs whole warps"},
		"barrier in a role":         {"", "", "roles { a warps 0..4 { sync cta } }", "stands in a role"},
		// roles
		"roles overlap":          {"", "", "roles { a warps 0..3 { } b warps 2..4 { } }", "warp 2 belongs to the roles a and b"},
		"roles beyond the block": {"", "", "roles { a warps 0..5 { } }", "has the warps 0..5 of 4"},
		"role names":             {"", "", "roles { a warps 0..1 { } a warps 1..2 { } }", "\"a\" is taken"},
		"role groups":            {"", "", "roles { a warps 0..4 by 3 { } }", "groups of 3 among 4 warps"},
		"role registers":         {"", "", "roles { a warps 0..4 regs 30 { } }", "expected a multiple of 8"},
		"role register groups":   {"", "", "roles { a warps 0..3 regs 32 { } }", "which groups of four warps do together"},
		"too many registers":     {"threads 512", "", "roles { a warps 0..16 regs 240 { } }", "registers of 65536"},
		"roles in one warp":      {"", "", "if warp == 0 { roles { } }", "concerns all threads of the block"},
		// barriers
		"mbarrier place":       {"", "mbar b at 4 count 1", "", "at a multiple of 8"},
		"named barrier 0":      {"", "named b[1] first 0 count 32", "", "expected some of 1..15"},
		"named barrier twice":  {"", "named a[2] first 1 count 32\nnamed b[1] first 2 count 32", "", "named barrier 2 belongs to a and b"},
		"half a warp":          {"", "named b[1] first 1 count 40", "", "whole warps are needed"},
		"which barrier":        {"", "named b[2] first 1 count 32", "sync b", "which of the 2 barriers"},
		"barrier number":       {"", "named b[2] first 1 count 32", "sync b[2]", "barrier 2 of b, which has 2"},
		"no init":              {"", "mbar b at 0 count 1", "wait b, 0", "never initialised"},
		"other count":          {"", "mbar b at 0 count 1", "init b, 2; arrive b", "another count than 1"},
		"nobody arrives":       {"", "mbar b at 0 count 1", "init b, 1; wait b, 0", "nobody arrives"},
		"wait of a far block":  {"threads 128 cluster 2 shared 64", "mbar b at 0 count 1", "init b, 1; arrive b; wait b@1, 0", "concerns barriers of the own block"},
		"cluster without one":  {"", "", "arrive cluster", "the launch has no clusters"},
		"run-time group count": {"", "", "wait bulk, n", "must be a constant"},
		// copies
		"copy without expect":    {"", ring, "init full[0], 1; copy box.in s[0] <- m[0, 0] done full[0]", "nobody expects their bytes"},
		"copy without a barrier": {"", ring, begin + "copy box.in s[0] <- m[0, 0]", "no mbarrier counts its bytes"},
		"copy with a barrier":    {"", ring, begin + "copy box.out m[0, 0] <- s[0] done full[0]", "it completes on no mbarrier"},
		"coordinates":            {"", ring, begin + "copy box.in s[0] <- m[0] done full[0]", "2 dimensions, not 1"},
		"box that lies askew":    {"", ring, begin + "copy box.in s[8] <- m[0, 0] done full[0]", "a multiple of 64 is needed"},
		"bytes of a box":         {"", ring, begin + "copy box.in s[0] <- m[0, 0] bytes 64 done full[0]", "what the box of its map says"},
		"bytes of a run":         {"", ring, begin + "copy bulk.in s[0] <- gx[0] done full[0]", "how many bytes"},
		"odd bytes of a run":     {"", ring, begin + "copy bulk.in s[0] <- gx[0] bytes 8 done full[0]", "multiple of 16"},
		"ends of a copy":         {"", ring, "copy cp.16 gx[0] <- s[0]", "is in shared memory"},
		"map at the wrong end":   {"", ring, begin + "copy box.in m[0, 0] <- s[0] done full[0]", "is memory"},
		"peers":                  {"", ring, begin + "copy box.in s[0] <- m[0, 0] done full[0] peers 3", "cannot write several blocks"},
		"copy that combines":     {"", ring, begin + "copy box.in s[0] <- m[0, 0] done full[0] add", "does not combine"},
		"copy past L1":           {"", ring, begin + "copy box.in s[0] <- m[0, 0] done full[0] stream", "passes L1 by"},
		"copy to read only":      {"", ring, "copy bulk.out gx[0] <- s[0] bytes 64", "gx, is read only"},
		// matrices
		"registers of a result":   {"", ring, "var d: f32[32]\nmma wgmma.m64n128k16.f32.f16 d += (u64(0)) of s[0] * (u64(0)) of s[0] acc true", "has 64 registers of type f32"},
		"registers of A":          {"", ring, "var d: f32[64]\nvar a: f16x2[2]\nmma wgmma.m64n128k16.f32.f16 d += a * (u64(0)) of s[0] acc true", "is 4 registers of type f16x2"},
		"B in registers":          {"", ring, "var d: f32[64]\nvar a: f16x2[4]\nmma wgmma.m64n128k16.f32.f16 d += a * a acc true", "cannot be in registers"},
		"A transposed":            {"", ring, "var d: f32[64]\nvar a: f16x2[4]\nmma wgmma.m64n128k16.f32.f16.ta d += a * (u64(0)) of s[0] acc true", "cannot be in registers"},
		"A in shared memory":      {"", ring, "var d: f32[4]\nvar b: f16x2[2]\nmma mma.m16n8k16.f32.f16 d += (u64(0)) of s[0] * b acc true", "cannot be in shared memory"},
		"elements in memory":      {"", "shared s: f32[4096] at 0 align 1024", "var d: f32[64]\nmma wgmma.m64n128k16.f32.f16 d += (u64(0)) of s[0] * (u64(0)) of s[0] acc true", "in elements of f16x2"},
		"matrix in one lane only": {"", ring, "var d: f32[64]\nif lane == 0 { mma wgmma.m64n128k16.f32.f16 d += (u64(0)) of s[0] * (u64(0)) of s[0] acc true }", "concerns all threads of the warp"},
		"read in flight":          {"", ring, flightBegin + "commit wgmma\nlet e: f32 = d[0]\nwait wgmma, 0", "d is read while a matrix operation may still write it"},
		"written in flight":       {"", ring, flightBegin + "commit wgmma\na[0] = f16x2(0)\nwait wgmma, 0", "a is written while a matrix operation may still use it"},
		"loaded in flight":        {"", ring, flightBegin + "commit wgmma\nload a <- s[0] vec 4\nwait wgmma, 0", "a is written while a matrix operation may still use it"},
		"never waited for":        {"", ring, flightBegin + "commit wgmma", "in flight at the end"},
		"never committed":         {"", ring, flightBegin + "wait wgmma, 0", "in flight at the end"},
		"waited for too few":      {"", ring, flightBegin + "commit wgmma\nwait wgmma, 1\nlet e: f32 = d[0]\nwait wgmma, 0", "d is read while"},
		"waited for on one path":  {"", ring, flightBegin + "commit wgmma\nif n > 1 { wait wgmma, 0 }\nlet e: f32 = d[0]\nwait wgmma, 0", "d is read while"},
		"round a loop":            {"", ring, flightBegin + "commit wgmma\nwait wgmma, 0\nfor i in 0..n { d[0] = f32(0.0); fence wgmma; mma wgmma.m64n128k16.f32.f16 d += a * (u64(0)) of s[0] acc true; commit wgmma }\nwait wgmma, 0", "d is written while"},
		"without a fence":         {"", ring, "var d: f32[64]\nvar a: f16x2[4]\na[0] = f16x2(0)\nmma wgmma.m64n128k16.f32.f16 d += a * (u64(0)) of s[0] acc false\ncommit wgmma\nwait wgmma, 0", "a was written since the last fence wgmma"},
		"result without a fence":  {"", ring, "var d: f32[64]\nd[1] = f32(0.0)\nmma wgmma.m64n128k16.f32.f16 d += (u64(0)) of s[0] * (u64(0)) of s[0] acc true\ncommit wgmma\nwait wgmma, 0", "d was written since the last fence wgmma"},
		"in flight behind a role": {"", ring, "roles { r warps 0..4 { " + flightBegin + "commit wgmma } }", "in flight where the role r ends"},
		"layout of a result":      {"", ring + "\nlayout L m n [reg n1 n8 m8 n16 n32 n64 | lane n2 n4 m1 m2 m4 | warp m16 m32]", "var d: f32[64] as L\nmma wgmma.m64n128k16.f32.f16 d += (u64(0)) of s[0] * (u64(0)) of s[0] acc false\ncommit wgmma\nwait wgmma, 0", "d has the layout L, which is not that of wgmma.m64n128k16.f32.f16"},
		"layout of a factor":      {"", ring + "\nlayout L m k [reg k1 k8 m8 | lane k2 k4 m1 m2 m4]", "var d: f32[4]\nvar a: f16x2[4] as L\nvar b: f16x2[2]\nmma mma.m16n8k16.f32.f16 d += a * b acc false", "A: a has the layout L"},
		"layout of lanes":         {"", ring + "\nlayout L k n [reg k1 k8 | lane k2 k4 n1 n4 n2]", "var d: f32[4]\nvar a: f16x2[4]\nvar b: f16x2[2] as L\nmma mma.m16n8k16.f32.f16 d += a * b acc false", "B: b has the layout L"},
		"layout with one axis":    {"", ring + "\nlayout L m [reg m8]", "var d: f32[4] as L\nvar a: f16x2[4]\nvar b: f16x2[2]\nmma mma.m16n8k16.f32.f16 d += a * b acc false", "has 1 axes"},
		// checks
		"site":          {"", "", "check tid < n, 7", "check 7 of 2 sites"},
		"index unsaid":  {"", "", "check tid < n, 0", "must say the index"},
		"too much said": {"", "", "check tid < n, 1, 1, 2, 3", "at most an index and an element"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Verify(moduleOf(t, frame(c.launch, c.declarations, c.body)))
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
		})
	}
}

func TestWrongModules(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"order":             {"order x alpha", "order x beta", "names beta, which is no parameter"},
		"cleared parameter": {"param x: f16[N, N]", "param x: f16[N, N] zero each", "is cleared, but is no workspace"},
		"no target":         {"for sm_90a", "for gpu", "is no device"},
		"needs":             {"for sm_90a", "for sm_89", "needs sm_90, and the kernel is for sm_89"},
	} {
		t.Run(name, func(t *testing.T) {
			src := strings.Replace(frame("", "", "fence async"), c.old, c.new, 1)
			require.Contains(t, src, c.new)
			err := Verify(moduleOf(t, src))
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
		})
	}
}

// What the text cannot say, a pass can still build.
func TestWrongTrees(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(m *Module, k *Kernel)
		want  string
	}{
		"taken scalar":     {func(m *Module, _ *Kernel) { m.Scalars[1].Name = "N" }, "the scalar's name \"N\" is taken"},
		"size of i32":      {func(m *Module, _ *Kernel) { m.Scalars[0].Type = ir.I32 }, "size N of type i32"},
		"taken array":      {func(m *Module, _ *Kernel) { m.Arrays[1].Name = "x" }, "the array's name \"x\" is taken"},
		"taken kernel":     {func(m *Module, k *Kernel) { m.Kernels = append(m.Kernels, k) }, "the kernel's name \"k\" is taken"},
		"builtin's name":   {func(_ *Module, k *Kernel) { k.Params[0].Name = "tid" }, "\"tid\" cannot be a name here"},
		"no name":          {func(_ *Module, k *Kernel) { k.Params[0].Name = "a b" }, "cannot be a name here"},
		"keyword":          {func(_ *Module, k *Kernel) { k.Params[0].Name = "for" }, "cannot be a name here"},
		"two of a name":    {func(_ *Module, k *Kernel) { k.Global[0].Name = "gy" }, "gy is declared twice"},
		"foreign array":    {func(_ *Module, k *Kernel) { k.Global[0].Array = &Array{Name: "z", Type: ir.F16} }, "bound to no array of the module"},
		"foreign register": {func(_ *Module, k *Kernel) { k.Body[0].(*Let).Value = ir.Name(&Reg{Name: "q", Type: ir.I32}) }, "q is not declared here"},
		"scalar in a body": {func(m *Module, k *Kernel) { k.Body[0].(*Let).Value = ir.Cast(ir.I32, ir.Name(m.Scalars[0])) }, "N is not declared here"},
		"register in host": {func(_ *Module, k *Kernel) { k.Launch.Grid = ir.Cast(ir.I64, ir.Name(k.Body[0].(*Let).Reg)) }, "a is not declared here"},
		"device in host":   {func(_ *Module, k *Kernel) { k.Params[0].Expr = ir.Apply(OpElect) }, "which only a device computes"},
		"wrong type":       {func(_ *Module, k *Kernel) { k.Body[0].(*Let).Value = ir.Int64(1) }, "is i64, expected i32"},
		"wrong rule": {func(_ *Module, k *Kernel) {
			k.Body[0].(*Let).Value = ir.NewExpr(ir.OpAdd, ir.I32, nil, k.Body[0].Place(), ir.Int64(1), ir.Int64(1))
		}, "add is said to be i32, and is i64"},
		"wrong level": {func(_ *Module, k *Kernel) {
			k.Body[0].(*Let).Value = ir.NewExpr(ir.OpRead, ir.I32, k.Global[2], k.Body[0].Place())
		}, "read has no meaning at this level"},
		"constant beyond its type": {func(_ *Module, k *Kernel) { k.Body[0].(*Let).Value = ir.NewConst(ir.I32, ir.IntConst(1<<40)) }, "is no value of type i32"},
		"no value":                 {func(_ *Module, k *Kernel) { k.Body[1].(*Set).Value = nil }, "a part of a *simt.Set is missing"},
		"no grid":                  {func(_ *Module, k *Kernel) { k.Launch.Grid = nil }, "the grid is missing"},
		"step":                     {func(_ *Module, k *Kernel) { k.Body[2].(*For).Step = 0 }, "the step of i is 0"},
		"layout": {func(_ *Module, k *Kernel) {
			k.Body[0].(*Let).Reg.Layout = &ir.Layout{Name: "L", Axes: []string{"m", "m"}}
		}, "axis m of a layout twice"},
		"foreign barrier": {func(_ *Module, k *Kernel) {
			k.Body[3].(*Sync).On = BarRef{Bar: &Bar{Name: "b", Named: true, N: 1}}
			k.Body[3].(*Sync).Verb = VerbOf("sync", "named")
		}, "a barrier of another kernel"},
		"reuse of nothing": {func(_ *Module, k *Kernel) {
			k.Shared = []*Buffer{{Name: "s", Type: ir.F32, Space: Shared, Len: 1, Over: &Buffer{}}}
		}, "reuses a buffer that is not declared before it"},
		"verb": {func(_ *Module, k *Kernel) { k.Body[3].(*Sync).Verb = VerbOf("arrive", "mbar") }, "arrive is said of cta"},
	} {
		t.Run(name, func(t *testing.T) {
			m := moduleOf(t, frame("", "", "var a: i32 = 1\na = 2\nfor i in 0..2 { }\nsync cta"))
			require.NoError(t, Verify(m))
			c.spoil(m, m.Kernels[0])
			err := Verify(m)
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
		})
	}
}

func TestPortable(t *testing.T) {
	m := moduleOf(t, frame("", "shared s: f32[4] at 0", "var a: f32\nload a <- gy[0]\nstore s[0] <- a add\nsync cta\nlet b: f32 = shfl.xor(a, 1)\ncheck tid < n, 1"))
	assert.NoError(t, Portable(m.Kernels[0]))
	for want, body := range map[string]string{
		"fence gpu":   "fence gpu",
		"commit cp":   "if tid == 0 { commit cp }",
		"let a: u32":  "let a: u32 = clock()",
		"let b: f32 ": "let b: f32 = lo(f16x2(0))",
	} {
		assert.ErrorContains(t, Portable(moduleOf(t, frame("", "", body)).Kernels[0]), want)
	}
}

func FuzzVerify(f *testing.F) {
	src, err := os.ReadFile("testdata/kinds.simt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(src))
	f.Add(frame("", "", "var a: i32[4]\nfor i in 0..4 unroll { a[i] = tid }"))
	f.Fuzz(func(t *testing.T, src string) {
		m, err := Parse(src)
		if err != nil {
			return
		}
		if Verify(m) == nil {
			for _, k := range m.Kernels {
				_ = Portable(k)
			}
		}
	})
}
