package simt

import (
	"cmp"
	"slices"

	"github.com/gkc-lang/gkc/ir"
)

// memory checks the buffers: what they are bound to, and where shared ones lie.
func (v *verifier) memory() {
	for _, b := range v.k.Global {
		v.take(b.Name)
		v.visible[b] = true
		v.require(b.Space == Global, "buffer %s is listed as global", b.Name)
		if !v.require(b.Array != nil && v.arrays[b.Array], "buffer %s is bound to no array of the module", b.Name) {
			continue
		}
		v.require(holds(b.Type, b.Array.Type), "buffer %s of type %s is bound to %s of type %s", b.Name, b.Type, b.Array.Name, b.Array.Type)
	}
	for _, b := range v.k.Shared {
		v.take(b.Name)
		v.visible[b] = true
		v.sharedBuffer(b)
	}
	v.overlaps()
}

// holds reports whether a value of type word is one element of type elem, or a word of several.
func holds(word, elem ir.Type) bool {
	return word.IsValid() && (word == elem || word.IsPacked() && elem.Pack == 1 && word.Elem == elem.Elem)
}

func (v *verifier) sharedBuffer(b *Buffer) {
	if !v.require(b.Space == Shared && b.Type.IsValid() && b.Len >= 1, "buffer %s is listed as shared, but has no type, no elements or another space", b.Name) {
		return
	}
	align := max(b.Align, b.Type.Bytes())
	v.require(b.At >= 0 && align > 0 && align&(align-1) == 0 && b.At%align == 0, "shared buffer %s at %d is not aligned to %d", b.Name, b.At, align)
	end := int64(b.At) + int64(b.Len)*int64(b.Type.Bytes())
	v.require(end <= int64(v.k.Launch.SharedBytes), "shared buffer %s ends at byte %d of %d", b.Name, end, v.k.Launch.SharedBytes)
	v.require(b.Over == nil || v.visible[b.Over], "shared buffer %s reuses a buffer that is not declared before it", b.Name)
}

const maxShared = 1024

// extent is a piece of shared memory.
type extent struct {
	name     string
	from, to int64
	buf      *Buffer
}

// overlaps: shared buffers and mbarriers lie beside each other, but for those that reuse another's bytes knowingly.
func (v *verifier) overlaps() {
	if !v.require(len(v.k.Shared) <= maxShared, "%d shared buffers, expected at most %d", len(v.k.Shared), maxShared) {
		return
	}
	var all []extent
	for _, b := range v.k.Shared {
		all = append(all, extent{b.Name, int64(b.At), int64(b.At) + int64(b.Len)*int64(b.Type.Bytes()), b})
	}
	for _, b := range v.k.Bars {
		if !b.Named {
			all = append(all, extent{b.Name, int64(b.First), int64(b.First) + 8*int64(b.N), nil})
		}
	}
	slices.SortStableFunc(all, func(a, b extent) int { return cmp.Compare(a.from, b.from) })
	var open []extent
	for _, e := range all {
		open = slices.DeleteFunc(open, func(o extent) bool { return o.to <= e.from })
		for _, o := range open {
			if !v.require(shares(e.buf, o.buf) || shares(o.buf, e.buf), "%s and %s overlap in shared memory", o.name, e.name) {
				return
			}
		}
		open = append(open, e)
	}
}

// shares reports whether a reuses the bytes of b, or of what b reuses.
func shares(a, b *Buffer) bool {
	if a == nil || b == nil {
		return false
	}
	root := func(x *Buffer) *Buffer {
		for range maxNesting { // a ring of aliases has no root
			if x.Over == nil {
				break
			}
			x = x.Over
		}
		return x
	}
	return a.Over != nil && root(a) == root(b)
}

// place checks memory that a statement touches: n bytes from an element on, which must be aligned to align.
func (v *verifier) place(m *Mem, align int, what string) {
	if !v.require(m.Buf != nil && v.visible[m.Buf], "%s: the buffer is none of the kernel", what) {
		return
	}
	v.index(m.At, what+" of "+m.Buf.Name)
	if m.Rank != nil {
		v.require(m.Buf.Space == Shared && v.k.Launch.Cluster > 1, "%s: only shared memory in a cluster has a rank", what)
		v.operand(m.Rank, ir.I32, "the rank")
	}
	v.aligned(m, align, what)
}

// aligned checks that an access begins at a multiple of align bytes.
func (v *verifier) aligned(m *Mem, align int, what string) {
	size := m.Buf.Type.Bytes()
	base := m.Buf.At
	if m.Buf.Space == Global {
		base = 0 // arrays begin at multiples of 256 bytes
	}
	if align <= size {
		return
	}
	elems := 1 << min(v.align.zeros(m.At), 30)
	v.require(base%align == 0 && elems*size%align == 0, "%s of %s: a subscript that is a multiple of %d is needed, and %s is only known to be one of %d",
		what, m.Buf.Name, align/size, show(m.At), elems)
}
