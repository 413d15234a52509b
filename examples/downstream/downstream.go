// Package downstream calls a kernel as a program of its own module does.
package downstream

//go:generate go tool gkc build attention.gk vectors.gk --emit go
