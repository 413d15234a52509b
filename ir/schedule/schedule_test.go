package schedule

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	c, err := Parse(" m 128,n 64, warps.m 2 ")
	require.NoError(t, err)
	require.Equal(t, Choice{{"m", 128}, {"n", 64}, {"warps.m", 2}}, c)
	require.Equal(t, "m 128, n 64, warps.m 2", c.String())
	require.NoError(t, c.Verify())
	again, err := Parse(c.String())
	require.NoError(t, err)
	require.Equal(t, c, again)
	require.Equal(t, 64, c.Of("n", 1))
	require.Equal(t, 1, c.Of("k", 1))
	require.Equal(t, "m 8, n 64, warps.m 2, k 16", c.With("m", 8).With("k", 16).String())
	require.Equal(t, 128, c.Of("m", 0), "With copies")

	empty, err := Parse("")
	require.NoError(t, err)
	require.Empty(t, empty)
}

func TestParseMistakes(t *testing.T) {
	for src, want := range map[string]string{
		"m":            "expected a knob and its value",
		"m 1 2":        "expected a knob and its value",
		"m 8,":         "expected a knob and its value",
		"m x":          `the value of m is "x"`,
		"m -1":         `the value of m is "-1"`,
		"m 9999999999": `the value of m is "9999999999"`,
		"m 1, m 2":     "m is chosen twice",
		"warps. 2":     `"warps." is no name`,
		"2m 2":         `"2m" is no name`,
	} {
		_, err := Parse(src)
		require.ErrorContains(t, err, want, src)
	}
	require.ErrorContains(t, Choice{{"m", -1}}.Verify(), "negative")
	require.ErrorContains(t, Choice{{"m", 1}, {"m", 1}}.Verify(), "twice")
	require.ErrorContains(t, Choice{{"M M", 1}}.Verify(), "no name")
}

func space() *Space {
	return &Space{
		Knobs: []Knob{{"m", []int{8, 16, 32}, 16}, {"stages", []int{1, 2, 4}, 1}},
		Limit: func(c Choice) error {
			if need := c.Of("m", 0) * c.Of("stages", 0); need > 64 {
				return fmt.Errorf("stages %d needs %d; there are 64", c.Of("stages", 0), need)
			}
			return nil
		},
	}
}

func TestSpace(t *testing.T) {
	s := space()
	require.Equal(t, "m 16, stages 1", s.Default().String())
	require.Equal(t, "m 16, stages 4", s.Complete(Choice{{"stages", 4}}).String())
	require.NoError(t, s.Legal(Choice{{"stages", 4}}))
	require.ErrorContains(t, s.Legal(Choice{{"k", 4}}), "there is no knob k; there are [m stages]")
	require.ErrorContains(t, s.Legal(Choice{{"m", 12}}), "m is 12; it can be one of [8 16 32]")
	require.ErrorContains(t, s.Legal(Choice{{"m", 32}, {"stages", 4}}), "stages 4 needs 128; there are 64")
}

func TestRandomIsLegalAndReachesEverything(t *testing.T) {
	s, seen := space(), map[string]bool{}
	for seed := range uint64(200) {
		c := s.Random(seed)
		require.NoError(t, s.Legal(c))
		require.Equal(t, c, s.Random(seed))
		seen[c.String()] = true
	}
	require.Len(t, seen, 8)
	s.Limit = func(Choice) error { return fmt.Errorf("nothing fits") }
	require.Equal(t, s.Default(), s.Random(1))
}
