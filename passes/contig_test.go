package passes_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/ir/tile"
	"github.com/gkc-lang/gkc/passes"
)

// access is a load or a store of a kernel.
type access struct {
	name  string
	of    *tile.Array
	at    []*ir.Expr
	where *ir.Expr
}

// accesses lists those of a body, and defines what it computes in defs.
func accesses(list []tile.Stmt, defs map[ir.Ref]*tile.Map, spans *[]ir.Span) (out []access) {
	for _, s := range list {
		switch s := s.(type) {
		case *tile.Loop:
			*spans = append(*spans, s.Over...)
			out = append(out, accesses(s.Body, defs, spans)...)
		case *tile.Load:
			out = append(out, access{s.From.Name, s.From, s.At, s.Where})
		case *tile.Store:
			out = append(out, access{s.To.Name, s.To, s.At, s.Where})
		case *tile.Map:
			defs[s.Out] = s
		}
	}
	return out
}

func TestContiguous(t *testing.T) {
	sched, err := schedule.Parse("m 32, n 32, k 32")
	require.NoError(t, err)
	for _, c := range []struct {
		src string
		of  string // array and axis
		n   int    // elements one behind the other, up to 8
		one int    // elements for which the condition is one
	}{
		{"gemm(x: f16[M, K], w: f16[K, N]) -> y: f16[M, N] { y[m, n] = sum[k](x[m, k] * w[k, n]) }", "x ki", 1, 1},
		{"gemm(x: f16[M, K], w: f16[K, N]) -> y: f16[M, N] where K % 4 == 0 { y[m, n] = sum[k](x[m, k] * w[k, n]) }", "x ki", 4, 4},
		{"gemm(x: f16[M, K], w: f16[K, N]) -> y: f16[M, N] where K % 16 == 0 { y[m, n] = sum[k](x[m, k] * w[k, n]) }", "x ki", 8, 8},
		{"gemm(x: f16[M, K], w: f16[K, N]) -> y: f16[M, N] where N % 8 == 0 { y[m, n] = sum[k](x[m, k] * w[k, n]) }", "w ni", 8, 8},
		{"gemm(x: f16[M, K], w: f16[K, N]) -> y: f16[M, N] where N % 8 == 0 { y[m, n] = sum[k](x[m, k] * w[k, n]) }", "w ki", 1, 1},
		{"gemm(x: f16[M, K], w: f16[K, N]) -> y: f16[M, N] where N % 8 == 0 { y[m, n] = sum[k](x[m, k] * w[k, n]) }", "y ni", 8, 8},
		{"gemm(x: f16[50, 36], w: f16[36, 70]) -> y: f16[50, 70] { y[m, n] = sum[k](x[m, k] * w[k, n]) }", "x ki", 4, 4},
		{"gemm(x: f16[50, 36], w: f16[36, 70]) -> y: f16[50, 70] { y[m, n] = sum[k](x[m, k] * w[k, n]) }", "w ni", 2, 2},
		{"conv(x: f16[B, H, W, C], w: f16[R, S, C, O]) -> y: f16[B, H, W, O] where C % 8 == 0 { y[b, i, j, o] = sum[r in 0..R, s in 0..S, c](x@zero[b, i + r - 1, j + s - 1, c] * w[r, s, c, o]) }", "x ki", 8, 8},
		{"conv(x: f16[B, H, W, 3], w: f16[7, 7, 3, O]) -> y: f16[B, H, W, O] { y[b, i, j, o] = sum[r, s, c](x@zero[b, i + r - 1, j + s - 1, c] * w[r, s, c, o]) }", "x ki", 1, 1},
		{"planes(x: f16[B, C, H, W], w: f16[C, O]) -> y: f16[B, O, H, W] where W % 8 == 0 { y[b, o, i, j] = sum[c](x[b, c, i, j] * w[c, o]) }", "y ni", 8, 8},
		{"planes(x: f16[B, C, 14, 14], w: f16[C, O]) -> y: f16[B, O, 14, 14] { y[b, o, i, j] = sum[c](x[b, c, i, j] * w[c, o]) }", "y ni", 4, 4},
		{"heads(q: f16[B, S, H, 64], k: f16[B, T, H, 64]) -> y: f16[B, H, S, T] { y[b, h, s, t] = sum[d](q[b, s, h, d] * k[b, t, h, d]) }", "q ki", 8, 8},
		{"rows(x: f16[M, K], i: i32[L], w: f16[K, N]) -> y: f16[L, N] where K % 8 == 0 { y[l, n] = sum[k](x@zero[i[l], k] * w[k, n]) }", "x ki", 8, 8},
		{"rows(x: f16[M, K], i: i32[K], w: f16[K, N]) -> y: f16[M, N] where K % 8 == 0 { y[m, n] = sum[k](x@zero[m, i[k]] * w[k, n]) }", "x ki", 1, 1},
		{"wide(x: f32[M, A, 4], w: f32[A, 4, N]) -> y: f32[M, N] { y[m, n] = sum[a, b](x[m, a, b] * w[a, b, n]) }", "x ki", 4, 4},
	} {
		name, axis, _ := strings.Cut(c.of, " ")
		m := tiled(t, program(t, "kernel "+c.src), sched)
		k := blocks(m)[0]
		found := false
		for _, a := range accesses(k.Body, map[ir.Ref]*tile.Map{}, &[]ir.Span{}) {
			for _, x := range k.Axes {
				if a.name != name || x.Name != axis {
					continue
				}
				found = true
				asked := passes.NewContig(m, k)
				assert.Equal(t, c.n, asked.Run(a.of, a.at, x, 8), "%s along %s:\n%s", name, axis, m)
				one := 8
				for one > 1 && !asked.Same(a.where, x, one) {
					one /= 2
				}
				assert.Equal(t, c.one, one, "the condition of %s along %s:\n%s", name, axis, m)
			}
		}
		require.True(t, found, c.of)
	}
}

