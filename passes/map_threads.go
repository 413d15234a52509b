package passes

import (
	"fmt"
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
	"github.com/gkc-lang/gkc/ir/simt"
	"github.com/gkc-lang/gkc/ir/tile"
)

// mapThreads gives the points of tile kernels to threads. Where values have no axes, every point of the grid is a thread. Where
// they have, a point of the grid is a block, whose threads share the points of the axes, and phases are barriers.
//
//	grid r in 0..R {
//	  x: f16 = load X[r]
//	  store Y[r] <- widen.f32(x)
//
// becomes
//
//	for point in i64(cta) * 256 + i64(tid)..points step 549755813632 {
//	  var x: f16
//	  load x <- X[point]
//	  store Y[point] <- widen.f32(x)
func mapThreads(u *Unit) error {
	out := &simt.Module{Header: u.Tile.Header, Kernels: make([]*simt.Kernel, len(u.Tile.Kernels))}
	atOnce(len(out.Kernels), func(i int) { out.Kernels[i] = kernelThreads(u.Tile, u.Tile.Kernels[i]) })
	u.Simt = out
	return nil
}

const (
	blockThreads = 256
	maxBlocks    = 1<<31 - 1
)

// threads lowers one kernel.
type threads struct {
	in      *tile.Kernel
	out     *simt.Kernel
	rename  map[ir.Ref]*ir.Expr // scalars, axes and values to what the kernel calls them
	hosted  map[uint64][]hosted
	known   map[*ir.Expr]bool // whether an expression uses scalars only
	buffers map[*tile.Array]*simt.Buffer
	names   map[string]bool
	counts  map[string]int
	body    []simt.Stmt
	blocks  bool // a point of the grid is a block
	single  bool // every thread does the same: only one stores

	tileAt func(*tile.Value) *ir.Expr // of the point that is being computed; nil: tiles are in rename
	onlyIf *ir.Expr                   // where the thread has the effects of that point; nil: always

	address func(*ir.Expr) *ir.Expr // rewrites the place of an element; nil: as it is
}

// unsupported ends the pass at a construct that this lowering cannot give to threads.
func (t *threads) unsupported(format string, args ...any) {
	panic(diag.Errorf(diag.Pos{}, "limit", "kernel %s: %s", t.in.Name, fmt.Sprintf(format, args...)))
}

func kernelThreads(m *tile.Module, k *tile.Kernel) *simt.Kernel {
	t := &threads{
		in: k, rename: map[ir.Ref]*ir.Expr{}, hosted: map[uint64][]hosted{}, known: map[*ir.Expr]bool{},
		buffers: map[*tile.Array]*simt.Buffer{}, names: map[string]bool{}, counts: map[string]int{},
		out: &simt.Kernel{Name: k.Name, Lines: k.Lines, Launch: simt.Launch{Threads: blockThreads}},
	}
	grid := k.Body[0].(*tile.Loop)
	body := t.stmts
	switch {
	case k.Threads > 0:
		t.out.Launch.Threads = k.Threads
		body = func(list []tile.Stmt) { t.blockKernel(m, list) }
	case len(k.Axes) > 0 || anyPhase(grid.Body):
		body = t.block
	}
	t.blocks = k.Threads > 0 || len(k.Axes) > 0 || anyPhase(grid.Body)
	t.grid(grid, body)
	t.out.Body = t.body
	t.out.For = simt.LeastDevice(t.out)
	for _, b := range t.out.Global {
		b.ReadOnly = !stores(t.out.Body, b)
	}
	return t.out
}

func stores(body []simt.Stmt, b *simt.Buffer) bool {
	found := false
	simt.Walk(body, func(s simt.Stmt) {
		if st, ok := s.(*simt.Store); ok && st.To.Buf == b {
			found = true
		}
	})
	return found
}

func anyPhase(list []tile.Stmt) bool {
	return slices.ContainsFunc(list, func(s tile.Stmt) bool {
		switch s := s.(type) {
		case *tile.Phase:
			return true
		case *tile.Loop:
			return anyPhase(s.Body)
		case *tile.If:
			return anyPhase(s.Then) || anyPhase(s.Else)
		}
		return false
	})
}

