package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gkc-lang/gkc"
	cudagen "github.com/gkc-lang/gkc/codegen/cuda"
	"github.com/gkc-lang/gkc/internal/conformance"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/passes"
	"github.com/gkc-lang/gkc/runtime/cuda"
)

// image is the compiled kernel of a case.
type image struct {
	Case    int     `json:"case"`
	Image   []byte  `json:"image,omitempty"`
	Wrong   string  `json:"wrong,omitempty"`
	Seconds float64 `json:"seconds"` // that the CUDA compiler took
}

// suite says which cases are compiled, and how.
type suite struct {
	only   string // parts of group/name, separated by commas
	device string // for which kernels are cut; empty: any
	arch   string // of the GPU
	draw   uint64 // the seed of schedules; 0: the default schedule
}

// selected are the cases to run.
func (s *suite) selected() ([]*conformance.Case, error) {
	all, err := conformance.Load()
	if err != nil {
		return nil, err
	}
	var out []*conformance.Case
	for _, c := range all {
		if slices.ContainsFunc(strings.Split(s.only, ","), func(part string) bool { return strings.Contains(c.ID(), part) }) {
			out = append(out, c)
		}
	}
	return out, nil
}

// lowered takes the kernel of a case down. Where the compiler may refuse the case, and does, there is none.
func (s *suite) lowered(c *conformance.Case) (*gkc.Kernel, *simt.Module, error) {
	kernels, errs := gkc.Compile(c.Name+".gk", c.Source, nil)
	if len(errs) > 0 && len(c.MayRefuse) > 0 {
		return nil, nil, nil
	}
	if err := errs.Err(); err != nil {
		return nil, nil, err
	}
	for _, k := range kernels {
		if k.Program.Name == c.Kernel {
			m, err := s.lower(k)
			return k, m, err
		}
	}
	return nil, nil, fmt.Errorf("no kernel %s", c.Kernel)
}

func (s *suite) lower(k *gkc.Kernel) (*simt.Module, error) {
	u := &passes.Unit{Level: passes.Tensor, Tensor: k.Program}
	if s.draw != 0 {
		u.Draw = &s.draw
	}
	if s.device != "" {
		var err error
		if u.Device, err = device.Find(s.device); err != nil {
			return nil, err
		}
	}
	err := passes.Run(u, passes.Options{To: passes.Simt})
	return u.Simt, err
}

// serve compiles the cases whose numbers it reads, and writes the images.
func (s *suite) serve(r io.Reader, w io.Writer) error {
	cases, err := s.selected()
	if err != nil {
		return err
	}
	in, out := json.NewDecoder(r), json.NewEncoder(w)
	for {
		var img image
		if err := in.Decode(&img.Case); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if img.Image, err = img.compile(s, cases[img.Case]); err != nil {
			img.Wrong = err.Error()
		}
		if err := out.Encode(img); err != nil {
			return err
		}
	}
}

func (img *image) compile(s *suite, c *conformance.Case) ([]byte, error) {
	_, m, err := s.lowered(c)
	if err != nil || m == nil {
		return nil, err
	}
	text, err := cudagen.Emit(m)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	defer func() { img.Seconds = time.Since(start).Seconds() }()
	return cuda.Compile(m.Name+".cu", text, s.arch)
}

// compileAll has n cases compiled by several processes, since the CUDA compiler compiles one text at a time in each. Each gets the
// next case when it is done with one.
func (s *suite) compileAll(ctx context.Context, n, processes int) (images chan image, failed func() error) {
	images = make(chan image, 64)
	errs := make([]error, processes)
	var next atomic.Int64
	var group sync.WaitGroup
	for p := range processes {
		group.Go(func() { errs[p] = s.compileIn(ctx, n, &next, images) })
	}
	go func() {
		group.Wait()
		close(images)
	}()
	return images, func() error { return errors.Join(errs...) }
}

func (s *suite) compileIn(ctx context.Context, n int, next *atomic.Int64, images chan<- image) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "-serve", "-arch", s.arch, "-only", s.only, "-device", s.device, "-draw", fmt.Sprint(s.draw))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	requests, replies := json.NewEncoder(in), json.NewDecoder(out)
	for err == nil {
		i := int(next.Add(1) - 1)
		if i >= n {
			break
		}
		var img image
		if err = requests.Encode(i); err == nil {
			err = replies.Decode(&img)
		}
		if err == nil {
			images <- img
		} else {
			err = fmt.Errorf("case %d: %w", i, err)
		}
	}
	_ = in.Close()
	return errors.Join(err, cmd.Wait())
}
