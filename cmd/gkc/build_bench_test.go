package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
)

// BenchmarkBuildAttention is `gkc build` without the process around it.
func BenchmarkBuildAttention(b *testing.B) {
	file, err := filepath.Abs("../../examples/attention/attention.gk")
	if err != nil {
		b.Fatal(err)
	}
	out := b.TempDir()
	for b.Loop() {
		var log bytes.Buffer
		if code := execute(context.Background(), []string{"build", file, "--emit", "cuda,go,torch", "-o", out}, &log, &log); code != exitRight {
			b.Fatal(log.String())
		}
	}
}
