// Package passes orders and runs what turns tensor programs into tile kernels and those into thread programs. One table lists
// the passes; the runner verifies after each, times it, shows what it changed, and makes a failure reproducible.
package passes

import (
	"fmt"
	"slices"

	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tensor"
	"github.com/gkc-lang/gkc/ir/tile"
)

// Level is one of the three representations.
type Level uint8

// The levels, from what is computed to what a thread does.
const (
	Tensor Level = iota
	Tile
	Simt
)

var levelNames = [...]string{"tensor", "tile", "simt"}

func (l Level) String() string { return levelNames[l] }

// LevelByName finds a level.
func LevelByName(name string) (Level, bool) {
	i := slices.Index(levelNames[:], name)
	return Level(max(i, 0)), i >= 0
}

// Unit is one kernel of a source file on its way down. The field of Level holds it.
type Unit struct {
	Level  Level
	Tensor *tensor.Program
	Tile   *tile.Module
	Simt   *simt.Module
	NoFuse bool         // every definition keeps a kernel of its own (--no-fuse)
	Edges  []FusionEdge // what became of each tensor between two definitions
	Trust  bool         // accesses through data are not checked (--bounds trust)
	Strict bool         // intermediates are not rounded (--fp strict)

	Device *device.Device  // for which it is compiled; nil: any
	Sched  schedule.Choice // what the user chooses for block kernels; the rest are defaults
	Draw   *uint64         // a seed: legal choices for block kernels are drawn at random

	Own map[string]schedule.Choice // of the block kernels of a tensor's definition, by its name; such a definition obeys neither Sched nor Draw
	Cut []Cut                      // the definitions that became block kernels
}

// Cut is a definition that became block kernels.
type Cut struct {
	Of      string // the tensor that it defines
	Space   *schedule.Space
	Sched   schedule.Choice // complete
	Kernels []string        // of the device
}

// Name is the kernel's name.
func (u *Unit) Name() string {
	switch u.Level {
	case Tensor:
		return u.Tensor.Name
	case Tile:
		return u.Tile.Name
	}
	return u.Simt.Name
}

// Text is the IR text of the unit.
func (u *Unit) Text() string {
	switch u.Level {
	case Tensor:
		return u.Tensor.String()
	case Tile:
		return u.Tile.String()
	}
	return u.Simt.String()
}

// Verify checks the unit against what its level allows.
func (u *Unit) Verify() error {
	switch u.Level {
	case Tensor:
		return tensor.Verify(u.Tensor)
	case Tile:
		return tile.Verify(u.Tile)
	}
	return simt.Verify(u.Simt)
}

// ParseUnit reads the IR text of a level.
func ParseUnit(level Level, src string) (*Unit, error) {
	u := &Unit{Level: level}
	switch level {
	case Tensor:
		p, errs := tensor.Parse(src)
		u.Tensor = p
		return u, errs.Err()
	case Tile:
		m, errs := tile.Parse(src)
		u.Tile = m
		return u, errs.Err()
	}
	m, err := simt.Parse(src)
	u.Simt = m
	return u, err
}

// Pass is a row of the table.
type Pass struct {
	Name     string
	In, Out  Level
	Run      func(*Unit) error
	Required bool             // later levels depend on it: it cannot be left out
	When     func(*Unit) bool // it runs for such units only, where it is not asked for by name; nil: for all
	After    []After
	Doc      string
}

// After is a pass that has to run before, and why.
type After struct{ Pass, Why string }

