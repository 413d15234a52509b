// Package std holds the library that every program sees. It is written in the language itself: the compiler knows none of its
// names.
package std

import _ "embed" // the library's text

// Source is the text of the library.
//
//go:embed std.gk
var Source string
