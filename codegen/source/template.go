package source

import "strings"

// Text is an expression as it is written in the target language.
type Text struct {
	String string
	Atom   bool   // needs no parentheses as an operand
	chain  string // the infix template that it was made by
}

// Atom is a text that needs no parentheses.
func Atom(s string) Text { return Text{String: s, Atom: true} }

// Paren is the text as an operand.
func (t Text) Paren() string {
	if t.Atom {
		return t.String
	}
	return "(" + t.String + ")"
}

// Fill replaces $0 $1 … and $* in a template by operands, with parentheses where an operator stands beside them, and other
// $letters by what letters says.
func Fill(template string, operands []Text, letters map[byte]string) Text {
	if template == "$0" {
		return operands[0]
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
			b.WriteString(operand(template, i, operands[c-'0']))
		default:
			b.WriteString(letters[c])
		}
	}
	out := Text{String: b.String(), Atom: isCall(template)}
	if isInfix(template) {
		out.chain = template
	}
	return out
}

// operand is what stands for the $digit whose digit is at i.
func operand(template string, i int, o Text) string {
	alone := i >= 2 && strings.IndexByte("(,", lastOf(template[:i-1])) >= 0 && i+1 < len(template) && strings.IndexByte("),", template[i+1]) >= 0
	first := i == 1 && o.chain == template && o.chain != "" // a + b + c means (a + b) + c
	if o.Atom || alone || first {
		return o.String
	}
	return "(" + o.String + ")"
}

func lastOf(s string) byte {
	s = strings.TrimRight(s, " ")
	return s[len(s)-1]
}

// isInfix tells templates like $0 + $1, comparisons excepted, which do not chain.
func isInfix(t string) bool {
	return strings.HasPrefix(t, "$0 ") && strings.HasSuffix(t, " $1") && strings.ContainsAny(t, "+-*/&|^") && !strings.ContainsAny(t, "<>=?")
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
