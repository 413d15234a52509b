package npy

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/data"
)

func TestRoundTrip(t *testing.T) {
	for _, d := range ir.DTypes {
		for _, shape := range [][]int{{}, {0}, {3}, {2, 3}, {1, 2, 0}, {2, 1, 3, 2}} {
			a := data.New(ir.Type{Elem: d, Pack: 1}, shape...)
			for i := range a.Len() {
				a.SetBits(i, uint64(i&1))
			}
			path := filepath.Join(t.TempDir(), "a.npy")
			require.NoError(t, WriteFile(path, a))
			b, err := ReadFile(path)
			require.NoError(t, err)
			b, err = As(b, a.Type)
			require.NoError(t, err)
			assert.Equal(t, a, b)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	header := func(h string) string { return magic + "\x01\x00" + string([]byte{byte(len(h)), 0}) + h }
	for name, text := range map[string]string{
		"empty":           "",
		"no file of ours": "hello, world",
		"short header":    magic + "\x01\x00\xff\x00{",
		"no dtype":        header("{'shape': (2,), }"),
		"big endian":      header("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }"),
		"Fortran":         header("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }"),
		"no shape":        header("{'descr': '<f4', 'fortran_order': False, }"),
		"negative":        header("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }"),
		"no data":         header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"),
		"too much":        header("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8), }"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(bytes.NewReader([]byte(text)))
			assert.Error(t, err)
		})
	}
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	require.NoError(f, Write(&b, data.New(ir.F32, 2, 3)))
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := Read(bytes.NewReader(text))
		if err == nil {
			assert.Equal(t, data.Len(a.Shape)*a.Type.Bytes(), len(a.Data))
		}
	})
}
