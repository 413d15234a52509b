// Command gkc compiles kernels and runs them.
//
// Exit codes: 0 right; 1 the program or its inputs are wrong; 2 wrong usage; 3 a bug of gkc, with a reproducer saved.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"

	"github.com/gkc-lang/gkc/ir/diag"
)

// The exit codes.
const (
	exitRight = iota
	exitWrong
	exitUsage
	exitBug
)

// app is what every command works with.
type app struct {
	ctx      context.Context
	out, err io.Writer
}

type commands struct {
	Run     runCmd     `cmd:"" help:"Run a kernel: gk text or IR text, on the evaluator, the simulated device, or as Go."`
	Build   buildCmd   `cmd:"" help:"Compile files to CUDA C, Go, functions for PyTorch, IR text and launch plans."`
	Check   checkCmd   `cmd:"" help:"Report the mistakes of files."`
	Fmt     fmtCmd     `cmd:"" help:"Format files in place."`
	Explain explainCmd `cmd:"" help:"Say what a kernel becomes: device kernels, their work, and what bounds them."`
	Tune    tuneCmd    `cmd:"" help:"Look for the fastest schedules of kernels on simulated devices."`
	Passes  passesCmd  `cmd:"" help:"List the passes in order."`
	Opt     optCmd     `cmd:"" help:"Run passes on IR text."`
	Devices devicesCmd `cmd:"" help:"List the devices that --device knows."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// execute is the program without its process: tests call it.
func execute(ctx context.Context, args []string, out, errOut io.Writer) (code int) {
	var cmds commands
	exited := -1
	parser, err := kong.New(&cmds, kong.Name("gkc"), kong.Description("A kernel compiler: tensor algebra to CUDA C, Go, and a simulated device."),
		kong.Writers(out, errOut), kong.Exit(func(code int) { exited = code }), kong.UsageOnError())
	if err != nil {
		fmt.Fprintln(errOut, "gkc:", err)
		return exitBug
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	k, err := parser.Parse(args)
	if exited >= 0 { // --help
		return exited
	}
	if err != nil {
		fmt.Fprintf(errOut, "gkc: %v\nRun 'gkc --help' for the commands.\n", err)
		return exitUsage
	}
	return exitCode(k.Run(&app{ctx, out, errOut}), errOut)
}

// reported is an error whose text was written already.
type reported struct{ code int }

func (r reported) Error() string { return fmt.Sprintf("exit code %d", r.code) }

// exitCode writes an error and says what the process returns.
func exitCode(err error, errOut io.Writer) int {
	var (
		done  reported
		wrong usageError
		bug   *bugError
		list  diag.List
		one   *diag.Diag
	)
	switch {
	case err == nil:
		return exitRight
	case errors.As(err, &done):
		return done.code
	case errors.As(err, &wrong):
		fmt.Fprintln(errOut, "gkc:", wrong.text)
		return exitUsage
	case errors.As(err, &bug):
		fmt.Fprintln(errOut, "gkc:", bug.Error())
		return exitBug
	case errors.As(err, &list), errors.As(err, &one):
		fmt.Fprintln(errOut, err)
		return exitWrong
	}
	fmt.Fprintln(errOut, "gkc:", err)
	return exitWrong
}

// bugError is a bug of ours, with the file that reproduces it.
type bugError struct {
	err        error
	reproducer string
}

func (b *bugError) Error() string {
	if b.reproducer == "" {
		return fmt.Sprintf("internal error: %v", b.err)
	}
	return fmt.Sprintf("internal error: %v\nThis is a bug of gkc. A reproducer is in %s; please report it.", b.err, b.reproducer)
}

func (b *bugError) Unwrap() error { return b.err }
