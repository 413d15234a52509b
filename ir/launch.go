package ir

import "github.com/gkc-lang/gkc/ir/diag"

// Condition is what a launch must satisfy, with its source text for the message that names both sides.
type Condition struct {
	Expr *Expr // over the launch's scalars
	Text string
	Pos  diag.Pos
}

// Site is one place that can fail as a kernel runs. Checks name it by its number.
type Site struct {
	Kind   string // "index", or what an operation says of its fault, "division by zero"
	Tensor string // of an index
	Dim    int    // of an index, from 0
	Text   string // the expression as it is written
	Pos    diag.Pos
}
