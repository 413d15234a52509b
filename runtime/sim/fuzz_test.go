package sim

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
)

func tiny(t testing.TB) *device.Device {
	d, err := device.Find("h200")
	require.NoError(t, err)
	small := *d
	small.SMs = 2
	return &small
}

// callFor makes a call that fits a module: every scalar is n, inputs are zeros.
func callFor(m *simt.Module, d *device.Device, n int64) (*data.Call, error) {
	call := &data.Call{Scalars: map[string]ir.Const{}, Inputs: map[string]*data.Array{}}
	for _, s := range m.Scalars {
		call.Scalars[s.Name] = ir.IntConst(n)
		if s.Type.IsFloat() {
			call.Scalars[s.Name] = ir.FloatConst(float64(n))
		}
	}
	h, err := newHost(m, d, call)
	if err != nil {
		return nil, err
	}
	for _, a := range m.Arrays {
		shape, n, err := h.extents(a)
		if err != nil {
			return nil, err
		}
		if n > 1<<16 {
			return nil, errors.New("too large")
		}
		if a.Role == simt.Param {
			call.Inputs[a.CallerName()] = data.New(a.Type, shape...)
		}
	}
	return call, nil
}

// expected reports whether an error is one of those that a run may end with.
func expected(err error) bool {
	var d *diag.Diag
	var m Mistakes
	return err == nil || errors.As(err, &d) || errors.As(err, &m) || errors.Is(err, context.DeadlineExceeded)
}

// FuzzRunText runs whatever IR text the verifier accepts.
func FuzzRunText(f *testing.F) {
	paths, err := filepath.Glob("../../ir/simt/testdata/golden/*.simt")
	require.NoError(f, err)
	for _, p := range append(paths, "../../ir/simt/testdata/kinds.simt") {
		text, err := os.ReadFile(p)
		require.NoError(f, err)
		f.Add(string(text), uint8(8))
	}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		m, err := simt.Parse(text)
		if err != nil || simt.Verify(m) != nil || len(m.Kernels) > 2 {
			t.Skip()
		}
		d := tiny(t)
		call, err := callFor(m, d, int64(n))
		if err != nil {
			t.Skip()
		}
		_, err = Run(t.Context(), m, d, call, Options{Workers: 1, Steps: 1 << 17})
		require.True(t, expected(err), "%v", err)
	})
}

// chooser makes a program of the decisions that bytes stand for.
type chooser struct {
	bytes  []byte
	vars   []*simt.Reg
	x, z   *simt.Buffer
	shared *simt.Buffer
	depth  int
	line   int32
}

func (c *chooser) pick(n int) int {
	if len(c.bytes) == 0 {
		return 0
	}
	b := c.bytes[0]
	c.bytes = c.bytes[1:]
	return int(b) % n
}

func (c *chooser) expr(depth int) *ir.Expr {
	ops := []*ir.Op{ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpDiv, ir.OpRem, ir.OpMod, ir.OpShl, ir.OpBitXor, ir.OpMin}
	switch k := c.pick(6); {
	case depth == 0 || k == 0:
		return ir.NewConst(ir.I32, ir.IntConst(int64(c.pick(256))-64))
	case k == 1:
		return ir.Name(simt.Tid)
	case k == 2:
		return ir.Name(simt.Cta)
	case k == 3 && len(c.vars) > 0:
		return ir.Name(c.vars[c.pick(len(c.vars))])
	}
	return ir.Apply(ops[c.pick(len(ops))], c.expr(depth-1), c.expr(depth-1))
}

func (c *chooser) cond() *ir.Expr {
	return ir.Apply([]*ir.Op{ir.OpLt, ir.OpEq, ir.OpGe}[c.pick(3)], c.expr(2), c.expr(2))
}

func (c *chooser) head() simt.Head {
	c.line++
	return simt.Head{Pos: diag.Pos{Line: c.line, Col: 1}}
}

func (c *chooser) block(n int) (out []simt.Stmt) {
	declared := len(c.vars)
	for range n {
		out = append(out, c.stmt()...)
	}
	c.vars = c.vars[:declared]
	return out
}

