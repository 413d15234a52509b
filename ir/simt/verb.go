package simt

import (
	"sync"

	"github.com/gkc-lang/gkc/ir"
)

// Verb is a row of the table of synchronisation: what it does is data that the verifier, the simulator and the CUDA printer read.
type Verb struct {
	Name  string // sync arrive wait init expect commit waitread fence release sleep
	On    string // class of what it acts on: cta warp cluster grid named mbar queue; of a fence: async async.global init wgmma gpu; none
	Args  []VerbArg
	Block bool   // all threads that take part in it must reach it together: under uniform control flow only
	Warp  bool   // all lanes of a warp must reach it together
	Waits bool   // a thread may have to wait here
	Needs string // least device; empty: any
	Text  string // the portable meaning
}

// VerbArg is one operand of a Verb.
type VerbArg struct {
	Name  string
	Type  ir.Type
	Const bool // the machine takes an immediate
}

// Verbs is the table.
var Verbs = []*Verb{
	{Name: "sync", On: "cta", Block: true, Waits: true, Text: "all threads of the block meet"},
	{Name: "sync", On: "warp", Warp: true, Waits: true, Text: "all lanes of the warp meet"},
	{Name: "sync", On: "named", Warp: true, Waits: true, Text: "waits until Count threads came, by sync or arrive"},
	{Name: "arrive", On: "named", Warp: true, Text: "counts an arrival of this thread and goes on"},
	{Name: "arrive", On: "cluster", Block: true, Needs: "sm_90", Text: "counts an arrival at the barrier of the cluster; releases"},
	{Name: "wait", On: "cluster", Block: true, Waits: true, Needs: "sm_90", Text: "waits until all threads of the cluster arrived; acquires"},
	{Name: "init", On: "mbar", Args: []VerbArg{{"count", ir.I32, false}}, Needs: "sm_80", Text: "expects count arrivals a phase and begins phase 0"},
	{Name: "arrive", On: "mbar", Needs: "sm_80", Text: "one arrival; the phase ends when none is missing and all its bytes came"},
	{Name: "expect", On: "mbar", Args: []VerbArg{{"bytes", ir.I32, false}}, Needs: "sm_90", Text: "adds to the bytes that the phase awaits, then arrives"},
	{Name: "wait", On: "mbar", Args: []VerbArg{{"parity", ir.U32, false}}, Waits: true, Needs: "sm_80", Text: "waits until the phase of this parity is over"},
	{Name: "commit", On: "queue", Needs: "sm_80", Text: "closes the group of operations that were issued since the last commit"},
	{Name: "wait", On: "queue", Args: []VerbArg{{"groups", ir.I32, true}}, Waits: true, Needs: "sm_80", Text: "waits until all but the youngest groups are done"},
	{Name: "waitread", On: "queue", Args: []VerbArg{{"groups", ir.I32, true}}, Waits: true, Needs: "sm_90", Text: "waits until all but the youngest groups have read their sources"},
	{Name: "fence", On: "async", Needs: "sm_90", Text: "orders ordinary accesses to shared memory before later asynchronous ones"},
	{Name: "fence", On: "async.global", Needs: "sm_90", Text: "orders ordinary accesses to global memory before later asynchronous ones"},
	{Name: "fence", On: "init", Needs: "sm_90", Text: "makes initialised mbarriers visible to the cluster and to copies"},
	{Name: "fence", On: "wgmma", Warp: true, Needs: "sm_90a", Text: "orders ordinary accesses to registers before later matrix operations"},
	{Name: "fence", On: "cta", Text: "orders memory accesses for the threads of the block"},
	{Name: "fence", On: "gpu", Text: "orders memory accesses for the threads of the device"},
	{Name: "wait", On: "grid", Waits: true, Needs: "sm_90", Text: "waits until the launch before this one is complete"},
	{Name: "release", On: "grid", Needs: "sm_90", Text: "lets the launch behind this one begin"},
	{Name: "sleep", On: "none", Args: []VerbArg{{"nanoseconds", ir.U32, false}}, Needs: "sm_70", Text: "nothing, for a while"},
}

