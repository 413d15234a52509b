package torch

import (
	"fmt"
	"strings"

	"github.com/gkc-lang/gkc/codegen/plan"
	"github.com/gkc-lang/gkc/codegen/source"
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/simt"
)

// launches prints two functions of a module: one computes what the host computes for a set of sizes, which calls share; the other
// makes the results and launches the kernels, one after another.
type launches struct {
	*printer
	m    *simt.Module
	plan *plan.Plan
}

func newLaunches(p *printer, c Code) *launches { return &launches{p, c.Module, c.Plan} }

func (l *launches) functions(name, program string) {
	numbers := name + "_numbers"
	l.numbers(numbers)
	l.run(name, numbers, program)
}

// made are the arrays that the launcher makes.
func (l *launches) made() (out []*simt.Array) {
	for _, a := range l.m.Arrays {
		if a.Role != simt.Param {
			out = append(out, a)
		}
	}
	return out
}

// numbers prints the function of the sizes: extents of what is made, grid and values of every launch, and what explains checks.
func (l *launches) numbers(name string) {
	names := source.NewNames(append(reserved, "here")...)
	for _, b := range []*simt.Builtin{simt.SMs, simt.L2Bytes} {
		names.Set(b, "here."+b.Name)
	}
	l.line("")
	l.line("")
	l.line("def %s(%s):", name, strings.Join(append([]string{"here"}, l.scalars(names)...), ", "))
	var extents, grids []string
	for _, a := range l.made() {
		extents = append(extents, tuple(l.exprs(names, a.Extents)))
	}
	for i, k := range l.m.Kernels {
		result := names.New("launch")
		l.launch(result, names.Inner(), k, &l.plan.Launches[i])
		grids = append(grids, result)
	}
	l.line("    return (")
	l.line("        %s,", tuple(extents))
	l.line("        %s,", tuple(grids))
	l.line("        %s,", tuple(l.checked(names)))
	l.line("        %s,", tuple(l.sites(names)))
	l.line("    )")
}

func (l *launches) scalars(names *source.Names) (out []string) {
	for _, s := range l.m.Scalars {
		out = append(out, names.Of(s, s.Name))
	}
	return out
}

// launch prints what the host computes for a launch, in a scope of its own: the result is the grid and the values that are passed.
func (l *launches) launch(result string, names *source.Names, k *simt.Kernel, planned *plan.Launch) {
	if len(k.Maps) > 0 || k.Launch.Cluster > 1 {
		cannot(ir.True.Pos, "kernel %s uses tensor maps or clusters, which the launcher does not encode", k.Name)
	}
	values := map[string]string{} // as arguments, by their names in the plan
	for i, v := range k.Params {
		value := host(l.printer, "    ", names, v.Expr)[0]
		id := names.Of(v, v.Name)
		l.line("    %s = %s", id, value)
		values[planned.Values[i].Name] = fmt.Sprintf("_value(%s, %s)", id, quote(v.Type.String()))
	}
	grid := host(l.printer, "    ", names, k.Launch.Grid)[0]
	var passed []string
	for _, a := range planned.Args {
		if a.Value != "" {
			passed = append(passed, values[a.Value])
		}
	}
	l.line("    %s = (%s, %s)", result, grid, tuple(passed))
}

// run prints the function that launches.
func (l *launches) run(name, numbers, program string) {
	names := source.NewNames(append(reserved, "extents", "launches", "checked", "sites")...)
	params := []string{"c"}
	for _, a := range l.m.Arrays {
		if a.Role == simt.Param {
			params = append(params, names.Of(a, a.Name))
		}
	}
	scalars := l.scalars(names)
	l.line("")
	l.line("")
	l.line("def %s%s:", name, tuple(append(params, scalars...)))
	l.line("    extents, launches, checked, sites = c.numbers(%s, %s)", numbers, tuple(scalars))
	for i, a := range l.made() {
		l.line("    %s = c.empty(%s, %s, extents[%d]%s)", names.Of(a, a.Name), quote(a.CallerName()), quote(a.Type.String()), i, zeroed(a))
	}
	failing := l.failing()
	if failing {
		l.line("    c.records = c.empty(\"\", \"u8\", (%d,), zero=True)", record*len(l.plan.Launches))
	}
	for i := range l.plan.Launches {
		p := &l.plan.Launches[i]
		l.line("    c.launch(%s, %d, %s, launches[%d], %d, %d, [%s])", program, i, quote(p.Entry), i, p.Threads, p.Shared, strings.Join(l.arguments(names, p), ", "))
	}
	if failing {
		l.line("    c.check(checked, sites)")
	}
	l.results(names)
}

