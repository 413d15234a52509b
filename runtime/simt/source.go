package simt

import "embed"

// Source is this package's own text, which programs that must build without a module proxy carry along.
//
//go:embed *.go
var Source embed.FS