// Pipeline lists the passes in the order in which they run.
var Pipeline = []Pass{
	{Name: "round_operands", In: Tensor, Out: Tensor, Run: roundOperands, When: onlyByName,
		Doc: "for a device with matrix operations: rounds intermediates to the type of what they are contracted with"},
	{Name: "explicit_faults", In: Tensor, Out: Tensor, Run: explicitFaults, Required: true,
		Doc: "turns what can fail through data into fault tensors and checks on results; reads are guarded to stay inside"},
	{Name: "expand_edges", In: Tensor, Out: Tensor, Run: expandEdges, Required: true,
		After: []After{{"explicit_faults", "a fault is read with the edge of the element that it belongs to"}},
		Doc:   "turns boundaries into guards and subscripts that stay inside"},
	{Name: "split_reductions", In: Tensor, Out: Tensor, Run: splitReductions,
		After: []After{{"explicit_faults", "a definition that is computed where nothing needs it must not fail"}, {"expand_edges", "all reads that it moves are plain"}},
		Doc:   "gives reductions that would be computed again and again, and scans, definitions of their own"},
	{Name: "fuse", In: Tensor, Out: Tensor, Run: fuse,
		After: []After{{"explicit_faults", "what it moves behind a guard must not fail"}, {"expand_edges", "what it inlines is read at plain subscripts"}, {"split_reductions", "it shows what is computed once for many elements"}},
		Doc:   "inlines definitions of temporary tensors into those that read them, where that repeats nothing that costs"},
	{Name: "drop_unused", In: Tensor, Out: Tensor, Run: dropUnused,
		After: []After{{"split_reductions", "it leaves definitions without uses"}, {"fuse", "it leaves those that it inlined"}},
		Doc:   "drops definitions that no result and no check needs"},
	{Name: "merge_equal", In: Tensor, Out: Tensor, Run: mergeEqual,
		After: []After{{"expand_edges", "guards of boundaries repeat each other"}, {"split_reductions", "it moves what would be merged"}},
		Doc:   "makes equal expressions of a definition one, so that nothing is read twice"},
	{Name: "make_tiles", In: Tensor, Out: Tile, Run: makeTiles, When: inTiles,
		After: []After{{"expand_edges", "loads have no edges"}, {"split_reductions", "what is left of reductions in a contraction are its sums"}},
		Doc:   "for a device, instead of make_loops: definitions become kernels whose blocks compute tiles, where they can"},
	{Name: "make_loops", In: Tensor, Out: Tile, Run: makeLoops, Required: true, When: inLoops,
		After: []After{{"expand_edges", "loads have no edges"}},
		Doc:   "makes a kernel of every definition: a grid over its elements, loops for its reductions"},
	{Name: "pick_atoms", In: Tile, Out: Tile, Run: pickAtoms, When: inTiles,
		After: []After{{"make_loops", "it makes the tile kernels"}},
		Doc:   "gives products of tiles the matrix operation of the device that takes their types and fits"},
	{Name: "stage_operands", In: Tile, Out: Tile, Run: stageOperands, When: inTiles,
		After: []After{{"make_tiles", "it makes the dots"}},
		Doc:   "puts the operands of dots into shared memory, past the registers where the device can"},
	{Name: "assign_layouts", In: Tile, Out: Tile, Run: assignLayouts, When: inTiles,
		After: []After{{"stage_operands", "what goes to shared memory is loaded in the order in which it lies there"}},
		Doc:   "decides which thread holds which element of a tile, and swizzles shared memory"},
	{Name: "map_threads", In: Tile, Out: Simt, Run: mapThreads, Required: true,
		After: []After{{"make_loops", "it makes the tile kernels"}},
		Doc:   "gives the points of kernels to threads, and makes barriers of phases"},
	{Name: "unroll", In: Simt, Out: Simt, Run: unroll, When: onlyByName,
		After: []After{{"map_threads", "it marks loops over registers"}},
		Doc:   "writes loops over registers out; printers and the simulator do that too, from a shorter text"},
	{Name: "simplify", In: Simt, Out: Simt, Run: simplify,
		After: []After{{"map_threads", "it writes subscripts as the axes come"}, {"unroll", "subscripts with a number for the loop's variable are sums with constants"}},
		Doc:   "makes integer arithmetic cheap: shifts for divisions, sums in an order in which much is shared, constants last"},
	{Name: "narrow_indices", In: Simt, Out: Simt, Run: narrowIndices,
		After: []After{{"simplify", "it leaves constants outside of what gets narrow"}},
		Doc:   "computes indices in 32 bits where they fit for certain"},
	{Name: "hoist", In: Simt, Out: Simt, Run: hoist,
		After: []After{{"map_threads", "it writes subscripts out in full at every access"}},
		Doc:   "moves integer arithmetic that is the same in every turn of a loop in front of it"},
	{Name: "cse", In: Simt, Out: Simt, Run: cse,
		After: []After{{"hoist", "what it names once for a loop is the same wherever it is used"}},
		Doc:   "computes once what several statements compute"},
	{Name: "drop_dead", In: Simt, Out: Simt, Run: dropDead,
		After: []After{{"map_threads", "it finds the place along every axis, needed or not"}, {"hoist", "it moves values whose uses are merged"}},
		Doc:   "drops registers that nothing reads"},
}

// inTiles: what is compiled for a device is cut into tiles that its blocks compute.
func inTiles(u *Unit) bool { return u.Device != nil }

// inLoops: what is compiled for any device has a thread for every element.
func inLoops(u *Unit) bool { return !inTiles(u) }

// onlyByName is for what helps to look into a kernel, and nobody waits for.
func onlyByName(*Unit) bool { return false }

// PassByName finds a row; nil if there is none of that name.
func PassByName(name string) *Pass {
	for i := range Pipeline {
		if Pipeline[i].Name == name {
			return &Pipeline[i]
		}
	}
	return nil
}

// UnknownPass is the error for a name that no row has.
func UnknownPass(name string) error {
	names := make([]string, len(Pipeline))
	for i, p := range Pipeline {
		names[i] = p.Name
	}
	return fmt.Errorf("unknown pass %q; there are %v", name, names)
}
