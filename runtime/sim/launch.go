package sim

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
)

// launch is what all blocks of one launched kernel share.
type launch struct {
	module   *simt.Module
	kernel   *simt.Kernel
	dev      *device.Device
	options  Options
	values   map[*simt.Value]ir.Const
	memory   map[*simt.Array]*globalMemory
	meanings map[meaningKey]bool
	prog     *program
	blocks   int64
	threads  int
	cluster  int
	limit    int64
	traits   traits
	maps     map[*simt.TensorMap]*tensorMap
	share    float64 // all blocks for each that was executed; 0: all were
}

// host evaluates what the launcher computes before a launch.
type host struct {
	dev    *device.Device
	known  map[ir.Ref]ir.Const
	memo   map[*ir.Expr]ir.Const
	failed error
}

func newHost(m *simt.Module, dev *device.Device, call *data.Call) (*host, error) {
	h := &host{dev: dev, known: map[ir.Ref]ir.Const{simt.SMs: ir.IntConst(int64(dev.SMs)), simt.L2Bytes: ir.IntConst(dev.L2Bytes())}, memo: map[*ir.Expr]ir.Const{}}
	for _, s := range m.Scalars {
		v, given := call.Scalars[s.Name]
		switch {
		case given:
		case s.Fixed != nil:
			v = *s.Fixed
		case s.Default != nil:
			v = *s.Default
		default:
			return nil, diag.Errorf(s.Pos, "call", "no value is given for %s", s.Name)
		}
		h.known[s] = v
	}
	return h, nil
}

func (h *host) eval(e *ir.Expr) (ir.Const, error) {
	v := h.value(e)
	return v, h.failed
}

func (h *host) value(e *ir.Expr) ir.Const {
	if v, ok := h.memo[e]; ok || h.failed != nil {
		return v
	}
	var v ir.Const
	switch e.Op {
	case ir.OpConst:
		return e.Val
	case ir.OpName:
		var ok bool
		if v, ok = h.known[e.Ref]; !ok {
			h.fail(e, "%s has no value on the host", e.Ref.RefName())
		}
	default:
		v = h.apply(e)
	}
	h.memo[e] = v
	return v
}

func (h *host) apply(e *ir.Expr) (v ir.Const) {
	args, types := make([]ir.Const, len(e.Args)), make([]ir.Type, len(e.Args))
	for i, a := range e.Args {
		args[i], types[i] = h.value(a), a.Type
	}
	if h.failed != nil {
		return v
	}
	v, ok := simt.Eval(e.Op, e.Type, types, args)
	if !ok {
		h.fail(e, "%s cannot be computed on the host", e.Op.Name)
	}
	if e.Type == ir.F32 { // a launcher's variable is as narrow as its type
		v = asF32(num(v))
	}
	return v
}

func (h *host) fail(e *ir.Expr, format string, args ...any) {
	if h.failed == nil {
		h.failed = diag.Errorf(e.Pos, "runtime", format, args...)
	}
}

// extents evaluates a shape; ok only if its bytes can be addressed.
func (h *host) extents(a *simt.Array) (shape []int, n int, err error) {
	total := uint64(a.Type.Bytes())
	empty := false
	for _, e := range a.Extents {
		v, err := h.eval(e)
		if err != nil {
			return nil, 0, err
		}
		if v.Int() < 0 {
			return nil, 0, diag.Errorf(diag.Pos{}, "call", "extent %d of %s is negative", v.Int(), a.Name)
		}
		shape = append(shape, int(v.Int()))
		empty = empty || v.Int() == 0
	}
	if empty {
		return shape, 0, nil
	}
	for _, x := range shape {
		over, product := bits.Mul64(total, uint64(x))
		if total = product; over != 0 || total > 1<<40 {
			return nil, 0, diag.Errorf(diag.Pos{}, "limit", "%s of %v elements is too large", a.Name, shape)
		}
	}
	return shape, int(total) / a.Type.Bytes(), nil
}

// bind makes the arrays of a run: the caller's for parameters, new ones for the rest. Of a sampled run nobody knows what it writes.
func (h *host) bind(m *simt.Module, call *data.Call, sampled bool) (map[*simt.Array]*globalMemory, error) {
	out := map[*simt.Array]*globalMemory{}
	held := 0
	for i, a := range m.Arrays {
		shape, n, err := h.extents(a)
		if err != nil {
			return nil, err
		}
		if held += n * a.Type.Bytes(); held > data.MaxHeld {
			return nil, diag.Errorf(diag.Pos{}, "limit", "with %s%v the arrays of %s take more than %d GiB, the most that the simulator holds", a.CallerName(), shape, m.Name, data.MaxHeld>>30)
		}
		g := &globalMemory{Array: a, id: i, shape: shape, size: a.Type.Bytes(), n: n}
		if g.data, err = h.content(g, call); err != nil {
			return nil, err
		}
		if !sampled && (a.Role == simt.Result || a.Role == simt.Work && a.Zero == simt.ZeroNever) {
			g.born = make([]byte, n)
		}
		out[a] = g
	}
	return out, nil
}

