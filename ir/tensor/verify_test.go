package tensor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/ir"
)

func TestVerifyAccepts(t *testing.T) {
	for path, src := range textFiles(t) {
		require.NoError(t, Verify(parse(t, src)), path)
	}
}

// Programs that the reader takes, and the verifier does not.
func TestVerifyText(t *testing.T) {
	const head = "tensor k(X: f32[N, M], I: i32[N], a: f32) -> (Y: f32[N])\nsize N: i64\nsize M: i64\nscalar a: f32\n"
	const temps = "temp d: f32[N]\ntemp s: f32[]\ndef s[] = 1.0\n"
	const y = "def Y[i in 0..N] = 1.0\n"
	for _, c := range []struct{ src, want string }{
		{head, "Y: no definition"},
		{head + y + y, "Y: defined twice"},
		{head + "temp d: f32[N]\n" + y, "d: no definition"},
		{head + "temp d: f32[N]\ndef Y[i in 0..N] = d[i]\ndef d[i in 0..N] = 1.0", "a read of d in front of its definition"},
		{head + "def Y[i in 0..N] = if i > 0 { Y[i - 1] } else { 0.0 }", "a read of Y in front of its definition"},
		{head + "def Y[i in 0..N] = X[i]", "1 subscripts for X, which has 2 axes"},
		{head + "def Y[i in 0..N, j in 0..M] = X[i, j]", "a box of 2 axes for a tensor of 1"},
		{head + "def Y[i in 0..widen.i64(I[0])] = 1.0", "where only sizes and scalar parameters count"},
		{head + "temp d: f32[widen.i64(I[0])]\n" + y, "where only sizes and scalar parameters count"},
		{head + y + "where I[0] > 0 \"I[0] > 0\"", "where only sizes and scalar parameters count"},
		{head + "def Y[i in 0..N] = if sum[j in 0..M: bool](X[i, j] > 0.0) { 1.0 } else { 0.0 }", "sum in bool"},
		{head + "def Y[i in 0..N] = if any[j in 0..M: bool](X[i, j] > 0.0) { 1.0 } else { widen.f32(any[j in 0..M: i64](j)) }", "any in i64"},
		{head + "def Y[i in 0..N] = widen.f32(f64(X[i, 0]))", "widening f64 to f32"},
		{head + "def Y[i in 0..N] = exp2.fast(X[i, 0])", "exp2.fast has no meaning at this level"},
		{head + "def Y[i in 0..N] = cumsum[i in 0..i: f32](X[i, 0])", "depends on its own axis"},
		{head + "def Y[i in 0..N] = rand(I[i])", "rand of i32, expected i64"},
		{head + "check Y[i in 0..N] = 0\n", "Y: no definition"},
		{head + temps + "def d[i in 0..N] = 1.0\n" + y + "check d[i in 0..N] = 0", "a check of what is no result"},
		{head + y + "temp d: f32[N]\nscatter d[i, i] sum: f32 = 1.0 for i in 0..N", "2 subscripts for a tensor of 1 axes"},
		{head + y + "temp d: f32[N]\nscatter d[i] any: f32 = 1.0 for i in 0..N", "any in f32"},
		{head + y + "temp d: f32[N]\nscatter d[i] sum: f32 = 1.0 for i in 0..N from I", "starts from what is not the parameter of its name"},
		{head + temps + y + "recur {\n d[i in 0..N step] = d[i] from s\n}", "at the current step, which is computed later"},
		{head + temps + y + "recur {\n d[i in 0..N step] = d[i + 1] from s\n}", "neither at the current step nor at the one before"},
		{head + temps + y + "recur back {\n d[i in 0..N step] = d[i - 1] from s\n}", "neither at the current step nor at the one before"},
		{head + temps + y + "recur {\n d[i in 0..N step] = d[2 * i - 1] from s\n}", "neither at the current step nor at the one before"},
		{head + temps + y + "recur {\n d[i in 2..N + 2 step] = d[i - 1] from s\n}", "neither at the current step nor at the one before"},
		{head + temps + y + "recur {\n d[i in 0..N step] = d[i - 1]\n}", "it has no values before the first step"},
		{head + temps + y + "recur {\n d[i in 0..N step] = d[i - 1] from I\n}", "another type or rank"},
		{head + temps + "recur {\n d[i in 0..N step] = 1.0\n Y[i in 0..M step] = d[i]\n}", "its steps are not those of d"},
		{head + temps + "recur {\n d[i in 0..N step] = Y[i]\n Y[i in 0..N step] = 1.0\n}", "Y[i] at the current step, which is computed later"},
		{"tensor k(X: f32[N], N: i64) -> (Y: f32[N])\nsize N: i64\n" + y, "the parameter N has no extents, and no line 'scalar N: …'"},
		{"tensor k(X: f32[N]) -> (Y: f32[N])\nsize N: i64\nscalar a: f32\n" + y, "the parameter a is missing"},
		{"tensor k(X: f32[N]) -> (Y: f32[N])\nsize N: i32\n" + y, "expected i64"},
		{"tensor k() -> (Y: f32[])\nsize N: i64 default 4\ndef Y[] = 1.0", "a size with a default"},
		{"tensor k(Y: f32[N]) -> (Y: f16[N])\nsize N: i64\ndef Y[i in 0..N] = f16(1.0)", "differ in type or rank"},
		{"tensor k(Y: f32[N]) -> (Y: f32[N + 1])\nsize N: i64\ndef Y[i in 0..N + 1] = 1.0", "differ in extent 1"},
		{"tensor k(X: f32[N]) -> (Y: f32[N], Y: f32[N])\nsize N: i64\n" + y, "Y is declared twice"},
	} {
		p, errs := Parse(c.src)
		err := errs.Err()
		if err == nil {
			err = Verify(p)
		}
		require.ErrorContains(t, err, c.want, c.src)
	}
}