// grid numbers its points and runs over them with a stride that only the largest grids ever take. A point of a block kernel is a
// block, and launchers refuse grids of more blocks than there can be.
func (t *threads) grid(s *tile.Loop, body func([]tile.Stmt)) {
	points := ir.Int64(1)
	extents := make([]*ir.Expr, len(s.Over))
	for i, o := range s.Over {
		extents[i] = extent(o)
		points = ir.Mul(points, extents[i])
	}
	total := t.hostValue("points", points)
	if t.in.Threads > 0 {
		t.out.Launch.Grid = total
		t.point(s, t.let("point", widen(simt.Cta)), extents, body)
		return
	}
	per := int64(blockThreads)
	first := ir.Add(ir.Mul(widen(simt.Cta), ir.Int64(per)), widen(simt.Tid))
	if t.blocks {
		per, first = 1, widen(simt.Cta)
	}
	t.out.Launch.Grid = ir.Min(ir.CeilDiv(total, ir.Int64(per)), ir.Int64(maxBlocks))
	point := &simt.Reg{Name: t.fresh("point"), Type: ir.I64}
	loop := &simt.For{Var: point, Lo: first, Hi: total, Step: per * maxBlocks}
	loop.Body = t.inner(func() { t.point(s, ir.Name(point), extents, body) })
	t.body = append(t.body, loop)
}

// point lowers what happens at a point of a grid.
func (t *threads) point(s *tile.Loop, number *ir.Expr, extents []*ir.Expr, body func([]tile.Stmt)) {
	for i, at := range t.gridPlaces(number, extents, int64(s.Raster)) {
		t.bindAxis(s.Over[i].Axis, ir.Add(at, t.expr(s.Over[i].Lo)))
	}
	body(s.Body)
}

// unfold finds the place of a point along each extent of a box, from its number. The last extent is the innermost.
func (t *threads) unfold(point *ir.Expr, extents []*ir.Expr) []*ir.Expr {
	out := make([]*ir.Expr, len(extents))
	for i := len(extents) - 1; i >= 0; i-- {
		switch {
		case extents[i].IsInt(1):
			out[i] = ir.Int64(0)
		case i == 0:
			out[i] = point
		default:
			size := t.hostValue("extent", extents[i])
			out[i] = ir.Rem(point, size)
			point = t.let("rest", ir.Div(point, size))
		}
	}
	return out
}

// gridPlaces are where a point of a grid is along each extent.
func (t *threads) gridPlaces(point *ir.Expr, extents []*ir.Expr, raster int64) []*ir.Expr {
	if raster > 1 {
		return t.rastered(point, extents, raster)
	}
	return t.unfold(point, extents)
}

// rastered is unfold where the last two extents are walked in groups of rows along the first of them, column by column in each
// group, so that blocks that run at the same time share what they read. The last group may have fewer rows.
func (t *threads) rastered(point *ir.Expr, extents []*ir.Expr, rows int64) []*ir.Expr {
	n := len(extents) - 2
	size := ir.Mul(extents[n], extents[n+1])
	outer := t.unfold(point, append(slices.Clone(extents[:n]), size))
	plane := t.hostValue("plane", ir.Mul(ir.Int64(rows), extents[n+1]))
	first := t.let("group", ir.Mul(ir.Div(outer[n], plane), ir.Int64(rows)))
	rest := t.let("rest", ir.Rem(outer[n], plane))
	height := t.let("height", ir.Min(ir.Sub(t.hostValue("extent", extents[n]), first), ir.Int64(rows)))
	return append(outer[:n], ir.Add(first, ir.Rem(rest, height)), ir.Div(rest, height))
}

// extent of a span: no less than 0.
func extent(s ir.Span) *ir.Expr {
	n := ir.Sub(s.Hi, s.Lo)
	if s.Lo.IsInt(0) {
		if size, ok := s.Hi.Ref.(*ir.Scalar); ok && size.IsSize {
			return n
		}
	}
	if v, ok := n.IntValue(); ok && v >= 0 {
		return n
	}
	return ir.Max(n, ir.Int64(0))
}

