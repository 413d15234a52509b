package sim

import (
	"context"
	"math/bits"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
)

// inst is one instruction of a compiled kernel. Control flow is instructions that set the warp's pc and mask.
type inst struct {
	run  step
	cost ir.Cost
	stmt int32 // the statement that it belongs to: an index of program.places
}

// program is a kernel that was compiled for one launch: host values are constants in it.
type program struct {
	code   []inst
	places []diag.Pos
	slots  int // registers of a warp
	marks  int // registers whose initialisation is tracked
}

// state says whether a warp can go on.
type state uint8

const (
	running state = iota
	waiting       // until ready says yes, or somebody wakes it
	paused        // used its time slice
	finished
)

// frame is an entry of the mask stack: what was active when a branch or a loop began, and what its other arm takes.
type frame struct{ outer, other uint32 }

// warp is 32 threads in step.
type warp struct {
	blk     *block
	id      int    // in its block
	lanes   uint32 // those that exist
	mask    uint32 // those that are active
	active  uint64 // number of active lanes
	pc      int
	state   state
	r       []vec
	marks   []uint32 // lanes that have initialised a tracked register
	stack   []frame
	ready   func() bool // of a waiting warp
	why     string      // what a waiting warp waits for
	synced  uint64      // when its lanes met last, by the own clock: what they did before is ordered among them
	clock   []uint64    // vector clock over the warps of the cluster; the own entry is the present
	arm     *simt.Arm
	async   asyncState
	on      *barrier // that a waiting warp waits for
	arrived int64    // meetings of the cluster at which the warp arrived
}

// block is a thread block in execution.
type block struct {
	run    *runner
	index  int64
	rank   int
	shared sharedMemory
	warps  []*warp
	meet   meeting // sync cta
	bars   map[*simt.Bar][]*barrier
}

// runner executes the blocks of a launch, one cluster at a time.
type runner struct {
	*launch
	ctx       context.Context
	blocks    []*block // of the present cluster
	count     counts
	reports   []Finding
	seen      map[reportKey]bool
	failed    *failure
	stopped   error // a fatal finding or a cancelled context: no block goes on
	steps     int64
	unpaid    int64             // instructions executed since the last look at the limit
	time      uint64            // vector clocks of the present cluster begin behind it
	each      int               // agents of a block
	agents    int               // of a cluster
	agentTime []uint64          // when each agent does what comes next
	barAgent  map[*simt.Bar]int // first agent of a block's barriers
	dice      uint64
	meets     int64 // meetings of the cluster that are over
	present   int   // warps at the present one
	gathering []uint64
	gathered  []uint64
	pages     [][]uint64 // sectors touched, by array and direction
	unit      unit
	offs      [32]int64 // of the access that is being made
	list      [32]int64
	words     [32]int32
}

const slice = 1 << 16 // instructions that a warp executes before others get their turn

// exec runs the warp until it must wait, has used its slice, or ends.
func (w *warp) exec() {
	run := w.blk.run
	code := run.prog.code
	n := &run.count
	w.state = running
	left := slice
	for ; w.state == running && left > 0; left-- {
		in := &code[w.pc]
		w.pc++
		n.issued[in.cost]++
		n.lanes[in.cost] += w.active
		in.run(w)
	}
	if w.state == running {
		w.state = paused
	}
	if run.unpaid += slice - int64(left); run.unpaid >= slice {
		run.spend(run.unpaid)
		run.unpaid = 0
	}
}

// spend stops the launch when the caller has lost interest or patience.
func (r *runner) spend(steps int64) {
	r.steps += steps
	switch err := r.ctx.Err(); {
	case err != nil:
		r.stopped = err
	case r.limit > 0 && r.steps > r.limit:
		r.stopped = diag.Errorf(diag.Pos{}, "limit", "%s: a thread block executes more than %d instructions", r.kernel.Name, r.limit)
	}
}

func (w *warp) setMask(m uint32) {
	w.mask = m
	w.active = uint64(bits.OnesCount32(m))
}

func (w *warp) push(f frame) { w.stack = append(w.stack, f) }

func (w *warp) pop() frame {
	f := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	return f
}

// thread is the number of a lane in its block.
func (w *warp) thread(lane int) int { return 32*w.id + lane }

// place is where the instruction that is being executed came from.
func (w *warp) place() diag.Pos { return w.blk.run.prog.places[w.blk.run.prog.code[w.pc-1].stmt] }

func (w *warp) stmt() int32 { return w.blk.run.prog.code[w.pc-1].stmt }

// wait suspends the warp until ready says yes.
func (w *warp) wait(why string, ready func() bool) {
	if ready != nil && ready() {
		return
	}
	w.state, w.why, w.ready = waiting, why, ready
}

// wake lets a waiting warp go on.
func (w *warp) wake() { w.state, w.ready = paused, nil }

