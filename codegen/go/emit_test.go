package gogen

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/internal/golden"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
)

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.simt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".simt")
		got, err := Emit(load(t, name), Options{})
		require.NoError(t, err, name)
		path := filepath.Join("testdata", name+".go.golden")
		golden.Equal(t, path, string(got))
	}
}

// words uses the words of both languages as names.
func TestAnyNameCanBeSaid(t *testing.T) {
	in := data.New(ir.I32, 3)
	for i := range 3 {
		in.Set(i, ir.IntConst(int64(i)))
	}
	call := &data.Call{Scalars: map[string]ir.Const{"go": ir.IntConst(3), "α": ir.FloatConst(7.9)}, Inputs: map[string]*data.Array{"int": in}}
	out, err := Run(context.Background(), load(t, "words"), call)
	require.NoError(t, err)
	assert.Equal(t, []float64{7420, 7420, 7420}, values(out["x"]), "7, then the digits 4 2 0: a loop downwards")
}

const frame = `simt k
result y: i32[64]
kernel k {
  launch grid 1 threads 64 shared 8
  global y: i32 = y
  let i: i64 = widen.i64(tid)
`

func run(t *testing.T, body string) ([]float64, error) {
	out, err := Run(context.Background(), parse(t, frame+body+"\n}\n"), &data.Call{})
	if err != nil {
		return nil, err
	}
	return values(out["y"]), nil
}

func TestThreadsMeet(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       func(tid int) float64
	}{
		{"registers live across a barrier", `
  var x: i32 = tid
  sync cta
  store y[63 - i] <- x`, func(tid int) float64 { return float64(63 - tid) }},
		{"a loop with a barrier, its end known to every thread only", `
  var n: i32 = 0
  let end: i32 = tid * 0 + 3
  for k in 0..end { n = n + k; sync cta }
  store y[i] <- n`, func(int) float64 { return 3 }},
		{"a while with a warp operation", `
  var x: i32 = lane
  var more: bool = true
  while { let big: bool = any(x < 100) } big { x = x + 50 }
  store y[i] <- x`, func(tid int) float64 { return float64(tid%32 + 100) }},
		{"a warp on its own", `
  var x: i32 = tid
  if warp == 1 { let s: i32 = redux.add(x); x = s }
  store y[i] <- x`, func(tid int) float64 {
			if tid < 32 {
				return float64(tid)
			}
			return 1520
		}},
		{"an array of registers across a barrier", `
  var v: i32[3]
  for k in 0..3 unroll { v[k] = tid + k }
  sync cta
  store y[i] <- v[0] + v[1] + v[2]`, func(tid int) float64 { return float64(3*tid + 3) }},
		{"shuffles of one register", `
  var x: i32 = tid
  for d in 0..5 { let o: i32 = shfl.down(x, i32(1) << d); x = x + o }
  let first: i32 = shfl(x, 0)
  store y[i] <- first`, func(tid int) float64 { return float64(496 + 1024*(tid/32)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := run(t, c.body)
			require.NoError(t, err)
			for tid, v := range got {
				assert.Equal(t, c.want(tid), v, "thread %d", tid)
			}
		})
	}
}

func TestThreadsThatDoNotMeetAreReported(t *testing.T) {
	_, err := run(t, `
  if tid < 32 { sync cta }
  store y[i] <- 1`)
	assert.ErrorContains(t, err, "threads that meet disagree")
}

func TestIndicesAreChecked(t *testing.T) {
	_, err := run(t, "  store y[i + 1] <- 1")
	assert.ErrorContains(t, err, "index out of range [64] with length 64")
}

func TestWhatGoCannotSayIsRefused(t *testing.T) {
	for body, want := range map[string]string{
		"sleep 5":     "kernel k uses sleep none, which only a graphics processor has",
		"fence async": "kernel k uses fence async",
		"roles { a warps 0..2 { store y[i] <- 1 } }":  "kernel k uses roles",
		"let c: u32 = clock()\n store y[i] <- i32(c)": "no way to say clock",
	} {
		_, err := Emit(parse(t, frame+body+"\n}\n"), Options{})
		assert.ErrorContains(t, err, want)
	}
}

func TestEmittedCodeIsTheSameEveryTime(t *testing.T) {
	a, err := Emit(load(t, "total"), Options{})
	require.NoError(t, err)
	b, err := Emit(load(t, "total"), Options{})
	require.NoError(t, err)
	assert.Equal(t, string(a), string(b))
}
