package diag_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gkc-lang/gkc/ir/diag"
)

func TestPlacesWithAndWithoutOffsets(t *testing.T) {
	const source = "one\ntwo\nthree\n"
	for _, c := range []struct {
		pos  diag.Pos
		want string
	}{
		{diag.Pos{Line: 3, Col: 2, Offset: 9}, "3:2: error: wrong [syntax]\n    three\n     ^\n"},
		{diag.Pos{Line: 3, Col: 2}, "3:2: error: wrong [syntax]\n    three\n     ^\n"},
		{diag.Pos{Line: 1, Col: 1}, "1:1: error: wrong [syntax]\n    one\n    ^\n"},
		{diag.Pos{Line: 9, Col: 1}, "9:1: error: wrong [syntax]\n"},
		{diag.Pos{Line: 1, Col: 1, Offset: 99}, "1:1: error: wrong [syntax]\n"},
	} {
		assert.Equal(t, c.want, diag.Render(diag.Errorf(c.pos, "syntax", "wrong"), source))
	}
}
