package sim

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/gkc-lang/gkc/ir/simt"
)

// globalMemory is an array in global memory. While a kernel that writes it runs, two shadows of an atomic word an element tell who
// accessed it last, so that accesses of two blocks, or of two threads of a block without a barrier between, are found however the
// blocks are distributed over processors.
type globalMemory struct {
	*simt.Array
	id       int // in the launch
	shape    []int
	data     []byte
	size     int    // of an element
	n        int    // elements
	born     []byte // not nil: whether each element was written since the array exists
	write    []uint64
	read     []uint64 // nil where the kernel does not read what it writes
	messages bool     // blocks exchange messages: what they order cannot be told, and is not checked
}

// A shadow word: the block + 1, the thread (many: several threads of the block), whether the access was atomic, and the time
// since the block's cluster began.
const (
	clockBits  = 22
	maxClock   = 1<<clockBits - 1
	atomicBit  = 1 << clockBits
	threadBits = 11
	threadAt   = clockBits + 1
	blockAt    = threadAt + threadBits
	many       = 1<<threadBits - 1
)

type word uint64

func (w *warp) word(lane int, isAtomic bool) word {
	x := word(w.blk.index+1)<<blockAt | word(w.thread(lane))<<threadAt | word(min(w.now()-w.blk.run.time, maxClock))
	if isAtomic {
		x |= atomicBit
	}
	return x
}

func (x word) block() int64  { return int64(x>>blockAt) - 1 }
func (x word) thread() int   { return int(x>>threadAt) & many }
func (x word) clock() uint64 { return uint64(x & maxClock) }

// clashes reports whether the access old and that of the warp are not ordered.
func (w *warp) clashes(old, me word) bool {
	if old == 0 || old>>threadAt == me>>threadAt || old&me&atomicBit != 0 {
		return false
	}
	run := w.blk.run
	size := int64(len(run.blocks))
	if old.block()/size != me.block()/size {
		return true
	}
	if old.thread() == many {
		return old.clock() >= me.clock()
	}
	return old.clock()+run.time >= w.knows(run.agentOf(int(old.block()%size), old.thread()/32))
}

// see notes a read of element e by lane.
func (g *globalMemory) see(w *warp, lane, e int) {
	if g.born != nil && g.born[e] == 0 {
		w.report("uninitialised", g.Name, "%s is read before anybody wrote it", g.element(e))
	}
	if g.read == nil || g.messages {
		return
	}
	me := w.word(lane, false)
	for {
		old := atomic.LoadUint64(&g.read[e])
		if atomic.CompareAndSwapUint64(&g.read[e], old, uint64(w.merge(word(old), me))) {
			break
		}
	}
	if old := word(atomic.LoadUint64(&g.write[e])); w.clashes(old, me) {
		w.clash(g, e, lane, "reads", old, "writes")
	}
}

const manyBlocks = word(1<<(64-blockAt)-1) << blockAt

// merge is the shadow of two reads: the later where they are ordered, or what stands for both.
func (w *warp) merge(old, me word) word {
	switch {
	case old == 0 || old == me:
		return me
	case old>>blockAt != me>>blockAt:
		return manyBlocks
	case old.thread() != many && !w.clashes(old, me):
		return me
	}
	return me | many<<threadAt
}

// mark notes a write of element e by lane.
func (g *globalMemory) mark(w *warp, lane, e int, isAtomic bool) {
	if g.born != nil {
		g.born[e] = 1
	}
	if g.messages {
		return
	}
	me := w.word(lane, isAtomic)
	if old := word(atomic.SwapUint64(&g.write[e], uint64(me))); w.clashes(old, me) {
		w.clash(g, e, lane, "writes", old, "writes")
	}
	if g.read == nil {
		return
	}
	if old := word(atomic.LoadUint64(&g.read[e])); w.clashes(old, me) {
		w.clash(g, e, lane, "writes", old, "reads")
	}
}

func (w *warp) clash(g *globalMemory, e, lane int, does string, old word, did string) {
	if w.reported("race", g.Name) {
		return
	}
	other := fmt.Sprintf("thread %d of block %d", old.thread(), old.block())
	switch {
	case old>>blockAt == manyBlocks>>blockAt:
		other = "threads of several blocks"
	case old.thread() == many:
		other = fmt.Sprintf("several threads of block %d", old.block())
	}
	w.report("race", g.Name, "%s in global memory: thread %d of block %d %s it, and unordered with that %s %s it",
		g.element(e), w.thread(lane), w.blk.index, does, other, plural(did, other))
}

func plural(verb, who string) string {
	if who[len("thread")] == 's' || who[0] == 's' {
		return verb[:len(verb)-1]
	}
	return verb
}

// element names an element by its subscripts.
func (g *globalMemory) element(e int) string { return g.Array.CallerName() + subscriptText(g.shape, e) }

// watch prepares the shadows for a kernel that writes the array, and reads it if reads is set.
func (g *globalMemory) watch(reads, messages bool) {
	g.messages = messages
	if messages {
		return
	}
	g.write = make([]uint64, g.n)
	if reads {
		g.read = make([]uint64, g.n)
	}
}

func (g *globalMemory) unwatch() { g.write, g.read, g.messages = nil, nil, false }

// sectors counts the distinct sectors of 32 bytes that n bytes at each offset touch, and marks them in touched, a bit a sector.
// Nearly all accesses ascend.
func sectors(offs []int64, n int64, touched []uint64) (count int) {
	last := int64(-1)
	for _, off := range offs {
		if off/32 < last {
			return scattered(offs, n, touched)
		}
		for s := max(off/32, last+1); 32*s < off+n; s++ {
			last = s
			count++
			touched[s>>6] |= 1 << (s & 63)
		}
	}
	return count
}

func scattered(offs []int64, n int64, touched []uint64) (count int) {
	var table [256]int64 // 1 + sector, open addressing; 32 accesses of at most 64 bytes touch at most 96
	for _, off := range offs {
		for s := off / 32; 32*s < off+n; s++ {
			h := uint64(s) * 0x9E3779B97F4A7C15 >> 56
			for table[h] != 0 && table[h] != s+1 {
				h = (h + 1) & 255
			}
			if table[h] == 0 {
				table[h] = s + 1
				count++
				touched[s>>6] |= 1 << (s & 63)
			}
		}
	}
	return count
}

func popcounts(words []uint64) (n int64) {
	for _, x := range words {
		n += int64(bits.OnesCount64(x))
	}
	return n
}
