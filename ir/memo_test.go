package ir

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMemoIsAMapByIdentity(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	exprs := make([]*Expr, 1000)
	for i := range exprs {
		exprs[i] = NewConst(I64, IntConst(int64(i%7))) // many are equal
	}
	var memo Memo[int]
	want := map[*Expr]int{}
	for i := range 5000 {
		e := exprs[r.IntN(len(exprs))]
		got, ok := memo.Get(e)
		v, has := want[e]
		require.Equal(t, has, ok)
		require.Equal(t, v, got)
		if r.IntN(2) == 0 {
			memo.Set(e, i)
			want[e] = i
		}
	}
	assert.Equal(t, len(want), memo.used)
}