// Queues are the groups of asynchronous operations that a thread can wait for. Those of wgmma concern the four warps of a group.
var Queues = []string{"cp", "bulk", "wgmma"}

var verbIndex = sync.OnceValue(func() map[[2]string]*Verb {
	out := map[[2]string]*Verb{}
	for _, v := range Verbs {
		out[[2]string{v.Name, v.On}] = v
	}
	return out
})

// VerbOf finds a row; nil if there is none.
func VerbOf(name, on string) *Verb { return verbIndex()[[2]string{name, on}] }

// Class is the class of what a reference means to a verb of this name: mbar or named, queue, or the builtin's own name.
func (r BarRef) Class(verb string) string {
	switch {
	case r.Bar != nil && r.Bar.Named:
		return "named"
	case r.Bar != nil:
		return "mbar"
	case r.Builtin == "":
		return "none"
	case verb != "fence" && (r.Builtin == "cp" || r.Builtin == "bulk" || r.Builtin == "wgmma"):
		return "queue"
	}
	return r.Builtin
}

// End says what stands at an end of a copy.
type End string

// The ends of copies.
const (
	AtGlobal End = "global" // memory
	AtShared End = "shared" // memory of this block
	AtPeer   End = "peer"   // shared memory of a block of the cluster
	AtMap    End = "map"    // a tensor map with coordinates
	AtNone   End = "none"   // nothing: a prefetch
)

// CopyForm is a row of the table of asynchronous copies.
type CopyForm struct {
	Name     string
	From, To End
	Queue    string // cp or bulk; empty: it completes on an mbarrier, or not at all
	Bar      bool   // completes on an mbarrier
	Bytes    int    // fixed size; 0: the statement or the map says it
	Partial  bool   // Bytes of the statement may be fewer: the rest is filled with zeros
	Combine  bool   // may combine with what is there (Op)
	Peers    bool   // may write several blocks of the cluster
	Needs    string
	Text     string
}

// CopyForms is the table.
var CopyForms = []*CopyForm{
	{Name: "cp.4", From: AtGlobal, To: AtShared, Queue: "cp", Bytes: 4, Partial: true, Needs: "sm_80", Text: "one thread copies 4 bytes"},
	{Name: "cp.8", From: AtGlobal, To: AtShared, Queue: "cp", Bytes: 8, Partial: true, Needs: "sm_80", Text: "one thread copies 8 bytes"},
	{Name: "cp.16", From: AtGlobal, To: AtShared, Queue: "cp", Bytes: 16, Partial: true, Needs: "sm_80", Text: "one thread copies 16 bytes"},
	{Name: "bulk.in", From: AtGlobal, To: AtShared, Bar: true, Peers: true, Needs: "sm_90", Text: "copies a run of bytes"},
	{Name: "bulk.peer", From: AtShared, To: AtPeer, Bar: true, Needs: "sm_90", Text: "copies a run of bytes to a block of the cluster"},
	{Name: "bulk.out", From: AtShared, To: AtGlobal, Queue: "bulk", Combine: true, Needs: "sm_90", Text: "copies a run of bytes"},
	{Name: "box.in", From: AtMap, To: AtShared, Bar: true, Peers: true, Needs: "sm_90", Text: "copies a box, swizzled; what lies outside the tensor reads as the map's fill, and counts as bytes"},
	{Name: "box.out", From: AtShared, To: AtMap, Queue: "bulk", Combine: true, Needs: "sm_90", Text: "copies a box, unswizzled; what lies outside the tensor is not written"},
	{Name: "box.l2", From: AtMap, To: AtNone, Needs: "sm_90", Text: "fetches a box into L2"},
	{Name: "map.l1", From: AtMap, To: AtNone, Needs: "sm_90", Text: "fetches the descriptor of a map"},
}

// CopyFormByName finds a row; nil if there is none.
func CopyFormByName(name string) *CopyForm {
	for _, f := range CopyForms {
		if f.Name == name {
			return f
		}
	}
	return nil
}
