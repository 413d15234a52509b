package autotune

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.tune.json")
	f, err := ReadFile(path)
	require.NoError(t, err)
	require.Empty(t, f.Entries)

	large, small := subject(t, map[string]int64{"M": 64, "N": 32, "K": 32}), subject(t, map[string]int64{"M": 16, "N": 32, "K": 32})
	f.Put(EntryOf(large, []Best{{Of: "y", Schedule: "m 8", Estimate: 1}}))
	f.Put(EntryOf(small, []Best{{Of: "y", Schedule: "m 32"}}))
	f.Put(EntryOf(large, []Best{{Of: "y", Schedule: "m 16, n 8"}, {Of: "z", Schedule: "rows 2"}})) // instead
	require.NoError(t, f.Write(path))
	f, err = ReadFile(path)
	require.NoError(t, err)
	require.Len(t, f.Entries, 2)

	own := f.For("mixed", large.Program, large.Device)
	require.Equal(t, "m 16, n 8", own["y"].String())
	require.Equal(t, "rows 2", own["z"].String())
	require.Equal(t, "m 32", f.For("mixed", small.Program, small.Device)["y"].String())

	require.Nil(t, f.For("other", large.Program, large.Device))
	require.Nil(t, f.For("mixed", subject(t, map[string]int64{"M": 1, "N": 32, "K": 32}).Program, large.Device), "other sizes")
	require.Nil(t, f.For("mixed", subject(t, nil).Program, large.Device), "any sizes")
	f.Entries[0].Program, f.Entries[1].Program = "of before", "of before"
	require.Nil(t, f.For("mixed", large.Program, large.Device), "another program")
	named := *large.Program
	named.Name = "variant"
	require.Equal(t, Fingerprint(large.Program), Fingerprint(&named))
	require.NotEqual(t, Fingerprint(large.Program), Fingerprint(small.Program))

	for text, want := range map[string]string{
		"{":              "unexpected end",
		`{"kernels": 1}`: "cannot unmarshal",
		`{"kernels": [{"kernel": "k", "schedules": [{"of": "y", "schedule": "m x"}]}]}`: `the schedule of y in k: the value of m is "x"`,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := ReadFile(path)
		require.ErrorContains(t, err, want)
	}
}