func widen(b *simt.Builtin) *ir.Expr { return ir.Widen(ir.I64, ir.Name(b)) }

func (t *threads) bindAxis(a *ir.Axis, value *ir.Expr) {
	if value.Op != ir.OpName && !value.IsConst() {
		value = t.let(a.Name, value)
	}
	t.rename[a] = value
}

// block splits statements at phases: what stands between them happens for all points of the axes.
func (t *threads) block(list []tile.Stmt) {
	var run []tile.Stmt
	var axes []*ir.Axis
	flush := func() {
		if len(run) > 0 {
			t.lanes(axes, run)
		}
		run = nil
	}
	for _, s := range list {
		switch {
		case anyPhase([]tile.Stmt{s}):
			flush()
			t.uniform(s)
		default:
			if a := axesOf(s); len(run) == 0 || !slices.Equal(a, axes) {
				flush()
				axes = a
			}
			run = append(run, s)
		}
	}
	flush()
}

// uniform lowers what contains a phase: all threads run it together.
func (t *threads) uniform(s tile.Stmt) {
	switch s := s.(type) {
	case *tile.Phase:
		t.body = append(t.body, &simt.Sync{Verb: simt.VerbOf("sync", "cta"), On: simt.BarRef{Builtin: "cta"}})
	case *tile.Loop:
		t.loop(s, t.block)
	case *tile.If:
		t.branch(s, t.block)
	}
}

// lanes shares the points of the axes among the threads of the block. Statements without axes happen in every thread, their
// stores in one.
func (t *threads) lanes(axes []*ir.Axis, list []tile.Stmt) {
	if len(axes) == 0 {
		t.single = true
		t.stmts(list)
		t.single = false
		return
	}
	for _, s := range list {
		t.effectsOnce(s, len(axes))
	}
	points := ir.Int64(1)
	extents := make([]*ir.Expr, len(axes))
	for i, a := range axes {
		extents[i] = extent(ir.Span{Lo: ir.Int64(0), Hi: a.Extent})
		points = ir.Mul(points, extents[i])
	}
	lane := &simt.Reg{Name: t.fresh("element"), Type: ir.I64}
	loop := &simt.For{Var: lane, Lo: widen(simt.Tid), Hi: t.hostValue("elements", points), Step: blockThreads}
	loop.Body = t.inner(func() {
		for i, at := range t.unfold(ir.Name(lane), extents) {
			t.bindAxis(axes[i], at)
		}
		t.stmts(list)
	})
	t.body = append(t.body, loop)
	for _, s := range list { // their registers are gone with the loop
		for _, v := range tile.Defined(s) {
			delete(t.rename, v)
		}
	}
}

// effectsOnce refuses stores and checks that happen for fewer axes than the statements around them: they would happen again and
// again.
func (t *threads) effectsOnce(s tile.Stmt, axes int) {
	refuse := func(own []*ir.Axis) {
		if len(own) != axes {
			t.unsupported("a store or a check for fewer axes than the statements around it")
		}
	}
	switch s := s.(type) {
	case *tile.Store:
		refuse(s.Axes)
	case *tile.Check:
		refuse(s.Axes)
	case *tile.Loop:
		for _, c := range s.Body {
			t.effectsOnce(c, axes)
		}
	case *tile.If:
		for _, c := range append(slices.Clone(s.Then), s.Else...) {
			t.effectsOnce(c, axes)
		}
	}
}

// axesOf lists the axes of the points for which a statement happens.
func axesOf(s tile.Stmt) (out []*ir.Axis) {
	add := func(list []*ir.Axis) {
		for _, a := range list {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	for _, v := range tile.Defined(s) {
		add(v.Axes)
	}
	switch s := s.(type) {
	case *tile.Store:
		add(s.Axes)
	case *tile.Check:
		add(s.Axes)
	case *tile.Loop:
		for _, c := range s.Body {
			add(axesOf(c))
		}
	case *tile.If:
		for _, c := range append(slices.Clone(s.Then), s.Else...) {
			add(axesOf(c))
		}
	}
	return out
}
