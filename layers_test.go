package gkc_test

import (
	"encoding/json"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/gkc-lang/gkc/"

// mayImport says for every folder which others its code (not its tests) may import. A folder that is missing here is a
// mistake, so that the table of ARCHITECTURE.md stays whole.
var mayImport = map[string][]string{
	"ir/diag":              {},
	"ir/syntax":            {"ir/diag"},
	"ir":                   {"ir/diag"},
	"ir/text":              {"ir", "ir/diag", "ir/syntax"},
	"ir/data":              {"ir", "ir/diag", "ir/text"},
	"ir/device":            {"ir", "ir/diag"},
	"ir/tensor":            {"ir", "ir/data", "ir/diag", "ir/syntax", "ir/text"},
	"ir/module":            {"ir", "ir/data", "ir/diag", "ir/syntax", "ir/text"},
	"ir/schedule":          {},
	"ir/tile":              {"ir", "ir/data", "ir/device", "ir/diag", "ir/module", "ir/schedule", "ir/syntax", "ir/text"},
	"ir/simt":              {"ir", "ir/data", "ir/device", "ir/diag", "ir/module", "ir/syntax", "ir/text"},
	"lang":                 {"ir", "ir/diag", "ir/syntax", "ir/text", "ir/tensor", "lang/std"},
	"lang/std":             {},
	"passes":               {"ir", "ir/data", "ir/device", "ir/diag", "ir/schedule", "ir/syntax", "ir/text", "ir/tensor", "ir/tile", "ir/simt"},
	"autotune":             {"internal/atomicfile", "ir", "ir/data", "ir/device", "ir/diag", "ir/schedule", "ir/simt", "ir/tensor", "passes", "runtime/sim"},
	"codegen/plan":         {"codegen/cuda", "ir", "ir/diag", "ir/syntax", "ir/text", "ir/simt"},
	"codegen/torch":        {"codegen/plan", "codegen/source", "ir", "ir/diag", "ir/text", "ir/simt"},
	"codegen/source":       {"ir", "ir/simt"},
	"codegen/cuda":         {"codegen/source", "ir", "ir/device", "ir/diag", "ir/text", "ir/simt"},
	"codegen/go":           {"codegen/source", "ir", "ir/data", "ir/device", "ir/diag", "ir/text", "ir/simt", "runtime/simt"},
	"runtime":              {"runtime/simt"},
	"runtime/simt":         {},
	"runtime/sim":          {"ir", "ir/data", "ir/device", "ir/diag", "ir/text", "ir/simt"},
	"runtime/cuda":         {"codegen/cuda", "codegen/plan", "ir", "ir/data", "ir/device", "ir/diag", "ir/simt"},
	"internal/atomicfile":  {},
	"internal/npy":         {"internal/atomicfile", "ir", "ir/data"},
	"internal/conformance": {"internal/npy", "ir", "ir/data"},
	"internal/mutants":     {"ir", "ir/simt"},
	"internal/randgk":      {"*"},
	"":                     {"*"},
	"cmd/gkc":              {"*"},
	"bench/corpus":         {"*"},
	"bench/cuda":           {"*"},
	"bench/job":            {"codegen/plan", "ir"},
	"bench/peers":          {"*"},
	"internal/golden":      {},
	"internal/test":        {},
}

func TestImportsFollowTheWayOfTheData(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	require.NoError(t, err)
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for dec.More() {
		var p struct {
			ImportPath string
			Imports    []string
		}
		require.NoError(t, dec.Decode(&p))
		folder := strings.TrimPrefix(p.ImportPath+"/", module)
		folder = strings.TrimSuffix(folder, "/")
		if strings.HasPrefix(folder, "examples") {
			continue // examples use what users use
		}
		allowed, known := mayImport[folder]
		if !assert.True(t, known, "%s has no row in the table", folder) {
			continue
		}
		for _, i := range p.Imports {
			other, ours := strings.CutPrefix(i, module)
			if !ours || slices.Contains(allowed, "*") {
				continue
			}
			assert.Contains(t, allowed, other, "%s must not import %s", folder, other)
		}
		checkLibraries(t, folder, p.Imports)
		if folder != "cmd/gkc" && folder != "bench/cuda" {
			assert.NotContains(t, p.Imports, module+"runtime/cuda", "%s must not import a driver, which makes its users' programs dynamic", folder)
		}
	}
}

// checkLibraries keeps libraries where they belong: participle reads, jennifer writes Go, kong parses flags, purego loads drivers.
func checkLibraries(t *testing.T, folder string, imports []string) {
	home := map[string][]string{
		"participle": {"lang", "ir/syntax"},
		"jennifer":   {"codegen/go"},
		"kong":       {"cmd/gkc"},
		"purego":     {"runtime/cuda"},
		"testify":    {"internal/golden"},
	}
	for _, i := range imports {
		for lib, packages := range home {
			if strings.Contains(i, "/"+lib) {
				assert.Contains(t, packages, folder, "%s must not import %s", folder, path.Base(i))
			}
		}
	}
}
