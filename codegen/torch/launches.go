package torch

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/codegen/cuda"
	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/codegen/source"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// launches prints the function that makes the results of a module and launches its kernels, one after another.
type launches struct {
	*printer
	m     *simt.Module
	names *source.Names
}

func newLaunches(p *printer, m *simt.Module) *launches {
	return &launches{p, m, source.NewNames(reserved...)}
}

func (l *launches) function(name, program string) {
	params := []string{"c"}
	for _, a := range l.m.Arrays {
		if a.Role == simt.Param {
			params = append(params, l.names.Of(a, a.Name))
		}
	}
	for _, s := range l.m.Scalars {
		params = append(params, l.names.Of(s, s.Name))
	}
	l.line("")
	l.line("")
	l.line("def %s%s:", name, tuple(params))
	l.line("    here = c.here()")
	l.names.New("here")
	for _, b := range []*simt.Builtin{simt.SMs, simt.L2Bytes} {
		l.names.Set(b, "here."+b.Name)
	}
	for _, a := range l.m.Arrays {
		if a.Role != simt.Param {
			l.line("    %s = c.empty(%s, %s, %s%s)", l.names.Of(a, a.Name), quote(a.CallerName()), quote(a.Type.String()), tuple(l.exprs(a.Extents)), zeroed(a))
		}
	}
	p := plan.Of(l.m)
	failing := failures(p)
	if failing {
		l.line("    c.records = c.empty(\"\", \"u8\", (%d,), zero=True)", record*len(p.Launches))
	}
	for i, k := range l.m.Kernels {
		l.launch(i, k, p.Launches[i].Entry, program)
	}
	if failing {
		l.line("    c.check(%s, %s)", tuple(l.checked(p)), tuple(l.sites()))
	}
	l.results()
}

func zeroed(a *simt.Array) string {
	if a.Zero.String() == "" {
		return ""
	}
	return ", zero=True"
}

// record is the bytes between the records of failed checks, as launch.py has it.
const record = 64

func failures(p *plan.Plan) bool {
	for _, launch := range p.Launches {
		for _, a := range launch.Args {
			if a.Failure {
				return true
			}
		}
	}
	return false
}

// launch prints the launch of a kernel, with a scope of its own for its host values.
func (l *launches) launch(number int, k *simt.Kernel, entry, program string) {
	if len(k.Maps) > 0 || k.Launch.Cluster > 1 {
		cannot(ir.True.Pos, "kernel %s uses tensor maps or clusters, which the launcher does not encode", k.Name)
	}
	names := l.names.Inner()
	for _, v := range k.Params {
		value := host(l.printer, "    ", names, v.Expr)[0]
		l.line("    %s = %s", names.Of(v, v.Name), value)
	}
	grid := host(l.printer, "    ", names, k.Launch.Grid)[0]
	var args []string
	for _, a := range cuda.Arguments(k) {
		switch {
		case a.Scalar != nil:
			args = append(args, fmt.Sprintf("_value(%s, %s)", names.Of(a.Scalar, a.Scalar.Name), quote(a.Scalar.Type.String())))
		case a.Buffer != nil:
			args = append(args, l.names.Of(a.Buffer.Array, a.Buffer.Array.Name))
		default:
			args = append(args, "None")
		}
	}
	l.line("    c.launch(%s, %d, %s, %s, %d, %d, [%s])", program, number, quote(entry), grid, k.Launch.Threads, k.Launch.SharedBytes, strings.Join(args, ", "))
}

// checked are, for every launch, its kernel and whose elements its checks count.
func (l *launches) checked(p *plan.Plan) (out []string) {
	arrays := map[string]*simt.Array{}
	for _, a := range l.m.Arrays {
		arrays[a.Name] = a
	}
	for _, launch := range p.Launches {
		var of []string
		for _, c := range launch.Checks {
			if a := arrays[c.Of]; a != nil {
				of = append(of, fmt.Sprintf("%d: (%s, %s)", c.Code, quote(a.CallerName()), tuple(l.exprs(a.Extents))))
			}
		}
		out = append(out, fmt.Sprintf("(%s, {%s})", quote(launch.Kernel), strings.Join(of, ", ")))
	}
	return out
}

// sites are the places that can fail.
func (l *launches) sites() (out []string) {
	for _, s := range l.m.Sites {
		shape := "None"
		for _, a := range l.m.Arrays {
			if a.CallerName() == s.Tensor && s.Dim < len(a.Extents) {
				shape = tuple(l.exprs(a.Extents))
				break
			}
		}
		out = append(out, tuple([]string{quote(s.Kind), quote(s.Tensor), shape, fmt.Sprint(s.Dim), quote(s.Text), fmt.Sprint(s.Pos.Line), fmt.Sprint(s.Pos.Col)}))
	}
	return out
}

// results gives parameters that the kernel changes their new elements, and returns the others.
func (l *launches) results() {
	var out []string
	for _, a := range l.m.Arrays {
		if a.Role != simt.Result {
			continue
		}
		if in := l.m.Param(a.CallerName()); in != nil {
			l.line("    %s.copy_(%s)", l.names.Of(in, in.Name), l.names.Of(a, a.Name))
			continue
		}
		out = append(out, l.names.Of(a, a.Name))
	}
	switch len(out) {
	case 0:
	case 1:
		l.line("    return %s", out[0])
	default:
		l.line("    return %s", tuple(out))
	}
}

func (l *launches) exprs(list []*ir.Expr) []string { return host(l.printer, "    ", l.names, list...) }
