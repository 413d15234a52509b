package tile

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func seed(f *testing.F) {
	src, err := os.ReadFile("testdata/all.tile")
	require.NoError(f, err)
	f.Add(string(src))
	f.Add("tile t\nkernel k {\n  grid {\n  }\n}\n")
	f.Add("tile t\nwork a: f32[]\nkernel k {\n  grid i in 0..4 {\n    store a[] max <- f32(i)\n  }\n}\n")
}

// FuzzParse: what reads prints, and what was printed reads back the same.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src string) {
		m, errs := Parse(src)
		if errs != nil {
			return
		}
		printed := m.String()
		again, errs := Parse(printed)
		require.NoError(t, errs.Err(), printed)
		require.Equal(t, printed, again.String())
	})
}

// FuzzVerify: whatever reads is judged without a panic.
func FuzzVerify(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src string) {
		if m, errs := Parse(src); errs == nil {
			_ = Verify(m)
		}
	})
}
