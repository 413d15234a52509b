package data

import (
	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/text"
)

func extentText(e *ir.Expr) string { return text.String(e) }
