package std_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gkc-lang/gkc/lang"
	"github.com/gkc-lang/gkc/lang/std"
)

func TestSource(t *testing.T) {
	file, errs := lang.Parse("std.gk", std.Source)
	require.Empty(t, errs)
	names := map[string]int{} // with the number of binders and parameters
	for _, item := range file.Items {
		f := item.(*lang.Func)
		names[f.Name] = 10*len(f.Binders) + len(f.Params)
	}
	want := map[string]int{"softmax": 11, "logsumexp": 11, "mean": 11, "var": 11, "layernorm": 12, "rmsnorm": 12, "l2norm": 12, "leaky_relu": 2, "elu": 2}
	for _, f := range strings.Fields("relu gelu gelu_tanh silu sigmoid softplus mish selu hardswish hardsigmoid hardtanh softsign logsigmoid") {
		want[f] = 1
	}
	assert.Equal(t, want, names)
}
