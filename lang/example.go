package lang

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
)

// ExampleValues is an example of a kernel: values of sizes and scalar parameters, in the types of those.
type ExampleValues struct {
	Kernel string
	Values map[string]ir.Const
	Pos    diag.Pos
}

// examples checks the examples of the file.
func (c *checker) examples() []*ExampleValues {
	var out []*ExampleValues
	for _, item := range c.file.Items {
		e, ok := item.(*Example)
		if !ok {
			continue
		}
		k := c.kernels[e.Kernel.Text]
		if k == nil {
			if !c.file.Lost[e.Kernel.Text] {
				d := c.fail(e.Kernel.Pos, "name", "example of an unknown kernel %s", e.Kernel.Text)
				(&expander{checker: c}).suggest(d, e.Kernel.Text, c.kernelNames())
			}
			continue
		}
		out = append(out, k.example(e))
	}
	return out
}

func (c *checker) kernelNames() (names []string) {
	for name := range c.kernels {
		names = append(names, name)
	}
	return names
}

func (k *kernel) example(e *Example) *ExampleValues {
	out := &ExampleValues{Kernel: e.Kernel.Text, Values: map[string]ir.Const{}, Pos: e.Kernel.Pos}
	seen := map[string]bool{}
	for i := range e.Values {
		v := &e.Values[i]
		sym := k.names[v.Text]
		switch {
		case seen[v.Text]:
			k.fail(v.Pos, "twice", "%s is given twice", v.Text)
			continue
		case sym != nil && sym.scalar == nil && sym.tensor == nil, sym == nil && k.headless:
			continue
		case sym == nil || sym.scalar == nil:
			d := k.fail(v.Pos, "name", "kernel %s has no size and no scalar parameter %s", e.Kernel.Text, v.Text)
			k.expander().suggest(d, v.Text, k.scalarNames())
			continue
		}
		seen[v.Text] = true
		value := k.scalarValue(v.Text, sym.scalar.Type, v.Expr)
		switch {
		case value == nil:
		case sym.scalar.IsSize && value.Int() < 0:
			k.fail(v.Expr.Pos, "type", "size %s is %s, which is negative", v.Text, show(v.Expr))
		default:
			out.Values[v.Text] = *value
		}
	}
	return out
}

func (k *kernel) scalarNames() (names []string) {
	for name, sym := range k.names {
		if sym.scalar != nil {
			names = append(names, name)
		}
	}
	return names
}
