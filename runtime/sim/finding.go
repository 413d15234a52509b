package sim

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/gkc-lang/gkc/ir/diag"
)

// Finding is a mistake of a kernel that the simulator has seen: its result depends on luck, or it touched what is not its own.
type Finding struct {
	Kind   string // race bounds uninitialised barrier deadlock warp alignment async unwritten
	Kernel string
	Pos    diag.Pos
	Text   string
	Block  int64
	Thread int
}

func (f Finding) String() string {
	place := f.Kernel
	if f.Pos.IsValid() {
		place += ":" + f.Pos.String()
	}
	return fmt.Sprintf("%s: %s: %s", place, f.Kind, f.Text)
}

// reportKey makes one report of the many occurrences of a mistake.
type reportKey struct {
	kind, of string
	stmt     int32
}

const maxFindings = 50

// report notes a mistake of the statement that is being executed; of names what it concerns. Only the first is kept.
func (w *warp) report(kind, of, format string, args ...any) {
	r := w.blk.run
	if w.reported(kind, of) {
		return
	}
	r.seen[reportKey{kind, of, w.stmt()}] = true
	thread := w.thread(lowest(w.mask))
	r.reports = append(r.reports, Finding{Kind: kind, Kernel: r.kernel.Name, Pos: w.place(), Block: w.blk.index, Thread: thread,
		Text: fmt.Sprintf(format, args...) + fmt.Sprintf(" (block %d, thread %d)", w.blk.index, thread)})
}

// reported says that a report would add nothing, so that its text need not be made.
func (w *warp) reported(kind, of string) bool {
	r := w.blk.run
	return len(r.reports) >= maxFindings || r.seen[reportKey{kind, of, w.stmt()}]
}

// fatal reports a mistake behind which the launch cannot go on.
func (w *warp) fatal(kind, format string, args ...any) {
	w.report(kind, "", format, args...)
	w.blk.run.stopped = errStopped
	w.state = finished
}

var errStopped = fmt.Errorf("stopped")

func (w *warp) name() string {
	name := fmt.Sprintf("warp %d", w.id)
	if w.arm != nil {
		name += " (" + w.arm.Name + ")"
	}
	if w.blk.run.launch.cluster > 1 {
		name += fmt.Sprintf(" of block %d", w.blk.index)
	}
	return name
}

// lanesText names lanes of a warp: "lane 3 of warp 0 is", "lanes 0..15 of warp 1 are".
func (w *warp) lanesText(m uint32) string {
	n := bits.OnesCount32(m)
	first := bits.TrailingZeros32(m)
	switch last := 31 - bits.LeadingZeros32(m); {
	case n == 1:
		return fmt.Sprintf("lane %d of %s is", first, w.name())
	case n == last-first+1:
		return fmt.Sprintf("lanes %d..%d of %s are", first, last, w.name())
	}
	var list []string
	for ; m != 0; m &= m - 1 {
		list = append(list, fmt.Sprint(lowest(m)))
	}
	return "lanes " + strings.Join(list, " ") + " of " + w.name() + " are"
}
