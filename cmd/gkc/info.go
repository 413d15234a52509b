package main

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"text/tabwriter"

	"github.com/gkc-lang/gkc/ir/device"
)

type devicesCmd struct {
	JSON bool `name:"json" help:"Print all facts as JSON."`
}

// Run lists the devices.
func (c *devicesCmd) Run(a *app) error {
	if c.JSON {
		enc := json.NewEncoder(a.out)
		enc.SetIndent("", " ")
		return enc.Encode(device.All())
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tDEVICE\tTARGET\tSMs\tMHz\tSHARED/BLOCK\tL2 MiB\tDRAM GB/s")
	for _, d := range device.All() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.0f\t%d KiB\t%g\t%.0f\n", d, d.Name, d.Target(), d.SMs, d.BoostMHz, d.BlockShared>>10, d.L2MiB, d.DRAMGBs)
	}
	return w.Flush()
}

type versionCmd struct{}

// Run prints the version that the build recorded.
func (c *versionCmd) Run(a *app) error {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	fmt.Fprintln(a.out, "gkc", version)
	return nil
}
