package sim_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/runtime/sim"
)

var tid = ir.Name(simt.Tid)

// Each mistake is found where it is made, and its repaired twin is clean.
func TestCheckers(t *testing.T) {
	for _, c := range []struct {
		name string
		kind string   // of the mistake; the twin is made with wrong == false
		text []string // what the report says
		make func(wrong bool) *builder
	}{
		{"shared race between warps", "race", []string{"s[0]", "thread 32 reads", "thread 0 writes it at 2:1"}, func(wrong bool) *builder {
			return exchange(wrong, "cta", 32)
		}},
		{"shared race within a warp", "race", []string{"s[1]", "thread 0 reads", "thread 1 writes"}, func(wrong bool) *builder {
			return exchange(wrong, "warp", 1)
		}},
		{"shared write after read", "race", []string{"thread 0 reads it", "writes it at 5:1"}, func(wrong bool) *builder {
			b := newBuilder(1, 64)
			z, s := b.array("Z", ir.F32, simt.Result, 64), b.shared("s", ir.F32, 64)
			v, let := b.variable("v", ir.F32, nil)
			other := wide(ir.Sub(i32(63), tid))
			b.add(let, b.store(s, wide(tid), f32(1)), b.sync("cta"), b.load(v, s, other))
			if !wrong {
				b.add(b.sync("cta"))
			}
			b.add(b.store(s, wide(tid), f32(2)), b.store(z, wide(tid), ir.Name(v)))
			return b
		}},
		{"write after many readers", "race", []string{"s[0]", "thread 0 writes", "reads it at"}, func(wrong bool) *builder {
			b := newBuilder(1, 128)
			z, s := b.array("Z", ir.F32, simt.Result, 128), b.shared("s", ir.F32, 1)
			v, let := b.variable("v", ir.F32, nil)
			first := ir.Eq(tid, i32(0))
			b.add(let, b.when(first, b.store(s, ir.Int64(0), f32(1))), b.sync("cta"), b.load(v, s, ir.Int64(0)))
			if !wrong {
				b.add(b.sync("cta"))
			}
			b.add(b.when(first, b.store(s, ir.Int64(0), f32(2))), b.store(z, wide(tid), ir.Name(v)))
			return b
		}},
		{"lanes of one store", "race", []string{"s[0]", "thread 1 writes", "thread 0 writes"}, func(wrong bool) *builder {
			b := newBuilder(1, 32)
			z, s := b.array("Z", ir.I32, simt.Result, 1), b.shared("s", ir.I32, 1)
			v, let := b.variable("v", ir.I32, nil)
			value := i32(7) // the same value from all lanes does no harm
			if wrong {
				value = tid
			}
			b.add(let, b.store(s, ir.Int64(0), value), b.sync("cta"), b.load(v, s, ir.Int64(0)), b.store(z, ir.Int64(0), ir.Name(v)))
			return b
		}},
		{"global race between blocks", "race", []string{"Z[0]", "block"}, func(wrong bool) *builder {
			b := newBuilder(2, 32)
			z := b.array("Z", ir.I32, simt.Result, 64)
			at := wide(tid)
			if !wrong {
				at = wide(global(32))
			}
			if wrong {
				b.m.Arrays[0].Extents[0] = ir.Int64(32)
			}
			b.add(b.store(z, at, i32(1)))
			return b
		}},
		{"global race within a block", "race", []string{"global memory", "unordered with that"}, func(wrong bool) *builder {
			b := newBuilder(1, 64)
			z, w := b.array("Z", ir.I32, simt.Result, 64), b.array("W", ir.I32, simt.Work, 64)
			v, let := b.variable("v", ir.I32, nil)
			b.add(let, b.store(w, wide(tid), tid))
			if !wrong {
				b.add(b.sync("cta"))
			}
			at := wide(ir.Rem(ir.Add(tid, i32(33)), i32(64)))
			b.add(b.load(v, w, at), b.store(z, wide(tid), ir.Name(v)))
			return b
		}},
		{"outside an array", "bounds", []string{"thread 31 writes element 32 of Z, which has 32"}, func(wrong bool) *builder {
			b := newBuilder(1, 32)
			z := b.array("Z", ir.I32, simt.Result, 32)
			if wrong {
				b.add(b.store(z, wide(ir.Add(tid, i32(1))), i32(1)))
			}
			b.add(b.store(z, wide(tid), i32(1)))
			return b
		}},
		{"outside a shared buffer", "bounds", []string{"element -1 of s"}, func(wrong bool) *builder {
			b := newBuilder(1, 32)
			z, s := b.array("Z", ir.I32, simt.Result, 32), b.shared("s", ir.I32, 32)
			at := wide(tid)
			if wrong {
				at = wide(ir.Sub(tid, i32(1)))
			}
			b.add(b.store(s, at, i32(1)), b.store(z, wide(tid), i32(1)))
			return b
		}},
		{"uninitialised shared memory", "uninitialised", []string{"s[31]"}, func(wrong bool) *builder {
			b := newBuilder(1, 32)
			z, s := b.array("Z", ir.I32, simt.Result, 32), b.shared("s", ir.I32, 32)
			v, let := b.variable("v", ir.I32, nil)
			limit := i32(32)
			if wrong {
				limit = i32(31)
			}
			b.add(let, b.when(ir.Lt(tid, limit), b.store(s, wide(tid), i32(1))), b.sync("cta"),
				b.load(v, s, wide(ir.Sub(i32(31), tid))), b.store(z, wide(tid), ir.Name(v)))
			return b
		}},
		{"uninitialised workspace", "uninitialised", []string{"W[3] is read before anybody wrote it"}, func(wrong bool) *builder {
			b := newBuilder(1, 32)
			z, w := b.array("Z", ir.I32, simt.Result, 32), b.array("W", ir.I32, simt.Work, 32)
			v, let := b.variable("v", ir.I32, nil)
			b.add(let)
			cond := ir.Ne(tid, i32(3))
			if !wrong {
				cond = ir.Ge(tid, i32(0))
			}
			b.add(b.when(cond, b.store(w, wide(tid), i32(1))), b.load(v, w, wide(tid)), b.store(z, wide(tid), ir.Name(v)))
			return b
		}},
		{"uninitialised register", "uninitialised", []string{"register v", "lane 5 of warp 0 is without a value"}, func(wrong bool) *builder {
			b := newBuilder(1, 32)
			z := b.array("Z", ir.I32, simt.Result, 32)
			v, let := b.variable("v", ir.I32, nil)
			branch := &simt.If{Head: b.head(), Cond: ir.Ne(tid, i32(5)), Then: []simt.Stmt{b.set(v, i32(1))}}
			if !wrong {
				branch.Else = []simt.Stmt{b.set(v, i32(2))}
			}
			b.add(let, branch, b.store(z, wide(tid), ir.Name(v)))
			return b
		}},
		{"unwritten result", "unwritten", []string{"Z[31] is never written"}, func(wrong bool) *builder {
			b := newBuilder(1, 32)
			z := b.array("Z", ir.I32, simt.Result, 32)
			limit := i32(32)
			if wrong {
				limit = i32(31)
			}
			b.add(b.when(ir.Lt(tid, limit), b.store(z, wide(tid), i32(1))))
			return b
		}},
		{"barrier in a divergent branch", "barrier", []string{"sync cta under divergent control flow", "lanes 16..31 of warp 0 are"}, func(wrong bool) *builder {
			b := newBuilder(1, 32)
			z := b.array("Z", ir.I32, simt.Result, 32)
			limit := i32(32)
			if wrong {
				limit = i32(16)
			}
			b.add(b.store(z, wide(tid), i32(1)), b.when(ir.Lt(tid, limit), b.sync("cta")))
			return b
		}},
		{"different barriers", "barrier", []string{"another sync cta", "warp 0"}, func(wrong bool) *builder {
			b := newBuilder(1, 64)
			z := b.array("Z", ir.I32, simt.Result, 64)
			limit := i32(64)
			if wrong {
				limit = i32(32)
			}
			b.add(b.store(z, wide(tid), i32(1)),
				&simt.If{Head: b.head(), Cond: ir.Lt(tid, limit), Then: []simt.Stmt{b.sync("cta")}, Else: []simt.Stmt{b.sync("cta")}})
			return b
		}},
		{"a barrier that a warp does not reach", "deadlock", []string{"warp 0 waits at", "sync cta", "1 warps have ended"}, func(wrong bool) *builder {
			b := newBuilder(1, 64)
			z := b.array("Z", ir.I32, simt.Result, 64)
			limit := i32(64)
			if wrong {
				limit = i32(32)
			}
			b.add(b.store(z, wide(tid), i32(1)), b.when(ir.Lt(tid, limit), b.sync("cta")))
			return b
		}},
		{"shuffle without all lanes", "warp", []string{"shfl.xor", "lane 0 of warp 0 is not active"}, func(wrong bool) *builder {
			b := newBuilder(1, 32)
			z := b.array("Z", ir.I32, simt.Result, 32)
			v, let := b.let("v", ir.Apply(simt.OpShflXor, tid, i32(1)))
			limit := i32(0)
			if wrong {
				limit = i32(1)
			}
			b.add(b.store(z, wide(tid), i32(1)), b.when(ir.Ge(tid, limit), let, b.store(z, wide(tid), ir.Name(v))))
			return b
		}},
		{"misaligned vector", "alignment", []string{"8 bytes at byte 4 of Z"}, func(wrong bool) *builder {
			b := newBuilder(1, 32)
			z := b.array("Z", ir.I32, simt.Result, 65)
			one, at := ir.Int64(0), wide(ir.Mul(tid, i32(2)))
			if wrong {
				one = ir.Int64(1)
			}
			b.add(b.store(z, ir.Add(at, one), tid, tid), b.when(ir.Eq(tid, i32(0)), b.store(z, ir.Int64(64), i32(1)), b.store(z, ir.Int64(0), i32(1))))
			return b
		}},
		{"workspace that has to be zero again", "workspace", []string{"W[0] is not zero again"}, func(wrong bool) *builder {
			b := newBuilder(1, 1)
			z, w := b.array("Z", ir.I32, simt.Result, 1), b.array("W", ir.I32, simt.Work, 1)
			b.m.Arrays[1].Zero = simt.ZeroOnce
			value := i32(0)
			if wrong {
				value = i32(1)
			}
			b.add(b.store(z, ir.Int64(0), i32(1)), b.store(w, ir.Int64(0), value))
			return b
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Empty(t, c.make(false).mistakes(t, nil), "the right twin")
			found := c.make(true).mistakes(t, nil)
			require.True(t, slices.ContainsFunc(found, func(f sim.Finding) bool {
				return f.Kind == c.kind && !slices.ContainsFunc(c.text, func(s string) bool { return !strings.Contains(f.String(), s) })
			}), "%v", found)
		})
	}
}

