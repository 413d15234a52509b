package simt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShorthands(t *testing.T) {
	for short, long := range map[string]string{
		"let a: i32 = 1; let b: i32 = 2":                          "let a: i32 = 1\nlet b: i32 = 2\n",
		"store gw[0] <- 1 add -> old":                             "var old: i32\nstore gw[0] <- 1 add -> old\n",
		"var a: i32[4]\nload a <- gw[0] vec":                      "var a: i32[4]\nload a <- gw[0] vec 4\n",
		"var a: i32[4]\nstore gw[0] <- a[1 + 1:2] vec 2":          "var a: i32[4]\nstore gw[0] <- a[2:2] vec 2\n",
		"var a: i32[4]\nstore gw[0] <- a vec":                     "var a: i32[4]\nstore gw[0] <- a vec 4\n",
		"if n > 1 { } else if n > 2 { } else { sync cta }":        "if n > 1 {\n} else if n > 2 {\n} else {\n  sync cta\n}\n",
		"let i: i32 = 0 // note\n/* two\nlines */ let j: i32 = i": "let i: i32 = 0\nlet j: i32 = i\n",
	} {
		m, err := Parse(frame("", "", short))
		require.NoError(t, err, short)
		assert.Equal(t, long, PrintStmts(m.Kernels[0].Body), short)
	}
}

// Words of the level are names where they stand as names.
func TestWordsAsNames(t *testing.T) {
	body := ""
	for _, w := range []string{"load", "store", "copy", "mma", "check", "roles", "let", "var", "while", "sync", "wait", "arrive",
		"acc", "of", "done", "add", "stream", "vec", "down", "unroll", "step", "launch", "host", "map", "shared", "min", "f32", "simt", "kernel"} {
		body += "var " + w + ": i32 = 0\n" + w + " = " + w + " + 1\nfor i in " + w + ".." + w + " { " + w + " = -" + w + " }\n"
		body += "store gw[" + w + "] <- " + w + " add\n"
	}
	m, err := Parse(frame("", "", body))
	require.NoError(t, err)
	require.NoError(t, Verify(m))
	roundTrip(t, m)
}

func TestSafeNames(t *testing.T) {
	for name, want := range map[string]string{"x": "x", "load": "load", "tid": "tid_", "sms": "sms_", "cta": "cta_", "wgmma": "wgmma_", "größe": "größe"} {
		assert.Equal(t, want, Safe(name))
		assert.True(t, validLocal(Safe(name)))
	}
	for _, name := range []string{"", "a b", "1", "for", "a-b", "scalar.x", "x.", "tid"} {
		assert.False(t, validLocal(name), name)
	}
}

func TestMistakesInText(t *testing.T) {
	for src, want := range map[string]string{
		"":                                      "expected 'simt'",
		"simt":                                  "expected the name of the module",
		"simt a":                                "",
		"simt a\nnothing":                       "expected size, scalar, param",
		"simt a\nsize N: i64\nsize N: i64":      "N is declared twice",
		"simt a\nsize N: i65":                   "unknown type i65",
		"simt a\nsize N: i64 >= x":              "unknown name x",
		"simt a\nparam x: f32[N]":               "unknown name N",
		"simt a\nwork x: f32[] zero twice":      "expected each or once",
		"simt a\nwhere true":                    "in quotes",
		"simt a\nkernel k { }":                  "no launch line",
		"simt a\nkernel k { launch grid 1":      "expected a statement or '}'",
		"simt a\nkernel k { launch grid true }": "where a value of type i64 is expected",
		"simt a\nkernel k { global x: f32 = y\nlaunch grid 1 }": "unknown array y",
		"simt a\nkernel k { launch grid 1\nmbar b count 1 }":    "'at' and a byte offset",
	} {
		_, err := Parse(src)
		if want == "" {
			assert.NoError(t, err)
			continue
		}
		if assert.Error(t, err, src) {
			assert.Contains(t, err.Error(), want, src)
		}
	}
}

func TestMistakesInStatements(t *testing.T) {
	for body, want := range map[string]string{
		"nothing":                        "expected a statement",
		"a = 1":                          "unknown register a",
		"let a: i32 = b":                 "unknown name b",
		"let a: i32 = N":                 "unknown name N",
		"let a: i32 = sms":               "unknown name sms",
		"let a: i32 = 1.5":               "where a value of type i32 is expected",
		"let a: i32 = 1\nlet a: i32 = 2": "a is declared twice",
		"let tid: i32 = 1":               "tid is a word of this level",
		"if tid < 1 { let a: i32 = 1 }\nlet b: i32 = a":               "unknown name a",
		"var a: i32[4]\nlet b: i32 = a":                               "unknown name a",
		"let a: i32 = 1\nlet b: i32 = a[0]":                           "a is no array of registers",
		"let a: i32 = frob(1)":                                        "unknown operation frob",
		"let a: u32 = addr(q, 0)":                                     "unknown buffer q",
		"load a <- gw[0]":                                             "unknown register a",
		"var a: i32\nload a <- q[0]":                                  "unknown buffer q",
		"var a: i32[4]\nload a[0:4] <- gw[0] vec 2":                   "vec 2 of 4 registers",
		"copy box.up gw[0] <- gx[0]":                                  "unknown form of copy box.up",
		"mma mma.m1n1k1 a += a * a acc true":                          "unknown matrix operation",
		"wait cta":                                                    "wait cannot be said of cta",
		"fence mars":                                                  "fence cannot be said of mars",
		"roles { a warps 3..3 { } }":                                  "role a has no warps",
		"check tid < 1":                                               "',' and a site",
		"for i: f32 in 0..1 { }":                                      "f32 is no integer type",
		"for i in 0..4 step 0 { }":                                    "step 0 is outside",
		"var a: i32 as L":                                             "unknown layout L",
		strings.Repeat("if true { ", 300) + strings.Repeat("}", 300):  "nested deeper than 200",
		"if true { " + strings.Repeat("} else if true { ", 300) + "}": "nested deeper than 200",
		"let a: i32 = " + strings.Repeat("(", 5000):                   "nesting deeper",
	} {
		_, err := Parse(frame("", "", body))
		if assert.Error(t, err, body) {
			assert.Contains(t, err.Error(), want, body)
		}
	}
}
