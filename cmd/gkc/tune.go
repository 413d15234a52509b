package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gkc-lang/gkc"
	"github.com/gkc-lang/gkc/autotune"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
	"github.com/gkc-lang/gkc/ir/device"
)

type tuneCmd struct {
	Files  []string `arg:"" help:"gk files."`
	Device []string `default:"sim:h200" help:"Simulated devices: sim:NAME, …"`
	Set    []string `sep:"none" placeholder:"N=V,V,…" help:"Tune for these sizes: all combinations of the values that are listed. By default, for the examples of a file."`
	Shard  string   `placeholder:"I/N" help:"Try the I-th of N parts, and only keep what is found; run without it to join the parts."`
}

// Run looks for the best schedules of the kernels of files.
func (c *tuneCmd) Run(a *app) error {
	var opt autotune.Options
	if err := c.part(&opt); err != nil {
		return err
	}
	var devices []*device.Device
	for _, text := range c.Device {
		name, ok := strings.CutPrefix(text, "sim:")
		d, err := device.Find(name)
		if !ok || err != nil {
			return usage("--device %s: expected sim:NAME with one of %s", text, strings.Join(device.Names(), ", "))
		}
		devices = append(devices, d)
	}
	sets, err := combinations(c.Set)
	if err != nil {
		return err
	}
	for _, path := range c.Files {
		t := &tuning{app: a, path: path, devices: devices, sets: sets, options: opt, shard: c.Shard}
		if err := t.run(); err != nil {
			return err
		}
	}
	return nil
}

// part reads --shard, which counts from 1.
func (c *tuneCmd) part(o *autotune.Options) error {
	if c.Shard == "" {
		return nil
	}
	first, second, _ := strings.Cut(c.Shard, "/")
	i, errI := strconv.Atoi(first)
	n, errN := strconv.Atoi(second)
	if errI != nil || errN != nil || i < 1 || i > n {
		return usage("--shard %s: expected I/N, as 1/4, with I from 1 to N", c.Shard)
	}
	o.Shard, o.Shards = i-1, n
	return nil
}

// maxCombinations bounds the sets of sizes of a command line.
const maxCombinations = 4096

// combinations reads --set: each gives values to sizes, and stands for all combinations of them.
func combinations(list []string) (out []map[string]int64, err error) {
	for _, text := range list {
		var names []string
		values := map[string][]int64{}
		for part := range strings.SplitSeq(text, ",") {
			name, value, named := strings.Cut(part, "=")
			switch {
			case !named && len(names) == 0 || named && name == "":
				return nil, usage("--set %s: expected NAME=NUMBER,NUMBER,…", text)
			case !named:
				name, value = names[len(names)-1], part
			case values[name] != nil:
				return nil, usage("--set %s: %s is set twice", text, name)
			default:
				names = append(names, name)
			}
			n, err := strconv.ParseInt(value, 0, 64)
			if err != nil || n < 0 {
				return nil, usage("--set %s: %q is no size", text, value)
			}
			values[name] = append(values[name], n)
		}
		sets := []map[string]int64{{}}
		for _, name := range names {
			var more []map[string]int64
			for _, set := range sets {
				for _, v := range values[name] {
					with := maps.Clone(set)
					with[name] = v
					more = append(more, with)
				}
			}
			if sets = more; len(out)+len(sets) > maxCombinations {
				return nil, usage("--set %s: more than %d combinations", text, maxCombinations)
			}
		}
		out = append(out, sets...)
	}
	return out, nil
}

// tuning is the tuning of a file.
type tuning struct {
	*app
	path    string
	devices []*device.Device
	sets    []map[string]int64
	options autotune.Options
	shard   string
	best    map[autotune.Key]float64 // so far
	tried   map[autotune.Key]int
}

// tuneFile is the name of a file of tuning beside a source.
func tuneFile(path, ext string) string { return strings.TrimSuffix(path, ".gk") + ".tune" + ext }

func (t *tuning) run() error {
	src, err := readSource(t.path)
	if err != nil {
		return err
	}
	if filepath.Ext(t.path) != ".gk" {
		return usage("%s: expected a file that ends in .gk", t.path)
	}
	kernels, errs := gkc.Compile(t.path, src, nil)
	if err := t.report(errs, src); err != nil {
		return err
	}
	if err := known(t.sets, kernels); err != nil {
		return err
	}
	var subjects []autotune.Subject
	for _, k := range kernels {
		list, err := t.subjects(k, src)
		if err != nil {
			return err
		}
		subjects = append(subjects, list...)
	}
	log, err := t.open()
	if err != nil {
		return err
	}
	err = t.all(subjects, log)
	if closed := log.Close(); err == nil {
		err = closed
	}
	return err
}

