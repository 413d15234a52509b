package source

import "strings"

// Text is an expression as it is written in the target language.
type Text struct {
	String string
	Prec   int // how tightly it binds
}

// The precedences that C and Go agree on. Operators on which they do not, bitwise ones, bind loosest: they always stand in
// parentheses.
const (
	precLoose = iota
	precOr
	precAnd
	precCompare
	precAdd
	precMul
	PrecUnary // conversions and signs
	PrecAtom  // names, numbers, calls
)

// Atom is a text that needs no parentheses.
func Atom(s string) Text { return Text{s, PrecAtom} }

// Unary is a text that begins with a conversion or a sign.
func Unary(s string) Text { return Text{s, PrecUnary} }

// Loose is a text that needs parentheses as an operand.
func Loose(s string) Text { return Text{s, precLoose} }

// Paren is the text as the operand of a conversion or a selector.
func (t Text) Paren() string { return t.atLeast(PrecAtom) }

func (t Text) atLeast(prec int) string {
	if t.Prec >= prec {
		return t.String
	}
	return "(" + t.String + ")"
}

var infixPrec = map[string]int{"*": precMul, "/": precMul, "+": precAdd, "-": precAdd, "==": precCompare, "!=": precCompare, "<": precCompare,
	"<=": precCompare, ">": precCompare, ">=": precCompare, "&&": precAnd, "||": precOr}

// Fill replaces $0 $1 … and $* in a template by operands, with parentheses where an operator stands beside them, and other
// $letters by what letters says.
func Fill(template string, operands []Text, letters map[byte]string) Text {
	if template == "$0" {
		return operands[0]
	}
	if middle, infix := strings.CutPrefix(template, "$0 "); infix && strings.HasSuffix(middle, " $1") {
		if prec, known := infixPrec[strings.TrimSuffix(middle, " $1")]; known {
			return fillInfix(middle, prec, operands)
		}
	}
	var b strings.Builder
	for i := 0; i < len(template); i++ {
		if template[i] != '$' {
			b.WriteByte(template[i])
			continue
		}
		i++
		switch c := template[i]; {
		case c == '*':
			for j, o := range operands {
				if j > 0 {
					b.WriteString(", ")
				}
				b.WriteString(o.String)
			}
		case c >= '0' && c <= '9':
			if o := operands[c-'0']; isArgument(template, i) {
				b.WriteString(o.String)
			} else {
				b.WriteString(o.Paren())
			}
		default:
			b.WriteString(letters[c])
		}
	}
	return Text{b.String(), precOf(template)}
}

// fillInfix writes an operation between two operands. It associates to the left; comparisons do not associate.
func fillInfix(middle string, prec int, operands []Text) Text {
	left := prec
	if prec == precCompare {
		left++
	}
	return Text{operands[0].atLeast(left) + " " + strings.TrimSuffix(middle, "$1") + operands[1].atLeast(prec+1), prec}
}

// isArgument tells whether the operand whose digit is at i is a whole argument of a call.
func isArgument(template string, i int) bool {
	before := strings.TrimRight(template[:i-1], " ")
	return before != "" && strings.IndexByte("(,", before[len(before)-1]) >= 0 && i+1 < len(template) && strings.IndexByte("),", template[i+1]) >= 0
}

// precOf is how tightly a template binds that is no plain infix.
func precOf(t string) int {
	switch {
	case isCall(t):
		return PrecAtom
	case (t[0] == '-' || t[0] == '!') && (isCall(t[1:]) || t[1:] == "$0"):
		return PrecUnary
	}
	return precLoose
}

// isCall tells templates that are one call as a whole.
func isCall(t string) bool {
	open := strings.IndexByte(t, '(')
	if open <= 0 || t[len(t)-1] != ')' || strings.ContainsAny(t[:open], " !-~") {
		return false
	}
	depth := 0
	for i := open; i < len(t); i++ {
		switch t[i] {
		case '(':
			depth++
		case ')':
			depth--
			if depth == 0 && i < len(t)-1 {
				return false
			}
		}
	}
	return true
}
