package simt

import (
	"os"
	"testing"
)

func BenchmarkGolden(b *testing.B) {
	data, err := os.ReadFile("testdata/golden/attention.simt")
	if err != nil {
		b.Fatal(err)
	}
	src := string(data)
	m, err := Parse(src)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			_, _ = Parse(src)
		}
	})
	b.Run("print", func(b *testing.B) {
		for b.Loop() {
			_ = m.String()
		}
	})
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			_ = Verify(m)
		}
	})
	b.Run("facts", func(b *testing.B) {
		for b.Loop() {
			FactsOf(m.Kernels[0])
		}
	})
}
