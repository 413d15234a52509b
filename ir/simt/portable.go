package simt

import (
	"strings"

	"github.com/gkc-lang/gkc/ir"
	"github.com/gkc-lang/gkc/ir/diag"
)

// Portable reports why not every back end can run a kernel; nil: they can. Portable are arithmetic, control flow, memory in
// single values and vectors, checks, the barrier of the block, and warp operations.
func Portable(k *Kernel) error {
	if k.Launch.Cluster > 1 || len(k.Maps) > 0 || len(k.Bars) > 0 {
		return diag.Errorf(diag.Pos{}, "ir", "kernel %s is not portable: it has clusters, tensor maps or barriers of its own", k.Name)
	}
	var first Stmt
	Walk(k.Body, func(s Stmt) {
		if first == nil && !portable(s) {
			first = s
		}
	})
	if first == nil {
		return nil
	}
	return diag.Errorf(first.Place(), "ir", "kernel %s is not portable: %s", k.Name, strings.TrimSpace(PrintStmts([]Stmt{first})))
}

func portable(s Stmt) bool {
	for _, e := range Exprs(s) {
		if !portableExpr(e) {
			return false
		}
	}
	switch s := s.(type) {
	case *Let, *Set, *For, *While, *If, *Check:
		return true
	case *Load:
		return s.Form <= Vec && s.From.Rank == nil
	case *Store:
		return s.Form <= Vec && s.To.Rank == nil
	case *Sync:
		return s.Verb.Name == "sync" && (s.On.Builtin == "cta" || s.On.Builtin == "warp")
	}
	return false
}

// portableExpr: packed words, addresses and clocks belong to a device.
func portableExpr(e *ir.Expr) bool {
	ok := true
	ir.Walk(e, func(x *ir.Expr) {
		ok = ok && !x.Type.IsPacked() && x.Op != OpAddr && x.Op.Effect != ir.Clock
	})
	return ok
}