// TestContiguousIsRight: what is claimed of accesses holds at every point, for sizes that meet the conditions.
func TestContiguousIsRight(t *testing.T) {
	claims := 0
	for n, c := range contractions {
		for seed := range uint64(4) {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			p := program(t, c.src)
			text, conds := c.src, []string{}
			for _, s := range p.Scalars {
				if s.IsSize && r.IntN(4) > 0 {
					conds = append(conds, fmt.Sprintf("%s %% %d == 0", s.Name, 2<<r.IntN(3)))
				}
			}
			if len(conds) > 0 {
				head, body, _ := strings.Cut(text, " {")
				text = head + " where " + strings.Join(conds, " && ") + " {" + body
			}
			m := tiled(t, program(t, text), smallTiles(r))
			for _, k := range blocks(m) {
				claims += claimed(t, m, k, r)
			}
		}
	}
	require.Greater(t, claims, 100)
}

// claimed checks what is said of the accesses of a kernel, and counts the claims.
func claimed(t *testing.T, m *tile.Module, k *tile.Kernel, r *rand.Rand) (claims int) {
	defs, spans := map[ir.Ref]*tile.Map{}, []ir.Span{}
	list := accesses(k.Body, defs, &spans)
	c := passes.NewContig(m, k)
	for _, a := range list {
		for _, axis := range k.Axes {
			n, one := c.Run(a.of, a.at, axis, 8), 8
			for one > 1 && !c.Same(a.where, axis, one) {
				one /= 2
			}
			for _, x := range []int{n, one} {
				if x > 1 {
					claims++
				}
			}
			for range 10 {
				p := &point{defs: defs, at: map[ir.Ref]int64{}}
				for _, s := range m.Scalars {
					p.at[s] = max(s.Multiple, 1) * (1 + r.Int64N(3))
					if s.Fixed != nil {
						p.at[s] = s.Fixed.Int()
					}
				}
				for _, s := range spans {
					p.at[s.Axis] = p.eval(t, s.Lo) + r.Int64N(max(1, p.eval(t, s.Hi)-p.eval(t, s.Lo)))
				}
				for _, x := range k.Axes {
					p.at[x] = r.Int64N(p.eval(t, x.Extent))
				}
				p.group(t, a, axis, n, one)
			}
		}
	}
	return claims
}

// point is where an access is looked at.
type point struct {
	defs map[ir.Ref]*tile.Map
	at   map[ir.Ref]int64
}

// eval is the value of an integer or a truth value. Tiles that are loaded have some value, which depends on their axes.
func (p *point) eval(t *testing.T, x *ir.Expr) int64 {
	v, err := ir.EvalExpr(x, func(r ir.Ref) (ir.Const, bool) {
		if v, ok := r.(*tile.Value); ok {
			if d := p.defs[v]; d != nil {
				return ir.IntConst(p.eval(t, d.Body)), true
			}
			some := int64(0)
			for _, a := range v.Axes {
				some = 31*some + 7*p.at[a]
			}
			return ir.IntConst(some), true
		}
		n, ok := p.at[r]
		return ir.IntConst(n), ok
	})
	require.NoError(t, err)
	return v.Int()
}

// group walks a group of indices of an axis.
func (p *point) group(t *testing.T, a access, axis *ir.Axis, n, one int) {
	size := p.eval(t, axis.Extent)
	start := p.at[axis] / 8 * 8
	var address, cond int64
	for i := range min(8, size) {
		p.at[axis] = start + i
		linear := int64(0)
		for d, x := range a.at {
			linear = linear*p.eval(t, a.of.Extents[d]) + p.eval(t, x)
		}
		if i%int64(n) == 0 {
			address = linear
		}
		require.Equal(t, address+i%int64(n), linear, "%s along %s", a.name, axis.Name)
		require.Zero(t, address%int64(n), "%s along %s", a.name, axis.Name)
		if a.where == nil {
			continue
		}
		if i%int64(one) == 0 {
			cond = p.eval(t, a.where)
		}
		require.Equal(t, cond, p.eval(t, a.where), "the condition of %s along %s", a.name, axis.Name)
	}
}
