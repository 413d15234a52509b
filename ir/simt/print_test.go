package simt

import (
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/internal/golden"
)

// same compares two values field by field, following pointers; rows of tables are compared by identity. It returns the path of
// the first difference.
func same(path string, a, b reflect.Value, seen map[[2]uintptr]bool) string {
	if a.IsValid() != b.IsValid() {
		return path
	}
	switch a.Kind() {
	case reflect.Pointer:
		return samePointer(path, a, b, seen)
	case reflect.Interface:
		if a.IsNil() || b.IsNil() || a.Elem().Type() != b.Elem().Type() {
			if a.IsNil() && b.IsNil() {
				return ""
			}
			return path
		}
		return same(path, a.Elem(), b.Elem(), seen)
	case reflect.Struct:
		for i := range a.NumField() {
			switch f := a.Type().Field(i); f.Name {
			case "hash", "Head": // positions of statements are those of the text
			case "Pos":
				if name := a.Type().Name(); name == "Expr" || name == "Scalar" {
					continue
				}
				fallthrough
			default:
				if d := same(path+"."+f.Name, a.Field(i), b.Field(i), seen); d != "" {
					return d
				}
			}
		}
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return path
		}
		for i := range a.Len() {
			if d := same(path+"[]", a.Index(i), b.Index(i), seen); d != "" {
				return d
			}
		}
	default:
		if !a.Equal(b) {
			return path
		}
	}
	return ""
}

func samePointer(path string, a, b reflect.Value, seen map[[2]uintptr]bool) string {
	switch a.Type().Elem().Name() {
	case "Op", "Monoid", "Atom", "Verb", "CopyForm", "DType", "Builtin":
		if a.Pointer() != b.Pointer() {
			return path
		}
		return ""
	}
	if a.IsNil() || b.IsNil() {
		if a.IsNil() && b.IsNil() {
			return ""
		}
		return path
	}
	pair := [2]uintptr{a.Pointer(), b.Pointer()}
	if seen[pair] {
		return ""
	}
	seen[pair] = true
	return same(path, a.Elem(), b.Elem(), seen)
}

// roundTrip prints, reads and prints again; text and structure must be the same.
func roundTrip(t *testing.T, m *Module) string {
	t.Helper()
	text := m.String()
	again, err := Parse(text)
	require.NoError(t, err, text)
	require.Equal(t, text, again.String())
	require.Empty(t, same("module", reflect.ValueOf(m), reflect.ValueOf(again), map[[2]uintptr]bool{}), text)
	return text
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(src)
}

func TestEveryKindIsReadBack(t *testing.T) {
	m, err := Parse(readFile(t, "testdata/kinds.simt"))
	require.NoError(t, err)
	text := roundTrip(t, m)
	golden.Equal(t, "testdata/kinds.golden", text)
}

func FuzzParse(f *testing.F) {
	src, err := os.ReadFile("testdata/kinds.simt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(src))
	f.Add("simt a\nscalar n: f32 default nan\nkernel k {\n launch grid 1 threads 32\n var x: f16x2[4]\n x[1] = x[i32(0)] ** f16x2(3)\n}")
	f.Fuzz(func(t *testing.T, src string) {
		m, err := Parse(src)
		if err != nil {
			return
		}
		text := m.String()
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if again.String() != text {
			t.Fatalf("%s\nbecame\n%s", text, again.String())
		}
	})
}
