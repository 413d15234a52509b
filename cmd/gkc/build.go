package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/internal/atomicfile"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/passes"
)

type buildCmd struct {
	Files    []string `arg:"" help:"gk files."`
	Out      string   `short:"o" placeholder:"DIR" help:"Where artifacts go; by default beside each file."`
	Emit     []string `default:"cuda,go,plan" help:"What to write: tensor, tile, simt (IR text), cuda, cubin, plan, go, torch."`
	Set      []string `sep:"none" placeholder:"N=V,…" help:"Make a variant for calls with these sizes, beside the kernel for all; so do the examples of a file."`
	Fix      []string `sep:"none" placeholder:"N=V,…" help:"Fix sizes: what is built is right for these values alone."`
	Device   string   `default:"h200" help:"The device to build for. Go is for the processor."`
	Package  string   `placeholder:"NAME" help:"Package of emitted Go; by default that of the Go files in the folder, or the folder's name."`
	Schedule string   `sep:"none" placeholder:"K=V,…|random:SEED" help:"Force choices for device kernels whose blocks compute tiles; gkc explain lists them."`
	Bounds   string   `default:"check" enum:"check,trust" help:"trust: accesses through data are not checked."`
	NoFuse   bool     `help:"One device kernel a definition."`
	Check    bool     `help:"Write nothing; exit with 1 where an artifact is stale."`
}

// Run compiles files.
func (c *buildCmd) Run(a *app) error {
	defer debug.SetGCPercent(debug.SetGCPercent(lazyGC)) // a build is short, and small
	sets, err := c.sets()
	if err != nil {
		return err
	}
	fixed, err := settings(c.Fix)
	if err != nil {
		return err
	}
	dev, err := device.Find(c.Device)
	if err != nil {
		return usage("--device %s: %v", c.Device, err)
	}
	for _, name := range c.Emit {
		if artifactNamed(name) == nil {
			return usage("--emit %s: expected %s", name, enumerate(artifactNames()))
		}
	}
	if err := c.forDevice(); err != nil {
		return err
	}
	stale := false
	for _, path := range c.Files {
		b := &building{buildCmd: c, app: a, path: path, device: dev, fixed: fixed, sets: sets}
		if err := b.run(); err != nil {
			return err
		}
		stale = stale || b.stale
	}
	if stale {
		return reported{exitWrong}
	}
	return nil
}

// forDevice refuses a schedule where nothing is written that it could change.
func (c *buildCmd) forDevice() error {
	for _, name := range c.Emit {
		if art := artifactNamed(name); art.level > passes.Tensor && !art.processor {
			return nil
		}
	}
	if c.Schedule != "" {
		return callError("--schedule %s: --emit %s writes no code for a device", c.Schedule, strings.Join(c.Emit, ","))
	}
	return nil
}

const lazyGC = 1000

func (c *buildCmd) wants(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(c.Emit, n) })
}

// building is the build of a file.
type building struct {
	*buildCmd
	*app
	path   string
	device *device.Device
	fixed  map[string]int64
	sets   []map[string]int64
	tuned  *tuned
	dir    string
	stale  bool // an artifact differs from the file that holds it
}

func (b *building) run() error {
	src, err := readSource(b.path)
	if err != nil {
		return err
	}
	kernels, errs := gkc.Compile(b.path, src, b.fixed)
	if err := b.report(errs, src); err != nil {
		return err
	}
	if err := known(b.sets, kernels); err != nil {
		return err
	}
	if b.tuned, err = readTuned(b.path); err != nil {
		return err
	}
	if b.dir = b.Out; b.dir == "" {
		b.dir = filepath.Dir(b.path)
	}
	if !b.Check {
		if err := os.MkdirAll(b.dir, 0o777); err != nil {
			return err
		}
	}
	var families []*family
	for _, k := range kernels {
		f, err := b.family(k, src)
		if err != nil {
			return err
		}
		families = append(families, f)
	}
	for _, art := range artifacts { // in the order of levels, so that one walk down serves all
		if b.wants(art.name) {
			if err := b.artifact(&art, families); err != nil {
				return err
			}
		}
	}
	return nil
}

// obeyed refuses a schedule that changed nothing.
func (b *building) obeyed(families []*family) error {
	var units []*passes.Unit
	for _, f := range families {
		for _, m := range f.all() {
			units = append(units, m.device)
		}
	}
	return unforced(units...)
}

// artifact writes a row of the table.
func (b *building) artifact(art *artifact, families []*family) error {
	var all []*member
	for _, f := range families {
		all = append(all, f.all()...)
	}
	if err := together(all, func(m *member) error { return b.lower(m.unit(art), art.level) }); err != nil {
		return err
	}
	if err := b.obeyed(families); err != nil {
		return err
	}
	if art.whole == nil {
		return b.files(art, all)
	}
	if len(families) == 0 {
		return nil
	}
	name, text, err := art.whole(b, families)
	if err != nil {
		return err
	}
	return b.write(filepath.Join(b.dir, name), text)
}

// files writes a file for each member.
func (b *building) files(art *artifact, all []*member) error {
	texts := map[*member][]byte{}
	var mu sync.Mutex
	err := together(all, func(m *member) error {
		text, err := art.text(b, m)
		mu.Lock()
		defer mu.Unlock()
		texts[m] = text
		return err
	})
	if err != nil {
		return err
	}
	for _, m := range all {
		if err := b.write(filepath.Join(b.dir, m.name+art.suffix), texts[m]); err != nil {
			return err
		}
	}
	return nil
}

// together does something for all members at the same time. The error is that of the first that has one.
func together(all []*member, do func(*member) error) error {
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, m := range all {
		room <- struct{}{}
		wait.Go(func() {
			errs[i] = do(m)
			<-room
		})
	}
	wait.Wait()
	return cmp.Or(errs...)
}

func (b *building) lower(u *passes.Unit, to passes.Level) error {
	return b.tuned.blame(u, saveReproducer(passes.Run(u, passes.Options{To: to})))
}

func (b *building) write(file string, text []byte) error {
	if !b.Check {
		return atomicfile.Write(file, text)
	}
	old, err := os.ReadFile(file)
	if err == nil && bytes.Equal(old, text) {
		return nil
	}
	b.stale = true
	fmt.Fprintf(b.out, "%s: stale; run %s\n", file, b.command())
	return nil
}

// command is the command line that writes the file's artifacts.
func (b *building) command() string {
	words := []string{"gkc build", b.path, "--emit", strings.Join(b.Emit, ",")}
	add := func(flag, value, otherwise string) {
		if value != otherwise {
			words = append(words, flag, value)
		}
	}
	add("-o", b.Out, "")
	add("--package", b.Package, "")
	add("--bounds", b.Bounds, "check")
	add("--schedule", b.Schedule, "")
	add("--device", b.Device, "h200")
	if b.NoFuse {
		words = append(words, "--no-fuse")
	}
	for _, fix := range b.Fix {
		words = append(words, "--fix", fix)
	}
	for _, set := range b.Set {
		words = append(words, "--set", set)
	}
	return strings.Join(words, " ")
}
