package torch

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/codegen/source"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// launches prints the function that makes the results of a module and launches its kernels, one after another.
type launches struct {
	*printer
	m     *simt.Module
	plan  *plan.Plan
	names *source.Names
}

func newLaunches(p *printer, c Code) *launches {
	return &launches{p, c.Module, c.Plan, source.NewNames(reserved...)}
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
	failing := failures(l.plan)
	if failing {
		l.line("    c.records = c.empty(\"\", \"u8\", (%d,), zero=True)", record*len(l.plan.Launches))
	}
	for i, k := range l.m.Kernels {
		l.launch(i, k, program)
	}
	if failing {
		l.line("    c.check(%s, %s)", tuple(l.checked()), tuple(l.sites()))
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
func (l *launches) launch(number int, k *simt.Kernel, program string) {
	if len(k.Maps) > 0 || k.Launch.Cluster > 1 {
		cannot(ir.True.Pos, "kernel %s uses tensor maps or clusters, which the launcher does not encode", k.Name)
	}
	planned := &l.plan.Launches[number]
	names := l.names.Inner()
	values := map[string]string{} // as arguments, by their names in the plan
	for i, v := range k.Params {
		value := host(l.printer, "    ", names, v.Expr)[0]
		id := names.Of(v, v.Name)
		l.line("    %s = %s", id, value)
		values[planned.Values[i].Name] = fmt.Sprintf("_value(%s, %s)", id, quote(v.Type.String()))
	}
	grid := host(l.printer, "    ", names, k.Launch.Grid)[0]
	var args []string
	for _, a := range planned.Args {
		switch {
		case a.Failure:
			args = append(args, "None")
		case a.Value != "":
			args = append(args, values[a.Value])
		default:
			args = append(args, l.array(a.Array))
		}
	}
	l.line("    c.launch(%s, %d, %s, %s, %d, %d, [%s])", program, number, quote(planned.Entry), grid, planned.Threads, planned.Shared, strings.Join(args, ", "))
}

// array is the variable that holds an array.
func (l *launches) array(name string) string {
	for _, a := range l.m.Arrays {
		if a.Name == name {
			return l.names.Of(a, name)
		}
	}
	panic("torch: the plan passes the unknown array " + name)
}

// checked are, for every launch, its kernel and whose elements its checks count.
func (l *launches) checked() (out []string) {
	arrays := map[string]*simt.Array{}
	for _, a := range l.m.Arrays {
		arrays[a.Name] = a
	}
	for _, launch := range l.plan.Launches {
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
