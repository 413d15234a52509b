package runtime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShapesAreChecked(t *testing.T) {
	for _, c := range []struct {
		shape []int
		want  string
	}{
		{[]int{2, 3}, "has 6 elements, but 4 are given"},
		{[]int{-1, 4}, "dimension 1 of shape [-1 4] is negative"},
		{[]int{1 << 40, 1 << 40}, "too large"},
		{nil, "has 1 elements, but 4 are given"},
	} {
		_, err := From(make([]float32, 4), c.shape...)
		assert.ErrorContains(t, err, c.want, c.shape)
	}
	_, err := Zeros[float64](1 << 38)
	assert.ErrorContains(t, err, "too large")
	x, err := Zeros[F16](0, 1<<40)
	require.NoError(t, err)
	assert.Empty(t, x.Data())
}

func TestTensorsShareElementsAndNotShapes(t *testing.T) {
	elements, shape := []int32{1, 2, 3, 4}, []int{2, 2}
	x, err := From(elements, shape...)
	require.NoError(t, err)
	elements[0], shape[0] = 7, 9
	x.Shape()[1] = 5
	assert.Equal(t, int32(7), x.Data()[0])
	assert.Equal(t, []int{2, 2}, x.Shape())
}

func TestOverlap(t *testing.T) {
	b := make([]byte, 8)
	assert.True(t, overlap(b[:5], b[4:]))
	assert.False(t, overlap(b[:4], b[4:]))
	assert.False(t, overlap(b[:4], b[2:2]))
}
