package cuda

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

func (p *printer) copy(s *simt.Copy) {
	switch form := s.Form.Name; {
	case strings.HasPrefix(form, "cp."):
		bytes := fmt.Sprint(s.Form.Bytes)
		if s.Bytes != nil {
			bytes = p.values(s.Bytes)[0]
		}
		place, behind := apart(*s.To.Mem)
		to := fmt.Sprintf("shared_address(%s)", p.pointer(*s.To.Mem, p.values(place)[0]))
		p.line("cp_%d%s(%s, %s, %s);", s.Form.Bytes, behind, to, p.globalPlace(s.From), bytes)
	case form == "map.l1":
		p.line("prefetch_map(&%s);", p.mapName(s.From))
	default:
		p.bulk(s)
	}
}

func (p *printer) mapName(at simt.Place) string { return p.names.Of(at.Map, at.Map.Name) }

func (p *printer) sharedPlace(at simt.Place) string {
	return fmt.Sprintf("shared_address(%s)", p.globalPlace(at))
}

func (p *printer) globalPlace(at simt.Place) string {
	return p.pointer(*at.Mem, p.values(at.Mem.At)[0])
}

// operand is one operand of an instruction that the copy engine executes.
type operand struct {
	kind, name, value string // the C type, the parameter's name, the argument
	bind              string // the letter of its register
}

// bulk prints a copy by the copy engine: a call of a helper that is made for its shape, its hints and its destinations.
func (p *printer) bulk(s *simt.Copy) {
	f := bulkForm{form: s.Form, dims: len(s.From.Coords) + len(s.To.Coords), peers: s.Peers != nil, kept: s.Keep != simt.KeepDefault && s.Form.Name != "box.l2"}
	if s.Op != nil {
		f.op = bulkOp(s)
	}
	var to, from, list []operand
	shared := func(at simt.Place, name string) operand {
		address := p.sharedPlace(at)
		if at.Mem.Rank != nil {
			address = fmt.Sprintf("peer_address(%s, %s)", address, p.values(at.Mem.Rank)[0])
		}
		return operand{"u32", name, address, "r"}
	}
	mapped := func(at simt.Place) []operand {
		out := []operand{{"const tensor_map *", "map", "&" + p.mapName(at), "l"}}
		for i, c := range p.values(at.Coords...) {
			out = append(out, operand{"i32", fmt.Sprintf("c%d", i), c, "r"})
		}
		return out
	}
	place := func(end simt.End, at simt.Place, name string) []operand {
		switch end {
		case simt.AtMap:
			return mapped(at)
		case simt.AtGlobal:
			return []operand{{"const void *", name, p.globalPlace(at), "l"}}
		case simt.AtShared, simt.AtPeer:
			return []operand{shared(at, name)}
		}
		return nil
	}
	to, from = place(s.Form.To, s.To, "to"), place(s.Form.From, s.From, "from")
	list = append(append(list, to...), from...)
	if s.Bytes != nil {
		list = append(list, operand{"u32", "bytes", p.values(s.Bytes)[0], "r"})
	}
	if s.Done != nil {
		list = append(list, operand{"u32", "bar", p.doneBar(s.Done), "r"})
	}
	if s.Peers != nil {
		list = append(list, operand{"u16", "peers", fmt.Sprintf("(u16)%s", paren(p.values(s.Peers)[0])), "h"})
	}
	if f.kept {
		list = append(list, operand{"u64", "policy", map[simt.Keep]string{simt.KeepFirst: "EVICT_FIRST", simt.KeepLast: "EVICT_LAST", simt.KeepStream: "EVICT_NORMAL"}[s.Keep], "l"})
	}
	name := f.name()
	p.helpers[name] = f.text(name, list)
	args := make([]string, len(list))
	for i, o := range list {
		args[i] = o.value
	}
	p.line("%s(%s);", name, strings.Join(args, ", "))
}

func (p *printer) doneBar(b *simt.BarRef) string {
	text := p.values(b.At, b.Rank)
	bar := p.barrier(b.Bar, text[0])
	if b.Rank != nil {
		return fmt.Sprintf("peer_address(%s, %s)", bar, text[1])
	}
	return bar
}