// open opens the log: of a part, or of all parts.
func (t *tuning) open() (*autotune.Log, error) {
	if t.shard != "" {
		return autotune.OpenLog(tuneFile(t.path, "."+strings.Replace(t.shard, "/", "-of-", 1)+".jsonl"))
	}
	parts, err := filepath.Glob(tuneFile(t.path, ".*-of-*.jsonl"))
	if err != nil {
		return nil, err
	}
	return autotune.OpenLog(tuneFile(t.path, ".jsonl"), parts...)
}

func (t *tuning) all(subjects []autotune.Subject, log *autotune.Log) error {
	out := tuneFile(t.path, ".json")
	file, err := autotune.ReadFile(out)
	if err != nil {
		return callError("%v", err)
	}
	t.options.Progress = t.progress
	t.best, t.tried = map[autotune.Key]float64{}, map[autotune.Key]int{}
	for _, s := range subjects {
		found, err := autotune.Tune(t.ctx, s, t.options, log)
		if errors.Is(err, context.Canceled) {
			return callError("interrupted; what was found is kept, and the same command goes on with it")
		}
		if err != nil {
			return saveReproducer(err)
		}
		for _, b := range found {
			how, seconds := "estimated", b.Estimate
			if b.Simulated > 0 {
				how, seconds = "simulated", b.Simulated
			}
			fmt.Fprintf(t.out, "%s%s: %s %s %s: %s\n", s.Kernel, where(s.Device.String(), autotune.SizesOf(s.Program).String()), b.Of, how, duration(seconds), b.Schedule)
		}
		if len(found) > 0 {
			file.Put(autotune.EntryOf(s, found))
		}
	}
	if t.shard != "" {
		return nil
	}
	return file.Write(out)
}

// progress says when there is a better schedule than before.
func (t *tuning) progress(r autotune.Record) {
	if r.Simulated > 0 {
		fmt.Fprintf(t.err, "%s %s%s: simulated %s: %s\n", r.Kernel, r.Of, where(r.Device, r.Sizes), duration(r.Simulated), r.Schedule)
		return
	}
	t.tried[r.Key]++
	if best, ok := t.best[r.Key]; r.Refused == "" && (!ok || r.Estimate < best) {
		t.best[r.Key] = r.Estimate
		fmt.Fprintf(t.err, "%s %s%s: best of %d is about %s: %s\n", r.Kernel, r.Of, where(r.Device, r.Sizes), t.tried[r.Key], duration(r.Estimate), r.Schedule)
	}
}

// where is what a schedule is for, as a person reads it.
func where(device, sizes string) string {
	if sizes == "" {
		return " on " + device
	}
	return " on " + device + ", " + sizes
}

// subjects are a kernel with each set of its sizes on each device.
func (t *tuning) subjects(k *gkc.Kernel, src string) (out []autotune.Subject, err error) {
	sets := t.sets
	if sets == nil {
		sets = make([]map[string]int64, max(1, len(k.Examples)))
	}
	seen := map[string]bool{}
	for i, set := range sets {
		example := k.Example()
		if t.sets == nil && i < len(k.Examples) {
			example = k.Examples[i]
		}
		sizes, err := allSizes(k, set, example)
		if err != nil {
			return nil, err
		}
		if seen[sizes.String()] {
			continue
		}
		seen[sizes.String()] = true
		if err := demands(k.Program, sizes); err != nil {
			return nil, err
		}
		program, errs := k.Fixed(k.Program.Name, sizes)
		if err := t.report(errs, src); err != nil {
			return nil, err
		}
		call := func() (*data.Call, error) {
			return data.Bind(program.Signature(), data.Given{Set: sizes, Example: example, Fill: randomInput(1, nil)})
		}
		for _, d := range t.devices {
			out = append(out, autotune.Subject{Kernel: k.Program.Name, Program: program, Device: d, Call: call})
		}
	}
	return out, nil
}

// allSizes gives each size of a kernel a value: of a set, or of an example.
func allSizes(k *gkc.Kernel, set map[string]int64, example map[string]ir.Const) (autotune.Sizes, error) {
	out := autotune.Sizes{}
	for _, s := range k.Program.Scalars {
		if !s.IsSize {
			continue
		}
		v, ok := set[s.Name]
		if e, given := example[s.Name]; !ok && given {
			v, ok = e.Int(), true
		}
		if s.Fixed != nil {
			v, ok = s.Fixed.Int(), true
		}
		if !ok {
			return nil, callError("size %s of kernel %s has no value: give --set %s=…", s.Name, k.Program.Name, s.Name)
		}
		out[s.Name] = v
	}
	return out, nil
}

// known refuses a size of --set that no kernel has.
func known(sets []map[string]int64, kernels []*gkc.Kernel) error {
	for _, set := range sets {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			if set[name] < 0 {
				return callError("--set %s=%d: a size is not negative", name, set[name])
			}
			if !slices.ContainsFunc(kernels, func(k *gkc.Kernel) bool { return isFree(k.Program, name) }) {
				return callError("--set %s: no kernel has a size %s", name, name)
			}
		}
	}
	return nil
}
