package conformance

import (
	"archive/zip"
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/internal/npy"
	"github.com/gkc-lang/gkc/ir/data"
)

// readArchive reads all arrays of a .npz file.
func readArchive(path string) (map[string]*data.Array, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer z.Close()
	out := map[string]*data.Array{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		a, err := npy.Read(r)
		r.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, f.Name, err)
		}
		out[strings.TrimSuffix(f.Name, ".npy")] = a
	}
	return out, nil
}
