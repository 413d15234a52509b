package cuda

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// verbs says how the rows of simt.Verbs are written: $bar is the barrier, $rank the block that it is in, $n the number of threads
// of a named one, $0 the operand.
var verbs = map[string]string{
	"sync cta":           "__syncthreads()",
	"sync warp":          "__syncwarp()",
	"sync named":         "named_sync($bar, $n)",
	"arrive named":       "named_arrive($bar, $n)",
	"arrive cluster":     "cluster_arrive()",
	"wait cluster":       "cluster_wait()",
	"init mbar":          "mbar_init($bar, $0)",
	"arrive mbar":        "mbar_arrive($bar)",
	"arrive mbar peer":   "mbar_arrive_peer($bar, $rank)",
	"expect mbar":        "mbar_expect($bar, $0)",
	"expect mbar peer":   "mbar_expect_peer($bar, $rank, $0)",
	"wait mbar":          "mbar_wait($bar, $0)",
	"commit queue":       "$queue_commit()",
	"wait queue":         "$queue_wait<$0>()",
	"waitread queue":     "$queue_waitread<$0>()",
	"fence async":        "fence_async()",
	"fence async.global": "fence_async_global()",
	"fence init":         "fence_init()",
	"fence wgmma":        "fence_wgmma()",
	"fence cta":          "__threadfence_block()",
	"fence gpu":          "__threadfence()",
	"wait grid":          "grid_wait()",
	"release grid":       "grid_release()",
	"sleep none":         "__nanosleep($0)",
}

func (p *printer) sync(s *simt.Sync) {
	key := s.Verb.Name + " " + s.Verb.On
	args := append(s.Args[:len(s.Args):len(s.Args)], s.On.At, s.On.Rank)
	text := p.values(args...)
	at, rank := text[len(s.Args)], text[len(s.Args)+1]
	if s.On.Rank != nil {
		key += " peer"
	}
	template, ok := verbs[key]
	if !ok {
		cannot(s.Pos, "no way to say %s", key)
	}
	with := []string{"$queue", s.On.Builtin, "$rank", rank}
	if s.On.Bar != nil {
		with = append(with, "$bar", p.barrier(s.On.Bar, at), "$n", fmt.Sprint(s.On.Bar.Count))
	}
	if len(s.Args) > 0 {
		with = append(with, "$0", text[0])
	}
	p.line("%s;", strings.NewReplacer(with...).Replace(template))
}

// barrier is the id of a named barrier, or the address of an mbarrier.
func (p *printer) barrier(b *simt.Bar, at string) string {
	if b.Named {
		if at == "" {
			return fmt.Sprint(b.First)
		}
		return fmt.Sprintf("%d + %s", b.First, paren(at))
	}
	if at == "" {
		return fmt.Sprintf("shared_base + %d", b.First)
	}
	return fmt.Sprintf("shared_base + %d + 8 * %s", b.First, paren(at))
}

func paren(s string) string {
	if strings.ContainsAny(s, " ") {
		return "(" + s + ")"
	}
	return s
}

// roles prints the arms as branches on the warp. Inside an arm the builtins count its own warps: in groups of By, and within them.
func (p *printer) roles(s *simt.Roles) {
	first := p.names.New("role_warp")
	p.line("const i32 %s = __shfl_sync(0xffffffffu, (i32)(threadIdx.x >> 5), 0);", first)
	for i, a := range s.Arms {
		head := fmt.Sprintf("if (%s >= %d && %s < %d)", first, a.First, first, a.First+a.Warps)
		if i > 0 {
			head = "else " + head
		}
		p.block(head, func() { p.armBody(a, first) })
	}
}

func (p *printer) armBody(a *simt.Arm, warp string) {
	if a.Name != "" {
		p.line("// %s", strings.ReplaceAll(a.Name, "\n", " "))
	}
	if a.Regs > 0 {
		way := "up"
		if a.Regs <= p.registersAtEntry() {
			way = "down"
		}
		p.line("registers_%s<%d>();", way, a.Regs)
	}
	by := a.By
	if by == 0 {
		by = a.Warps
	}
	used := usedIn(a.Body)
	if used[simt.Warp] {
		p.line("const i32 %s = (%s - %d) %% %d;", p.ref(simt.Warp), warp, a.First, by)
	}
	if used[simt.Group] {
		p.line("const i32 %s = (%s - %d) / %d;", p.ref(simt.Group), warp, a.First, by)
	}
	p.stmts(a.Body)
}

// registersAtEntry is what a thread has before the roles exchange registers: its share of the multiprocessor's, in steps of 8.
func (p *printer) registersAtEntry() int {
	blocks := max(1, p.k.Launch.PerSM)
	return min(255, 65536/(p.k.Launch.Threads*blocks)/8*8)
}

func (p *printer) matrixLoad(s *simt.Load) {
	place, bytes := apart(s.From)
	text := p.values(place, s.To.From)
	at, first := text[0], text[1]
	name := "ldmatrix"
	if s.Form == simt.MatrixTrans {
		name = "ldmatrix_trans"
	}
	slots := make([]string, s.To.Len)
	for i := range slots {
		slots[i] = p.slot(s.To, first, i)
	}
	words := slots
	numbers := s.To.Reg.Type == ir.F32 // blocks move words of bits
	if numbers {
		words = make([]string, s.To.Len)
		for i := range words {
			words[i] = p.names.New("w")
		}
		p.line("u32 %s;", strings.Join(words, ", "))
	}
	p.line("%s%s(%s);", name, bytes, strings.Join(append([]string{fmt.Sprintf("shared_address(%s)", p.pointer(s.From, at))}, words...), ", "))
	for i, w := range words {
		if numbers {
			p.line("%s = f32_of_bits(%s);", slots[i], w)
		}
	}
}

func (p *printer) matrixStore(s *simt.Store, at string, values []string) {
	name := "stmatrix"
	if s.Form == simt.MatrixTrans {
		name = "stmatrix_trans"
	}
	args := []string{fmt.Sprintf("shared_address(%s)", p.pointer(s.To, at))}
	for _, x := range values {
		if s.From[0].Type == ir.F32 {
			x = fmt.Sprintf("bits_f32(%s)", x)
		}
		args = append(args, x)
	}
	p.line("%s(%s);", name, strings.Join(args, ", "))
}
