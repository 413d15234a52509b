package tile

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A copy says the same, and shares no statement and no value.
func TestCopy(t *testing.T) {
	for _, file := range []string{"testdata/all.tile", "testdata/block.tile"} {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		m, errs := Parse(string(src))
		require.NoError(t, errs.Err())
		before := m.String()
		own := *m
		own.Kernels = nil
		for _, k := range m.Kernels {
			own.Kernels = append(own.Kernels, k.Copy())
		}
		require.NoError(t, Verify(&own))
		require.Equal(t, before, own.String())
		for _, k := range own.Kernels {
			rename(k.Body)
		}
		require.NotEqual(t, before, own.String())
		require.Equal(t, before, m.String())
	}
}

func rename(list []Stmt) {
	for _, s := range list {
		for _, v := range Defined(s) {
			v.Name += ".own"
		}
		switch s := s.(type) {
		case *Loop:
			s.Over[0].Lo = s.Over[0].Hi
			rename(s.Body)
		case *If:
			rename(s.Then)
			rename(s.Else)
		}
	}
}
