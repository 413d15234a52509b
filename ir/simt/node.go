// Package simt says what one thread of one role does: scalars, register arrays, shared buffers, barriers, warp operations, and
// the machine's own verbs. It is structured (for, while, if; no jumps), and the CUDA printer, the Go printer and the simulator
// all read it.
package simt

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/module"
)

// Module is what one kernel of a source file becomes: device kernels in launch order, and the arrays between them.
type Module struct {
	Header
	Kernels []*Kernel
}

// What the level has in common with tile.
type (
	Header = module.Header
	Fault  = module.Fault
	Array  = module.Array
	Role   = module.Role
	Zero   = module.Zero
)

// The roles of arrays.
const (
	Param  = module.Param
	Result = module.Result
	Work   = module.Work
)

// When workspace is cleared.
const (
	ZeroNever = module.ZeroNever
	ZeroEach  = module.ZeroEach
	ZeroOnce  = module.ZeroOnce
)

// Kernel is one device kernel.
type Kernel struct {
	Name   string
	For    string    // the least device that can run it: "" any, "sm_80", "sm_90a"
	Lines  []int     // lines of the source statements that it computes
	Launch Launch    //
	Params []*Value  // host values, in order; those that the body uses are the kernel's scalar arguments
	Global []*Buffer // arguments, in order
	Maps   []*TensorMap
	Shared []*Buffer
	Bars   []*Bar
	Body   []Stmt
}

// Launch is the shape of a launch. Grid is one-dimensional; a grid of 0 blocks launches nothing.
type Launch struct {
	Grid        *ir.Expr // i64, over Params
	Threads     int      // a block
	Cluster     int      // blocks; 0 or 1: none
	PerSM       int      // least blocks per multiprocessor that the register budget must allow; 0: free
	SharedBytes int      // a block
	Tail        bool     // programmatic dependent launch
}

// Value is computed by the launcher before the launch: from the module's scalars, earlier Values of the kernel, and the device
// (Host builtins: sms, l2bytes).
type Value struct {
	Name string
	Type ir.Type
	Expr *ir.Expr
}

// Space is a memory.
type Space uint8

// The memories that a Buffer can live in.
const (
	Global Space = iota
	Shared
)

// Buffer is a run of elements. A global one is bound to an Array, whose extents say its length.
type Buffer struct {
	Name      string
	Type      ir.Type
	Space     Space
	Array     *Array  // of a global buffer
	Len       int     // of a shared buffer, in elements
	At, Align int     // of a shared buffer: byte offset and alignment
	Over      *Buffer // of a shared buffer: the one whose bytes it reuses
	ReadOnly  bool
}

// TensorMap describes a global array to the bulk copy engine. Innermost dimension first, as the driver takes it.
type TensorMap struct {
	Name    string
	Of      *Array
	Dims    []*ir.Expr // elements, over Params
	Strides []*ir.Expr // bytes of every dimension but the first
	Box     []int      // elements
	Swizzle int        // bytes: 0, 32, 64, 128
	Promote int        // L2 sector promotion in bytes: 0, 64, 128, 256
	FillNaN bool       // what lies outside reads NaN instead of 0
}

// Bar is a barrier object: an array of N mbarriers in shared memory, or of N named barriers from hardware id First.
type Bar struct {
	Name  string
	Named bool
	N     int
	Count int // arrivals that complete a phase
	First int // of named: the first id; of mbarriers: the byte offset in shared memory
}

// Reg is a register of a thread, or an array of them.
type Reg struct {
	Name    string
	Type    ir.Type
	Len     int  // 0: a scalar; an array is always mutable
	Mutable bool // assigned by Set, Load, warp operations
	Layout  *ir.Layout
}

// Builtin is a name that the machine gives a value: tid lane warp group cta ctas rank, and on the host sms l2bytes.
type Builtin struct {
	Name string
	Type ir.Type
	Host bool
}

// The builtin values. Tid counts the threads of the block, also inside a role. Group counts the groups of a role that has them
// (Arm.By), and Warp the warps within a group; Warp counts within the role where it has none, and within the block outside roles.
// Rank is the block's place in its cluster.
var (
	Tid     = &Builtin{Name: "tid", Type: ir.I32}
	Lane    = &Builtin{Name: "lane", Type: ir.I32}
	Warp    = &Builtin{Name: "warp", Type: ir.I32}
	Group   = &Builtin{Name: "group", Type: ir.I32}
	Cta     = &Builtin{Name: "cta", Type: ir.I32}
	Ctas    = &Builtin{Name: "ctas", Type: ir.I32}
	Rank    = &Builtin{Name: "rank", Type: ir.I32}
	SMs     = &Builtin{Name: "sms", Type: ir.I32, Host: true}
	L2Bytes = &Builtin{Name: "l2bytes", Type: ir.I64, Host: true}
)

// Builtins lists them.
var Builtins = []*Builtin{Tid, Lane, Warp, Group, Cta, Ctas, Rank, SMs, L2Bytes}

