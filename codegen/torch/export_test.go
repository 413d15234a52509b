package torch

import (
	"github.com/gkc-lang/gkc/codegen/source"
	"github.com/gkc-lang/gkc/ir"
)

// Host is an expression of the launch as Python.
func Host(e *ir.Expr) string {
	return (&exprs{names: source.NewNames(), temps: map[*ir.Expr]string{}}).text(e)
}
