package tensor

import "github.com/gkc-lang/gkc/ir/data"

// Signature is what a caller sees of the program.
func (p *Program) Signature() *data.Signature {
	sig := &data.Signature{Name: p.Name, Order: p.Order, Scalars: p.Scalars, Where: p.Where}
	for _, t := range p.Params {
		sig.Params = append(sig.Params, data.Tensor{Name: t.Name, Type: t.Type, Extents: t.Extents})
	}
	for _, t := range p.Results {
		sig.Results = append(sig.Results, data.Tensor{Name: t.Name, Type: t.Type, Extents: t.Extents})
	}
	return sig
}
