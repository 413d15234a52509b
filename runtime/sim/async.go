package sim

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
)

// Moment says when an asynchronous operation takes effect: at any time between its issue and the wait that covers it. A right
// program gives the same results whichever is chosen.
type Moment uint8

// The moments.
const (
	Late   Moment = iota // at the wait
	Early                // at the issue
	Random               // one of both, by the seed
)

type asyncState struct{}

func (a *asyncState) begin()         {}
func (a *asyncState) finish(w *warp) {}

type barrier struct{}

func (l *launch) bindMaps(h *host) error { return nil }

func (c *compiler) sync(s *simt.Sync) {
	switch {
	case s.Verb.Name == "sync" && s.Verb.On == "cta":
		c.emit(ir.CostALU, func(w *warp) { w.meetBlock() })
	case s.Verb.Name == "sync" && s.Verb.On == "warp":
		c.emit(ir.CostALU, func(w *warp) { w.meetWarp() })
	default:
		c.refuse("%s %s is not executable", s.Verb.Name, s.Verb.On)
	}
}

func (c *compiler) copy(s *simt.Copy)       { c.refuse("copy %s is not executable", s.Form.Name) }
func (c *compiler) mma(s *simt.Mma)         { c.refuse("mma %s is not executable", s.Atom.Name) }
func (c *compiler) loadMatrix(s *simt.Load) { c.refuse("a matrix load is not executable") }
func (c *compiler) storeMatrix(s *simt.Store) {
	c.refuse("a matrix store is not executable")
}

var _ = device.Find
