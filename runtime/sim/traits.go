package sim

import (
	"fmt"

	"github.com/gkc-lang/gkc/ir/device"
	"github.com/gkc-lang/gkc/ir/simt"
)

// traits is what a launch has to know about a kernel before it runs.
type traits struct {
	arrays   map[*simt.Array]usage
	serial   bool     // blocks have to run one after another, so that the result is the same every time
	messages bool     // blocks tell each other that something is ready
	async    bool     // some operation takes effect later than where it stands
	wgmma    bool     // registers can be in flight
	needs    []string // targets, each with the construct that needs it: pairs
}

type usage struct{ read, written bool }

func traitsOf(k *simt.Kernel) traits {
	t := traits{arrays: map[*simt.Array]usage{}}
	t.walk(k.Body)
	return t
}

func (t *traits) require(dev *device.Device) error {
	for i := 0; i < len(t.needs); i += 2 {
		if err := dev.CanRun(t.needs[i]); err != nil {
			return fmt.Errorf("%s: %w", t.needs[i+1], err)
		}
	}
	return nil
}

func (t *traits) need(target, what string) {
	if target != "" {
		t.needs = append(t.needs, target, what)
	}
}

func (t *traits) walk(list []simt.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *simt.For:
			t.walk(s.Body)
		case *simt.While:
			t.walk(s.Pre)
			t.walk(s.Body)
		case *simt.If:
			t.walk(s.Then)
			t.walk(s.Else)
		case *simt.Roles:
			for _, a := range s.Arms {
				t.walk(a.Body)
			}
		case *simt.Load:
			t.touch(s.From.Buf, usage{read: true}, s.Order)
			if s.From.Rank != nil {
				t.need("sm_90", "shared memory of another block")
			}
		case *simt.Store:
			t.touch(s.To.Buf, usage{read: s.Old != nil, written: true}, s.Order)
			t.serial = t.serial || s.Op != nil && s.To.Buf.Space == simt.Global
			if s.To.Rank != nil {
				t.need("sm_90", "shared memory of another block")
			}
		case *simt.Copy:
			t.copies(s)
		case *simt.Mma:
			t.need(s.Atom.Needs, s.Atom.Name)
			t.async = t.async || s.Atom.Async
			t.wgmma = t.wgmma || s.Atom.Async
		case *simt.Sync:
			t.syncs(s)
		}
	}
}

func (t *traits) touch(b *simt.Buffer, u usage, order simt.Order) {
	if b.Space != simt.Global {
		return
	}
	t.note(b.Array, u)
	if order != simt.Plain {
		t.serial, t.messages = true, true
	}
}

func (t *traits) note(a *simt.Array, u usage) {
	old := t.arrays[a]
	t.arrays[a] = usage{old.read || u.read, old.written || u.written}
}

func (t *traits) copies(s *simt.Copy) {
	t.async = true
	t.need(s.Form.Needs, "copy "+s.Form.Name)
	t.end(s.From, usage{read: true})
	t.end(s.To, usage{written: true})
	t.serial = t.serial || s.Op != nil
}

func (t *traits) end(p simt.Place, u usage) {
	switch {
	case p.Map != nil:
		t.note(p.Map.Of, u)
	case p.Mem != nil:
		t.touch(p.Mem.Buf, u, simt.Plain)
	}
}

func (t *traits) syncs(s *simt.Sync) {
	t.need(s.Verb.Needs, s.Verb.Name+" "+s.Verb.On)
	t.async = t.async || s.Verb.On == "queue" || s.Verb.On == "mbar" || s.Verb.On == "async" || s.Verb.On == "wgmma"
	if s.Verb.Name == "fence" && s.Verb.On == "gpu" {
		t.serial, t.messages = true, true
	}
}
