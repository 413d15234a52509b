package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/passes"
)

type passesCmd struct{}

// Run prints the table of passes.
func (c *passesCmd) Run(a *app) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PASS\tLEVEL\tWHAT IT DOES")
	for _, p := range passes.Pipeline {
		level := p.In.String()
		if p.Out != p.In {
			level += " -> " + p.Out.String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.Name, level, p.Doc)
		for _, after := range p.After {
			fmt.Fprintf(w, "\t\t  after %s: %s\n", after.Pass, after.Why)
		}
	}
	return w.Flush()
}

type optCmd struct {
	File     string   `arg:"" help:"IR text, FILE.tensor, FILE.tile or FILE.simt; or FILE.gk."`
	Kernel   string   `help:"Which kernel, where the file holds several."`
	Passes   []string `help:"The passes to run, in table order; by default those that a reproducer names, or all to --to."`
	To       string   `default:"simt" enum:"tensor,tile,simt" help:"The level to stop at."`
	NoFuse   bool     `help:"Leave definitions apart."`
	Schedule string   `sep:"none" placeholder:"K=V,…|random:SEED" help:"Force choices for kernels whose blocks compute tiles."`
	Device   string   `placeholder:"NAME" help:"The device to compile for; by default any."`
	Dump     bool     `help:"Print the text after each pass that changed it."`
	Time     bool     `help:"Print how long each pass took."`
}

// Run runs passes on IR text and prints what they leave.
func (c *optCmd) Run(a *app) error {
	t, err := a.load(c.File, c.Kernel, nil)
	if err != nil {
		return err
	}
	t.unit.NoFuse = c.NoFuse
	level, _ := passes.LevelByName(c.To) // kong checked the name
	opt := passes.Options{To: level, Only: c.Passes, Verify: true}
	if opt.Only == nil {
		opt.Only = passes.PassesIn(t.source)
	}
	for _, name := range opt.Only {
		if passes.PassByName(name) == nil {
			return usage("%v", passes.UnknownPass(name))
		}
	}
	if c.Device != "" {
		if t.unit.Device, err = device.Find(c.Device); err != nil {
			return usage("--device %s: %v", c.Device, err)
		}
	}
	if err := force(t.unit, c.Schedule); err != nil {
		return err
	}
	if c.Dump {
		opt.Dump = func(pass, text string) { fmt.Fprintf(a.out, "// after %s\n%s\n", pass, text) }
	}
	if c.Time {
		opt.Timing = func(pass string, took time.Duration) {
			fmt.Fprintf(a.err, "%10s  %s\n", took.Round(time.Microsecond), pass)
		}
	}
	if err := a.lower(t, opt); err != nil {
		return err
	}
	if err := unforced(t.unit); err != nil {
		return err
	}
	if !c.Dump {
		fmt.Fprint(a.out, strings.TrimRight(t.unit.Text(), "\n")+"\n")
	}
	return nil
}
