package gogen

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
	library_ "github.com/gkc-lang/gkc/runtime/simt"
)

// Job is one call of one module.
type Job struct {
	Module *simt.Module
	Call   *data.Call
}

// Outcome is what became of a job: its results by the caller's names, or an error.
type Outcome struct {
	Results map[string]*data.Array
	Err     error
}

// modulesPerProgram bounds the size of what the Go compiler gets at a time.
const modulesPerProgram = 200

// Run prints a module as Go, builds it with the local toolchain and runs a call.
func Run(ctx context.Context, m *simt.Module, call *data.Call) (map[string]*data.Array, error) {
	out, err := RunBatch(ctx, []Job{{m, call}})
	if err != nil {
		return nil, err
	}
	return out[0].Results, out[0].Err
}

// RunBatch runs many calls, of modules that are built together: building costs more than running. Jobs of one module pointer
// share its code. Executables are kept in the user's cache by the hash of their source.
func RunBatch(ctx context.Context, jobs []Job) ([]Outcome, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "gkc", "go")
	out := make([]Outcome, len(jobs))
	for _, b := range batches(jobs) {
		if err := b.run(ctx, cache, jobs, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// batch is one program: its modules, and the jobs that it runs.
type batch struct {
	modules []*simt.Module
	jobs    []int
	module  []int // of each job
}

func batches(jobs []Job) (out []*batch) {
	type place struct {
		batch *batch
		at    int
	}
	places := map[*simt.Module]place{}
	for i, j := range jobs {
		p, ok := places[j.Module]
		if !ok {
			if len(out) == 0 || len(out[len(out)-1].modules) == modulesPerProgram {
				out = append(out, &batch{})
			}
			b := out[len(out)-1]
			b.modules = append(b.modules, j.Module)
			p = place{b, len(b.modules) - 1}
			places[j.Module] = p
		}
		p.batch.jobs = append(p.batch.jobs, i)
		p.batch.module = append(p.batch.module, p.at)
	}
	return out
}

func (b *batch) run(ctx context.Context, cache string, jobs []Job, out []Outcome) error {
	prog, errs := newProgram(b.modules)
	exe, err := prog.build(ctx, cache)
	if err != nil {
		return err
	}
	var calls []*call
	for i, j := range b.jobs {
		c := &call{Job: jobs[j], number: b.module[i], out: &out[j]}
		if c.out.Err = errs[c.number]; c.out.Err == nil {
			c.out.Err = c.prepare()
		}
		if c.out.Err == nil {
			calls = append(calls, c)
		}
	}
	for len(calls) > 0 {
		done, err := serve(ctx, exe, calls)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		calls[done].out.Err = err // this one ended the program; the others get a new one
		calls = calls[done+1:]
	}
	return nil
}

// serve sends calls to a new process and reads the replies; done is how many came before an error.
func serve(ctx context.Context, exe string, calls []*call) (done int, err error) {
	cmd := exec.CommandContext(ctx, exe)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	var messages strings.Builder
	cmd.Stderr = &messages
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() {
		w := bufio.NewWriterSize(stdin, 1<<16)
		for _, c := range calls {
			c.write(w)
		}
		_ = w.Flush() // a process that ended is noticed where its replies are read
		_ = stdin.Close()
	}()
	r := bufio.NewReaderSize(stdout, 1<<16)
	for done < len(calls) && err == nil {
		if err = calls[done].read(r); err == nil {
			done++
		}
	}
	_ = stdin.Close()
	_, _ = io.Copy(io.Discard, r)
	wait := cmd.Wait()
	if err != nil {
		return done, fmt.Errorf("the emitted program ended: %w: %s", errors.Join(wait, err), firstLines(messages.String(), 30))
	}
	return done, nil
}

// call is a job on its way.
type call struct {
	Job
	number int
	out    *Outcome
	shapes map[*simt.Array][]int
}

// prepare computes the shapes and checks the inputs, so that the process gets only what it can read.
func (c *call) prepare() error {
	c.shapes = map[*simt.Array][]int{}
	for _, s := range c.Module.Scalars {
		if _, ok := c.Call.Scalars[s.Name]; !ok {
			return diag.Errorf(diag.Pos{}, "call", "%s of kernel %s has no value", s.Name, c.Module.Name)
		}
	}
	held := 0
	for _, a := range c.Module.Arrays {
		shape, err := c.Call.Shape(data.Tensor{Name: a.CallerName(), Type: a.Type, Extents: a.Extents})
		if err != nil {
			return err
		}
		if held += data.Len(shape) * a.Type.Bytes(); held > data.MaxHeld {
			return diag.Errorf(diag.Pos{}, "limit", "with %s%v the arrays of %s take more than %d GiB, the most that a run as Go holds", a.CallerName(), shape, c.Module.Name, data.MaxHeld>>30)
		}
		c.shapes[a] = shape
		if a.Role == simt.Param {
			in := c.Call.Inputs[a.CallerName()]
			if in == nil || in.Type != a.Type || len(in.Data) != data.Len(shape)*a.Type.Bytes() {
				return diag.Errorf(diag.Pos{}, "call", "input %s of kernel %s is %v, expected %s%v", a.CallerName(), c.Module.Name, in, a.Type, shape)
			}
		}
	}
	return nil
}

func (c *call) write(w *bufio.Writer) {
	word := func(n uint64) { _ = binary.Write(w, binary.LittleEndian, n) }
	word(uint64(c.number))
	for _, s := range c.Module.Scalars {
		word(ir.ToBits(s.Type, c.Call.Scalars[s.Name]))
	}
	for _, a := range c.Module.Arrays {
		switch a.Role {
		case simt.Param:
			in := c.Call.Inputs[a.CallerName()]
			word(uint64(len(in.Data)))
			_, _ = w.Write(in.Data)
		case simt.Result:
			word(uint64(data.Len(c.shapes[a]) * a.Type.Bytes()))
		}
	}
}

// read takes the reply. An error means that there was none; what the call itself did wrong goes to its outcome.
func (c *call) read(r *bufio.Reader) error {
	in := replies{r: r}
	switch status := in.word(); {
	case in.err != nil:
	case status == library_.StatusDone:
		c.out.Results = map[string]*data.Array{}
		for _, a := range c.Module.Arrays {
			if a.Role == simt.Result {
				res := data.New(a.Type, c.shapes[a]...)
				in.bytes(res.Data)
				c.out.Results[a.CallerName()] = res
			}
		}
	case status == library_.StatusFault:
		kernel, code := in.text(), in.word()
		args := make([]int64, in.count())
		for i := range args {
			args[i] = in.word()
		}
		c.out.Err = c.fault(kernel, int(code), args)
	default:
		what, _, _ := strings.Cut(in.text(), "\n") // the stack behind it is one of emitted code
		c.out.Err = diag.Errorf(diag.Pos{}, "runtime", "%s", what)
	}
	return in.err
}

type replies struct {
	r   io.Reader
	err error
}

func (r *replies) bytes(b []byte) {
	if r.err == nil {
		_, r.err = io.ReadFull(r.r, b)
	}
}

func (r *replies) word() int64 {
	var b [8]byte
	r.bytes(b[:])
	return int64(binary.LittleEndian.Uint64(b[:]))
}

// count is a length of something small.
func (r *replies) count() int {
	n := r.word()
	if r.err == nil && (n < 0 || n > 1<<20) {
		r.err = fmt.Errorf("a length of %d", n)
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

func (r *replies) text() string {
	b := make([]byte, r.count())
	r.bytes(b)
	return string(b)
}

// fault is the error of a failed check.
func (c *call) fault(kernel string, code int, args []int64) error {
	for _, k := range c.Module.Kernels {
		if check := k.CheckOf(code); k.Name == kernel && check != nil {
			return c.Module.Explain(simt.Fault{Kernel: kernel, Code: code, Args: args, Of: check.Of}, func(a *simt.Array) []int { return c.shapes[a] })
		}
	}
	return diag.Errorf(diag.Pos{}, "runtime", "check %d of kernel %s failed", code, kernel)
}
