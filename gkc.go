// Package gkc compiles kernels: a few lines of tensor algebra become device kernels, in CUDA C, in Go, or on a simulated
// device. The package wires source to artifact for programs that embed the compiler; cmd/gkc is the command line over it.
package gkc
