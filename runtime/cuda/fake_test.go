package cuda

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
)

// fake is a driver without a GPU: memory is slices, and functions are those of the test.
type fake struct {
	t         *testing.T
	facts_    device.Device
	memory    map[address][]byte
	next      address
	available int64
	modules   int
	names     []string // of functions, by handle
	events    map[handle]int
	launches  []fakeLaunch
	prepared  []shape
	maps      []tensorMap
	closed    bool
	refuse    map[string]error // by method
	busy      bool             // kernels never end
	do        func(name string, s shape, args [][]byte)
}

type fakeLaunch struct {
	name string
	shape
	args [][]byte
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, memory: map[address][]byte{}, next: 1 << 32, available: 1 << 30, events: map[handle]int{}, refuse: map[string]error{}}
	h200, err := device.Find("h200")
	require.NoError(t, err)
	f.facts_ = *h200
	return f
}

func (f *fake) enter() error                   { return f.refuse["enter"] }
func (f *fake) leave()                         {}
func (f *fake) close() error                   { f.closed = true; return nil }
func (f *fake) facts() (*device.Device, error) { return &f.facts_, f.refuse["facts"] }
func (f *fake) free() (int64, error)           { return f.available, nil }

func (f *fake) alloc(bytes int64) (address, error) {
	if err := f.refuse["alloc"]; err != nil && len(f.memory) > 0 {
		return 0, err
	}
	p := f.next
	f.next += address(bytes+255) &^ 255
	f.memory[p] = make([]byte, bytes)
	return p, nil
}

func (f *fake) release(p address) error {
	require.Contains(f.t, f.memory, p)
	delete(f.memory, p)
	return nil
}

func (f *fake) fill(to address, b byte, bytes int64) error {
	for i := range f.memory[to][:bytes] {
		f.memory[to][i] = b
	}
	return nil
}

func (f *fake) upload(to address, from []byte) error {
	copy(f.memory[to][:len(from)], from)
	return nil
}

func (f *fake) download(to []byte, from address) error {
	copy(to, f.memory[from][:len(to)])
	return nil
}

func (f *fake) load([]byte) (handle, error) { f.modules++; return 1, f.refuse["load"] }

func (f *fake) unload(handle) error { f.modules--; return nil }

func (f *fake) function(_ handle, name string) (handle, error) {
	f.names = append(f.names, name)
	return handle(len(f.names) - 1), f.refuse["function"]
}

func (f *fake) prepare(_ handle, s shape) (resources, error) {
	f.prepared = append(f.prepared, s)
	return resources{registers: 32, perSM: 8}, nil
}

func (f *fake) encode(m *tensorMap) (out [mapBytes]byte, err error) {
	f.maps = append(f.maps, *m)
	out[0] = byte(len(f.maps))
	return out, nil
}

func (f *fake) launch(h handle, s shape, args [][]byte) error {
	f.launches = append(f.launches, fakeLaunch{f.names[h], s, args})
	if f.do != nil {
		f.do(f.names[h], s, args)
	}
	return f.refuse["launch"]
}

func (f *fake) event() (handle, error) {
	f.next++
	f.events[handle(f.next)] = 0
	return handle(f.next), nil
}

func (f *fake) record(e handle) error { f.events[e] = len(f.launches); return nil }

func (f *fake) discard(e handle) error {
	require.Contains(f.t, f.events, e)
	delete(f.events, e)
	return nil
}

// elapsed is a microsecond a launch.
func (f *fake) elapsed(from, to handle) (float64, error) {
	return float64(f.events[to]-f.events[from]) * 1e-6, nil
}

func (f *fake) idle() (bool, error) { return !f.busy, f.refuse["idle"] }

// array is the memory that an argument points to.
func (f *fake) array(arg []byte) []byte {
	for p, b := range f.memory {
		if at := pointerOf(arg); at >= p && at < p+address(len(b)) {
			return b[at-p:]
		}
	}
	require.Fail(f.t, "the argument points to nothing")
	return nil
}

func pointerOf(arg []byte) address { return address(binary.LittleEndian.Uint64(arg)) }

var errNo = errors.New("no")

const text = `simt rows
size N: i64
scalar s: i16 default 3
param x: f32[N]
param y.in: f32[N] as y
result y: f32[N]
work t: u32[2*N + 1] zero each
work u: u8[N]
order x y s
site "index" of x 0 "x[k]" at 4:9
site "division by zero" "1 / k" at 5:2

kernel rows.t lines 3 {
  host n: i32 = i32(N)
  launch grid N / 4 threads 64
  global t: u32 = t
  global x: f32 = x readonly
  check n > 0, 0, i64(n), i64(n) of y
  check n > 0, 1, i64(n)
  store t[0] <- 1
}
kernel rows for sm_90a lines 4 5 {
  host m: i16 = scalar.s
  launch grid 2 * N threads 128 cluster 2 shared 65536
  global t: u32 = t
  global y: f32 = y
  map mx = x[N] strides [] box [64] l2 256 fill nan
  shared s: f16[8192] at 0 align 1024
  if widen.i32(m) > 3 { store y[0] <- 1.0 }
}
`

func module(t *testing.T) *simt.Module {
	m, err := simt.Parse(text)
	require.NoError(t, err)
	return m
}

// load puts the module on a fake device.
func load(t *testing.T, f *fake) *Program {
	d, err := open(f)
	require.NoError(t, err)
	p, err := d.Load(plan.Of(module(t)), nil)
	require.NoError(t, err)
	return p
}

func callOf(n int) *data.Call {
	x, y := data.New(ir.F32, n), data.New(ir.F32, n)
	for i := range n {
		x.Set(i, ir.FloatConst(float64(i)))
		y.Set(i, ir.FloatConst(-float64(i)))
	}
	return &data.Call{Scalars: map[string]ir.Const{"N": ir.IntConst(int64(n)), "s": ir.IntConst(-2)}, Inputs: map[string]*data.Array{"x": x, "y": y}}
}