func (c *chooser) stmt() []simt.Stmt {
	h := c.head()
	mem := func() simt.Mem {
		return simt.Mem{Buf: []*simt.Buffer{c.z, c.shared}[c.pick(2)], At: ir.Widen(ir.I64, c.expr(3))}
	}
	inner := func() []simt.Stmt {
		if c.depth > 3 {
			return nil
		}
		c.depth++
		defer func() { c.depth-- }()
		return c.block(1 + c.pick(3))
	}
	switch k := c.pick(10); {
	case k == 0:
		r := &simt.Reg{Name: "v", Type: ir.I32, Mutable: true}
		let := &simt.Let{Head: h, Reg: r}
		if c.pick(2) == 0 {
			let.Value = c.expr(3)
		}
		c.vars = append(c.vars, r)
		return []simt.Stmt{let}
	case k == 1 && len(c.vars) > 0:
		return []simt.Stmt{&simt.Set{Head: h, Reg: c.vars[c.pick(len(c.vars))], Value: c.expr(3)}}
	case k == 2:
		return []simt.Stmt{&simt.If{Head: h, Cond: c.cond(), Then: inner(), Else: inner()}}
	case k == 3:
		loop := &simt.For{Head: h, Var: &simt.Reg{Name: "i", Type: ir.I32}, Lo: c.expr(1), Hi: c.expr(1), Step: int64(1 + c.pick(3)), Down: c.pick(2) == 0, Unroll: c.pick(3) == 0}
		c.vars = append(c.vars, loop.Var)
		loop.Body = inner()
		c.vars = c.vars[:len(c.vars)-1]
		loop.Var.Mutable = false
		return []simt.Stmt{loop}
	case k == 4 && len(c.vars) > 0:
		return []simt.Stmt{&simt.Load{Head: h, To: simt.Slice{Reg: c.vars[c.pick(len(c.vars))], Len: 1}, From: mem()}}
	case k == 5:
		return []simt.Stmt{&simt.Sync{Head: h, Verb: simt.VerbOf("sync", "cta"), On: simt.BarRef{Builtin: "cta"}}}
	case k == 6:
		return []simt.Stmt{&simt.Check{Head: h, Cond: c.cond(), Args: []*ir.Expr{ir.Widen(ir.I64, c.expr(2))}}}
	case k == 7:
		return []simt.Stmt{&simt.Store{Head: h, To: mem(), From: []*ir.Expr{c.expr(2)}, Op: ir.Sum}}
	case k == 8:
		return []simt.Stmt{&simt.While{Head: h, Pre: inner(), Cond: c.cond(), Body: inner()}}
	}
	return []simt.Stmt{&simt.Store{Head: h, To: mem(), From: []*ir.Expr{c.expr(3)}}}
}

// FuzzPrograms runs programs that obey types and scopes and nothing else: a run ends with a result or an error, and neither depends
// on the number of workers.
func FuzzPrograms(f *testing.F) {
	f.Add([]byte{9, 0, 1, 1, 9, 1, 2, 3, 4})
	f.Add([]byte("every byte of this is a decision, and a longer text makes a larger program"))
	f.Fuzz(func(t *testing.T, decisions []byte) {
		if len(decisions) > 400 {
			t.Skip()
		}
		c := &chooser{bytes: decisions}
		array := &simt.Array{Name: "Z", As: "Z", Type: ir.I32, Role: simt.Result, Extents: []*ir.Expr{ir.Int64(96)}}
		c.z = &simt.Buffer{Name: "Z", Type: ir.I32, Array: array}
		c.shared = &simt.Buffer{Name: "s", Type: ir.I32, Space: simt.Shared, Len: 64}
		k := &simt.Kernel{Name: "k", Global: []*simt.Buffer{c.z}, Shared: []*simt.Buffer{c.shared},
			Launch: simt.Launch{Grid: ir.Int64(int64(c.pick(4))), Threads: 1 + c.pick(70), SharedBytes: 256}}
		k.Body = c.block(1 + c.pick(12))
		m := &simt.Module{Header: simt.Header{Name: "m", Arrays: []*simt.Array{array}, Sites: []ir.Site{{Kind: "index", Tensor: "Z"}}}, Kernels: []*simt.Kernel{k}}
		one, err := Run(t.Context(), m, tiny(t), &data.Call{}, Options{Workers: 1, Steps: 1 << 17})
		require.True(t, expected(err), "%v", err)
		four, again := Run(t.Context(), m, tiny(t), &data.Call{}, Options{Workers: 4, Steps: 1 << 17})
		require.Equal(t, err, again)
		require.Equal(t, one, four)
	})
}
