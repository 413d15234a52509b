package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Knob is a choice to be made.
type Knob struct {
	Name    string
	Values  []int // ascending
	Default int
}

// Space is what may be chosen for a kernel.
type Space struct {
	Knobs []Knob
	// Limit, if set, says which limit of the device a choice of legal values exceeds, and by how much; nil if none.
	Limit func(Choice) error
}

// Default is the choice where nobody says anything.
func (s *Space) Default() Choice {
	out := make(Choice, len(s.Knobs))
	for i, k := range s.Knobs {
		out[i] = Pick{k.Name, k.Default}
	}
	return out
}

// Complete takes the defaults of what is not chosen.
func (s *Space) Complete(c Choice) Choice {
	out := s.Default()
	for _, p := range c {
		out = out.With(p.Knob, p.Value)
	}
	return out
}

// Legal says why a choice cannot be, or nil. Knobs that are not chosen have their defaults.
func (s *Space) Legal(c Choice) error {
	for _, p := range c {
		i := slices.IndexFunc(s.Knobs, func(k Knob) bool { return k.Name == p.Knob })
		if i < 0 {
			return fmt.Errorf("there is no knob %s; there are %v", p.Knob, s.names())
		}
		if !slices.Contains(s.Knobs[i].Values, p.Value) {
			return fmt.Errorf("%s is %d; it can be one of %v", p.Knob, p.Value, s.Knobs[i].Values)
		}
	}
	if s.Limit == nil {
		return nil
	}
	return s.Limit(s.Complete(c))
}

func (s *Space) names() []string {
	out := make([]string, len(s.Knobs))
	for i, k := range s.Knobs {
		out[i] = k.Name
	}
	return out
}

// attempts bounds the draws of Random.
const attempts = 200

// Random draws a legal choice; the same one for the same seed. It is the default where no draw was legal.
func (s *Space) Random(seed uint64) Choice {
	r := rand.New(rand.NewPCG(seed, 1))
	for range attempts {
		c := make(Choice, len(s.Knobs))
		for i, k := range s.Knobs {
			c[i] = Pick{k.Name, k.Values[r.IntN(len(k.Values))]}
		}
		if s.Legal(c) == nil {
			return c
		}
	}
	return s.Default()
}
