package cuda

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/runtime/sim"
)

func TestRunFollowsThePlan(t *testing.T) {
	f := newFake(t)
	f.do = func(name string, _ shape, args [][]byte) {
		if name != "rows" {
			return
		}
		assert.Equal(t, bytes.Repeat([]byte{0xff}, 32), f.array(args[2]), "results are poisoned")
		binary.LittleEndian.PutUint32(f.array(args[2]), math.Float32bits(7))
	}
	p := load(t, f)
	assert.Equal(t, []shape{{0, 64, 0, 0}, {0, 128, 65536, 2}}, f.prepared)
	res, err := p.Run(context.Background(), callOf(8))
	require.NoError(t, err)

	require.Len(t, f.launches, 2)
	first, second := f.launches[0], f.launches[1]
	assert.Equal(t, "rows_t", first.name)
	assert.Equal(t, shape{2, 64, 0, 0}, first.shape)
	assert.Equal(t, []byte{8, 0, 0, 0}, first.args[0], "an i32")
	assert.Equal(t, shape{16, 128, 65536, 2}, second.shape)
	assert.Equal(t, []byte{0xfe, 0xff}, second.args[0], "an i16 of -2")
	assert.Len(t, second.args[len(second.args)-1], mapBytes)

	require.Len(t, f.maps, 1)
	m := f.maps[0]
	assert.Equal(t, tensorMap{at: m.at, element: 7, dims: []uint64{8}, box: []uint32{64}, promote: 3, fill: 1}, m)

	assert.Equal(t, 7.0, res.Outputs["y"].Float(0), "by the caller's name")
	assert.Equal(t, int64(17*4+8), res.Workspace)
	require.Len(t, res.Launches, 2)
	assert.Equal(t, "rows.t", res.Launches[0].Kernel)
	assert.Equal(t, int64(2), res.Launches[0].Grid)
	assert.Equal(t, 32, res.Launches[1].Registers)
	assert.Equal(t, 8, res.Launches[1].PerSM)
	assert.InDelta(t, 1e-6, res.Launches[1].Seconds, 1e-12)

	assert.Empty(t, f.memory, "all memory is given back")
	assert.Empty(t, f.events)
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	assert.Zero(t, f.modules)
	require.NoError(t, p.dev.Close())
	require.NoError(t, p.dev.Close())
	assert.True(t, f.closed)
	_, err = p.Run(context.Background(), callOf(8))
	assert.ErrorIs(t, err, errClosed)
}

func TestMemoryBeforeARun(t *testing.T) {
	f := newFake(t)
	var x, work []byte
	f.do = func(name string, _ shape, args [][]byte) {
		if name == "rows_t" {
			work, x = bytes.Clone(f.array(args[1])), bytes.Clone(f.array(args[2]))
		}
	}
	p := load(t, f)
	call := callOf(8)
	_, err := p.Run(context.Background(), call)
	require.NoError(t, err)
	assert.Equal(t, call.Inputs["x"].Data, x)
	assert.Equal(t, make([]byte, 17*4), work, "workspace that the kernel wants zeroed")
}

func TestEmptyGridsAndArrays(t *testing.T) {
	f := newFake(t)
	res, err := load(t, f).Run(context.Background(), callOf(0))
	require.NoError(t, err)
	assert.Empty(t, f.launches)
	assert.Equal(t, []int{0}, res.Outputs["y"].Shape)
	assert.Zero(t, res.Launches[0].Seconds)
}

// fail leaves a failure record as gkc_fail does.
func fail(record []byte, code int, args ...int64) {
	le := binary.LittleEndian
	le.PutUint32(record[4:], 1)
	le.PutUint32(record[16:], uint32(code))
	le.PutUint32(record[20:], uint32(len(args)))
	for i, a := range args {
		le.PutUint64(record[24+8*i:], uint64(a))
	}
}

func TestFailedChecks(t *testing.T) {
	for _, c := range []struct {
		code int
		args []int64
		want string
		line int32
	}{
		{0, []int64{9, 5}, "index 9 of x is outside 0..8 (dimension 1) while computing y[5]", 4},
		{1, []int64{0}, "division by zero in 1 / k while computing kernel rows.t", 5},
		{7, nil, "check 7 of kernel rows.t failed", 0},
	} {
		f := newFake(t)
		f.do = func(name string, _ shape, args [][]byte) {
			if name == "rows_t" {
				fail(f.array(args[len(args)-1]), c.code, c.args...)
			}
		}
		_, err := load(t, f).Run(context.Background(), callOf(8))
		var d *diag.Diag
		require.ErrorAs(t, err, &d)
		assert.Equal(t, "runtime", d.Code)
		assert.Equal(t, c.want, d.Message)
		assert.Equal(t, c.line, d.Pos.Line)
		assert.Empty(t, f.memory)
	}
}

