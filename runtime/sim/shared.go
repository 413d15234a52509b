package sim

import (
	"fmt"
	"slices"

	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
)

// sharedMemory is a block's shared memory with a shadow that says, for every cell, who wrote and read it last, and when. A cell is
// as long as the shortest element that any buffer has, so that neighbours in a word do not get into each other's way.
type sharedMemory struct {
	data   []byte
	unit   int
	cells  []cell
	slab   []stamp // groups of one stamp an agent, for cells that several agents read
	agents int
	born   uint64 // when the present cluster began: cells written before are not initialised
}

// stamp is an access: by which thread of the cluster (agent*32 + lane), at which statement, at which time of its agent.
type stamp struct {
	clock  uint64
	stmt   int32
	thread uint16
	atomic bool
	many   bool // stands for several lanes of the agent
}

type cell struct {
	write, read stamp
	group       int32 // 1 + the index of its group in slab; 0: none yet
	inGroup     bool  // the readers are in the group
	born        uint64
}

func (s *sharedMemory) allocate(k *simt.Kernel, agents int) {
	s.unit, s.agents = 8, agents
	size := k.Launch.SharedBytes
	for _, b := range k.Shared {
		s.unit = min(s.unit, b.Type.Bytes())
		size = max(size, b.At+b.Len*b.Type.Bytes())
	}
	s.data = make([]byte, (size+127)/128*128) // a swizzle stays within its 128 bytes
	s.cells = make([]cell, len(s.data)/s.unit)
}

func (s *sharedMemory) begin(r *runner) { s.born = r.time }

// ordered reports whether the warp knows of the access: a barrier lies between.
func (w *warp) ordered(s *stamp) bool { return s.clock < w.knows(int(s.thread>>5)) }

// see notes that lane reads n bytes at off, and reports what is wrong with that.
func (s *sharedMemory) see(w *warp, b *simt.Buffer, lane, off, n int) {
	me := stamp{clock: w.now(), thread: uint16(32*w.agent() + lane), stmt: w.stmt()}
	for i := off / s.unit; i*s.unit < off+n; i++ {
		c := &s.cells[i]
		if c.born != s.born {
			w.report("uninitialised", b.Name, "%s is read in shared memory before anybody wrote it", elementText(b, i*s.unit))
		}
		if !w.ordered(&c.write) && c.write.thread != me.thread && !w.waitedFor(&c.write, lane) {
			w.race(b, i*s.unit, lane, "reads", &c.write, "writes")
		}
		s.addReader(w, c, &me)
	}
}

func (s *sharedMemory) addReader(w *warp, c *cell, me *stamp) {
	switch {
	case c.inGroup:
		s.addToGroup(w, c, me)
	case c.read.thread == me.thread || w.ordered(&c.read):
		c.read = *me
	default:
		if c.group == 0 {
			s.slab = append(s.slab, make([]stamp, s.agents)...)
			c.group = int32(len(s.slab) / s.agents)
		} else {
			clear(s.groupOf(c))
		}
		c.inGroup = true
		s.groupOf(c)[c.read.thread>>5] = c.read
		s.addToGroup(w, c, me)
	}
}

func (s *sharedMemory) groupOf(c *cell) []stamp {
	at := (int(c.group) - 1) * s.agents
	return s.slab[at : at+s.agents]
}

func (s *sharedMemory) addToGroup(w *warp, c *cell, me *stamp) {
	old := &s.groupOf(c)[me.thread>>5]
	many := old.clock == me.clock && (old.many || old.thread != me.thread)
	*old = *me
	old.many = many
}

// mark notes that lane writes n bytes at off, and reports what is wrong with that.
func (s *sharedMemory) mark(w *warp, b *simt.Buffer, lane, off, n int, atomic bool) {
	me := stamp{clock: w.now(), thread: uint16(32*w.agent() + lane), stmt: w.stmt(), atomic: atomic}
	for i := off / s.unit; i*s.unit < off+n; i++ {
		c := &s.cells[i]
		if old := &c.write; !w.ordered(old) && old.thread != me.thread && !(atomic && old.atomic) && !w.waitedFor(old, lane) {
			w.race(b, i*s.unit, lane, "writes", old, "writes")
		}
		if c.inGroup {
			for k := range s.groupOf(c) {
				if old := &s.groupOf(c)[k]; !w.ordered(old) && (old.thread != me.thread || old.many) && !w.waitedFor(old, lane) {
					w.race(b, i*s.unit, lane, "writes", old, "reads")
				}
			}
		} else if old := &c.read; !w.ordered(old) && old.thread != me.thread && !w.waitedFor(old, lane) {
			w.race(b, i*s.unit, lane, "writes", old, "reads")
		}
		c.write, c.read, c.inGroup, c.born = me, stamp{}, false, s.born
	}
}

func (w *warp) race(b *simt.Buffer, off, lane int, does string, other *stamp, did string) {
	if w.reported("race", b.Name) {
		return
	}
	w.report("race", b.Name, "%s in shared memory: thread %d %s it, and without a barrier between %s %s it at %s",
		elementText(b, off), w.thread(lane), does, w.threadText(other), did, w.placeOf(other))
}

// threadText names the thread of a stamp.
func (w *warp) threadText(s *stamp) string {
	run := w.blk.run
	each := run.agentOf(1, 0)
	agent := int(s.thread >> 5)
	warps := len(run.blocks[0].warps)
	text := fmt.Sprintf("thread %d", 32*(agent%each)+int(s.thread&31))
	switch in := agent % each; {
	case in >= 2*warps:
		text = "a copy"
	case in >= warps:
		text = fmt.Sprintf("an asynchronous operation of warp %d", in-warps)
	}
	if run.launch.cluster > 1 {
		text += fmt.Sprintf(" of block %d", run.blocks[0].index+int64(agent/each))
	}
	return text
}

func (w *warp) placeOf(s *stamp) diag.Pos { return w.blk.run.prog.places[s.stmt] }

// pointer is the byte offset in shared memory of element at of a buffer, for n bytes; ok is false where that is outside.
func pointer(b *simt.Buffer, at int64, n int) (off int, ok bool) {
	size := b.Type.Bytes()
	if at < 0 || at > int64(b.Len) || int(at)*size+n > b.Len*size {
		return 0, false
	}
	return b.At + int(at)*size, true
}

// bankWavefronts is the number of passes that shared memory needs for an access of n bytes at each offset: 32 banks of 4 bytes
// serve 32 lanes of 4 bytes, 16 of 8, or 8 of 16 at a time, and one word of a bank to all who want it.
func bankWavefronts(offs []int32, n int) (passes int) {
	lanes := 32 * 4 / max(4, n)
	for len(offs) > 0 {
		k := min(lanes, len(offs))
		passes += bankPass(offs[:k], n)
		offs = offs[k:]
	}
	return passes
}

func bankPass(offs []int32, n int) int {
	var word [32]int32 // 1 + the word that a bank serves in the first wavefront
	var late []int32
	for _, off := range offs {
		for x := off / 4; 4*x < off+int32(n); x++ {
			switch bank := x & 31; {
			case word[bank] == 0:
				word[bank] = x + 1
			case word[bank] != x+1:
				late = append(late, x)
			}
		}
	}
	if len(late) == 0 {
		return 1
	}
	slices.Sort(late)
	late = slices.Compact(late)
	var load [32]int
	most := 0
	for _, x := range late {
		load[x&31]++
		most = max(most, load[x&31])
	}
	return 1 + most
}