func (h *host) content(g *globalMemory, call *data.Call) ([]byte, error) {
	if g.Role != simt.Param {
		return make([]byte, g.n*g.size), nil
	}
	name := g.CallerName()
	in := call.Inputs[name]
	switch {
	case in == nil:
		return nil, diag.Errorf(diag.Pos{}, "call", "no array is given for %s", name)
	case in.Type != g.Type:
		return nil, diag.Errorf(diag.Pos{}, "call", "%s holds %s, not %s", name, in.Type, g.Type)
	case fmt.Sprint(in.Shape) != fmt.Sprint(g.shape):
		return nil, diag.Errorf(diag.Pos{}, "call", "%s has shape %v, not %v", name, in.Shape, g.shape)
	case len(in.Data) != g.n*g.size:
		return nil, diag.Errorf(diag.Pos{}, "call", "%s has %d bytes of data, not %d", name, len(in.Data), g.n*g.size)
	}
	return in.Data, nil
}

// prepare evaluates the host values and the shape of a launch, and compiles the kernel for it.
func (h *host) prepare(m *simt.Module, k *simt.Kernel, memory map[*simt.Array]*globalMemory, o Options) (*launch, error) {
	if err := h.dev.CanRun(k.For); err != nil {
		return nil, diag.Errorf(diag.Pos{}, "runtime", "kernel %s: %v", k.Name, err)
	}
	l := &launch{module: m, kernel: k, dev: h.dev, options: o, values: map[*simt.Value]ir.Const{}, memory: memory,
		meanings: map[meaningKey]bool{}, threads: k.Launch.Threads, cluster: max(1, k.Launch.Cluster), limit: o.Steps}
	for _, v := range k.Params {
		x, err := h.eval(v.Expr)
		if err != nil {
			return nil, err
		}
		l.values[v], h.known[v] = x, x
	}
	grid, err := h.eval(k.Launch.Grid)
	if err != nil {
		return nil, err
	}
	l.blocks = grid.Int()
	if err := l.possible(); err != nil {
		return nil, diag.Errorf(diag.Pos{}, "runtime", "kernel %s: %v", k.Name, err)
	}
	l.traits = traitsOf(k)
	if err := l.traits.require(h.dev); err != nil {
		return nil, diag.Errorf(diag.Pos{}, "runtime", "kernel %s: %v", k.Name, err)
	}
	if err := l.bindMaps(h); err != nil {
		return nil, err
	}
	if l.prog, err = compile(l); err != nil {
		return nil, err
	}
	return l, nil
}

// possible refuses launches that no device, or not this one, can make.
func (l *launch) possible() error {
	k := l.kernel
	switch {
	case l.dev.WarpSize != 32:
		return fmt.Errorf("%s has warps of %d threads; programs are made for warps of 32", l.dev.Name, l.dev.WarpSize)
	case l.threads < 1:
		return fmt.Errorf("a block of %d threads", l.threads)
	case l.blocks < 0 || l.blocks > math.MaxInt32:
		return fmt.Errorf("a grid of %d blocks", l.blocks)
	case l.blocks%int64(l.cluster) != 0:
		return fmt.Errorf("a grid of %d blocks does not divide into clusters of %d", l.blocks, l.cluster)
	case k.Launch.SharedBytes < 0:
		return fmt.Errorf("%d bytes of shared memory", k.Launch.SharedBytes)
	}
	for _, b := range k.Shared {
		if b.At < 0 || b.Len < 0 || b.Len > 1<<20 || b.At+b.Len*b.Type.Bytes() > k.Launch.SharedBytes || b.At%b.Type.Bytes() != 0 {
			return fmt.Errorf("buffer %s does not lie in the %d bytes of shared memory", b.Name, k.Launch.SharedBytes)
		}
	}
	barriers := 0
	for _, b := range k.Bars {
		barriers += b.N
		if b.N < 0 || b.N > 1<<12 {
			return fmt.Errorf("%d barriers %s", b.N, b.Name)
		}
	}
	if agents := l.cluster * (2*((l.threads+31)/32) + barriers); agents > 2000 {
		return fmt.Errorf("%d warps and barriers in a cluster are more than can be watched", agents)
	}
	return l.dev.Fits(device.Usage{Threads: l.threads, Shared: k.Launch.SharedBytes, Cluster: l.cluster})
}

// subscriptText turns a linear element into [i, j].
func subscriptText(shape []int, e int) string {
	if len(shape) == 0 {
		return ""
	}
	text := "["
	for i, s := range data.Subscripts(shape, e) {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(s)
	}
	return text + "]"
}

func elementText(b *simt.Buffer, off int) string {
	return fmt.Sprintf("%s[%d]", b.Name, (off-b.At)/b.Type.Bytes())
}

func regText(r *simt.Reg, k int) string {
	if r.Len == 0 {
		return r.Name
	}
	return fmt.Sprintf("%s[%d]", r.Name, k)
}
