package simt

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Block is what the code of a kernel knows of the block that it runs.
type Block struct {
	Cta, Ctas int32
	Shared    []byte // shared memory, aligned to 8 bytes
	fault     *Fault
}

// Site is one place of a program that can fail as it runs.
type Site struct {
	Kind   string // "index", or what an operation says of its fault
	Tensor string // of an index
	Dim    int    // of an index, from 0
	Text   string // the expression as it is written
	Line   int
}

// Fault is the first failed check of a kernel, in the order of blocks and threads.
type Fault struct {
	Kernel string
	Cta    int32
	Tid    int32
	Code   int
	Args   []int64 // the offending index, then the element that was being computed
	Site   *Site
}

// Error says what failed.
func (f *Fault) Error() string {
	var at []string
	for _, a := range f.Args {
		at = append(at, fmt.Sprint(a))
	}
	s := f.Site
	switch {
	case s == nil:
		return fmt.Sprintf("check %d of kernel %s failed (%s)", f.Code, f.Kernel, strings.Join(at, ", "))
	case s.Kind == "index" && len(at) > 1:
		return fmt.Sprintf("line %d: index %s of %s is outside its extent (dimension %d, %s) while computing element %s", s.Line, at[0], s.Tensor, s.Dim+1, s.Text, at[1])
	}
	return fmt.Sprintf("line %d: %s in %s (%s)", s.Line, s.Kind, s.Text, strings.Join(at, ", "))
}

// Fail records that a thread's check failed. The thread goes on.
func (b *Block) Fail(tid int32, code int, args ...int64) {
	if b.fault == nil || b.Cta == b.fault.Cta && tid < b.fault.Tid {
		b.fault = &Fault{Cta: b.Cta, Tid: tid, Code: code, Args: append([]int64(nil), args...)}
	}
}

// Same is the value that every thread gave. Control flow in which threads meet depends on it: threads that differ are a mistake
// of the program.
func Same[T comparable](x []T) T {
	for _, v := range x[1:] {
		if v != x[0] {
			panic(fmt.Sprintf("threads that meet disagree: %v and %v", x[0], v))
		}
	}
	return x[0]
}

// Launch runs the kernels of one call in order, and remembers the first mistake: what comes after it does nothing.
type Launch struct {
	Sites []Site
	Stop  func() error // if set, asked before kernels and runs of blocks whether to give up
	err   error
}

// stopped asks Stop.
func (l *Launch) stopped() error {
	if l.Stop == nil {
		return nil
	}
	return l.Stop()
}

// Err is the first mistake.
func (l *Launch) Err() error { return l.err }

// Where demands a condition on the sizes.
func (l *Launch) Where(holds bool, text string) {
	if l.err == nil && !holds {
		l.err = fmt.Errorf("the launch demands %s", text)
	}
}

// Len is the number of elements of an array with these extents.
func (l *Launch) Len(name string, extents ...int64) int64 {
	n := int64(1)
	for d, e := range extents {
		if l.err == nil && e < 0 {
			l.err = fmt.Errorf("extent %d of %s is %d: negative", d, name, e)
		}
		if l.err == nil && n > 0 && e > math.MaxInt64/16/n {
			l.err = fmt.Errorf("%s is too large", name)
		}
		n *= e
	}
	if l.err != nil {
		return 0
	}
	return n
}

// Has demands that an array has as many elements as its extents say.
func (l *Launch) Has(name string, n int, extents ...int64) {
	if want := l.Len(name, extents...); l.err == nil && int64(n) != want {
		l.err = fmt.Errorf("%s has %d elements, expected %d for extents %v", name, n, want, extents)
	}
}

// Run runs the blocks of a kernel, spread over the processors, or one after another where their order decides about the result.
func (l *Launch) Run(kernel string, grid int64, shared int, ordered bool, body func(*Block)) {
	if l.err == nil {
		l.err = l.stopped()
	}
	switch {
	case l.err != nil || grid == 0:
		return
	case grid < 0 || grid > math.MaxInt32:
		l.err = fmt.Errorf("kernel %s: a grid of %d blocks", kernel, grid)
		return
	}
	workers := min(int64(runtime.GOMAXPROCS(0)), grid)
	if ordered {
		workers = 1
	}
	r := &runner{grid: grid, step: max(1, grid/(8*workers)), shared: shared, body: body, stop: l.stopped}
	if workers == 1 {
		r.work()
	} else {
		var wait sync.WaitGroup
		for range workers {
			wait.Go(r.work)
		}
		wait.Wait()
	}
	l.finish(kernel, r)
}

func (l *Launch) finish(kernel string, r *runner) {
	stop := l.stopped()
	switch {
	case stop != nil:
		l.err = stop
	case r.broken != nil:
		l.err = fmt.Errorf("kernel %s: %w", kernel, r.broken)
	case r.fault != nil:
		r.fault.Kernel = kernel
		if r.fault.Code < len(l.Sites) {
			r.fault.Site = &l.Sites[r.fault.Code]
		}
		l.err = r.fault
	}
}

// runner deals out blocks.
type runner struct {
	grid, step int64
	shared     int
	body       func(*Block)
	stop       func() error
	next       atomic.Int64
	mutex      sync.Mutex
	fault      *Fault // of the first block that has one
	broken     error
}

func (r *runner) work() {
	defer func() {
		if x := recover(); x != nil {
			r.mutex.Lock()
			r.broken = fmt.Errorf("%v\n%s", x, debug.Stack())
			r.mutex.Unlock()
		}
	}()
	words := make([]uint64, (r.shared+7)/8)
	b := &Block{Ctas: int32(r.grid), Shared: Recast[byte](words)}
	for {
		last := r.next.Add(r.step)
		for cta := last - r.step; cta < min(last, r.grid); cta++ {
			b.Cta, b.fault = int32(cta), nil
			r.body(b)
			if b.fault != nil {
				r.report(b.fault)
			}
		}
		if last >= r.grid || r.stop() != nil {
			return
		}
	}
}

func (r *runner) report(f *Fault) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.fault == nil || f.Cta < r.fault.Cta {
		r.fault = f
	}
}

// View is n elements of shared memory from a byte on.
func View[T any](memory []byte, at, n int) []T {
	var zero T
	return Recast[T](memory[at : at+n*int(unsafe.Sizeof(zero))])
}

// Recast is the same memory as elements of another type.
func Recast[T, S any](x []S) []T {
	var t T
	var s S
	n := len(x) * int(unsafe.Sizeof(s)) / int(unsafe.Sizeof(t))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(x))), n)
}

// Vector is n elements of type T in the memory of x from element at on.
func Vector[T, S any, I Int](x []S, at I, n int) []T {
	var t T
	var s S
	return Recast[T](x[at:][:n*int(unsafe.Sizeof(t))/int(unsafe.Sizeof(s))])
}

// What kernels ask of the device. The answers are fixed, so that results do not depend on the machine.
const (
	SMs     int32 = 16
	L2Bytes int64 = 32 << 20
)
