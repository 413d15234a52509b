package sim

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// sync compiles a verb of synchronisation.
func (c *compiler) sync(s *simt.Sync) {
	switch s.Verb.On {
	case "cta":
		if s.Verb.Name == "sync" {
			c.emit(ir.CostALU, func(w *warp) { w.meetBlock() })
			return
		}
		c.emit(ir.CostALU, func(*warp) {}) // a fence: the simulated memory is never late
	case "warp":
		c.emit(ir.CostALU, func(w *warp) { w.meetWarp() })
	case "mbar":
		c.mbarVerb(s)
	case "named":
		c.namedVerb(s)
	case "queue":
		c.queueVerb(s)
	case "cluster":
		if s.Verb.Name == "arrive" {
			c.emit(ir.CostALU, func(w *warp) { w.clusterArrive() })
			return
		}
		c.emit(ir.CostALU, func(w *warp) { w.clusterWait() })
	case "async":
		c.emit(ir.CostALU, func(w *warp) { w.fenceAsync() })
	case "wgmma":
		c.emit(ir.CostALU, func(w *warp) { w.fenceRegisters() })
	case "async.global", "init", "gpu", "grid":
		c.emit(ir.CostALU, func(*warp) {})
	case "none":
		c.emit(ir.CostALU, func(w *warp) { w.state = paused })
	default:
		c.refuse("%s %s is not executable", s.Verb.Name, s.Verb.On)
	}
}

func (c *compiler) queueVerb(s *simt.Sync) {
	name := s.On.Builtin
	var n int64
	if len(s.Args) > 0 {
		x := c.expr(s.Args[0])
		k, known := x.constant()
		if n = k.Int(); !known || n < 0 {
			c.refuse("the number of groups that may stay in flight is not a constant")
			return
		}
	}
	if s.Verb.Name == "commit" {
		c.emit(ir.CostALU, func(w *warp) { w.async.named(name).commit(w.mask) })
		return
	}
	onlyRead := s.Verb.Name == "waitread"
	c.emit(ir.CostALU, func(w *warp) { w.async.named(name).wait(w, n, onlyRead, w.land) })
}

// fenceRegisters orders ordinary writes of registers before later matrix operations.
func (w *warp) fenceRegisters() {
	for i := range w.async.flight {
		w.async.flight[i].dirty = false
	}
}