// TestFailuresReadAsTheSimulatorSays runs a gather of a wrong index on the simulator, and tells the fake what a device would find.
func TestFailuresReadAsTheSimulatorSays(t *testing.T) {
	kernels, errs := gkc.Compile("gather.gk", "kernel gather(x: f32[N, M], k: i32[R]) -> y: f32[R, M] { y[r, c] = x[k[r], c] }", nil)
	require.NoError(t, errs.Err())
	k := data.New(ir.I32, 2)
	k.Set(1, ir.IntConst(5))
	call, err := data.Bind(kernels[0].Program.Signature(), data.Given{Inputs: map[string]*data.Array{"x": data.New(ir.F32, 3, 4), "k": k}})
	require.NoError(t, err)
	m, err := gkc.Lower(kernels[0].Program, false)
	require.NoError(t, err)
	h200, err := device.Find("h200")
	require.NoError(t, err)
	_, want := sim.Run(context.Background(), m, h200, call, sim.Options{})
	require.ErrorContains(t, want, "index 5 of x is outside 0..3")

	f := newFake(t)
	p := plan.Of(m)
	d, err := open(f)
	require.NoError(t, err)
	prog, err := d.Load(p, nil)
	require.NoError(t, err)
	f.do = func(name string, _ shape, args [][]byte) {
		for _, l := range p.Launches {
			if l.Entry == name && len(l.Checks) > 0 {
				fail(f.array(args[len(args)-1]), l.Checks[0].Code, 5, 4)
			}
		}
	}
	_, got := prog.Run(context.Background(), call)
	assert.EqualError(t, got, want.Error())
}

func TestTrouble(t *testing.T) {
	for _, method := range []string{"alloc", "launch", "idle"} {
		f := newFake(t)
		p := load(t, f)
		f.refuse[method] = errNo
		_, err := p.Run(context.Background(), callOf(8))
		assert.ErrorIs(t, err, errNo, method)
		assert.Empty(t, f.memory, method)
		assert.Empty(t, f.events, method)
	}
	for _, method := range []string{"load", "function"} {
		f := newFake(t)
		f.refuse[method] = errNo
		p := plan.Of(module(t))
		d, err := open(f)
		require.NoError(t, err)
		_, err = d.Load(p, nil)
		assert.ErrorIs(t, err, errNo)
	}
	f := newFake(t)
	f.refuse["facts"] = errNo
	_, err := open(f)
	assert.ErrorIs(t, err, errNo)
	assert.True(t, f.closed)
}

func TestAKernelThatNeverEndsIsLeft(t *testing.T) {
	f := newFake(t)
	f.busy = true
	p := load(t, f)
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer stop()
	_, err := p.Run(ctx, callOf(8))
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.NotEmpty(t, f.memory, "the kernel may still use it")
	_, err = p.Run(context.Background(), callOf(8))
	assert.ErrorContains(t, err, "kernel rows was left while it ran")
	require.NoError(t, p.dev.Close())
	assert.False(t, f.closed, "the driver would wait for the kernel")
}

func TestRefusedBeforeALaunch(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *fake, c *data.Call)
		code   string
		want   string
	}{
		"memory":  {func(f *fake, _ *data.Call) { f.available = 100 }, "limit", "more than the 0 MiB that are free"},
		"size":    {func(_ *fake, c *data.Call) { c.Scalars["N"] = ir.IntConst(1 << 60) }, "runtime", "a grid of"},
		"extent":  {func(_ *fake, c *data.Call) { c.Scalars["N"] = ir.IntConst(-8) }, "runtime", "a grid of -2 blocks"},
		"missing": {func(_ *fake, c *data.Call) { delete(c.Inputs, "y") }, "call", "input y of kernel rows"},
		"type":    {func(_ *fake, c *data.Call) { c.Inputs["x"] = data.New(ir.F64, 4) }, "call", "expected f32[8]"},
	} {
		f := newFake(t)
		p := load(t, f)
		call := callOf(8)
		c.change(f, call)
		_, err := p.Run(context.Background(), call)
		var d *diag.Diag
		require.ErrorAs(t, err, &d, name)
		assert.Equal(t, c.code, d.Code, name)
		assert.Contains(t, d.Message, c.want, name)
		assert.Empty(t, f.launches)
		assert.Empty(t, f.memory)
	}
}

func TestDevicesThatCannotRunAProgram(t *testing.T) {
	for _, compute := range []string{"8.0", "10.0"} {
		f := newFake(t)
		f.facts_.Compute = compute
		d, err := open(f)
		require.NoError(t, err)
		_, err = d.Load(plan.Of(module(t)), nil)
		assert.ErrorContains(t, err, "kernel rows: ")
		assert.ErrorContains(t, err, "sm_90a")
	}
}

func TestArch(t *testing.T) {
	for compute, want := range map[string]string{"8.9": "sm_89", "9.0": "sm_90a", "12.0": "sm_120a"} {
		f := newFake(t)
		f.facts_.Compute = compute
		d, err := open(f)
		require.NoError(t, err)
		assert.Equal(t, want, d.Arch())
	}
}
