package data

import "github.com/gkc-lang/gkc/ir"

// Signature is what a caller sees of a kernel: names, types, extents and conditions, the same for every level.
type Signature struct {
	Name    string
	Order   []string     // parameter names as the source lists them, scalars among tensors
	Scalars []*ir.Scalar // sizes and scalar parameters
	Params  []Tensor     // tensor parameters
	Results []Tensor
	Where   []ir.Condition
}

// Tensor is a parameter or a result. Its extents are expressions of the signature's scalars.
type Tensor struct {
	Name    string
	Type    ir.Type
	Extents []*ir.Expr
}

// Scalar finds a scalar by name.
func (s *Signature) Scalar(name string) *ir.Scalar {
	for _, x := range s.Scalars {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// Param finds a tensor parameter by name.
func (s *Signature) Param(name string) *Tensor {
	for i := range s.Params {
		if s.Params[i].Name == name {
			return &s.Params[i]
		}
	}
	return nil
}
