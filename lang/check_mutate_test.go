package lang

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/syntax"
	"github.com/gkc-lang/gkc/ir/tensor"
)

// TestMutatedPrograms changes right programs in random places: whatever comes out is checked without a crash, and what is
// accepted is a well-formed program.
func TestMutatedPrograms(t *testing.T) {
	files, err := filepath.Glob(cases + "/*/*/kernel.gk")
	require.NoError(t, err)
	var programs [][]string
	var words []string
	for _, file := range files {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		tokens, _, errs := syntax.Lex(string(src), syntax.Gk)
		if len(errs) > 0 || len(tokens) > 400 {
			continue
		}
		var texts []string
		for _, tok := range tokens {
			texts = append(texts, tok.Text)
		}
		programs = append(programs, texts)
		words = append(words, texts...)
	}
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	random := rand.New(rand.NewSource(1))
	accepted := 0
	for range rounds {
		src := mutated(random, programs[random.Intn(len(programs))], words)
		unit := compileSafely(t, src)
		for _, p := range unit.Programs {
			accepted++
			require.NoError(t, tensor.Verify(p), src)
		}
	}
	require.NotZero(t, accepted)
}

func compileSafely(t *testing.T, src string) *Unit {
	defer func() {
		if r := recover(); r != nil {
			panic(fmt.Sprintf("%v\nwhile compiling\n%s", r, src))
		}
	}()
	unit, _ := Compile("", src, nil)
	return unit
}

// mutated replaces, repeats, drops or exchanges a few tokens.
func mutated(random *rand.Rand, program, words []string) string {
	out := append([]string(nil), program...)
	for range 1 + random.Intn(4) {
		i, j := random.Intn(len(out)), random.Intn(len(out))
		switch random.Intn(5) {
		case 0:
			out[i] = words[random.Intn(len(words))]
		case 1:
			out[i] = out[j]
		case 2:
			out[i], out[j] = out[j], out[i]
		case 3:
			out[i] = ""
		default:
			out[i] += " " + out[j]
		}
	}
	return strings.Join(out, " ")
}