// exchange lets every thread read what the thread by lanes on wrote.
func exchange(wrong bool, barrier string, by int64) *builder {
	b := newBuilder(1, 64)
	z, s := b.array("Z", ir.I32, simt.Result, 64), b.shared("s", ir.I32, 64)
	v, let := b.variable("v", ir.I32, nil)
	b.add(let, b.store(s, wide(tid), tid))
	if !wrong {
		b.add(b.sync(barrier))
	}
	b.add(b.load(v, s, wide(ir.Apply(ir.OpBitXor, tid, i32(by)))), b.store(z, wide(tid), ir.Name(v)))
	return b
}

func TestFailedCheckNamesTheFirstThread(t *testing.T) {
	b := newBuilder(4, 32)
	x, z := b.array("x", ir.F32, simt.Param, 5), b.array("Y", ir.F32, simt.Result, 128)
	b.m.Arrays[1].Extents = []*ir.Expr{ir.Int64(16), ir.Int64(8)}
	b.m.Sites = []ir.Site{{Kind: "division by zero"}, {Kind: "index", Tensor: "x", Dim: 0, Pos: diag.Pos{Line: 3, Col: 9}}}
	i, letI := b.let("i", wide(global(32)))
	v, letV := b.variable("v", ir.F32, nil)
	index := ir.Rem(ir.Name(i), ir.Int64(50))
	inside := ir.Lt(index, ir.Int64(5))
	b.add(letI, letV, &simt.Check{Head: b.head(), Cond: inside, Code: 1, Args: []*ir.Expr{index, ir.Name(i)}, Of: b.m.Arrays[1]},
		b.load(v, x, ir.Select(inside, index, ir.Int64(0))), b.store(z, ir.Name(i), ir.Name(v)))
	for _, workers := range []int{1, 4} {
		_, err := b.run(t, map[string]*data.Array{"x": ramp(5)}, sim.Options{Workers: workers})
		require.EqualError(t, err, "3:9: error: index 5 of x is outside 0..5 (dimension 1) while computing Y[0, 5] [runtime]")
	}
}

