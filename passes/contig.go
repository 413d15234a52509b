package passes

import (
	"slices"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/tile"
)

// contig says what the accesses of a kernel do along the axes of its tiles: which elements lie one behind the other in memory, so
// that a thread may move several at once, and which conditions do not tell them apart.
type contig struct {
	where []*ir.Expr
	loops []*tile.Loop                     // the grid first, inner loops behind those around them
	of    map[ir.Ref]*tile.Loop            // by their indices
	maps  map[*tile.Value]*tile.Map        // of integers and truth values
	full  ir.Rewriter                      // writes them out
	moves map[*tile.Loop]map[*ir.Axis]bool // axes on which the bounds of a loop depend
}

func newContig(m *tile.Module, k *tile.Kernel) *contig {
	c := &contig{of: map[ir.Ref]*tile.Loop{}, maps: map[*tile.Value]*tile.Map{}, moves: map[*tile.Loop]map[*ir.Axis]bool{}}
	for _, w := range m.Where {
		c.where = append(c.where, w.Expr)
	}
	c.collect(k.Body)
	c.full.Post = func(x *ir.Expr) *ir.Expr {
		if v, ok := x.Ref.(*tile.Value); ok && c.maps[v] != nil {
			return c.full.Rewrite(c.maps[v].Body)
		}
		return x
	}
	return c
}

func (c *contig) collect(list []tile.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *tile.Map:
			if s.Out.Type.IsInt() || s.Out.Type.IsBool() {
				c.maps[s.Out] = s
			}
		case *tile.Loop:
			c.loops = append(c.loops, s)
			for _, o := range s.Over {
				c.of[o.Axis] = s
			}
			c.collect(s.Body)
		case *tile.If:
			c.collect(s.Then)
			c.collect(s.Else)
		}
	}
}

// run is the largest power of two n, at most most, such that every n consecutive indices of the axis, from a multiple of n on, are
// elements of the array one behind the other, the first a multiple of n from its beginning. All others that the subscripts name
// may be anything in their range.
func (c *contig) run(of *tile.Array, at []*ir.Expr, axis *ir.Axis, most int) int {
	linear := c.linear(of, at)
	n := 1
	for n*2 <= most {
		n *= 2
	}
	for n > 1 && !c.ask(linear, axis, n, (*ir.Groups).Consecutive) {
		n /= 2
	}
	return n
}

// step is how many elements lie between the elements of one index of the axis and the next, as far as that is a number; 0 where
// it is none.
func (c *contig) step(of *tile.Array, at []*ir.Expr, axis *ir.Axis) int64 {
	f := ir.NewFacts(c.where...)
	defer f.Forget()
	linear := c.linear(of, at)
	c.bind(f, linear, axis)
	n, ok := f.Step(linear, axis)
	if !ok {
		return 0
	}
	return n
}

// linear is the number of an element in an array.
func (c *contig) linear(of *tile.Array, at []*ir.Expr) *ir.Expr {
	out := ir.Int64(0)
	extents, at := joined(of.Extents, at)
	for i, x := range at {
		out = ir.Add(ir.Mul(out, extents[i]), x)
	}
	return c.full.Rewrite(out)
}

// same reports whether a condition (nil: always true) comes out the same for all of every n consecutive indices of the axis, from
// a multiple of n on.
func (c *contig) same(cond *ir.Expr, axis *ir.Axis, n int) bool {
	return cond == nil || n == 1 || c.ask(c.full.Rewrite(cond), axis, n, (*ir.Groups).Same)
}

func (c *contig) ask(x *ir.Expr, axis *ir.Axis, n int, question func(*ir.Groups, *ir.Expr) bool) bool {
	f := ir.NewFacts(c.where...)
	defer f.Forget()
	if f.Multiple(axis.Extent)%int64(n) != 0 {
		return false // the last group would be shorter
	}
	c.bind(f, x, axis)
	return question(f.Groups(axis, int64(n), func(r ir.Ref) bool { return c.depends(r, axis) }), x)
}

// bind enters the ranges of what an expression names: the grid, since something is computed at all, and the loops that it is in.
func (c *contig) bind(f *ir.Facts, x *ir.Expr, axis *ir.Axis) {
	inside := map[*tile.Loop]bool{}
	tiles := []*ir.Axis{axis}
	var visit func(x *ir.Expr)
	visit = func(x *ir.Expr) {
		ir.Walk(x, func(y *ir.Expr) {
			if a, ok := y.Ref.(*ir.Axis); ok && c.of[a] == nil && !slices.Contains(tiles, a) {
				tiles = append(tiles, a)
			}
			if s := c.of[y.Ref]; s != nil && s.Kind != tile.Grid && !inside[s] {
				inside[s] = true
				visit(s.Over[0].Lo)
				visit(s.Over[0].Hi)
			}
		})
	}
	visit(x)
	for _, a := range tiles {
		f.Bind(ir.Span{Axis: a, Lo: ir.Int64(0), Hi: a.Extent})
	}
	for _, s := range c.loops {
		if s.Kind == tile.Grid || inside[s] {
			for _, o := range s.Over {
				f.Bind(ir.Span{Axis: o.Axis, Lo: c.full.Rewrite(o.Lo), Hi: c.full.Rewrite(o.Hi)})
			}
		}
	}
}

// depends reports whether what a name stands for may differ along a tile axis.
func (c *contig) depends(r ir.Ref, axis *ir.Axis) bool {
	if v, ok := r.(*tile.Value); ok {
		return slices.Contains(v.Axes, axis)
	}
	s := c.of[r]
	if s == nil || s.Kind == tile.Grid {
		return false
	}
	moved, known := c.moves[s][axis]
	if !known {
		for _, x := range []*ir.Expr{s.Over[0].Lo, s.Over[0].Hi} {
			ir.Walk(x, func(y *ir.Expr) {
				moved = moved || y.Ref == ir.Ref(axis) || y.Op == ir.OpName && c.depends(y.Ref, axis)
			})
		}
		if c.moves[s] == nil {
			c.moves[s] = map[*ir.Axis]bool{}
		}
		c.moves[s][axis] = moved
	}
	return moved
}