func (w *warp) canRun() bool {
	switch w.state {
	case finished:
		return false
	case waiting:
		if w.ready == nil || !w.ready() {
			return false
		}
		w.ready = nil
	}
	return true
}

// cluster runs the blocks of a cluster to their end, warp after warp. A warp goes on until it must wait: the order of execution is
// fixed, and no order is more right than another, since accesses that depend on it are reported as races.
func (r *runner) cluster(first int64) {
	r.begin(first)
	for {
		progress, alive := false, false
		for _, b := range r.blocks {
			for _, w := range b.warps {
				if w.canRun() {
					w.exec()
					progress = true
					if r.stopped != nil {
						return
					}
				}
				alive = alive || w.state != finished
			}
		}
		if !alive {
			break
		}
		if !progress {
			r.deadlock()
			return
		}
	}
	r.finish()
}

// begin prepares the blocks of the cluster that starts at block first. Registers and shared memory keep what the last blocks left:
// reading it is reported, and the clocks that stamp accesses never go back.
func (r *runner) begin(first int64) {
	r.time++
	r.steps = 0
	r.meets, r.present, r.dice = 0, 0, uint64(first)
	clear(r.gathering)
	for i := range r.agentTime {
		r.agentTime[i] = r.time + 1
	}
	for i, b := range r.blocks {
		b.index, b.rank = first+int64(i), i
		b.meet = meeting{}
		b.shared.begin(r)
		for _, bars := range b.bars {
			for k := range bars {
				bars[k] = nil
			}
		}
		for _, w := range b.warps {
			w.begin()
		}
	}
}

func (w *warp) begin() {
	b := w.blk
	w.pc, w.state, w.ready, w.stack, w.arm, w.on, w.arrived = 0, running, nil, w.stack[:0], nil, nil, 0
	w.setMask(w.lanes)
	clear(w.marks)
	for i := range w.clock {
		w.clock[i] = b.run.time
	}
	w.clock[w.agent()] = b.run.time + 1
	w.synced = b.run.time + 1
	if b.run.traits.async {
		w.async.begin()
	}
	for i := range 32 {
		w.r[slotTid][i] = asInt(int64(w.thread(i)))
		w.r[slotLane][i] = asInt(int64(i))
	}
	fill(&w.r[slotWarp], asInt(int64(w.id)))
	fill(&w.r[slotGroup], asInt(int64(w.id/4)))
	fill(&w.r[slotCta], asInt(b.index))
	fill(&w.r[slotRank], asInt(int64(b.rank)))
}

// agent is the warp's place in vector clocks.
func (w *warp) agent() int { return w.blk.run.agentOf(w.blk.rank, w.id) }

func (r *runner) agentOf(rank, warp int) int { return rank*r.each + warp }

// now is the warp's own time: what it does is stamped with it.
func (w *warp) now() uint64 { return w.clock[w.agent()] }

// finish notes how far the clocks of a cluster went, and reports what its end leaves open.
func (r *runner) finish() {
	for _, b := range r.blocks {
		for _, w := range b.warps {
			w.async.finish(w)
			for _, t := range w.clock {
				r.time = max(r.time, t)
			}
		}
	}
	for _, t := range r.agentTime {
		r.time = max(r.time, t)
	}
}

// The slots of the builtins.
const (
	slotTid = iota
	slotLane
	slotWarp
	slotGroup
	slotCta
	slotRank
	builtinSlots
)

func newRunner(l *launch, ctx context.Context) *runner {
	warps := (l.threads + 31) / 32
	r := &runner{launch: l, ctx: ctx, seen: map[reportKey]bool{}, barAgent: map[*simt.Bar]int{}, each: warps}
	if l.traits.async {
		r.each = 2 * warps
		for _, bar := range l.kernel.Bars {
			r.barAgent[bar] = r.each
			if !bar.Named {
				r.each += bar.N
			}
		}
	}
	r.agents = r.each * l.cluster
	r.agentTime = make([]uint64, r.agents)
	clocks := r.agents // what the warp knows of each agent
	if l.traits.async {
		clocks *= 2 // and how much of that is fenced
	}
	for range l.cluster {
		b := &block{run: r, bars: map[*simt.Bar][]*barrier{}}
		b.shared.allocate(l.kernel, r.agents)
		for _, bar := range l.kernel.Bars {
			b.bars[bar] = make([]*barrier, bar.N)
		}
		for i := range warps {
			w := &warp{blk: b, id: i, lanes: lanesOf(l.threads, i), r: make([]vec, l.prog.slots),
				marks: make([]uint32, l.prog.marks), clock: make([]uint64, clocks)}
			if l.traits.async {
				w.async.allocate(l.prog.marks)
			}
			b.warps = append(b.warps, w)
		}
		r.blocks = append(r.blocks, b)
	}
	return r
}