func TestAtomicsAddInBlockOrder(t *testing.T) {
	b := newBuilder(64, 32)
	x, z := b.array("X", ir.F32, simt.Param, 64*32), b.array("Z", ir.F32, simt.Work, 1)
	out := b.array("Y", ir.F32, simt.Result, 64*32)
	b.m.Arrays[1].Zero = simt.ZeroEach
	v, letV := b.variable("v", ir.F32, nil)
	old, letOld := b.variable("old", ir.F32, nil)
	add := &simt.Store{Head: b.head(), To: simt.Mem{Buf: z, At: ir.Int64(0)}, From: []*ir.Expr{ir.Name(v)}, Op: ir.Sum, Old: old}
	b.add(letV, letOld, b.load(v, x, wide(global(32))), add, b.store(out, wide(global(32)), ir.Name(old)))
	in := data.New(ir.F32, 64*32)
	for i := range in.Len() {
		in.Set(i, ir.FloatConst(float64(float32(1)/float32(i+1))))
	}
	res, err := b.run(t, map[string]*data.Array{"X": in}, sim.Options{Workers: 8})
	require.NoError(t, err)
	sum := float32(0)
	for i := range in.Len() {
		require.Equal(t, float64(sum), res.Outputs["Y"].Float(i))
		sum += float32(in.Float(i))
	}
}

