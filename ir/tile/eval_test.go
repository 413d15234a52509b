package tile

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
)

func ints(n int) map[string]ir.Const { return map[string]ir.Const{"N": ir.IntConst(int64(n))} }

func floats(values ...float64) *data.Array {
	a := data.New(ir.F32, len(values))
	for i, v := range values {
		a.Set(i, ir.FloatConst(v))
	}
	return a
}

func run(t *testing.T, src string, call *data.Call) map[string]*data.Array {
	t.Helper()
	m, errs := Parse(src)
	require.NoError(t, errs.Err())
	out, err := Eval(context.Background(), m, call)
	require.NoError(t, err)
	return out
}

func list(a *data.Array) []float64 {
	out := make([]float64, a.Len())
	for i := range out {
		out[i] = a.Float(i)
	}
	return out
}

const head = "tile t\nsize N: i64\nparam X: f32[N]\nresult Y: f32[N]\n"

func TestEval(t *testing.T) {
	tests := []struct {
		name, body string
		want       []float64
	}{
		{"map", `grid i in 0..N {
			x: f32 = load X[i]
			store Y[i] <- x * 2.0
		}`, []float64{2, -4, 6, 8}},
		{"carried values change together", `grid i in 0..N {
			loop k in 0..i carry (a: f32 = 0.0 -> p, b: f32 = 1.0 -> q) {
				next a = b
				next b = a + b
			}
			store Y[i] <- p
		}`, []float64{0, 1, 1, 2}},
		{"a loop from the end", `grid {
			loop i in 0..N down carry (s: f32 = 0.0 -> e) {
				x: f32 = load X[i]
				store Y[i] <- s + x
				next s = s + x
			}
		}`, []float64{6, 5, 7, 4}},
		{"guarded load", `grid i in 0..N {
			x: f32 = load X[i - 1] where i > 0 else 7.0
			store Y[i] <- x
		}`, []float64{7, 1, -2, 3}},
		{"branches of a tile", `axis d: N
		grid {
			x[d]: f32 = load X[d]
			if x < 0.0 {
				yield y[d]: f32 = -x
			} else {
				yield y = x + 1.0
			}
			store[d] Y[d] <- y
		}`, []float64{2, 2, 4, 5}},
		{"ranges that differ between points", `axis d: N
		grid {
			loop j in 0..d carry (s[d]: f32 = 0.0 -> sum) {
				x[d]: f32 = load X[j]
				next s = s + x
			}
			store[d] Y[d] <- sum
		}`, []float64{0, 1, -1, 2}},
		{"reduce, scan, dot, move", `axis d: N
		axis e: N
		grid {
			x[d]: f32 = load X[d]
			m: f32 = reduce max x over d
			s[d]: f32 = scan sum x over d reverse exclusive
			z[d]: f32 shared = move s
			w[d, e]: f32 = map select(d == e, m, 0.0)
			o[e]: f32 = dot x, w over d
			p[e]: f32 = dot z, w over d into o
			store[e] Y[e] <- p
		}`, []float64{4 * (1 + 5), 4 * (-2 + 7), 4 * (3 + 4), 4 * 4}},
		{"scatter", `grid i in 0..N {
			store Y[N - 1 - i] <- 1.0
		}
	}
	kernel second {
		grid i in 0..N {
			x: f32 = load X[i]
			store Y[i / 2] sum <- x where i < 3
		}`, []float64{1 + 1 - 2, 1 + 3, 1, 1}},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			out := run(t, head+"kernel k {\n"+c.body+"\n}\n", &data.Call{Scalars: ints(4), Inputs: map[string]*data.Array{"X": floats(1, -2, 3, 4)}})
			require.Equal(t, c.want, list(out["Y"]))
		})
	}
}

func TestEvalErrors(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"outside", head + "kernel k {\ngrid i in 0..N {\nx: f32 = load X[i + 1]\nstore Y[i] <- x\n}\n}\n", "index 4 of X is outside 0..4"},
		{"check", head + "site \"index\" of X 0 \"i\"\nkernel k {\ngrid i in 0..N {\ncheck 0 [i, i], i < 2\n}\n}\n", "index 2 of X is outside"},
		{"missing", "tile t\nscalar z: f32\n", "z has no value"},
		{"condition", "tile t\nsize N: i64\nwhere N > 4 \"N > 4\"\n", "the condition N > 4 of t does not hold"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			m, errs := Parse(c.src)
			require.NoError(t, errs.Err())
			_, err := Eval(context.Background(), m, &data.Call{Scalars: ints(4), Inputs: map[string]*data.Array{"X": floats(1, 2, 3, 4)}})
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestVerify(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"two grids", head + "kernel k {\ngrid {\n}\ngrid {\n}\n}\n", "one grid loop"},
		{"no grid", head + "kernel k {\n}\n", "one grid loop"},
		{"grid inside", head + "kernel k {\ngrid {\ngrid i in 0..N {\n}\n}\n}\n", "inside a kernel"},
		{"type of a load", head + "kernel k {\ngrid {\nx: f64 = load X[0]\n}\n}\n", "loaded from X, which is f32"},
		{"subscripts", head + "kernel k {\ngrid {\nx: f32 = load X[0, 0]\n}\n}\n", "has 1 dimensions, not 2"},
		{"store to a parameter", head + "kernel k {\ngrid {\nstore X[0] <- 1.0\n}\n}\n", "store to the parameter"},
		{"monoid", head + "kernel k {\ngrid {\nstore Y[0] any <- 1.0\n}\n}\n", "any of Y"},
		{"axis that a value lacks", head + "kernel k {\naxis d: N\ngrid {\nx: i64 = map d\n}\n}\n", "depends on axis d"},
		{"phase under a condition", head + "kernel k {\naxis d: N\ngrid {\nif d > 1 {\nphase\n}\n}\n}\n", "phase where"},
		{"store of absent points", head + "kernel k {\naxis d: N\ngrid {\nif d > 1 {\nstore Y[0] <- 1.0\n}\n}\n}\n", "whether they take part"},
		{"meeting under a condition", head + "kernel k {\naxis d: N\ngrid {\nx[d]: f32 = load X[d]\nif d > 1 {\ny: f32 = reduce sum x over d\n}\n}\n}\n", "some may be absent"},
		{"site", head + "kernel k {\ngrid {\ncheck 0 [0, 0], true\n}\n}\n", "there are 0 sites"},
		{"unroll", head + "kernel k {\ngrid {\nunroll i in 0..N {\n}\n}\n}\n", "not constant"},
		{"grid over data", head + "kernel k {\naxis d: N\ngrid i in 0..d {\n}\n}\n", "depends on axis d"},
		{"axes of a dot", head + "kernel k {\naxis d: N\ngrid {\nx[d]: f32 = load X[d]\ny[d]: f32 = dot x, x over d\n}\n}\n", "has axes"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			m, errs := Parse(c.src)
			require.NoError(t, errs.Err())
			require.ErrorContains(t, Verify(m), c.want)
		})
	}
}
