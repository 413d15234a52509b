package lang

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/diag"
)

const cases = "../internal/conformance/cases"

// TestRightPrograms checks every program of the conformance cases that is no wrong one.
func TestRightPrograms(t *testing.T) {
	files, err := filepath.Glob(cases + "/*/*/kernel.gk")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if strings.Contains(file, "/errors/") {
			continue
		}
		t.Run(caseName(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			unit, errs := Compile("kernel.gk", string(src), nil)
			if mayRefuse(t, file, errs) {
				return
			}
			require.NoError(t, errs.Err())
			require.NotEmpty(t, unit.Programs)
		})
	}
}

// mayRefuse reports whether the only mistake is a limit that the case allows for.
func mayRefuse(t *testing.T, file string, errs diag.List) bool {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "case.json"))
	require.NoError(t, err)
	var c struct {
		Patterns []string `json:"may_refuse"`
	}
	require.NoError(t, json.Unmarshal(text, &c))
	return len(errs) == 1 && errs[0].Code == "limit" && len(c.Patterns) > 0 && mentions(errs[0], c.Patterns)
}

func caseName(file string) string {
	dir := filepath.Dir(file)
	return filepath.Base(filepath.Dir(dir)) + "/" + filepath.Base(dir)
}

type expectation struct {
	MayAccept bool `json:"may_accept"`
	Generate  *struct {
		Before, Middle, After string
		Times                 int
	}
	Errors []expected
}

type expected struct {
	Line, Column *int32
	Mention      []string `json:"must_mention"`
}

// TestWrongPrograms checks that the mistakes of the wrong programs are found, and nothing else.
func TestWrongPrograms(t *testing.T) {
	files, err := filepath.Glob(cases + "/errors/*/kernel.gk")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(caseName(file), func(t *testing.T) {
			src, expect := wrongProgram(t, file)
			_, errs := Compile("kernel.gk", src, nil)
			if expect.MayAccept && len(errs) == 0 {
				return
			}
			for _, want := range expect.Errors {
				found := false
				for _, d := range errs {
					place := (want.Line == nil || d.Pos.Line == *want.Line) && (want.Column == nil || d.Pos.Col == *want.Column)
					found = found || place && mentions(d, want.Mention)
				}
				require.True(t, found, "expected %+v, got %v", want, errs)
			}
			for _, d := range errs {
				require.True(t, slices.ContainsFunc(expect.Errors, func(want expected) bool { return want.Line == nil || *want.Line == d.Pos.Line }), "noise: %v", errs)
			}
		})
	}
}

func wrongProgram(t *testing.T, file string) (string, expectation) {
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "expect.json"))
	require.NoError(t, err)
	var expect expectation
	require.NoError(t, json.Unmarshal(text, &expect))
	if g := expect.Generate; g != nil {
		made := strings.Repeat(g.Before, g.Times) + g.Middle + strings.Repeat(g.After, g.Times)
		return strings.Replace(string(src), "/*GENERATE*/", made, 1), expect
	}
	return string(src), expect
}

func mentions(d *diag.Diag, words []string) bool {
	text := strings.ToLower(d.Message + " " + d.Fix)
	for _, n := range d.Notes {
		text += " " + strings.ToLower(n.Text)
	}
	for _, w := range words {
		found := false
		for _, alternative := range strings.Split(strings.ToLower(w), "|") {
			found = found || strings.Contains(text, alternative)
		}
		if !found {
			return false
		}
	}
	return true
}