func TestDownwardLoopAndNestedMasks(t *testing.T) {
	b := newBuilder(1, 32)
	z := b.array("Z", ir.I64, simt.Result, 32)
	acc, letAcc := b.variable("acc", ir.I64, ir.Int64(0))
	j := &simt.Reg{Name: "j", Type: ir.I64}
	body := &simt.If{Head: b.head(), Cond: ir.Eq(ir.Rem(ir.Name(j), ir.Int64(2)), ir.Int64(0)),
		Then: []simt.Stmt{b.set(acc, ir.Add(ir.Mul(ir.Name(acc), ir.Int64(3)), ir.Name(j)))},
		Else: []simt.Stmt{b.set(acc, ir.Sub(ir.Name(acc), ir.Name(j)))}}
	b.add(letAcc, &simt.For{Head: b.head(), Var: j, Lo: ir.Int64(1), Hi: wide(tid), Step: 3, Down: true, Body: []simt.Stmt{body}},
		b.store(z, wide(tid), ir.Name(acc)))
	res, err := b.run(t, nil, sim.Options{})
	require.NoError(t, err)
	for lane := range int64(32) {
		var visited []int64
		for k := int64(1); k < lane; k += 3 {
			visited = append(visited, k)
		}
		want := int64(0)
		for k := len(visited) - 1; k >= 0; k-- {
			if visited[k]%2 == 0 {
				want = 3*want + visited[k]
			} else {
				want -= visited[k]
			}
		}
		require.Equal(t, want, res.Outputs["Z"].At(int(lane)).Int())
	}
}

func TestEndlessLoopsEnd(t *testing.T) {
	b := newBuilder(1, 32)
	b.array("Z", ir.I64, simt.Result, 0)
	b.add(&simt.While{Head: b.head(), Cond: ir.True})
	_, err := b.run(t, nil, sim.Options{Steps: 1 << 18})
	require.ErrorContains(t, err, "executes more than")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = sim.Run(ctx, b.m, h200(t), &data.Call{}, sim.Options{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestWhatADeviceCannotDoIsRefused(t *testing.T) {
	for _, c := range []struct {
		device, text string
		change       func(k *simt.Kernel)
	}{
		{"v100", "V100-SXM2-16GB", func(k *simt.Kernel) { k.For = "sm_80" }},
		{"a100", "clusters", func(k *simt.Kernel) { k.Launch.Cluster = 2; k.Launch.Grid = ir.Int64(8) }},
		{"rtx4090", "101376", func(k *simt.Kernel) { k.Launch.SharedBytes = 1 << 17 }},
		{"h200", "1024 threads", func(k *simt.Kernel) { k.Launch.Threads = 2048 }},
		{"mi300x", "warps of 64", func(*simt.Kernel) {}},
		{"h200", "divide", func(k *simt.Kernel) { k.Launch.Cluster = 3; k.Launch.Grid = ir.Int64(8) }},
	} {
		b := vectorAdd(1024)
		c.change(b.k)
		d, err := device.Find(c.device)
		require.NoError(t, err)
		_, err = sim.Run(context.Background(), b.m, d, &data.Call{Inputs: map[string]*data.Array{"X": ramp(1024), "Y": ramp(1024)}}, sim.Options{})
		require.ErrorContains(t, err, c.text)
	}
}

func TestWrongCalls(t *testing.T) {
	for _, c := range []struct {
		inputs map[string]*data.Array
		text   string
	}{
		{map[string]*data.Array{"X": ramp(8)}, "no array is given for Y"},
		{map[string]*data.Array{"X": ramp(8), "Y": ramp(7)}, "Y has shape [7], not [8]"},
		{map[string]*data.Array{"X": ramp(8), "Y": data.New(ir.I32, 8)}, "Y holds i32, not f32"},
		{map[string]*data.Array{"X": ramp(8), "Y": {Type: ir.F32, Shape: []int{8}, Data: make([]byte, 5)}}, "5 bytes"},
	} {
		_, err := vectorAdd(8).run(t, c.inputs, sim.Options{})
		require.ErrorContains(t, err, c.text)
	}
}
