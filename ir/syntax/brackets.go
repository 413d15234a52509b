package syntax

// matchBrackets finds the closing token of every opening bracket, and the opening one of every closing: -1 where there is
// none. A closing bracket ends the innermost open one of its kind; what was opened inside and is still open has no match.
func matchBrackets(tokens []Token) []int32 {
	match := make([]int32, len(tokens))
	var stack []int32
	var open [3]int // how many of each kind are on the stack
	for i := range tokens {
		match[i] = -1
		if tokens[i].Kind != Symbol || len(tokens[i].Text) != 1 {
			continue
		}
		kind, closes := bracket(tokens[i].Text[0])
		switch {
		case kind < 0:
		case !closes:
			stack = append(stack, int32(i))
			open[kind]++
		case open[kind] > 0:
			for {
				top := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				k, _ := bracket(tokens[top].Text[0])
				open[k]--
				if k == kind {
					match[i], match[top] = top, int32(i)
					break
				}
			}
		}
	}
	return match
}

func bracket(c byte) (kind int, closes bool) {
	switch c {
	case '(':
		return 0, false
	case ')':
		return 0, true
	case '[':
		return 1, false
	case ']':
		return 1, true
	case '{':
		return 2, false
	case '}':
		return 2, true
	}
	return -1, false
}

// Match is the index of the bracket that belongs to the bracket at index i; -1 if there is none, or no bracket at i.
func (p *Parser) Match(i int) int {
	if i >= len(p.Tokens) {
		return -1
	}
	return int(p.match[i])
}