// arguments are the arguments of a launch behind its values, which come first.
func (l *launches) arguments(names *source.Names, p *plan.Launch) (out []string) {
	for _, a := range p.Args {
		switch {
		case a.Failure:
			out = append(out, "None")
		case a.Array != "":
			out = append(out, l.array(names, a.Array))
		case len(out) > 0:
			panic("torch: a value behind the arrays of kernel " + p.Kernel)
		}
	}
	return out
}

// array is the variable that holds an array.
func (l *launches) array(names *source.Names, name string) string {
	for _, a := range l.m.Arrays {
		if a.Name == name {
			return names.Of(a, name)
		}
	}
	panic("torch: the plan passes the unknown array " + name)
}

func zeroed(a *simt.Array) string {
	if a.Zero == simt.ZeroNever {
		return ""
	}
	return ", zero=True"
}

// record is the bytes between the records of failed checks, as launch.py has it.
const record = 64

// failing reports whether a launch checks anything.
func (l *launches) failing() bool {
	for _, launch := range l.plan.Launches {
		for _, a := range launch.Args {
			if a.Failure {
				return true
			}
		}
	}
	return false
}

// checked are, for every launch, its kernel and whose elements its checks count.
func (l *launches) checked(names *source.Names) (out []string) {
	if !l.failing() {
		return nil
	}
	arrays := map[string]*simt.Array{}
	for _, a := range l.m.Arrays {
		arrays[a.Name] = a
	}
	for _, launch := range l.plan.Launches {
		var of []string
		for _, c := range launch.Checks {
			if a := arrays[c.Of]; a != nil {
				of = append(of, fmt.Sprintf("%d: (%s, %s)", c.Code, quote(a.CallerName()), tuple(l.exprs(names, a.Extents))))
			}
		}
		out = append(out, fmt.Sprintf("(%s, {%s})", quote(launch.Kernel), strings.Join(of, ", ")))
	}
	return out
}

// sites are the places that can fail.
func (l *launches) sites(names *source.Names) (out []string) {
	if !l.failing() {
		return nil
	}
	for _, s := range l.m.Sites {
		shape := "None"
		for _, a := range l.m.Arrays {
			if a.CallerName() == s.Tensor && s.Dim < len(a.Extents) {
				shape = tuple(l.exprs(names, a.Extents))
				break
			}
		}
		out = append(out, tuple([]string{quote(s.Kind), quote(s.Tensor), shape, fmt.Sprint(s.Dim), quote(s.Text), fmt.Sprint(s.Pos.Line), fmt.Sprint(s.Pos.Col)}))
	}
	return out
}

// results gives parameters that the kernel changes their new elements, and returns the others.
func (l *launches) results(names *source.Names) {
	var out []string
	for _, a := range l.m.Arrays {
		if a.Role != simt.Result {
			continue
		}
		if in := l.m.Param(a.CallerName()); in != nil {
			l.line("    %s.copy_(%s)", names.Of(in, in.Name), names.Of(a, a.Name))
			continue
		}
		out = append(out, names.Of(a, a.Name))
	}
	switch len(out) {
	case 0:
	case 1:
		l.line("    return %s", out[0])
	default:
		l.line("    return %s", tuple(out))
	}
}

func (l *launches) exprs(names *source.Names, list []*ir.Expr) []string {
	return host(l.printer, "    ", names, list...)
}