// Mem is a place in memory. At counts elements of Buf. Rank, if set, is the block of the cluster whose shared memory is meant.
type Mem struct {
	Buf  *Buffer
	At   *ir.Expr
	Rank *ir.Expr
}

// Slice is Len registers of an array from From on; for a scalar From is nil and Len 1.
type Slice struct {
	Reg  *Reg
	From *ir.Expr
	Len  int
}

// Stmt is one of the twelve kinds of statement.
type Stmt interface {
	Place() diag.Pos
	isStmt()
}

// Head is embedded in every statement: where it came from (a place in the source, or in the IR text that was read).
type Head struct{ Pos diag.Pos }

// Place is where the statement came from.
func (h Head) Place() diag.Pos { return h.Pos }
func (Head) isStmt()           {}

// Let declares a register. Value is nil for an array or for one that is assigned later.
type Let struct {
	Head
	Reg   *Reg
	Value *ir.Expr
}

// Set assigns a mutable register, or element At of an array.
type Set struct {
	Head
	Reg       *Reg
	At, Value *ir.Expr
}

// For counts Var from Lo while it is less than Hi; Down visits the same values in reverse. Step is a positive constant.
// Var is declared here. Unroll: the printers write the loop out, so register subscripts may use Var.
type For struct {
	Head
	Var          *Reg
	Lo, Hi       *ir.Expr
	Step         int64
	Down, Unroll bool
	Body         []Stmt
}

// While runs Pre, tests Cond, runs Body, and begins again. Registers that Pre declares are visible in Cond and Body.
type While struct {
	Head
	Pre  []Stmt
	Cond *ir.Expr
	Body []Stmt
}

// If branches.
type If struct {
	Head
	Cond       *ir.Expr
	Then, Else []Stmt
}

// Form is how a thread or a warp touches memory.
type Form uint8

// The access forms. VecN moves Len registers as one access; MatrixN is ldmatrix or stmatrix of N 8x8 blocks of 16-bit elements.
const (
	One Form = iota
	Vec
	Matrix
	MatrixTrans
)

// Keep is a cache hint.
type Keep uint8

// The cache hints.
const (
	KeepDefault Keep = iota
	KeepStream       // not in L1
	KeepFirst        // evicted first from L2
	KeepLast         // evicted last from L2
)

// Order is the memory order of an access.
type Order uint8

// The memory orders.
const (
	Plain Order = iota
	Volatile
	Relaxed
	Acquire
	Release
)

// Load reads memory into registers.
type Load struct {
	Head
	To    Slice
	From  Mem
	Form  Form
	Keep  Keep
	Order Order
}

// Store writes registers to memory; with Op it combines atomically, and Old, if set, receives what was there.
type Store struct {
	Head
	To    Mem
	From  []*ir.Expr // one value, or the values of a vector or matrix form
	Form  Form
	Op    *ir.Monoid
	Old   *Reg
	Keep  Keep
	Order Order
}

// Place is one end of a Copy: memory, or a tensor map with coordinates, innermost first.
type Place struct {
	Mem    *Mem
	Map    *TensorMap
	Coords []*ir.Expr
}

// Copy is an asynchronous copy. Bytes is nil where the form or the map says it.
type Copy struct {
	Head
	Form     *CopyForm
	To, From Place
	Bytes    *ir.Expr
	Done     *BarRef  // the mbarrier that counts its bytes; nil: it joins the queue of its form
	Peers    *ir.Expr // mask of blocks of the cluster that receive it
	Op       *ir.Monoid
	Keep     Keep
}

// Operand of a matrix operation: registers, or a descriptor of shared memory. Of says where the descriptor points to.
type Operand struct {
	Slice *Slice
	Desc  *ir.Expr
	Of    *Mem
}

// Mma multiplies matrices: D = A*B + (Acc ? D : 0).
type Mma struct {
	Head
	Atom *Atom
	D    Slice
	A, B Operand
	Acc  *ir.Expr // bool
}

// BarRef names a barrier: element At of Bar, in block Rank of the cluster; or one that the machine has (cta, warp, cluster,
// grid), a queue (cp, bulk, wgmma) or a fence, by Builtin.
type BarRef struct {
	Bar     *Bar
	At      *ir.Expr
	Rank    *ir.Expr
	Builtin string
}

// Sync is a verb of the table in verb.go on a barrier, a queue or a fence.
type Sync struct {
	Head
	Verb *Verb
	On   BarRef
	Args []*ir.Expr
}

// Roles splits the block's warps among arms. Warps that belong to no arm go on behind it.
type Roles struct {
	Head
	Arms []*Arm
}

// Arm is what the warps First..First+Warps-1 do. By: warps per group; Regs: registers a thread after reallocation, 0: as launched.
type Arm struct {
	Name                   string
	First, Warps, By, Regs int
	Body                   []Stmt
}

// Check demands Cond. Where it fails, the launch's error record receives Code and Args (Sites[Code] explains them), and the
// thread goes on: what it computes is not used.
type Check struct {
	Head
	Cond *ir.Expr
	Code int
	Args []*ir.Expr // i64: the offending index, then the element being computed
	Of   *Array     // whose element that is; nil where it is no array of the module
}
