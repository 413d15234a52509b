package passes

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gkc-lang/gkc/ir/diag"
)

// Options say which passes run and what is seen of them.
type Options struct {
	To     Level    // where to stop
	Only   []string // these passes, in table order, and no others; nil: all that To needs
	Verify bool     // after every pass
	// Dump, if set, receives the text after each pass that changed it.
	Dump func(pass, text string)
	// Timing, if set, receives how long each pass took.
	Timing func(pass string, took time.Duration)
}

// Failure is a bug of ours: a pass panicked, or left something that its level does not allow. Reproducer is a text that `gkc
// opt` takes: the IR in front of the pass, headed by the passes that were to run.
type Failure struct {
	Pass, Kernel string
	Level        Level
	Err          error
	Stack        string // of a panic
	Reproducer   string
}

func (f *Failure) Error() string {
	return fmt.Sprintf("internal error: the pass %s failed on kernel %s: %v", f.Pass, f.Kernel, f.Err)
}

// Unwrap is what went wrong.
func (f *Failure) Unwrap() error { return f.Err }

// Run takes a unit down to a level. Mistakes and limits of the program are *diag.Diag, bugs of ours *Failure.
func Run(u *Unit, opt Options) error {
	list, err := selected(u, opt)
	if err != nil {
		return err
	}
	text := ""
	if opt.Dump != nil {
		text = u.Text()
	}
	for i, p := range list {
		start := time.Now()
		if err := runOne(u, p, list[i:], opt.Verify); err != nil {
			return err
		}
		if opt.Timing != nil {
			opt.Timing(p.Name, time.Since(start))
		}
		if opt.Dump != nil {
			if now := u.Text(); now != text {
				opt.Dump(p.Name, now)
				text = now
			}
		}
	}
	return nil
}

// selected lists the rows that will run.
func selected(u *Unit, opt Options) ([]*Pass, error) {
	for _, name := range opt.Only {
		if PassByName(name) == nil {
			return nil, UnknownPass(name)
		}
	}
	level := u.Level
	var list []*Pass
	for i := range Pipeline {
		p := &Pipeline[i]
		switch {
		case opt.Only != nil && !slices.Contains(opt.Only, p.Name):
		case opt.Only == nil && (p.When != nil && !p.When(u) || p.In < u.Level || p.Out > opt.To):
		case p.In != level:
			return nil, fmt.Errorf("the pass %s takes %s IR, not %s", p.Name, p.In, level)
		default:
			list, level = append(list, p), p.Out
		}
	}
	return list, nil
}

// Runs reports whether a pass is among those that run for a unit; nil are those that run where none are named.
func Runs(u *Unit, name string, only []string) bool {
	if only != nil {
		return slices.Contains(only, name)
	}
	p := PassByName(name)
	return p != nil && (p.When == nil || p.When(u))
}

func runOne(u *Unit, p *Pass, rest []*Pass, verify bool) error {
	before := *u // levels are rebuilt, not changed, so this still stands when a pass fails
	stack, err := protect(u, p)
	if err == nil {
		u.Level = p.Out
		if verify {
			if err = u.Verify(); err != nil {
				err = fmt.Errorf("what it leaves is not %s IR: %w", p.Out, err)
			}
		}
	} else if d, ok := err.(*diag.Diag); ok && stack == "" {
		return d
	}
	if err == nil {
		return nil
	}
	*u = before
	return &Failure{Pass: p.Name, Kernel: u.Name(), Level: u.Level, Err: err, Stack: stack, Reproducer: reproducer(u, rest)}
}

// protect runs a pass. A diagnosis that it throws is one of the program; any other panic is a bug.
func protect(u *Unit, p *Pass) (stack string, err error) {
	defer func() {
		if r := recover(); r != nil {
			if d, ok := r.(*diag.Diag); ok {
				err = d
				return
			}
			stack, err = string(debug.Stack()), fmt.Errorf("panic: %v", r)
		}
	}()
	return "", p.Run(u)
}

// reproducer writes the unit with the passes that were to run, as a comment that PassesIn finds.
func reproducer(u *Unit, rest []*Pass) (text string) {
	names := make([]string, len(rest))
	for i, p := range rest {
		names[i] = p.Name
	}
	head := "// passes: " + strings.Join(names, ",") + "\n"
	defer func() {
		if r := recover(); r != nil {
			text = head + fmt.Sprintf("// the text could not be written: %v\n", r)
		}
	}()
	return head + u.Text()
}

// PassesIn reads the passes that a reproducer names; nil if the text is none.
func PassesIn(text string) []string {
	rest, ok := strings.CutPrefix(text, "// passes: ")
	if !ok {
		return nil
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strings.Split(strings.TrimSpace(line), ",")
}
