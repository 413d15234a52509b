package sim_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/runtime/sim"
)

// builder makes modules of one kernel for tests. Statements get their lines in the order in which they are made.
type builder struct {
	m    *simt.Module
	k    *simt.Kernel
	line int32
}

func newBuilder(grid int64, threads int) *builder {
	k := &simt.Kernel{Name: "k", Launch: simt.Launch{Grid: ir.Int64(grid), Threads: threads}}
	return &builder{m: &simt.Module{Header: simt.Header{Name: "m"}, Kernels: []*simt.Kernel{k}}, k: k}
}

func (b *builder) head() simt.Head {
	b.line++
	return simt.Head{Pos: diag.Pos{Line: b.line, Col: 1}}
}

func (b *builder) array(name string, t ir.Type, role simt.Role, n int64) *simt.Buffer {
	a := &simt.Array{Name: name, As: name, Type: t, Role: role, Extents: []*ir.Expr{ir.Int64(n)}}
	b.m.Arrays = append(b.m.Arrays, a)
	buf := &simt.Buffer{Name: name, Type: t, Space: simt.Global, Array: a, ReadOnly: role == simt.Param}
	b.k.Global = append(b.k.Global, buf)
	return buf
}

func (b *builder) shared(name string, t ir.Type, n int) *simt.Buffer {
	buf := &simt.Buffer{Name: name, Type: t, Space: simt.Shared, Len: n, At: (b.k.Launch.SharedBytes + 15) / 16 * 16, Align: 16}
	b.k.Shared = append(b.k.Shared, buf)
	b.k.Launch.SharedBytes = buf.At + n*t.Bytes()
	return buf
}

func (b *builder) add(s ...simt.Stmt) { b.k.Body = append(b.k.Body, s...) }

func (b *builder) let(name string, e *ir.Expr) (*simt.Reg, simt.Stmt) {
	r := &simt.Reg{Name: name, Type: e.Type}
	return r, &simt.Let{Head: b.head(), Reg: r, Value: e}
}

func (b *builder) variable(name string, t ir.Type, e *ir.Expr) (*simt.Reg, simt.Stmt) {
	r := &simt.Reg{Name: name, Type: t, Mutable: true}
	return r, &simt.Let{Head: b.head(), Reg: r, Value: e}
}

func (b *builder) set(r *simt.Reg, e *ir.Expr) simt.Stmt {
	return &simt.Set{Head: b.head(), Reg: r, Value: e}
}

func (b *builder) load(r *simt.Reg, buf *simt.Buffer, at *ir.Expr) simt.Stmt {
	return &simt.Load{Head: b.head(), To: simt.Slice{Reg: r, Len: 1}, From: simt.Mem{Buf: buf, At: at}}
}

func (b *builder) store(buf *simt.Buffer, at *ir.Expr, e ...*ir.Expr) simt.Stmt {
	s := &simt.Store{Head: b.head(), To: simt.Mem{Buf: buf, At: at}, From: e}
	if len(e) > 1 {
		s.Form = simt.Vec
	}
	return s
}

func (b *builder) when(cond *ir.Expr, then ...simt.Stmt) simt.Stmt {
	return &simt.If{Head: b.head(), Cond: cond, Then: then}
}

func (b *builder) sync(on string) simt.Stmt {
	return &simt.Sync{Head: b.head(), Verb: simt.VerbOf("sync", on), On: simt.BarRef{Builtin: on}}
}

func i32(n int64) *ir.Expr     { return ir.NewConst(ir.I32, ir.IntConst(n)) }
func f32(x float64) *ir.Expr   { return ir.NewConst(ir.F32, ir.FloatConst(x)) }
func wide(e *ir.Expr) *ir.Expr { return ir.Widen(ir.I64, e) }

func global(threads int64) *ir.Expr {
	return ir.Add(ir.Mul(ir.Name(simt.Cta), i32(threads)), ir.Name(simt.Tid))
}

func h200(t testing.TB) *device.Device {
	d, err := device.Find("h200")
	require.NoError(t, err)
	return d
}

func ramp(n int) *data.Array {
	a := data.New(ir.F32, n)
	for i := range n {
		a.Set(i, ir.FloatConst(float64(i%251)))
	}
	return a
}

func (b *builder) run(t testing.TB, inputs map[string]*data.Array, o sim.Options) (*sim.Result, error) {
	if o.Steps == 0 {
		o.Steps = 1 << 24
	}
	return sim.Run(context.Background(), b.m, h200(t), &data.Call{Inputs: inputs}, o)
}

// mistakes runs and returns the findings' kinds and texts.
func (b *builder) mistakes(t testing.TB, inputs map[string]*data.Array) sim.Mistakes {
	_, err := b.run(t, inputs, sim.Options{})
	if err == nil {
		return nil
	}
	var m sim.Mistakes
	require.ErrorAs(t, err, &m)
	return m
}
