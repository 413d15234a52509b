package sim

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/ir/diag"
)

// meeting is a barrier at which a fixed number of warps meet again and again.
type meeting struct {
	here  []*warp
	where []diag.Pos
	clock []uint64 // join of the clocks of those that are here
}

// join takes the later of two clocks at every place.
func join(into *[]uint64, clock []uint64) {
	if *into == nil {
		*into = make([]uint64, len(clock))
	}
	for i, t := range clock {
		if t > (*into)[i] {
			(*into)[i] = t
		}
	}
}

// publish ends the warp's present: what it did so far is ordered before everything whoever joins the clock does later.
func (w *warp) publish(into *[]uint64) {
	w.share()
	w.clock[w.agent()]++
	join(into, w.clock)
}

// acquire orders what was published before what the warp does from now on.
func (w *warp) acquire(clock []uint64) {
	for i, t := range clock {
		if t > w.clock[i] {
			w.clock[i] = t
		}
	}
	if clock != nil {
		w.synced = max(w.synced, clock[w.agent()])
	}
}

// knows is the time of an agent before which everything is ordered before what the warp does. For the warp itself it is the last
// meeting of its lanes.
func (w *warp) knows(agent int) uint64 {
	if agent == w.agent() {
		return w.synced
	}
	return w.clock[agent]
}

// meetBlock is sync cta.
func (w *warp) meetBlock() {
	b := w.blk
	if w.mask != w.lanes {
		w.fatal("barrier", "sync cta under divergent control flow: %s not there", w.lanesText(w.lanes&^w.mask))
		return
	}
	b.run.count.barriers++
	m := &b.meet
	for i, other := range m.where {
		if other != w.place() {
			w.fatal("barrier", "%s waits at another sync cta than %s, which waits at %s", w.name(), m.here[i].name(), other)
			return
		}
	}
	m.arrive(w, len(b.warps), "sync cta")
}

// arrive counts w; the last of want wakes all.
func (m *meeting) arrive(w *warp, want int, why string) {
	w.publish(&m.clock)
	m.here = append(m.here, w)
	m.where = append(m.where, w.place())
	if len(m.here) < want {
		w.wait(why, nil)
		return
	}
	for _, other := range m.here {
		other.acquire(m.clock)
		if other != w {
			other.wake()
		}
	}
	m.here, m.where = m.here[:0], m.where[:0]
	clear(m.clock)
}

// meetWarp is sync warp: all lanes of the warp meet, and what each did before is ordered before what the others do after.
func (w *warp) meetWarp() {
	if w.mask != w.lanes {
		w.report("barrier", "", "sync warp while %s not active", w.lanesText(w.lanes&^w.mask))
	}
	w.share()
	w.clock[w.agent()]++
	w.synced = w.now()
}

// deadlock reports that no warp can go on, and where each waits.
func (r *runner) deadlock() {
	var lines []string
	var first *warp
	for _, b := range r.blocks {
		for _, w := range b.warps {
			if w.state == finished {
				continue
			}
			if first == nil {
				first = w
			}
			if len(lines) < 8 {
				why := w.why
				if w.on != nil {
					why = w.on.String()
				}
				lines = append(lines, fmt.Sprintf("%s waits at %s for %s", w.name(), w.place(), why))
			}
		}
	}
	if ended := r.ended(); ended > 0 {
		lines = append(lines, fmt.Sprintf("%d warps have ended", ended))
	}
	first.fatal("deadlock", "no warp can go on: %s", strings.Join(lines, "; "))
}

func (r *runner) ended() (n int) {
	for _, b := range r.blocks {
		for _, w := range b.warps {
			if w.state == finished {
				n++
			}
		}
	}
	return n
}
