package lang

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/internal/conformance"
)

// syntactic names the wrong programs that Parse refuses; the others are read without complaint.
const syntactic = `chained_comparison deep_minus deep_parentheses extra_parenthesis for_range_without_end hex_without_digits huge_extent
	huge_integer if_without_else keyword_as_kernel keyword_as_tensor letters_after_a_number missing_arrow missing_brace missing_dtype
	missing_equals missing_operand missing_parenthesis shift_operator statement_outside stray_character stray_unicode
	two_points_in_a_number unterminated_comment wrong_bracket`

func TestSyntaxOfWrongPrograms(t *testing.T) {
	wrong := map[string]bool{}
	for _, name := range strings.Fields(syntactic) {
		wrong[name] = true
	}
	cases, err := conformance.LoadMistakes()
	require.NoError(t, err)
	for _, c := range cases {
		_, errs := Parse("kernel.gk", c.Source)
		if !wrong[c.Name] {
			assert.Empty(t, errs, c.Name)
			continue
		}
		delete(wrong, c.Name)
		if assert.Len(t, errs, len(c.Errors), "%s: %v", c.Name, errs) {
			for i, want := range c.Errors {
				if want.Line > 0 {
					assert.EqualValues(t, want.Line, errs[i].Pos.Line, c.Name)
				}
				if want.Column > 0 {
					assert.EqualValues(t, want.Column, errs[i].Pos.Col, c.Name)
				}
				assert.Empty(t, conformance.Lacks(errs[i].Message+" "+errs[i].Fix, want.Mention), "%s: %v", c.Name, errs[i])
			}
		}
	}
	assert.Empty(t, wrong, "cases that are no longer there")
}
