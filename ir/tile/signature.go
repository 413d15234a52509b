package tile

import "github.com/gkc-lang/gkc/ir/data"

// Signature is what a caller sees of the module.
func (m *Module) Signature() *data.Signature {
	sig := &data.Signature{Name: m.Name, Order: m.Order, Scalars: m.Scalars}
	for _, a := range m.Arrays {
		t := data.Tensor{Name: a.As, Type: a.Type, Extents: a.Extents}
		if t.Name == "" {
			t.Name = a.Name
		}
		switch a.Role {
		case Param:
			sig.Params = append(sig.Params, t)
		case Result:
			sig.Results = append(sig.Results, t)
		}
	}
	for _, w := range m.Where {
		sig.Where = append(sig.Where, data.Condition{Expr: w.Expr, Text: w.Text})
	}
	return sig
}
