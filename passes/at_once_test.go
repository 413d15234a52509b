package passes

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/diag"
)

func TestAtOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		done := make([]atomic.Int32, n)
		atOnce(n, func(i int) { done[i].Add(1) })
		for i := range done {
			require.Equal(t, int32(1), done[i].Load())
		}
	}
	late, early := diag.Errorf(diag.Pos{}, "limit", "late"), diag.Errorf(diag.Pos{}, "limit", "early")
	require.PanicsWithValue(t, early, func() {
		atOnce(100, func(i int) {
			if i == 7 {
				panic(early)
			}
			if i == 50 {
				panic(late)
			}
		})
	})
	defer func() { require.Contains(t, recover(), "index out of range") }()
	atOnce(3, func(i int) { _ = make([]int, i)[i] })
}
