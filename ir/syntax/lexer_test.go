package syntax

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir/diag"
)

var kindNames = map[Kind]string{End: "end", NameTok: "name", Keyword: "keyword", IntTok: "int", FloatTok: "float", Symbol: "symbol", StringTok: "string", Bad: "bad"}

// spell writes tokens as kind:text, a leading | where a line begins.
func spell(tokens []Token) string {
	var out []string
	for _, t := range tokens[:len(tokens)-1] {
		s := kindNames[t.Kind] + ":" + t.Text
		if t.Kind == Symbol {
			s = t.Text
		}
		if t.First {
			s = "|" + s
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestLex(t *testing.T) {
	for _, c := range []struct {
		mode      Mode
		src, want string
	}{
		{Gk, "", ""},
		{Gk, "  \t\r\n\f\v", ""},
		{Gk, "a b1 _c d_2", "|name:a name:b1 name:_c name:d_2"},
		{Gk, "größe 名前 x١", "|name:größe name:名前 name:x١"},
		{Gk, "const func kernel example return", "|keyword:const keyword:func keyword:kernel keyword:example keyword:return"},
		{IR, "const func kernel example return", "|name:const name:func name:kernel name:example name:return"},
		{Gk, "where for in if else from true false inf nan pi", "|keyword:where keyword:for keyword:in keyword:if keyword:else keyword:from keyword:true keyword:false keyword:inf keyword:nan keyword:pi"},
		{Gk, "forx Pi INF max reverse", "|name:forx name:Pi name:INF name:max name:reverse"},
		{Gk, "0 12 0x1F 0Xab_c 1_000", "|int:0 int:12 int:0x1F int:0Xab_c int:1_000"},
		{Gk, "1.5 1e5 1e-5 2E+3 1.5e3 1_0.2_5", "|float:1.5 float:1e5 float:1e-5 float:2E+3 float:1.5e3 float:1_0.2_5"},
		{Gk, "0..4 1 ..n", "|int:0 .. int:4 int:1 .. name:n"},
		{Gk, "a->b..c**d&&e||f==g!=h<=i>=j+=k", "|name:a -> name:b .. name:c ** name:d && name:e || name:f == name:g != name:h <= name:i >= name:j += name:k"},
		{Gk, "-+*/%<> =!(){}[],;:@", "|- + * / % < > = ! ( ) { } [ ] , ; : @"},
		{Gk, "a<-b", "|name:a < - name:b"},
		{IR, "a<-b<<c>>d&e|f^~g", "|name:a <- name:b << name:c >> name:d & name:e | name:f ^ ~ name:g"},
		{IR, "widen.f32 a' x.0 y.", "|name:widen.f32 name:a' name:x.0 name:y bad:."},
		{IR, `"a \"b\" c" x`, `|string:"a \"b\" c" name:x`},
		{Gk, "a // b c\nd /* e\nf */ g /* */ h", "|name:a |name:d |name:g name:h"},
		{Gk, "a/**/b", "|name:a name:b"},
		{Gk, "\uFEFFa", "|name:a"},
		{Gk, "a\r\nb", "|name:a |name:b"},
	} {
		tokens, _, errs := Lex(c.src, c.mode)
		assert.Equal(t, c.want, spell(tokens), c.src)
		assert.Equal(t, strings.Contains(c.want, "bad:"), len(errs) > 0, c.src)
	}
}

func TestLexMistakes(t *testing.T) {
	for _, c := range []struct {
		mode      Mode
		src, want string
		tokens    string
	}{
		{Gk, "a $ b", "1:3: error: unexpected character '$' [syntax]", "|name:a bad:$ name:b"},
		{Gk, "a $$§ b", "1:3: error: unexpected character '$' [syntax]", "|name:a bad:$$§ name:b"},
		{Gk, "größe × 2", "1:7: error: unexpected character '×' [syntax]", "|name:größe bad:× int:2"},
		{Gk, "a \xff\xfe b", "1:3: error: unexpected byte 0xff: the text is not UTF-8 [syntax]", "|name:a bad:\xff\xfe name:b"},
		{Gk, "a\x00", `1:2: error: unexpected character '\x00' [syntax]`, "|name:a bad:\x00"},
		{Gk, "12abc 1.2.3 0x 0b1 1e 1_x", "1:1: error: malformed number \"12abc\" [syntax]\n1:7: error: malformed number \"1.2.3\" [syntax]\n1:13: error: malformed number \"0x\" [syntax]\n1:16: error: malformed number \"0b1\" [syntax]\n1:20: error: malformed number \"1e\" [syntax]\n1:23: error: malformed number \"1_x\" [syntax]",
			"|int:12abc float:1.2.3 int:0x int:0b1 int:1e int:1_x"},
		{Gk, "a /* b", "1:3: error: comment without an end: */ is missing [syntax]", "|name:a"},
		{Gk, `a "b"`, `1:3: error: unexpected character '"' [syntax]` + "\n" + `1:5: error: unexpected character '"' [syntax]`, `|name:a bad:" name:b bad:"`},
		{IR, "\"a\nb", "1:1: error: text in quotes without an end on its line, or with a malformed escape [syntax]", "|bad:\" name:a |name:b"},
	} {
		tokens, _, errs := Lex(c.src, c.mode)
		assert.Equal(t, c.want, errs.Error(), c.src)
		assert.Equal(t, c.tokens, spell(tokens), c.src)
	}
	_, _, errs := Lex("x ^ 2", Gk)
	assert.Equal(t, "a power is x ** y, an exclusive or is bitxor(a, b)", errs[0].Fix)
}

func TestLexLimits(t *testing.T) {
	tokens, _, errs := Lex(strings.Repeat("$ ", 1000), Gk)
	assert.Len(t, errs, MaxErrors)
	assert.Equal(t, End, tokens[len(tokens)-1].Kind)
	_, _, errs = Lex(strings.Repeat("x", MaxSource+1), Gk)
	assert.Equal(t, "1:1: error: the text is larger than 16 MiB [limit]", errs.Error())
}

func TestPositions(t *testing.T) {
	src := "aß /* ü\n é*/ x\n\t名 12"
	tokens, comments, errs := Lex(src, Gk)
	require.Empty(t, errs)
	got := []string{}
	for _, tok := range tokens {
		got = append(got, fmt.Sprintf("%s %s %d", tok.Text, tok.Pos, tok.Pos.Offset))
	}
	assert.Equal(t, []string{"aß 1:1 0", "x 2:6 16", "名 3:2 19", "12 3:4 23", "end of file 3:6 25"}, got)
	assert.Equal(t, diag.Pos{Line: 1, Col: 3, Offset: 3}, tokens[0].EndPos())
	require.Len(t, comments, 1)
	assert.Equal(t, Comment{Text: "/* ü\n é*/", Pos: diag.Pos{Line: 1, Col: 4, Offset: 4}, Token: 1}, comments[0])
}

func TestComments(t *testing.T) {
	_, comments, _ := Lex("/*a*/ // b\nx /*c*/\n/*d\n*/ /*e*/ y // f\n// g", Gk)
	var got []string
	for _, c := range comments {
		got = append(got, fmt.Sprintf("%q %d %v", c.Text, c.Token, c.First))
	}
	assert.Equal(t, []string{`"/*a*/" 0 true`, `"// b" 0 false`, `"/*c*/" 1 false`, `"/*d\n*/" 1 true`, `"/*e*/" 1 false`, `"// f" 2 false`, `"// g" 2 true`}, got)
}

func TestKeywords(t *testing.T) {
	for _, w := range Keywords() {
		assert.True(t, isKeyword(w, Gk), w)
	}
	for _, w := range strings.Fields(irKeywords) {
		assert.True(t, isKeyword(w, IR), w)
	}
}

// checkTokens verifies what holds for every text: tokens and comments are slices of it in order, at their places.
func checkTokens(t *testing.T, src string, tokens []Token, comments []Comment) {
	require.NotEmpty(t, tokens)
	at := int32(0)
	for i, tok := range tokens {
		if tok.Kind == End {
			require.Equal(t, len(tokens)-1, i)
			break
		}
		require.NotEmpty(t, tok.Text)
		require.GreaterOrEqual(t, tok.Pos.Offset, at)
		require.True(t, strings.HasPrefix(src[tok.Pos.Offset:], tok.Text))
		line := src[strings.LastIndexByte(src[:tok.Pos.Offset], '\n')+1 : tok.Pos.Offset]
		require.EqualValues(t, strings.Count(src[:tok.Pos.Offset], "\n")+1, tok.Pos.Line)
		require.EqualValues(t, utf8.RuneCountInString(strings.TrimPrefix(line, "\uFEFF"))+1, tok.Pos.Col)
		at = tok.Pos.Offset + int32(len(tok.Text))
	}
	for _, c := range comments {
		require.True(t, strings.HasPrefix(src[c.Pos.Offset:], c.Text))
		require.GreaterOrEqual(t, tokens[c.Token].Pos.Offset, c.Pos.Offset)
	}
}

func FuzzLex(f *testing.F) {
	f.Add("kernel f(x: f32[N]) -> y: f32[N] { y[i] = 2 * x[i] // twice\n}", false)
	f.Add("a' <- widen.f32(\"x\\n\") & 0x1f /* é */ \xff", true)
	f.Fuzz(func(t *testing.T, src string, ir bool) {
		mode := Gk
		if ir {
			mode = IR
		}
		tokens, comments, errs := Lex(src, mode)
		checkTokens(t, src, tokens, comments)
		if len(errs) == 0 { // the words alone, one space between them, are the same words
			words := make([]string, len(tokens)-1)
			for i := range words {
				words[i] = tokens[i].Text
			}
			again, _, errs := Lex(strings.Join(words, " "), mode)
			require.Empty(t, errs)
			require.Len(t, again, len(tokens))
			for i := range words {
				require.Equal(t, words[i], again[i].Text)
				require.Equal(t, tokens[i].Kind, again[i].Kind)
			}
		}
	})
}

func BenchmarkLex(b *testing.B) {
	src := strings.Repeat("    Y[r, c] = Sum[r, c] * rsqrt(mean[c](Sum[r, c] ** 2) + eps) * w[c] // rows\n", 2000)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		Lex(src, Gk)
	}
}