// bulkOp is how the copy engine calls what it combines with.
func bulkOp(s *simt.Copy) string {
	var t ir.Type
	if s.From.Mem != nil {
		t = s.From.Mem.Buf.Type
	}
	name := map[*ir.Monoid]string{ir.Sum: "add", ir.Min_: "min", ir.Max_: "max", ir.Any: "or", ir.All: "and"}[s.Op]
	if name == "" {
		cannot(s.Pos, "no way to combine by %s in a copy", s.Op.Name)
	}
	if s.Form.To == simt.AtMap {
		return name // the map says the type
	}
	ptx := map[ir.Type]string{ir.F32: "f32", ir.F64: "f64", ir.F16: "noftz.f16", ir.BF16: "noftz.bf16", ir.I32: "s32", ir.U32: "u32", ir.I64: "s64", ir.U64: "u64"}[t]
	if ptx == "" || name == "add" && t == ir.I64 {
		ptx = map[ir.Type]string{ir.I64: "u64"}[t]
	}
	if ptx == "" || t == ir.F32 && name != "add" {
		cannot(s.Pos, "no way to combine %s by %s in a copy", t, s.Op.Name)
	}
	return name + "." + ptx
}

// bulkForm is one instruction of the copy engine.
type bulkForm struct {
	form        *simt.CopyForm
	dims        int // of a box
	peers, kept bool
	op          string
}

// name is that of the helper.
func (f bulkForm) name() string {
	out := strings.ReplaceAll(f.form.Name, ".", "_")
	if f.dims > 0 {
		out += fmt.Sprintf("_%dd", f.dims)
	}
	if f.op != "" {
		out += "_" + strings.ReplaceAll(f.op, ".", "_")
	}
	if f.peers {
		out += "_peers"
	}
	if f.kept {
		out += "_kept"
	}
	return out
}

// instruction is its name in PTX.
func (f bulkForm) instruction() string {
	dim := fmt.Sprintf("%dd", f.dims)
	var out string
	switch f.form.Name {
	case "bulk.in":
		out = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
	case "bulk.peer":
		out = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
	case "bulk.out":
		out = "cp.async.bulk.global.shared::cta.bulk_group"
		if f.op != "" {
			out = "cp.reduce.async.bulk.global.shared::cta.bulk_group"
		}
	case "box.in":
		out = "cp.async.bulk.tensor." + dim + ".shared::cluster.global.tile.mbarrier::complete_tx::bytes"
	case "box.out":
		out = "cp.async.bulk.tensor." + dim + ".global.shared::cta.tile.bulk_group"
		if f.op != "" {
			out = "cp.reduce.async.bulk.tensor." + dim + ".global.shared::cta." + f.op + ".tile.bulk_group"
		}
	case "box.l2":
		out = "cp.async.bulk.prefetch.tensor." + dim + ".L2.global.tile"
	}
	if f.peers {
		out += ".multicast::cluster"
	}
	if f.kept {
		out += ".L2::cache_hint"
	}
	if f.op != "" && f.form.Name == "bulk.out" {
		out += "." + f.op
	}
	return out
}

// text is the helper.
func (f bulkForm) text(name string, list []operand) string {
	var params, binds, places []string
	for i := 0; i < len(list); i++ {
		o := list[i]
		params = append(params, strings.TrimSuffix(o.kind, " ")+" "+o.name)
		binds = append(binds, fmt.Sprintf("%q(%s)", o.bind, o.name))
		switch {
		case o.name == "map": // its coordinates follow
			coords := make([]string, f.dims)
			for j := range coords {
				coords[j] = fmt.Sprintf("%%%d", i+1+j)
			}
			places = append(places, fmt.Sprintf("[%%%d, {%s}]", i, strings.Join(coords, ", ")))
		case strings.HasPrefix(o.name, "c") && len(o.name) == 2:
		case o.name == "to" || o.name == "from" || o.name == "bar":
			places = append(places, fmt.Sprintf("[%%%d]", i))
		default:
			places = append(places, fmt.Sprintf("%%%d", i))
		}
	}
	return fmt.Sprintf("DEV void %s(%s) {\n  asm volatile(\"%s %s;\" ::%s : \"memory\");\n}",
		name, strings.Join(params, ", "), f.instruction(), strings.Join(places, ", "), strings.Join(binds, ", "))
}
