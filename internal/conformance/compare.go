package conformance

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
)

// Compare checks the results of a run and returns a sentence for each that is wrong.
func (r *Run) Compare(got map[string]*data.Array) []string {
	var bad []string
	for name, want := range r.Outputs {
		a := got[name]
		if a == nil {
			bad = append(bad, fmt.Sprintf("result %s is missing", name))
			continue
		}
		if msg := compare(a, want, r.RTol, r.ATol); msg != "" {
			bad = append(bad, name+": "+msg)
		}
	}
	for name := range got {
		if _, ok := r.Outputs[name]; !ok {
			bad = append(bad, fmt.Sprintf("result %s is not expected", name))
		}
	}
	slices.Sort(bad)
	return bad
}

func compare(got *data.Array, want Expected, rtol, atol float64) string {
	if got.Type != want.Type {
		return fmt.Sprintf("is %s, expected %s", got.Type, want.Type)
	}
	if !slices.Equal(got.Shape, want.Shape) {
		return fmt.Sprintf("has shape %v, expected %v", got.Shape, want.Shape)
	}
	count, worst, at := 0, -1.0, 0
	for i := range got.Len() {
		if err := difference(got, want, i, rtol, atol); err > 0 {
			count++
			if err > worst {
				worst, at = err, i
			}
		}
	}
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d differ, worst at %v: %s, expected %s", count, got.Len(), data.Subscripts(want.Shape, at), got.At(at).Text(got.Type), rounded(want, at).Text(want.Type))
}

// rounded is the expected value as the result's type holds it.
func rounded(want Expected, i int) ir.Const {
	c := want.Values.At(i)
	if want.Type.IsFloat() {
		return ir.FloatConst(ir.RoundTo(want.Type.Elem, c.Float()))
	}
	return c
}

// difference is 0 for a right element.
func difference(got *data.Array, want Expected, i int, rtol, atol float64) float64 {
	g, w := got.At(i), rounded(want, i)
	if !want.Type.IsFloat() {
		if g == w {
			return 0
		}
		return 1
	}
	x, y := g.Float(), w.Float()
	if x == y || x != x && y != y {
		return 0
	}
	err := math.Abs(x - y)
	if err <= atol+rtol*math.Abs(y) && !math.IsInf(y, 0) { // no tolerance of infinity: it would allow anything
		return 0
	}
	if err != err {
		return math.Inf(1)
	}
	return err
}

// Lacks lists the entries of mention that text does not hold, in any letter case; an entry holds alternatives separated by |.
func Lacks(text string, mention []string) (missing []string) {
	text = strings.ToLower(text)
	for _, m := range mention {
		if !slices.ContainsFunc(strings.Split(m, "|"), func(w string) bool { return strings.Contains(text, strings.ToLower(w)) }) {
			missing = append(missing, m)
		}
	}
	return missing
}
