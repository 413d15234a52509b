package tile

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlacedMistakes(t *testing.T) {
	src, err := os.ReadFile("testdata/block.tile")
	require.NoError(t, err)
	for _, c := range []struct{ old, new, want string }{
		{"threads 64", "threads 128", "is over 64 threads"},
		{"axis ni: 16", "axis ni: 8", "has 16 elements along ni"},
		{"warp mi16]", "warp mi8]", "elements along mi"},
		{"x[mi, ki]: f16 shared", "x[mi, ki]: f16 reg", "not in shared memory"},
		{"f32 reg as acc = 0.0", "f32 as acc = 0.0", "not in registers"},
		{"swizzle(1, 3, 3)", "swizzle(3, 3, 1)", "swizzle"},
		{"M else 0.0", "M else 1.0", "it must be 0"},
		{"d[mi, ni]: f32 reg as acc", "d[mi, ni]: f32 reg as other", "unknown layout other"},
		{", nm in 0..1 raster", " raster", "raster 2"},
		{"loop km in 0..2", "unroll km in 0..2", "3 stages"},
		{"next acc = d", "q[mi, ki]: f16 = map x\nnext acc = d", "read by an expression"},
		{"load async X", "load X", "only moves and asynchronous loads"},
		{"d[mi, ni]: f32 reg as acc", "d[mi, ni]: f32 shared", "only moves and asynchronous loads"},
		{"warp mi16]", "cta mi16]", "bits that are of no register, lane or warp"},
		{"[reg ni1", "[reg ~ ni1", "bits that are pending"},
	} {
		text := strings.Replace(string(src), c.old, c.new, 1)
		m, errs := Parse(text)
		err := errs.Err()
		if err == nil {
			err = Verify(m)
		}
		require.ErrorContains(t, err, c.want, c.new)
	}
}
