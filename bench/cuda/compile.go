package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gkc-lang/gkc"
	cudagen "github.com/gkc-lang/gkc/codegen/cuda"
	"github.com/gkc-lang/gkc/internal/conformance"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/runtime/cuda"
)

// image is the compiled kernel of a case.
type image struct {
	Case    int     `json:"case"`
	Image   []byte  `json:"image,omitempty"`
	Wrong   string  `json:"wrong,omitempty"`
	Seconds float64 `json:"seconds"` // that the CUDA compiler took
}

// selected are the cases to run.
func selected(only string) ([]*conformance.Case, error) {
	all, err := conformance.Load()
	if err != nil {
		return nil, err
	}
	var out []*conformance.Case
	for _, c := range all {
		if strings.Contains(c.ID(), only) {
			out = append(out, c)
		}
	}
	return out, nil
}

// lowered takes the kernel of a case down. Where the compiler may refuse the case, and does, there is none.
func lowered(c *conformance.Case) (*gkc.Kernel, *simt.Module, error) {
	kernels, errs := gkc.Compile(c.Name+".gk", c.Source, nil)
	if len(errs) > 0 && len(c.MayRefuse) > 0 {
		return nil, nil, nil
	}
	if err := errs.Err(); err != nil {
		return nil, nil, err
	}
	for _, k := range kernels {
		if k.Program.Name == c.Kernel {
			m, err := gkc.Lower(k.Program, false)
			return k, m, err
		}
	}
	return nil, nil, fmt.Errorf("no kernel %s", c.Kernel)
}

// serve compiles the cases whose numbers it reads, and writes the images.
func serve(r io.Reader, w io.Writer, arch, only string) error {
	cases, err := selected(only)
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
		if img.Image, err = img.compile(cases[img.Case], arch); err != nil {
			img.Wrong = err.Error()
		}
		if err := out.Encode(img); err != nil {
			return err
		}
	}
}

func (img *image) compile(c *conformance.Case, arch string) ([]byte, error) {
	_, m, err := lowered(c)
	if err != nil || m == nil {
		return nil, err
	}
	text, err := cudagen.Emit(m)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	defer func() { img.Seconds = time.Since(start).Seconds() }()
	return cuda.Compile(m.Name+".cu", text, arch)
}

// compileAll has n cases compiled by several processes, since the CUDA compiler compiles one text at a time in each. Each gets the
// next case when it is done with one.
func compileAll(ctx context.Context, arch, only string, n, processes int) (images chan image, failed func() error) {
	images = make(chan image, 64)
	errs := make([]error, processes)
	var next atomic.Int64
	var group sync.WaitGroup
	for p := range processes {
		group.Go(func() { errs[p] = compileIn(ctx, arch, only, n, &next, images) })
	}
	go func() {
		group.Wait()
		close(images)
	}()
	return images, func() error { return errors.Join(errs...) }
}

func compileIn(ctx context.Context, arch, only string, n int, next *atomic.Int64, images chan<- image) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "-serve", "-arch", arch, "-only", only)
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