// Programs that no text describes.
func TestVerifyRejects(t *testing.T) {
	const src = "tensor k(X: f32[N]) -> (Y: f32[N])\nsize N: i64\ndef Y[i in 0..N] = X[i] + sum[j in 0..N: f32 where j < i](X[j])"
	other := &ir.Axis{Name: "other"}
	body := func(p *Program) *ir.Expr { return p.Defs[0].(*Map).Body }
	reduction := func(p *Program) *Reduction { return body(p).Args[1].Ref.(*Reduction) }
	for name, c := range map[string]struct {
		change func(p *Program)
		want   string
	}{
		"axis outside its scope": {func(p *Program) { p.Defs[0].(*Map).Body = widenIndex(ir.Name(other)) }, "the axis other outside its scope"},
		"inner axis outside":     {func(p *Program) { p.Defs[0].(*Map).Body = widenIndex(ir.Name(reduction(p).Over[0].Axis)) }, "the axis j outside its scope"},
		"axis bound twice": {func(p *Program) {
			r := *reduction(p)
			r.Over = []ir.Span{{Axis: p.Defs[0].(*Map).Free[0].Axis, Lo: ir.Int64(0), Hi: ir.Int64(1)}}
			p.Defs[0].(*Map).Body = Reduce(&r, ir.NewConst(ir.F32, ir.FloatConst(1)))
		}, "is bound inside its own scope"},
		"no axes":           {func(p *Program) { reduction(p).Over = nil }, "a reduction over no axis"},
		"no monoid":         {func(p *Program) { reduction(p).Op = nil }, "no monoid"},
		"accumulator":       {func(p *Program) { reduction(p).Acc = ir.F64 }, "a reduction in f64 of type f32"},
		"guard's type":      {func(p *Program) { reduction(p).Guard = ir.Int64(1) }, "expected bool"},
		"no body":           {func(p *Program) { p.Defs[0].(*Map).Body = nil }, "an expression is missing"},
		"scalar":            {func(p *Program) { p.Scalars = nil }, "the scalar N is not declared"},
		"role":              {func(p *Program) { p.Params[0].Role = Temp }, "its role is not that of its list"},
		"undeclared":        {func(p *Program) { p.Params = nil; p.Order = nil }, "a read of X, which is not declared"},
		"defines parameter": {func(p *Program) { p.Defs[0].(*Map).Out = p.Params[0] }, "defined twice"},
		"names":             {func(p *Program) { p.Scalars[0].Name = "X" }, "given twice"},
		"packed": {func(p *Program) {
			p.Defs[0].(*Map).Body = ir.NewConst(ir.Packed(ir.F16.Elem), ir.Const{})
		}, "const of type f16x2"},
		"constant":   {func(p *Program) { p.Defs[0].(*Map).Body = ir.NewConst(ir.F32, ir.FloatConst(0.1)) }, "a constant that f32 cannot hold"},
		"edge value": {func(p *Program) { body(p).Args[0].Ref = Read{p.Params[0], Edge{Const, ir.FloatConst(0.1)}} }, "an edge's value"},
		"rule":       {func(p *Program) { p.Defs[0].(*Map).Body.Args[0] = ir.Int64(1) }, "operands of different types"},
		"type": {func(p *Program) {
			e := *body(p)
			e.Type = ir.F64
			p.Defs[0].(*Map).Body = &e
		}, "add of type f64, expected f32"},
		"lists": {func(p *Program) { p.Defs[0] = &Recur{Tensors: p.Results} }, "whose lists differ in length"},
		"level": {func(p *Program) {
			p.Defs[0].(*Map).Body = ir.NewExpr(&ir.Op{Name: "odd", Where: ir.AtSimt}, ir.F32, nil, p.Pos)
		}, "odd has no meaning at this level"},
	} {
		p := parse(t, src)
		require.NoError(t, Verify(p))
		c.change(p)
		require.ErrorContains(t, Verify(p), c.want, name)
	}
}

func widenIndex(e *ir.Expr) *ir.Expr { return ir.Widen(ir.F32, e) }

func FuzzVerify(f *testing.F) {
	for _, src := range textFiles(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		p, errs := Parse(src)
		if len(errs) > 0 || Verify(p) != nil {
			return
		}
		q, errs := Parse(p.String())
		require.NoError(t, errs.Err())
		require.NoError(t, Verify(q), "what is right stays right as text")
	})
}
