// Package schedule holds the choices that are made for one device kernel: block sizes, warps, stages. It is data only: passes say
// what may be chosen and read what was.
package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Pick is the value of one knob.
type Pick struct {
	Knob  string
	Value int
}

// Choice lists picks, each knob at most once, in the order in which they were made.
type Choice []Pick

// Parse reads "m 128, n 128, warps.m 2".
func Parse(text string) (Choice, error) {
	var c Choice
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		if len(words) != 2 {
			return nil, fmt.Errorf("expected a knob and its value, as in \"m 128\", found %q", strings.TrimSpace(part))
		}
		if !isKnob(words[0]) {
			return nil, fmt.Errorf("%q is no name of a knob", words[0])
		}
		n, err := strconv.ParseInt(words[1], 10, 32)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("the value of %s is %q, not a number from 0 on", words[0], words[1])
		}
		if _, twice := c.Get(words[0]); twice {
			return nil, fmt.Errorf("%s is chosen twice", words[0])
		}
		c = append(c, Pick{words[0], int(n)})
	}
	return c, nil
}

// isKnob reports whether a name can stand in IR text: letters and digits in parts between dots, a letter first.
func isKnob(name string) bool {
	for part := range strings.SplitSeq(name, ".") {
		if part == "" || part[0] < 'a' || part[0] > 'z' {
			return false
		}
		if strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return false
		}
	}
	return true
}

// String is the text that Parse reads.
func (c Choice) String() string {
	parts := make([]string, len(c))
	for i, p := range c {
		parts[i] = p.Knob + " " + strconv.Itoa(p.Value)
	}
	return strings.Join(parts, ", ")
}

// Get is the value of a knob, where one was chosen.
func (c Choice) Get(knob string) (value int, ok bool) {
	i := slices.IndexFunc(c, func(p Pick) bool { return p.Knob == knob })
	if i < 0 {
		return 0, false
	}
	return c[i].Value, true
}

// Of is the value of a knob, or otherwise where none was chosen.
func (c Choice) Of(knob string, otherwise int) int {
	if v, ok := c.Get(knob); ok {
		return v
	}
	return otherwise
}

// With returns the choice with another value of a knob.
func (c Choice) With(knob string, value int) Choice {
	out := slices.Clone(c)
	i := slices.IndexFunc(out, func(p Pick) bool { return p.Knob == knob })
	if i < 0 {
		return append(out, Pick{knob, value})
	}
	out[i].Value = value
	return out
}

// Verify reports a choice that the text form does not have.
func (c Choice) Verify() error {
	for i, p := range c {
		switch {
		case !isKnob(p.Knob):
			return fmt.Errorf("%q is no name of a knob", p.Knob)
		case p.Value < 0:
			return fmt.Errorf("the value of %s is %d, which is negative", p.Knob, p.Value)
		case slices.ContainsFunc(c[:i], func(q Pick) bool { return q.Knob == p.Knob }):
			return fmt.Errorf("%s is chosen twice", p.Knob)
		}
	}
	return nil
}
