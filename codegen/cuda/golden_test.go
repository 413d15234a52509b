package cuda

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/internal/golden"
)

func emitFile(t *testing.T, path string) string {
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	return emit(t, string(src))
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.simt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var texts []string
	for _, f := range files {
		got := emitFile(t, f)
		path := filepath.Join("testdata", strings.TrimSuffix(filepath.Base(f), ".simt")+".cu")
		golden.Equal(t, path, got)
		texts = append(texts, got)
	}
	compile(t, "sm_80,sm_90a", texts...)
}

// body is the device function without the prelude.
func body(text string) string {
	return regexp.MustCompile(`(?s)\{\n(.*)\n\}`).FindStringSubmatch(text[strings.Index(text, `extern "C"`):])[1]
}

const frame = `simt k
size N: i64
param x: f32[N]
result y: i32[N]
kernel k {
  launch grid 1 threads 64 shared 1024
  host n: i64 = N
  global x: f32 = x readonly
  global y: i32 = y
  shared s: i32[64] at 0 align 16
  shared w: f16x2[64] at 256 align 16
  let i: i64 = widen.i64(tid)
`

// TestStatements shows how single statements are written.
func TestStatements(t *testing.T) {
	for _, c := range []struct{ simt, want string }{
		{"store y[i * 2 + n] <- tid - -3", "y[i * 2ull + n] = tid - (u32)-3;"},
		{"store y[i - n] <- tid + tid * tid", "y[(u64)i - n] = tid + (u32)tid * tid;"},
		{"let a: f32 = f32(tid) * 2.0 + 0.1\nstore y[0] <- i32(a)", "y[0] = saturate<i32>((f64)a, (-2147483647 - 1), 2147483647);"},
		{"var v: i32[4]\nload v[0:4] <- s[4 * i] vec 4\nstore y[i] <- v[3]", "const vec<i32, 4> v_2 = *(const vec<i32, 4> *)(&s[4ull * i]);"},
		{"store y[0] <- 5 add", "atomicAdd(y, (i32)(5));"},
		{"store y[0] <- 5 mul", "atomic_wide(y, (i32)(5), [](i32 a, i32 b) -> i32 { return (u32)a * b; });"},
		{"store y[i] <- 5 add -> was\nstore s[0] <- was", "was = (i32)atomicAdd(&y[i], (i32)(5));"},
		{"check i < n, 0, i", "if (!(i < n)) gkc_fail(failure, 0, 1, i, 0, 0, 0);"},
		{"for k: i64 in 0..n step 4 { store y[k] <- 1 }", "for (i64 k_2 = 0; k_2 < n; k_2 += 4) {"},
		{"for j in 0..4 unroll { store y[i64(j)] <- 1 }", "#pragma unroll"},
		{"var c: i32 = 0\nwhile { } c < 5 { c = c + 1 }", "if (!(c < 5)) break;"},
		{"store s[0] <- 1 volatile", "store_volatile(s, (i32)(1));"},
		{"let b: bool = any(tid < 3)\nstore y[0] <- select(b, 1, 2)", "const bool b = __any_sync(0xffffffffu, tid < 3) != 0;"},
		{"fence gpu\nsleep 5", "__nanosleep(5);"},
	} {
		text := emit(t, strings.Replace(frame, "kernel k {", "site \"index\" of y 0 \"x\"\nkernel k {", 1)+c.simt+"\n}\n")
		assert.Contains(t, body(text), c.want, c.simt)
	}
}

func TestThePreludeHoldsOnlyWhatIsUsed(t *testing.T) {
	text := emit(t, frame+"store y[i] <- 1\n}\n")
	assert.NotContains(t, text, "philox")
	assert.NotContains(t, text, "mbar")
	assert.Less(t, strings.Count(text, "DEV "), 3)
}

func TestNamesOfThePreludeAreKnown(t *testing.T) {
	names := strings.Join(preludeNames(), " ")
	for _, n := range []string{"DEV", "u32", "f16", "int_div", "float_min", "vec", "bits_of", "atomic_wide", "gkc_failure", "gkc_fail", "EVICT_FIRST", "tensor_map", "philox_block", "saturate", "pin", "word"} {
		assert.Regexp(t, `\b`+n+`\b`, names)
	}
}

func TestEmittedTextIsTheSameEveryTime(t *testing.T) {
	assert.Equal(t, emitFile(t, "../testdata/total.simt"), emitFile(t, "../testdata/total.simt"))
}
