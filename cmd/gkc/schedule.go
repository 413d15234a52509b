package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gkc-lang/gkc/ir/schedule"
	"github.com/gkc-lang/gkc/passes"
)

// force gives a unit what --schedule says: picks of knobs, K=V,…, or random:SEED. What no kernel
// obeys is for unforced to find, once there are kernels.
func force(u *passes.Unit, text string) error {
	if text == "" {
		return nil
	}
	if seed, random := strings.CutPrefix(text, "random:"); random {
		n, err := strconv.ParseUint(seed, 0, 64)
		if err != nil {
			return usage("--schedule %s: expected random:SEED with a number", text)
		}
		u.Draw = &n
		return nil
	}
	choice, err := schedule.Parse(strings.ReplaceAll(text, "=", " "))
	if err != nil {
		return usage("--schedule %s: %v", text, err)
	}
	u.Sched = choice
	return nil
}

// unforced refuses picks of knobs that no device kernel of some units has: they would change nothing.
func unforced(units ...*passes.Unit) error {
	var asked schedule.Choice
	found := map[string]bool{}
	for _, u := range units {
		if u.Level == passes.Tensor {
			continue // nothing is chosen yet
		}
		asked = u.Sched
		for _, chosen := range scheduled(u) {
			for _, p := range chosen {
				found[p.Knob] = true
			}
		}
	}
	for _, p := range asked {
		if !found[p.Knob] {
			return callError("--schedule %s=%d: no device kernel has that choice; gkc explain lists those that there are", p.Knob, p.Value)
		}
	}
	return nil
}

// scheduled are the choices of each device kernel that has some.
func scheduled(u *passes.Unit) map[string]schedule.Choice {
	out := map[string]schedule.Choice{}
	if u.Tile != nil {
		for _, k := range u.Tile.Kernels {
			if len(k.Sched) > 0 {
				out[k.Name] = k.Sched
			}
		}
	}
	return out
}

// picks is a choice as a JSON object in the order in which it was made; nothing where nothing was chosen.
func picks(c schedule.Choice) json.RawMessage {
	if len(c) == 0 {
		return nil
	}
	parts := make([]string, len(c))
	for i, p := range c {
		parts[i] = fmt.Sprintf("%q:%d", p.Knob, p.Value) // names of knobs are plain letters
	}
	return json.RawMessage("{" + strings.Join(parts, ",") + "}")
}

// jsonKnob is a choice that can be made for a kernel.
type jsonKnob struct {
	Name    string `json:"name"`
	Value   int    `json:"value"`
	Default int    `json:"default"`
	Legal   []int  `json:"legal"` // with the other knobs as they are
}

// knobs are the choices that can be made for the device kernel of a name.
func knobs(u *passes.Unit, kernel string) []jsonKnob {
	out := []jsonKnob{}
	if u.Tile == nil {
		return out
	}
	for _, k := range u.Tile.Kernels {
		if k.Name != kernel {
			continue
		}
		space := passes.Space(k, u.Device)
		if space == nil {
			continue
		}
		for _, knob := range space.Knobs {
			j := jsonKnob{Name: knob.Name, Value: k.Sched.Of(knob.Name, knob.Default), Default: knob.Default, Legal: []int{}}
			for _, v := range knob.Values {
				if space.Legal(k.Sched.With(knob.Name, v)) == nil {
					j.Legal = append(j.Legal, v)
				}
			}
			out = append(out, j)
		}
	}
	return out
}
