package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
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

// compilePart compiles every parts-th case, and writes the images.
func compilePart(w io.Writer, arch, only string, part, parts int) error {
	cases, err := selected(only)
	if err != nil {
		return err
	}
	out := json.NewEncoder(w)
	for i := part; i < len(cases); i += parts {
		img := image{Case: i}
		if img.Image, err = img.compile(cases[i], arch); err != nil {
			img.Wrong = err.Error()
		}
		if err := out.Encode(img); err != nil {
			return err
		}
	}
	return nil
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

// compileAll shares the cases among processes, since the CUDA compiler compiles one text at a time in each.
func compileAll(ctx context.Context, arch, only string, parts int) (images chan image, failed func() error) {
	images = make(chan image, 64)
	errs := make([]error, parts)
	var group sync.WaitGroup
	for part := range parts {
		group.Go(func() { errs[part] = compileIn(ctx, arch, only, part, parts, images) })
	}
	go func() {
		group.Wait()
		close(images)
	}()
	return images, func() error { return errors.Join(errs...) }
}

func compileIn(ctx context.Context, arch, only string, part, parts int, images chan<- image) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "-arch", arch, "-only", only, "-part", fmt.Sprint(part), "-parts", fmt.Sprint(parts))
	cmd.Stderr = os.Stderr
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	dec := json.NewDecoder(bufio.NewReader(lines))
	for err == nil {
		var img image
		if err = dec.Decode(&img); err == nil {
			select {
			case images <- img:
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
	}
	if err == io.EOF {
		err = nil
	}
	return errors.Join(err, cmd.Wait())
}
